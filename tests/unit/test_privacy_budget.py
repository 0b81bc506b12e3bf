"""The budget: checked before, spent after, composed, kept, and never spent twice."""

import copy
import json
import os
import pickle
import subprocess
import sys
import threading
import warnings

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
        for outside in ([-1], [3, -10], np.array([2**63], dtype=np.uint64)):
            with pytest.raises(InputError, match="counted from 0"):
                rows.part("c", rows=outside)


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
    files = {file.name for file in tmp_path.iterdir()}
    assert files == {"ledger.json", ".ledger.json.lock", ".ledger.json.key"}


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
        lambda plain: plain.pop("fingerprints"),
        lambda plain: plain["fingerprints"].append({"nonce": "a"}),
        lambda plain: plain["fingerprints"].append({"nonce": 1, "labels": 2, "scores": 3}),
    ],
)
def test_a_damaged_ledger_is_refused(damage, tmp_path):
    budget = Budget(epsilon=1.0)
    spend(budget, 0.5)
    plain = budget.to_dict()
    damage(plain)
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps(plain))
    for moved in (False, True):
        with pytest.raises(InputError):
            Budget.load(path, moved=moved)
    with pytest.raises(InputError):
        Budget.from_dict(plain)
    path.write_text("not json")
    with pytest.raises(InputError, match="not a privacy ledger"):
        Budget.load(path)


def test_the_same_rows_cannot_be_named_from_the_end():
    """Negative positions named the same rows again, and were released from twice for one cost."""
    with Budget(epsilon=1.0).parallel() as rows:
        rows.part("from the start", rows=np.arange(10))
        with pytest.raises(InputError, match="counted from 0"):
            rows.part("from the end", rows=np.arange(-10, 0))


def test_positions_are_whole_numbers_within_reason():
    with Budget(epsilon=1.0).parallel() as rows:
        rows.part("a", rows=[0, 2**62 - 1])
        rows.part("none", rows=np.zeros(0, dtype=int))
        for bad in ([2**62], [-1], [0.5], np.array([2**63], dtype=np.uint64)):
            with pytest.raises(InputError, match="rows must hold"):
                rows.part("b", rows=bad)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_copy_spends_nothing(tmp_path):
    """Every child used to have the whole budget."""
    budget = Budget(epsilon=1.0)
    assert _in_a_fork(lambda: spend(budget, 0.5)) == "BudgetError"
    assert _in_a_fork(lambda: budget.parallel().__enter__()) == "BudgetError"
    assert _in_a_fork(lambda: budget.remaining) == ""
    spend(budget, 0.5)
    budget.save(tmp_path / "ledger.json")
    assert _in_a_fork(lambda: spend(budget, 0.25)) == "BudgetError"
    assert _in_a_fork(lambda: spend(Budget.load(tmp_path / "ledger.json"), 0.25)) == ""
    assert budget.remaining.epsilon == 0.25


def _in_a_fork(action):
    """Name of the error that a child of this process meets, if any."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads; this child starts none
        child = os.fork()
    if not child:
        outcome = ""
        try:
            action()
        except BaseException as error:  # noqa: BLE001 - the child must not run on
            outcome = type(error).__name__
        os.write(writer, outcome.encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as pipe:
        return pipe.read()


def test_programs_that_share_a_ledger_lose_no_entry(tmp_path):
    """Whoever saved last used to overwrite what the others had spent."""
    path = tmp_path / "ledger.json"
    first = Budget(epsilon=1.0)
    first.save(path)
    second = Budget.load(path)
    with first.hold(epsilon=0.5, delta=0.0, what="one") as hold:
        hold.look()
        assert [entry.state for entry in second.ledger] == ["held"]
        with pytest.raises(BudgetError):
            spend(second, 0.75, what="two")
        spend(second, 0.25, what="two")
        with pytest.raises(KeyError), second.hold(epsilon=0.25, delta=0.0, what="refused"):
            raise KeyError
    third = Budget.load(path)
    for budget in (first, second, third):
        assert [(entry.what, entry.state) for entry in budget.ledger] == [
            ("one", "released"),
            ("two", "released"),
        ]
        assert budget.remaining.epsilon == 0.25
    with first.parallel() as ours, second.parallel() as theirs:
        spend(ours.part("a"), 0.125)
        spend(theirs.part("b"), 0.125)
    assert third.remaining.epsilon == 0.0  # two blocks of two programs are two


def test_programs_that_run_at_once_cannot_overdraw(tmp_path):
    path = tmp_path / "ledger.json"
    Budget(epsilon=1.0).save(path)
    code = (
        "import sys; from precall.privacy.budget import Budget, BudgetError\n"
        "budget = Budget.load(sys.argv[1]); input()\n"
        "for _ in range(8):\n"
        "    try:\n"
        "        with budget.hold(epsilon=0.0625, delta=0.0, what='x') as hold: hold.look()\n"
        "    except BudgetError: sys.stdout.write('refused ')\n"
    )
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    refused = 0
    for program in programs:
        program.stdin.write("\n")
        program.stdin.flush()
    for program in programs:
        refused += program.communicate(timeout=120)[0].count("refused")
        assert program.returncode == 0
    assert refused == 3 * 8 - 16
    budget = Budget.load(path)
    assert budget.remaining.epsilon == 0.0
    assert len(budget.ledger) == 16


def test_a_ledger_is_not_overwritten(tmp_path):
    path = tmp_path / "ledger.json"
    budget = Budget(epsilon=1.0)
    budget.save(path)
    for other in (Budget(epsilon=5.0), budget):
        with pytest.raises(InputError, match="already"):
            other.save(path)
    path.unlink()
    with pytest.raises(FileNotFoundError):  # and nothing is released without it
        spend(budget, 0.5)


def test_seeded_releases_are_marked_in_the_ledger(tmp_path):
    budget = Budget(epsilon=1.0)
    with budget.hold(epsilon=0.5, delta=0.0, what="simulation", seeded=True) as hold:
        hold.look()
    spend(budget, 0.25)
    budget.save(tmp_path / "ledger.json")
    assert [entry.seeded for entry in Budget.load(tmp_path / "ledger.json").ledger] == [True, False]


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
