"""What several sites agree upon before any of them looks at its rows."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._notebook import Rich
from .._validation import as_count
from ..exceptions import InputError
from ._ledger import as_epsilon
from ._persons import MOST_ROWS, as_rows_per_person, row_share
from ._rows import FloatArray
from .edges import as_edges, bin_count, probability_edges
from .mechanisms import laplace_scale
from .neighbours import MOVED_COUNTS, REPLACE, as_neighbours
from .site_files import Fields, plain_edges, read_document, write_document

_FORMAT = "precall site plan 1"
_WHAT = "a plan for sites"
#: More sites than this, or more edges, are no plan.
MOST_SITES = 10_000
MOST_EDGES = 4097


@dataclass(frozen=True, kw_only=True, repr=False)
class SitePlan(Rich):
    """Public settings that every site uses, made by :func:`site_plan`.

    Attributes
    ----------
    edges : tuple of float
        Increasing public numbers between which scores are counted.
    epsilon : float
        What the release of every site costs its rows.
    rows_per_person : int
        Rows of one person at one site that are protected together.
    neighbours : str
        "replace" if the number of rows of each site is public, "add_remove" if it is private.
    n_rows, n_sites : int
        Rows of all sites together and number of sites, as far as they were foreseen. Nothing
        depends on them but the number of bins and the expected error.
    """

    edges: tuple[float, ...]
    epsilon: float
    rows_per_person: int
    neighbours: str
    n_rows: int
    n_sites: int

    @property
    def scale(self) -> float:
        """Scale of the Laplace noise in each count of one site."""
        share = row_share(self.epsilon, self.rows_per_person)
        return laplace_scale(MOVED_COUNTS[self.neighbours], share)

    @property
    def cuts(self) -> FloatArray:
        """The edges as an array."""
        return np.array(self.edges)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as :meth:`save` writes them."""
        return {
            "format": _FORMAT,
            "epsilon": self.epsilon,
            "rows_per_person": self.rows_per_person,
            "neighbours": self.neighbours,
            "n_rows": self.n_rows,
            "n_sites": self.n_sites,
            "edges": plain_edges(self.edges),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> SitePlan:
        """Rebuild a plan from :meth:`to_dict`, which somebody else may have written."""
        names = ("epsilon", "rows_per_person", "neighbours", "n_rows", "n_sites", "edges")
        fields = Fields(plain, _WHAT, _FORMAT, names)
        return cls(
            edges=fields.edges("edges", most=MOST_EDGES),
            epsilon=fields.number("epsilon"),
            rows_per_person=fields.whole("rows_per_person", least=1, most=MOST_ROWS),
            neighbours=fields.choice("neighbours", tuple(MOVED_COUNTS)),
            n_rows=fields.whole("n_rows", least=1, most=MOST_ROWS),
            n_sites=fields.whole("n_sites", least=1, most=MOST_SITES),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan to a JSON file, for all sites."""
        write_document(path, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SitePlan:
        """Read a plan that :meth:`save` wrote."""
        return read_document(path, _WHAT, cls.from_dict)

    def __repr__(self) -> str:
        """Return one line."""
        several = f", rows_per_person={self.rows_per_person}" if self.rows_per_person > 1 else ""
        several += "" if self.neighbours == REPLACE else f", neighbours={self.neighbours!r}"
        return f"SitePlan({len(self.edges) - 1} bins, epsilon={self.epsilon:.6g}{several})"


def site_plan(
    *,
    epsilon: float,
    n_rows: int,
    n_sites: int,
    edges: object = None,
    rows_per_person: int = 1,
    neighbours: str = REPLACE,
) -> SitePlan:
    """Choose what several sites have to agree upon, from public facts.

    Parameters
    ----------
    epsilon : float
        What the release of every site will cost its rows.
    n_rows : int
        About how many rows all sites have together.
    n_sites : int
        About how many sites there are.
    edges : array-like, optional
        Increasing public numbers, as for :func:`pr_curve`. If left out, the scores are taken to be
        probabilities and cut by :func:`probability_edges`, into :func:`bin_count` bins with
        ``epsilon / sqrt(n_sites)`` in place of epsilon: the noise of all sites together is that
        of one release at this price.
    rows_per_person : int, default 1
        Rows of one person at one site that are protected together, as for
        :func:`average_precision`.
    neighbours : {"replace", "add_remove"}
        "add_remove" keeps the number of rows of every site private, as for :func:`pr_curve`. Who is
        at which site is protected then too, with twice this epsilon.

    Returns
    -------
    SitePlan

    Examples
    --------
    >>> from precall import privacy
    >>> privacy.site_plan(epsilon=1.0, n_rows=60_000, n_sites=4)
    SitePlan(22 bins, epsilon=1)
    """
    epsilon = as_epsilon(epsilon)
    rows_per_person = as_rows_per_person(rows_per_person)
    neighbours = as_neighbours(neighbours)
    n_sites = as_count(n_sites, "n_sites", minimum=1)
    n_rows = as_count(n_rows, "n_rows", minimum=1)
    if n_sites > MOST_SITES:
        raise InputError(f"n_sites must be at most {MOST_SITES}, got {n_sites}.")
    if n_rows > MOST_ROWS:
        raise InputError(f"n_rows must be at most {MOST_ROWS}, got {n_rows}.")
    cuts = sites_edges(edges, n_rows, epsilon / rows_per_person, n_sites)
    if cuts.size > MOST_EDGES:
        raise InputError(f"edges must be at most {MOST_EDGES}, got {cuts.size}.")
    plan = SitePlan(
        edges=tuple(cuts.tolist()),
        epsilon=epsilon,
        rows_per_person=rows_per_person,
        neighbours=neighbours,
        n_rows=n_rows,
        n_sites=n_sites,
    )
    _ = plan.scale  # an epsilon without a finite scale is refused here, not at a site
    return plan


def sites_edges(edges: object, n_rows: int, epsilon: float, n_sites: int) -> FloatArray:
    """Edges for a sum over sites: those given, or those of the rule for probabilities."""
    if edges is not None:
        return as_edges(edges, n_rows, epsilon)
    return probability_edges(bin_count(n_rows, epsilon=epsilon / math.sqrt(n_sites)))
