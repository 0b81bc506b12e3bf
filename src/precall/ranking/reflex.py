"""What scikit-learn's users write by reflex, answered with what to write here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from .checks import require_ranking

P = ParamSpec("P")
R = TypeVar("R")


def takes_one_ranking(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function that takes a ranking and keywords answer ``function(y_true, y_score)``.

    Python would count positional arguments; the error says to rank first. A warning from inside
    the function has one more frame to go up to the caller.
    """

    @wraps(function)
    def answered(*arguments: P.args, **options: P.kwargs) -> R:
        if len(arguments) > 1:
            require_ranking(arguments[0])
        return function(*arguments, **options)

    return answered
