"""The other answers that a peer gives too: the curve, the AUROC, all at once, and from a file."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

import precall as pr
from benchmarks import peers
from benchmarks.engines import parquet, rank_file
from benchmarks.growth import probabilities
from benchmarks.harness import Budget, Race, benchmark
from benchmarks.peers import SKLEARN, SUBJECT, Label, Score

Curve = tuple[np.ndarray, np.ndarray]


@benchmark
def curves(quick: bool) -> Iterator[Race]:
    """The precision-recall curve, 1 % and 50 % positives."""
    for rows in (10**3, 10**5) if quick else (10**3, 10**4, 10**6):
        for prevalence in (0.01, 0.5):
            label, score = probabilities(rows, prevalence)
            yield _race(
                f"{rows:,} rows, {100 * prevalence:g} % positives",
                partial(_curve, label, score),
                partial(_sklearn_curve, label, score),
                check=partial(_highest_points_agree, int(label.sum())),
            )


@benchmark
def auroc(quick: bool) -> Iterator[Race]:
    """The area under the ROC curve, 1 % positives."""
    for rows in (10**3, 10**5) if quick else (10**3, 10**4, 10**6):
        label, score = probabilities(rows, 0.01)
        yield _race(
            f"{rows:,} rows",
            partial(_auroc, label, score),
            partial(_sklearn_auroc, label, score),
            check=_agree,
        )


@benchmark
def several_answers(quick: bool) -> Iterator[Race]:
    """Average precision, AUROC and curve: one ranking here, three sorts there; 1 % positives."""
    rows = 10**5 if quick else 10**6
    label, score = probabilities(rows, 0.01)
    yield _race(
        f"{rows:,} rows",
        partial(_three, label, score),
        partial(_sklearn_three, label, score),
        check=_agree,
    )


@benchmark
def from_parquet(quick: bool) -> Iterator[Race]:
    """From a file to average precision, 1 % positives: the peers read all of it into memory."""
    for rows in (10**3, 10**5) if quick else (10**3, 10**5, 10**6, 10**7):
        with parquet(rows, 0.01) as path:
            jobs, skipped = peers.available(
                {
                    SUBJECT: lambda path=path: pr.aucpr(rank_file(path)),
                    SKLEARN: partial(_sklearn_from_file, path),
                    peers.POLARS: partial(_polars_from_file, path),
                }
            )
            yield Race(
                title=f"{rows:,} rows",
                jobs=jobs,
                repeats=2 if rows > 10**6 else 3,
                budgets=(Budget(peer=SKLEARN, at_most=1),) if rows == 10**3 else (),
                check=_agree,
                skipped=skipped,
            )


def _race(title: str, own, peer, check) -> Race:
    jobs, skipped = peers.available({SUBJECT: own, SKLEARN: peer})
    return Race(title=title, jobs=jobs, repeats=5, check=check, skipped=skipped)


def _curve(label: Label, score: Score) -> Curve:
    curve = pr.pr_curve(pr.rank(label, score))
    return curve.recall, curve.precision


def _sklearn_curve(label: Label, score: Score) -> Curve:
    from sklearn.metrics import precision_recall_curve

    precision, recall, _ = precision_recall_curve(label, score)
    return recall, precision


def _auroc(label: Label, score: Score) -> float:
    return pr.auroc(pr.rank(label, score))


def _sklearn_auroc(label: Label, score: Score) -> float:
    from sklearn.metrics import roc_auc_score

    return roc_auc_score(label, score)


def _three(label: Label, score: Score) -> tuple[float, float]:
    ranking = pr.rank(label, score)
    curve = pr.pr_curve(ranking)
    _ = curve.recall, curve.precision
    return pr.aucpr(ranking), pr.auroc(ranking)


def _sklearn_three(label: Label, score: Score) -> tuple[float, float]:
    from sklearn.metrics import average_precision_score

    _sklearn_curve(label, score)
    return average_precision_score(label, score), _sklearn_auroc(label, score)


def _sklearn_from_file(path: Path) -> float:
    import pyarrow.parquet as pq
    from sklearn.metrics import average_precision_score

    table = pq.read_table(path, columns=["label", "score"])
    return average_precision_score(table["label"].to_numpy(), table["score"].to_numpy())


def _polars_from_file(path: Path) -> float:
    import polars as pl

    relevant = pl.col("label").cast(pl.Int64)
    precision = relevant.cum_sum() / pl.int_range(1, pl.len() + 1)
    return (
        pl.scan_parquet(path)
        .select(pl.col("label").sort_by("score", descending=True))
        .select((relevant * precision).sum() / relevant.sum())
        .collect()
        .item()
    )


def _agree(returned: dict[str, object]) -> None:
    first, *others = returned.values()
    for other in others:
        np.testing.assert_allclose(other, first, rtol=1e-9)


def _highest_points_agree(n_pos: int, returned: dict[str, object]) -> str | None:
    """The highest precision at each recall that a positive has; and how many points it took."""
    own = returned[SUBJECT]
    if SKLEARN not in returned:
        return None
    np.testing.assert_allclose(
        _highest(n_pos, *own), _highest(n_pos, *returned[SKLEARN]), rtol=1e-12
    )
    sizes = f"{own[0].size:,} points here, {returned[SKLEARN][0].size:,} there"
    return f"the same highest precision at each recall: {sizes}"


def _highest(n_pos: int, recall: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """The highest precision with 1, 2, ... positives; points between two positives left out."""
    positives = recall * n_pos
    count = np.round(positives).astype(int)
    whole = np.abs(positives - count) < 1e-6
    best = np.zeros(n_pos + 1)
    np.maximum.at(best, count[whole], precision[whole])
    return best[1:]
