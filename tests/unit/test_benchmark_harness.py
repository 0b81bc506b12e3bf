"""The harness: budgets are judged the right way round, and wrong answers are not timed."""

import subprocess
from functools import partial

import pytest

from benchmarks import harness
from benchmarks.apart import run_apart
from benchmarks.harness import Budget, Outcome, Race, lines, run
from benchmarks.programs import run_python


@pytest.mark.parametrize(
    ("budget", "own", "holds", "says"),
    [
        (Budget(peer="sort", at_most=2), 1.9, True, "at most 2x sort"),
        (Budget(peer="sort", at_most=2), 2.1, False, "at most 2x sort"),
        (Budget(peer="sort", at_most=1 / 20), 0.04, True, "at least 20x faster than sort"),
        (Budget(peer="sort", at_most=1 / 20), 0.06, False, "at least 20x faster than sort"),
    ],
)
def test_budgets(budget, own, holds, says):
    assert budget.holds({"own": own, "sort": 1.0}, "own") is holds
    assert budget.describe() == says


def timed(took, called):
    """A clock that jobs move forward by what each of them takes, and jobs that do."""
    now = [0.0]

    def job(name):
        called.append(name)
        now[0] += took[name]

    return lambda: now[0], {name: partial(job, name) for name in took}


def test_jobs_are_measured_in_turns_and_those_that_are_close_go_on(monkeypatch):
    monkeypatch.setattr(harness, "SHORTEST_MEASUREMENT", 0.0)
    called = []
    took = {"own": 1.0, "faster": 0.5, "close": 1.15, "sort": 1.1, "slower": 1.3}
    clock, jobs = timed({name: each / 10 for name, each in took.items()}, called)
    monkeypatch.setattr(harness.time, "perf_counter", clock)
    outcome = run(Race(title="", jobs=jobs, repeats=3, bounds=("sort",)))
    first = list(took) * 2  # once for the answers, once to see how long a call takes
    assert called == first + list(took) * 3 + ["own", "close"] * 9
    assert outcome.subject == "own"
    assert outcome.seconds == pytest.approx({name: each / 10 for name, each in took.items()})


def test_jobs_that_disagree_are_not_timed():
    def agree(returned):
        assert returned["own"] == returned["peer"]

    race = Race(title="", jobs={"own": lambda: 1, "peer": lambda: 2}, repeats=1, check=agree)
    with pytest.raises(AssertionError):
        run(race)


def test_the_table_shows_ratios_and_verdicts():
    budgets = (Budget(peer="sort", at_most=2), Budget(peer="other", at_most=1 / 20))
    race = Race(
        title="10 rows",
        jobs=dict.fromkeys(("own", "sort", "other"), list),
        repeats=1,
        budgets=budgets,
    )
    outcome = Outcome(race=race, seconds={"own": 0.003, "sort": 0.002, "other": 0.03})
    header, row = lines([outcome])
    assert header.split() == ["own", "sort", "ratio", "other", "ratio", "budgets"]
    assert "3 ms" in row
    assert "1.50x" in row
    assert "10.0x faster" in row
    assert "holds: at most 2x sort; MISSED: at least 20x faster than other" in row


def test_a_benchmark_runs_in_a_process_of_its_own():
    [outcome, *_] = run_apart("estimators", quick=True)
    assert outcome.subject == "all estimators"
    assert outcome.peers == ["rank"]
    assert all(seconds > 0 for seconds in outcome.seconds.values())
    assert set(outcome.verdicts()) == set(outcome.race.budgets)


def test_what_a_benchmark_raises_there_is_raised_here():
    with pytest.raises(KeyError, match="no such benchmark"):
        next(run_apart("no such benchmark", quick=True))


def test_a_program_is_run_with_the_bytecode_that_an_installed_one_has(monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    run_python("-c", "import sys; sys.exit(sys.dont_write_bytecode)")
    with pytest.raises(subprocess.CalledProcessError):
        run_python("-c", "raise SystemExit(3)")
