"""Cost on logarithmic axes, over rows and over the share of positives."""

import math
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from benchmarks.harness import Outcome
from benchmarks.peers import BINNED, POLARS, SKLEARN, SORT, SUBJECT, TORCH
from precall.display.mpl import COLOURS, DASHES, GREY

# A tool looks the same in every figure, whichever others are there.
LOOKS = {
    SUBJECT: {"color": COLOURS[0], "linestyle": DASHES[0], "marker": "o", "linewidth": 2.4},
    SKLEARN: {"color": COLOURS[1], "linestyle": DASHES[1], "marker": "s"},
    TORCH: {"color": COLOURS[2], "linestyle": DASHES[2], "marker": "^"},
    BINNED: {"color": COLOURS[4], "linestyle": DASHES[3], "marker": "v"},
    POLARS: {"color": COLOURS[3], "linestyle": DASHES[3], "marker": "D"},
    SORT: {"color": GREY, "linestyle": (0, (1, 1.5)), "marker": "x"},
}
SECONDS = {1e-6: "1 µs", 1e-5: "10 µs", 1e-4: "100 µs", 1e-3: "1 ms", 1e-2: "10 ms", 0.1: "100 ms"}
SECONDS |= {1.0: "1 s", 10.0: "10 s", 100.0: "100 s"}


def series(outcomes: Sequence[Outcome]) -> dict[str, tuple[list[float], list[float]]]:
    """For each tool where it was timed, and its seconds."""
    found: dict[str, tuple[list[float], list[float]]] = {}
    for outcome in outcomes:
        if outcome.race.at is None:
            raise ValueError(f"{outcome.race.title!r} has no place on the axis: set Race.at")
        for name, seconds in outcome.costs.items():
            at, costs = found.setdefault(name, ([], []))
            at.append(outcome.race.at)
            costs.append(seconds)
    return found


def draw(outcomes: Sequence[Outcome], path: Path, *, title: str, x_label: str) -> None:
    """One line for each tool, with its name at its end; share axes are in per cent."""
    lines = series(outcomes)
    # Fixed identifiers and no date, so that the same numbers give the same file.
    with mpl.rc_context({"svg.hashsalt": "precall", "font.size": 10}):
        figure = Figure(figsize=(7.6, 4.6), layout="constrained")
        axes = figure.subplots()
        for name, (at, seconds) in lines.items():
            look = {"linewidth": 1.6, "markersize": 5} | LOOKS.get(name, {"color": "black"})
            axes.plot(at, seconds, **look)
        axes.set_xscale("log")
        axes.set_yscale("log")
        costs = [cost for _, seconds in lines.values() for cost in seconds]
        # Whole decades, so that there are at least two ticks to read a ratio from.
        axes.set_ylim(
            10.0 ** math.floor(math.log10(min(costs))), 10.0 ** math.ceil(math.log10(max(costs)))
        )
        places = sorted({place for at, _ in lines.values() for place in at})
        shares = places[-1] <= 1
        axes.set_xticks(places, [_share(p) if shares else _count(p) for p in places])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _label(value)))
        axes.set(xlabel=x_label, ylabel="time of one call")
        axes.grid(color="0.92", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_title(title, loc="left", fontsize="medium", fontweight="bold")
        _name_ends(axes, lines)
        figure.savefig(path, metadata={"Date": None}, facecolor="white")


def _name_ends(axes, lines: dict[str, tuple[list[float], list[float]]]) -> None:
    """Names at the right ends, moved apart where the ends are close.

    A line that ends early has others to its right, so its name stands above its end.
    """
    last = max(at[-1] for at, _ in lines.values())
    low, high = (float(limit) for limit in axes.get_ylim())
    least = (high / low) ** 0.055
    lowest: dict[float, float] = {}
    for name, (at, seconds) in sorted(lines.items(), key=lambda item: item[1][1][-1]):
        height = max(seconds[-1], lowest.get(at[-1], 0.0) * least)
        lowest[at[-1]] = height
        early = at[-1] < last
        axes.annotate(
            name,
            (at[-1], height),
            xytext=(0, 9) if early else (9, 0),
            textcoords="offset points",
            ha="center" if early else "left",
            va="bottom" if early else "center",
            fontsize=9,
            fontweight="bold" if name == SUBJECT else "normal",
            color=LOOKS.get(name, {"color": "black"})["color"],
            annotation_clip=False,
        )


def _label(seconds: float) -> str:
    for known, text in SECONDS.items():
        if abs(seconds / known - 1) < 1e-6:
            return text
    return ""


def _share(share: float) -> str:
    return f"{100 * share:g} %"


def _count(rows: float) -> str:
    return f"{rows:,.0f}"
