"""Whatever a builder is fed, in whatever pieces: its bounds contain the exact value."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import precall as pr
from precall.ranking.builder import RankingBuilder

pytestmark = pytest.mark.filterwarnings(
    "ignore::precall.exceptions.DirectionWarning",
    "ignore::precall.exceptions.UndefinedMetricWarning",
)

# The bounds are sums in floating point; so is the exact value.
ROUNDING = 1e-12

extremes = st.sampled_from([0.0, -0.0, 1.0, np.inf, -np.inf, 1e308, -5e-324, 1.0 + 2**-52])
scores = {
    "real": st.floats(allow_nan=False) | extremes,
    "near": st.floats(0.0, 1.0) | st.integers(0, 4).map(float),
    "whole": st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3),
}


@st.composite
def batches(draw, weights=False):
    """A few batches of labels and scores of one kind."""
    kind = draw(st.sampled_from(sorted(scores)))
    row = st.tuples(st.booleans(), scores[kind], st.integers(1, 8) if weights else st.just(1))
    parts = draw(st.lists(st.lists(row, max_size=25), min_size=1, max_size=6))
    if not any(parts):
        parts.append([draw(row)])
    dtype = np.int64 if kind == "whole" else np.float64
    return [
        (
            np.array([label for label, _, _ in part], dtype=bool),
            np.array([score for _, score, _ in part], dtype=dtype),
            np.array([weight for _, _, weight in part], dtype=float) / 4,
        )
        for part in parts
    ]


def built(make, parts, weighted=False, merged=False):
    builders = [make()]
    for labels, values, weights in parts:
        if merged:
            builders.append(make())
        builders[-1].update(labels, values, sample_weight=weights if weighted else None)
    total = builders[0]
    for other in builders[1:]:
        total.merge(pickle.loads(pickle.dumps(other)))
    return total.ranking()


def together(parts, weighted=False):
    labels, values, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    return pr.rank(labels, values, sample_weight=weights if weighted else None)


def assert_contained(coarse, exact):
    assert coarse.n_pos == exact.n_pos
    assert coarse.n_neg == exact.n_neg
    for estimator in ("average_precision", "davis_goadrich"):
        bounds = pr.tie_bounds(coarse, estimator=estimator)
        value = pr.aucpr(exact, estimator=estimator)
        assert bounds.low - ROUNDING <= value <= bounds.high + ROUNDING


@given(batches(), st.integers(1, 12), st.booleans())
def test_adaptive_bounds_contain_the_exact_value(parts, max_rows, merged):
    ranking = built(lambda: RankingBuilder(max_rows=max_rows), parts, merged=merged)
    assert len(ranking) <= max_rows
    assert_contained(ranking, together(parts))


@given(batches(weights=True), st.integers(1, 12), st.booleans())
def test_adaptive_bounds_hold_with_weights(parts, max_rows, merged):
    ranking = built(lambda: RankingBuilder(max_rows=max_rows), parts, weighted=True, merged=merged)
    assert_contained(ranking, together(parts, weighted=True))


@given(batches(), st.data(), st.booleans())
def test_bounds_on_any_thresholds_contain_the_exact_value(parts, data, merged):
    values = np.concatenate([part[1] for part in parts])
    own = st.sampled_from(values.tolist())
    dtype = values.dtype
    other = scores["whole" if dtype.kind == "i" else "real"]
    thresholds = np.array(data.draw(st.lists(own | other, max_size=12)), dtype=dtype)
    ranking = built(lambda: RankingBuilder(thresholds), parts, merged=merged)
    assert_contained(ranking, together(parts))


@given(batches(weights=True), st.booleans(), st.booleans())
def test_on_all_positive_scores_it_is_exact(parts, weighted, merged):
    positive = np.concatenate([values[labels] for labels, values, _ in parts])
    ranking = built(lambda: RankingBuilder(positive), parts, weighted, merged)
    exact = together(parts, weighted)
    assert ranking == exact  # weights are quarters, so their sums are exact
    assert (ranking.rows is None) == (exact.rows is None)
    if ranking.rows is not None:
        for found, expected in zip(ranking.rows, exact.rows, strict=True):
            np.testing.assert_array_equal(found, expected)


@given(batches(), st.booleans())
def test_it_is_exact_until_there_are_too_many_scores(parts, merged):
    size = sum(part[0].size for part in parts)
    ranking = built(lambda: RankingBuilder(max_rows=size), parts, merged=merged)
    assert ranking == together(parts)


@given(batches(), st.integers(1, 12), st.randoms())
def test_merging_in_another_order_sees_the_same_rows(parts, max_rows, random):
    shuffled = parts.copy()
    random.shuffle(shuffled)
    one, other = (
        built(lambda: RankingBuilder(max_rows=max_rows), p, merged=True) for p in (parts, shuffled)
    )
    assert (one.n_pos, one.n_neg) == (other.n_pos, other.n_neg)


@given(st.lists(st.booleans(), min_size=1, max_size=400), st.integers(1, 40))
def test_equal_cells_are_as_tight_as_documented(labels, n_cells):
    labels = np.array([True, *labels])
    scores = np.arange(labels.size)[::-1].astype(float)
    positive = scores[labels]
    n_cells = min(n_cells, positive.size)
    # Cells of equally many positives, the last of the best ones: drop what does not divide.
    size = positive.size // n_cells
    lowest = positive[: size * n_cells][size - 1 :: size]
    kept = scores >= lowest[-1]
    ranking = RankingBuilder(lowest).update(labels[kept], scores[kept]).ranking()
    assert ranking.positives.tolist() == [size] * n_cells
    bounds = pr.tie_bounds(ranking)
    harmonic = np.sum(1 / np.arange(1, n_cells + 1))
    assert bounds.high - bounds.low <= (1 + 2 * harmonic) / n_cells + ROUNDING
