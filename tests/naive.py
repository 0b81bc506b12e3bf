"""Slow references, written differently from the library: loops, fractions, 50 digits.

Counts are exact fractions of the given floats. Areas are integrals of an explicit list of pieces
by their antiderivatives in 50-digit arithmetic, where the library uses cancellation-free forms.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import mpmath

mpmath.mp.dps = 50


def fractions_of(weights, size):
    return [Fraction(1)] * size if weights is None else [Fraction(float(w)) for w in weights]


def table(y_true, y_score, weights=None):
    """Rows (threshold, positives, tied, above) from the highest down, and what is below."""
    weights = fractions_of(weights, len(y_true))
    data = [(s, bool(y), w) for s, y, w in zip(y_score, y_true, weights, strict=True) if w > 0]
    thresholds = sorted({s for s, y, _ in data if y}, reverse=True)
    rows = []
    ceiling = None
    for threshold in thresholds:
        rows.append(
            (
                threshold,
                sum((w for s, y, w in data if y and s == threshold), Fraction(0)),
                sum((w for s, y, w in data if not y and s == threshold), Fraction(0)),
                sum(
                    (
                        w
                        for s, y, w in data
                        if not y and s > threshold and (ceiling is None or s < ceiling)
                    ),
                    Fraction(0),
                ),
            )
        )
        ceiling = threshold
    below = sum((w for s, y, w in data if not y and (ceiling is None or s < ceiling)), Fraction(0))
    return rows, below


@dataclass
class Arrival:
    """The counts on arrival at a threshold, and the negatives before and after it."""

    tp: Fraction
    fp: Fraction
    positives: Fraction
    tied: Fraction
    before: Fraction  # FP just before the row's own tie
    gap: Fraction  # negatives between this arrival and the next positive


def arrivals(y_true, y_score, weights=None):
    rows, below = table(y_true, y_score, weights)
    out = []
    tp = fp = Fraction(0)
    for index, (_, positives, tied, above) in enumerate(rows):
        before = fp + above
        tp, fp = tp + positives, before + tied
        gap = rows[index + 1][3] if index + 1 < len(rows) else below
        out.append(Arrival(tp, fp, positives, tied, before, gap))
    return out


def mp(value):
    return (
        mpmath.mpf(value.numerator) / value.denominator
        if isinstance(value, Fraction)
        else mpmath.mpf(value)
    )


@dataclass
class Line:
    """Precision linear in recall between two points."""

    r0: object
    p0: object
    r1: object
    p1: object

    def area(self, low, high):
        a, b = max(mp(self.r0), low), min(mp(self.r1), high)
        if a >= b:
            return mpmath.mpf(0)
        slope = (mp(self.p1) - mp(self.p0)) / (mp(self.r1) - mp(self.r0))
        height = lambda r: mp(self.p0) + slope * (r - mp(self.r0))  # noqa: E731
        return (b - a) * (height(a) + height(b)) / 2


@dataclass
class Hyperbola:
    """TP / (TP + FP) with FP linear in TP between two count points; n positives in all."""

    tp0: object
    fp0: object
    tp1: object
    fp1: object
    n: object

    def area(self, low, high):
        n = mp(self.n)
        a, b = max(mp(self.tp0), low * n), min(mp(self.tp1), high * n)
        if a >= b:
            return mpmath.mpf(0)
        slope = (mp(self.fp1) - mp(self.fp0)) / (mp(self.tp1) - mp(self.tp0))
        constant = mp(self.fp0) - slope * mp(self.tp0)  # TP + FP = constant + (1 + slope) TP
        k = 1 + slope
        if constant == 0:
            return (b - a) / k / n

        def antiderivative(t):
            return t / k - constant / k**2 * mpmath.log(constant + k * t)

        return (antiderivative(b) - antiderivative(a)) / n


def precision(arrival):
    return arrival.tp / (arrival.tp + arrival.fp)


def pieces(estimator, y_true, y_score, weights=None):
    path = arrivals(y_true, y_score, weights)
    n = path[-1].tp
    m = path[-1].fp + path[-1].gap
    out = []
    if estimator in ("average_precision", "leave_one_out"):
        values = (
            [precision(a) for a in path]
            if estimator == "average_precision"
            else leave_one_out_values(y_true, y_score, weights)
        )
        recall = Fraction(0)
        for arrival, value in zip(path, values, strict=True):
            out.append(Line(recall, value, arrival.tp / n, value))
            recall = arrival.tp / n
        return out
    if estimator in ("lower_trapezoid", "upper_trapezoid"):
        lower = estimator == "lower_trapezoid"
        first = path[0]
        if lower and first.before > 0:
            opening = Fraction(0)
        elif first.tied > 0:
            opening = precision(first)
        else:
            opening = Fraction(1)
        out.append(Line(Fraction(0), opening, first.tp / n, precision(first)))
        for one, two in pairwise(path):
            left = one.tp / (one.tp + one.fp + one.gap) if lower else precision(one)
            out.append(Line(one.tp / n, left, two.tp / n, precision(two)))
        return out
    if estimator == "davis_goadrich":
        tp = Fraction(0)
        for arrival in path:
            out.append(Hyperbola(tp, arrival.before, arrival.tp, arrival.fp, n))
            tp = arrival.tp
        return out
    if estimator == "interpolated_convex":
        points = upper_hull([(Fraction(0), Fraction(0))] + [(a.fp, a.tp) for a in path] + [(m, n)])
        return [
            Hyperbola(one[1], one[0], two[1], two[0], n)
            for one, two in pairwise(points)
            if two[1] > one[1]
        ]
    summary = [summary_precision(estimator, arrival) for arrival in path]
    tp = fp = mpmath.mpf(0)
    for arrival, value in zip(path, summary, strict=True):
        next_tp = mp(arrival.tp)
        next_fp = next_tp / value - next_tp
        out.append(Hyperbola(tp, fp, next_tp, next_fp, n))
        tp, fp = next_tp, next_fp
    return out


def summary_precision(estimator, arrival):
    tp, start, gap = mp(arrival.tp), mp(arrival.tp + arrival.fp), mp(arrival.gap)
    if estimator == "interpolated_max":
        return tp / start
    if arrival.gap.denominator == 1:
        points = sorted(tp / (start + i) for i in range(int(arrival.gap) + 1))
        if estimator == "interpolated_mean":
            return sum(points) / len(points)
        half = len(points) // 2
        return points[half] if len(points) % 2 else (points[half - 1] + points[half]) / 2
    if estimator == "interpolated_median":
        return tp / (start + gap / 2)
    return tp * (mpmath.digamma(start + gap + 1) - mpmath.digamma(start)) / (gap + 1)


def area_of_thresholds(y_true, y_score, summary):
    """Hyperbolas through a summary of the precisions of all thresholds with one TP."""
    n = sum(y_true)
    precisions = {}
    for threshold in sorted(set(y_score), reverse=True):
        reached = [y for y, s in zip(y_true, y_score, strict=True) if s >= threshold]
        if sum(reached):
            precisions.setdefault(sum(reached), []).append(Fraction(sum(reached), len(reached)))
    area, tp, fp = mpmath.mpf(0), mpmath.mpf(0), mpmath.mpf(0)
    for found in sorted(precisions):
        value = mp(summary(precisions[found]))
        next_tp, next_fp = mpmath.mpf(found), found / value - found
        area += Hyperbola(tp, fp, next_tp, next_fp, mpmath.mpf(n)).area(0, 1)
        tp, fp = next_tp, next_fp
    return area


def upper_hull(points):
    """Monotone chain from left to right, keeping right turns only."""
    hull = []
    for point in sorted(set(points)):
        while len(hull) >= 2:
            (x0, y0), (x1, y1) = hull[-2:]
            if (x1 - x0) * (point[1] - y0) - (y1 - y0) * (point[0] - x0) >= 0:
                hull.pop()
            else:
                break
        hull.append(point)
    return hull


def leave_one_out_values(y_true, y_score, weights=None):
    """One value per distinct positive score; positives that share one must weigh the same."""
    weights = fractions_of(weights, len(y_true))
    positives = [(s, w) for y, s, w in zip(y_true, y_score, weights, strict=True) if y and w > 0]
    negatives = [(s, w) for y, s, w in zip(y_true, y_score, weights, strict=True) if not y]
    n = sum((w for _, w in positives), Fraction(0))
    values = []
    for score in sorted({s for s, _ in positives}, reverse=True):
        own = next(w for s, w in positives if s == score)
        others = sum((w for s, w in positives if s >= score), Fraction(0)) - own
        false = sum((w for s, w in negatives if s >= score), Fraction(0))
        if n == own:
            values.append(own / (own + false))
        elif others + false == 0:
            values.append(None)
        else:
            scaled = others * n / (n - own)
            values.append(scaled / (scaled + false))
    return [values[i + 1] if v is None else v for i, v in enumerate(values)]


def aucpr(estimator, y_true, y_score, weights=None, recall=(0.0, 1.0)):
    low, high = mpmath.mpf(recall[0]), mpmath.mpf(recall[1])
    total = sum(
        (piece.area(low, high) for piece in pieces(estimator, y_true, y_score, weights)),
        mpmath.mpf(0),
    )
    return float(total)


def auroc(y_true, y_score, weights=None):
    weights = fractions_of(weights, len(y_true))
    rows = list(zip(y_true, y_score, weights, strict=True))
    won = total = Fraction(0)
    for y, s, w in rows:
        for z, t, v in rows:
            if y and not z:
                total += w * v
                won += w * v * (1 if s > t else Fraction(1, 2) if s == t else 0)
    return float(won / total)


def auprg(y_true, y_score, weights=None):
    """Walk the path in gain coordinates and add trapezoids, starting where recall gain is 0."""
    path = arrivals(y_true, y_score, weights)
    n, m = path[-1].tp, path[-1].fp + path[-1].gap
    odds = n / m

    def gain(tp, fp):
        return 1 - odds * (n - tp) / tp, 1 - odds * fp / tp

    start = n * n / (n + m)
    area = Fraction(0)
    tp = Fraction(0)
    for arrival in path:
        if arrival.tp > start:
            begin = max(tp, start)
            share = (begin - tp) / (arrival.tp - tp)
            x0, y0 = gain(begin, arrival.before + share * (arrival.fp - arrival.before))
            x1, y1 = gain(arrival.tp, arrival.fp)
            area += (x1 - x0) * (y0 + y1) / 2
        tp = arrival.tp
    return float(area)


def weak_orders(items):
    """Every way to rank items with ties allowed: lists of groups, highest first."""
    items = list(items)
    if not items:
        yield []
        return
    for mask in range(1, 2 ** len(items)):
        top = [item for i, item in enumerate(items) if mask >> i & 1]
        rest = [item for i, item in enumerate(items) if not mask >> i & 1]
        for order in weak_orders(rest):
            yield [top, *order]
