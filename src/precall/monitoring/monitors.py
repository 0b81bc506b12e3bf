"""Monitors: whether the precision or the recall that was promised is still there."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .monitor import Monitor

Mask = npt.NDArray[np.bool_]


class PrecisionMonitor(Monitor):
    """Watch the precision at a fixed threshold while labels arrive, and look as often as you like.

    Feed it with the decisions that selected (``score >= threshold``) and with their labels.
    :attr:`interval` covers the precision at all times at once, and :attr:`alarm` goes on when its
    upper limit falls under the target: if the precision is at the target or above it, whatever it
    does there, that ever happens with probability at most ``1 - confidence_level``.

    Parameters
    ----------
    target : float
        The precision that was promised, strictly between 0 and 1.
    confidence_level : float, default 0.95
    delay : {"any", "independent"}
        Labels that come late: ``any`` counts the longest run of decisions, from the first on, that
        all have their labels, because late labels may be of another kind (fraud is reported
        after weeks, everything else never). ``independent`` declares that the delay does not
        depend on the label, and counts every label when it arrives.
    restart_every : int, optional
        A long good past hides a drop. With this, a new sequence begins after every so many
        decisions, and the alarm goes on when any of them excludes the target; the i-th has the
        error ``alpha * 6 / (pi i)**2``, so all together have alpha. The interval stays that of all
        decisions.
    pos_label
        The label of the positive class.

    Notes
    -----
    The interval: Robbins' beta-binomial mixture, see :mod:`precall.monitoring.sequences`.

    Examples
    --------
    >>> import precall as pr
    >>> monitor = pr.monitoring.PrecisionMonitor(target=0.5)
    >>> monitor.update([1, 0, 0, 1] * 25)
    False
    >>> monitor.update([0] * 40)
    True
    >>> monitor.alarm_at, round(monitor.interval.high, 3)
    (136, 0.486)

    Labels that come late, and in any order: decisions are registered when they are made.

    >>> monitor = pr.monitoring.PrecisionMonitor(target=0.5)
    >>> monitor.register(["a", "b", "c"])
    >>> monitor.update([1, 1], id=["c", "a"])
    False
    >>> monitor.trials, monitor.pending
    (1, 2)
    """

    watches = "precision"
    trial = "decision"

    @staticmethod
    def may_count(selected: Mask) -> Mask:
        """Return what was selected."""
        return selected

    @staticmethod
    def is_trial(selected: Mask, labels: Mask) -> Mask:
        """Return what was selected."""
        return selected

    @staticmethod
    def went_well(selected: Mask, labels: Mask) -> Mask:
        """Return the labels."""
        return labels


class RecallMonitor(Monitor):
    """Watch the recall at a fixed threshold: the share of the positives that were selected.

    As :class:`PrecisionMonitor`, which explains the parameters; but every decision belongs here,
    those that did not select too, and those whose label turns out negative count for nothing.
    Negatives that nobody looks at have no label: recall can only be watched where rows that were
    not selected are labelled as well, or at least a random share of all of them.

    Examples
    --------
    >>> import precall as pr
    >>> monitor = pr.monitoring.RecallMonitor(target=0.8)
    >>> monitor.update([1, 1, 0, 1], selected=[True, False, False, True])
    False
    >>> monitor.successes, monitor.trials
    (2, 3)
    """

    watches = "recall"
    trial = "positive"

    @staticmethod
    def may_count(selected: Mask) -> Mask:
        """Return every decision."""
        return np.ones_like(selected)

    @staticmethod
    def is_trial(selected: Mask, labels: Mask) -> Mask:
        """Return the positives."""
        return labels

    @staticmethod
    def went_well(selected: Mask, labels: Mask) -> Mask:
        """Return what was selected."""
        return selected
