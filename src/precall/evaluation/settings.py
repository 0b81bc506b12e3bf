"""How an evaluation was made."""

from __future__ import annotations

from dataclasses import dataclass

from ..metrics import Metric


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How an evaluation was made.

    Attributes
    ----------
    confidence_level : float
        Of every interval and band.
    recall : float
        The recall at which precision is reported.
    seed : int
        For the draws of the bands.
    clustered : bool
        Whether rows that belong together were taken together.
    candidates : int
        How many models the best one is chosen from.
    metrics : tuple of Metric
        What was asked for beside the metrics that are always shown.
    prevalence : float or None
        The known prevalence that the answer is about; None for that of the data.
    """

    confidence_level: float = 0.95
    recall: float = 0.8
    seed: int = 0
    clustered: bool = False
    candidates: int = 1
    metrics: tuple[Metric, ...] = ()
    prevalence: float | None = None

    @property
    def choice_level(self) -> float:
        """The level at which what is quoted of the best model is made.

        Of k models each statement may be wrong with probability ``(1 - confidence_level) / k``, so
        that none of them is wrong with probability `confidence_level`, whichever is quoted.
        """
        if self.candidates == 1:
            return self.confidence_level
        return 1.0 - (1.0 - self.confidence_level) / self.candidates
