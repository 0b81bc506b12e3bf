"""What released numbers give away about one row (after Boyd 2014, section 5.2).

The adversary knows every row but one. He puts the missing row at every place, once as a positive
and once as a negative, and computes what would have been released.

- Of rounded numbers he believes the class that comes closest; between classes that come equally
  close, the one with more such places. This is the attack of the dissertation, on the AUROC.
- Of private releases he knows the noise and all that was published of them, so he computes how
  likely it is under every candidate. He takes the score of a missing row of either class to be
  one of the scores of that class that he knows, and believes the class that is the likelier.

Nothing here is a release: it is for the owner of the data to look at.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._notebook import Rich
from .._validation import (
    as_choice,
    as_count,
    as_generator,
    as_number,
    as_positive_mask,
    as_scores,
    reject_missing,
    require_same_length,
)
from ..exceptions import InputError, PrecallWarning
from ._adversary import Release, closest, likelier, value_of
from ._candidates import STATISTICS, Known
from ._ledger import as_epsilon, exact, rounded_down
from .budget import Budget
from .private_areas import auroc, average_precision
from .private_confusion import confusion

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
Sampler = Callable[[int, np.random.Generator], tuple[Any, Any]]

# Numbers that can be attacked; of a confusion matrix only the private one needs attacking.
METRICS = tuple(STATISTICS)


@dataclass(frozen=True, kw_only=True, repr=False)
class Exposure(Rich):
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
    metrics : tuple of str
        What was released.
    digits : int or None
        Digits after the point to which it was known; None for all of them.
    epsilon : float or None
        Cost of the private releases that were attacked instead, all together, if any.
    bound : float
        What no adversary can exceed in the long run, ``exp(epsilon) / (1 + exp(epsilon))``, if the
        class of the target was tossed and the release was private; 1 otherwise.
    """

    success: float
    standard_error: float
    n_targets: int
    n_rows: int
    metrics: tuple[str, ...]
    digits: int | None
    epsilon: float | None
    bound: float

    def __repr__(self) -> str:
        """Return one line."""
        if self.epsilon is not None:
            bound = f"{self.bound:.3f}" if self.bound < 0.9995 else f"1 - {1.0 - self.bound:.1g}"
            known = f"epsilon={self.epsilon:g}, at most {bound} is possible"
        else:
            known = "all digits" if self.digits is None else f"{self.digits} digits"
        return (
            f"Exposure(success={self.success:.3f} ± {self.standard_error:.2g}, "
            f"{' and '.join(self.metrics)}, {known}, {self.n_targets} of {self.n_rows} rows tried)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary."""
        return asdict(self)


def guess_label(
    y_true: object,
    y_score: object,
    released: float | Release | Sequence[Release],
    *,
    digits: int | None = None,
) -> float:
    """Guess the class of the one row that is missing.

    Parameters
    ----------
    y_true, y_score : array-like
        The rows that the adversary knows: all but one.
    released : float, or a private release, or several
        The AUROC of all rows; or what :func:`precall.privacy.auroc`, ``average_precision`` with the
        default mechanism and ``confusion`` returned for them.
    digits : int, optional
        Digits after the point to which an AUROC was rounded. The adversary rounds in the same way
        before comparing; leave out for one that was not rounded.

    Returns
    -------
    float
        1.0 for the positive class, 0.0 for the negative, 0.5 if nothing speaks for either.

    Examples
    --------
    >>> guess_label([1, 0, 0], [2, 3, 1], released=0.75)
    1.0
    """
    known = Known.of(*_known(y_true, y_score))
    private: Sequence[Any] = released if isinstance(released, (list, tuple)) else (released,)
    if all(isinstance(one, Release) for one in private):
        return likelier(known, private)
    return closest(known, {"auroc": as_number(released, "released")}, digits)


def exposure(
    y_true: object,
    y_score: object,
    *,
    metrics: Sequence[str] = ("auroc",),
    threshold: float | None = None,
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
    metrics : sequence of {"auroc", "average_precision", "confusion"}, default ("auroc",)
        What is released; several are attacked together. A confusion matrix only with `epsilon`.
    threshold : float, optional
        The public threshold of the confusion matrix.
    digits : int or None, default 6
        Digits after the point to which each number is given; None for all.
    epsilon : float, optional
        Attack private releases of this cost instead of rounded numbers; several share it evenly.
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
    >>> 0.5 < exposure(y, score, epsilon=5.0, rng=0).success < success_bound(5.0)
    True
    """
    positive, scores = _known(y_true, y_score)
    if min(np.count_nonzero(positive), np.count_nonzero(~positive)) < 2:
        raise InputError("y_true must have at least two rows of each class for an attack.")
    generator = as_generator(rng)
    limit = scores.size if n_targets is None else as_count(n_targets, "n_targets", minimum=1)
    targets = generator.permutation(scores.size)[:limit]
    kind = _ReleaseKind.of(metrics, digits, epsilon, threshold)
    right = np.array(
        [_trial(positive, scores, int(target), [kind], toss, generator)[0] for target in targets]
    )
    return _exposure(right, scores.size, kind, toss=toss)


def reidentification_curve(
    sample: Sampler,
    *,
    sizes: Iterable[int],
    digits: Iterable[int | None] = (2, 3, 4, 6, None),
    epsilons: Iterable[float] = (),
    metrics: Sequence[str] = ("auroc",),
    threshold: float | None = None,
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
    metrics, threshold : optional
        What is released; see :func:`exposure`.
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
    kinds = [_ReleaseKind.of(metrics, count, None, threshold) for count in digits]
    kinds += [_ReleaseKind.of(metrics, None, epsilon, threshold) for epsilon in epsilons]
    curve = []
    for size in sizes:
        right = np.empty((n_trials, len(kinds)))
        for trial in range(n_trials):
            positive, scores = _known(*sample(size, generator))
            target = int(generator.integers(scores.size))
            right[trial] = _trial(positive, scores, target, kinds, toss, generator)
        curve += [
            _exposure(right[:, index], size, kind, toss=toss) for index, kind in enumerate(kinds)
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


@dataclass(frozen=True)
class _ReleaseKind:
    """What is released, and how: rounded to some digits, or privately."""

    metrics: tuple[str, ...]
    digits: int | None
    epsilon: float | None
    threshold: float

    @classmethod
    def of(
        cls,
        metrics: Sequence[str],
        digits: int | None,
        epsilon: float | None,
        threshold: float | None,
    ) -> _ReleaseKind:
        chosen = tuple(dict.fromkeys(as_choice(name, "metrics", METRICS) for name in metrics))
        if not chosen:
            raise InputError(f"metrics must name at least one of {', '.join(METRICS)}.")
        if "confusion" in chosen and (epsilon is None or threshold is None):
            raise InputError(
                "metrics='confusion' needs epsilon= and threshold=: without noise, a confusion "
                "matrix gives the class of the missing row away by counting."
            )
        if epsilon is not None:
            digits, epsilon = None, as_epsilon(epsilon)
        return cls(chosen, digits, epsilon, math.nan if threshold is None else threshold)


def _trial(
    positive: Array,
    scores: Array,
    target: int,
    kinds: list[_ReleaseKind],
    toss: bool,
    generator: np.random.Generator,
) -> list[float]:
    """Attack one row, once for each kind of release: 1 if right, 0 if wrong, 1/2 for a toss-up."""
    if toss and generator.random() < 0.5:
        other = scores[positive != positive[target]]
        positive, scores = positive.copy(), scores.copy()
        positive[target] = not positive[target]
        scores[target] = generator.choice(other)
    known = Known.of(np.delete(positive, target), np.delete(scores, target))
    everything = Known.of(positive, scores)
    right = []
    for kind in kinds:
        if kind.epsilon is None:
            exact_values = {name: value_of(everything, name) for name in kind.metrics}
            guess = closest(known, exact_values, kind.digits)
        else:
            guess = likelier(known, _release(positive, scores, kind, generator))
        right.append(guess if positive[target] else 1.0 - guess)
    return right


def _release(
    positive: Array, scores: Array, kind: _ReleaseKind, generator: np.random.Generator
) -> list[Release]:
    epsilon = kind.epsilon or math.nan
    budget = Budget(epsilon=epsilon)
    share = rounded_down(exact(epsilon) / len(kind.metrics))
    options: dict[str, Any] = {"epsilon": share, "budget": budget, "rng": generator}
    releases: dict[str, Callable[[], Release]] = {
        "auroc": lambda: auroc(positive, scores, **options),
        "average_precision": lambda: average_precision(positive, scores, **options),
        "confusion": lambda: confusion(positive, scores, threshold=kind.threshold, **options),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecallWarning)
        return [releases[name]() for name in kind.metrics]


def _known(y_true: object, y_score: object) -> tuple[Array, Array]:
    positive, scores = as_positive_mask(y_true, 1), as_scores(y_score)
    require_same_length(y_true=positive, y_score=scores)
    reject_missing(scores, "y_score")
    if not (positive.any() and not positive.all()):
        raise InputError("y_true must have rows of both classes: one class alone has no AUROC.")
    return positive, scores


def _exposure(right: FloatArray, n_rows: int, kind: _ReleaseKind, *, toss: bool) -> Exposure:
    share = float(right.mean())
    # One success and one failure added, so that the error is never 0.
    smoothed = (right.sum() + 1.0) / (right.size + 2.0)
    return Exposure(
        success=share,
        standard_error=float(math.sqrt(smoothed * (1.0 - smoothed) / right.size)),
        n_targets=right.size,
        n_rows=n_rows,
        metrics=kind.metrics,
        digits=kind.digits,
        epsilon=kind.epsilon,
        bound=success_bound(kind.epsilon) if toss and kind.epsilon is not None else 1.0,
    )
