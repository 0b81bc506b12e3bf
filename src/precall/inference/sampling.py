"""How the rows came to be: as they came, or each class by itself."""

from __future__ import annotations

from .. import _validation
from ..exceptions import InputError

#: "rows": rows came as they came, so another sample would have other numbers of each class.
#: "classes": each class was sampled by itself, and its numbers are part of the design.
SAMPLING = ("rows", "classes")


def varying_prevalence(sampling: object, prevalence: object) -> bool:
    """Return whether another sample would have another prevalence.

    Rows by default, classes where a known `prevalence` is given: then the two together are
    contradictory.
    """
    if sampling is None:
        return prevalence is None
    _validation.as_choice(sampling, "sampling", SAMPLING)
    if sampling == "rows" and prevalence is not None:
        raise InputError(
            "prevalence is known, so it does not vary with the rows: leave sampling='rows' out."
        )
    return sampling == "rows"
