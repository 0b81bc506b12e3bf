"""What the command line and the report show, computed in one place: numbers, words, no printing."""

from .build import evaluate, evaluate_rankings
from .model_result import Measure, ModelEvaluation
from .results import Evaluation, Finding, GroupEvaluation
from .settings import Settings

__all__ = [
    "Evaluation",
    "Finding",
    "GroupEvaluation",
    "Measure",
    "ModelEvaluation",
    "Settings",
    "evaluate",
    "evaluate_rankings",
]
