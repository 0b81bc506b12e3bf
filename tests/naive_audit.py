"""Slow references for partly labelled data: every labelling, one at a time."""

from itertools import product

import numpy as np


def highest_average_precision(positive, scores):
    """A tie's positives first, and tied with each other."""
    total = 0.0
    for value in np.unique(scores[positive]):
        here = np.sum(positive & (scores == value))
        total += here * np.sum(positive & (scores >= value)) / (np.sum(scores > value) + here)
    return total / positive.sum()


def lowest_average_precision(positive, scores):
    """A strict order, in each tie the negatives first."""
    ordered = positive[np.lexsort((positive, -scores))]
    found = np.cumsum(ordered) / np.arange(1, ordered.size + 1)
    return found[ordered].mean()


def average_precision_bounds(scores, labels, max_positives=None):
    """The extremes over every labelling with at least one positive; None if there is none."""
    unknown = np.flatnonzero(np.isnan(labels))
    values = []
    for guess in product([False, True], repeat=unknown.size):
        positive = labels == 1
        positive[unknown] = guess
        if 0 < positive.sum() <= (max_positives or positive.size):
            values.append(
                (
                    lowest_average_precision(positive, scores),
                    highest_average_precision(positive, scores),
                )
            )
    return (min(v[0] for v in values), max(v[1] for v in values)) if values else None


def weighted_average_precision(labelled_scores, positive, weight):
    """The weighted form: a positive finds the others' weights above it, and itself once."""
    total = found = 0.0
    for i in np.flatnonzero(positive):
        above = labelled_scores >= labelled_scores[i]
        tp = weight[above & positive].sum() - weight[i] + 1.0
        fp = weight[above & ~positive].sum()
        found += weight[i] * tp / (tp + fp)
        total += weight[i]
    return found / total
