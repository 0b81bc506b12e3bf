"""What scikit-learn's users write by reflex, answered with what to write here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from ..exceptions import InputError
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


def takes_one(way_out: str, *, method: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function of other data and keywords do the same; `way_out` is what to pass instead."""
    first = int(method)

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def answered(*arguments: P.args, **options: P.kwargs) -> R:
            given = arguments[first:]
            if len(given) > 1 and not hasattr(given[0], "ranked"):
                name = "a metric" if method else function.__name__
                raise InputError(
                    f"{name} takes one argument without a name, got {len(given)}: pass {way_out}."
                )
            return function(*arguments, **options)

        return answered

    return decorated
