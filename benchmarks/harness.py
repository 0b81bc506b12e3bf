"""Time a subject and its peers in turns, and print the ratios beside the budgets.

Seconds differ from machine to machine and from hour to hour; the ratio of two jobs that took turns
in the same process hardly does. So every budget is a ratio.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

Job = Callable[[], object]


class Unavailable(Exception):
    """A benchmark cannot run here; the message says why."""


# Short jobs are repeated within one measurement until it lasts this long.
SHORTEST_MEASUREMENT = 0.02
# A job whose first call lasts this long is long enough, and too long to be tried once more.
PLAINLY_LONG = 0.5
# Rivals whose best times are within this ratio of the subject's go on, this many times as long: one
# lucky or unlucky measurement should not decide who is faster.
CLOSE, LONGER = 1.2, 4


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A limit on the subject's time: `at_most` times the time of `peer`."""

    at_most: float
    peer: str

    def describe(self) -> str:
        if self.at_most < 1:
            return f"at least {1 / self.at_most:.4g}x faster than {self.peer}"
        return f"at most {self.at_most:.4g}x {self.peer}"

    def holds(self, seconds: Mapping[str, float], subject: str) -> bool:
        return seconds[subject] <= self.at_most * seconds[self.peer]


@dataclass(frozen=True, kw_only=True)
class Race:
    """One line of a benchmark: the first job is the subject, the others are its peers.

    `check` is called with what the jobs returned, before anything is timed, and raises when they
    disagree: a wrong answer is not worth timing. What it returns, if anything, is a remark on how
    far answers differ that are not meant to be equal.

    `bounds` names yardsticks: jobs that do only a part of the work, such as sorting, or this
    library's own ranking in memory. They say how much there is to gain, and are not rivals.

    `part` says of a job that does only a share of a rival's work, such as 5 of 1,000 replicates,
    how large the share is. `skipped` says which rivals are left out, and why. `at` is the place on
    the horizontal axis of a race in a series.
    """

    title: str
    jobs: Mapping[str, Job]
    repeats: int
    budgets: tuple[Budget, ...] = ()
    check: Callable[[dict[str, object]], str | None] | None = None
    bounds: tuple[str, ...] = ()
    part: Mapping[str, float] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    at: float | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a `Race` took: for every job the best time of one call."""

    race: Race
    seconds: Mapping[str, float] = field(repr=False)
    remark: str | None = None

    @property
    def subject(self) -> str:
        return next(iter(self.race.jobs))

    @property
    def peers(self) -> list[str]:
        return list(self.race.jobs)[1:]

    @property
    def costs(self) -> dict[str, float]:
        """Seconds for the whole work: of jobs that did a part of it, scaled up."""
        return {name: took / self.race.part.get(name, 1.0) for name, took in self.seconds.items()}

    def close(self) -> list[str]:
        """Rivals about as fast as the subject."""
        own = self.costs[self.subject]
        rivals = [peer for peer in self.peers if peer not in self.race.bounds]
        return [peer for peer in rivals if 1 / CLOSE < self.costs[peer] / own < CLOSE]

    def verdicts(self) -> dict[Budget, bool]:
        return {budget: budget.holds(self.costs, self.subject) for budget in self.race.budgets}


Benchmark = Callable[[bool], Iterator[Race]]
REGISTRY: dict[str, Benchmark] = {}


def benchmark(function: Benchmark) -> Benchmark:
    """Register a generator of races; its argument says whether to be quick.

    Races are generated one at a time, so that only the data of one is in memory.
    """
    REGISTRY[function.__name__] = function
    return function


def run(race: Race) -> Outcome:
    """Best of `race.repeats` measurements for every job, in turns; close rivals go on."""
    returned, first = {}, {}
    for name, job in race.jobs.items():
        start = time.perf_counter()
        returned[name] = job()
        first[name] = time.perf_counter() - start
    remark = None if race.check is None else race.check(returned)
    del returned
    calls = {name: _calls(job, first[name]) for name, job in race.jobs.items()}
    best = dict.fromkeys(race.jobs, float("inf"))

    def take_turns(names: Iterable[str], rounds: int) -> None:
        for _ in range(rounds):
            for name in names:
                best[name] = min(best[name], _measure(race.jobs[name], calls[name]) / calls[name])

    take_turns(race.jobs, race.repeats)
    close = Outcome(race=race, seconds=best).close()
    if close:
        take_turns([next(iter(race.jobs)), *close], (LONGER - 1) * race.repeats)
    return Outcome(race=race, seconds=best, remark=remark)


def _calls(job: Job, first: float) -> int:
    if first >= PLAINLY_LONG:
        return 1
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
    header = None
    for outcome in outcomes:
        costs = outcome.costs
        if header != list(costs):
            header = list(costs)
            yield _row("", outcome.subject, [(peer, "ratio") for peer in outcome.peers], "budgets")
        own = costs[outcome.subject]
        others = [(in_units(costs[peer]), _ratio(own, costs[peer])) for peer in outcome.peers]
        verdicts = [
            f"{'holds' if holds else 'MISSED'}: {budget.describe()}"
            for budget, holds in outcome.verdicts().items()
        ]
        yield _row(outcome.race.title, in_units(own), others, "; ".join(verdicts))
        if outcome.remark is not None:
            yield f"  {outcome.remark}"
        yield from (f"  without {peer}: {why}" for peer, why in outcome.race.skipped.items())


def _row(title: str, own: str, others: list[tuple[str, str]], budgets: str) -> str:
    cells = "".join(f"{time_:>24}{ratio:>14}" for time_, ratio in others)
    return f"{title:<40}{own:>14}{cells}   {budgets}".rstrip()


def _ratio(own: float, peer: float) -> str:
    return f"{own / peer:.2f}x" if own > peer else f"{peer / own:.1f}x faster"


def in_units(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"
