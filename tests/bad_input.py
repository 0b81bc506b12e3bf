"""What happens with bad input, case by case: the tests run it, and a page of the docs shows it.

Every example is an expression of `pr`, `np`, `pd`, `pa` and the names in `NAMES`. Its outcome is
an error (its class and some of its words), or a value, with the warning that comes with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

import precall as pr
from precall.engines import arrow

Y, S = [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]


class Shrinking:
    """A table whose second reading has fewer rows than its first."""

    def __init__(self) -> None:
        self.rows = 5

    def __call__(self) -> Any:
        self.rows -= 1
        table = pa.table({"y": Y[: self.rows], "s": S[: self.rows]})
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches())


def registered(*ids: str) -> Any:
    """A monitor that waits for labels."""
    monitor = pr.monitoring.PrecisionMonitor(target=0.5)
    monitor.register(list(ids))
    return monitor


NAMES = {
    "registered": registered,
    "pr": pr,
    "np": np,
    "pd": pd,
    "pa": pa,
    "arrow": arrow,
    "Shrinking": Shrinking,
    "y": Y,
    "s": S,
    "ranking": pr.rank(Y, S),
    "coarse": pr.rank(Y, S).coarsen(1),
    "sliced": pr.Rows(
        [1, 0, 1] * 500,
        range(1500),
        columns={"country": ["DE", "FR"] * 750, "user": [f"user {i}" for i in range(1500)]},
    ),
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One line of the policy."""

    section: str
    case: str
    call: str
    error: str = ""
    warning: str = ""
    value: Any = None
    words: str = ""

    def outcome(self) -> str:
        """The outcome in the words of the page."""
        if self.error:
            return f"`{self.error}`: “…{self.words}…”"
        value = f"`{self.value!r}`"
        return f"{value}, with `{self.warning}`: “…{self.words}…”" if self.warning else value


def _cases(section: str, *rows: tuple[Any, ...]) -> tuple[Case, ...]:
    return tuple(Case(section=section, case=row[0], call=row[1], **row[2]) for row in rows)


def _input(words: str) -> dict[str, str]:
    return {"error": "InputError", "words": words}


def _undefined(words: str) -> dict[str, str]:
    return {"error": "UndefinedMetricError", "words": words}


def _convention(value: Any, words: str) -> dict[str, Any]:
    return {"value": value, "warning": "UndefinedMetricWarning", "words": words}


CASES = (
    *_cases(
        "Rows",
        ("empty input", "pr.rank([], [])", _input("must have at least one row, got none")),
        (
            "unequal lengths",
            "pr.rank([1, 0, 1], [0.9, 0.8])",
            _input("y_true has 3, y_score has 2 rows"),
        ),
        (
            "a generator",
            "pr.rank((v for v in y), s)",
            _input("must be an array of values, got generator: pass a list or an array"),
        ),
        (
            "a set or a dictionary",
            "pr.rank({0, 1}, [1, 2])",
            _input("in the order of the rows, got a set"),
        ),
        (
            "two columns where one is wanted",
            "pr.rank([1, 0], [[0.2, 0.8], [0.7, 0.3]])",
            _input("pass one column, for example np.asarray(y_score)[:, 1]"),
        ),
        (
            "a data frame where a column belongs",
            "pr.rank(pd.DataFrame({'y': y}), s)",
            _input("pass one column, for example y_true['y']"),
        ),
        (
            "scores first",
            "pr.rank(s, y)",
            _input("these look like scores; labels come first, then scores"),
        ),
        (
            "the name of a file",
            "pr.evaluate('scores.csv')",
            _input("got 'scores.csv': read the file first, for example with pandas"),
        ),
    ),
    *_cases(
        "Labels",
        (
            "a missing label",
            "pr.rank([1, None, 0], [3, 2, 1])",
            _input("1 bad row of 3, the first at position 1: drop or fill those rows first"),
        ),
        (
            "a null in an Arrow column",
            "pr.rank(pa.array([1, None, 0]), [3, 2, 1])",
            _input("y_true must not be missing (NaN or None): 1 bad row of 3"),
        ),
        (
            "a null in a dictionary",
            "pr.rank(pa.array(['a', None, 'b']).dictionary_encode(), [3, 2, 1], pos_label='a')",
            _input("y_true must not be missing (NaN or None): 1 bad row of 3"),
        ),
        (
            "a masked value",
            "pr.rank(np.ma.array([1, 0], mask=[0, 1]), [2, 1])",
            _input("must not have masked values: 1 bad row of 2"),
        ),
        (
            "more than two labels",
            "pr.rank([0, 1, 2], [1, 2, 3])",
            _input("at most two labels, got 3 (0, 1, 2); the first row with a third one is 2"),
        ),
        (
            "two labels, and which is positive is not said",
            "pr.rank(['bad', 'good', 'good'], [1, 2, 3])",
            _input("for example pos_label='bad'"),
        ),
        (
            "a list as `pos_label`",
            "pr.rank(y, s, pos_label=[0, 1])",
            _input("pos_label must be one label"),
        ),
        (
            "a missing `pos_label`",
            "pr.rank(y, s, pos_label=float('nan'))",
            _input("pos_label must not be missing"),
        ),
        (
            "several values in one row",
            "pr.rank(pa.array([[1], [0]]), [2, 1])",
            _input("y_true must hold one value per row, got list<"),
        ),
    ),
    *_cases(
        "Scores",
        (
            "a missing score",
            "pr.rank([1, 0, 1], [0.1, np.nan, np.nan])",
            _input("2 bad rows of 3, the first at position 1"),
        ),
        (
            "a null in an Arrow column",
            "pr.rank([1, 0], pa.array([0.5, None]))",
            _input("y_score must not be missing (NaN or None): 1 bad row of 2"),
        ),
        (
            "infinite scores rank first or last",
            "pr.auroc(pr.rank([1, 0], [np.inf, 5]))",
            {"value": 1.0},
        ),
        (
            "integers are compared as integers",
            "len(pr.rank([1, 1], [2**53, 2**53 + 1]))",
            {"value": 2},
        ),
        (
            "integers beyond 64 bits",
            "pr.rank([1, 0], [2**70, 1])",
            _input("whole numbers that fit one 64-bit type, or numbers that floats can hold"),
        ),
        ("text", "pr.rank([1, 0], ['9', '8'])", _input("must hold real numbers, got dtype <U1")),
        (
            "dates",
            "pr.rank([1, 0], np.array(['2024-01-01', '2024-01-02'], 'M8[D]'))",
            _input("must hold real numbers, got dtype datetime64[D]"),
        ),
        ("all scores equal", "pr.aucpr(pr.rank(y, [1, 1, 1, 1]))", {"value": 0.5}),
        (
            "worse than chance: nothing is flipped",
            "pr.auroc(pr.rank([0] * 9 + [1] * 9, range(18, 0, -1)))",
            {"value": 0.0, "warning": "DirectionWarning", "words": "below negatives"},
        ),
    ),
    *_cases(
        "Weights",
        (
            "negative, infinite or NaN",
            "pr.rank([1, 0], [2, 1], sample_weight=[1, -1])",
            _input("must be finite and not negative: 1 bad row of 2"),
        ),
        (
            "not numbers",
            "pr.rank([1, 0], [2, 1], sample_weight=['1', '2'])",
            _input("sample_weight must hold real numbers"),
        ),
        (
            "missing",
            "pr.rank([1, 0], [2, 1], sample_weight=[1, None])",
            _input("sample_weight must not be missing"),
        ),
        (
            "too large or too small",
            "pr.rank([1, 0], [2, 1], sample_weight=[1e-300, 1])",
            _input("must be 0 or between 1e-100 and 1e+100"),
        ),
        (
            "zero in every row",
            "pr.rank([1, 0], [2, 1], sample_weight=[0, 0])",
            _input("is zero in every row"),
        ),
    ),
    *_cases(
        "Quantities that do not exist",
        ("no positives", "pr.aucpr(pr.rank([0, 0], [2, 1]))", _convention(0.0, "no positives")),
        ("no negatives", "pr.aucpr(pr.rank([1, 1], [2, 1]))", _convention(1.0, "no negatives")),
        (
            "AUROC with one class",
            "pr.auroc(pr.rank([1, 1], [2, 1]))",
            _convention(float("nan"), "no negatives"),
        ),
        (
            "an interval with one class",
            "pr.interval(pr.rank([0, 0], [2, 1]))",
            _undefined("has no interval with no positives: check the labels and pos_label"),
        ),
        (
            "an estimate of exactly 1 has a one-sided interval",
            "pr.interval(pr.rank([1, 0] * 20, [2, 1] * 20)).high",
            {"value": 1.0},
        ),
        (
            "several precisions at one recall: the highest, on arrival",
            "float(pr.pr_curve(ranking).at(0.5))",
            {"value": 1.0},
        ),
    ),
    *_cases(
        "Arguments",
        (
            "labels and scores where a ranking belongs",
            "pr.aucpr(y, s)",
            _input("ranking must be a Ranking, got list: pass pr.rank(y_true, y_score)"),
        ),
        (
            "labels and scores where a threshold is promised",
            "pr.operating_point(y, s, min_precision=0.5)",
            _input("ranking must be a Ranking, got list: pass pr.rank(y_true, y_score)"),
        ),
        (
            "labels and scores in a function with a metric",
            "pr.interval(np.array(y), np.array(s))",
            _input("labels and scores are one argument, pr.rank(y_true, y_score)"),
        ),
        (
            "labels and scores where a metric is called",
            "pr.metrics.auroc()(y, s)",
            _input("a metric takes one argument without a name, got 2: pass pr.rank(y_true"),
        ),
        (
            "labels and scores where a change of models is judged",
            "pr.gate(y, s)",
            _input("got 2: pass pr.Rows(y_true, {'old': s_old, 'new': s_new})"),
        ),
        (
            "scores of two models one by one",
            "pr.compare(y, np.array(s), np.array(s))",
            _input("several models are one too, {'a': s_a, 'b': s_b}"),
        ),
        (
            "labels and scores in a function with a curve",
            "pr.band(np.array(y), np.array(s))",
            _input("got an array: labels and scores are one argument, pr.rank(y_true, y_score)"),
        ),
        (
            "a metric by the name that others give it",
            "pr.interval(ranking, 'average_precision')",
            _input("got 'average_precision': here it is called 'aucpr'"),
        ),
        (
            "one ranking where folds belong",
            "pr.crossval_interval(ranking)",
            _input("folds must be at least two rankings"),
        ),
        (
            "an unknown name",
            "pr.aucpr(ranking, estimator='average')",
            _input("Did you mean 'average_precision'?"),
        ),
        (
            "a number outside its range",
            "pr.interval(ranking, confidence_level=95)",
            _input("confidence_level must be strictly between 0 and 1, got 95"),
        ),
        (
            "data that change between two passes",
            "arrow.rank(Shrinking(), label='y', score='s')",
            _input("the data changed between the passes"),
        ),
        (
            "a coarsened ranking where every score must be seen",
            "pr.operating_point(coarse, min_precision=0.4)",
            _input("operating_point must see every score, and this ranking was coarsened"),
        ),
        (
            "a column to cut by that is not there",
            "pr.slices(sliced, 'contry')",
            _input("Did you mean 'country'?"),
        ),
        (
            "a column to cut by that names single things",
            "pr.slices(sliced, 'user')",
            _input("column 'user' has 1,500 levels, more than 1,000"),
        ),
        (
            "rows that belong together where they must be independent",
            "pr.operating_point(pr.Rows(y, s, clusters=s), min_precision=0.4)",
            _input("operating_point takes rows as independent, and these rows have clusters"),
        ),
    ),
    *_cases(
        "Decisions",
        (
            "more rows at the top than there are",
            "pr.interval(ranking, 'precision_at_k(1000)')",
            _input("precision_at_k(1000) asks for more rows than there are"),
        ),
        (
            "a share of the rows over 1",
            "pr.metrics.lift_at_k(1.5)",
            _input("k must be a whole number of rows, or a share of them above 0 and at most 1"),
        ),
        (
            "a threshold probability of 0 or 1",
            "pr.metrics.net_benefit(1)",
            _input("probability must be strictly between 0 and 1, got 1"),
        ),
        (
            "a miss that costs nothing",
            "pr.metrics.expected_cost(0)",
            _input("cost_ratio must be above zero and finite, got 0"),
        ),
        (
            "scores that are no probabilities, where probabilities are needed",
            "pr.metrics.net_benefit(0.2)(pr.Rows(y, [10 * each for each in s]))",
            _input("calibrate them first, or give it a threshold of their own"),
        ),
        (
            "a calibration check of such scores",
            "pr.calibration_check(pr.Rows(y, [10 * each for each in s]))",
            _input("calibration_check takes the scores for probabilities"),
        ),
        (
            "a band of net benefit of a ranking",
            "pr.band(ranking, 'net_benefit')",
            _input("a band of net benefit needs every score: pass pr.Rows(y_true, y_score)"),
        ),
        (
            "the area of gains where positives were never scored",
            "pr.auprg(pr.rank(y, s, missed_positives=2))",
            _input("a precision of 0 is a gain of minus infinity"),
        ),
        (
            "a smoothed band where positives were never scored",
            "pr.band(pr.rank(y, s, missed_positives=2), method='bootstrap')",
            _input("a smoothed distribution of scores needs a score for every positive"),
        ),
        (
            "a recall that was never reached because positives were not scored",
            "pr.best_threshold(pr.rank(y, s, missed_positives=500), 'precision', min_recall=0.9)",
            _undefined("were never scored; ask for less"),
        ),
        (
            "a net benefit to keep without the probability that it is meant at",
            "pr.operating_point(ranking, min_net_benefit=0.1)",
            _input("min_net_benefit and probability go together"),
        ),
    ),
    *_cases(
        "Plans and monitors",
        (
            "a pilot with one class",
            "pr.planning.size(width=0.1, pilot=pr.rank([1, 1], [2, 1]))",
            _input("pilot has no negatives: nothing can be learned from one class"),
        ),
        (
            "a target of 0 or 1",
            "pr.monitoring.PrecisionMonitor(target=1)",
            _input("target must be strictly between 0 and 1, got 1"),
        ),
        (
            "a label before its decision",
            "registered('a').update(1, id='b')",
            _input("id 'b' has a label before its decision: register() the decision first"),
        ),
        (
            "an id that comes twice",
            "registered('a').register('a')",
            _input("id 'a' is waiting for its label already: ids must differ"),
        ),
        (
            "times that are text",
            "pr.monitoring.windows(pr.Rows(y, s, columns={'day': list('abcd')}), time='day')",
            _input("time column 'day' holds text, not times: convert it first"),
        ),
        (
            "a cross-validation with one fold",
            "pr.crossval_interval(pr.Rows(y, s, columns={'fold': [1] * 4}), by='fold')",
            _input("column 'fold' must name at least two folds, got one"),
        ),
    ),
)


def page_tables() -> str:
    """All cases as Markdown, a table per section."""
    parts = []
    for section in dict.fromkeys(case.section for case in CASES):
        rows = [case for case in CASES if case.section == section]
        lines = [f"| {c.case} | `{c.call}` | {c.outcome()} |" for c in rows]
        head = ["| case | for example | what happens |", "|---|---|---|"]
        parts.append("\n".join([f"## {section}", "", *head, *lines]))
    return "\n\n".join(parts)
