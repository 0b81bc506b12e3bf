"""Worst and perfect rankings in closed form, against the estimators run on the rankings."""

import itertools
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

import precall as pr
from precall.metrics._kernels import make_steps
from precall.metrics.floors import area_limits
from precall.ranking import Cells

COUNTED = [name for name, kind in pr.ESTIMATORS.items() if kind.worst is not None]
RANGES = ((0, 1), (0, 0.5), (0.2, 0.9), (0.5, 1), (0.33, 0.34), (0, 0.01), (0.97, 1))


@pytest.mark.parametrize("recall", RANGES, ids=str)
@pytest.mark.parametrize("estimator", COUNTED)
def test_closed_forms_are_the_estimators_on_the_rankings(estimator, recall):
    kernel = pr.ESTIMATORS[estimator].kernel
    for n in (1, 2, 3, 7, 30):
        one, none = np.ones(n), np.zeros(n)
        for m in (1, 2, 5, 40, 0.5, 7.25, 1000):
            first = none.copy()
            first[0] = m
            worst = kernel(make_steps(Cells(one, none, first, 0.0)), *recall)
            perfect = kernel(make_steps(Cells(one, none, none, m)), *recall)
            # A difference of two sums over up to 30 rows, divided by a range of down to 0.01.
            sizes = SimpleNamespace(
                n_pos=n,
                n_neg=m,
                all_positives=n,
                prevalence=n / (n + m),
                divisible=np.array(False),
            )
            assert area_limits(sizes, estimator, recall) == (
                pytest.approx(float(worst), rel=1e-11),
                pytest.approx(float(perfect), rel=1e-11),
            )


def test_every_estimator_that_counts_has_its_extremes():
    others = {"binormal", "davis_goadrich", "interpolated_convex"}  # that of the minimum curve
    assert set(COUNTED) == set(pr.ESTIMATORS) - others


@pytest.mark.parametrize("estimator", pr.ESTIMATORS)
def test_normalising_takes_memory_by_rows_not_by_weight(estimator):
    """Survey weights of 1e8 each: one element per unit would be gigabytes."""
    y, s = [1, 0, 1, 0, 1, 0], [6.5, 5, 4, 3, 2, 1]
    ranking = pr.rank(y, s, sample_weight=[2e8, 1e8, 3e8, 1e8, 1e8, 2e8])

    def normalise():
        value = pr.aucnpr(ranking, estimator=estimator, recall=(0.1, 0.9))
        if estimator == "binormal":
            return value, None
        groups = pr.RankingSet.from_rankings([ranking])
        return value, pr.per_group(groups, pr.metrics.aucnpr(estimator=estimator))

    normalise()  # what it imports is not counted
    tracemalloc.start()
    value, per_group = normalise()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0 < value < 1
    assert peak < 2e6
    if per_group is not None:
        assert per_group.values[0] == pytest.approx(
            pr.aucnpr(ranking, estimator=estimator), rel=1e-12
        )


def test_a_lift_curve_at_a_tiny_prevalence_has_a_bounded_number_of_points():
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.1
    ranking = pr.rank(y, rng.normal(size=2000) + y)
    lift = pr.lift_curve(ranking.at_prevalence(1e-10))
    assert len(lift.x) < 50 * len(ranking)
    middle = 0.5 * (lift.x[1:] + lift.x[:-1])
    chord = 0.5 * (lift.y[1:] + lift.y[:-1])
    assert np.abs(lift.at(middle) - chord).max() < 1e-3 * lift.y.max()


@pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")
def test_the_random_value_of_the_normalised_area_is_its_mean_over_all_orders():
    metric = pr.metrics.aucnpr()
    orders = sorted(set(itertools.permutations([1, 1, 0, 0, 0])))
    rankings = [pr.rank(order, [5, 4, 3, 2, 1]) for order in orders]
    mean = np.mean([metric(ranking) for ranking in rankings])
    assert metric.random(rankings[0]) == pytest.approx(mean, rel=1e-12)
