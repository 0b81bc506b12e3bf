"""Draw docs/images/example_pr.svg: the embedded example, here and at another prevalence.

``python scripts/make_readme_picture.py`` writes the picture of the README; a path as argument
writes it there, in any format that matplotlib knows by the ending.
"""

import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import sawtooth as saw

DESTINATION = Path(__file__).parents[1] / "docs" / "images" / "example_pr.svg"
COLOURS = {"gradient_boosting": "#1b5e9b", "scorecard": "#d1782b"}
ELSEWHERE = 0.3


def draw() -> Figure:
    example = saw.load_example()
    here = {name: saw.rank(example.label, score) for name, score in example.scores.items()}
    elsewhere = {name: ranking.at_prevalence(ELSEWHERE) for name, ranking in here.items()}
    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    prevalence = next(iter(here.values())).prevalence
    _panel(left, here, prevalence, f"Card payments, {prevalence:.2%} fraud", labels_at=(0.5, 0.93))
    title = f"The same scorers at {ELSEWHERE:.0%} fraud"
    _panel(right, elsewhere, ELSEWHERE, title, labels_at=(0.02, 0.6))
    left.set_ylabel("precision")
    right.text(0.02, ELSEWHERE + 0.02, "chance", color="0.3")
    right.text(0.97, 0.06, "no scorer can be here", color="0.3", ha="right")
    return figure


def _panel(
    axes: Axes,
    rankings: dict[str, saw.Ranking],
    prevalence: float,
    title: str,
    labels_at: tuple[float, float],
) -> None:
    minimum = saw.minimum_pr_curve(prevalence)
    axes.fill_between(minimum.recall, minimum.precision, color="0.85", linewidth=0)
    axes.axhline(prevalence, color="0.3", linewidth=1.2, linestyle=(0, (4, 3)))
    x, y = labels_at
    for line, (name, ranking) in enumerate(rankings.items()):
        curve = saw.pr_curve(ranking)
        axes.plot(curve.recall, curve.precision, color=COLOURS[name], linewidth=1.6)
        label = f"{name.replace('_', ' ')}, area {saw.aucpr(ranking):.2f}"
        axes.text(x, y - 0.06 * line, label, color=COLOURS[name])
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="recall")
    axes.set_title(title, loc="left", fontsize="medium", fontweight="bold")
    axes.spines[["top", "right"]].set_visible(False)


def main() -> None:
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else DESTINATION
    # Fixed identifiers and no date, so that the same curves give the same file.
    with mpl.rc_context({"svg.hashsalt": "sawtooth", "font.size": 10}):
        metadata = {"Date": None} if output.suffix == ".svg" else None
        draw().savefig(output, dpi=160, metadata=metadata, facecolor="white")


if __name__ == "__main__":
    main()
