"""Rows that several rankings share: every class ranks the same rows against the rest."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class SharedRows(NamedTuple):
    """What each class says of each row; rows of weight zero are left out.

    `positive` and `scores` have the shape (classes, rows), `weight` has one number per row or is
    None.
    """

    positive: npt.NDArray[np.bool_]
    scores: npt.NDArray[Any]
    weight: npt.NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        """Return one line."""
        classes, rows = self.positive.shape
        return f"SharedRows({rows} rows, {classes} classes)"

    @classmethod
    def of(
        cls,
        positive: npt.NDArray[np.bool_],
        scores: npt.NDArray[Any],
        weight: npt.NDArray[np.float64] | None,
    ) -> SharedRows:
        """Leave out rows that weigh nothing."""
        if weight is None or np.all(weight > 0):
            return cls(positive, scores, weight)
        kept = weight > 0
        return cls(positive[:, kept], scores[:, kept], weight[kept])
