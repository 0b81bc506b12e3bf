"""Text of others (names of files, columns, groups) where a terminal or a page shows it."""

from __future__ import annotations

import shlex
import unicodedata

# Control, format, surrogate, private and unassigned characters, line and paragraph ends.
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def is_hidden(char: str) -> bool:
    r"""Return whether a character cannot be seen, or steers a terminal or the way of writing.

    Examples
    --------
    >>> [is_hidden(char) for char in "a\x1b\u202e é"]
    [False, True, True, False, False]
    """
    return unicodedata.category(char) in _HIDDEN


def visible(text: object) -> str:
    r"""Return text with its hidden characters written out as in a Python string.

    Examples
    --------
    >>> print(visible("a\x1b[31mb\u202ec\n"))
    a\x1b[31mb\u202ec\n
    """
    return "".join(repr(char)[1:-1] if is_hidden(char) else char for char in str(text))


def shell_command(words: tuple[str, ...]) -> str:
    r"""Return a command as it can be typed, on one line and without hidden characters.

    A word that has some is written as ``$'...'``, which bash, zsh and ksh read.

    Examples
    --------
    >>> print(shell_command(("precall", "my file", "it's\x1b\u202e")))
    precall 'my file' $'it\'s\x1b\u202e'
    """
    return " ".join(_shell_word(word) for word in words)


def _shell_word(word: str) -> str:
    if not any(is_hidden(char) for char in word):
        return shlex.quote(word)
    return "$'" + "".join(_escaped(char) for char in word) + "'"


def _escaped(char: str) -> str:
    if char in "\\'":
        return "\\" + char
    return repr(char)[1:-1] if is_hidden(char) else char
