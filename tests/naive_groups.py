"""Slow references for groups: loops over groups and rows, every order of every tie tried."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product

import numpy as np


def split(y_true, y_score, groups):
    """Lists of (label, score) by group, in the order of sorted labels."""
    found = {}
    for y, s, g in zip(y_true, y_score, groups, strict=True):
        found.setdefault(g, []).append((bool(y), s))
    return dict(sorted(found.items()))


def average_precision(rows):
    """Mean over positives of the share of positives among all rows scored at least as high."""
    scores = [s for y, s in rows if y]
    return sum(
        Fraction(sum(s2 >= s for s2 in scores), sum(s2 >= s for _, s2 in rows)) for s in scores
    ) / len(scores)


def auroc(rows):
    positives, negatives = ([s for y, s in rows if y == kind] for kind in (True, False))
    won = sum(
        Fraction(1) if p > n else Fraction(1, 2) if p == n else Fraction(0)
        for p, n in product(positives, negatives)
    )
    return won / (len(positives) * len(negatives))


def over_all_orders(rows, value):
    """Mean of a function of the ordered labels over every order that sorts the scores."""
    total, count = 0.0, 0
    for order in permutations(rows):
        if all(a[1] >= b[1] for a, b in pairwise(order)):
            total += value([y for y, _ in order])
            count += 1
    return total / count


def precision_at(labels, k):
    return sum(labels[:k]) / k


def recall_at(labels, k):
    return sum(labels[:k]) / sum(labels)


def reciprocal_rank(labels, k=None):
    place = labels.index(True) + 1
    return 1 / place if k is None or place <= k else 0.0


def r_precision(labels, missed=0):
    return Fraction(sum(labels[: sum(labels) + missed]), sum(labels) + missed)


def interpolated_precisions(labels, wanted):
    """Highest precision of the places with at least so many positives above, for each number."""
    found = [Fraction(sum(labels[:place]), place) for place in range(1, len(labels) + 1)]
    reached = [sum(labels[:place]) for place in range(1, len(labels) + 1)]
    return [
        max([f for f, r in zip(found, reached, strict=True) if r >= n], default=0) for n in wanted
    ]


def ndcg(labels, k=None):
    cut = len(labels) if k is None else k

    def gain(ordered):
        return sum(y / math.log2(i + 2) for i, y in enumerate(ordered[:cut]))

    return gain(labels) / gain(sorted(labels, reverse=True))


def false_positive_rate(rows, recall):
    """FPR on arrival at a recall, linear within a tie between classes."""
    positives = sorted((s for y, s in rows if y), reverse=True)
    negatives = [s for y, s in rows if not y]
    target = Fraction(recall) * len(positives)
    reached = Fraction(0)
    for score in sorted(set(positives), reverse=True):
        here = positives.count(score)
        if reached + here >= target:
            above = sum(s > score for s in negatives)
            share = (target - reached) / here
            return (above + share * negatives.count(score)) / Fraction(len(negatives))
        reached += here
    raise AssertionError("recall above 1")


def expected_downsampled_average_precision(y_true, y_score, kept):
    """Mean of average precision over every subset of `kept` negatives."""
    rows = [(bool(y), s) for y, s in zip(y_true, y_score, strict=True)]
    positives = [row for row in rows if row[0]]
    negatives = [row for row in rows if not row[0]]
    values = [average_precision(positives + list(some)) for some in combinations(negatives, kept)]
    return sum(values) / len(values)


def expected_precision(tp, fp, m, kept):
    """Mean of TP / (TP + F) with F hypergeometric, by the ratios of neighbouring probabilities."""
    lowest, highest = max(0, kept - (m - fp)), min(fp, kept)
    middle = min(max(round(fp * kept / m), lowest), highest)
    weights = {middle: 1.0}
    for f in range(middle, highest):
        weights[f + 1] = weights[f] * (fp - f) * (kept - f) / ((f + 1) * (m - fp - kept + f + 1))
    for f in range(middle, lowest, -1):
        weights[f - 1] = weights[f] * f * (m - fp - kept + f) / ((fp - f + 1) * (kept - f + 1))
    total = math.fsum(weights.values())
    return math.fsum(w * tp / (tp + f) for f, w in weights.items()) / total


def signed_permutation_p_value(difference):
    """Share of the sign assignments whose sum is at least as far from zero."""
    exact = [Fraction(float(d)) for d in difference]
    observed = abs(sum(exact))
    sums = [
        abs(sum(s * d for s, d in zip(signs, exact, strict=True)))
        for signs in product((1, -1), repeat=len(exact))
    ]
    return sum(s >= observed for s in sums) / len(sums)


def random_groups(rng, n_groups, max_size, levels=None):
    """Labels, scores and groups in random order; scores on a few levels if asked."""
    sizes = rng.integers(1, max_size + 1, n_groups)
    groups = np.repeat(np.arange(n_groups), sizes)
    y = rng.random(groups.size) < rng.uniform(0.05, 0.9, n_groups)[groups]
    s = rng.normal(size=groups.size) + y
    if levels is not None:
        s = np.round(s * levels) / levels
    order = rng.permutation(groups.size)
    return y[order], s[order], groups[order]


def limits_over_groups(value, groups, quantile, bounds=None, *, centred=True):
    """Limits of a value in which groups count by their positives, drawn from many groups.

    `value` is of a list of groups, each of them ``(positives, rest)``; `quantile` is that of t with
    the degrees of freedom that it is called with. Every group is really left out. With `bounds`
    everything is in log odds between them; what is left out is about its mean if it is `centred`.
    """
    whole = value(groups)
    left_out = [value(groups[:place] + groups[place + 1 :]) for place in range(len(groups))]
    positives = [n for n, _ in groups]
    share = [n / sum(positives) for n in positives]
    t = quantile(max(1 / sum(p**2 for p in share) - 1, 1))
    centre = sum(left_out) / len(groups) if centred else whole
    if bounds is not None:
        floor, top = bounds
        room = min(whole - floor, top - whole) / 2
        kept = [min(max(whole + v - centre, floor + room), top - room) for v in left_out]
        left_out = [math.log((v - floor) / (top - v)) for v in kept]
        whole = centre = math.log((whole - floor) / (top - whole))
    half = t * math.sqrt(sum((v - centre) ** 2 for v in left_out))
    down, up = farther([centre - v for v in left_out])
    low, high = whole - half * down, whole + half * up

    # The value of one group, if all groups together were a weighted mean.
    alone = [(centre - v) * (1 - p) / p for v, p in zip(left_out, share, strict=True)]
    size = [math.log(n) for n in positives]
    # polyfit squares its weights: the regression is weighted by the root of the positives.
    slope = np.polyfit(size, alone, 1, w=np.power(positives, 0.25))[0]
    roots = [math.sqrt(n) for n in positives]
    worth = sum(roots) ** 2 / sum(positives)
    mean = sum(r * x for r, x in zip(roots, size, strict=True)) / sum(roots)
    variance = sum(r * (x - mean) ** 2 for r, x in zip(roots, size, strict=True)) / sum(roots)
    variance *= worth / (worth - 1)
    present = sum(p * x for p, x in zip(share, size, strict=True))
    of_size = math.sqrt(variance / worth + 6 * variance**2 / (worth - 1))
    error = (slope * of_size) ** 2
    for p, x, v in zip(share, size, left_out, strict=True):
        error += (centre - v - slope * p / (1 - p) * (x - present)) ** 2
    moved = whole + slope * min(mean + variance / 2 - present, of_size / 4)
    if slope > 0:
        high = max(high, moved + t * math.sqrt(error) * up)
    if slope < 0:
        low = min(low, moved - t * math.sqrt(error) * down)
    if bounds is None:
        return low, high
    return tuple(floor + (top - floor) / (1 + math.exp(-end)) for end in (low, high))


def farther(moved):
    """Factors of the distances to both limits, from how skewed it is what groups move."""
    skewness = sum(m**3 for m in moved) / sum(m**2 for m in moved) ** 1.5
    return math.exp(0.75 * max(-skewness, 0)), math.exp(0.75 * max(skewness, 0))


def mean_limits(values, quantile, floor=0.0):
    """Limits of the mean of values between a floor and 1: t of log odds, each group left out."""
    mean, count = sum(values) / len(values), len(values)
    room = min(mean - floor, 1 - mean) / 2
    odds = []
    for place in range(count):
        others = values[:place] + values[place + 1 :]
        kept = min(max(sum(others) / len(others), floor + room), 1 - room)
        odds.append(math.log((kept - floor) / (1 - kept)))
    moved = [sum(odds) / count - each for each in odds]
    half = quantile(count - 1) * math.sqrt(sum(m**2 for m in moved) * (count - 1) / count)
    down, up = farther(moved)
    centre = math.log((mean - floor) / (1 - mean))
    ends = centre - half * down, centre + half * up
    return tuple(floor + (1 - floor) / (1 + math.exp(-end)) for end in ends)
