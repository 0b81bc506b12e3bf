"""What to say when an optional dependency is missing."""

from __future__ import annotations

from importlib.util import find_spec


def remedy(extra: str) -> str:
    """How to install an extra. There is no release yet, so the clone is named, not an index."""
    return f'in a clone of precall: pip install ".[{extra}]"'


def missing(purpose: str, needed: str, extra: str) -> ImportError:
    """The error to raise: what was asked for, which package it needs, which extra brings it."""
    return ImportError(f"{purpose} needs {needed}, which is not installed; {remedy(extra)}")


def require(module: str, purpose: str, extra: str) -> None:
    """Raise an ImportError that says what to install if a package cannot be found."""
    if find_spec(module) is None:
        raise missing(purpose, module, extra)
