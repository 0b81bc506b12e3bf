"""Slow references for intervals and comparisons: rows instead of counts, loops instead of sums."""

from __future__ import annotations

import math
from statistics import NormalDist, mean

import numpy as np

from tests import naive


def average_precision(y_true, y_score, weights=None):
    """Mean precision over the positives, straight from the definition, in floats."""
    weights = np.ones(len(y_true)) if weights is None else np.asarray(weights, dtype=float)
    total = 0.0
    for y, s, w in zip(y_true, y_score, weights, strict=True):
        if y and w > 0:
            chosen = np.asarray(y_score) >= s
            ours = weights[chosen & (np.asarray(y_true) == 1)].sum()
            total += w * ours / weights[chosen].sum()
    return total / weights[np.asarray(y_true) == 1].sum()


def derivatives(value, y_true, y_score, weights=None, step=1e-5):
    """Derivative of a metric of weighted rows by the weight of each row, less its class's mean."""
    weights = np.ones(len(y_true)) if weights is None else np.asarray(weights, dtype=float)
    result = np.empty(len(y_true))
    for row in range(len(y_true)):
        up, down = weights.copy(), weights.copy()
        up[row] += step
        down[row] -= step
        result[row] = (value(y_true, y_score, up) - value(y_true, y_score, down)) / (2 * step)
    for label in (0, 1):
        chosen = np.asarray(y_true) == label
        result[chosen] -= np.average(result[chosen], weights=weights[chosen])
    return result


def influence_limits(y_true, y_score, level=0.95, *, method="influence", sampling="classes"):
    """The influence interval of average precision, untied or tied, line by line."""
    y, s = list(y_true), list(y_score)
    positives = [score for label, score in zip(y, s, strict=True) if label]
    negatives = [score for label, score in zip(y, s, strict=True) if not label]
    n, m = len(positives), len(negatives)
    tp = [sum(other >= score for other in positives) for score in positives]
    fp = [sum(other >= score for other in negatives) for score in positives]
    precision = [a / (a + b) for a, b in zip(tp, fp, strict=True)]
    estimate = mean(precision)
    by_positive = [
        p + sum(b / (a + b) ** 2 for a, b, t in zip(tp, fp, positives, strict=True) if t <= score)
        for p, score in zip(precision, positives, strict=True)
    ]
    below = [
        sum(a / (a + b) ** 2 for a, b, t in zip(tp, fp, positives, strict=True) if t <= score)
        for score in negatives
    ]
    by_negative = [-(m / n) * value for value in below]
    variance = sum((v - mean(by_positive)) ** 2 for v in by_positive) / n**2
    if m > 1:
        variance += m / (m - 1) * sum((v - mean(by_negative)) ** 2 for v in by_negative) / m**2
    variance += (below[negatives.index(max(negatives))] / n) ** 2
    if sampling == "rows":
        variance += mean(p * (1 - p) for p in precision) ** 2 * (1 / n + 1 / m)

    def kept(value):
        return min(max(value, 0.25 / n), 1 - 0.25 / n)

    c = kept(estimate)
    variance = (n * variance + 10 * c * (1 - c) / n) / (n + 10)

    def both(centre, sign, error=(1 - level) / 2):
        z = NormalDist().inv_cdf(1 - error)
        deviation = centre * (1 - centre)
        logit = math.log(centre / (1 - centre)) + sign * z * math.sqrt(variance) / deviation
        angle = math.asin(math.sqrt(centre)) + sign * z * math.sqrt(variance / deviation) / 2
        angle = min(max(angle, 0.0), math.pi / 2)
        return 1 / (1 + math.exp(-logit)), math.sin(angle) ** 2

    loo = float(naive.aucpr("leave_one_out", y, s))
    # Kept off 1 only: kept off 0 too, the centre of the lower limit could exceed the estimate.
    lower = min((estimate, (estimate + loo) / 2, 1 - 0.25 / n))
    low_logit, low_arc = both(lower, -1)
    high_logit, high_arc = both(c, 1)
    low = (low_logit + min(low_logit, low_arc)) / 2
    high = (high_logit + max(high_logit, high_arc)) / 2
    if method != "influence":
        # Kinds that n or m rows miss with probability 1 - level, above everything.
        theirs, ours = (size * (1 - (1 - level) ** (1 / size)) for size in (m, n))

        def topped(unseen):
            return mean(
                a / (a + unseen + b * (m - unseen) / m) for a, b in zip(tp, fp, strict=True)
            )

        low = min(low, topped(theirs))
        # A sample that shows no negative on top may be too good by chance besides. With lam of them
        # expected, exp(-lam) of the samples show none: those may err more often by as much, less
        # what the samples that show some do.
        for lam in (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, math.inf):
            lam = min(lam, -math.log(1 - level))
            error = (1 - level) * math.exp(lam) / (1 + lam / 2)
            if error < 0.5:
                left = topped(m * (1 - math.exp(-lam / m))) / estimate
                centre = min(min(estimate, (estimate + loo) / 2) * left, 1 - 0.25 / n)
                logit, arc = both(centre, -1, error)
                low = min(low, (logit + min(logit, arc)) / 2)
        rest = (n - ours) / n
        seen = sum(
            rest * (ours + rest * a) / (ours + rest * a + b) for a, b in zip(tp, fp, strict=True)
        )
        high = max(high, (ours + seen) / n)
    if estimate == 1:
        high = 1.0
    return low, high


def delong(y_true, scores):
    """Covariance matrix of AUROCs of several models, pair by pair (DeLong et al. 1988)."""
    y = np.asarray(y_true)
    ours, theirs = [], []
    for s in scores:
        pairs = np.array(
            [
                [float(a > b) + 0.5 * (a == b) for b in np.asarray(s)[y == 0]]
                for a in np.asarray(s)[y == 1]
            ]
        )
        ours.append(pairs.mean(axis=1))
        theirs.append(pairs.mean(axis=0))
    n, m = len(ours[0]), len(theirs[0])
    return np.atleast_2d(np.cov(ours)) / n + np.atleast_2d(np.cov(theirs)) / m


def resampled_rows(y_true, y_score, rng, *, stratified=True, weights=None):
    """Draw rows with replacement, each class by itself or all together until both are there."""
    y, s = np.asarray(y_true), np.asarray(y_score)
    w = None if weights is None else np.asarray(weights)
    while True:
        if stratified:
            chosen = np.concatenate(
                [rng.choice(np.flatnonzero(y == c), size=(y == c).sum()) for c in (0, 1)]
            )
        else:
            chosen = rng.choice(y.size, size=y.size)
        if 0 < y[chosen].sum() < y.size:
            return y[chosen], s[chosen], None if w is None else w[chosen]


def holm(p_values):
    """Adjusted p-values by stepping down through the sorted ones."""
    adjusted = {}
    largest = 0.0
    for step, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - step) * p_values[index]))
        adjusted[index] = largest
    return [adjusted[index] for index in range(len(p_values))]
