"""Which rows to label: budgets that are spent, strata that fit, rounds that add up."""

import numpy as np
import pytest

import precall as pr
from precall.audit.allocation import equal, proportional, smoothed_shares
from precall.exceptions import InputError


def population(size=20_000, share=0.02, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(size) < share
    scores = rng.normal(size=size) + 2.5 * y
    chance = share / (share + (1 - share) * np.exp(2.5**2 / 2 - 2.5 * scores))
    return scores, y, chance


def labels(y, *rows):
    found = np.full(y.size, np.nan)
    for each in rows:
        found[each] = y[each]
    return found


def test_without_a_guess_every_stratum_gets_as_many():
    scores, _, _ = population()
    plan = pr.audit.plan(scores, budget=400, rng=0)
    assert [each["rows"] for each in plan.strata][:4] == [50, 50, 100, 200]
    assert {each["labels"] for each in plan.strata} == {40}
    assert plan.rows.size == np.unique(plan.rows).size == 400
    assert plan.inclusion.sum() == pytest.approx(400)
    assert plan.expected_width is None
    top = np.argsort(-scores)[:50]
    assert np.allclose(plan.inclusion[top], 0.8)
    assert np.isin(plan.rows, top).sum() == 40
    assert (np.diff(plan.rows) > 0).all()


def test_a_plan_depends_on_the_seed_alone():
    scores, _, _ = population()
    first, again, other = (pr.audit.plan(scores, budget=300, rng=seed).rows for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_guess_moves_labels_to_where_they_matter():
    scores, y, chance = population()
    plan = pr.audit.plan(scores, budget=500, guess=chance, rng=0)
    numbers = [each["labels"] for each in plan.strata]
    assert sum(numbers) == 500
    assert min(numbers) >= 10
    assert max(numbers) > 3 * min(numbers)
    assert plan.uniform_budget > 3 * 500
    found = pr.interval(pr.audit.Sample(scores, labels(y, plan.rows), plan=plan))
    assert plan.expected_width == pytest.approx(found.width, rel=0.6)
    wider = pr.audit.plan(scores, budget=250, guess=chance, rng=0).expected_width
    assert wider > plan.expected_width


def test_strata_are_cut_at_what_the_metric_asks_about():
    scores, _, _ = population()
    plan = pr.audit.plan(scores, budget=500, metric="precision_at_threshold(2)", rng=0)
    for code in range(len(plan.strata)):
        inside = scores[plan.stratum == code] >= 2
        assert inside.all() or not inside.any()
    plan = pr.audit.plan(scores, budget=500, metric="precision_at_k(300)", rng=0)
    first = np.cumsum([each["rows"] for each in plan.strata])
    assert 300 in first


def test_ties_are_never_cut():
    scores = np.random.default_rng(0).integers(0, 5, 3000)
    plan = pr.audit.plan(scores, budget=200, rng=0)
    assert len(plan.strata) == 4
    assert len({(int(s), int(h)) for s, h in zip(scores, plan.stratum, strict=True)}) == 5


def test_small_budgets_have_fewer_strata():
    scores, _, _ = population()
    for budget, most in ((5, 1), (20, 2), (60, 6), (1000, 10)):
        plan = pr.audit.plan(scores, budget=budget, rng=0)
        assert plan.rows.size == budget
        assert len(plan.strata) <= most


def test_a_small_population_is_labelled_whole():
    plan = pr.audit.plan([3.0, 2.0, 1.0], budget=3, rng=0)
    assert plan.rows.tolist() == [0, 1, 2]
    assert plan.inclusion.tolist() == [1.0, 1.0, 1.0]


def test_rounds_add_up():
    scores, y, _ = population()
    first = pr.audit.plan(scores, budget=200, rng=0)
    sample = pr.audit.Sample(scores, labels(y, first.rows), plan=first)
    second = pr.audit.plan(scores, budget=300, already=sample, rng=1)
    assert not np.intersect1d(first.rows, second.rows).size
    assert second.inclusion.sum() == pytest.approx(500)
    assert sum(each["new"] for each in second.strata) == 300
    assert second.expected_width > 0
    both = pr.audit.Sample(scores, labels(y, first.rows, second.rows), plan=second)
    assert both.n_labelled == 500
    assert pr.interval(both).width < pr.interval(sample).width
    third = pr.audit.plan(scores, budget=100, already=both, rng=2)
    assert third.inclusion.sum() == pytest.approx(600)


def test_labels_have_to_follow_the_plan():
    scores, y, _ = population(size=1000)
    plan = pr.audit.plan(scores, budget=100, rng=0)
    with pytest.raises(InputError, match=r"1 row .* of the plan without a label"):
        pr.audit.Sample(scores, labels(y, plan.rows[1:]), plan=plan)
    outside = np.setdiff1d(np.arange(1000), plan.rows)[:2]
    with pytest.raises(InputError, match=r"2 rows .* labelled and not in the plan"):
        pr.audit.Sample(scores, labels(y, plan.rows, outside), plan=plan)
    with pytest.raises(InputError, match="the plan is for 1,000 rows, and there are 999"):
        pr.audit.Sample(scores[1:], labels(y, plan.rows)[1:], plan=plan)


def test_contradicting_labels_are_refused():
    scores, y, _ = population(size=1000)
    first = pr.audit.plan(scores, budget=100, rng=0)
    sample = pr.audit.Sample(scores, labels(y, first.rows), plan=first)
    second = pr.audit.plan(scores, budget=100, already=sample, rng=1)
    given = labels(y, first.rows, second.rows)
    given[first.rows[3]] = 1 - given[first.rows[3]]
    with pytest.raises(
        InputError, match=f"row {first.rows[3]}.* contradicts the one of the round before"
    ):
        pr.audit.Sample(scores, given, plan=second)


def test_several_looks_share_the_error():
    scores, y, _ = population()
    one, four = (pr.audit.plan(scores, budget=300, looks=looks, rng=0) for looks in (1, 4))
    given = labels(y, one.rows)
    alone, shared = (pr.interval(pr.audit.Sample(scores, given, plan=plan)) for plan in (one, four))
    stricter = alone.at_level(1 - 0.05 / 4)
    assert shared.confidence_level == 0.95
    assert tuple(shared) == pytest.approx(tuple(stricter))


def test_looks_are_the_same_in_all_rounds_and_no_more_than_planned():
    scores, y, _ = population(size=1000)
    first = pr.audit.plan(scores, budget=100, looks=2, rng=0)
    sample = pr.audit.Sample(scores, labels(y, first.rows), plan=first)
    with pytest.raises(InputError, match="looks is 3, and the plan of already has looks=2"):
        pr.audit.plan(scores, budget=100, already=sample, looks=3, rng=1)
    second = pr.audit.plan(scores, budget=100, already=sample, looks=2, rng=1)
    assert (first.round, second.round, second.to_dict()["round"]) == (1, 2, 2)
    both = pr.audit.Sample(scores, labels(y, first.rows, second.rows), plan=second)
    with pytest.raises(InputError, match="this is round 3, and looks=2 allows 2"):
        pr.audit.plan(scores, budget=100, already=both, looks=2, rng=2)


def test_strata_of_your_own():
    scores, y, chance = population(size=2000, share=0.2)
    region = np.repeat(["east", "west"], 1000)
    plan = pr.audit.plan(scores, budget=60, strata=region, guess=chance, rng=0)
    assert [each["name"] for each in plan.strata] == ["east", "west"]
    assert pr.interval(pr.audit.Sample(scores, labels(y, plan.rows), plan=plan)).width < 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0}, "budget must be a whole number of at least 1"),
        ({"budget": 101}, "only 100 rows of 100 have no label yet"),
        ({"budget": 2, "strata": np.arange(100) % 3}, "budget is 2, but there are 3 strata"),
        ({"budget": 10, "guess": np.full(100, 1.5)}, "guess must hold probabilities, got 1.5"),
        ({"budget": 10, "guess": [0.5]}, "guess must have one probability for each of the 100"),
        ({"budget": 10, "guess": np.full(100, np.nan)}, "guess must not be missing"),
        ({"budget": 10, "looks": 0}, "looks must be a whole number"),
        ({"budget": 10, "metric": "ndcg"}, "has no influence values"),
        ({"budget": 10, "already": 3}, "already must be a pr.audit.Sample"),
        ({"budget": 10, "strata": [1]}, "one value for each of the 100 scores, got 1"),
    ],
)
def test_bad_plans_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        pr.audit.plan(np.arange(100.0), **options)


def test_already_has_to_be_of_the_same_population():
    sample = pr.audit.Sample([2, 1], [1, 0], inclusion=1)
    with pytest.raises(InputError, match="already has 2 rows, and there are 3"):
        pr.audit.plan([3, 2, 1], budget=1, already=sample)
    with pytest.raises(InputError, match="strata are those of already"):
        pr.audit.plan([2, 1], budget=1, already=sample, strata=[0, 1])


def test_whole_numbers_share_a_budget():
    rows = np.array([5, 100, 100, 1000])
    assert equal(rows, 305).tolist() == [5, 100, 100, 100]
    assert equal(rows, 62).tolist() == [5, 19, 19, 19]
    assert equal(rows, 5000).tolist() == rows.tolist()
    given = proportional(rows, np.array([1.0, 1.0, 2.0, 4.0]), 100, 10)
    assert given.sum() == 100
    assert given[0] == 5
    assert given[3] > given[2] > given[1] >= 10
    assert proportional(rows, np.zeros(4), 40).sum() == 40


def test_shares_do_not_rise_as_scores_fall():
    shares = smoothed_shares(
        np.full(4, 20.0),
        np.array([10.0, 2.0, 4.0, 0.0]),
        np.array([50.0, 50, 100, 800]),
        np.arange(4.0)[::-1],
    )
    assert (np.diff(shares) <= 0).all()
    assert shares[1] == shares[2]
    assert shares[3] > 0


def test_a_plan_can_be_written_down():
    scores, _, _ = population(size=1000)
    plan = pr.audit.plan(scores, budget=50, rng=0)
    assert repr(plan).startswith("LabelPlan(50 rows of 1,000 in 5 strata, aucpr")
    assert list(plan.to_frame().columns) == ["row", "stratum", "inclusion"]
    assert len(plan.to_dict()["rows"]) == 50
    assert "ranks 1 to" in plan._repr_html_()
