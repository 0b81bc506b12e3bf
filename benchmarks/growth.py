"""How the cost of average precision grows: over rows, and over the share of positives."""

from collections.abc import Iterator

from scipy.special import expit

from benchmarks import peers
from benchmarks.harness import Budget, Race, benchmark
from benchmarks.rank_and_ap import data

PREVALENCE = 0.01
ROWS = (10**3, 10**4, 10**5, 10**6, 10**7)
QUICK_ROWS = (10**3, 10**4, 2 * 10**5, 10**6)
SHARES = (0.0001, 0.001, 0.01, 0.1, 0.5)
AT_ROWS = 10**6
QUICK_AT_ROWS = 2 * 10**5


@benchmark
def growth_rows(quick: bool) -> Iterator[Race]:
    """Raw labels and scores in, average precision out; 1 % positives."""
    for rows in QUICK_ROWS if quick else ROWS:
        yield race(rows, PREVALENCE, at=rows, title=f"{rows:,} rows")


@benchmark
def growth_positives(quick: bool) -> Iterator[Race]:
    """Raw labels and scores in, average precision out; from one positive in 10,000 to a half."""
    rows = QUICK_AT_ROWS if quick else AT_ROWS
    for share in SHARES:
        yield race(rows, share, at=share, title=f"{100 * share:g} % of {rows:,} rows")


@benchmark
def small_inputs(quick: bool) -> Iterator[Race]:
    """Where fixed costs decide: average precision of a few rows, half of them positives."""
    for rows in (10, 100, 1_000):
        budgets = (Budget(peer=peers.SKLEARN, at_most=1 / 15),) if rows == 1_000 else ()
        yield race(rows, 0.5, title=f"{rows:,} rows", budgets=budgets)


def probabilities(rows: int, prevalence: float) -> tuple[peers.Label, peers.Score]:
    """Labels, and scores in (0, 1): torchmetrics would put others through a sigmoid itself."""
    label, score = data(rows, prevalence)
    if not label.any():  # the smallest inputs
        label[0] = 1
    return label, expit(score)


def race(
    rows: int,
    prevalence: float,
    *,
    title: str,
    at: float | None = None,
    budgets: tuple[Budget, ...] = (),
) -> Race:
    label, score = probabilities(rows, prevalence)
    jobs, skipped = peers.average_precision_jobs(label, score)
    return Race(
        title=title,
        jobs=jobs,
        repeats=2 if rows > 10**6 else 3 if rows >= 10**5 else 5,
        budgets=budgets,
        check=peers.check_average_precision,
        bounds=(peers.SORT,),
        skipped=skipped,
        at=at,
    )
