"""Errors and warnings.

::

    Exception
    └── PrecallError
        └── InputError (also ValueError)   an argument breaks a rule; the message says the remedy
            ├── UndefinedMetricError       the quantity does not exist on this data
            ├── NotCertifiedError          no threshold could be promised, so none is used
            ├── BudgetError                a private release would cost more than is left
            └── MemoryLimitError           the positives need more memory than was given
    UserWarning
    └── PrecallWarning
        ├── UndefinedMetricWarning         one class is empty: the value is a convention
        ├── DirectionWarning               the scorer is worse than chance; nothing was flipped
        ├── ReliabilityWarning             the method is weak on data like this
        └── SeededReleaseWarning           a private release was made repeatable, so not private
"""


class PrecallError(Exception):
    """Base of every error raised on purpose by this library."""


class InputError(PrecallError, ValueError):
    """An argument breaks a rule. The message names the argument, the rule and the remedy."""


class UndefinedMetricError(InputError):
    """The quantity asked for does not exist on this data, for example with no positives."""


class NotCertifiedError(InputError):
    """No threshold keeps what was asked on this data, so there is none to predict with."""


class BudgetError(InputError):
    """A release would cost more than is left. Nothing was looked at and nothing was spent."""


class MemoryLimitError(InputError):
    """The distinct scores of the positives alone need more memory than was given."""


class PrecallWarning(UserWarning):
    """Base of every warning given by this library."""


class UndefinedMetricWarning(PrecallWarning):
    """One class is empty, so the value returned is a convention and not an estimate."""


class DirectionWarning(PrecallWarning):
    """The scorer ranks positives below negatives more often than chance explains."""


class ReliabilityWarning(PrecallWarning):
    """A method is used where it is known to be weak, for example on very few positives."""


class SeededReleaseWarning(PrecallWarning):
    """The noise came from a seed, so whoever knows or guesses it can take the noise away."""
