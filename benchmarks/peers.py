"""The peers: which there are, which are found here, and how each computes average precision.

A peer that is missing, or that does not work with the other versions, is left out of the races and
named on the page: `problem` says why.
"""

import functools
import importlib
import importlib.metadata
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

import precall as pr
from benchmarks.harness import Job, Unavailable

SUBJECT = "precall"
SORT = "numpy.sort"
SKLEARN = "scikit-learn"
TORCH = "torchmetrics"
BINNED = "torchmetrics, 1,000 bins"
POLARS = "polars"
SPARK = "Spark MLlib"
RANX = "ranx"
CONFIDENCE = "confidenceinterval"
STATSMODELS = "statsmodels"
SCIPY = "scipy.stats"
DASK = "Dask"

BINS = 1000

Label = NDArray[np.int64]
Score = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A package beside this one: how it is installed, what it is asked, and a small trial."""

    name: str
    distribution: str
    module: str
    asked: str
    trial: Callable[[], object] | None = None


@dataclass(frozen=True, kw_only=True)
class Found:
    """A peer with its version, or with what is wrong."""

    peer: Peer
    version: str | None
    problem: str | None


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A way to average precision: data in, and a job that has nothing left to convert.

    `most_rows` is where a tool becomes too slow to be timed; `relative` is how closely it agrees,
    None where it is an approximation by design.
    """

    name: str
    peer: str
    prepare: Callable[[Label, Score], Job]
    most_rows: int | None = None
    relative: float | None = 1e-9


def by_precall(label: Label, score: Score) -> float:
    return pr.aucpr(pr.rank(label, score))


def _by_sklearn(label: Label, score: Score) -> Job:
    from sklearn.metrics import average_precision_score

    return partial(average_precision_score, label, score)


def _by_torchmetrics(label: Label, score: Score, thresholds: int | None = None) -> Job:
    import torch
    from torchmetrics.functional.classification import binary_average_precision

    tensors = torch.from_numpy(score), torch.from_numpy(label)
    return lambda: float(binary_average_precision(*tensors, thresholds=thresholds))


def _by_polars(label: Label, score: Score) -> Job:
    """Precision at every positive, from one sort and one running sum: right without ties."""
    import polars as pl

    relevant = pl.col("label")
    precision = relevant.cum_sum() / pl.int_range(1, pl.len() + 1)
    query = (
        pl.LazyFrame({"label": label, "score": score})
        .select(relevant.sort_by("score", descending=True))
        .select((relevant * precision).sum() / relevant.sum())
    )
    return lambda: query.collect().item()


TOOLS = (
    Tool(name=SKLEARN, peer=SKLEARN, prepare=_by_sklearn),
    # The peer returns single precision.
    Tool(name=TORCH, peer=TORCH, prepare=_by_torchmetrics, relative=1e-5),
    Tool(
        name=BINNED,
        peer=TORCH,
        prepare=partial(_by_torchmetrics, thresholds=BINS),
        most_rows=10**5,
        relative=None,
    ),
    Tool(name=POLARS, peer=POLARS, prepare=_by_polars),
)


def _agrees_on_few_rows(prepare: Callable[[Label, Score], Job]) -> None:
    label, score = np.array([1, 0, 1, 0]), np.array([0.9, 0.8, 0.7, 0.1])
    np.testing.assert_allclose(prepare(label, score)(), 5 / 6, rtol=1e-5)


def _has_java() -> None:
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise FileNotFoundError("no Java")


def _delong() -> None:
    import confidenceinterval

    confidenceinterval.roc_auc_score([1, 0, 1, 0, 1], [0.9, 0.8, 0.7, 0.1, 0.2])


PEERS = (
    Peer(
        name=SKLEARN,
        distribution="scikit-learn",
        module="sklearn.metrics",
        asked="average precision, precision-recall curve, AUROC, bootstrap on rows",
        trial=partial(_agrees_on_few_rows, _by_sklearn),
    ),
    Peer(
        name=TORCH,
        distribution="torchmetrics",
        module="torchmetrics",
        asked="average precision on the CPU, exact (to single precision) and binned",
        trial=partial(_agrees_on_few_rows, _by_torchmetrics),
    ),
    Peer(
        name=POLARS,
        distribution="polars",
        module="polars",
        asked=(
            "average precision as an expression (sort, running sum, sum), right only without ties"
        ),
        trial=partial(_agrees_on_few_rows, _by_polars),
    ),
    Peer(
        name=SPARK,
        distribution="pyspark",
        module="pyspark.ml.evaluation",
        asked="areaUnderPR on a data frame, local mode",
        trial=_has_java,
    ),
    Peer(
        name=RANX, distribution="ranx", module="ranx", asked="mean average precision over queries"
    ),
    Peer(
        name=CONFIDENCE,
        distribution="confidenceinterval",
        module="confidenceinterval",
        asked="DeLong's interval of the AUROC, bootstrap interval of average precision",
        trial=_delong,
    ),
    Peer(
        name=STATSMODELS,
        distribution="statsmodels",
        module="statsmodels.stats.proportion",
        asked="interval of the precision at one threshold (proportion_confint)",
    ),
    Peer(
        name=SCIPY,
        distribution="scipy",
        module="scipy.stats",
        asked="bootstrap interval of average precision (stats.bootstrap)",
    ),
    Peer(
        name=DASK,
        distribution="dask",
        module="dask.dataframe",
        asked="has no such metric: carries this library's own engine",
    ),
)


def found() -> list[Found]:
    return [
        Found(peer=peer, version=version(peer.distribution), problem=problem(peer.name))
        for peer in PEERS
    ]


@functools.cache
def problem(name: str) -> str | None:
    """Why a peer cannot be asked here, or None if it can."""
    [peer] = [peer for peer in PEERS if peer.name == name]
    try:
        importlib.import_module(peer.module)
        if peer.trial is not None:
            peer.trial()
    except ImportError as error:
        return "not installed" if version(peer.distribution) is None else _brief(error)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong in a peer is reported
        return _brief(error)
    return None


def need(name: str) -> None:
    """Raise where a benchmark makes no sense without this peer, and it cannot be asked."""
    if (why := problem(name)) is not None:
        raise Unavailable(f"{name}: {why}")


def _brief(error: Exception) -> str:
    first = str(error).strip().splitlines()[:1]
    return f"does not work here: {type(error).__name__}" + "".join(f": {line}" for line in first)


def version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def available(jobs: dict[str, Job]) -> tuple[dict[str, Job], dict[str, str]]:
    """Those of the jobs, named by their peers, that can run here, and why the others cannot."""
    names = {peer.name for peer in PEERS}
    skipped = {name: why for name in jobs if name in names and (why := problem(name)) is not None}
    return {name: job for name, job in jobs.items() if name not in skipped}, skipped


def average_precision_jobs(label: Label, score: Score) -> tuple[dict[str, Job], dict[str, str]]:
    """The subject, one sort and every tool that is found and fast enough; and what was left out."""
    jobs: dict[str, Job] = {
        SUBJECT: partial(by_precall, label, score),
        SORT: partial(np.sort, score),
    }
    skipped = {}
    for tool in TOOLS:
        if (why := problem(tool.peer)) is not None:
            skipped[tool.name] = why
        elif tool.most_rows is not None and label.size > tool.most_rows:
            skipped[tool.name] = f"too slow: timed up to {tool.most_rows:,} rows"
        else:
            jobs[tool.name] = tool.prepare(label, score)
    return jobs, skipped


def check_average_precision(returned: dict[str, object]) -> str | None:
    """Raise where an exact tool disagrees; say how far an approximate one is off."""
    exact = float(returned[SUBJECT])
    remarks = []
    for tool in TOOLS:
        if tool.name not in returned:
            continue
        value = float(returned[tool.name])
        if tool.relative is None:
            off = value / exact - 1
            remarks.append(f"{tool.name}: {value:.6f} where {exact:.6f} is exact ({off:+.2%})")
        else:
            np.testing.assert_allclose(value, exact, rtol=tool.relative, err_msg=tool.name)
    return "; ".join(remarks) or None
