"""The gate: rules in words, limits that decide, looks that are counted, and what is refused."""

import json
import math
from dataclasses import dataclass
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from scipy import special, stats
from scipy.special import ndtri

import precall as pr
from precall.exceptions import InputError
from precall.gates import looks as looking
from precall.gates.deciding import Judged, decided, verdict_of
from precall.gates.rule_words import parse_rule
from precall.inference import differences
from precall.inference.compare import RankedModels
from precall.inference.result import one_sided_limits
from precall.metrics import Metric, as_metric
from precall.ranking.stored import write_ranking
from tests import junit_schema


def data(size=600, seed=1, **options):
    rng = np.random.default_rng(seed)
    y = rng.random(size) < 0.2
    both = rng.normal(size=size)
    scores = {
        "new": 1.6 * y + both + 0.5 * rng.normal(size=size),
        "old": 1.5 * y + both + 0.5 * rng.normal(size=size),
        "poor": 0.2 * y + rng.normal(size=size),
    }
    return pr.Rows(y, scores, **options)


ROWS = data()


# Rules in words.


@pytest.mark.parametrize(
    ("words", "metric", "sign", "target", "relative"),
    [
        ("precision_at_recall(0.8) >= 0.3", "precision_at_recall(0.8)", ">=", 0.3, False),
        ("aucpr>=baseline", "aucpr", ">=", 0.0, True),
        ("auroc >= baseline - 0.01", "auroc", ">=", -0.01, True),
        ("auroc >= baseline −0.01", "auroc", ">=", -0.01, True),
        ("auroc ≥ baseline + 2e-2", "auroc", ">=", 0.02, True),
        ("auprg >= -1", "auprg", ">=", -1.0, False),
        ("auroc <= 0.9", "auroc", "<=", 0.9, False),
        (
            "aucpr(estimator=davis_goadrich, recall=(0, 0.5)) >= .25",
            "aucpr(estimator=davis_goadrich, recall=(0, 0.5))",
            ">=",
            0.25,
            False,
        ),
    ],
)
def test_a_rule_in_words(words, metric, sign, target, relative):
    rule = parse_rule(words)
    found = (str(rule.metric), rule.sign, rule.target, rule.relative)
    assert found == (str(as_metric(metric)), sign, target, relative)
    assert parse_rule(str(rule)) == rule


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("precision_at_recal(0.8) >= 0.3", "Did you mean 'precision_at_recall'"),
        ("aucp >= 0.3", "Did you mean 'aucpr'"),
        ("precision_at_recall >= 0.3", r"needs recall, such as precision_at_recall\(0.8\)"),
        ("precision_at_recall(2) >= 0.3", "recall must be"),
        ("aucpr", "compares nothing"),
        ("", "compares nothing"),
        (">= 0.3", "names no metric"),
        ("  <= baseline", "names no metric"),
        ("aucpr > 0.3", "must use >= or <="),
        ("aucpr == 0.3", "must use >= or <="),
        ("aucpr >= ", "is no number"),
        ("aucpr >= old - 0.1", "is no number"),
        ("aucpr >= nan", "is no number"),
        ("aucpr >= inf", "is no number"),
        ("aucpr >= baseline - ", "is no number"),
        ("aucpr >= baseline * 0.9", "is no number"),
        ("aucpr >= 1.2", "decides nothing: aucpr is always between 0 and 1"),
        ("aucpr >= baseline - 0.1", "needs a baseline"),
        (3, "must be a text"),
    ],
)
def test_a_rule_that_cannot_be_read(words, message):
    with pytest.raises(InputError, match=message):
        pr.gate(ROWS, candidate="new", rules=[words])


@dataclass(frozen=True)
class Mistakes(Metric):
    """One minus AUROC: a rate of errors."""

    name = "mistakes"
    title = "mistakes"
    summary = "share of pairs in the wrong order"
    rules = ("bootstrap_percentile",)
    lower_is_better = True

    def value(self, cells, squares=None):
        return 1.0 - as_metric("auroc").value(cells, squares)


def test_where_less_is_better_the_candidate_may_be_higher_by_the_margin():
    options = {"baseline": "old", "metric": Mistakes(), "margin": 0.1, "n_resamples": 300}
    better = pr.gate(ROWS, candidate="new", **options).rules[0]
    assert (better.rule, better.verdict) == ("mistakes <= baseline + 0.1", "passed")
    assert better.estimate == pytest.approx(pr.auroc(ROWS["old"]) - pr.auroc(ROWS["new"]))
    assert "at most +0.1 is asked" in better.message
    assert pr.gate(ROWS, candidate="poor", **options).verdict == "failed"


# From limits to verdicts.


class Normal:
    """An estimate with a known standard error."""

    method = "made up"

    def __init__(self, estimate, error):
        self.estimate, self.error = estimate, error

    def limits(self, level):
        half = float(ndtri(0.5 + 0.5 * level)) * self.error
        return self.estimate - half, self.estimate + half


def judge(words, *evidence, alpha=0.05):
    judged = [Judged(parse_rule(words), None, e, e.estimate, None, 100.0) for e in evidence]
    return decided(judged, alpha, "new")


@pytest.mark.parametrize(
    ("words", "estimate", "verdict"),
    [
        ("aucpr >= 0.5", 0.5 + 1.65 * 0.1, "passed"),
        ("aucpr >= 0.5", 0.5 + 1.64 * 0.1, "undecided"),
        ("aucpr >= 0.5", 0.5 - 1.64 * 0.1, "undecided"),
        ("aucpr >= 0.5", 0.5 - 1.65 * 0.1, "failed"),
        ("aucpr <= 0.5", 0.5 - 1.65 * 0.1, "passed"),
        ("aucpr <= 0.5", 0.5 - 1.64 * 0.1, "undecided"),
        ("aucpr <= 0.5", 0.5 + 1.64 * 0.1, "undecided"),
        ("aucpr <= 0.5", 0.5 + 1.65 * 0.1, "failed"),
    ],
)
def test_one_rule_is_decided_by_one_sided_limits(words, estimate, verdict):
    [rule] = judge(words, Normal(estimate, 0.1))
    assert rule.verdict == verdict
    assert ("do not decide it" in rule.message) == (verdict == "undecided")
    assert (rule.more_positives is None) == (verdict != "undecided")


def test_passing_is_each_rule_at_alpha_and_failing_is_all_rules_together():
    z, together = float(ndtri(0.95)), float(ndtri(1 - 0.05 / 3))
    passing = Normal(0.5 + (z + 1e-6) * 0.1, 0.1)
    assert {rule.verdict for rule in judge("aucpr >= 0.5", *[passing] * 3)} == {"passed"}
    alone = Normal(0.5 - (z + 1e-6) * 0.1, 0.1)
    found = judge("aucpr >= 0.5", passing, passing, alone)
    assert (found[2].verdict, verdict_of(found)) == ("undecided", "undecided")
    worse = Normal(0.5 - (together + 1e-6) * 0.1, 0.1)
    found = judge("aucpr >= 0.5", passing, passing, worse)
    assert (found[2].verdict, verdict_of(found)) == ("failed", "failed")
    assert found[2].high == pytest.approx(0.5 - 1e-7)
    assert found[2].low == pytest.approx(worse.estimate - z * 0.1)


def test_how_many_more_positives_is_the_size_that_decides_four_times_out_of_five():
    [rule] = judge("aucpr >= 0.5", Normal(0.6, 0.1))
    # From the definition: with error e, P(estimate - 1.645 e >= 0.5) = 0.8 at 0.6.
    error = 0.1 / (float(ndtri(0.95)) + float(ndtri(0.8)))
    assert rule.more_positives == math.ceil(100.0 * ((0.1 / error) ** 2 - 1.0))
    [worse] = judge("aucpr >= 0.5", Normal(0.4, 0.1))
    assert worse.more_positives == rule.more_positives
    [never] = judge("aucpr >= 0.5", Normal(0.5, 0.1))
    assert never.more_positives is None


@pytest.mark.numerics
def test_a_limit_that_misses_its_target_by_rounding_only_reaches_it():
    [rule] = judge("aucpr >= 0.3", Normal(0.1 + 0.2, 0.0))
    assert rule.verdict == "passed"
    [rule] = judge("aucpr >= 0.3", Normal(0.3 - 1e-16, 0.0))
    assert rule.verdict == "passed"
    [rule] = judge("aucpr >= 0.3", Normal(0.3 - 1e-9, 0.0))
    assert rule.verdict == "failed"


def test_a_limit_is_never_shown_as_its_target():
    [rule] = judge("aucpr >= 0.3", Normal(0.3 + 1.6448 * 0.1, 0.1))
    assert rule.verdict == "undecided"
    assert "between 0.29999" in rule.message


# Differences on the same rows.


def pair(rows=ROWS, metric="aucpr", *, varying=True, models=("new", "old")):
    rng = np.random.default_rng(0)
    what = as_metric(metric)
    chosen = rows.only(*models)
    return differences.paired_difference(chosen, what, varying=varying, n_resamples=200, rng=rng)


@pytest.mark.parametrize("metric", ["aucpr", "auroc", "precision_at_recall(0.8)"])
@pytest.mark.parametrize("sampling", ["rows", "classes"])
def test_the_difference_is_that_of_a_comparison_and_its_limits_are_no_narrower(metric, sampling):
    found, values = pair(metric=metric, varying=sampling == "rows")
    ours = pr.compare(ROWS.only("new", "old"), metric, sampling=sampling, confidence_level=0.9)
    expected = ours.differences["new", "old"]
    assert found.estimate == pytest.approx(expected, abs=1e-14)
    assert values == pytest.approx((ours.estimates["new"], ours.estimates["old"]))
    low, high = found.limits(0.9)
    covariance = ours.covariance
    error = math.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    half = stats.t.ppf(0.95, np.count_nonzero(ROWS.positive) - 1) * error
    assert low <= expected - half
    assert high >= expected + half
    # One positive's worth of unpaired variance, and the variance at the limits: not much wider.
    assert high - low < 1.3 * 2 * half
    wider = found.limits(0.99)
    assert wider[0] < low < found.estimate < high < wider[1]


def test_the_variance_is_the_paired_one_with_one_positive_of_the_unpaired():
    found, _ = pair(metric="auroc", varying=False)
    covariance = pr.compare(ROWS.only("new", "old"), "auroc", sampling="classes").covariance
    paired = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    n = np.count_nonzero(ROWS.positive)
    expected = (n * paired + covariance[0, 0] + covariance[1, 1]) / (n + 1)
    assert found.variance == pytest.approx(expected, rel=1e-10)


def test_degrees_of_freedom_are_few_where_few_rows_decide():
    found, _ = pair(metric="auroc", varying=False)
    n = np.count_nonzero(ROWS.positive)
    assert 10 < found.degrees <= n - 1
    scores = ROWS.scores["new"].copy()
    moved = np.flatnonzero(ROWS.positive)[:3]
    scores[moved] -= 5.0
    rows = pr.Rows(ROWS.positive, {"new": scores, "old": ROWS.scores["new"]})
    few, _ = pair(rows, metric="auroc", varying=False)
    assert 2 <= few.degrees < 10
    # By hand: V = sum c^2 and Var V <= sum c^4.
    contributions = np.array([3.0, -1.0, 2.0, 0.0])
    assert differences._degrees(contributions) == pytest.approx(2 * 14**2 / (81 + 1 + 16))


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("varying", [True, False])
def test_the_tilted_difference_is_that_of_rows_repeated(clustered, varying):
    """With whole weights, tilting is repeating: the naive way is to repeat the rows and compare."""
    rng = np.random.default_rng(3)
    cluster = rng.integers(0, 40, 200) if clustered else None
    rows = data(200, seed=4, clusters=cluster).only("new", "old")
    models = RankedModels.rank(as_metric("aucpr"), rows)
    units = np.arange(200) if cluster is None else rows.cluster
    times = rng.integers(1, 4, units.max() + 1)
    difference, variance = differences._tilted(models, varying, times.astype(float), units)
    repeat = np.repeat(np.arange(200), times[units])
    y = rows.positive[repeat]
    scores = {name: rows.scores[name][repeat] for name in rows.names}
    weight = np.ones(y.size)
    if not varying:  # the classes keep their totals
        for chosen, before in ((y, rows.positive), (~y, ~rows.positive)):
            weight[chosen] = before.sum() / chosen.sum()
    again = {n: pr.rank(y, s, sample_weight=weight) for n, s in scores.items()}
    assert difference == pytest.approx(pr.aucpr(again["new"]) - pr.aucpr(again["old"]), abs=1e-12)
    assert variance > 0


def test_the_variance_where_nothing_is_tilted_is_the_plain_one():
    rows = ROWS.only("new", "old")
    models = RankedModels.rank(as_metric("auroc"), rows)
    ones = np.ones(len(rows))
    difference, variance = differences._tilted(models, False, ones, np.arange(len(rows)))
    found, _ = pair(metric="auroc", varying=False)
    assert difference == pytest.approx(found.estimate, abs=1e-14)
    covariance = pr.compare(rows, "auroc", sampling="classes").covariance
    paired = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert variance == pytest.approx(paired, rel=0.02)  # but for n / (n - 1)


@pytest.mark.numerics
@pytest.mark.parametrize("metric", ["aucpr", "auroc", "recall_at_precision(0.5)"])
def test_the_same_order_is_never_worse(metric):
    rows = pr.Rows(ROWS.positive, {"a": ROWS.scores["new"], "b": np.exp(ROWS.scores["new"])})
    found = pr.gate(rows, candidate="a", baseline="b", metric=metric, n_resamples=100)
    assert found.passed
    assert (found.rules[0].low, found.rules[0].high) == (0.0, 0.0)


def test_a_metric_without_influence_values_is_drawn_and_the_verdict_is_repeatable():
    options = {"candidate": "new", "baseline": "poor", "metric": "recall_at_precision(0.4)"}
    first, again = (pr.gate(ROWS, n_resamples=200, **options) for _ in range(2))
    assert first == again
    assert first.rules[0].method == "bootstrap"
    assert first.passed


def test_clusters_widen_the_limits():
    y, scores = ROWS.positive, dict(ROWS.scores)
    double = pr.Rows(
        np.repeat(y, 3),
        {name: np.repeat(values, 3) for name, values in scores.items()},
        clusters=np.repeat(np.arange(len(y)), 3),
    )
    once = pr.gate(ROWS, candidate="new", baseline="old").rules[0]
    thrice = pr.gate(double, candidate="new", baseline="old").rules[0]
    assert thrice.estimate == pytest.approx(once.estimate, abs=0.01)
    assert thrice.high - thrice.low == pytest.approx(once.high - once.low, rel=0.1)


def test_another_prevalence_moves_both_models():
    found = pr.gate(ROWS, candidate="new", baseline="old", prevalence=0.02, margin=0.2).rules[0]
    for name in ("new", "old"):
        value = pr.aucpr(ROWS[name].at_prevalence(0.02))
        assert value == pytest.approx(found.candidate if name == "new" else found.baseline)


# The gate as a whole.


def test_a_gate_with_every_kind_of_rule():
    rules = ["precision_at_recall(0.8) >= 0.05", "auroc >= baseline - 0.05", "auroc >= 0.999"]
    found = pr.gate(ROWS, candidate="new", baseline="old", margin=0.1, rules=rules)
    assert [rule.verdict for rule in found.rules] == ["passed", "passed", "passed", "failed"]
    assert [rule.rule for rule in found.rules] == ["aucpr >= baseline - 0.1", *rules]
    assert (found.verdict, found.passed, found.paired) == ("failed", False, True)
    assert found.summary == "new failed: it breaks 1 of 4 rules."
    absolute = pr.interval(ROWS, "auroc", model="new", confidence_level=1 - 2 * 0.05 / 4)
    assert found.rules[3].high == absolute.high
    passing = pr.interval(ROWS, "precision_at_recall(0.8)", model="new", confidence_level=0.9)
    assert found.rules[1].low == passing.low
    assert json.loads(json.dumps(found.to_dict()))["verdict"] == "failed"
    frame = found.to_frame()
    assert frame["verdict"].tolist() == [rule.verdict for rule in found.rules]
    assert repr(found).startswith("Gate(failed, new: aucpr >= baseline - 0.1 passed, ")
    assert "failed" in found._repr_html_()


def test_metric_none_leaves_the_rules_alone():
    found = pr.gate(
        ROWS, candidate="new", baseline="old", metric=None, rules="auroc >= baseline - 0.1"
    )
    assert [rule.rule for rule in found.rules] == ["auroc >= baseline - 0.1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidate": "neu"}, "candidate must be one of the models of these rows, 'new'"),
        ({"candidate": None}, "candidate must be one of the models"),
        ({"baseline": "odl"}, r"baseline must be one of.*pathlib\.Path"),
        ({"baseline": "new"}, "candidate and baseline are both 'new'"),
        ({"baseline": "old", "margin": -0.01}, "margin must be a finite number of at least 0"),
        ({"baseline": "old", "margin": math.inf}, "margin must be a finite"),
        ({"baseline": "old", "margin": "much"}, "margin must be a number"),
        ({"margin": 0.01, "rules": ["auroc >= 0.5"]}, "margin is about a baseline"),
        ({"baseline": "old", "metric": None, "margin": 0.1}, "margin is about a metric"),
        ({"baseline": "old", "metric": None}, "a gate needs a rule"),
        ({}, "a gate needs a rule"),
        ({"baseline": "old", "metric": "aucp"}, "Did you mean 'aucpr'"),
        ({"baseline": "old", "confidence_level": 0.5}, "over 0.5 and at most 0.9999"),
        ({"baseline": "old", "looks": 0}, "looks must be a whole number of at least 1"),
        ({"baseline": "old", "sampling": "rows", "prevalence": 0.1}, "leave sampling='rows' out"),
        ({"rules": 7}, "rules must be a list of texts"),
    ],
)
def test_what_a_gate_refuses(options, message):
    with pytest.raises(InputError, match=message):
        pr.gate(ROWS, **{"candidate": "new", **options})


def test_a_gate_needs_rows_of_both_classes():
    with pytest.raises(InputError, match=r"rows must be precall\.Rows, got Ranking"):
        pr.gate(ROWS["new"], candidate="new", baseline="old")
    only = pr.Rows([0, 0, 0], {"new": [1, 2, 3], "old": [3, 2, 1]})
    with pytest.raises(InputError, match="no positives"):
        pr.gate(only, candidate="new", baseline="old")


def test_few_positives_are_said():
    found = pr.gate(data(40), candidate="new", baseline="old")
    assert any(note.startswith("Only ") and "rough" in note for note in found.notes)


# A stored baseline.


def test_a_stored_baseline_is_wider_and_says_so(tmp_path):
    paired = pr.gate(ROWS, candidate="new", baseline="old").rules[0]
    found = pr.gate(ROWS, candidate="new", baseline=ROWS["old"])
    rule = found.rules[0]
    assert (found.paired, found.baseline, rule.method) == (False, "stored ranking", "unpaired")
    assert rule.estimate == pytest.approx(paired.estimate)
    assert rule.low < paired.low
    assert rule.high > paired.high
    assert "wider than a comparison row by row" in found.notes[0]
    new, old = (pr.interval(ROWS, model=name, confidence_level=0.9) for name in ("new", "old"))
    down = math.sqrt((new.estimate - new.low) ** 2 + (old.high - old.estimate) ** 2)
    up = math.sqrt((new.high - new.estimate) ** 2 + (old.estimate - old.low) ** 2)
    assert (rule.low, rule.high) == pytest.approx((rule.estimate - down, rule.estimate + up))
    write_ranking(tmp_path / "baseline.json", ROWS["old"], model="old")
    stored = pr.gate(ROWS, candidate="new", baseline=tmp_path / "baseline.json")
    assert stored.rules == found.rules
    assert (stored.baseline, stored.looks) == ("baseline.json", 1)


def test_a_baseline_of_other_rows_is_refused():
    other = data(700, seed=9)["old"]
    with pytest.raises(InputError, match=r"ranked on other rows: it has .* same_rows=False"):
        pr.gate(ROWS, candidate="new", baseline=other)
    assert pr.gate(ROWS, candidate="new", baseline=other, same_rows=False).paired is False
    clustered = data(clusters=np.arange(600) // 2)
    with pytest.raises(InputError, match="which rows belong together"):
        pr.gate(clustered, candidate="new", baseline=ROWS["old"])


def test_a_metric_at_a_threshold_needs_a_baseline_that_kept_it():
    options = {"candidate": "new", "metric": "precision_at_threshold(0.51)"}
    with pytest.raises(InputError, match=r"thresholds=\[0.51\]"):
        pr.gate(ROWS, baseline=ROWS["old"], **options)
    kept = pr.rank(ROWS.positive, ROWS.scores["old"], thresholds=[0.51])
    assert pr.gate(ROWS, baseline=kept, **options).rules[0].baseline is not None


# Looks.


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "baseline.json"
    write_ranking(path, ROWS["old"], model="old")
    return path


def test_looks_are_counted_and_the_same_again_is_none(stored):
    def look(**options):
        return pr.gate(ROWS, baseline=stored, **{"candidate": "new", **options}).looks

    assert [look(), look(), look(margin=0.02), look(candidate="poor"), look()] == [1, 1, 2, 3, 3]
    assert len(looking.looks_path(stored).read_text().splitlines()) == 3
    assert look(looks=9) == 9


def test_other_rows_begin_a_new_count(stored):
    pr.gate(ROWS, candidate="new", baseline=stored)
    other = data(700, seed=9)
    write_ranking(stored, other["old"], model="old")
    assert pr.gate(other, candidate="new", baseline=stored).looks == 1


def test_a_look_that_cannot_be_counted_is_said(stored):
    looking.looks_path(stored).mkdir()
    found = pr.gate(ROWS, candidate="new", baseline=stored)
    assert found.looks == 1
    assert any("could not be counted" in note for note in found.notes)
    looking.looks_path(stored).rmdir()
    looking.looks_path(stored).write_bytes(b"\xff\xfe\n")
    found = pr.gate(ROWS, candidate="new", baseline=stored)
    assert any("it is no text" in note for note in found.notes)


def test_what_looks_cost():
    once = pr.gate(ROWS, candidate="new", baseline="old", margin=0.1)
    assert once.notes == ()
    often = pr.gate(ROWS, candidate="new", baseline="old", margin=0.1, looks=5)
    assert often.rules == once.rules
    assert "all 5 together with up to 25 %" in often.notes[0]
    adjusted = pr.gate(
        ROWS, candidate="new", baseline="old", margin=0.1, looks=5, adjust_for_looks=True
    )
    assert adjusted.rule_level == pytest.approx(1 - 0.05 * 6 / (25 * math.pi**2))
    assert f"the verdict is {adjusted.verdict}" in often.notes[0]
    assert adjusted.rules[0].low < once.rules[0].low
    spent = sum(looking.error_of_look(0.05, look) for look in range(1, 100_000))
    assert 0.0499 < spent < 0.05


# For people and machines.


HOSTILE = pr.Rows(
    ROWS.positive,
    {"n|e<b>w\x1b`@you": ROWS.scores["new"], "]]>\u202e&old": ROWS.scores["old"]},
)


def test_markdown_folds_what_is_said_of_many_rules():
    rng = np.random.default_rng(1)
    y = rng.random(3000) < 0.2
    rows = pr.Rows(
        y,
        rng.normal(size=3000) + y,
        columns={"region": np.array(list("abcdefgh"))[np.arange(3000) % 8]},
    )
    [name] = rows.names
    few = pr.gate(rows, candidate=name, rules=["aucpr >= 0.9"]).markdown()
    assert "<details>" not in few
    many = pr.gate(rows, candidate=name, rules=["aucpr >= 0.9"], by=["region"]).markdown()
    assert "9 rules that did not pass, one by one" in many
    folded = many[many.index("<details>") : many.index("</details>")]
    assert folded.count("\n- aucpr of ") == 9


def test_markdown_has_a_mark_a_table_and_no_tricks():
    name, other = HOSTILE.names
    text = pr.gate(HOSTILE, candidate=name, baseline=other, margin=0.01).markdown()
    lines = text.splitlines()
    assert lines[0] == "<!-- precall gate -->"
    assert lines[1].startswith("### precall gate: ")
    assert "\x1b" not in text
    assert "<b>" not in text.replace("\\<b>", "")
    assert "@you" not in text
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 3
    assert {line.replace("\\|", "").count("|") for line in table} == {5}


@pytest.mark.parametrize("undecided", ["error", "skipped"])
def test_junit_follows_the_schema_and_counts_right(undecided):
    rules = ["auroc >= 0.999", "precision_at_recall(0.8) >= 0.05", "auroc >= baseline"]
    rules.append(f"aucpr >= {pr.aucpr(ROWS['new']):.6f}")
    found = pr.gate(ROWS, candidate="new", baseline="old", margin=0.1, rules=rules, looks=3)
    assert {rule.verdict for rule in found.rules} == {"passed", "failed", "undecided"}
    text = found.junit(undecided=undecided)
    assert junit_schema.problems(text) == []
    suite = ET.fromstring(text).find("testsuite")
    assert suite.get("tests") == "5"
    tags = [case[0].tag if len(case) else "" for case in suite.findall("testcase")]
    words = {"passed": "", "failed": "failure", "undecided": undecided}
    assert tags == [words[rule.verdict] for rule in found.rules]


def test_junit_of_hostile_names_is_still_xml():
    name, other = HOSTILE.names
    text = pr.gate(HOSTILE, candidate=name, baseline=other).junit()
    assert junit_schema.problems(text) == []
    assert "n|e<b>w\\x1b" in ET.fromstring(text).find(".//testcase").get("classname")
    with pytest.raises(InputError, match="undecided must be one of 'error', 'skipped'"):
        pr.gate(HOSTILE, candidate=name, baseline=other).junit(undecided="passed")


def test_the_schema_notices_what_is_wrong():
    wrong = (
        '<testsuite name="a" tests="2" failures="0"><testcase name="x"/><odd/></testsuite>',
        '<testsuite name="a" tests="one" failures="0" extra="1"/>',
        "<suite/>",
    )
    assert [len(junit_schema.problems(text)) for text in wrong] == [4, 3, 2]


# Slices.


def sliced(**options):
    rng = np.random.default_rng(11)
    size = 1500
    y = rng.random(size) < 0.2
    country = np.array(["DE", "FR", "LU"])[rng.choice(3, size, p=[0.6, 0.38, 0.02])]
    strength = np.where(country == "FR", 0.3, 2.0)
    scores = {
        "new": strength * y + rng.normal(size=size),
        "old": 1.9 * y + rng.normal(size=size),
    }
    columns = {"country": country, "age": rng.integers(18, 90, size)}
    return pr.Rows(y, scores, columns=columns, **options)


def test_every_rule_holds_in_every_slice_or_says_where_not():
    rows = sliced()
    rules = ["auroc >= 0.6"]
    found = pr.gate(rows, candidate="new", baseline="old", margin=0.15, rules=rules, by="country")
    assert found.too_small == ("country=LU",)
    assert [rule.slice for rule in found.rules] == [None] * 2 + ["country=DE"] * 2 + [
        "country=FR"
    ] * 2
    verdicts = {rule.title: rule.verdict for rule in found.rules}
    assert verdicts["auroc >= 0.6"] == "passed"
    assert verdicts["auroc >= 0.6 where country=DE"] == "passed"
    assert verdicts["aucpr >= baseline - 0.15 where country=FR"] == "failed"
    assert found.verdict == "failed"
    assert "where country=FR" in found.markdown()
    assert "Too few positives to judge: country=LU." in found.markdown()
    assert 'name="auroc &gt;= 0.6 where country=DE"' in found.junit()


def test_a_slice_has_the_numbers_that_slices_give_at_the_common_prevalence():
    rows = sliced()
    rule = "aucpr >= 0.5"
    found = pr.gate(rows, candidate="new", rules=rule, by=["country"], min_positives=30)
    whole = pr.slices(rows, "country", "aucpr", model="new", depth=1, min_positives=30)
    assert {part.name for part in whole.too_small} == set(found.too_small)
    expected = {part.name: part.estimate for part in whole.slices}
    parts = {each.slice: each for each in found.rules if each.slice is not None}
    assert {name: part.estimate for name, part in parts.items()} == pytest.approx(expected)
    chosen = rows.select(rows.columns["country"] == "DE")
    own = pr.interval(chosen, model="new", prevalence=rows["new"].prevalence)
    assert parts["country=DE"].low == pytest.approx(one_sided_limits(own, 0.9)[0], rel=1e-12)
    # Three rules, so that a fail is at a third of the error.
    third = own.at_level(1 - 0.1 / 3)
    assert parts["country=DE"].high == third.high


def test_the_difference_in_a_slice_is_that_of_its_rows():
    rows = sliced()
    found = pr.gate(rows, candidate="new", baseline="old", by="country", prevalence=0.1)
    part = next(rule for rule in found.rules if rule.slice == "country=FR")
    chosen = rows.select(rows.columns["country"] == "FR").only("new", "old")
    alone = pr.gate(chosen, candidate="new", baseline="old", prevalence=0.1).rules[0]
    assert (part.estimate, part.low) == (alone.estimate, alone.low)
    assert part.high > alone.high  # for all rules together


def test_numbers_are_cut_and_columns_are_not_crossed():
    found = pr.gate(sliced(), candidate="new", rules="auroc >= 0.5", by=["country", "age"])
    names = [rule.slice for rule in found.rules]
    assert len(names) == 1 + 2 + 4
    assert all("," not in name for name in names[1:])


def test_what_cannot_be_cut():
    rows = sliced()
    with pytest.raises(InputError, match="Did you mean 'country'"):
        pr.gate(rows, candidate="new", baseline="old", by="contry")
    with pytest.raises(InputError, match="a stored ranking cannot be cut"):
        pr.gate(rows, candidate="new", baseline=rows["old"], by="country")
    with pytest.raises(InputError, match="min_positives must be a whole number"):
        pr.gate(rows, candidate="new", baseline="old", by="country", min_positives=1)
    with pytest.raises(InputError, match="by needs rows with columns"):
        pr.gate(ROWS, candidate="new", baseline="old", by="country")


def test_the_limit_of_a_rule_holds_by_itself():
    """It is centred at the less biased estimate, wider with few positives, and at the guard."""
    for seed, positives in ((0, 12), (1, 40), (2, 400)):
        rng = np.random.default_rng(seed)
        y = np.repeat([True, False], [positives, 9 * positives])
        rows = pr.Rows(y, {"new": rng.normal(size=y.size) + 1.2 * y})
        found = pr.interval(rows)
        lower = {level: one_sided_limits(found, level)[0] for level in (0.8, 0.9, 0.98)}
        assert lower[0.98] < lower[0.9] < lower[0.8] < found.estimate
        assert lower[0.9] < found.at_level(0.9).low
        [rule] = pr.gate(rows, candidate="new", rules=["aucpr >= 0.1"]).rules
        assert rule.low == pytest.approx(lower[0.9], rel=1e-12)
    # A metric whose limits err alike to both sides has those of its interval.
    area = pr.interval(rows, "auroc")
    assert one_sided_limits(area, 0.9) == (area.at_level(0.9).low, area.at_level(0.9).high)
    # Nothing above a positive was seen: three negatives in a hundred may have been missed.
    perfect = pr.interval(pr.rank([1] * 50 + [0] * 100, np.arange(150, 0, -1)))
    share = 1.0 - 0.05 ** (1.0 / 100.0)
    above = 100.0 * share
    guard = np.mean([i / (i + above) for i in range(1, 51)])
    assert one_sided_limits(perfect, 0.9)[0] == pytest.approx(guard, rel=1e-9)


def test_negatives_that_were_not_seen_and_chance_add_up():
    """With lam on top, exp(-lam) of the samples show none: in those chance may take more."""
    rng = np.random.default_rng(4)
    y = np.repeat([True, False], [100, 900])
    score = rng.normal(size=1000) + 2.0 * y
    score[np.argmax(score * y)] += 10.0  # a positive on top: no negative above everything
    ranking = pr.rank(y, score)
    found = pr.interval(ranking, sampling="rows")
    estimate, unbiased = pr.aucpr(ranking), pr.aucpr(ranking, estimator="leave_one_out")
    own = (min(estimate, unbiased), found.standard_error**2)
    binomial = estimate * (1 - estimate) / 100
    error = np.sqrt((100 * own[1] + 10 * binomial) / 110)

    def limit(centre, chance):
        half = stats.t.isf(chance, 100 / 3) * error
        logit = special.expit(special.logit(centre) - half / (centre * (1 - centre)))
        turn = half / (2 * np.sqrt(centre * (1 - centre)))
        arc = np.sin(max(np.arcsin(np.sqrt(centre)) - turn, 0)) ** 2
        return (logit + min(logit, arc)) / 2

    def lowered(number):
        share = 1 - np.exp(-number / 900)
        above = [(1 - share) * each + share * 900 for each in np.cumsum(ranking.above)]
        return estimate - np.mean([k / (k + fp) for k, fp in enumerate(above, start=1)])

    alone = limit(own[0], 0.05)
    together = [
        limit(own[0] - lowered(number), 0.05 * np.exp(number) / (1 + number / 3))
        for number in (0.5, 1.0, 1.5, 2.0, 2.5)
    ]
    low = one_sided_limits(found, 0.9)[0]
    assert low == pytest.approx(min(together), rel=1e-9)
    assert low < alone - 0.005
    # Limits are nested, whatever the levels.
    lows = [one_sided_limits(found, level)[0] for level in np.linspace(0.5, 0.999, 200)]
    assert (np.diff(lows) < 0).all()


def test_a_rule_that_counts_rows_by_rank_is_not_asked_of_slices():
    """Slices have weights that nobody gave: the message says where they come from."""
    said = "recall_at_k.20. >= 0.1' cannot be asked where country=.*weighted to the common"
    with pytest.raises(InputError, match=said):
        pr.gate(sliced(), candidate="new", rules="recall_at_k(20) >= 0.1", by="country")
    assert pr.gate(sliced(), candidate="new", rules="recall_at_k(20) >= 0.01").rules
