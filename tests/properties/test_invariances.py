"""A registry of metrics crossed with what must not change them: a new metric inherits all tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import precall as pr
from precall.metrics.confusion import AtThreshold
from precall.metrics.precision_recall import areas_by_estimator, bounds_of_estimators

pytestmark = pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")


@dataclass(frozen=True)
class Metric:
    """A function of a ranking, and which invariances it does not promise."""

    function: Callable[[pr.Ranking], float]
    ranks_only: bool = True
    weight_is_repetition: bool = True
    kept: tuple[float, ...] = ()


METRICS: dict[str, Metric] = {
    **{
        name: Metric(
            lambda r, e=name: pr.aucpr(r, estimator=e),
            ranks_only=name != "binormal",
            # leave_one_out removes a row's whole weight; binormal's SD counts rows, not copies.
            weight_is_repetition=name not in ("binormal", "leave_one_out"),
        )
        for name in pr.ESTIMATORS
    },
    "aucpr_range": Metric(lambda r: pr.aucpr(r, recall=(0.2, 0.7))),
    "aucnpr": Metric(pr.aucnpr),
    "aucnpr_davis_goadrich": Metric(lambda r: pr.aucnpr(r, estimator="davis_goadrich")),
    "auroc": Metric(pr.auroc),
    "partial_auroc": Metric(lambda r: pr.auroc(r, false_positive_rate=(0.1, 0.6))),
    "auprg": Metric(pr.auprg),
    "tie_bounds_low": Metric(lambda r: pr.tie_bounds(r).low),
    "tie_bounds_high": Metric(lambda r: pr.tie_bounds(r).high),
    "calibrated": Metric(lambda r: pr.aucpr(r.at_prevalence(0.1))),
    "precision_at_half": Metric(lambda r: float(pr.pr_curve(r).at(0.5))),
    **{
        name: Metric(kind(0.5), ranks_only=False, kept=(0.5,))
        for name, kind in pr.METRICS.items()
        if issubclass(kind, AtThreshold)
    },
    "net_benefit": Metric(
        pr.metrics.net_benefit(0.2, threshold=0.5), ranks_only=False, kept=(0.5,)
    ),
    "expected_cost": Metric(
        pr.metrics.expected_cost(3, threshold=0.5), ranks_only=False, kept=(0.5,)
    ),
    **{
        name: Metric(pr.METRICS[name](0.4))
        for name in ("precision_at_k", "recall_at_k", "lift_at_k")
    },
}


def test_no_metric_is_missing():
    """Those left out count rows by rank, and take no weights."""
    known = set(METRICS) | {"aucpr", "precision_at_recall", "recall_at_precision"}
    assert set(pr.METRICS) - known == {
        "ndcg",
        "reciprocal_rank",
        "r_precision",
        "eleven_point_precision",
    }


@st.composite
def data_sets(draw):
    size = draw(st.integers(4, 25))
    y = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    s = np.array(draw(st.lists(st.integers(-6, 6), min_size=size, max_size=size)), dtype=float)
    # Two different scores in each class, so that every metric is defined.
    assume(all(np.unique(s[y == label]).size >= 2 for label in (True, False)))
    return y, s


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=25)
@given(data=data_sets(), seed=st.integers(0, 2**32 - 1))
def test_order_of_rows_does_not_matter(name, data, seed):
    y, s = data
    order = np.random.default_rng(seed).permutation(len(y))
    value, kept = METRICS[name].function, METRICS[name].kept
    assert value(pr.rank(y[order], s[order], thresholds=kept)) == pytest.approx(
        value(pr.rank(y, s, thresholds=kept)), rel=1e-12
    )


@pytest.mark.parametrize("name", [n for n, m in METRICS.items() if m.ranks_only])
@settings(max_examples=25)
@given(data=data_sets(), kind=st.sampled_from(["exp", "cube", "rank", "int", "float32"]))
def test_strictly_increasing_transforms_do_not_matter(name, data, kind):
    y, s = data
    transformed = {
        "exp": lambda: np.exp(s),
        "cube": lambda: s**3,
        "rank": lambda: np.unique(s, return_inverse=True)[1],
        "int": lambda: s.astype(np.int16) * 7,
        "float32": lambda: s.astype(np.float32),
    }[kind]()
    value, kept = METRICS[name].function, METRICS[name].kept
    assert value(pr.rank(y, transformed, thresholds=kept)) == value(pr.rank(y, s, thresholds=kept))


@pytest.mark.parametrize("name", [n for n, m in METRICS.items() if m.weight_is_repetition])
@settings(max_examples=25)
@given(data=data_sets(), seed=st.integers(0, 2**32 - 1))
def test_weight_is_repetition(name, data, seed):
    y, s = data
    times = np.random.default_rng(seed).integers(1, 4, len(y))
    value, kept = METRICS[name].function, METRICS[name].kept
    weighted = value(pr.rank(y, s, sample_weight=times, thresholds=kept))
    assert weighted == pytest.approx(
        value(pr.rank(np.repeat(y, times), np.repeat(s, times), thresholds=kept)), rel=1e-12
    )


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=25)
@given(data=data_sets())
def test_weights_of_one_change_nothing(name, data):
    y, s = data
    value, kept = METRICS[name].function, METRICS[name].kept
    ones = pr.rank(y, s, sample_weight=np.ones(len(y)), thresholds=kept)
    assert value(ones) == pytest.approx(value(pr.rank(y, s, thresholds=kept)), rel=1e-13)


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=25)
@given(data=data_sets())
def test_adding_the_ranking_to_itself_doubles_every_row(name, data):
    y, s = data
    value, kept = METRICS[name].function, METRICS[name].kept
    ranking = pr.rank(y, s, thresholds=kept)
    twice = pr.rank(np.tile(y, 2), np.tile(s, 2), thresholds=kept)
    assert value(ranking + ranking) == pytest.approx(value(twice), rel=1e-12)


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=25)
@given(data=data_sets())
def test_json_round_trip_changes_nothing(name, data):
    value, kept = METRICS[name].function, METRICS[name].kept
    ranking = pr.rank(*data, thresholds=kept)
    assert value(pr.Ranking.from_dict(ranking.to_dict())) == value(ranking)


@given(
    rows=st.lists(
        st.tuples(st.booleans(), st.integers(0, 9), st.sampled_from([0.25, 1.0, 3.0])),
        min_size=2,
        max_size=40,
    ),
    weighted=st.booleans(),
    missed=st.integers(0, 3),
)
@settings(max_examples=300, deadline=None)
def test_every_estimator_of_the_rows_is_within_the_bounds(rows, weighted, missed):
    """Findings compute the estimators only if their bounds are apart."""
    y, s, w = map(np.array, zip(*rows, strict=True))
    assume(y.any() and not y.all())
    ranking = pr.rank(y, s, sample_weight=w if weighted else None, missed_positives=missed)
    low, high = bounds_of_estimators(ranking)
    areas = areas_by_estimator(ranking)
    areas.pop("binormal", None)
    assert len(areas) == len(pr.ESTIMATORS) - 1
    for name, area in areas.items():
        assert low - 1e-12 <= area <= high + 1e-12, name
