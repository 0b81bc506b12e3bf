"""Numbers of positives with the help of a proxy: another model's probability for every row.

In a piece of N rows of which n are labelled, the positives are ``N mean(y)`` by the labels alone.
The proxy m is known for all rows, so what the labelled rows happen to have of it too little or too
much can be put right: ``T = N mean(y) + w N (mean of m over all rows - over labelled rows)``. This
is unbiased for any weight w that the piece's own labels had no part in (prediction-powered
inference, Angelopoulos et al. 2023). The weight is tuned on the labels of the other pieces, between
0 and 1 (PPI++); a useless proxy gets a weight near 0 and costs nothing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._numerics import ratio
from ..exceptions import InputError
from .labels import KnownLabels, shown_rows, summed
from .strata_pieces import Pieces

FloatArray = npt.NDArray[np.float64]

# With fewer labelled positives in a piece than this its limits are not drawn in: whether the proxy
# finds the positives there is not known.
_SEEN = 2


def as_proxy(proxy: object, size: int) -> FloatArray:
    """Check one probability per row."""
    values = _validation.as_numbers(proxy, "proxy")
    _validation.reject_missing(values, "proxy")
    if values.shape != (size,):
        raise InputError(
            f"proxy must have one probability for each of the {size:,} scores, got {values.size:,}."
        )
    outside = np.flatnonzero((values < 0.0) | (values > 1.0))
    if outside.size:
        raise InputError(
            f"proxy must hold probabilities, got {values[outside[0]]:g} in {shown_rows(outside)}."
        )
    return values.astype(np.float64, copy=False)


def with_proxy(pieces: Pieces, proxy: FloatArray, known: KnownLabels, weight: FloatArray) -> Pieces:
    """Return pieces whose numbers of positives are estimated with a proxy."""
    count = pieces.size.size
    of_label, own = pieces.of_label, proxy[known.rows]
    total = summed(of_label, weight, count)

    def mean(values: FloatArray) -> FloatArray:
        return np.asarray(ratio(summed(of_label, weight * values, count), total))

    truth = known.positive.astype(np.float64)
    y, m = truth - mean(truth)[of_label], own - mean(own)[of_label]
    # The variance of the total: each piece with the square of what a label stands for.
    scale = ratio(pieces.size, summed(of_label, None, count)) ** 2
    yy, ym, mm = (scale * summed(of_label, part, count) for part in (y * y, y * m, m * m))
    tuned = np.clip(ratio(_others(ym), _others(mm)), 0.0, 1.0)
    labelled = summed(of_label, None, count) > 0
    gap = np.where(labelled, summed(pieces.of_row, proxy, count) / pieces.size - mean(own), 0.0)
    estimate = np.clip(pieces.estimate + tuned * pieces.size * gap, pieces.least, pieces.most)
    left = yy - 2.0 * tuned * ym + tuned**2 * mm
    elsewhere = ratio(_others(yy), _others(yy) - 2 * tuned * _others(ym) + tuned**2 * _others(mm))
    narrower = np.minimum(ratio(yy, left), elsewhere)
    narrower = np.where(pieces.least >= _SEEN, np.maximum(narrower, 1.0), 1.0)
    labels = pieces.labels * narrower
    return pieces._replace(
        estimate=estimate, labels=labels, positives=labels * ratio(estimate, pieces.size)
    )


def _others(values: FloatArray) -> FloatArray:
    """Sum over all pieces but each."""
    return np.asarray(np.maximum(values.sum() - values, 0.0))
