"""The budget: checked before, spent after, composed, kept, and never spent twice."""

import copy
import json
import pickle
import threading

import numpy as np
import pytest

from precall.exceptions import InputError
from precall.privacy._ledger import Cost
from precall.privacy.budget import Budget, BudgetError, as_budget


def spend(budget, epsilon, delta=0.0, what="a release"):
    with budget.hold(epsilon=epsilon, delta=delta, what=what) as hold:
        hold.look()


def test_sequential_releases_add_up_exactly():
    budget = Budget(epsilon=1.0, delta=1e-6)
    for _ in range(10):
        spend(budget, 0.1, 1e-7)
    assert budget.remaining == Cost(0.0, 0.0)
    assert budget.spent == Cost(1.0, 1e-6)
    with pytest.raises(BudgetError, match=r"epsilon=0 and delta=0 remain of 1 and 1e-06"):
        spend(budget, 1e-9)


def test_a_refusal_names_what_is_left_runs_nothing_and_spends_nothing():
    budget = Budget(epsilon=1.0)
    spend(budget, 0.75)
    ran = []
    with (
        pytest.raises(BudgetError, match=r"epsilon=0.5 and delta=0, but epsilon=0.25"),
        budget.hold(epsilon=0.5, delta=0.0, what="auroc"),
    ):
        ran.append(True)
    assert not ran
    assert budget.remaining.epsilon == 0.25
    with pytest.raises(BudgetError):
        spend(budget, 0.1, 1e-9)  # there never was any delta
    spend(budget, 0.25)


def test_an_error_before_looking_is_free_and_after_looking_costs_everything():
    budget = Budget(epsilon=1.0)
    with pytest.raises(ValueError, match="early"), budget.hold(epsilon=0.4, delta=0.0, what="x"):
        raise ValueError("early")
    assert budget.spent.epsilon == 0.0
    assert budget.ledger == ()
    with pytest.raises(KeyboardInterrupt):
        _interrupted(budget)
    assert budget.spent.epsilon == 0.4
    assert [entry.state for entry in budget.ledger] == ["failed"]


def _interrupted(budget):
    with budget.hold(epsilon=0.4, delta=0.0, what="x") as hold:
        hold.look()
        raise KeyboardInterrupt


def test_a_running_release_already_counts():
    budget = Budget(epsilon=1.0)
    with budget.hold(epsilon=0.8, delta=0.0, what="outer"):
        assert budget.remaining.epsilon == pytest.approx(0.2)
        assert budget.ledger[0].state == "held"
        with pytest.raises(BudgetError):
            spend(budget, 0.3)


def test_parallel_parts_cost_what_the_dearest_costs():
    budget = Budget(epsilon=1.0, delta=0.1)
    with budget.parallel() as rows:
        spend(rows.part("a"), 0.3, 0.05)
        spend(rows.part("a"), 0.2)
        spend(rows.part("b"), 0.4, 0.02)
        assert budget.spent == Cost(0.5, 0.05)
        with pytest.raises(BudgetError):
            spend(rows.part("a"), 0.6)
        spend(rows.part("b"), 0.6)
    assert budget.spent == Cost(1.0, 0.05)
    with pytest.raises(InputError, match="has ended"):
        spend(rows.part("a"), 0.1)


def test_two_parallel_blocks_add_up():
    budget = Budget(epsilon=2.0)
    for _ in range(2):
        with budget.parallel() as rows:
            spend(rows.part("a"), 0.5)
            spend(rows.part("b"), 0.5)
    spend(budget, 0.5)
    assert budget.spent.epsilon == 1.5


def test_parts_that_share_rows_are_refused():
    budget = Budget(epsilon=1.0)
    with budget.parallel() as rows:
        rows.part("a", rows=np.arange(10))
        rows.part("a", rows=[10, 11])
        rows.part("b", rows=[12, 13])
        with pytest.raises(InputError, match="'a' and 'b' have rows in common"):
            rows.part("b", rows=[11])
        with pytest.raises(InputError, match="positions"):
            rows.part("c", rows=[0.5])


def test_threads_cannot_overdraw():
    budget = Budget(epsilon=1.0)
    outcomes = []
    barrier = threading.Barrier(16)

    def release():
        barrier.wait()
        try:
            with budget.hold(epsilon=0.125, delta=0.0, what="x") as hold:
                hold.look()
            outcomes.append(True)
        except BudgetError:
            outcomes.append(False)

    threads = [threading.Thread(target=release) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(outcomes) == 8
    assert budget.remaining.epsilon == 0.0


def test_the_ledger_survives_a_file(tmp_path):
    budget = Budget(epsilon=1.0, delta=1e-3)
    spend(budget, 0.1, 1e-4, "auroc")
    with budget.parallel() as rows:
        spend(rows.part("a"), 0.2)
        spend(rows.part("b"), 0.3)
    path = tmp_path / "ledger.json"
    with budget.hold(epsilon=0.1, delta=0.0, what="running"):
        budget.save(path)
    again = Budget.load(path)
    assert again.spent == Cost(0.5, 1e-4)  # what was running then counts
    assert [entry.what for entry in again.ledger] == ["auroc", "a release", "a release", "running"]
    spend(again, 0.5)
    with pytest.raises(BudgetError):
        spend(again, 0.01)
    with again.parallel():  # new blocks do not join old ones
        pass
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_block_after_loading_is_a_block_of_its_own(tmp_path):
    budget = Budget(epsilon=1.0)
    with budget.parallel() as rows:
        spend(rows.part("a"), 0.5)
    budget.save(tmp_path / "ledger.json")
    again = Budget.load(tmp_path / "ledger.json")
    with again.parallel() as rows:
        spend(rows.part("b"), 0.5)
    assert again.spent.epsilon == 1.0


@pytest.mark.parametrize(
    "damage",
    [
        lambda plain: plain.update(format="other"),
        lambda plain: plain.pop("ledger"),
        lambda plain: plain["ledger"].append({"what": "x"}),
        lambda plain: plain["ledger"][0].update(epsilon=-0.5),
        lambda plain: plain["ledger"][0].update(epsilon=1.5),
        lambda plain: plain["ledger"][0].update(state="forgotten"),
        lambda plain: plain.update(epsilon="lots"),
    ],
)
def test_a_damaged_ledger_is_refused(damage, tmp_path):
    budget = Budget(epsilon=1.0)
    spend(budget, 0.5)
    plain = budget.to_dict()
    damage(plain)
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps(plain))
    with pytest.raises(InputError):
        Budget.load(path)
    path.write_text("not json")
    with pytest.raises(InputError, match="not a privacy ledger"):
        Budget.load(path)


def test_a_budget_cannot_be_copied():
    budget = Budget(epsilon=1.0)
    for copier in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="save"):
            copier(budget)


@pytest.mark.parametrize("epsilon", [0, -1, float("inf"), float("nan"), "1", None])
def test_wrong_amounts_are_refused(epsilon):
    with pytest.raises(InputError, match="epsilon"):
        Budget(epsilon=epsilon)


@pytest.mark.parametrize("delta", [-1e-9, 1, float("nan")])
def test_wrong_deltas_are_refused(delta):
    with pytest.raises(InputError, match="delta"):
        Budget(epsilon=1.0, delta=delta)


def test_there_is_no_default_budget():
    with pytest.raises(TypeError):
        Budget()
    with pytest.raises(InputError, match="budget must be a Budget"):
        as_budget(None)


def test_thousands_of_releases_add_up():
    budget = Budget(epsilon=1e4)
    for _ in range(3000):
        spend(budget, 0.1)
    assert budget.spent.epsilon == 300.0
    assert len(budget.ledger) == 3000
