"""Two models on one set of labels."""

import numpy as np
import pytest

import precall as pr
from precall.audit.model_differences import evidence_of_pair
from precall.exceptions import InputError, UndefinedMetricError


def people(size=4000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(size) < 0.05
    latent = rng.normal(size=size) + 2.0 * y
    return y, {"good": latent, "poor": latent + 1.5 * rng.normal(size=size)}


def sampled(target="rows", **more):
    y, scores = people()
    plan = pr.audit.plan(scores["good"], budget=400, rng=1)
    labels = {row: y[row] for row in plan.rows.tolist()}
    return pr.audit.Sample({**scores, **more}, labels, plan=plan, target=target)


@pytest.mark.parametrize("metric", ["aucpr", "auroc", "recall_at_k(100)", "f1_at_threshold(2)"])
def test_all_labels_give_the_difference_itself(metric):
    y, scores = people()
    found = pr.compare(pr.audit.Sample(scores, y, inclusion=1), metric)
    pair = ("good", "poor")
    rows = pr.Rows(y, scores)
    truth = [pr.interval(rows, metric, model=name).estimate for name in pair]
    assert found.differences[pair] == pytest.approx(truth[0] - truth[1], rel=1e-9)
    assert tuple(found.intervals[pair]) == pytest.approx((truth[0] - truth[1],) * 2, rel=1e-6)


def test_the_estimates_are_those_of_interval():
    sample = sampled()
    found = pr.compare(sample)
    for name in sample.names:
        assert found.estimates[name] == pr.interval(sample, model=name).estimate
    pair = ("good", "poor")
    interval = found.intervals[pair]
    assert interval.low <= found.differences[pair] <= interval.high
    assert found.method == interval.method == "mover"
    assert found.ranked == ["good", "poor"]


def test_a_comparison_is_surer_than_two_intervals():
    """What the labels leave open is mostly common to both models."""
    y, scores = people()
    near = scores["good"] + 0.1 * np.random.default_rng(2).normal(size=y.size)
    sample = sampled(near=near)
    found = pr.compare(sample)
    apart = found.intervals["good", "near"].width
    alone = pr.interval(sample, model="good").width
    assert apart < 0.8 * alone
    truth = pr.aucpr(pr.rank(y, scores["good"])) - pr.aucpr(pr.rank(y, near))
    assert truth in found.intervals["good", "near"]


def test_models_that_order_rows_alike_do_not_differ():
    _y, scores = people()
    found = pr.compare(sampled(cubed=scores["good"] ** 3))
    pair = ("good", "cubed")
    assert tuple(found.intervals[pair]) == (0.0, 0.0)
    assert found.p_values[pair] == 1.0


def test_several_models_hold_together():
    y, _scores = people()
    three = pr.compare(sampled(noise=np.random.default_rng(3).normal(size=y.size)))
    two = pr.compare(sampled())
    pair = ("good", "poor")
    assert three.intervals[pair] == two.intervals[pair]
    assert two.simultaneous[pair] == two.intervals[pair]
    assert three.simultaneous[pair].low < three.intervals[pair].low
    assert three.p_values["good", "noise"] < 0.05
    assert three.p_values[pair] >= two.p_values[pair]


def test_the_p_value_is_where_the_interval_touches_nothing():
    found = pr.compare(sampled())
    p = found.p_values["good", "poor"]
    assert 0.0 < p < 1.0
    for level, holds in ((1 - p * 1.02, False), (1 - p * 0.98, True)):
        interval = pr.compare(sampled(), confidence_level=level).intervals["good", "poor"]
        assert (0.0 in interval) == holds


def test_the_process_with_all_labels_is_the_usual_comparison():
    y, scores = people()
    sample = pr.audit.Sample(scores, y, inclusion=1, target="process")
    ours, usual = pr.compare(sample), pr.compare(y, scores, distribution="normal")
    pair = ("good", "poor")
    assert ours.intervals[pair].width == pytest.approx(usual.intervals[pair].width, rel=0.02)
    assert sampled(target="process").target == "process"
    wide, narrow = (
        pr.compare(sampled(target=t)).intervals[pair].width for t in ("process", "rows")
    )
    assert wide > narrow


def test_pieces_are_cut_by_the_better_rank():
    """A row that only the second model finds is in a piece near the top."""
    rng = np.random.default_rng(4)
    y = np.arange(1000) % 20 == 0
    first = rng.normal(size=1000)
    second = rng.permutation(first)
    labels = np.where(rng.random(1000) < 0.5, y, np.nan)
    sample = pr.audit.Sample({"a": first, "b": second}, labels, strata=np.zeros(1000))
    pieces = evidence_of_pair(sample, pr.metrics.aucpr(), "a", "b").pieces
    best = np.minimum(*((-s).argsort().argsort() for s in (first, second)))
    for number in range(pieces.size.size - 1):
        assert best[pieces.of_row == number].max() < best[pieces.of_row == number + 1].min()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bootstrap"}, "method has no meaning for a Sample"),
        ({"distribution": "normal"}, "distribution has no meaning"),
        ({"prevalence": 0.1}, "prevalence has no meaning"),
        ({"clusters": [1]}, "clusters has no meaning"),
        ({"metric": "ndcg"}, "has no influence values"),
    ],
)
def test_bad_comparisons_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        pr.compare(sampled(), **options)


def test_what_cannot_be_compared():
    one = pr.audit.Sample([4, 3, 2, 1], [1, 0, None, None], inclusion=0.5)
    with pytest.raises(InputError, match="at least two models"):
        pr.compare(one)
    scores = {"a": [4, 3, 2, 1], "b": [1, 2, 3, 4]}
    nothing = pr.audit.Sample(scores, [0, 0, None, None], inclusion=0.5)
    with pytest.raises(UndefinedMetricError, match="nothing to make a comparison of"):
        pr.compare(nothing)
