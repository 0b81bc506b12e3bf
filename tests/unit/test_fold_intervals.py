"""Intervals from the folds of a cross-validation, their scores brought to one scale."""

import math

import numpy as np
import pytest
from scipy import stats

import precall as pr
from precall.exceptions import InputError
from precall.inference.fold_intervals import standardised

RNG = np.random.default_rng(31)
SIZE, FOLDS = 600, 5
Y = RNG.random(SIZE) < 0.2
FOLD = np.arange(SIZE) % FOLDS
SCORE = RNG.normal(size=SIZE) + 1.5 * Y
ROWS = pr.Rows(Y, {"a": SCORE, "b": SCORE + RNG.normal(size=SIZE)}, columns={"fold": FOLD})


def naive_standardised(score, y, fold):
    """Row by row, from the definition."""
    normal = stats.norm.ppf((stats.rankdata(score) - 0.5) / len(score))
    result = []
    for value, own in zip(normal, fold, strict=True):
        negatives = normal[(fold == own) & ~y]
        middle = np.median(negatives)
        result.append((value - middle) / np.median(np.abs(negatives - middle)))
    return np.array(result)


def stretched(level, k):
    return 2 * stats.norm.cdf(stats.norm.ppf(0.5 + level / 2) * math.sqrt(k / (k - 1))) - 1


def test_scores_are_standardised_as_defined():
    found = standardised(SCORE, Y, FOLD)
    np.testing.assert_allclose(found, naive_standardised(SCORE, Y, FOLD), atol=1e-11)
    for k in range(FOLDS):  # no fold's own ranking changes
        inside = k == FOLD
        order = np.argsort(SCORE[inside])
        assert np.all(np.diff(found[inside][order]) > 0)


@pytest.mark.parametrize("metric", ["aucpr", "auroc", "precision_at_recall(0.5)"])
def test_the_interval_is_that_of_all_rows_at_a_higher_level(metric):
    found = pr.crossval_interval(ROWS, metric, by="fold", model="a")
    together = pr.rank(Y, standardised(SCORE, Y, FOLD))
    expected = pr.interval(together, metric, confidence_level=stretched(0.95, FOLDS))
    assert found.estimate == expected.estimate
    np.testing.assert_allclose(tuple(found), tuple(expected), rtol=1e-9)
    assert (found.method, found.confidence_level) == ("standardised", 0.95)
    wide = found.at_level(0.99)
    again = pr.interval(together, metric, confidence_level=stretched(0.99, FOLDS))
    np.testing.assert_allclose(tuple(wide), tuple(again), rtol=1e-9)


@pytest.mark.parametrize("transform", [np.exp, lambda s: 1 / (1 + np.exp(-4 * s)), np.arctan])
def test_an_increasing_transform_of_the_scores_changes_nothing(transform):
    moved = pr.Rows(Y, transform(SCORE), columns={"fold": FOLD})
    assert tuple(pr.crossval_interval(moved, by="fold")) == tuple(
        pr.crossval_interval(ROWS, by="fold", model="a")
    )


@pytest.mark.numerics
def test_folds_on_scales_of_their_own_are_brought_together():
    """Every fold shifted and stretched: together they would rank folds, not rows."""
    shifted = (SCORE * 1.2**FOLD + 0.7 * FOLD).round(6)
    rows = pr.Rows(Y, shifted, columns={"fold": FOLD})
    alone = pr.aucpr(pr.rank(Y, SCORE))
    assert pr.crossval_interval(rows, by="fold").estimate == pytest.approx(alone, abs=0.03)
    assert pr.crossval_interval(rows, by="fold", method="pooled").estimate < alone - 0.1


def test_names_and_order_of_folds_do_not_matter():
    words = np.array(["e", "d", "c", "b", "a"])[FOLD]
    mixed = RNG.permutation(SIZE)
    rows = pr.Rows(Y[mixed], SCORE[mixed], columns={"fold": words[mixed]})
    found = pr.crossval_interval(rows, by="fold")
    np.testing.assert_allclose(
        tuple(found), tuple(pr.crossval_interval(ROWS, by="fold", model="a")), rtol=1e-12
    )


def test_repetitions_are_averaged():
    other = RNG.permutation(FOLD)
    rows = pr.Rows(Y, dict(ROWS.scores), columns={"one": FOLD, "two": other})
    both = pr.crossval_interval(rows, by=["one", "two"], model=["a", "b"])
    single = [
        pr.crossval_interval(rows, by=column, model=model)
        for column, model in (("one", "a"), ("two", "b"))
    ]
    for name in ("estimate", "low", "high"):
        assert getattr(both, name) == pytest.approx(np.mean([getattr(s, name) for s in single]))
    papers = pr.crossval_interval(rows, by=["one", "two"], model=["a", "b"], method="crossval")
    parts = [
        pr.crossval_interval(rows, by=column, model=model, method="crossval").low
        for column, model in (("one", "a"), ("two", "b"))
    ]
    assert papers.low == pytest.approx(np.mean(parts))


def test_what_papers_print_is_still_there():
    rankings = [pr.rank(Y[k == FOLD], SCORE[k == FOLD]) for k in range(FOLDS)]
    printed = pr.crossval_interval(rankings)
    found = pr.crossval_interval(ROWS, by="fold", model="a", method="crossval")
    np.testing.assert_allclose(tuple(found), tuple(printed))
    assert found.method == printed.method == "crossval"


def test_a_metric_of_a_threshold_takes_the_scores_as_they_are():
    metric = "precision_at_threshold(1.5)"
    found = pr.crossval_interval(ROWS, metric, by="fold", model="a")
    assert found.method == "pooled"
    assert found.estimate == np.mean(Y[SCORE >= 1.5])
    with pytest.raises(InputError, match="depends on the scores themselves"):
        pr.crossval_interval(ROWS, metric, by="fold", model="a", method="standardised")


def test_negatives_that_are_mostly_tied_have_a_scale_too():
    score = np.where(SCORE > 1.0, SCORE, 0.0)
    found = standardised(score, Y, FOLD)
    assert np.isfinite(found).all()
    constant = standardised(np.ones(SIZE), Y, FOLD)
    assert np.ptp(constant) == 0.0


def test_weights_and_clusters_are_taken_along():
    twice = np.repeat(np.arange(SIZE), 2)
    rows = pr.Rows(Y[twice], SCORE[twice], clusters=twice, columns={"fold": FOLD[twice]})
    found = pr.crossval_interval(rows, by="fold")
    alone = pr.crossval_interval(ROWS, by="fold", model="a")
    assert found.estimate == pytest.approx(alone.estimate, abs=0.01)
    assert found.width == pytest.approx(alone.width, rel=0.1)


ONE_FOLD = pr.Rows([1, 0], [2, 1], columns={"fold": ["x", "x"]})
BARE = pr.Rows([1, 1, 0, 0], [4, 3, 2, 1], columns={"fold": [0, 0, 1, 1]})
MISSING = pr.Rows([1, 0], [2, 1], columns={"fold": [1.0, np.nan]})


@pytest.mark.parametrize(
    ("data", "asked", "message"),
    [
        (ROWS, {}, "by must name the column of folds"),
        (ROWS, {"by": []}, "by must name the column of folds"),
        (ROWS, {"by": "fold"}, "say which"),
        (ROWS, {"by": "z", "model": "a"}, "no column 'z'"),
        (ROWS, {"by": ["fold"], "model": ["a", "b"]}, "must go together"),
        (ROWS, {"by": "fold", "model": "a", "method": "mean"}, "method must be one of"),
        (ONE_FOLD, {"by": "fold"}, "must name at least two folds, got one"),
        (BARE, {"by": "fold"}, "fold 0 has 0 negatives"),
        (MISSING, {"by": "fold"}, "must not be missing"),
        ([pr.rank([1, 0], [2, 1])] * 2, {"by": "fold"}, "by= belongs to Rows"),
        ([pr.rank([1, 0], [2, 1])] * 2, {"method": "standardised"}, "needs the rows of all folds"),
    ],
)
def test_bad_questions_are_named(data, asked, message):
    with pytest.raises(InputError, match=message):
        pr.crossval_interval(data, **asked)
