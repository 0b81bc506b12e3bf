"""Whether monitors keep their level when somebody looks after every decision, and what that costs.

Streams are fed to the monitor itself. Beside its delay stands the sample size of an exact binomial
test that is made once. Windows of time: false alarms, also with scores that no constant was chosen
on, and what is noticed of a prevalence or a ranking that changes.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import precall as pr
from precall.exceptions import DirectionWarning
from precall.monitoring import PrecisionMonitor, windows
from precall.simulate import HELD_OUT, UNSEEN, Binormal, Scenario

from ._cases import run_cases
from ._results import Results, Row, core_minutes, markdown_table, with_core_seconds
from ._scores import draw_scores

TARGETS = (0.1, 0.5, 0.9)
#: Targets with the precisions under them that the delay is measured at.
DELAYS = ((0.1, 0.07), (0.1, 0.05), (0.5, 0.45), (0.5, 0.4), (0.5, 0.3), (0.9, 0.85), (0.9, 0.8))
#: A long good time at one precision, then another, under a target of 0.5.
DROPS = ((0.8, 0.3), (0.6, 0.4))
_GOOD, _BAD, _RESTART = 10_000, 6000, 1000
_LONGEST = 10_000


class Case(NamedTuple):
    """What is simulated, with two numbers or words that say how."""

    part: str
    first: Any
    second: Any


def cases(quick: bool) -> list[Case]:
    """Every case, in order."""
    size = [Case("size", target, target) for target in TARGETS]
    delay = [Case("delay", target, precision) for target, precision in DELAYS]
    drop = [Case("drop", good, bad) for good, bad in DROPS]
    kinds = [Case("windows", kind, rows) for kind, rows in WINDOWS]
    kinds += [Case("windows", model, rows) for rows in (1000, 300) for model in MODELS]
    if quick:
        return [size[1], delay[4], kinds[0]]
    return [*size, *delay, *drop, *kinds]


def _alarms(target: float, streams: Any, **options: Any) -> Any:
    """When each stream's alarm went on; infinity where it never did."""
    found = []
    for labels in streams:
        monitor = PrecisionMonitor(target=target, **options)
        monitor.update(labels)
        found.append(np.inf if monitor.alarm_at is None else monitor.alarm_at)
    return np.array(found)


def _size(case: Case, runs: int, rng: np.random.Generator) -> dict[str, float]:
    streams = (rng.random(_LONGEST) < case.second for _ in range(runs))
    return {"alarms": float(np.isfinite(_alarms(case.first, streams)).mean())}


def _delay(case: Case, runs: int, rng: np.random.Generator) -> dict[str, float]:
    streams = (rng.random(_LONGEST // 2) < case.second for _ in range(runs))
    half, late = np.quantile(_alarms(case.first, streams), [0.5, 0.8], method="higher")
    return {"half": half, "late": late, "one look": float(one_look(case.first, case.second))}


def one_look(target: float, precision: float, alpha: float = 0.05, wanted: float = 0.8) -> int:
    """Return the decisions from which on an exact one-sided test, made once, has the power."""
    from scipy.stats import binom

    trials = np.arange(1, 5000)
    most = binom.ppf(alpha, trials, target)
    most -= binom.cdf(most, trials, target) > alpha
    # Power has teeth over the number of decisions: from here on it stays.
    return int(trials[binom.cdf(most, trials, precision) < wanted][-1]) + 1


def _drop(case: Case, runs: int, rng: np.random.Generator) -> dict[str, float]:
    shares = np.repeat([case.first, case.second], [_GOOD, _BAD])
    found: dict[str, float] = {}
    for name, every in (("with restarts", _RESTART), ("without", None)):
        streams = (rng.random(shares.size) < shares for _ in range(runs))
        alarms = _alarms(0.5, streams, restart_every=every)
        found[f"{name}, false"] = float(np.mean(alarms <= _GOOD))
        found[f"{name}, half"] = float(np.quantile(alarms, 0.5, method="higher") - _GOOD)
    return found


#: What happens in the last three of so many windows, and rows of a window.
WINDOWS = (("nothing", 1000), ("nothing", 300), ("prevalence", 1000), ("ranking", 1000))
_COUNT = {1000: 12, 300: 6}
_PREVALENCE, _DISTANCE = 0.1, 1.5
#: Scores with which nothing changes either, by name.
MODELS: dict[str, Scenario] = {**UNSEEN, **HELD_OUT}


def _windows(case: Case, runs: int, rng: np.random.Generator) -> dict[str, float]:
    kind, rows = case.first, case.second
    number = np.repeat(np.arange(_COUNT[rows]), rows)
    late = number >= number[-1] - 2
    share = np.where(late & (kind == "prevalence"), _PREVALENCE / 2, _PREVALENCE)
    distance = np.where(late & (kind == "ranking"), _DISTANCE / 2, _DISTANCE)
    model = MODELS.get(kind)
    truth = (model or Binormal(_DISTANCE)).aucpr(_PREVALENCE)
    missed, worse, fewer = [], [], []
    for _ in range(runs):
        y = rng.random(number.size) < share
        score = rng.normal(size=y.size) + distance * y
        if model is not None:
            score = draw_scores(model, y, rng)
        data = pr.Rows(y, score, columns={"t": number})
        with warnings.catch_warnings():
            # Of small windows some rank the wrong way round, and one model does.
            warnings.simplefilter("ignore", DirectionWarning)
            seen = windows(data, time="t", every=1).windows
        held = [w.interval is None or w.interval.low <= truth <= w.interval.high for w in seen]
        missed.append(not all(held))
        worse.append(any(w.ranking_changed is not None for w in seen))
        fewer.append(any(w.prevalence_changed is not None for w in seen))
    found = {"ranking": float(np.mean(worse)), "prevalence": float(np.mean(fewer))}
    changes = kind in ("prevalence", "ranking")
    return found | {"missed": np.nan if changes else float(np.mean(missed))}


#: What is counted of windows, and how a page calls it.
_CLAIMED = {"missed": "missed", "ranking": "ranking claimed", "prevalence": "prevalence claimed"}
_PARTS = {"size": _size, "delay": _delay, "drop": _drop, "windows": _windows}
#: Runs of each part, and of its quick version.
_RUNS = {"size": (10_000, 40), "delay": (2000, 20), "drop": (300, 4), "windows": (600, 3)}


def simulate_case(case: Case, runs: int, seed: Any) -> list[Row]:
    """Return one row per measure."""
    began = time.process_time()
    found = _PARTS[case.part](case, runs, np.random.default_rng(seed))
    rows: list[Row] = [
        {**case._asdict(), "runs": runs, "measure": name, "value": value}
        for name, value in found.items()
        if not np.isnan(value)
    ]
    return with_core_seconds(rows, began)


def run(
    output: str | Path,
    *,
    quick: bool = False,
    seed: int = 20260913,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Run the study into a folder and return the page written there."""
    settings = {"study": "monitoring", "quick": quick, "seed": seed}
    results = Results(output, "monitoring", settings)
    run_cases(
        results,
        cases(quick),
        simulate_case,
        lambda case: _RUNS[case.part][quick],
        workers,
        progress,
    )
    return write_page(results)


def _table(results: Results, part: str) -> list[tuple[Any, Any, int, dict[str, float]]]:
    found: dict[tuple[Any, Any, int], dict[str, float]] = {}
    for row in results.rows:
        if row["part"] == part:
            key = (row["first"], row["second"], row["runs"])
            found.setdefault(key, {})[row["measure"]] = row["value"]
    return [(*key, values) for key, values in found.items()]


def _decisions(value: float) -> str:
    return f"{value:,.0f}" if np.isfinite(value) else "never"


def write_page(results: Results) -> Path:
    """Write the tables."""
    size = [
        [f"{target:g}", f"{runs:,}", f"{100 * found['alarms']:.2f} %"]
        for target, _, runs, found in _table(results, "size")
    ]
    delay = [
        [f"{target:g}", f"{precision:g}", f"{runs:,}"]
        + [_decisions(found[name]) for name in ("half", "late", "one look")]
        for target, precision, runs, found in _table(results, "delay")
    ]
    drop = [
        [f"{good:g}", f"{bad:g}", f"{runs:,}"]
        + [
            f"{_decisions(found[f'{name}, half'])} ({100 * found[f'{name}, false']:.1f} %)"
            for name in ("with restarts", "without")
        ]
        for good, bad, runs, found in _table(results, "drop")
    ]
    kinds = [
        [
            kind,
            f"{_COUNT[rows]} of {rows:,}",
            f"{runs:,}",
            f"{100 * found['missed']:.1f} %" if "missed" in found else "–",
            f"{100 * found['ranking']:.1f} %",
            f"{100 * found['prevalence']:.1f} %",
        ]
        for kind, rows, runs, found in _table(results, "windows")
        if kind not in MODELS
    ]
    models: dict[str, list[str]] = {}
    for model, _, _, found in _table(results, "windows"):
        if model in MODELS:
            shares = (found[name] for name in _CLAIMED)
            models.setdefault(model, []).extend(f"{100 * share:.1f} %" for share in shares)
    page = results.path(".md")
    text = (
        "# Monitors\n\n"
        f"Streams at the target itself, {_LONGEST:,} decisions each, somebody looking after every "
        f"one of them: how many ever raised the alarm, where 5 % is promised (seed "
        f"{results.settings['seed']}). {core_minutes(results.rows)}\n\n"
        + markdown_table(["target", "streams", "false alarms"], size)
        + "\n\nDecisions until the alarm, for half and for 80 % of the streams, beside what an "
        "exact one-sided binomial test at 5 % needs for a power of 80 % if it is made once.\n\n"
        + markdown_table(
            ["target", "precision", "streams", "half", "80 %", "one test, one look"], delay
        )
    )
    if drop:
        text += (
            f"\n\nDecisions from a drop to the alarm, the median, after {_GOOD:,} good ones under "
            f"a target of 0.5, with restarts after every {_RESTART:,} and without; in brackets, "
            f"false alarms before the drop. A stream ends {_BAD:,} decisions after it.\n\n"
            + markdown_table(
                ["before", "after", "streams", "with restarts", "without restarts"], drop
            )
        )
    text += (
        "\n\nWindows of time, 95 % for all of them, normal scores 1.5 standard deviations apart at "
        "prevalence 0.1. In the last three the prevalence falls to 0.05, or the distance to 0.75. "
        "Shares of runs in which some interval of AUCPR missed the truth, and in which a change of "
        "the ranking or of the prevalence was claimed.\n\n"
        + markdown_table(
            ["what changes", "windows of rows", "runs", "missed", "ranking", "prevalence"], kinds
        )
        + "\n"
    )
    if models:
        several, few = _COUNT
        text += (
            "\nThe same with scores that no constant was chosen on, nothing changing: "
            f"{_COUNT[several]} windows of {several:,} rows, and {_COUNT[few]} of {few:,}.\n\n"
            + markdown_table(
                ["scores", *(f"{what}, {rows:,}" for rows in _COUNT for what in _CLAIMED.values())],
                [[name, *shares] for name, shares in models.items()],
            )
            + "\n"
        )
    results.save_page(text)
    return page
