"""Private cross-validation charges what it costs, and refuses what has no price."""

import numpy as np
import pytest

import precall as pr
from precall import privacy
from precall.exceptions import InputError

pytestmark = pytest.mark.filterwarnings("ignore::precall.privacy.SeededReleaseWarning")


@pytest.fixture(scope="module")
def folds():
    generator = np.random.default_rng(0)
    y = np.arange(4000) % 4 == 0
    score = generator.normal(size=4000) + 2 * y
    fold = privacy.assign_folds(4000, n_folds=4, rng=1)
    return y, score, fold


def test_folds_scored_by_outside_models_are_parallel(folds):
    budget = privacy.Budget(epsilon=1.0)
    found = privacy.cross_validation(
        *folds, trained_on="other_rows", epsilon=0.8, budget=budget, rng=2
    )
    assert budget.spent.epsilon == 0.8
    assert (found.epsilon, found.delta) == (0.8, 0.0)
    assert len(found.folds) == 4
    assert len({value.value for value in found.folds}) == 4  # noise of their own
    assert found.value == pytest.approx(np.mean([value.value for value in found.folds]))
    assert found.scale == pytest.approx(
        np.sqrt(np.sum([value.scale**2 for value in found.folds])) / 4
    )
    assert found.to_dict()["folds"][0]["epsilon"] == 0.8
    assert found.to_dict()["seeded"] is True
    assert "seeded: not private" in repr(found)
    assert all(entry.seeded for entry in budget.ledger)


def test_private_training_on_the_other_folds_is_charged_for_every_model_that_saw_a_row(folds):
    budget = privacy.Budget(epsilon=2.0, delta=1e-3)
    found = privacy.cross_validation(
        *folds,
        trained_on="other_folds",
        metric="auroc",
        epsilon=0.5,
        training_epsilon=0.25,
        training_delta=1e-4,
        budget=budget,
        rng=2,
    )
    assert budget.spent.epsilon == 0.5 + 3 * 0.25
    assert budget.spent.delta == pytest.approx(3e-4)
    assert found.epsilon == 1.25
    assert found.delta == pytest.approx(3e-4)


def test_ordinary_training_on_the_other_folds_is_refused(folds):
    budget = privacy.Budget(epsilon=100.0)
    with pytest.raises(InputError, match="one row moves every score in the other folds"):
        privacy.cross_validation(*folds, trained_on="other_folds", epsilon=0.1, budget=budget)
    assert budget.spent.epsilon == 0.0


def test_a_budget_too_small_releases_no_fold(folds):
    budget = privacy.Budget(epsilon=0.5)
    with pytest.raises(privacy.BudgetError):
        privacy.cross_validation(*folds, trained_on="other_rows", epsilon=0.8, budget=budget)
    assert budget.ledger == ()


def test_wrong_arguments_are_refused(folds):
    budget = privacy.Budget(epsilon=1.0)
    good = {"trained_on": "other_rows", "epsilon": 0.5, "budget": budget}
    cases = {
        "trained_on must be one of": {"trained_on": "rows"},
        "metric must be one of": {"metric": "f1"},
        "is for trained_on='other_folds'": {"training_epsilon": 1.0},
        "whole Budget": {"budget": None},
    }
    for message, change in cases.items():
        with pytest.raises(InputError, match=message):
            privacy.cross_validation(*folds, **(good | change))
    y, score, fold = folds
    for bad, message in (
        (np.zeros(4000, int), "at least two"),
        (fold[:-1], "each of the 4000 rows"),
        (fold + 0.5, "number of the fold"),
    ):
        with pytest.raises(InputError, match=message):
            privacy.cross_validation(y, score, bad, **good)
    with pytest.raises(TypeError):
        privacy.cross_validation(*folds, epsilon=0.5, budget=budget)  # what were they trained on?
    assert budget.spent.epsilon == 0.0


def test_folds_are_assigned_by_position_in_nearly_equal_numbers():
    fold = privacy.assign_folds(1003, n_folds=10, rng=0)
    counts = np.bincount(fold)
    assert counts.sum() == 1003
    assert set(counts) == {100, 101}
    assert (privacy.assign_folds(1003, n_folds=10, rng=1) != fold).any()


def test_no_row_is_in_two_folds():
    """A list of rankings could hold one fold fifty times, and release it fifty times for one."""
    y, score = np.arange(40) % 2, np.arange(40.0)
    budget = privacy.Budget(epsilon=1.0)
    same = [pr.rank(y, score)] * 50
    with pytest.raises(InputError, match="y_true and y_score must be one-dimensional"):
        privacy.cross_validation(
            same, same, np.arange(50), trained_on="other_rows", epsilon=1.0, budget=budget
        )
    fold = privacy.assign_folds(40, n_folds=4, rng=0)
    privacy.cross_validation(y, score, fold, trained_on="other_rows", epsilon=1.0, budget=budget)
    assert {entry.part for entry in budget.ledger} == {f"fold {k}" for k in range(4)}


def test_training_costs_are_added_as_decimal_numbers():
    """As floats, three times 0.1 is more than 0.3."""
    y, score = np.arange(40) % 2, np.arange(40.0)
    budget = privacy.Budget(epsilon=0.4)
    found = privacy.cross_validation(
        y,
        score,
        privacy.assign_folds(40, n_folds=4, rng=0),
        trained_on="other_folds",
        training_epsilon=0.1,
        epsilon=0.1,
        budget=budget,
    )
    assert found.epsilon == 0.4
    assert budget.spent.epsilon == 0.4
    assert budget.remaining.epsilon == 0.0
