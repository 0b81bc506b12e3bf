"""The importance weights of Algorithm 1: what is expected of them, and what replicates show."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._band_rows import tidy_row
from ._results import Row

FloatArray = npt.NDArray[np.float64]

SAMPLE_PREVALENCES = (0.02, 0.1, 0.4)


def log_weights(n_pos: Any, size: int, prevalence: float | None, proposal: float) -> FloatArray:
    """Logarithm of the importance weight of a sample with so many positives.

    That of the paper for a `prevalence`; without one that of the slides, which have the sample's
    own share of positives in its place.
    """
    from scipy import special

    ours = np.asarray(n_pos, dtype=np.float64)
    theirs = size - ours
    share = ours / size if prevalence is None else prevalence
    return np.asarray(
        special.xlogy(ours, share / proposal) + special.xlogy(theirs, (1 - share) / (1 - proposal))
    )


def expected_weights(size: int, prevalence: float | None, proposal: float) -> dict[str, float]:
    """Return what the weights are in expectation, summed over all numbers of positives.

    With the paper's weights the effective share of the replicates (Kish: squared mean over mean
    square) is ``(1 + (prevalence - proposal)^2 / (proposal (1 - proposal)))^(-size)``.
    """
    from scipy import special

    n_pos = np.arange(size + 1)
    distribution = (
        special.gammaln(size + 1.0)
        - special.gammaln(n_pos + 1.0)
        - special.gammaln(size - n_pos + 1.0)
        + special.xlogy(n_pos, proposal)
        + special.xlog1py(size - n_pos, -proposal)
    )
    weight = log_weights(n_pos, size, prevalence, proposal)
    mean = float(special.logsumexp(distribution + weight))
    square = float(special.logsumexp(distribution + 2.0 * weight))
    return {
        "log10_effective_share": (2.0 * mean - square) / np.log(10.0),
        "mean_weight": np.exp(mean),
        "weighted_prevalence": float(np.exp(distribution + weight - mean) @ n_pos) / size,
    }


def weight_case(size: int, proposal: float, plan: dict[str, int], seed: Any) -> list[Row]:
    """Return what replicates show of the weights, beside what is expected of them."""
    rng = np.random.default_rng(seed)
    shape = plan["weight_repeats"], plan["weight_replicates"]
    n_pos = rng.binomial(size, proposal, size=shape)
    rows = []
    for prevalence in (*SAMPLE_PREVALENCES, None):
        logarithm = log_weights(n_pos, size, prevalence, proposal)
        largest = logarithm.max(axis=1, keepdims=True)
        weight = np.exp(logarithm - largest)
        total = weight.sum(axis=1)
        seen = {
            "log10_effective_share": total**2 / (weight**2).sum(axis=1) / shape[1],
            "weighted_prevalence": (weight * n_pos).sum(axis=1) / total / size,
        }
        if prevalence is None:
            seen["mean_weight"] = np.exp(logarithm).mean(axis=1)
        expected = expected_weights(size, prevalence, proposal)
        for quantity, found in seen.items():
            value, error = float(found.mean()), float(found.std(ddof=1) / np.sqrt(shape[0]))
            if quantity.startswith("log10"):
                value, error = np.log10(value), error / value / np.log(10.0)
            rows.append(
                tidy_row(
                    "weights",
                    prevalence="" if prevalence is None else prevalence,
                    proposal=proposal,
                    rows=size,
                    method="slides" if prevalence is None else "paper",
                    quantity=quantity,
                    value=value,
                    standard_error=error,
                    expected=expected[quantity],
                )
            )
    return rows
