"""How the labelled rows were chosen: strata of rows, and how likely each was to be drawn.

A stratum is drawn from at random, each of its rows as likely as the others. Rows that are drawn by
themselves with one probability (Poisson sampling) are such a stratum too, once their number is
known. Where the probabilities differ from row to row, rows of about the same one are a stratum,
and weights of ``1 / probability`` take care of the rest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._words import plural
from ..exceptions import InputError
from .labels import KnownLabels, missing_in, shown_rows

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# So many different probabilities are taken as they are; more of them are put together where they
# differ by less than a quarter.
_DISTINCT, _RATIO = 64, 1.25


class Design(NamedTuple):
    """The stratum of every row, from 0, and the weight of every labelled row inside its own."""

    stratum: IntArray
    names: tuple[Any, ...]
    weight: FloatArray


def from_strata(strata: object, known: KnownLabels, size: int) -> Design:
    """Rows of one stratum were drawn at random, so many of each."""
    return in_strata(*coded(strata, size), known)


def coded(strata: object, size: int) -> tuple[IntArray, tuple[Any, ...]]:
    """Return the number of every row's stratum, and the names of the strata."""
    values = _validation.as_names(strata, "strata")
    _validation.reject_missing(values, "strata")
    if values.size != size:
        raise InputError(
            f"strata must have one value for each of the {size:,} scores, got {values.size:,}."
        )
    try:
        names, codes = np.unique(values, return_inverse=True)
    except TypeError:
        raise InputError("strata must hold values of one kind: numbers, or words.") from None
    return codes.reshape(-1), tuple(names.tolist())


def in_strata(codes: Array, names: tuple[Any, ...], known: KnownLabels) -> Design:
    """Return the design of strata that all have labels."""
    labelled = np.bincount(codes[known.rows], minlength=len(names))
    empty = np.flatnonzero(labelled == 0)
    if empty.size:
        name = names[int(empty[0])]
        rows = int(np.count_nonzero(codes == empty[0]))
        raise InputError(
            f"{plural(int(empty.size), 'stratum', 'strata')} of {len(names):,} "
            f"{'has' if empty.size == 1 else 'have'} no label, the first is {name!r} with "
            f"{plural(rows, 'row')}: label at least one row of each, or put strata together."
        )
    return Design(codes.astype(np.int64, copy=False), names, np.ones(known.rows.size))


def from_inclusion(inclusion: object, known: KnownLabels, size: int) -> Design:
    """Every row was drawn with a known probability: one for all, or one per row."""
    if np.ndim(inclusion) == 0 and not isinstance(inclusion, (str, bytes)):  # type: ignore[arg-type]
        share = _validation.as_number(inclusion, "inclusion")
        values = np.full(size, share)
    else:
        values = _validation.as_numbers(inclusion, "inclusion")
        if values.ndim != 1 or values.size != size:
            raise InputError(
                f"inclusion must be one probability, or one for each of the {size:,} scores, got "
                f"{values.size:,} values."
            )
    _require_probabilities(values, known)
    _require_certain(values, known)
    _require_likely(values, known)
    groups = _groups(values)
    labelled = np.bincount(groups[known.rows], minlength=int(groups.max()) + 1)
    # A group that no label came from joins the next one with a smaller probability.
    owner = np.maximum.accumulate(np.where(labelled > 0, np.arange(labelled.size), -1))
    first = int(np.argmax(labelled > 0))
    owner = np.where(owner < 0, first, owner)
    names, codes = np.unique(owner, return_inverse=True)
    return Design(codes[groups], tuple(names.tolist()), 1.0 / values[known.rows])


def _require_probabilities(values: FloatArray, known: KnownLabels) -> None:
    missing = np.flatnonzero(missing_in(values))
    if missing.size:
        raise InputError(
            f"inclusion is missing in {shown_rows(missing)}: every row of the population needs "
            "its probability of being labelled, also those that were not drawn."
        )
    outside = np.flatnonzero((values < 0.0) | (values > 1.0))
    if outside.size:
        raise InputError(
            f"inclusion must be above 0 and at most 1, got {values[outside[0]]:g} in "
            f"{shown_rows(outside)}."
        )
    impossible = known.rows[values[known.rows] == 0.0]
    if impossible.size:
        raise InputError(
            f"inclusion is 0 in {shown_rows(impossible)} that has a label: a row that was drawn "
            "had a probability above 0."
        )
    unreachable = np.flatnonzero(values == 0.0)
    if unreachable.size:
        raise InputError(
            f"inclusion is 0 in {shown_rows(unreachable)}, so that nothing can be said about "
            "them: leave those rows out of the population, or draw some of them."
        )


def _require_certain(values: FloatArray, known: KnownLabels) -> None:
    absent = np.flatnonzero((values == 1.0) & ~known.mask(values.size))
    if absent.size:
        raise InputError(
            f"inclusion is 1 in {shown_rows(absent)} without a label: a row that is certain to be "
            "drawn needs one."
        )


def _require_likely(values: FloatArray, known: KnownLabels) -> None:
    """Refuse numbers of labels that such probabilities do not give: more than 6 errors away."""
    expected, found = float(values.sum()), known.rows.size
    error = float(np.sqrt(np.sum(values * (1.0 - values))))
    if abs(found - expected) > 6.0 * error + 1.0:
        raise InputError(
            f"inclusion stands for about {expected:,.0f} labels in {values.size:,} rows, and "
            f"{found:,} have one: give all rows of the population, labelled or not, and the labels "
            "of all rows that were drawn."
        )


def _groups(values: FloatArray) -> IntArray:
    """Groups of equal probability, the highest first; of similar ones where they are many."""
    distinct = np.unique(values)
    if distinct.size > _DISTINCT:
        steps = np.ceil(-np.log(values) / np.log(_RATIO))
        values, distinct = -steps, np.unique(-steps)
    found: IntArray = (distinct.size - 1 - np.searchsorted(distinct, values)).astype(np.int64)
    return found


class Runs(NamedTuple):
    """Labelled rows from the highest score down: their order, the run of each, rows per run."""

    order: IntArray
    run: IntArray
    sizes: IntArray


def runs_of_shares(labelled: Array, inclusion: FloatArray) -> Runs:
    """Return the strata that labelled rows come from, by their scores and probabilities alone.

    Where strata are ranges of the score, a run of n labelled rows of equal probability p, from the
    highest score down, comes from ``n / p`` rows: together they have to be the population.
    """
    outside = np.flatnonzero((inclusion <= 0.0) | (inclusion > 1.0))
    if outside.size:
        raise InputError(
            f"inclusion must be above 0 and at most 1, got {inclusion[outside[0]]:g} for a row "
            f"with a label ({outside.size:,} such): a row that was drawn had a probability above 0."
        )
    order = np.argsort(labelled, kind="stable")[::-1]
    shares = inclusion[order]
    fresh = np.append(True, ~np.isclose(shares[1:], shares[:-1], rtol=1e-6, atol=0.0))
    run = np.cumsum(fresh) - 1
    sizes = np.rint(np.bincount(run) / shares[np.flatnonzero(fresh)]).astype(np.int64)
    return Runs(order, run, sizes)


def strata_from_shares(scores: Array, rows: IntArray, inclusion: FloatArray) -> IntArray:
    """Return the strata of a population from :func:`runs_of_shares`."""
    found = runs_of_shares(scores[rows], inclusion)
    above = scores.size - np.searchsorted(np.sort(scores), scores, side="right")
    stratum = np.searchsorted(np.cumsum(found.sizes), above, side="right")
    if found.sizes.sum() != scores.size or not np.array_equal(
        stratum[rows[found.order]], found.run
    ):
        raise not_a_population(found, scores.size)
    return stratum


def not_a_population(runs: Runs, size: int) -> InputError:
    """Say that labels and probabilities do not stand for a population."""
    return InputError(
        f"the labels and their inclusion stand for {int(runs.sizes.sum()):,} rows in "
        f"{plural(int(runs.sizes.size), 'range', 'ranges')} of the score, and the population has "
        f"{size:,}: give a population that has the column of inclusion too."
    )
