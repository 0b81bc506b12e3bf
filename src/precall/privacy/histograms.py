"""Histograms of both classes on public edges, released with noise: what curves are made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._persons import read_persons, row_share
from ._rows import FloatArray, Mask, read_rows
from .budget import Budget, Part
from .edges import as_edges
from .mechanisms import IntArray, Noise, add_to_counts, laplace_scale
from .neighbours import ADD_REMOVE, MOVED_COUNTS, REPLACE, estimated_rows

# Replacing a row takes one from a cell of the two histograms and gives one to another.
SENSITIVITY = MOVED_COUNTS[REPLACE]


@dataclass(frozen=True, eq=False)
class NoisyHistogram:
    """Noisy counts of positives, then of negatives, between edges, from the highest scores down.

    Attributes
    ----------
    counts : array of int
        Two for each bin.
    edges : array
        The public edges.
    scale : float
        Scale of the noise in each count.
    n_rows : int
        Public number of rows; an estimate from the noisy counts if it is private.
    n_persons : int or None
        Public number of persons, if rows were drawn from each.
    neighbours : str
        Between which data sets the release hides the difference.
    """

    counts: IntArray
    edges: FloatArray
    scale: float
    n_rows: int
    n_persons: int | None
    neighbours: str = REPLACE


def release_histogram(
    y_true: object,
    y_score: object,
    *,
    what: str,
    epsilon: float,
    budget: Budget | Part,
    edges: object,
    pos_label: object,
    person: object,
    rows_per_person: int,
    noise: Noise,
    neighbours: str = REPLACE,
) -> NoisyHistogram:
    """Pay, read the rows, count them and add noise.

    Everything but the rows has been checked before. Without edges, the rule for probabilities takes
    the public number of rows. A private number decides nothing here: there may be no row at all.
    """
    share = row_share(epsilon, rows_per_person)
    sensitivity = MOVED_COUNTS[neighbours]
    scale = laplace_scale(sensitivity, share)
    private_number = neighbours == ADD_REMOVE
    with budget.hold(
        epsilon=epsilon, delta=0.0, what=what, seeded=noise.seeded, neighbours=neighbours
    ) as hold:
        positive, scores = read_rows(
            y_true, y_score, pos_label=pos_label, may_be_empty=private_number
        )
        persons = read_persons(
            person, rows_per_person, positive.size, private_number=private_number
        )
        cuts = as_edges(edges, persons.n_rows, epsilon / rows_per_person)
        hold.look(positive, scores)
        positive, scores = persons.draw(noise, positive, scores)
        counts = bin_counts(positive, scores, cuts)
        noisy = add_to_counts(counts, sensitivity=sensitivity, epsilon=share, noise=noise)
    if private_number:
        n_rows = estimated_rows(sum(noisy.tolist()))
        return NoisyHistogram(noisy, cuts, scale, n_rows, None, neighbours)
    return NoisyHistogram(noisy, cuts, scale, persons.n_rows, persons.count)


def bin_counts(positive: Mask, scores: FloatArray, edges: FloatArray) -> IntArray:
    """Count positives, then negatives, between the edges, from the highest scores down."""
    bins = edges.size - 1
    place = bins - 1 - np.searchsorted(edges[1:-1], scores, side="right")
    return np.bincount(place + bins * ~positive, minlength=2 * bins)
