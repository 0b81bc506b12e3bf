"""Slow references for points, operating points and conventions: fractions and loops over rows."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import scipy.integrate
import scipy.optimize
import scipy.stats

from tests.naive import fractions_of


def counts_at(y_true, y_score, threshold, weights=None):
    """TP, FP, FN, TN of ``score >= threshold``, row by row."""
    tp = fp = fn = tn = Fraction(0)
    weights = fractions_of(weights, len(y_true))
    for label, score, weight in zip(y_true, y_score, weights, strict=True):
        if label and score >= threshold:
            tp += weight
        elif score >= threshold:
            fp += weight
        elif label:
            fn += weight
        else:
            tn += weight
    return tp, fp, fn, tn


def f_measure(tp, fp, fn, tn, beta=Fraction(1), modified=False):
    """The textbook formula with precision and recall, exact."""
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    if modified:
        prevalence = (tp + fn) / (tp + fp + fn + tn)
        if precision <= prevalence:
            return Fraction(0)
        precision = (precision - prevalence) / (1 - prevalence)
    if precision + recall == 0:
        return Fraction(0)
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def matthews(tp, fp, fn, tn):
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return float(tp * tn - fp * fn) / math.sqrt(margins) if margins else 0.0


def binomial_tail(size, share, successes):
    """``P(Binomial(size, share) >= successes)`` as a fraction."""
    share = Fraction(share)
    return sum(
        (
            math.comb(size, i) * share**i * (1 - share) ** (size - i)
            for i in range(successes, size + 1)
        ),
        Fraction(0),
    )


def certified_threshold(y_true, y_score, min_precision, delta, rank):
    """Walk down the distinct scores one by one; return the last certified score of a positive.

    The cut ``score > s`` is the set of rows strictly above s; the first one has s at `rank` + 1.
    If no row is above that, the first set is ``score >= s``.
    """
    rows = sorted(zip(y_score, y_true, strict=True), reverse=True)
    if rank > len(rows):
        return None
    start = rows[rank][0] if rank < len(rows) else -math.inf
    below = [s for s in sorted({score for score, _ in rows}, reverse=True) if s <= start]
    if start == rows[0][0]:
        below = below[1:]
    certified = None
    for cut in [*below, -math.inf]:
        above = [(score, label) for score, label in rows if score > cut]
        found = sum(label for _, label in above)
        if not above or binomial_tail(len(above), min_precision, found) > Fraction(delta):
            break
        # So is any threshold that selects these very rows, unless its set is smaller than the
        # first one tested.
        lowest_positive = min((score for score, label in above if label), default=math.inf)
        if lowest_positive == above[-1][0] and lowest_positive <= start:
            certified = lowest_positive
    return certified


def points(y_true, y_score):
    """(TP, FP) after each distinct score, highest first, as integers."""
    out, tp, fp = [], 0, 0
    for score in sorted(set(y_score), reverse=True):
        tp += sum(1 for s, label in zip(y_score, y_true, strict=True) if s == score and label)
        fp += sum(1 for s, label in zip(y_score, y_true, strict=True) if s == score and not label)
        out.append((tp, fp))
    return out


def trapezoids(curve):
    """Area under straight lines through (recall, precision) pairs in their order."""
    return sum((r1 - r0) * (p0 + p1) / 2 for (r0, p0), (r1, p1) in pairwise(curve))


def pr_point(tp, fp, n):
    return Fraction(tp) / n, Fraction(tp) / (Fraction(tp) + Fraction(fp))


def from_zero_one(y_true, y_score):
    n = sum(y_true)
    curve = [pr_point(*p, n) for p in points(y_true, y_score)]
    return trapezoids([(Fraction(0), Fraction(1)), *curve])


def from_first_precision(y_true, y_score):
    n = sum(y_true)
    curve = [pr_point(*p, n) for p in points(y_true, y_score)]
    return trapezoids([(Fraction(0), curve[0][1]), *curve])


def with_whole_positives(y_true, y_score, drop_leading):
    """Insert a point per positive inside ties, on the straight line of counts."""
    n = sum(y_true)
    path = [(Fraction(tp), Fraction(fp)) for tp, fp in points(y_true, y_score)]
    if drop_leading:
        path = [p for p in path if p[0] > 0]
    # Flat up to the first point, if it has a positive.
    start = [(Fraction(0), path[0][0] / sum(path[0]))] if path[0][0] > 0 else []
    filled = [path[0]]
    for (tp0, fp0), (tp1, fp1) in pairwise(path):
        pace = (fp1 - fp0) / (tp1 - tp0) if tp1 > tp0 else 0
        filled += [(tp0 + step, fp0 + pace * step) for step in range(1, int(tp1 - tp0))]
        filled.append((tp1, fp1))
    return trapezoids([*start, *(pr_point(tp, fp, n) for tp, fp in filled)])


def with_thousandths(y_true, y_score):
    """One point per row, ties spread evenly, and one per thousandth of recall between two rows."""
    n = sum(y_true)
    path = [(Fraction(0), Fraction(0))]
    for tp, fp in points(y_true, y_score):
        tp0, fp0 = path[-1]
        rows = int(tp + fp - tp0 - fp0)
        path += [
            (tp0 + (tp - tp0) * i / rows, fp0 + (fp - fp0) * i / rows) for i in range(1, rows + 1)
        ]
    curve = [(Fraction(0), path[1][0] / sum(path[1]))]
    for (tp0, fp0), (tp1, fp1) in pairwise(path):
        for k in range(int(tp0 * 1000 / n), int(tp1 * 1000 / n) + 1):
            recall = Fraction(k, 1000)
            if tp0 < recall * n < tp1:
                share = (recall * n - tp0) / (tp1 - tp0)
                curve.append(pr_point(recall * n, fp0 + share * (fp1 - fp0), n))
        curve.append(pr_point(tp1, fp1, n))
    return trapezoids(curve)


def highest_from_zero_one(y_true, y_score):
    n = sum(y_true)
    best = {Fraction(0): Fraction(1)}
    for recall, precision in (pr_point(*p, n) for p in points(y_true, y_score)):
        best[recall] = max(best.get(recall, Fraction(0)), precision)
    return trapezoids(sorted(best.items()))


def with_misplaced_points(y_true, y_score):
    """Straight lines from (0, 1) through the lowest FP of each TP, in a list that grows.

    The points of a long step are put in behind its first place, although points that were put in
    before have moved it on.
    """
    n = sum(y_true)
    lowest = {0: 0}
    for tp, fp in points(y_true, y_score):
        lowest.setdefault(tp, fp)
    path = sorted(lowest.items())
    curve = [(Fraction(0), Fraction(1)), *(pr_point(*p, n) for p in path[1:])]
    for place, ((tp0, fp0), (tp1, fp1)) in enumerate(pairwise(path), start=1):
        if tp1 - tp0 > 2:
            pace = Fraction(fp1 - fp0, tp1 - tp0)
            steps = range(1, tp1 - tp0 + 1)
            curve[place:place] = [pr_point(tp0 + step, fp0 + pace * step, n) for step in steps]
    return trapezoids(curve)


def after_the_first_point(y_true, y_score):
    n = sum(y_true)
    return trapezoids([pr_point(*p, n) for p in points(y_true, y_score)])


def between_200_thresholds(y_true, y_score):
    """Hyperbolas between the counts above 1, 198/199, ..., 1/199 and from 0 on."""
    n = sum(y_true)
    area, before = 0.0, (0, 0)
    for step in range(198, -1, -1):
        reached = [y for y, s in zip(y_true, y_score, strict=True) if s > step / 199 or step == 0]
        after = (sum(reached), len(reached) - sum(reached))
        tp, fp = after[0] - before[0], after[1] - before[1]
        if tp:
            slope, start = tp / (tp + fp), sum(before)
            area += slope * tp
            if start:
                area += slope * (before[0] - slope * start) * math.log(sum(after) / start)
        before = after
    return area / n


CONVENTIONS = {
    "rocr": with_misplaced_points,
    "mleval": after_the_first_point,
    "sklearn_trapezoid": from_zero_one,
    "yardstick_pr_auc": from_zero_one,
    "raucpr_lower_trapezoid": from_zero_one,
    "spark_area_under_pr": from_first_precision,
    "prroc_davis_goadrich": lambda y, s: with_whole_positives(y, s, False),
    "auccalculator": lambda y, s: with_whole_positives(y, s, True),
    "precrec": with_thousandths,
    "raucpr_upper_trapezoid": highest_from_zero_one,
}


def ratio_quantile(part, rest, probability):
    """Quantile of A / (A + B), of gamma numbers with these shapes and scales, by integration."""
    (shape, scale), (others, step) = part, rest

    def chance_under(share):
        """A is under share / (1 - share) times B, whatever B is."""
        most = scipy.stats.gamma.ppf(1 - 1e-14, others)
        found, _ = scipy.integrate.quad(
            lambda x: (
                scipy.stats.gamma.pdf(x, others)
                * scipy.stats.gamma.cdf(x * step / scale * share / (1 - share), shape)
            ),
            0.0,
            most,
            epsabs=1e-13,
            epsrel=1e-12,
            limit=500,
        )
        return found - probability

    return scipy.optimize.brentq(chance_under, 1e-9, 1 - 1e-9, xtol=1e-14)
