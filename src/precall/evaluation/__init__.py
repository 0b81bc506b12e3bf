"""What the command line and the report show, computed in one place: numbers, words, no printing."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

# Where each name is defined; loaded when first used: commands read their file meanwhile, and those
# that evaluate nothing need the words only.
_HOMES = {
    ".build": ("evaluate", "evaluate_rankings"),
    ".model_result": ("Measure", "ModelEvaluation"),
    ".results": ("Evaluation", "Finding", "GroupEvaluation"),
    ".settings": ("Settings",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOME_OF[name], __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
