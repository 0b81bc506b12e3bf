"""Rules that a repository keeps: ``[gate]`` in precall.toml, or ``[tool.precall.gate]``."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .. import _validation
from .._text import visible
from ..exceptions import InputError

OWN_FILE, PROJECT_FILE = "precall.toml", "pyproject.toml"


def _text(value: object, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"{name} must be a text, got {value!r}.")
    return value


def _texts(value: object, name: str) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not listed:
        raise InputError(f"{name} must be a text or a list of texts, got {value!r}.")
    return tuple(_text(each, name) for each in listed)


def _number(value: object, name: str) -> float:
    if isinstance(value, bool):
        raise InputError(f"{name} must be a number, got {str(value).lower()}.")
    return _validation.as_number(value, name)


def _label(value: object, name: str) -> str:
    """A label as it would be typed: numbers and true may stand without quotes."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (int, float)) else _text(value, name)


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false, got {value!r}.")
    return value


#: What the file may say, by the name of the option; each is read by its function.
KEYS: dict[str, Callable[[object, str], Any]] = {
    "file": _texts,
    "label": _text,
    "pos-label": _label,
    "weight": _text,
    "cluster": _text,
    "candidate": _text,
    "baseline": _text,
    "metric": _text,
    "margin": _number,
    "require": _texts,
    "by": _texts,
    "min-positives": _number,
    "level": _number,
    "prevalence": _number,
    "other-rows": _flag,
    "looks": _number,
    "adjust-for-looks": _flag,
    "sep": _text,
    "decimal": _text,
    "encoding": _text,
    "format": _text,
    "missing": _text,
}


def find_settings(folder: Path) -> Path | None:
    """Return the file in a folder that has rules; None if there is none, an error if two have."""
    own, project = folder / OWN_FILE, folder / PROJECT_FILE
    in_project = project.is_file() and "precall" in _table(_read(project), "tool", project)
    if own.is_file() and in_project:
        raise InputError(
            f"{OWN_FILE} and [tool.precall] in {PROJECT_FILE} both have settings: keep one of them."
        )
    if own.is_file():
        return own
    return project if in_project else None


def read_settings(path: Path) -> dict[str, Any]:
    """Return what a file says about the gate, checked, by the names of options.

    Files that it names are looked for beside it.
    """
    plain = _read(path)
    where = "gate"
    if path.name == PROJECT_FILE:
        plain = _table(_table(plain, "tool", path), "precall", path)
        where = "tool.precall.gate"
    _refuse_unknown(plain, ("gate",), path, where.rpartition(".")[0])
    table = _table(plain, "gate", path)
    _refuse_unknown(table, tuple(KEYS), path, where)
    name = visible(path.name)
    settings = {key: KEYS[key](value, f"{name}: {key}") for key, value in table.items()}
    if "file" in settings:
        settings["file"] = tuple(_beside(path, each) for each in settings["file"])
    if is_stored(settings.get("baseline")):
        settings["baseline"] = _beside(path, settings["baseline"])
    return settings


def is_stored(baseline: str | None) -> bool:
    """Return whether a baseline is the file of a stored ranking, not a column."""
    return baseline is not None and baseline.lower().endswith(".json")


def _beside(path: Path, name: str) -> str:
    return name if name == "-" else str(path.parent / name)


def _read(path: Path) -> Mapping[str, Any]:
    name = repr(visible(path))
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{name} cannot be read ({error.strerror}): check the path.") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is no TOML ({error}).") from None


def _table(plain: Mapping[str, Any], key: str, path: Path) -> Mapping[str, Any]:
    table = plain.get(key, {})
    if not isinstance(table, dict):
        raise InputError(f"{visible(path.name)}: {key} must be a table, such as [{key}].")
    return table


def _refuse_unknown(
    table: Mapping[str, Any], known: tuple[str, ...], path: Path, where: str
) -> None:
    from difflib import get_close_matches

    for key in table:
        if key not in known:
            near = get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            place = f"[{where}] of " if where else ""
            raise InputError(
                f"{place}{visible(path.name)} has an unknown key {visible(key)!r}: it may have "
                f"{', '.join(known)}.{hint}"
            )
