"""Add up what several sites released; nothing here looks at any row."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import as_choice
from ..exceptions import InputError
from ._persons import MOST_ROWS
from .curve_release import warn_of
from .mechanisms import IntArray
from .neighbours import REPLACE, estimated_rows
from .private_curve import PrivateCurve
from .site_plans import MOST_SITES, SitePlan
from .site_releases import SiteRelease

# Sums of counts stay well within 64 bits.
_LARGEST_SUM = 2**61
_ONE_SITE = (
    "A person is at one site only. Whoever has rows at k sites is protected with k times this "
    "epsilon."
)
_COUNTED_ONCE = (
    "No row is at two sites: it would count twice. All sites used the same model and the same "
    "meaning of a positive."
)
_PRIVATE_SIZES = (
    "The number of rows of each site is private, and shown with noise. At which site somebody is, "
    "is protected with twice this epsilon."
)
_POPULATION = (
    "Intervals of a population are for the one that these sites stand for, each in proportion to "
    "its rows."
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SitesCurve(PrivateCurve):
    """The curve of several sites together, from what each released with noise of its own.

    It is a :class:`PrivateCurve` and has all of its areas and intervals. `epsilon` is what one site
    spent, `scale` that of the noise of one site, `noises` the number of sites.

    Attributes
    ----------
    sites : tuple of str
        Names of the sites.
    rows_of_sites : tuple of int
        Public number of rows of each; estimates from noisy counts if it is private.
    """

    sites: tuple[str, ...] = ()
    rows_of_sites: tuple[int, ...] = ()

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is protected and from whom, and what the result takes for granted."""
        who = "rows" if self.n_persons is None else "persons"
        private = (
            f"The release of each site is private by itself, at epsilon={self.epsilon:g}: neither "
            "the centre nor other sites are trusted."
        )
        public = (
            f"The number of {who} of each site is public, so it is not protected at which site "
            "somebody is."
        )
        sizes = public if self.neighbours == REPLACE else _PRIVATE_SIZES
        return (private, _ONE_SITE, sizes, _COUNTED_ONCE, _POPULATION)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers of what may be published."""
        sites = [
            {"site": site, "n_rows": rows}
            for site, rows in zip(self.sites, self.rows_of_sites, strict=True)
        ]
        return super().to_dict() | {"sites": sites, "assumptions": list(self.assumptions)}

    def _mark(self) -> str:
        return f", {len(self.sites)} sites{super()._mark()}"


def combine(
    releases: Iterable[SiteRelease | str | os.PathLike[str]], *, kind: str = "pr"
) -> SitesCurve:
    """Add up the histograms that several sites released, into one curve.

    It looks at no row and costs nothing. The noises of the sites add up too: the counts of S sites
    have the noise of one release at ``epsilon / sqrt(S)``.

    Parameters
    ----------
    releases : iterable of SiteRelease or path
        One release of every site, or the files they are in. All have to follow the same plan.
    kind : {"pr", "roc"}
        Which curve; :meth:`PrivateCurve.to` turns one into the other.

    Returns
    -------
    SitesCurve
        Its ``assumptions`` say what is taken for granted.

    Raises
    ------
    InputError
        If a site or a release comes twice, plans differ, or a file is no release.

    Warns
    -----
    ReliabilityWarning
        As for :func:`pr_curve`.

    Examples
    --------
    >>> import numpy as np
    >>> from precall import privacy
    >>> plan = privacy.site_plan(epsilon=2.0, n_rows=40_000, n_sites=2)
    >>> y = np.arange(20_000) % 4 == 0
    >>> score = np.where(y, np.linspace(0.3, 1, 20_000), np.linspace(0, 0.9, 20_000))
    >>> released = [
    ...     privacy.site_release(y, score, plan=plan, site=site, budget=privacy.Budget(epsilon=2.0))
    ...     for site in ("north", "south")
    ... ]
    >>> curve = privacy.combine(released)
    >>> curve.n_rows, curve.sites
    (40000, ('north', 'south'))
    """
    kind = as_choice(kind, "kind", ("pr", "roc"))
    sites = _read(releases)
    plan = _one_plan(sites)
    _refuse_repetition(sites)
    positives = _added(site.noisy_positives for site in sites)
    negatives = _added(site.noisy_negatives for site in sites)
    rows = tuple(_rows(site) for site in sites)
    n_rows = sum(rows)
    if plan.neighbours != REPLACE:
        n_rows = estimated_rows(sum(positives.tolist()) + sum(negatives.tolist()))
    if n_rows > MOST_ROWS:
        raise InputError(f"sites are added up to at most {MOST_ROWS} rows, got {n_rows}.")
    persons = [site.n_persons for site in sites]
    curve = SitesCurve(
        kind=kind,
        edges=plan.cuts,
        noisy_positives=positives,
        noisy_negatives=negatives,
        epsilon=plan.epsilon,
        delta=0.0,
        mechanism="laplace",
        scale=plan.scale,
        n_rows=n_rows,
        seeded=any(site.seeded for site in sites),
        rows_per_person=plan.rows_per_person,
        n_persons=None if None in persons else sum(p for p in persons if p is not None),
        noises=len(sites),
        neighbours=plan.neighbours,
        sites=tuple(site.site for site in sites),
        rows_of_sites=rows,
    )
    warn_of(curve, stacklevel=3)
    return curve


def _read(releases: object) -> list[SiteRelease]:
    if isinstance(releases, (str, bytes, os.PathLike, Mapping)) or not isinstance(
        releases, Iterable
    ):
        raise InputError(
            "releases must be a list of SiteRelease or of the files they are in, got "
            f"{type(releases).__name__}."
        )
    sites = []
    for each in releases:
        if not isinstance(each, (SiteRelease, str, os.PathLike)):
            raise InputError(
                f"releases must hold SiteRelease or the paths of files, got {type(each).__name__}."
            )
        sites.append(each if isinstance(each, SiteRelease) else SiteRelease.load(each))
    if not 1 <= len(sites) <= MOST_SITES:
        raise InputError(f"releases must be from 1 to {MOST_SITES}, got {len(sites)}.")
    return sites


def _one_plan(sites: list[SiteRelease]) -> SitePlan:
    """The plan of all sites, or what it is that two of them do not share."""
    first = sites[0]
    for other in sites[1:]:
        for name in ("epsilon", "edges", "rows_per_person", "neighbours", "n_rows", "n_sites"):
            ours, theirs = getattr(first.plan, name), getattr(other.plan, name)
            if ours != theirs:
                values = "" if name == "edges" else f" ({_shown(ours)} and {_shown(theirs)})"
                raise InputError(
                    f"sites {first.site!r} and {other.site!r} follow different plans: their {name} "
                    f"differ{values}. Every site has to release with the same plan."
                )
    return first.plan


def _shown(setting: float | str) -> str:
    return setting if isinstance(setting, str) else f"{setting:g}"


def _rows(site: SiteRelease) -> int:
    """Rows of a site, or what its noisy counts say of them."""
    if site.n_rows is not None:
        return site.n_rows
    return max(sum(site.noisy_positives) + sum(site.noisy_negatives), 0)


def _refuse_repetition(sites: list[SiteRelease]) -> None:
    names: set[str] = set()
    numbers: dict[str, str] = {}
    for site in sites:
        if site.release_id in numbers:
            raise InputError(
                f"the release of site {site.site!r} is that of {numbers[site.release_id]!r}: its "
                "rows would count twice. Leave one of them out."
            )
        if site.site in names:
            raise InputError(
                f"site {site.site!r} comes twice: its rows would count twice. Leave one of its "
                "releases out, or give two sites two names."
            )
        names.add(site.site)
        numbers[site.release_id] = site.site


def _added(columns: Iterable[tuple[int, ...]]) -> IntArray:
    sums = [sum(counts) for counts in zip(*columns, strict=True)]
    if any(abs(value) > _LARGEST_SUM for value in sums):
        raise InputError(
            "the counts of these sites are too large to be added up: epsilon is so small that "
            "they hold nothing but noise."
        )
    return np.array(sums, dtype=np.int64)
