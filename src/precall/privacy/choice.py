"""Which mechanism to use, from public facts: nothing here looks at any row.

The rule was chosen on some models of scores and measured on others: the study ``private_choice``
has the table.
"""

from __future__ import annotations

import math

from .._validation import as_choice, as_count, as_fraction
from ..exceptions import InputError
from ._ledger import as_epsilon
from ._persons import as_rows_per_person, row_share

#: Ways to release average precision and the AUROC; "auto" is one of the others.
MECHANISMS = ("rescaled", "curve", "auto")


# A metric is read off the curve up to this epsilon of a row, times the root of the positives that
# are expected: noise shrinks as both grow, and the error of the bins stays.
_CURVE_UP_TO = {"average_precision": 15.0, "auroc": 0.0}
# What the prevalence is taken to be where nobody guesses it.
_PREVALENCE = 0.1
_MOVED = (
    "printed_cauchy",
    "printed_laplace",
    "smooth_cauchy",
    "smooth_quartic",
    "smooth_laplace",
)


def choose_mechanism(
    *,
    n_rows: int,
    epsilon: float,
    prevalence: float | None = None,
    metric: str = "average_precision",
    rows_per_person: int = 1,
) -> str:
    """Choose how to release a metric, as ``mechanism="auto"`` does.

    Average precision is read off the curve if the epsilon of a row, times the root of the number of
    positives that are expected, is at most 15; the AUROC never is.

    Parameters
    ----------
    n_rows : int
        Public number of rows.
    epsilon : float
        Cost of the release.
    prevalence : float, optional
        A guess of the share of positives, which was not read off the private rows; 0.1 if left out.
    metric : {"average_precision", "auroc"}
        What is released.
    rows_per_person : int, default 1
        Rows of one person that are protected together; each has its share of `epsilon`.

    Returns
    -------
    str
        "curve" or "rescaled".

    Examples
    --------
    >>> choose_mechanism(n_rows=20_000, epsilon=0.1), choose_mechanism(n_rows=20_000, epsilon=1.0)
    ('curve', 'rescaled')
    >>> choose_mechanism(n_rows=2_000, epsilon=1.0, prevalence=0.01)
    'curve'
    """
    n_rows = as_count(n_rows, "n_rows", minimum=1)
    limit = _CURVE_UP_TO[as_choice(metric, "metric", _CURVE_UP_TO)]
    share = float(row_share(as_epsilon(epsilon), as_rows_per_person(rows_per_person)))
    guess = _PREVALENCE if prevalence is None else as_fraction(prevalence, "prevalence")
    return "curve" if share * math.sqrt(guess * n_rows) <= limit else "rescaled"


def as_mechanism(value: object) -> str:
    """Return the name of a mechanism, or say what became of it."""
    if value in _MOVED:
        raise InputError(
            f"mechanism={value!r} is not in the package any more: wherever it was measured, "
            "another has no larger error. Use 'rescaled', which needs no delta, or 'auto'. The "
            "code is in studies/_smooth_sensitivity.py of the repository."
        )
    return as_choice(value, "mechanism", MECHANISMS)
