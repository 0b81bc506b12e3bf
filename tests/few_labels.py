"""Few labels of a population that is somewhere else, beside those of the same rows in memory."""

import numpy as np
import pytest

import precall as pr


def check_plan_and_estimate(population, scores, y, *, budget, metrics=("aucpr",)):
    """Plan, label and estimate; the population keeps a column `id` with the number of each row."""
    found = pr.audit.plan_of(population, budget=budget, metric=metrics[0], rng=1)
    plan = pr.audit.plan(scores, budget=budget, metric=metrics[0], rng=1)
    rows = np.array(found.others["id"], dtype=np.int64)
    if population.ordered:
        assert np.array_equal(found.rows, plan.rows)
        assert np.array_equal(rows, plan.rows)
    assert np.unique(rows).size == budget
    assert np.array_equal(scores[rows], found.scores)
    assert np.array_equal(plan.stratum[rows], found.stratum)
    assert found.inclusion == pytest.approx(plan.inclusion[rows])
    given = {"inclusion": found.inclusion, "metrics": metrics}
    ours = pr.audit.sample_of(population, found.scores, y[rows], **given)
    labels = dict(zip(rows.tolist(), y[rows], strict=True))
    theirs = pr.audit.Sample(scores, labels, strata=plan.stratum)
    for metric in (*metrics, "auroc"):
        answer, expected = pr.interval(ours, metric), pr.interval(theirs, metric)
        assert answer.estimate == pytest.approx(expected.estimate, rel=1e-9)
        assert tuple(answer) == pytest.approx(tuple(expected), rel=1e-9, abs=1e-12)
