"""A ranking in a file, as JSON: for a gate, or for later."""

from __future__ import annotations

import json
from pathlib import Path

from .._output import whole_file
from .._text import visible
from .._version import __version__
from ..exceptions import InputError
from .table import Ranking


def write_ranking(path: str | Path, ranking: Ranking, *, model: str) -> None:
    """Write a ranking whole or not at all, one of its fields a line.

    Examples
    --------
    >>> import tempfile
    >>> from precall import rank
    >>> path = Path(tempfile.mkdtemp(), "baseline.json")
    >>> write_ranking(path, rank([1, 0, 1], [3, 2, 1]), model="old")
    >>> read_ranking(path)
    Ranking(n_pos=2, n_neg=1, prevalence=0.6667, thresholds=2, tied=0 %)
    """
    plain = {"precall": __version__, "model": model, **ranking.to_dict()}
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in plain.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def read_ranking(path: str | Path) -> Ranking:
    """Read what :func:`write_ranking` wrote."""
    name = repr(visible(path))
    try:
        plain = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(plain, dict):
            raise InputError("it holds no object.")
        return Ranking.from_dict(plain)
    except OSError as error:
        raise InputError(f"{name} cannot be read ({error.strerror}): check the path.") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{name} is not a stored ranking ({error}): write one with precall rank FILE -o."
        ) from error
