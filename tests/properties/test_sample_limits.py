"""Limits from few labels lie inside those of a higher level."""

import warnings
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import precall as pr

METRICS = ("aucpr", "precision_at_recall(0.5)", "recall_at_k(40)")


def some_sample(seed, budget, planned, digits):
    rng = np.random.default_rng(seed)
    y = rng.random(800) < rng.choice([0.02, 0.1, 0.4])
    scores = np.round(rng.standard_cauchy(size=800) + rng.uniform(0, 3) * y, digits)
    if planned:
        plan = pr.audit.plan(scores, budget=budget, rng=rng)
        rows, how = plan.rows, {"plan": plan}
    else:
        rows, how = rng.choice(800, budget, replace=False), {"inclusion": budget / 800}
    return pr.audit.Sample(scores, dict(zip(rows.tolist(), y[rows], strict=True)), **how)


@given(
    seed=st.integers(0, 10**6),
    budget=st.sampled_from([40, 120]),
    planned=st.booleans(),
    digits=st.sampled_from([0, 6]),
    levels=st.lists(st.floats(0.01, 0.9999), min_size=2, max_size=4),
)
@settings(max_examples=25, deadline=None)
def test_limits_are_nested_in_the_level(seed, budget, planned, digits, levels):
    sample = some_sample(seed, budget, planned, digits)
    for metric in METRICS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [
                pr.interval(sample, metric, confidence_level=level)
                for level in sorted([*levels, 0.9, 0.95])
            ]
        for inner, outer in pairwise(found):
            assert outer.low <= inner.low + 1e-12
            assert inner.high <= outer.high + 1e-12


def test_a_metric_that_jumps_was_not_nested():
    """Without looking at lower levels too, the limit of 99 % was above that of 97 %."""
    from precall.simulate import UNSEEN

    rng = np.random.default_rng(17)
    y, scores = (np.asarray(each) for each in UNSEEN["cauchy"].sample(200, 1800, rng=rng))
    plan = pr.audit.plan(scores, budget=200, rng=rng)
    sample = pr.audit.Sample(scores, dict(zip(plan.rows, y[plan.rows], strict=True)), plan=plan)
    sampled = sample.sampled(sample.names[0], pr.metrics.parse("precision_at_recall(0.5)"))
    evidence = sample.evidence(sampled)
    levels = np.linspace(0.5, 0.999, 60)
    alone = np.array([evidence._at_level(level) for level in levels])
    assert (np.diff(alone, axis=0) < -1e-3).any()
    limits = np.array([evidence.limits(level) for level in levels])
    assert (np.diff(limits[:, 0]) <= 1e-12).all()
    assert (np.diff(limits[:, 1]) >= -1e-12).all()
