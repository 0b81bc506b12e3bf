"""Slow, obviously right references for the bands: rows and loops, no tables and no shortcuts."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np


def others_above(own, other):
    """Rows of the other class above each own row, highest first; tied rows averaged over all
    orders in which they could stand (enumerated)."""
    scores = sorted(set(own) | set(other), reverse=True)
    above, counts = 0, []
    for score in scores:
        w, q = own.count(score), other.count(score)
        if w:
            orders = set(itertools.permutations("o" * w + "x" * q))
            for i in range(w):
                total = Fraction(0)
                for order in orders:
                    places = [k for k, mark in enumerate(order) if mark == "o"]
                    total += order[: places[i]].count("x")
                counts.append(above + total / len(orders))
        above += q
    return counts


def fiducial_rates(counts, m, grid, n_draws, rng):
    """Draw the fiducial false-positive rates with every uniform of the own class in hand."""
    n = len(counts)
    table = [0.0, *map(float, counts), float(m)]
    rates = np.empty((n_draws, len(grid)))
    for draw in range(n_draws):
        uniforms = [0.0, *sorted(rng.random(n)), 1.0]
        shapes = []
        for beta in grid:
            j = sum(u <= beta for u in uniforms[1:-1])
            share = (beta - uniforms[j]) / (uniforms[j + 1] - uniforms[j])
            shapes.append(table[j] + share * (table[j + 1] - table[j]) + 0.5)
        shapes = np.maximum.accumulate(shapes)
        steps = rng.standard_gamma(np.diff([0.0, *shapes, m + 1.0]))
        rates[draw] = np.cumsum(steps)[:-1] / steps.sum()
    return rates


def rank_envelope(curves, lower, upper, alpha):
    """The weighted rank envelope by its definition, one draw and one point at a time.

    Of curves without cliffs.
    """
    points = curves.shape[1]
    spread = np.empty((2, points))
    for k in range(points):
        column = sorted(curves[:, k])
        middle = column[len(column) // 2]
        tail = round(0.02 * (len(column) - 1))
        spread[0, k] = max(middle - column[tail], 1e-3)
        spread[1, k] = max(column[len(column) - 1 - tail] - middle, 1e-3)
    usual = float(np.median(spread))
    narrowest, chosen = math.inf, None
    for most in (2.0, 3.0, 5.0, math.inf):
        weights = np.array([[min(each, most * usual) for each in side] for side in spread])
        low, high = _weighted_envelope(lower, upper, weights / weights.mean(), 0.05)
        if (high - low).sum() < narrowest:
            narrowest, chosen = (high - low).sum(), weights / weights.mean()
    return _weighted_envelope(lower, upper, chosen, alpha)


def _weighted_envelope(lower, upper, weights, alpha):
    draws, points = lower.shape
    extremeness = []
    for i in range(draws):
        smallest = math.inf
        for k in range(points):
            from_below = sum(lower[:, k] <= lower[i, k])
            from_above = sum(upper[:, k] >= upper[i, k])
            smallest = min(smallest, from_below / weights[0, k], from_above / weights[1, k])
        extremeness.append(smallest)
    cut = sorted(extremeness)[math.floor(alpha * draws)]
    low, high = [], []
    for k in range(points):
        places = [
            min(max(math.ceil(cut * weights[side, k] - 1e-9) - 1, 1), (draws + 1) // 2)
            for side in (0, 1)
        ]
        low.append(sorted(lower[:, k])[places[0] - 1])
        high.append(sorted(upper[:, k], reverse=True)[places[1] - 1])
    return np.array(low), np.array(high)


def joint_probability(low, high):
    """Steck's determinant: P(low_i <= U_(i) <= high_i for all i), in exact fractions."""
    n = len(low)
    matrix = [[Fraction(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            power = j - i + 1
            if power == 0:
                matrix[i][j] = Fraction(1)
            elif power > 0:
                gap = max(high[i] - low[j], Fraction(0))
                matrix[i][j] = gap**power / math.factorial(power)
    return math.factorial(n) * _determinant(matrix)


def _determinant(matrix):
    rows = [list(row) for row in matrix]
    sign, product = 1, Fraction(1)
    for column in range(len(rows)):
        pivot = next((r for r in range(column, len(rows)) if rows[r][column] != 0), None)
        if pivot is None:
            return Fraction(0)
        if pivot != column:
            rows[column], rows[pivot] = rows[pivot], rows[column]
            sign = -sign
        product *= rows[column][column]
        for r in range(column + 1, len(rows)):
            factor = rows[r][column] / rows[column][column]
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[column], strict=True)]
    return sign * product


def exact_rate_limits(own, other, grid, own_limits, other_limits):
    """Limits of the other class's rate from limits of both classes' order statistics.

    `own_limits` and `other_limits` map a rank to its (low, high); ranks count from the top.
    """
    own, other = sorted(own, reverse=True), sorted(other, reverse=True)
    low, high = [], []
    for beta in grid:
        smallest, largest = 0.0, 1.0
        for rank, score in enumerate(own, start=1):
            strictly = sum(x > score for x in other)
            with_ties = sum(x >= score for x in other)
            if own_limits[rank][1] <= beta and strictly > 0:
                smallest = max(smallest, other_limits[strictly][0])
            if own_limits[rank][0] >= beta and with_ties < len(other):
                largest = min(largest, other_limits[with_ties + 1][1])
        low.append(smallest)
        high.append(largest)
    return np.array(low), np.array(high)


def smoothed_bootstrap_rates(positives, negatives, bandwidths, grid, n_draws, rng, kernel):
    """Algorithm 1's replicates the long way: draw rows, add kernel noise, sort, count."""

    def resample(scores, bandwidth):
        drawn = rng.choice(scores, size=len(scores))
        if kernel == "gaussian":
            return drawn + bandwidth * rng.standard_normal(len(scores))
        return drawn + bandwidth * rng.uniform(-1, 1, len(scores))

    rates = np.empty((n_draws, len(grid)))
    for draw in range(n_draws):
        ours = np.sort(resample(positives, bandwidths[0]))[::-1]
        theirs = resample(negatives, bandwidths[1])
        for k, beta in enumerate(grid):
            threshold = ours[math.ceil(round(beta * len(ours), 9)) - 1]
            rates[draw, k] = np.mean(theirs > threshold)
    return rates
