"""What the library says about its arguments, in the options of the command line."""

from __future__ import annotations

import re

# Arguments of the library, and what the command line calls them.
_OPTIONS = (
    (re.compile(r"missing='drop'"), "--missing drop"),
    (
        re.compile(", and pass one_against_rest=True to count all others as negative"),
        ", and the others are negative",
    ),
    (re.compile(r"pos_label=(?=['\"])"), "--pos-label "),
    (re.compile(r"pos_label=(?=\W|$)"), "--pos-label"),
    (re.compile(r"\(every=\)"), "(--every)"),
    (
        re.compile(r"^every must (.*?)( or a length of time such as datetime[.]\S+)?, got"),
        r"--every must \1, got",
    ),
    (re.compile(r"^every must"), "--every must"),
    (re.compile(r"same_rows=False"), "--other-rows"),
    (re.compile(r"one of the names in pr[.]METRICS"), "one of the names that --help lists"),
    (
        re.compile(r"^(width|difference|correlation|power|prevalence|budget)(?= (?:must|is) )"),
        r"--\1",
    ),
    (re.compile(r"^(aucpr|auroc) and difference(?= add up)"), r"--\1 and --difference"),
    (re.compile(r"^aucpr=(?=\S+ cannot be had)"), "--aucpr "),
    (re.compile(r"^inclusion(?= stands for about)"), "--inclusion"),
    (
        re.compile(r"give all rows of the population, labelled or not, and"),
        "give all rows of the population, labelled or not, in FILE or with --population, and",
    ),
    (re.compile(r"name a baseline, or give rules such as"), "name a --baseline, or --require"),
    (re.compile(r"(?<=themselves: )give a pilot"), "give --pilot"),
    (re.compile(r"with format=(?=[.])"), "with --format"),
    (re.compile(r"\b(method|keep|target)=(?=['\"])"), r"--\1 "),
    (re.compile(r"\b(keep)=(?=[.])"), r"--\1"),
    (
        re.compile(r"does the file begin with a line of names\?"),
        "if the file has no line of names, add --no-header and call its columns 1, 2 and so on.",
    ),
    (re.compile(r"load it with moved=True"), "add --moved"),
    (re.compile(r"load the ledger with new_rows=True"), "add --new-rows"),
    (
        re.compile(r"pr\.rank\(y_true, y_score, thresholds=\[(.*?)\]\), or pass pr\.Rows"),
        r"precall rank --threshold \1",
    ),
    (re.compile(r"\b(label|score|weight|group)=('(?:[^'\\]|\\.)*')"), r"\1 column \2"),
)


def in_options(message: str) -> str:
    """Say what the library says about arguments as the command line would: with its options."""
    for argument, option in _OPTIONS:
        message = argument.sub(option, message)
    return message
