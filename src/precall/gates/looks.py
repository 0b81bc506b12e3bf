"""How often one test set was looked at, and what that costs.

Every gate on the same rows is another chance to pass by luck. The looks at a stored baseline are
kept in a file beside it, a line each: the sizes of the test set and a fingerprint of what was
asked. Asking the same again is no new look.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .._text import visible
from ..evaluation import wording
from ..ranking import Ranking


class Look(NamedTuple):
    """One look: which test set, and what was asked of whom."""

    test_set: str
    fingerprint: str

    @classmethod
    def of(cls, ranking: Ranking, rules: Iterable[str], level: float) -> Look:
        """Return the look at a candidate's ranking with these rules."""
        digest = hashlib.sha256()
        for column in (ranking.threshold, ranking.positives, ranking.tied, ranking.above):
            digest.update(np.ascontiguousarray(column).tobytes())
        digest.update(repr((sorted(rules), level)).encode())
        test_set = f"{ranking.n_pos:.12g}+{ranking.n_neg:.12g}"
        return cls(test_set, digest.hexdigest()[:32])


def looks_path(baseline: Path) -> Path:
    """Return where the looks at a stored baseline are kept."""
    return baseline.with_name(f"{baseline.name}.looks")


def counted(baseline: Path | None, look: Look, given: int | None) -> tuple[int, list[str]]:
    """Return how many looks there were, this one included, and what to say if it is not kept.

    With a stored baseline the look is added to its file; a number that was `given` counts instead.
    """
    if baseline is None:
        return given or 1, []
    path = looks_path(baseline)
    problem = []
    try:
        seen = _looks_at(path, look.test_set)
        if look.fingerprint not in seen:
            seen.append(look.fingerprint)
            # A short line at the end of a file arrives whole, whoever else writes there.
            with path.open("a", encoding="utf-8") as file:
                file.write(f"{look.test_set} {look.fingerprint}\n")
    except (OSError, UnicodeDecodeError) as error:
        seen = [look.fingerprint]
        reason = getattr(error, "strerror", None) or "it is no text"
        problem = [f"The looks in {visible(path)} could not be counted ({reason})."]
    return given or len(seen), problem


def _looks_at(path: Path, test_set: str) -> list[str]:
    """Return the fingerprints of the looks at a test set, each once."""
    if not path.exists():
        return []
    lines = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return list(dict.fromkeys(words[1] for words in lines if words[:1] == [test_set] and words[1:]))


def error_of_look(alpha: float, look: int) -> float:
    """Return the share of an error that look number t may spend: ``6 / (pi t)^2`` of it.

    Over all looks that adds up to alpha, and nobody needs to know how many there will be.

    Examples
    --------
    >>> round(error_of_look(0.05, 1), 4), round(error_of_look(0.05, 10), 6)
    (0.0304, 0.000304)
    """
    return alpha * 6.0 / (math.pi * look) ** 2


def cost(count: int, level: float, strict: str, *, adjusted: bool) -> str:
    """Say what repeated use of one test set costs."""
    alpha = 1.0 - level
    spent = 1.0 - error_of_look(alpha, count)
    if adjusted:
        return (
            f"This is look {count} at this test set. It was made at {wording.percent(spent)}, so "
            f"that all looks together hold with {wording.percent(level)} confidence; that is true "
            "of candidates that were not tuned on these rows."
        )
    most = wording.percent(min(count * alpha, 1.0))
    return (
        f"This is look {count} at this test set. Each look alone lets a candidate that breaks a "
        f"rule pass with at most {wording.percent(alpha)}, and all {count} together with up to "
        f"{most}. Adjusted for all looks (this one at {wording.percent(spent)}), the verdict is "
        f"{strict}. Candidates that were tuned on these rows can do worse than that: use new rows "
        "now and then."
    )
