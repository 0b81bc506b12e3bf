"""The page of the study of theorems: its tables, beside the words of the paper."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ._band_rows import FITTED_FROM, KINDS, chosen, pairs_of, points_of, slope
from ._results import Results, Row, markdown_table

#: Sample prevalence and proposal of the weights in the table.
_WEIGHTS_SHOWN = ((0.4, 0.5), (0.1, 0.05), (0.1, 0.2), (0.1, 0.5), (0.02, 0.05), (0.02, 0.5))


def write_page(results: Results) -> Path:
    """Write the three parts, each beside the words of the paper."""
    settings = results.settings
    page = results.path(".md")
    results.save_page(
        "# The theorems behind the bands\n\n"
        "What Clémençon & Vayatis (2009) and the slides of the same talk state, against "
        f"simulation (seed {settings['seed']}; every number is in the table `band_theory.csv` "
        "beside this page). How often the bands hold the curve is [another study](bands.md).\n\n"
        "![Effective shares, distances of the bootstrap distribution and ratios of variances]"
        "(band_theory.svg)\n\n"
        "## Importance weights\n\n"
        + _weights_text(results)
        + "\n\n## Convergence of the bootstrap\n\n"
        + _bootstrap_text(results)
        + "\n\n## Variance\n\n"
        + _variance_text(results)
        + "\n"
    )
    return page


def _power(logarithm: float) -> str:
    return f"{10.0**logarithm:.2g}" if logarithm > -4.0 else f"10^(−{-logarithm:.0f})"


def _range(values: Iterable[float], form: str = ".2f") -> str:
    """Lowest and highest, with a true minus sign."""
    ordered = sorted(values)
    ends = [format(end, form) for end in (ordered[0], ordered[-1])]
    return " to ".join(dict.fromkeys(ends)).replace("-", "−")


def _weights_text(results: Results) -> str:
    rows = chosen(results, part="weights", quantity="log10_effective_share", method="paper")
    shares = {(row["rows"], row["prevalence"], row["proposal"]): row for row in rows}
    sizes = sorted({row["rows"] for row in rows})
    pairs = [pair for pair in _WEIGHTS_SHOWN if (sizes[0], *pair) in shares]
    table = [
        [f"{size:,}"]
        + [
            f"{_power(shares[size, *pair]['expected'])} ({_power(shares[size, *pair]['value'])})"
            for pair in pairs
        ]
        for size in sizes
    ]
    proposal = max(row["proposal"] for row in rows)
    slides = {
        (row["rows"], row["quantity"]): row
        for row in chosen(results, part="weights", method="slides", proposal=proposal)
    }
    theirs = [
        [
            f"{size:,}",
            f"{slides[size, 'mean_weight']['expected']:.2f}",
            f"{np.sqrt(np.pi * size / 2.0):.2f}",
            f"{slides[size, 'weighted_prevalence']['expected']:.3f}",
            _power(slides[size, "log10_effective_share"]["expected"]),
        ]
        for size in sizes
    ]
    settings = results.settings
    return (
        'Algorithm 1 draws positives with probability p̃, "equal to 1/2 say", and corrects by the '
        "weights (p̂/p̃)^n₊ ((1−p̂)/(1−p̃))^(n−n₊). The share of the replicates that is left (Kish's "
        "effective sample size over B) is (1 + (p̂−p̃)²/(p̃(1−p̃)))^(−n). That share, and in brackets "
        f"what {settings['weight_replicates']:,} replicates show (mean of "
        f"{settings['weight_repeats']}):\n\n"
        + markdown_table(["rows n", *(f"p̂ = {p:g}, p̃ = {q:g}" for p, q in pairs)], table)
        + "\n\nThe smaller the share, the more the replicates overstate it: those with the large "
        "weights are not among them, and in the end one replicate has all the weight. **Differs**: "
        "p̃ = 1/2 leaves about exp(−4n(p̂−1/2)²), so it works only if p̂ is within about 1/(2√n) of "
        "1/2; p̃ = p̂ always works.\n\n"
        "The slides print the resampled share n₊*/n in place of p̂. Those numbers are not "
        "importance weights: their mean is not 1 but about √(πn/2), whatever p̃, and the weighted "
        "share of positives is 1/2 on average, whatever the data:\n\n"
        + markdown_table(
            [
                "rows n",
                "mean weight",
                "√(πn/2)",
                "weighted share of positives",
                f"effective share, p̃ = {proposal:g}",
            ],
            theirs,
        )
    )


def _bootstrap_text(results: Results) -> str:
    settings = results.settings
    introduction = (
        "Theorem 2 says that the distribution of √n sup|PR̂ − PR| and its bootstrap counterpart are "
        "o(log(1/h)/√(nh)) apart, which is n^(−2/5) up to logarithms, if nh³ → ∞ and "
        "nh⁵log²n → 0: of the bandwidths offered here only σ(n log³n)^(−1/5), that of the slides, "
        'meets that. Without smoothing the rate at one recall "would have been" n^(−1/4). The '
        "bootstrapped process is printed as √n(PR* − PR̂), measured at the observed curve; the "
        "curve of the distribution that is resampled, however, is the smoothed one. Both were "
        "tried.\n\n"
        "First the error at one recall, .5, with fixed numbers of positives and negatives. There "
        "both distributions can be computed, so their Kolmogorov distance has no noise but that of "
        f"the data set: means over {settings['point_data_sets']} data sets. The last column is the "
        f"fitted power of n, from {FITTED_FROM:,} rows on."
    )
    parts = [introduction]
    for model, prevalence in pairs_of(results, "fixed"):
        key = {"model": model, "prevalence": prevalence, "design": "fixed"}
        parts.append(f"`{model}`, prevalence {prevalence:g}:")
        parts.append(_distance_table(results, key))
    parts.append(
        "Then the largest error over recalls from .1 to .9 (21 points), with random numbers of "
        "positives as in the theorem. Both distributions are drawn "
        f"({settings['curve_truth']:,} samples and {settings['curve_replicates']:,} replicates of "
        f"{settings['curve_data_sets']} data sets), so the distance is bracketed by two "
        "estimates, one too low and one too high on average. In brackets the radius of a 95 % "
        "ball from the replicates over that from the true distribution. `chance` are draws from "
        "the true distribution itself."
    )
    for model, prevalence in pairs_of(results, "random"):
        key = {"model": model, "prevalence": prevalence, "design": "random"}
        parts.append(f"`{model}`, prevalence {prevalence:g}:")
        parts.append(_distance_table(results, key))
    parts.append(_bootstrap_verdict(results))
    return "\n\n".join(parts)


def _distance_table(results: Results, key: dict[str, Any]) -> str:
    exact = key["design"] == "fixed"
    sizes = sorted({row["rows"] for row in chosen(results, part="bootstrap", **key)})
    lines = []
    kinds = dict(KINDS) if exact else {**KINDS, ("chance", "smoothed"): "chance"}
    for kind, name in kinds.items():
        if exact:
            rows = points_of(results, kind, "distance", **key)
            cases = [f"{row['value']:.4f} ± {2 * row['standard_error']:.4f}" for row in rows]
            lines.append([name, *cases, _slope_text(rows)])
        else:
            found = [points_of(results, kind, word, **key) for word in ("low", "high", "radius")]
            cases = [
                f"{max(low['value'], 0.0):.3f} to {high['value']:.3f} (×{radius['value']:.2f})"
                for low, high, radius in zip(*found, strict=True)
            ]
            lines.append([name, *cases])
    header = ["bootstrap from, its error measured", *(f"{size:,} rows" for size in sizes)]
    return markdown_table([*header, "power"] if exact else header, lines)


def _slope_text(rows: list[Row]) -> str:
    power, error = slope(rows)
    return "–" if np.isnan(power) else f"{_range([power], '+.2f')} ± {2 * error:.2f}"


def _bootstrap_verdict(results: Results) -> str:
    fitted = {
        kind: [
            slope(points_of(results, kind, "distance", model=m, prevalence=p, design="fixed"))[0]
            for m, p in pairs_of(results, "fixed")
        ]
        for kind in KINDS
    }
    if np.isnan(fitted["naive", "observed"]).any():
        return "With so few sizes no power can be fitted."

    def powers(*kind: str) -> str:
        return _range(fitted[kind[0], kind[1]], "+.2f")

    def radius(*kind: str) -> str:
        found = [
            points_of(results, (kind[0], kind[1]), "radius", model=m, prevalence=p, design="random")
            for m, p in pairs_of(results, "random")
        ]
        return _range(rows[-1]["value"] for rows in found)

    return (
        "**Reproduced** at the smoothed curve: with the slides' bandwidth the fitted powers are "
        f"{powers('undersmoothed', 'smoothed')}, where the theorem promises −.40; those of the "
        f"naive bootstrap are {powers('naive', 'observed')}, where the paper has −.25. Other "
        "bandwidths, outside the theorem, do as well "
        f"({powers('pooled', 'smoothed')} for σn^(−1/5)).\n\n"
        "**Differs** as printed, at the observed curve: the powers are "
        f"{powers('undersmoothed', 'observed')} with the slides' bandwidth and "
        f"{powers('pooled', 'observed')} with σn^(−1/5). The reason is that √n times the "
        "difference of smoothed and observed curve is not small: its bias is of order √n h², which "
        "is n^(1/10) for h = n^(−1/5) and n^(1/10)/log^(6/5)n for the slides' bandwidth, and its "
        "noise of order √h falls no faster than n^(−1/10). A ball whose radius is taken from the "
        "distances to the observed curve, as in Algorithm 1, is too wide: with the most rows "
        "tried and the bandwidths that are the default here, it is "
        f"{radius('normal_scores', 'observed')} "
        f"times what it should be, against {radius('normal_scores', 'smoothed')} at the smoothed "
        "curve."
    )


def _variance_text(results: Results) -> str:
    rows = chosen(results, part="variance")
    sizes = sorted({row["rows"] for row in rows})
    models = list(dict.fromkeys(row["model"] for row in rows))
    prevalences = sorted({row["prevalence"] for row in rows})
    lines = []
    for model in models:
        for prevalence in prevalences:
            line = [model, f"{prevalence:g}"]
            for quantity, design in (
                ("over_corrected", "random"),
                ("over_corrected", "fixed"),
                ("over_printed", "random"),
            ):
                for size in sizes if quantity == "over_corrected" else sizes[-1:]:
                    found = chosen(
                        results,
                        part="variance",
                        model=model,
                        prevalence=prevalence,
                        rows=size,
                        quantity=quantity,
                        design=design,
                    )
                    form = ".2f" if quantity == "over_corrected" else ".2g"
                    line.append(_range((row["value"] for row in found), form))
            lines.append(line)
    last = [row for row in rows if row["rows"] == sizes[-1]]
    corrected = [row for row in last if row["quantity"] == "over_corrected"]
    printed = [row["value"] for row in last if row["quantity"] == "over_printed"]
    z = np.array([(row["value"] - 1.0) / row["standard_error"] for row in corrected])
    worst = max(corrected, key=lambda row: abs(row["value"] - 1.0))
    near = float(np.mean(np.abs([row["value"] - 1.0 for row in corrected]) <= 0.02))
    header = ["scores", "prevalence"]
    header += [f"{kind}, {size:,} rows" for kind in ("random", "fixed") for size in sizes]
    header += [f"as printed, {sizes[-1]:,} rows"]
    return (
        "n times the variance of the empirical precision over that of Theorem 1, lowest and "
        "highest over the recalls .1, .3, .5, .7 and .9, the prevalence of a sample random or "
        f"fixed ({results.settings['variance_samples']:,} samples a case; the Monte Carlo error of "
        f"one ratio is at most {max(row['standard_error'] for row in corrected):.3f} at "
        f'{sizes[-1]:,} rows). "As printed" is equation (9), with the G in it read as its '
        "inverse.\n\n"
        + markdown_table(header, lines)
        + f"\n\n**Reproduced** with PR⁴/β² before all three terms: at {sizes[-1]:,} rows "
        f"{100 * near:.0f} % of the ratios are within 2 % of 1 (of {z.size}, "
        f"{int(np.sum(np.abs(z) > 3))} are more than three errors from 1). The farthest is "
        f"{worst['value']:.2f}, of `{worst['model']}` at recall {worst['recall']:g} and prevalence "
        f"{worst['prevalence']:g}: with few positives the limit is slow to come. **Differs** as "
        "printed, with PR⁴/β² before the "
        f"first term only: the ratios are {_range(printed, '.2g')}."
    )
