"""What a released AUROC gives away about one row (Boyd 2014, section 5.2).

The adversary knows every row but one and the AUROC of all rows. He puts the missing row at every
place in the ranking, once as a positive and once as a negative, computes the AUROC, and guesses the
class that comes closest to what was released; between classes that come equally close, the one
with more such places. Nothing here is a release: it is for the owner of the data to look at.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import (
    as_count,
    as_generator,
    as_number,
    as_positive_mask,
    as_scores,
    reject_missing,
    require_same_length,
)
from ..exceptions import InputError, PrecallWarning
from ._ledger import as_epsilon
from .budget import Budget
from .metrics import auroc as private_auroc

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
Sampler = Callable[[int, np.random.Generator], tuple[Any, Any]]
Kind = tuple[int | None, float | None]


@dataclass(frozen=True, kw_only=True, repr=False)
class Exposure:
    """How often the adversary names the class of a missing row.

    Attributes
    ----------
    success : float
        Share of right guesses; a toss-up counts one half.
    standard_error : float
        Of that share, over the rows that were tried.
    n_targets : int
        Rows that were tried.
    n_rows : int
        Rows in the data.
    digits : int or None
        Digits after the point to which the AUROC was known; None for all of them.
    epsilon : float or None
        Cost of the private release that was attacked instead, if any.
    bound : float
        What no adversary can exceed in the long run, ``exp(epsilon) / (1 + exp(epsilon))``, if the
        class of the target was tossed and the release was private; 1 otherwise.
    """

    success: float
    standard_error: float
    n_targets: int
    n_rows: int
    digits: int | None
    epsilon: float | None
    bound: float

    def __repr__(self) -> str:
        """Return one line."""
        if self.epsilon is not None:
            known = f"epsilon={self.epsilon:g}, at most {self.bound:.3f} is possible"
        else:
            known = "all digits" if self.digits is None else f"{self.digits} digits"
        return (
            f"Exposure(success={self.success:.3f} ± {self.standard_error:.2g}, {known}, "
            f"{self.n_targets} of {self.n_rows} rows tried)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary."""
        return asdict(self)


def guess_label(
    y_true: object, y_score: object, released: float, *, digits: int | None = None
) -> float:
    """Guess the class of the one row that is missing.

    Parameters
    ----------
    y_true, y_score : array-like
        The rows that the adversary knows: all but one.
    released : float
        The AUROC of all rows, as released.
    digits : int, optional
        Digits after the point to which it was rounded. The adversary rounds in the same way
        before comparing; leave out for an AUROC that was not rounded.

    Returns
    -------
    float
        1.0 for the positive class, 0.0 for the negative, 0.5 if nothing speaks for either.

    Examples
    --------
    >>> guess_label([1, 0, 0], [2, 3, 1], released=0.75)
    1.0
    """
    positive, scores = _known(y_true, y_score)
    return _guess(scores[positive], scores[~positive], as_number(released, "released"), digits)


def exposure(
    y_true: object,
    y_score: object,
    *,
    digits: int | None = 6,
    epsilon: float | None = None,
    n_targets: int | None = None,
    toss: bool = True,
    rng: object = None,
) -> Exposure:
    """Attack your own data: leave out each row in turn and see how often its class is found.

    Parameters
    ----------
    y_true, y_score : array-like
        All rows, with at least two of each class.
    digits : int or None, default 6
        Digits after the point to which the AUROC is given; None for all.
    epsilon : float, optional
        Attack a private release of this cost instead of a rounded AUROC.
    n_targets : int, optional
        Number of rows to try, chosen at random; all if left out.
    toss : bool, default True
        Toss a coin for each target: it stays as it is, or is replaced by a row of the other class
        with a score of that class. So nothing but the release tells which. If False, targets stay
        as they are, as in the dissertation; then whoever knows that the classes are, say, equally
        large finds the class by counting, and no privacy of the release can hide that.
    rng : optional
        Seed or generator, for the choice of rows, the coin and the noise.

    Returns
    -------
    Exposure

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> score = rng.normal(size=60) + y
    >>> exposure(y, score, rng=0).success > 0.9
    True
    >>> exposure(y, score, epsilon=0.5, rng=0).success < 0.75
    True
    """
    positive, scores = _known(y_true, y_score)
    if min(np.count_nonzero(positive), np.count_nonzero(~positive)) < 2:
        raise InputError("y_true must have at least two rows of each class for an attack.")
    generator = as_generator(rng)
    limit = scores.size if n_targets is None else as_count(n_targets, "n_targets", minimum=1)
    targets = generator.permutation(scores.size)[:limit]
    kind = (digits, None) if epsilon is None else (None, as_epsilon(epsilon))
    right = np.array(
        [_trial(positive, scores, int(target), [kind], toss, generator)[0] for target in targets]
    )
    return _exposure(right, scores.size, *kind, toss=toss)


def reidentification_curve(
    sample: Sampler,
    *,
    sizes: Iterable[int],
    digits: Iterable[int | None] = (2, 3, 4, 6, None),
    epsilons: Iterable[float] = (),
    n_trials: int = 200,
    toss: bool = False,
    rng: object = None,
) -> list[Exposure]:
    """Success of the attack over the number of rows: figure 5.1 of Boyd (2014).

    Parameters
    ----------
    sample : callable
        ``sample(n_rows, generator)`` returns labels and scores of a fresh data set.
    sizes : iterable of int
        Numbers of rows.
    digits : iterable
        Digits after the point, None for all.
    epsilons : iterable of float
        Costs of private releases to attack as well.
    n_trials : int, default 200
        Data sets for each size; in each, one row is the target.
    toss : bool, default False
        Toss for the class of the target; see :func:`exposure`. The figure does not.
    rng : optional
        Seed or generator.

    Returns
    -------
    list of Exposure
        For each size, one for each of `digits`, then one for each of `epsilons`.

    Examples
    --------
    >>> def sample(n_rows, generator):
    ...     y = np.arange(n_rows) % 2
    ...     return y, generator.normal(size=n_rows) + y
    >>> curve = reidentification_curve(sample, sizes=[20], digits=[1, 6], n_trials=30, rng=0)
    >>> curve[0].success < curve[1].success
    True
    """
    generator = as_generator(rng)
    n_trials = as_count(n_trials, "n_trials", minimum=2)
    kinds: list[Kind] = [(count, None) for count in digits]
    kinds += [(None, as_epsilon(epsilon)) for epsilon in epsilons]
    curve = []
    for size in sizes:
        right = np.empty((n_trials, len(kinds)))
        for trial in range(n_trials):
            positive, scores = _known(*sample(size, generator))
            target = int(generator.integers(scores.size))
            right[trial] = _trial(positive, scores, target, kinds, toss, generator)
        curve += [
            _exposure(right[:, index], size, *kind, toss=toss) for index, kind in enumerate(kinds)
        ]
    return curve


def success_bound(epsilon: float) -> float:
    """Largest share of right guesses of any adversary against a release of this cost.

    For two classes that are equally likely beforehand: ``exp(epsilon) / (1 + exp(epsilon))``.

    Examples
    --------
    >>> round(success_bound(1.0), 3)
    0.731
    """
    return 1.0 / (1.0 + math.exp(-as_epsilon(epsilon)))


def _trial(
    positive: Array,
    scores: Array,
    target: int,
    kinds: list[Kind],
    toss: bool,
    generator: np.random.Generator,
) -> list[float]:
    """Attack one row, once for each kind of release: 1 if right, 0 if wrong, 1/2 for a toss-up."""
    if toss and generator.random() < 0.5:
        other = scores[positive != positive[target]]
        positive, scores = positive.copy(), scores.copy()
        positive[target] = not positive[target]
        scores[target] = generator.choice(other)
    known, label = np.delete(scores, target), np.delete(positive, target)
    right = []
    for digits, epsilon in kinds:
        released = _release(positive, scores, digits, epsilon, generator)
        guess = _guess(known[label], known[~label], released, digits)
        right.append(guess if positive[target] else 1.0 - guess)
    return right


def _release(
    positive: Array,
    scores: Array,
    digits: int | None,
    epsilon: float | None,
    generator: np.random.Generator,
) -> float:
    if epsilon is None:
        exact = _auroc(scores[positive], scores[~positive])
        return exact if digits is None else round(exact, digits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecallWarning)
        budget = Budget(epsilon=epsilon)
        return private_auroc(positive, scores, epsilon=epsilon, budget=budget, rng=generator).value


def _guess(ours: Array, theirs: Array, released: float, digits: int | None) -> float:
    """Probability with which the adversary says "positive": 1, 0, or 1/2 for a toss-up."""
    levels, place = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
    at_ours = np.bincount(place[: ours.size], minlength=levels.size)
    at_theirs = np.bincount(place[ours.size :], minlength=levels.size)
    # Places between the levels and beyond them, then places tied with a level. Wins count twice.
    under = np.concatenate([[0], np.cumsum(at_theirs)])
    over = ours.size - np.concatenate([[0], np.cumsum(at_ours)])
    wins = int(at_ours @ (under[:-1] + under[1:]))
    as_positive = wins + np.concatenate([2 * under, under[:-1] + under[1:]])
    as_negative = wins + np.concatenate([2 * over, over[:-1] + over[1:]])
    candidates = (
        as_positive / (2 * (ours.size + 1) * theirs.size),
        as_negative / (2 * ours.size * (theirs.size + 1)),
    )
    distances = []
    for values in candidates:
        compared = (
            values if digits is None else np.array([round(v, digits) for v in values.tolist()])
        )
        distances.append(np.abs(compared - released))
    closest = min(float(distance.min()) for distance in distances)
    # Doubles that stand for the same rational may differ in their last bit.
    votes = [np.count_nonzero(distance <= closest + 1e-15) for distance in distances]
    return 0.5 if votes[0] == votes[1] else float(votes[0] > votes[1])


def _auroc(ours: Array, theirs: Array) -> float:
    ordered = np.sort(theirs)
    twice = (
        np.searchsorted(ordered, ours, "left").sum() + np.searchsorted(ordered, ours, "right").sum()
    )
    return int(twice) / (2 * ours.size * theirs.size)


def _known(y_true: object, y_score: object) -> tuple[Array, Array]:
    positive, scores = as_positive_mask(y_true, 1), as_scores(y_score)
    require_same_length(y_true=positive, y_score=scores)
    reject_missing(scores, "y_score")
    if not (positive.any() and not positive.all()):
        raise InputError("y_true must have rows of both classes: without, there is no AUROC.")
    return positive, scores


def _exposure(
    right: FloatArray, n_rows: int, digits: int | None, epsilon: float | None, *, toss: bool
) -> Exposure:
    share = float(right.mean())
    # One success and one failure added, so that the error is never 0.
    smoothed = (right.sum() + 1.0) / (right.size + 2.0)
    return Exposure(
        success=share,
        standard_error=float(math.sqrt(smoothed * (1.0 - smoothed) / right.size)),
        n_targets=right.size,
        n_rows=n_rows,
        digits=digits,
        epsilon=epsilon,
        bound=success_bound(epsilon) if toss and epsilon is not None else 1.0,
    )
