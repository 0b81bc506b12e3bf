"""What one site releases: its own histogram, with noise of its own."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._notebook import Rich
from ..exceptions import InputError
from ._persons import MOST_ROWS
from .budget import Budget, Part, as_budget
from .histograms import release_histogram
from .mechanisms import noise_source
from .neighbours import REPLACE
from .site_files import Fields, is_name, read_document, write_document
from .site_plans import SitePlan
from .values import mark, persons_mark

_FORMAT = "precall site release 1"
_WHAT = "the release of a site"
_ID_BYTES = 16


@dataclass(frozen=True, kw_only=True, repr=False)
class SiteRelease(Rich):
    """The noisy histogram of one site. Everything in it was paid for: it may be sent to anybody.

    Attributes
    ----------
    site : str
        Name of the site.
    plan : SitePlan
        What the sites agreed upon.
    noisy_positives, noisy_negatives : tuple of int
        Rows of each class per bin, from the highest scores down, with their noise.
    n_rows : int or None
        Public number of rows of this site; None if it is private.
    n_persons : int or None
        Public number of persons of this site, if rows were drawn from each.
    release_id : str
        Random: a release that is sent twice is recognised by it.
    seeded : bool
        Whether the noise came from a seed: then it is for simulation, and not private.
    """

    site: str
    plan: SitePlan
    noisy_positives: tuple[int, ...]
    noisy_negatives: tuple[int, ...]
    n_rows: int | None
    n_persons: int | None
    release_id: str
    seeded: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as :meth:`save` writes them."""
        return {
            "format": _FORMAT,
            "site": self.site,
            "release_id": self.release_id,
            "seeded": self.seeded,
            "n_rows": self.n_rows,
            "n_persons": self.n_persons,
            "noisy_positives": list(self.noisy_positives),
            "noisy_negatives": list(self.noisy_negatives),
            "plan": self.plan.to_dict(),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> SiteRelease:
        """Rebuild a release from :meth:`to_dict`, which somebody else may have written."""
        counts = ("noisy_positives", "noisy_negatives")
        names = ("site", "release_id", "seeded", "n_rows", "n_persons", *counts, "plan")
        fields = Fields(plain, _WHAT, _FORMAT, names)
        plan = SitePlan.from_dict(fields.inner("plan"))  # type: ignore[arg-type]
        bins = len(plan.edges) - 1
        rows, persons = (_number(fields, name) for name in ("n_rows", "n_persons"))
        private = plan.neighbours != REPLACE
        if private != (rows is None) or (private and persons is not None):
            fields.wrong("n_rows", "null if its plan keeps it private, and else a number")
        return cls(
            site=fields.text("site"),
            plan=plan,
            noisy_positives=fields.counts("noisy_positives", bins),
            noisy_negatives=fields.counts("noisy_negatives", bins),
            n_rows=rows,
            n_persons=persons,
            release_id=fields.text("release_id"),
            seeded=fields.flag("seeded"),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the release to a JSON file, for whoever combines the sites."""
        write_document(path, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SiteRelease:
        """Read a release that :meth:`save` wrote."""
        return read_document(path, _WHAT, cls.from_dict)

    def __repr__(self) -> str:
        """Return one line."""
        rows = "" if self.n_rows is None else f"{self.n_rows} rows, "
        persons = persons_mark(self.plan.rows_per_person, self.n_persons)
        return (
            f"SiteRelease({self.site!r}, {rows}{len(self.noisy_positives)} bins, "
            f"epsilon={self.plan.epsilon:.6g}{persons}{mark(self.seeded)})"
        )


def site_release(
    y_true: object,
    y_score: object = None,
    *,
    plan: SitePlan,
    site: str,
    budget: Budget | Part,
    pos_label: object = 1,
    person: object = None,
    rng: object = None,
) -> SiteRelease:
    """Release the histogram of one site, to be added to those of others.

    The rows of each class are counted between the plan's edges, and every count gets discrete
    Laplace noise, as in :func:`pr_curve`. So the release is private by itself: neither those who
    combine it nor the other sites have to be trusted. :func:`combine` adds up what sites released.

    Parameters
    ----------
    y_true, y_score : array-like
        The private rows of this site, as for :func:`average_precision`.
    plan : SitePlan
        What all sites agreed upon; it says what the release costs.
    site : str
        Name of this site, which no other site has.
    budget : Budget
        What pays for it: the budget of this site's rows.
    pos_label : label, default 1
        The label of the positive class at this site, as for :func:`average_precision`.
    person : optional
        Whose row it is, as for :func:`average_precision`. Rows of each person are as many as the
        plan says.
    rng : optional
        Seed or generator, for simulation only: the release is then not private.

    Returns
    -------
    SiteRelease

    Raises
    ------
    BudgetError
        If the budget does not allow it; nothing has been looked at then.

    Examples
    --------
    >>> import numpy as np
    >>> from precall import privacy
    >>> plan = privacy.site_plan(epsilon=1.0, n_rows=2_000, n_sites=2)
    >>> y = np.arange(1_000) % 4 == 0
    >>> score = np.where(y, 0.8, np.linspace(0, 1, 1_000))
    >>> budget = privacy.Budget(epsilon=1.0)
    >>> privacy.site_release(y, score, plan=plan, site="north", budget=budget)
    SiteRelease('north', 1000 rows, 9 bins, epsilon=1)
    """
    if not isinstance(plan, SitePlan):
        raise InputError(
            f"plan must be a SitePlan, got {type(plan).__name__}: make one with site_plan(...), or "
            "read the file that all sites share with SitePlan.load(path)."
        )
    if not is_name(site):
        raise InputError(
            "site must be a name of visible characters, at most 100 of them, with no spaces at "
            f"its ends, got {site!r}."
        )
    noise = noise_source(rng)
    histogram = release_histogram(
        y_true,
        y_score,
        what="histogram of a site",
        epsilon=plan.epsilon,
        budget=as_budget(budget),
        edges=plan.cuts,
        pos_label=pos_label,
        person=person,
        rows_per_person=plan.rows_per_person,
        noise=noise,
        neighbours=plan.neighbours,
    )
    bins = histogram.edges.size - 1
    counts = histogram.counts.tolist()
    return SiteRelease(
        site=site,
        plan=plan,
        noisy_positives=tuple(counts[:bins]),
        noisy_negatives=tuple(counts[bins:]),
        n_rows=histogram.n_rows if plan.neighbours == REPLACE else None,
        n_persons=histogram.n_persons,
        release_id=secrets.token_hex(_ID_BYTES),
        seeded=noise.seeded,
    )


def _number(fields: Fields, name: str) -> int | None:
    """A number of rows or persons, if it is there."""
    if fields.inner(name) is None:
        return None
    return fields.whole(name, least=1, most=MOST_ROWS)
