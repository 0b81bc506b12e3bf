"""Print how often the interval of an average over classes has the average of the population.

Rows are drawn; the classes are the same in every data set. What 95 % of the averages of the data
sets lie within is the width that an interval needs:

    .venv/bin/python -m scripts.class_averages --data-sets 1000
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import precall as pr
from precall.simulate.distributions import Distribution, Mixture, Normal, StudentT
from precall.simulate.scenarios import Pair

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Setting:
    """Classes with their shares of rows, and scores that are higher in a row's own class.

    `common` is the correlation of a row's scores for different classes; -1 stands for scores that
    add up to nothing in every row. `several` says that a row may be of several classes.
    """

    shares: tuple[float, ...]
    rows: int
    shift: float
    common: float = 0.0
    several: bool = False
    tails: bool = False

    @property
    def shifts(self) -> Array:
        """How much higher, class by class."""
        return self.shift * np.linspace(0.6, 1.4, len(self.shares))

    def __str__(self) -> str:
        least = min(self.shares) * self.rows
        kind = "labels" if self.several else "classes"
        together = {-1.0: "scores add up", 0.0: "scores independent"}
        said = together.get(self.common, f"correlation {self.common:g}")
        tails = ", heavy tails" if self.tails else ""
        return (
            f"{len(self.shares)} {kind}, {self.rows:,} rows, at least {least:.0f} positives each, "
            f"{said}, shift {self.shift:g}{tails}"
        )

    def draw(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw labels (rows, classes) and scores; every class has a positive."""
        size = self.rows, len(self.shares)
        while True:
            if self.several:
                labels = rng.random(size) < self.shares
            else:
                labels = np.eye(size[1], dtype=bool)[rng.choice(size[1], size[0], p=self.shares)]
            if labels.any(axis=0).all():
                break
        noise = rng.standard_t(3, size) if self.tails else rng.normal(size=size)
        if self.common > 0:
            shared = rng.normal(size=(size[0], 1))
            noise = np.sqrt(1 - self.common) * noise + np.sqrt(self.common) * shared
        elif self.common < 0:
            noise = (noise - noise.mean(axis=1, keepdims=True)) * np.sqrt(size[1] / (size[1] - 1))
        return labels, noise + self.shifts * labels

    def truth(self) -> dict[str, float]:
        """The averages of the population: the scores of each class are normal (or t3)."""
        shares = np.array(self.shares)
        ours = tuple(self._scores(shift) for shift in self.shifts)
        each = [
            Pair(own, self._scores(0.0)).aucpr(float(share))
            for own, share in zip(ours, shares, strict=True)
        ]
        mixed = Mixture(ours, tuple((shares / shares.sum()).tolist()))
        return {
            "mean": float(np.mean(each)),
            "weighted": float(np.average(each, weights=shares)),
            "pooled": Pair(mixed, self._scores(0.0)).aucpr(float(shares.mean())),
        }

    def _scores(self, location: float) -> Distribution:
        return StudentT(3.0, location=location) if self.tails else Normal(location=location)


THREE = (0.5, 0.3, 0.2)
SETTINGS = (
    Setting(THREE, 200, 1.0),
    Setting(THREE, 200, 2.0, common=0.5),
    Setting(THREE, 100, 1.5, common=-1.0),
    Setting((0.6, 0.3, 0.1), 200, 1.5, tails=True),
    Setting((0.1,) * 10, 200, 1.0),
    Setting((0.1,) * 10, 200, 2.0, common=-1.0),
    Setting((0.1,) * 10, 200, 3.0, common=0.5),
    Setting((0.1,) * 10, 1000, 1.5),
    Setting((0.1,) * 5, 200, 1.5, common=0.5, several=True),
    Setting((0.05,) * 20, 400, 1.5),
    Setting((0.1,) * 20, 400, 0.5, common=0.3, several=True),
)


def main() -> None:
    """Draw, ask and print a table."""
    parser = argparse.ArgumentParser(description="Coverage of averages over fixed classes.")
    parser.add_argument("--data-sets", type=int, default=1000)
    chosen = parser.parse_args()
    print("| setting | average | coverage | mean width | width needed |")
    print("|---|---|---|---|---|")
    for number, setting in enumerate(SETTINGS):
        rng, truth = np.random.default_rng(number), setting.truth()
        found: dict[str, list[pr.Interval]] = {how: [] for how in truth}
        for _ in range(chosen.data_sets):
            labels, scores = setting.draw(rng)
            rankings = pr.rank_classes(labels.astype(int), scores)
            for how, intervals in found.items():
                interval = pr.aggregate(rankings, "aucpr", how=how).interval
                assert interval is not None
                intervals.append(interval)
        for how, intervals in found.items():
            held = np.mean([each.low <= truth[how] <= each.high for each in intervals])
            width = np.mean([each.width for each in intervals])
            needed = np.diff(np.quantile([each.estimate for each in intervals], [0.025, 0.975]))[0]
            print(f"| {setting} | {how} | {held:.3f} | {width:.3f} | {needed:.3f} |", flush=True)


if __name__ == "__main__":
    main()
