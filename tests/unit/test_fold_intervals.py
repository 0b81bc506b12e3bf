"""Intervals from the folds of a cross-validation, their scores brought to one scale."""

import math

import numpy as np
import pytest
from scipy import stats

import precall as pr
from precall.exceptions import InputError
from precall.inference.fold_scales import by_negatives, by_recall, on_one_scale, scores_differ

RNG = np.random.default_rng(31)
SIZE, FOLDS = 600, 5
Y = RNG.random(SIZE) < 0.2
FOLD = np.arange(SIZE) % FOLDS
SCORE = RNG.normal(size=SIZE) + 1.5 * Y
ROWS = pr.Rows(Y, {"a": SCORE, "b": SCORE + RNG.normal(size=SIZE)}, columns={"fold": FOLD})


def naive_by_negatives(score, y, fold):
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


def naive_by_recall(score, y, fold, weight):
    """Row by row: recall at its score; between those of the positives around it without one."""
    result = []
    for value, own in zip(score, fold, strict=True):
        ours, share = score[(fold == own) & y], weight[(fold == own) & y]
        reached = {other: share[ours >= other].sum() / share.sum() for other in ours}
        if value in reached:
            result.append(-reached[value])
            continue
        over = max((reached[other] for other in ours if other > value), default=0.0)
        under = min((reached[other] for other in ours if other < value), default=2.0)
        result.append(-(over + under) / 2)
    return np.array(result)


def test_the_scale_by_negatives_is_as_defined():
    found = by_negatives(SCORE, Y, FOLD)
    np.testing.assert_allclose(found, naive_by_negatives(SCORE, Y, FOLD), atol=1e-11)
    for k in range(FOLDS):  # no fold's own ranking changes
        inside = k == FOLD
        order = np.argsort(SCORE[inside])
        assert np.all(np.diff(found[inside][order]) > 0)


@pytest.mark.parametrize("digits", [12, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_scale_by_recall_is_as_defined(digits, weighted):
    score = SCORE.round(digits)
    weight = RNG.integers(1, 5, SIZE).astype(float) if weighted else None
    found = by_recall(score, Y, FOLD, weight)
    expected = naive_by_recall(score, Y, FOLD, np.ones(SIZE) if weight is None else weight)
    np.testing.assert_allclose(found, expected, atol=1e-11)
    for k in range(FOLDS):
        # The fold's own ranking is what it was, but for negatives between the same positives.
        inside = k == FOLD
        before, after = (pr.rank(Y[inside], s[inside]) for s in (score, found))
        assert pr.aucpr(before) == pytest.approx(pr.aucpr(after), rel=1e-12)
        assert pr.auroc(before) == pytest.approx(pr.auroc(after), rel=1e-12)


def on_scale(score, y=Y, **more):
    return on_one_scale(pr.Rows(y, score, **more), "score", FOLD).scores


@pytest.mark.numerics
def test_the_scale_changes_where_all_rows_then_rank_better():
    apart = np.where(Y, 0.9 + 0.1 * RNG.random(SIZE), 0.2 * RNG.random(SIZE) ** (1 + FOLD))
    hardly = np.random.default_rng(7).normal(size=SIZE) + 0.5 * Y + FOLD
    for score, chosen in ((apart, 0), (hardly, 1), (apart * 3.0**FOLD - 2 * FOLD, 2)):
        scales = [score, by_negatives(score, Y, FOLD), by_recall(score, Y, FOLD)]
        areas = [pr.aucpr(pr.rank(Y, scale)) for scale in scales]
        assert np.argmax(areas) == chosen
        assert np.array_equal(on_scale(score), scales[chosen])


@pytest.mark.parametrize("weighted", [False, True])
def test_the_scale_changes_only_if_that_gains_a_standard_error(weighted):
    """The gain and its error are those of a comparison on the same rows.

    Any gain will do where scores are visibly not distributed alike.
    """
    draws = np.random.default_rng(11)
    weight = draws.integers(1, 4, SIZE).astype(float) if weighted else None
    found = []
    for shift in np.linspace(0.0, 0.6, 13):
        score = np.random.default_rng(2).normal(size=SIZE) + Y + shift * FOLD
        others = [by_negatives(score, Y, FOLD), by_recall(score, Y, FOLD, weight)]
        best = max(others, key=lambda scale: pr.aucpr(pr.rank(Y, scale, sample_weight=weight)))
        rows = pr.Rows(Y, {"new": best, "old": score}, sample_weight=weight)
        compared = pr.compare(rows, distribution="normal", sampling="classes")
        [interval] = compared.intervals.values()
        error = interval.width / 2 / stats.norm.ppf(0.975)
        gain = np.subtract(*(pr.aucpr(rows[name]) for name in ("new", "old")))
        assert abs(gain - error) > 1e-4  # no case is on the edge
        several = scores_differ(score, Y, FOLD)
        expected = best if gain > (0.0 if several else error) else score
        scale = on_one_scale(pr.Rows(Y, score, sample_weight=weight), "score", FOLD)
        assert np.array_equal(scale.scores, expected)
        assert scale.several == (several or gain > error)
        found.append((several, gain > error))
    assert len(set(found)) > 2


@pytest.mark.numerics
@pytest.mark.parametrize("digits", [12, 1, 0])
@pytest.mark.parametrize("mirrored", [False, True])
def test_scores_differ_where_the_test_of_kruskal_and_wallis_says_so(digits, mirrored):
    """Among the negatives, or the positives where those are more."""
    found = []
    for shift in np.linspace(0.0, 0.5, 21):
        score = (np.random.default_rng(5).normal(size=SIZE) + Y + shift * FOLD).round(digits)
        y = ~Y if mirrored else Y
        p = stats.kruskal(*(score[~Y & (k == FOLD)] for k in range(FOLDS))).pvalue
        assert scores_differ(score, y, FOLD) == (p < 0.01)
        found.append(p < 0.01)
    assert 2 < sum(found) < 19
    assert not scores_differ(np.ones(SIZE), Y, FOLD)


def test_of_folds_on_several_scales_one_limit_goes_half_way_to_the_mean_over_folds():
    shifted = np.random.default_rng(7).normal(size=SIZE) + 0.5 * Y + FOLD
    rows = pr.Rows(Y, shifted, columns={"fold": FOLD})
    scale = on_one_scale(rows, "score", FOLD)
    assert scale.several
    found = pr.crossval_interval(rows, by="fold")
    alone = pr.interval(pr.rank(Y, scale.scores), confidence_level=stretched(0.95, FOLDS))
    mean = np.mean([pr.aucpr(pr.rank(Y[k == FOLD], shifted[k == FOLD])) for k in range(FOLDS)])
    assert mean > found.estimate + 0.01
    assert found.low == pytest.approx(alone.low)
    assert found.high == pytest.approx(alone.high + 0.5 * (mean - alone.estimate))
    # Mirrored where the mean is lower, as that of a metric may be; and never beyond its bounds.
    auroc = pr.crossval_interval(rows, "auroc", by="fold")
    alone = pr.interval(pr.rank(Y, scale.scores), "auroc", confidence_level=stretched(0.95, FOLDS))
    mean = np.mean([pr.auroc(pr.rank(Y[k == FOLD], shifted[k == FOLD])) for k in range(FOLDS)])
    way = 0.5 * (mean - auroc.estimate)
    expected = alone.low + min(way, 0.0), alone.high + max(way, 0.0)
    assert tuple(auroc) == pytest.approx(expected)


def test_folds_that_are_separated_stay_so_whatever_their_scales():
    """By their negatives alone the positives of one fold passed negatives of others."""
    score = np.where(Y, 0.9 + 0.1 * RNG.random(SIZE), 0.2 * RNG.random(SIZE) ** (1 + FOLD))
    for scores in (score, score * 3.0**FOLD - 2.0 * FOLD):
        rows = pr.Rows(Y, scores, columns={"fold": FOLD})
        found = pr.crossval_interval(rows, by="fold")
        assert found.estimate == found.high == 1.0
    assert pr.aucpr(pr.rank(Y, by_negatives(score, Y, FOLD))) < 0.995


def test_without_positives_in_some_fold_there_is_no_scale_by_recall():
    y = Y & (FOLD != 2)
    shifted = SCORE + 2.0 * FOLD
    assert np.array_equal(on_scale(shifted, y), by_negatives(shifted, y, FOLD))
    rows = pr.Rows(y, SCORE, columns={"fold": FOLD})
    assert 0.3 < pr.crossval_interval(rows, by="fold").estimate < 0.9


@pytest.mark.parametrize("metric", ["aucpr", "auroc", "precision_at_recall(0.5)"])
def test_the_interval_is_that_of_all_rows_at_a_higher_level(metric):
    found = pr.crossval_interval(ROWS, metric, by="fold", model="a")
    assert not on_one_scale(ROWS, "a", FOLD).several
    together = pr.rank(Y, on_scale(SCORE))
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
    found = by_negatives(score, Y, FOLD)
    assert np.isfinite(found).all()
    constant = by_negatives(np.ones(SIZE), Y, FOLD)
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
