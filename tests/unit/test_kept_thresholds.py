"""Thresholds that a ranking was asked to keep: counted row by row, and what refuses without."""

import json
import warnings

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError, ReliabilityWarning
from tests.datasets import random_data

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]

Y, S = np.array([1, 0, 0, 1, 0]), np.array([0.9, 0.8, 0.6, 0.5, 0.1])


def counted(y, s, w, threshold):
    """True and false positives, false and true negatives, row by row."""
    weight = np.ones(len(y)) if w is None else w
    chosen = s >= threshold
    return [
        weight[(y == label) & (chosen == selected)].sum()
        for label, selected in ((1, True), (0, True), (1, False), (0, False))
    ]


@pytest.mark.parametrize("weights", ["none", "real", "some_zero"])
def test_counts_at_kept_thresholds_are_those_of_the_rows(weights):
    rng = np.random.default_rng(5)
    for _ in range(300):
        y, s, w = random_data(rng, weights=weights, both_classes=False)
        if w is not None and not w.any():
            continue
        kept = rng.choice([*s, *(s + 0.05), -9.0, 99.0], size=rng.integers(1, 5))
        ranking = pr.rank(y, s, sample_weight=w, thresholds=kept.tolist())
        for threshold in kept.tolist():
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = pr.confusion(ranking, threshold)
            assert found.threshold == threshold
            expected = counted(y, s, w, threshold)
            # Weights are eighths, so sums of them are exact.
            assert [found.tp, found.fp, found.fn, found.tn] == expected


def test_a_kept_threshold_is_a_row_without_positives():
    ranking = pr.rank(Y, S, thresholds=[0.6, 0.9, 0.05, 0.95])
    assert ranking.threshold.tolist() == [0.95, 0.9, 0.6, 0.5, 0.05]
    assert ranking.positives.tolist() == [0, 1, 0, 1, 0]
    assert ranking.tied.tolist() == [0, 0, 1, 0, 0]
    assert ranking.above.tolist() == [0, 0, 1, 0, 1]
    assert ranking.below == 0
    assert ranking.of_positives == pr.rank(Y, S)
    assert pr.rank(Y, S, thresholds=[0.9, 0.5]) == pr.rank(Y, S)
    assert pr.rank(Y, S).of_positives == pr.rank(Y, S)
    again = pr.Ranking.from_dict(json.loads(json.dumps(ranking.to_dict())))
    assert again == ranking


def test_shards_with_the_same_kept_thresholds_add_up():
    edges = [*S, 0.3]
    parts = [pr.rank(Y[half], S[half], thresholds=edges) for half in (slice(3), slice(3, None))]
    whole = parts[0] + parts[1]
    assert whole == pr.rank(Y, S, thresholds=edges)
    assert whole.of_positives == pr.rank(Y, S)


def test_no_positives_and_kept_thresholds():
    ranking = pr.rank([0, 0, 0], [3.0, 2.0, 1.0], thresholds=[2.0])
    assert (ranking.n_pos, ranking.n_neg, ranking.threshold.tolist()) == (0, 3, [2.0])
    assert pr.confusion(ranking, 2.0).fp == 2
    assert ranking.of_positives == pr.rank([0, 0, 0], [3.0, 2.0, 1.0])


@pytest.mark.parametrize(
    ("scores", "threshold"),
    [
        (np.array([9, 8, 6, 5, 1]), 6.5),
        (np.array([9, 8, 6, 5, 1]), 7),
        (np.array([9, 8, 6, 5, 1], dtype=np.uint8), 300),
        (np.array([9, 8, 6, 5, 1], dtype=np.uint8), -7),
        (np.array([9, 8, 6, 5, 1]), np.inf),
        (np.array([9, 8, 6, 5, 1]), -np.inf),
        (np.array([0.9, 0.8, 0.7, 0.5, 0.1], dtype=np.float32), 0.7),
        (np.array([0.9, 0.8, 0.7, 0.5, 0.1], dtype=np.float32), np.float64(0.7)),
        (np.array([0.9, 0.8, 0.7, 0.5, 0.1], dtype=np.float32), np.nextafter(0.7, 1.0)),
        (np.array([np.inf, np.inf, 0.7, 0.5, -np.inf]), np.inf),
        (np.array([np.inf, np.inf, 0.7, 0.5, -np.inf]), -np.inf),
        (np.array([0.5, 0.1, -0.0, -1.0, -2.0]), 0.0),
    ],
)
def test_a_threshold_selects_what_numpy_selects(scores, threshold):
    """Also where it is of another type than the scores; -0.0 and 0.0 are one score."""
    for y in (Y, 1 - Y):
        ranking = pr.rank(y, scores, thresholds=[threshold])
        tp, fp, fn, tn = counted(y, scores, None, threshold)
        at = ranking.rows_reaching(threshold)
        assert (ranking.positives[:at].sum(), ranking.positives[at:].sum()) == (tp, fn)
        negatives = ranking.tied + ranking.above
        assert (negatives[:at].sum(), negatives[at:].sum() + ranking.below) == (fp, tn)


@pytest.mark.parametrize(
    ("thresholds", "message"),
    [
        (0.5, r"thresholds must be a list of scores, got 0\.5: pass \[0\.5\]"),
        (None, "thresholds must be a list of scores"),
        (np.array(0.5), "thresholds must be a list of scores"),
        ([np.timedelta64(3, "s")], "thresholds must be a number"),
        ([np.nan], "thresholds must be a number"),
        (["high"], "thresholds must be a number"),
        ([[0.5]], "thresholds must be a number"),
    ],
)
def test_what_is_no_list_of_thresholds_is_refused(thresholds, message):
    with pytest.raises(InputError, match=message):
        pr.rank(Y, S, thresholds=thresholds)


METRICS = {
    "precision_at_threshold(0.7)": lambda tp, fp, n: tp / (tp + fp),
    "recall_at_threshold(0.7)": lambda tp, fp, n: tp / n,
    "f1_at_threshold(0.7)": lambda tp, fp, n: 2 * tp / (tp + fp + n),
    "f_beta_at_threshold(0.7, beta=2)": lambda tp, fp, n: 5 * tp / (tp + fp + 4 * n),
}


@pytest.mark.parametrize("words", METRICS)
def test_a_threshold_metric_is_counted_at_that_threshold(words):
    rng = np.random.default_rng(9)
    metric = pr.metrics.parse(words)
    for weights in ("none", "real"):
        for _ in range(50):
            y, s, w = random_data(rng, weights=weights)
            tp, fp, fn, _ = counted(y, s, w, 0.7)
            if not tp:
                continue
            expected = METRICS[words](tp, fp, tp + fn)
            rows = pr.Rows(y, s, sample_weight=w)
            kept = pr.rank(y, s, sample_weight=w, thresholds=[0.7])
            for data in (rows, kept):
                assert metric(data) == pytest.approx(expected, rel=1e-12)
            assert pr.interval(rows, metric).estimate == pytest.approx(expected, rel=1e-12)
            ours, theirs = pr.interval(rows, metric), pr.interval(kept, metric)
            assert (ours.low, ours.high) == (theirs.low, theirs.high)


@pytest.mark.parametrize("words", METRICS)
def test_a_threshold_that_was_not_kept_raises_and_says_how(words):
    metric = pr.metrics.parse(words)
    plain = pr.rank(Y, S)
    message = r"up to 2 rows may lie between.*thresholds=\[0\.7\]"
    for ask in (
        metric,
        lambda ranking: pr.interval(ranking, metric),
        lambda ranking: pr.crossval_interval([ranking, ranking], metric),
        lambda ranking: pr.per_group([ranking, ranking], metric),
    ):
        with pytest.raises(InputError, match=message):
            ask(plain)
    # No negative can lie between these and the next score of a positive above them.
    for threshold in (0.9, 0.95, 0.5):
        pr.metrics.precision_at_threshold(threshold)(plain)
    with pytest.raises(InputError, match="up to 1 row may"):
        pr.metrics.precision_at_threshold(0.3)(plain)


def test_a_coarsened_ranking_knows_only_its_own_thresholds():
    y, s = np.tile([1, 1, 0], 20), np.arange(60.0)
    coarse = pr.rank(y, s).coarsen(5)
    own = float(coarse.threshold[2])
    assert pr.metrics.recall_at_threshold(own)(coarse) == pytest.approx(
        counted(y, s, None, own)[0] / 40
    )
    with pytest.raises(InputError, match="did not keep it"):
        pr.metrics.recall_at_threshold(own + 0.5)(coarse)
    with pytest.raises(InputError, match="did not keep it"):
        pr.per_group([coarse], pr.metrics.recall_at_threshold(own + 0.5))
    # A cell of positives only hides true positives.
    perfect = pr.rank([1] * 40 + [0], np.arange(41.0)[::-1]).coarsen(2)
    with pytest.raises(InputError, match="did not keep it"):
        pr.metrics.recall_at_threshold(float(perfect.threshold[1]) + 0.5)(perfect)


def test_confusion_still_warns_where_the_threshold_was_not_kept():
    ranking = pr.rank(Y, S, thresholds=[0.7])
    assert pr.confusion(ranking, 0.7).fp == 1
    with pytest.warns(ReliabilityWarning, match=r"raised to 0\.7.*thresholds=\[0\.55\]"):
        assert pr.confusion(ranking, 0.55).threshold == 0.7


def test_rows_rank_once_per_model_and_thresholds():
    rows = pr.Rows(Y, {"a": S, "b": S[::-1]})
    first = rows.ranking("a", (0.7,))
    assert rows.ranking("a", (0.7,)) is first
    assert rows["a"] is rows["a"]
    assert rows["a"] == first.of_positives
    assert len(rows.ranking("b", (0.7,))) == 3


def test_models_are_compared_at_the_threshold_itself():
    rng = np.random.default_rng(4)
    y = rng.random(400) < 0.3
    scores = {name: rng.normal(size=400) + 1.5 * y for name in ("a", "b")}
    rows = pr.Rows(y, scores)
    metric = pr.metrics.precision_at_threshold(0.8)
    for method in ("influence", "bootstrap"):
        got = pr.compare(rows, metric, method=method, n_resamples=200, rng=1)
        for name, s in scores.items():
            tp, fp, *_ = counted(y, s, None, 0.8)
            assert got.estimates[name] == pytest.approx(tp / (tp + fp), rel=1e-12)


def test_clusters_of_one_row_give_the_variance_of_a_share():
    """p (1 - p) / selected times C / (C - 1) for C clusters, and one more negative at the top."""
    rng = np.random.default_rng(11)
    y = rng.random(600) < 0.25
    s = rng.normal(size=600) + y
    tp, fp, *_ = counted(y, s, None, 0.7)
    precision = tp / (tp + fp)
    rows = pr.Rows(y, s, clusters=np.arange(600))
    got = pr.interval(rows, pr.metrics.precision_at_threshold(0.7), method="influence")
    variance = precision * (1 - precision) / (tp + fp) * 600 / 599
    variance += (tp / (tp + fp) ** 2) ** 2
    assert got.estimate == pytest.approx(precision, rel=1e-12)
    assert got.standard_error == pytest.approx(np.sqrt(variance), rel=1e-6)


def test_groups_of_rows_are_counted_at_the_threshold():
    rng = np.random.default_rng(6)
    group = np.repeat(["x", "y", "z"], 60)
    y = rng.random(180) < 0.4
    s = rng.normal(size=180) + y
    rows = pr.Rows(y, s, columns={"group": group})
    metric = pr.metrics.precision_at_threshold(0.65)
    expected = []
    for name in ("x", "y", "z"):
        tp, fp, *_ = counted(y[group == name], s[group == name], None, 0.65)
        expected.append(tp / (tp + fp))
    got = pr.per_group(rows, metric, by="group")
    assert got.labels.tolist() == ["x", "y", "z"]
    np.testing.assert_allclose(got.values, expected, rtol=1e-12)
    mean = pr.aggregate(rows, metric, by="group")
    assert mean.estimate == pytest.approx(np.mean(expected), rel=1e-12)
    with pytest.raises(InputError, match="of all rows together"):
        pr.aggregate(rows, metric, by="group", how="pooled")


def test_a_builder_knows_the_counts_at_its_thresholds():
    """Also where positives lie between them, and where a threshold has none."""
    rng = np.random.default_rng(12)
    y = rng.random(500) < 0.3
    s = np.round(rng.normal(size=500) + y, 2)
    grid = [-1.0, 0.0, 0.505, 1.25, 9.0]
    builder = pr.RankingBuilder(thresholds=grid)
    for batch in np.split(np.arange(500), 5):
        builder.update(y[batch], s[batch])
    ranking = builder.ranking()
    for threshold in grid:
        found = pr.confusion(ranking, threshold)
        assert found.threshold == threshold
        assert [found.tp, found.fp, found.fn, found.tn] == counted(y, s, None, threshold)
        recall = pr.metrics.recall_at_threshold(threshold)
        assert recall(ranking) == found.recall
    bounds = pr.tie_bounds(ranking)
    assert bounds.low <= pr.aucpr(pr.rank(y, s)) <= bounds.high


def test_a_threshold_above_all_scores_keeps_no_row():
    ranking = pr.rank([1, 0, 1], [3.0, 2.0, 1.5], thresholds=[1.0])
    assert ranking.threshold.tolist() == [3.0, 1.5, 1.0]
    for thresholds, kept in (((9.0,), [3.0, 1.5]), ((9.0, 1.0), [3.0, 1.5, 1.0])):
        found = ranking.ranked(thresholds=thresholds).ranking
        assert found.threshold.tolist() == kept
        assert (found.n_pos, found.n_neg) == (2, 1)


def test_a_set_of_coarsened_rankings_hides_as_many_rows_as_the_rankings():
    rng = np.random.default_rng(3)
    y = rng.random(60) < 0.5
    ranking = pr.rank(y, rng.normal(size=60) + y).coarsen(5)
    several = pr.RankingSet.from_rankings([ranking])
    for above in ranking.threshold[1:] + 1e-6:
        with pytest.raises(InputError) as alone:
            ranking.rows_reaching(above)
        with pytest.raises(InputError) as together:
            several.rows_reaching(above)
        assert str(together.value) == str(alone.value)
