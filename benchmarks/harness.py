"""Time a subject and its peers in turns, and print the ratios beside the budgets.

Seconds differ from machine to machine and from hour to hour; the ratio of two jobs that took turns
in the same process hardly does. So every budget but the smallest jobs' is a ratio.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

Job = Callable[[], object]

# Short jobs are repeated within one measurement until it lasts this long.
SHORTEST_MEASUREMENT = 0.02


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A limit on the subject's time: `at_most` times the time of `peer`, or in seconds without."""

    at_most: float
    peer: str | None = None

    def describe(self) -> str:
        if self.peer is None:
            return f"at most {_seconds(self.at_most)}"
        if self.at_most < 1:
            return f"at least {1 / self.at_most:.4g}x faster than {self.peer}"
        return f"at most {self.at_most:.4g}x {self.peer}"

    def holds(self, seconds: dict[str, float], subject: str) -> bool:
        unit = 1.0 if self.peer is None else seconds[self.peer]
        return seconds[subject] <= self.at_most * unit


@dataclass(frozen=True, kw_only=True)
class Race:
    """One line of a benchmark: the first job is the subject, the others are its peers.

    `check` is called with what the jobs returned, before anything is timed, and raises when they
    disagree: a wrong answer is not worth timing.
    """

    title: str
    jobs: dict[str, Job]
    repeats: int
    budgets: tuple[Budget, ...] = ()
    check: Callable[[dict[str, object]], None] | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a `Race` took: for every job the best time of one call."""

    race: Race
    seconds: dict[str, float] = field(repr=False)

    @property
    def subject(self) -> str:
        return next(iter(self.race.jobs))

    def verdicts(self) -> dict[Budget, bool]:
        return {budget: budget.holds(self.seconds, self.subject) for budget in self.race.budgets}


Benchmark = Callable[[bool], Iterator[Race]]
REGISTRY: dict[str, Benchmark] = {}


def benchmark(function: Benchmark) -> Benchmark:
    """Register a generator of races; it is told whether to be quick.

    Races are generated one at a time, so that only the data of one is in memory.
    """
    REGISTRY[function.__name__] = function
    return function


def run(race: Race) -> Outcome:
    """Best of `race.repeats` measurements for every job, the jobs taking turns."""
    returned = {name: job() for name, job in race.jobs.items()}
    if race.check is not None:
        race.check(returned)
    calls = {name: _calls(job) for name, job in race.jobs.items()}
    best = dict.fromkeys(race.jobs, float("inf"))
    for _ in range(race.repeats):
        for name, job in race.jobs.items():
            best[name] = min(best[name], _measure(job, calls[name]) / calls[name])
    return Outcome(race=race, seconds=best)


def _calls(job: Job) -> int:
    calls = 1
    while _measure(job, calls) < SHORTEST_MEASUREMENT:
        calls *= 2
    return calls


def _measure(job: Job, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        job()
    return time.perf_counter() - start


def lines(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """The table of one benchmark, a line at a time, as the outcomes come in."""
    header_is_out = False
    for outcome in outcomes:
        subject, *peers = outcome.race.jobs
        if not header_is_out:
            yield _row("", subject, [(peer, "ratio") for peer in peers], "budgets")
            header_is_out = True
        own = outcome.seconds[subject]
        others = [
            (_seconds(outcome.seconds[peer]), _ratio(own, outcome.seconds[peer])) for peer in peers
        ]
        verdicts = [
            f"{'holds' if holds else 'MISSED'}: {budget.describe()}"
            for budget, holds in outcome.verdicts().items()
        ]
        yield _row(outcome.race.title, _seconds(own), others, "; ".join(verdicts))


def _row(title: str, own: str, others: list[tuple[str, str]], budgets: str) -> str:
    cells = "".join(f"{time_:>22}{ratio:>14}" for time_, ratio in others)
    return f"{title:<34}{own:>14}{cells}   {budgets}".rstrip()


def _ratio(own: float, peer: float) -> str:
    return f"{own / peer:.2f}x" if own > peer else f"{peer / own:.1f}x faster"


def _seconds(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"
