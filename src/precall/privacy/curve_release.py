"""Private precision-recall and ROC curves.

A histogram of each class on public edges is released with noise; the curve, its area and its error
bars are computed from what was released. One release gives both curves: ``curve.to("roc")``.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np

from ..exceptions import ReliabilityWarning
from ._ledger import Amount, as_epsilon
from ._persons import as_rows_per_person
from ._rows import FloatArray, Mask
from .budget import Budget, Part, as_budget
from .edges import as_edges
from .histograms import SENSITIVITY, NoisyHistogram, bin_counts, release_histogram
from .mechanisms import (
    IntArray,
    Noise,
    Noisy,
    SeededNoise,
    add_to_cells,
    laplace_scale,
    noise_source,
)
from .neighbours import REPLACE, as_neighbours, require_edges
from .private_curve import PrivateCurve

# Under this many positives times epsilon the noise drowns them.
_USABLE = 10.0
# A histogram with more than this share of its rows in one bin says little of the curve.
_CROWDED = 0.75


def pr_curve(
    y_true: object,
    y_score: object = None,
    *,
    epsilon: float,
    budget: Budget | Part,
    edges: object = None,
    pos_label: object = 1,
    person: object = None,
    rows_per_person: int = 1,
    neighbours: str = REPLACE,
    rng: object = None,
) -> PrivateCurve:
    """Release a precision-recall curve.

    The rows of each class are counted between public edges of the score, and every count gets
    discrete Laplace noise of scale ``2 / epsilon``: replacing a row moves two counts by one each,
    whether or not its label changes.

    Parameters
    ----------
    y_true, y_score : array-like
        The private rows, as for :func:`average_precision`.
    epsilon : float
        Cost.
    budget : Budget
        What pays for it.
    edges : array-like, optional
        Increasing public numbers; scores beyond the first and the last count in the end bins. If
        left out, the scores are taken to be probabilities and cut by :func:`probability_edges`
        into :func:`bin_count` bins. Nothing says whether scores lie beyond, which would reveal
        something about the rows. Edges must not come from the data; for scores of unknown
        scale pay for :func:`private_edges`.
    pos_label : label, default 1
        The label of the positive class, as for :func:`average_precision`.
    person, rows_per_person : optional
        Who is protected, as for :func:`average_precision`.
    neighbours : {"replace", "add_remove"}
        "add_remove" protects a row (or a person) that is there or not, so that the number of rows
        is private: `n_rows` is an estimate then, and edges have to be passed. One count moves and
        not two, so the noise has scale ``1 / epsilon``.
    rng : optional
        Seed or generator, for simulation only: the release is then not private.

    Returns
    -------
    PrivateCurve

    Raises
    ------
    BudgetError
        If the budget does not allow it; nothing has been looked at then.

    Warns
    -----
    ReliabilityWarning
        If the released counts show too few positives for this epsilon, or nearly all rows in one
        bin, so that the edges do not fit the scores.

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> from precall import privacy
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(20_000) % 5 == 0
    >>> score = np.where(y, rng.beta(5, 2, 20_000), rng.beta(2, 5, 20_000))
    >>> curve = privacy.pr_curve(y, score, epsilon=1.0, budget=privacy.Budget(epsilon=1.0))
    >>> abs(curve.area() - pr.aucpr(pr.rank(y, score))) < 0.1
    True
    >>> curve.edges.size - 1
    20
    """
    options = (pos_label, person, rows_per_person, neighbours, rng)
    return _release("pr", y_true, y_score, epsilon, budget, edges, *options)


def roc_curve(
    y_true: object,
    y_score: object = None,
    *,
    epsilon: float,
    budget: Budget | Part,
    edges: object = None,
    pos_label: object = 1,
    person: object = None,
    rows_per_person: int = 1,
    neighbours: str = REPLACE,
    rng: object = None,
) -> PrivateCurve:
    """Release a ROC curve; everything is as for :func:`pr_curve`.

    Examples
    --------
    >>> import numpy as np
    >>> from precall import privacy
    >>> y = np.arange(20_000) % 5 == 0
    >>> score = np.where(y, 0.5, np.linspace(0, 1, 20_000))
    >>> curve = privacy.roc_curve(y, score, epsilon=1.0, budget=privacy.Budget(epsilon=1.0))
    >>> round(curve.area(), 1)
    0.5
    >>> curve.to("pr").kind
    'pr'
    """
    options = (pos_label, person, rows_per_person, neighbours, rng)
    return _release("roc", y_true, y_score, epsilon, budget, edges, *options)


def _release(
    kind: str,
    y_true: object,
    y_score: object,
    epsilon: float,
    budget: Budget | Part,
    edges: object,
    pos_label: object,
    person: object,
    rows_per_person: int,
    neighbours: str,
    rng: object,
) -> PrivateCurve:
    epsilon, budget = as_epsilon(epsilon), as_budget(budget)
    neighbours = as_neighbours(neighbours)
    require_edges(edges, neighbours)
    rows_per_person = as_rows_per_person(rows_per_person)
    if edges is not None:
        edges = as_edges(edges, 1, epsilon)
    noise = noise_source(rng, stacklevel=4)
    histogram = release_histogram(
        y_true,
        y_score,
        what="curve",
        epsilon=epsilon,
        budget=budget,
        edges=edges,
        pos_label=pos_label,
        person=person,
        rows_per_person=rows_per_person,
        noise=noise,
        neighbours=neighbours,
    )
    curve = replace(
        as_curve(kind, histogram, epsilon, seeded=noise.seeded),
        rows_per_person=rows_per_person,
        n_persons=histogram.n_persons,
    )
    warn_of(curve, stacklevel=4)
    return curve


def noisy_bins(
    positive: Mask, scores: FloatArray, edges: FloatArray, epsilon: Amount, noise: Noise
) -> tuple[Noisy, ...]:
    """Count positives, then negatives, between the edges, with noise."""
    counts = bin_counts(positive, scores, edges)
    return add_to_cells(counts, sensitivity=SENSITIVITY, epsilon=epsilon, noise=noise)


def as_curve(kind: str, histogram: NoisyHistogram, epsilon: float, *, seeded: bool) -> PrivateCurve:
    """The curve of a released histogram."""
    bins = histogram.edges.size - 1
    return PrivateCurve(
        kind=kind,
        edges=histogram.edges,
        noisy_positives=histogram.counts[:bins],
        noisy_negatives=histogram.counts[bins:],
        epsilon=epsilon,
        delta=0.0,
        mechanism="laplace",
        scale=histogram.scale,
        n_rows=histogram.n_rows,
        seeded=seeded,
        neighbours=histogram.neighbours,
    )


def noisy_curve(
    kind: str,
    counts: IntArray,
    edges: FloatArray,
    epsilon: Amount,
    n_rows: int,
    noise: SeededNoise,
    n_sites: int = 1,
) -> PrivateCurve:
    """The curve of counts between edges with the noise of so many sites, for simulation."""
    scale = laplace_scale(SENSITIVITY, epsilon)
    drawn = np.rint(noise.laplace_sums(counts.size, scale, n_sites)).astype(np.int64)
    histogram = NoisyHistogram(counts + drawn, edges, scale, n_rows, None)
    curve = as_curve(kind, histogram, float(epsilon), seeded=True)
    return replace(curve, noises=n_sites)


def warn_of(curve: PrivateCurve, *, stacklevel: int) -> None:
    """Say what the release itself shows to be wrong with it; nothing here looks at the data."""
    tp, fp = curve.corners
    # The noise of several releases grows as the root of their number.
    worth = curve.epsilon / (curve.rows_per_person * math.sqrt(curve.noises))
    if min(tp[-1], fp[-1]) * worth < _USABLE:
        warnings.warn(
            f"about {min(tp[-1], fp[-1]):.0f} rows of the rarer class were found with noise at "
            f"epsilon={curve.epsilon:g}: too few for a curve. Spend more epsilon, or use more "
            "rows.",
            ReliabilityWarning,
            stacklevel=stacklevel,
        )
    crowd = float(np.max(np.diff(tp + fp)) / curve.n_rows)
    if crowd > _CROWDED:
        warnings.warn(
            f"about {100 * crowd:.0f} % of the rows fell between two edges: the edges do not fit "
            "these scores. Pass edges on their scale, or pay for private_edges(y_score, ...).",
            ReliabilityWarning,
            stacklevel=stacklevel,
        )
