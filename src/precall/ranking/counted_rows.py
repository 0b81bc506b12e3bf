"""Counts at a few thresholds, without sorting: what a metric of a threshold needs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .kept_thresholds import as_thresholds
from .segments import lowest_score
from .table import Ranking


def count_at(
    positive: npt.NDArray[np.bool_], scores: npt.NDArray[Any], thresholds: tuple[float, ...]
) -> Ranking:
    """Return a coarsened ranking: one cell down to each threshold, and one for all rows below.

    One comparison per threshold. Rows count once each; the order inside a cell is not known.
    """
    cuts = as_thresholds(thresholds, scores.dtype)[::-1]
    lowest = lowest_score(scores.dtype)
    tp, selected = [0], [0]
    for cut in cuts:
        chosen = scores >= cut
        selected.append(int(np.count_nonzero(chosen)))
        chosen &= positive
        tp.append(int(np.count_nonzero(chosen)))
    if not cuts.size or cuts[-1] > lowest:
        cuts = np.append(cuts, scores.dtype.type(lowest))
        selected.append(scores.size)
        tp.append(int(np.count_nonzero(positive)))
    ours, both = (np.array(_steps(reached)) for reached in (tp, selected))
    return Ranking(
        threshold=cuts,
        positives=ours,
        tied=both - ours,
        above=np.zeros_like(ours),
        below=0,
        coarsened=True,
    )


def _steps(reached: list[int]) -> list[int]:
    return [after - before for before, after in pairwise(reached)]
