"""Intervals from few labels cover as often as they say."""

import numpy as np
import pytest
from scipy import stats

import precall as pr

REPEATS = 150


@pytest.mark.parametrize(
    ("metric", "budget"),
    [("aucpr", 150), ("recall_at_k(150)", 150), ("precision_at_recall(0.5)", 200)],
)
def test_planned_samples_cover(metric, budget):
    rng = np.random.default_rng(11)
    y = rng.random(3000) < 0.05
    scores = rng.normal(size=3000) + 2.0 * y
    truth = pr.metrics.parse(metric)(pr.Rows(y, scores))
    covered = 0
    for _ in range(REPEATS):
        plan = pr.audit.plan(scores, budget=budget, metric=metric, rng=rng)
        sample = pr.audit.Sample(scores, dict(zip(plan.rows, y[plan.rows], strict=True)), plan=plan)
        covered += truth in pr.interval(sample, metric)
    # A coverage of .93 would be called too low once in a million runs of this test.
    assert covered >= stats.binom.ppf(1e-6, REPEATS, 0.93)


def test_planned_labels_are_worth_more_than_uniform_ones():
    rng = np.random.default_rng(12)
    y = rng.random(5000) < 0.03
    scores = rng.normal(size=5000) + 2.0 * y
    chance = 0.03 / (0.03 + 0.97 * np.exp(2.0 - 2.0 * scores))
    truth = pr.aucpr(pr.rank(y, scores))
    errors = {"planned": [], "uniform": []}
    for _ in range(60):
        plan = pr.audit.plan(scores, budget=300, guess=chance, rng=rng)
        uniform = rng.choice(5000, 300, replace=False)
        for name, rows, design in (
            ("planned", plan.rows, {"plan": plan}),
            ("uniform", uniform, {"inclusion": 0.06}),
        ):
            sample = pr.audit.Sample(scores, dict(zip(rows, y[rows], strict=True)), **design)
            errors[name].append(pr.interval(sample).estimate - truth)
    ratio = np.mean(np.square(errors["uniform"])) / np.mean(np.square(errors["planned"]))
    # About 9; the quotient of two variances from 60 runs each is off by 4 once in a million times.
    assert ratio > 2
