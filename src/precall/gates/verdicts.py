"""What a gate says: every rule with its limits and its verdict, and the verdict of all."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from .._notebook import Rich
from ..evaluation import wording

PASSED, FAILED, UNDECIDED = "passed", "failed", "undecided"
#: What the JSON of a gate is called; its schema is in docs/schemas.
SCHEMA = "precall-gate-1"


def rule_title(rule: str, rows: str | None) -> str:
    """Return a rule with the rows that it is about."""
    return rule if rows is None else f"{rule} where {rows}"


@dataclass(frozen=True, kw_only=True, repr=False)
class GateRule(Rich):
    """One rule of a gate.

    Attributes
    ----------
    rule : str
        In the words that :func:`precall.gate` takes.
    slice : str or None
        The rows that it is about; None for all.
    verdict : {"passed", "failed", "undecided"}
    metric : str
    candidate, baseline : float
        The metric of each; `baseline` is None where the rule has no use for one.
    estimate : float
        What is judged: the metric of the candidate, or its difference from that of the baseline.
    low, high : float
        One-sided limits. The one that a pass needs is at the gate's level; the one that a fail
        needs holds for all rules of the gate together.
    sign : {">=", "<="}
    target : float
        What the estimate is compared with.
    more_positives : int or None
        How many more positives, with negatives in proportion, would decide an undecided rule four
        times out of five, were the estimate the truth. None where it is decided, or where the
        estimate is at the target.
    method : str
        How the limits were made.
    message : str
        The rule in a sentence.
    """

    rule: str
    slice: str | None
    verdict: str
    metric: str
    candidate: float
    baseline: float | None
    estimate: float
    low: float
    high: float
    sign: str
    target: float
    more_positives: int | None
    method: str
    message: str

    @property
    def title(self) -> str:
        """The rule with the rows that it is about."""
        return rule_title(self.rule, self.slice)

    @property
    def shown(self) -> tuple[str, str]:
        """The estimate and its limits, with the digits that they support."""
        signed = self.baseline is not None
        decimals = wording.decimals_for(0.5 * (self.high - self.low))
        estimate, low, high = (
            wording.fixed(value, decimals, signed=signed, digits=1)
            for value in (self.estimate, self.low, self.high)
        )
        return estimate, f"{low} to {high}"

    def __repr__(self) -> str:
        """Return one line."""
        limits = f"{self.estimate:.4g} [{self.low:.4g}, {self.high:.4g}]"
        return f"GateRule({self.title}: {self.verdict}, {limits})"

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, kw_only=True, repr=False)
class Gate(Rich):
    """Whether a candidate keeps all rules.

    Attributes
    ----------
    verdict : {"passed", "failed", "undecided"}
        Passed if every rule is, failed if one is, undecided otherwise.
    rules : tuple of GateRule
    candidate : str
    baseline : str or None
        The model that it is compared with, or the file of a stored ranking.
    paired : bool or None
        Whether candidate and baseline are compared row by row; None without a baseline.
    n_pos, n_neg : float
        Rows of each class, or their weights.
    confidence_level : float
        A candidate that breaks a rule passes with at most one minus this, were this the only gate
        on these rows.
    rule_level : float
        The level at which a rule passes; above `confidence_level` if adjusted for looks.
    looks : int
        How often these rows were used for a gate with another candidate or other rules, this time
        included.
    too_small : tuple of str
        Slices with too few positives to judge.
    notes : tuple of str
        What to know beside the verdict.
    """

    verdict: str
    rules: tuple[GateRule, ...]
    candidate: str
    baseline: str | None
    paired: bool | None
    n_pos: float
    n_neg: float
    confidence_level: float
    rule_level: float
    looks: int
    too_small: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every rule passed."""
        return self.verdict == PASSED

    @property
    def summary(self) -> str:
        """The verdict in a sentence."""
        verdicts = [rule.verdict for rule in self.rules]
        candidate = wording.clean_name(self.candidate)
        rules = wording.plural(len(self.rules), "rule")
        if self.verdict == PASSED:
            kept = rules if len(self.rules) > 1 else "rule"
            return f"{candidate} passed: it keeps its {kept}."
        if self.verdict == FAILED:
            return f"{candidate} failed: it breaks {verdicts.count(FAILED)} of {rules}."
        open_rules = verdicts.count(UNDECIDED)
        return f"{candidate} is undecided: these rows do not decide {open_rules} of {rules}."

    def __repr__(self) -> str:
        """Return one line."""
        shown = ", ".join(f"{rule.title} {rule.verdict}" for rule in self.rules[:3])
        more = f", {len(self.rules) - 3} more" if len(self.rules) > 3 else ""
        return f"Gate({self.verdict}, {self.candidate}: {shown}{more})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            "schema": SCHEMA,
            **plain,
            "summary": self.summary,
            "rules": [rule.to_dict() for rule in self.rules],
            "too_small": list(self.too_small),
            "notes": list(self.notes),
        }

    def _table(self) -> dict[str, list[Any]]:
        """One row per rule."""
        names = [field.name for field in fields(GateRule)]
        return {name: [getattr(rule, name) for rule in self.rules] for name in names}

    def _facts(self) -> dict[str, Any]:
        facts = {"verdict": self.verdict, "candidate": self.candidate, "baseline": self.baseline}
        facts |= {rule.title: rule.message for rule in self.rules}
        return facts | {"notes": list(self.notes)}

    def plot(self, ax: Any = None) -> Any:
        """Draw how far every rule is from being broken, and return the Axes.

        To the right of 0 is better; a rule that asks for at most so much is turned around.
        """
        from ..display.promise_plots import plot_gate

        return plot_gate(self, ax)

    def markdown(self) -> str:
        """Return the verdict as Markdown, fit for a comment on a pull request.

        Its first line is a mark that a browser does not show: whoever keeps one comment up to date
        finds it by that.
        """
        from .markdown import gate_markdown

        return gate_markdown(self)

    def junit(self, *, undecided: str = "error") -> str:
        """Return the verdict as JUnit XML: a test case per rule.

        Parameters
        ----------
        undecided : {"error", "skipped"}
            What an undecided rule is there.
        """
        from .junit import gate_junit

        return gate_junit(self, undecided)
