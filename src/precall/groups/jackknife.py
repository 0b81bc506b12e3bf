"""All groups together, one of them left out at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..ranking import Cells
from ..ranking.pooling import Pooled
from ..ranking.ranking_set import RankingSet

Array = npt.NDArray[Any]


def leave_one_group_out(pooled: Pooled) -> RankingSet | None:
    """Rankings of everything but one group, on the coarse cells, for every group.

    None where that leaves a class empty, so that nothing can be said.
    """
    cells = pooled.without_each_group()
    n_groups, n_cells = cells.positives.shape
    n_neg = cells.tied.sum(axis=1) + cells.above.sum(axis=1) + cells.below
    if n_groups < 2 or not (cells.positives.sum(axis=1).min() > 0 and n_neg.min() > 0):
        return None
    fp = np.cumsum(cells.tied + cells.above, axis=1)
    # A cell without positives is no threshold: its negatives lie above the next one.
    filled = np.flatnonzero(cells.positives > 0)
    offsets = np.searchsorted(filled, np.arange(n_groups + 1) * n_cells)
    arrived = fp.ravel()[filled]
    previous = np.concatenate([[0], arrived[:-1]])
    previous[offsets[:-1]] = 0
    tied = cells.tied.ravel()[filled]
    return RankingSet(
        labels=np.arange(n_groups),
        offsets=offsets,
        threshold=np.tile(pooled.coarse.threshold, n_groups)[filled],
        cells=Cells(
            cells.positives.ravel()[filled],
            tied,
            arrived - tied - previous,
            n_neg - arrived[offsets[1:] - 1],
        ),
    )
