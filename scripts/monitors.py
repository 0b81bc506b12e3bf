"""Print how soon a precision under its target is noticed, beside MAPIE on the same streams.

Labels of selected rows come one by one, and somebody looks after every one of them. Both monitors
are given the target and a false-alarm rate of 5 %. MAPIE spends half of its level on reference data
even where the threshold is given instead, so it is also asked at 10 %, of which the stream then has
5 %. MAPIE has to be installed:

    .venv-peers/bin/python -m scripts.monitors --streams 60
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from precall.monitoring import PrecisionMonitor
from studies.monitoring import one_look

# Target, precision from the first decision on, decisions of a stream.
SETTINGS = (
    (0.5, 0.5, 1000),
    (0.9, 0.9, 1000),
    (0.1, 0.05, 1000),
    (0.5, 0.4, 700),
    (0.5, 0.3, 300),
    (0.9, 0.8, 600),
)
LEVELS = (0.05, 0.1)


def ours(labels: np.ndarray, target: float) -> float:
    """Return after how many decisions this library's alarm goes on; infinity if it does not."""
    monitor = PrecisionMonitor(target=target)
    monitor.update(labels)
    return np.inf if monitor.alarm_at is None else float(monitor.alarm_at)


def theirs(labels: np.ndarray, target: float, level: float) -> float:
    """Return the same of MAPIE's monitor of risk."""
    from mapie.exchangeability_testing import RiskMonitoring

    monitor = RiskMonitoring("precision", test_level=level, threshold=1.0 - target, warn=False)
    monitor.update(labels.astype(int), np.ones(labels.size, dtype=int))
    low = monitor.online_risk_lower_bound_sequence_history
    late = np.flatnonzero(low > monitor.threshold)
    return np.inf if not late.size else float(late[0] + 1)


def words(found: np.ndarray, null: bool) -> str:
    """Say how many alarms there were, or after how many decisions they went on."""
    if null:
        return f"{int(np.isfinite(found).sum())} of {found.size}"
    ends = np.quantile(found, [0.5, 0.8], method="higher")
    return ", ".join(f"{end:,.0f}" if np.isfinite(end) else "never" for end in ends)


def main() -> None:
    """Draw, watch and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    for target, precision, length in SETTINGS:
        rng = np.random.default_rng(chosen.seed)
        found: dict[object, list[float]] = {"precall": [], **{level: [] for level in LEVELS}}
        for _ in range(chosen.streams):
            labels = rng.random(length) < precision
            found["precall"].append(ours(labels, target))
            for level in LEVELS:
                found[level].append(theirs(labels, target, level))
        null = target == precision
        cells = [words(np.array(values), null) for values in found.values()]
        once = "–" if null else f"{one_look(target, precision):,}"
        print(
            f"| {target:g} | {precision:g} | {length:,} | {' | '.join(cells)} | {once} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
