"""The words: every finding appears where it should, and only there."""

import math
from dataclasses import replace
from importlib import resources
from types import SimpleNamespace

import numpy as np
import pytest

import precall as pr
from precall.display.sections import _tools_say, sections
from precall.evaluation import (
    answer,
    coverage,
    evaluate,
    evaluate_rankings,
    promises,
    wording,
)
from precall.evaluation.promises import kept_precision
from precall.exceptions import InputError
from scripts import make_coverage


def told(evaluation, level=None) -> str:
    return "\n".join(f.text for f in evaluation.findings if level in (None, f.level))


@pytest.fixture
def rng():
    """Anew for every test: what one draws must not depend on which ran before it."""
    return np.random.default_rng(11)


@pytest.fixture(scope="module")
def good():
    rng = np.random.default_rng(11)
    y = rng.random(2000) < 0.2
    return y, rng.normal(size=2000) + 2 * y


def test_a_good_model_gets_no_warning(good):
    y, score = good
    evaluation = evaluate(y, {"a": score})
    assert evaluation.findings == ()


def test_few_positives(rng):
    y = np.arange(500) < 14
    assert "Only 14 positives" in told(evaluate(y, {"a": rng.normal(size=500) + 2 * y}), "warning")


def test_chance_and_wrong_direction(good, rng):
    y, score = good
    assert "not clearly above chance" in told(evaluate(y, {"a": rng.normal(size=2000)}), "warning")
    assert "Nothing was flipped" in told(evaluate(y, {"a": -score}), "warning")


def test_ties_give_the_range_that_their_order_allows(good):
    y, score = good
    rough = np.round(score)
    bounds = pr.tie_bounds(pr.rank(y, rough))
    text = told(evaluate(y, {"a": rough}), "note")
    shown = text.split("AUCPR could be ")[1].split(". ")[0]
    low, high = (float(end) for end in shown.split(" to "))
    assert bounds.low - 0.001 < low <= bounds.low
    assert bounds.high <= high < bounds.high + 0.001
    assert "order inside ties" not in told(evaluate(y, {"a": score}))


def test_constant_and_perfect_scores(good):
    y, _ = good
    assert "every row the same score" in told(evaluate(y, {"a": np.ones(y.size)}), "warning")
    assert "too good to be true" in told(evaluate(y, {"a": y.astype(int)}), "warning")


def test_weights_tell_what_they_are_worth(good, rng):
    y, score = good
    weights = rng.gamma(0.2, 5.0, y.size)
    evaluation = evaluate(y, {"a": score}, sample_weight=weights)
    effective = pr.rank(y, score, sample_weight=weights).effective_sizes[0]
    assert f"worth about {effective:,.0f}" in told(evaluation, "warning")
    assert "equally weighted" not in told(evaluate(y, {"a": score}, sample_weight=np.ones(y.size)))


@pytest.mark.parametrize(("top", "said"), [(20.0, "times the average one"), (0.05, "known best")])
def test_weights_at_the_top_are_named(good, top, said):
    y, score = good
    weights = np.where(score > np.quantile(score, 0.8), top, 1.0)
    assert said in told(evaluate(y, {"a": score}, sample_weight=weights))
    even = told(evaluate(y, {"a": score}, sample_weight=np.full(y.size, top)))
    assert "top of the ranking weighs" not in even


def test_heavy_rows_below_every_positive_are_named(good):
    y, score = good
    last = score[y == 1].min()
    heavy = np.where(score < last, 0.2 * np.count_nonzero(y), 1.0)
    assert "below all others would weigh 20 %" in told(
        evaluate(y, {"a": score}, sample_weight=heavy)
    )
    light = np.where(score < last, 1.5, 1.0)
    assert "below all others" not in told(evaluate(y, {"a": score}, sample_weight=light))


def test_heavy_rows_between_positives_are_named():
    y = np.concatenate([np.tile([0, 1], 50), np.zeros(30), np.tile([1, 0], 50)])
    for heavy, named in ((40.0, True), (1.5, False)):
        weights = np.repeat([1.0, heavy, 1.0], [100, 30, 100])
        found = told(evaluate(y, {"a": -np.arange(230.0)}, sample_weight=weights))
        assert ("rows between two positives" in found) == named


def test_models_are_judged_by_the_adjusted_p_value(good, rng):
    y, score = good
    evaluation = evaluate(y, {"a": score, "worse": score + 2 * rng.normal(size=y.size)})
    assert "It is better than worse: +" in " ".join(evaluation.answer)
    same = evaluate(y, {"a": score, "alike": score + 0.01 * rng.normal(size=y.size)})
    assert "It is not shown to be better than " in " ".join(same.answer)


def test_clusters_widen_the_interval_and_are_mentioned(good):
    y, score = good
    twice = [np.repeat(values, 2) for values in (y, score, np.arange(y.size))]
    evaluation = evaluate(twice[0], {"a": twice[1]}, clusters=twice[2])
    ours = pr.interval(pr.Rows(*twice[:2], clusters=twice[2]))
    assert evaluation.models[0].measures["aucpr"].interval.low == ours.low
    plain = pr.interval(pr.rank(twice[0], twice[1]))
    effect = (ours.high - ours.low) / (plain.high - plain.low)
    assert evaluation.models[0].cluster_effect == pytest.approx(effect)
    assert f"{effect:.2g} times as wide" in told(evaluation)
    assert "read them as too narrow" in told(evaluation)
    alone = evaluate(y, {"a": score}, clusters=np.arange(y.size))
    assert alone.models[0].cluster_effect < 1.05
    assert "and may be too narrow" in told(alone)
    assert "read them as too narrow" not in told(alone)
    assert "if rows are independent" in " ".join(evaluation.answer)


def test_groups_of_one_class_and_of_other_prevalence(rng):
    group = np.repeat(["a", "b", "c"], 400)
    y = np.concatenate([rng.random(400) < 0.5, rng.random(400) < 0.1, np.zeros(400, bool)])
    evaluation = evaluate(y, {"m": rng.normal(size=1200) + y}, groups=group)
    assert "1 of 3 groups has rows of one class only" in told(evaluation)
    assert "Prevalence differs between groups" in told(evaluation)
    assert [g.name for g in evaluation.groups] == ["a", "b", "c"]
    assert evaluation.groups[2].measures[0]["aucpr"].interval is None


def test_rankings_alone_are_evaluated_but_not_compared(good):
    y, score = good
    alone = evaluate_rankings({"a": pr.rank(y, score), "b": pr.rank(y, score**3)})
    assert alone.comparison is None
    assert "not compared row by row" in told(alone)
    full = evaluate(y, {"a": score})
    assert alone.models[0].to_dict() == full.models[0].to_dict()


def test_answers_of_data_with_one_class_say_so():
    for y, word in (([0, 0], "no positives"), ([1, 1], "no negatives")):
        evaluation = evaluate(y, {"a": [1, 2]})
        assert word in evaluation.answer[0]
        # What to do about it; how many rows there are was said above.
        assert "Check the label column" in told(evaluation, "warning")
        assert "2 rows" not in told(evaluation)
        assert math.isnan(evaluation.models[0].measures["auroc"].estimate)
        assert evaluation.to_dict()["models"][0]["measures"]["auroc"]["estimate"] is None


def test_bad_arguments_are_refused():
    with pytest.raises(InputError, match="scores"):
        evaluate([0, 1], {})
    with pytest.raises(InputError, match="scores"):
        evaluate([0, 1])
    with pytest.raises(InputError, match="rankings"):
        evaluate_rankings({})
    with pytest.raises(InputError, match="confidence_level"):
        evaluate([0, 1], {"a": [1, 2]}, confidence_level=95)


def test_a_column_that_does_not_fit_is_refused_not_noted(good):
    y, score = good
    with pytest.raises(InputError, match="clusters"):
        evaluate(y, {"a": score}, clusters=[1, 2, 3])
    with pytest.raises(InputError, match="rows"):
        evaluate(y, {"a": score, "b": score[1:]})


def test_names_need_not_be_strings(good):
    y, score = good
    evaluation = evaluate(y, {1: score, 2: score**3}, curves=True)
    assert [model.name for model in evaluation.models] == ["1", "2"]
    assert evaluation.comparison is not None


def test_the_promise_in_the_answer_is_a_certified_one(good):
    y, score = good
    evaluation = evaluate(y, {"a": score})
    points = evaluation.models[0].certificates
    assert points
    sentence = evaluation.answer[-1]
    assert any(f"scores of {wording.threshold(p.threshold)} and above" in sentence for p in points)
    assert "95 % confidence, allowing for the choice among 14 precisions" in sentence


def test_what_is_quoted_of_the_best_of_several_models_holds_for_the_choice(good, rng):
    y, score = good
    scores = {name: score + rng.normal(size=y.size) for name in "abcd"}
    evaluation = evaluate(y, scores)
    best = evaluation.best
    level = 1 - 0.05 / 4
    interval = best.measures["precision_at_recall"].interval.at_level(level)
    told = wording.percent_interval(interval.estimate, interval.low, interval.high)
    assert f"precision of {told}: " in evaluation.answer[0]
    assert "The interval allows for the choice among 4 models." in evaluation.answer[0]
    sentence = evaluation.answer[-1]
    assert (
        "with 95 % confidence, allowing for the choice among 14 precisions and 4 models" in sentence
    )
    ranking = pr.rank(y, scores[best.name])
    for point in best.certificates:
        [asked] = point.constraints
        again = pr.operating_point(ranking, min_precision=asked.required, n_candidates=4 * 14)
        assert point.threshold == again.threshold
    assert any(wording.threshold(p.threshold) in sentence for p in best.certificates)
    # A difference of two that were chosen among four is left to the table.
    assert " to +" not in " ".join(evaluation.answer)
    assert "allows" not in " ".join(evaluate(y, {"a": score}).answer)


@pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")
def test_chance_is_judged_for_all_models_at_once():
    """One of 8 useless models is above chance by itself more often than one of one."""
    rng = np.random.default_rng(3)
    y = np.arange(400) < 100
    for _ in range(40):
        evaluation = evaluate_rankings(
            {name: pr.rank(y, rng.normal(size=y.size)) for name in "abcdefgh"}
        )
        area = evaluation.best.measures["aucpr"]
        jointly = area.interval.at_level(1 - 0.05 / 8).low > area.random
        if area.interval.low > area.random and not jointly:
            assert told(evaluation, "good") == ""
            return
    pytest.fail("no data set with a best model that is above chance only by itself")


@pytest.mark.parametrize("positives", [1, 5, 9])
def test_under_ten_positives_the_answer_counts_and_says_why(rng, positives):
    y = np.arange(300) < positives
    scores = {"a": rng.normal(size=300) + 2 * y, "b": rng.normal(size=300) + 1 * y}
    for models in ({"a": scores["a"]}, scores):
        evaluation = evaluate(y, models)
        text = " ".join(evaluation.to_dict()["answer"])
        assert "–" not in text  # no interval
        assert "fewer than 10 positives" in text
        assert ("which of the models is better is left open" in text) == (len(models) > 1)
        ranking = evaluation.best.ranking
        row = int(np.searchsorted(ranking.tp, 0.8 * positives - 1e-9))
        selected = ranking.tp[row] + ranking.fp[row]
        noun = "positive" if positives == 1 else "positives"
        assert f"finds {ranking.tp[row]} of the {positives} {noun} in the {selected} row" in text
        assert "–" not in "".join(f.text for f in evaluation.findings if "AUCPR of" in f.text)
    ten = np.arange(300) < 10
    assert "fewer than 10" not in " ".join(evaluate(ten, {"a": scores["a"]}).answer)


def test_positives_that_are_worth_few_are_few(good):
    y, score = good
    weights = np.where(y & (np.arange(y.size) > 20), 1e-6, 1.0)
    text = " ".join(evaluate(y, {"a": score}, sample_weight=weights).answer)
    assert "worth fewer than 10 equally weighted" in text
    ten = np.arange(300) < 10
    uneven = np.where(np.arange(300) % 2, 1.0, 2.0)
    text = " ".join(evaluate(ten, {"a": score[:300]}, sample_weight=uneven).answer)
    assert "With positives worth fewer than 10 equally weighted" in text
    nine = np.arange(300) < 9
    text = " ".join(evaluate(nine, {"a": score[:300]}, sample_weight=uneven).answer)
    assert "With fewer than 10 positives" in text
    same = evaluate(y[:100], {"a": score[:100]}, sample_weight=np.full(100, 0.1))
    assert same.n_positive_rows >= 10
    assert not same.few_positives


@pytest.mark.parametrize("value", [0.1 + 0.2, 1 / 3, 123456.789, 1e-9, 0.9999999])
def test_a_threshold_is_never_rounded_up(value):
    assert float(wording.threshold(value).replace("−", "-")) <= value
    assert float(wording.threshold(-value).replace("−", "-")) <= -value


@pytest.mark.parametrize(
    ("low", "high"), [(0.35, 0.47), (0.4119, 0.4141), (0.0, 1e-7), (0.999, 1.0), (0.0, 1.0)]
)
def test_printed_limits_are_within_half_a_digit_and_differ(low, high):
    text = wording.interval(0.5 * (low + high), low, high)
    printed = [float(part) for part in text.replace("(", " ").strip(")").replace("–", " ").split()]
    decimals = wording.decimals_for(0.5 * (high - low))
    assert abs(printed[1] - low) <= 0.5 * 10.0**-decimals
    assert abs(printed[2] - high) <= 0.5 * 10.0**-decimals
    assert printed[1] < printed[2]


def test_the_summary_of_coverage_is_that_of_the_studies():
    """Made again by: python -m scripts.make_coverage."""
    text = (resources.files("precall.evaluation") / "coverage.csv").read_text(encoding="utf-8")
    assert make_coverage.summarise() == text


def test_coverage_is_told_only_where_something_like_it_was_simulated():
    near = coverage.nearest("band", "fiducial", 45, 0.09)
    assert (near.n_pos, near.prevalence) == (50, 0.1)
    assert coverage.nearest("band", "fiducial", 45, 1e-6) is None
    assert coverage.nearest("band", "no such method", 45, 0.1) is None
    assert 0 < near.lowest <= near.highest <= 1
    assert near.like(45)


def test_more_positives_than_were_simulated_are_not_said_to_be_of_the_same_size(rng):
    largest = coverage.nearest("interval", "logit", 29_735, 0.1)
    assert not largest.like(29_735)
    y = rng.random(40_000) < 0.4
    large = sections(evaluate(y, {"a": rng.normal(size=y.size) + y}))["trust"][0]
    assert "about this size" not in large
    assert f"{largest.n_pos:g} positives" in large
    assert f"here {wording.count(np.count_nonzero(y))} positives" in large
    y = rng.random(2000) < 0.25
    assert "about this size" in sections(evaluate(y, {"a": rng.normal(size=2000) + y}))["trust"][0]


def spread(n_pos, n_neg, shift=1.0):
    """Rows of two classes with distinct scores, at quantiles that overlap."""
    y = np.repeat([True, False], [n_pos, n_neg])
    place = np.concatenate([(np.arange(size) + 0.5) / size for size in (n_pos, n_neg)])
    return y, 4 * place + shift * y + 1e-7 * np.arange(y.size)


@pytest.mark.parametrize(
    ("n_pos", "n_neg", "said", "rough"),
    [
        (50, 300, "", False),
        (49, 300, "Only 49 positives", False),
        (20, 300, "Only 20 positives", False),
        (19, 300, "Only 19 positives", True),
        (300, 49, "Only 49 negatives", False),
        (300, 50, "", False),
        (40, 40, "Only 40 positives", False),
        (40, 39, "Only 39 negatives", False),
    ],
)
def test_small_classes_are_named(n_pos, n_neg, said, rough):
    y, score = spread(n_pos, n_neg)
    text = told(evaluate(y, {"a": score}), "warning")
    assert ("Only" in text) == bool(said)
    assert said in text
    assert ("intervals are wide and rough" in text) == rough
    assert ("negatives: precision hardly" in text) == ("negatives" in said)


@pytest.mark.parametrize(("heavy", "level"), [(2.0, "note"), (30.0, "warning")])
def test_weights_that_cost_less_than_half_of_the_positives_are_a_note(heavy, level):
    """One row in ten weighs w: n positives are worth n (9 + w)^2 / (10 (9 + w^2))."""
    y, score = spread(100, 400)
    weights = np.where(np.arange(y.size) % 10, 1.0, heavy)
    worth = 100 * (9 + heavy) ** 2 / (10 * (9 + heavy**2))
    evaluation = evaluate(y, {"a": score}, sample_weight=weights)
    assert f"worth about {worth:.0f} equally" in told(evaluation, level)
    other = "note" if level == "warning" else "warning"
    assert "equally weighted" not in told(evaluation, other)


@pytest.mark.parametrize(("levels", "said"), [(9, True), (10, False), (11, False)])
def test_few_operating_points_are_mentioned_if_they_are_fewer_than_ten(levels, said):
    """Every positive above every negative: the order inside ties is harmless."""
    score = np.concatenate([np.repeat(np.arange(levels), 40), np.linspace(-2, -1, 500)])
    y = score >= 0
    text = told(evaluate(y, {"a": score}), "note")
    assert ("only that many operating points" in text) == said
    assert "order inside ties" not in text


def many_groups(rng, groups=230, rows=40_000):
    """Groups of falling size, one of them worse than the others."""
    group = np.minimum((rng.pareto(1.2, rows) * 12).astype(int), groups - 1)
    y = rng.random(rows) < 0.1
    return y, rng.normal(size=rows) + y * np.where(group == 5, 0.2, 1.8), group


def test_of_very_many_groups_those_with_most_positives_are_compared(rng):
    y, score, group = many_groups(rng)
    evaluation = evaluate(y, {"m": score}, groups=group)
    (found,) = evaluation.slices
    counts = np.bincount(group, y)
    assert len(evaluation.groups) == 200 == len(found) + len(found.too_small)
    assert len(found) == np.count_nonzero(counts >= 10)
    assert found.worst.levels == {"group": "5"}
    assert "The model is worse in 5 than in the rest of the rows." in told(evaluation, "warning")
    # The rest of a group is all other rows, those of groups that are not shown too.
    mask = group == 5
    rest = pr.interval(pr.rank(y[~mask], score[~mask]), "aucnpr", prevalence=y.mean())
    difference = found.worst.estimate - rest.estimate
    assert found.worst.difference.estimate == pytest.approx(difference, rel=1e-9)


def test_groups_are_named_as_the_caller_says(rng):
    y = rng.random(600) < 0.3
    code = rng.integers(0, 2, 600)
    names = {0: "left", 1: "right"}
    evaluation = evaluate(y, {"m": rng.normal(size=600) + y}, groups=code, group_names=names)
    assert {one.levels["group"] for one in evaluation.slices[0]} == {"left", "right"}


def test_the_lowest_group_is_not_blamed_for_what_is_shown_of_another(rng):
    """A small group is the lowest by chance; a large one is worse, and shown to be."""
    from precall.evaluation.group_table import group_sentences

    group = np.repeat(["few", "many", "rest"], [60, 4000, 4000])
    y = rng.random(group.size) < 0.3
    score = rng.normal(size=group.size) + y * np.where(group == "rest", 2.2, 1.6)
    part = np.flatnonzero(group == "few")
    score[part] = rng.normal(size=part.size) + 1.2 * y[part]
    evaluation = evaluate(y, {"m": score}, groups=group)
    lowest, shown = group_sentences(evaluation)
    assert lowest.startswith("few is the lowest of 3 groups and is not shown to be worse than")
    assert shown == "Shown to be worse than the rest: many."
    # What to know says only what is shown, and no number a second time.
    [warned] = [one.text for one in evaluation.findings if one.level == "warning"]
    assert warned == "The model is worse in many than in the rest of the rows."


def test_groups_are_compared_at_the_prevalence_that_was_given(rng):
    y = rng.random(900) < 0.3
    rows = pr.Rows(y, rng.normal(size=900) + y, columns={"g": rng.integers(0, 3, 900)})
    evaluation = evaluate(rows, groups="g", prevalence=0.05)
    ours = pr.slices(rows, "g", prevalence=0.05)
    assert [one.to_dict() for one in evaluation.slices[0]] == [one.to_dict() for one in ours]


@pytest.mark.parametrize(("few", "said"), [(0, ""), (19, "1 of 2 groups has fewer"), (20, "")])
def test_groups_with_few_positives_are_counted_and_those_without_any_are_not(few, said):
    parts = [spread(100, 400), spread(few, 500 - few)]
    y, score = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    evaluation = evaluate(y, {"a": score}, groups=np.repeat(["large", "small"], 500))
    assert ("positives: differences there" in told(evaluation)) == bool(said)
    assert said in told(evaluation)
    assert ("1 of 2 groups has rows of one class only" in told(evaluation)) == (few == 0)


def test_two_ways_to_compute_a_metric_have_two_titles(good):
    y, score = good
    other = "aucpr(estimator=davis_goadrich)"
    measures = evaluate(y, {"a": score}, metrics=[other]).models[0].measures
    assert measures["aucpr"].title == "AUCPR"
    assert measures[other].title == "AUCPR (estimator davis goadrich)"


def test_what_holds_for_all_groups_is_said_of_all():
    y, score = spread(15, 485)
    evaluation = evaluate(
        np.tile(y, 3), {"a": np.tile(score, 3)}, groups=np.repeat(["a", "b", "c"], 500)
    )
    assert "All 3 groups have fewer than 20 positives" in told(evaluation)


@pytest.mark.parametrize(("n_pos", "said"), [(200, False), (201, True), (1, True), (0, False)])
def test_prevalences_that_differ_more_than_twofold_are_mentioned(n_pos, said):
    parts = [spread(100, 400), spread(n_pos, 500 - n_pos)]
    y, score = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    evaluation = evaluate(y, {"a": score}, groups=np.repeat(["a", "b"], 500))
    assert ("Prevalence differs between groups" in told(evaluation)) == said


def test_warnings_are_for_all_models_and_praise_for_none():
    y, score = spread(200, 800, 3.0)
    models = {f"m{k}": score + 1e-3 * k * np.sin(np.arange(y.size)) for k in range(4)}
    assert told(evaluate(y, models)) == ""
    turned = evaluate(y, models | {"m3": -score})
    assert "m3 ranks positives below negatives" in told(turned, "warning")


def test_one_area_has_one_interval_whatever_the_prevalence_and_the_page(good):
    """Rows that belong together count as such in the table of other prevalences too."""
    y, score = good
    rows = pr.Rows(y, {"a": score, "b": score**3}, clusters=np.arange(y.size) // 4)
    for model in evaluate(rows).models:
        table, interval = model.prevalences, model.measures["aucpr"].interval
        at = (table.estimate[table.own], table.low[table.own], table.high[table.own])
        assert at == (interval.estimate, interval.low, interval.high)
        there = pr.interval(rows, model=model.name, prevalence=table.prevalence[3])
        assert (table.low[3], table.high[3]) == (there.low, there.high)


@pytest.mark.parametrize(("clusters", "hint"), [(19, True), (20, False)])
def test_positives_from_few_clusters_make_a_hint(good, clusters, hint):
    y, score = good
    cluster = np.where(y, np.cumsum(y) % clusters, np.arange(y.size) + clusters)
    evaluation = evaluate(y, {"a": score}, clusters=cluster)
    assert ("as a hint, with so few clusters" in evaluation.answer[0]) is hint
    assert ("from only 19 clusters" in told(evaluation, "warning")) is hint


@pytest.mark.parametrize(("n_pos", "hint"), [(19, True), (20, False)])
def test_the_first_sentence_about_few_positives_is_a_hint(n_pos, hint):
    y, score = spread(n_pos, 300)
    assert ("as a hint, with so few positives" in evaluate(y, {"a": score}).answer[0]) is hint


def test_a_wrong_direction_is_shown_with_its_interval_for_a_single_model():
    y, score = spread(200, 800, 3.0)
    alone = evaluate(y, {"a": -score})
    area = alone.models[0].measures["auroc"]
    assert f"(AUROC {area.text})" in told(alone, "warning")
    assert "–" in area.text
    both = told(evaluate(y, {"a": -score, "b": -score + 1e-3 * np.sin(score)}), "warning")
    assert f"(AUROC {area.text.partition(' (')[0]})" in both  # as the table prints it


def test_models_that_rank_alike_are_not_called_undecided(good):
    y, score = good
    evaluation = evaluate(y, {"a": score, "b": 2 * score})
    assert evaluation.answer[1] == "It ranks these rows as b does, so neither is better."
    assert answer.judge(evaluation, "a", "b").text == "a and b rank these rows alike."


def test_a_difference_is_told_from_the_better_model_whichever_was_named_first(good, rng):
    y, score = good
    models = {"good": score, "poor": score + 2 * rng.normal(size=y.size)}
    first = evaluate(y, models)
    second = evaluate(y, dict(reversed(models.items())))
    for evaluation in (first, second):
        interval = evaluation.comparison.intervals[next(iter(evaluation.comparison.intervals))]
        low, high = sorted([abs(interval.low), abs(interval.high)])
        shown = wording.interval(abs(interval.estimate), low, high, signed=True)
        verdicts = [
            answer.judge(evaluation, *pair) for pair in (("good", "poor"), ("poor", "good"))
        ]
        for verdict in verdicts:
            assert (verdict.better, verdict.worse) == ("good", "poor")
            assert verdict.difference == shown
        assert f"It is better than poor: {shown} AUCPR." in evaluation.answer


def test_the_answer_says_what_the_interval_allows_for():
    y, score = spread(200, 800, 3.0)
    models = {f"m{k}": score + 1e-3 * k * np.sin(np.arange(y.size)) for k in range(2)}
    assert "the choice among 2 models" in evaluate(y, models).answer[0]
    assert "choice among" not in evaluate(y, {"a": score}).answer[0]


def test_the_quoted_promise_is_the_highest_that_finds_a_fifth(good):
    y, score = good
    model = evaluate(y, {"a": score}).models[0]
    points = model.certificates
    assert len(points) > 2
    at = [point.recall.estimate for point in points]

    def quoted(recalls):
        made = []
        for point, recall in zip(points, recalls, strict=True):
            [beside] = point.other_bounds
            observed = replace(beside.observed, estimate=recall)
            made.append(replace(point, other_bounds=(replace(beside, observed=observed),)))
        return kept_precision(answer.promised(SimpleNamespace(certificates=tuple(made))))

    required = [kept_precision(point) for point in points]
    assert quoted([0.2] * len(at)) == required[-1]  # a fifth is enough
    assert quoted([0.9, 0.2, *[0.19] * (len(at) - 2)]) == required[1]
    assert quoted([0.19] * len(at)) == required[-1]  # none does: the highest all the same
    assert answer.promised(SimpleNamespace(certificates=())) is None


def test_with_many_scores_fewer_precisions_are_tried_and_the_rest_is_the_same(monkeypatch):
    """Fewer rungs of the same ladder: what is certified on them does not change."""
    y = np.arange(60_000) < 500  # all on top: enough for 0.95, too few for 0.99
    ranking = pr.rank(y, -np.arange(y.size))
    every = promises.certified_points(ranking, 0.95, 1)
    assert [kept_precision(point) for point in every] == [m for m in promises.LADDER if m <= 0.95]
    assert promises.certified_points(ranking.coarsen(100), 0.95, 1) == ()
    monkeypatch.setattr(promises, "_MANY_SCORES", len(ranking))
    assert promises.certified_points(ranking, 0.95, 1) == every
    monkeypatch.setattr(promises, "_MANY_SCORES", len(ranking) - 1)
    some = promises.certified_points(ranking, 0.95, 1)
    assert some == tuple(p for p in every if kept_precision(p) in promises._SHORT_LADDER)
    assert len(some) == len(promises._SHORT_LADDER)


def test_without_a_comparison_the_area_of_one_model_has_its_interval(good):
    """Said of the best of several, an interval for one model alone would be too narrow."""
    y, score = good
    alone = evaluate(y, {"a": score})
    area = alone.models[0].measures["aucpr"]
    assert f"Its AUCPR is {area.text}, where" in alone.answer[1]
    assert "(" in area.text
    both = evaluate_rankings({"a": pr.rank(y, score), "b": pr.rank(y, score**3)})
    assert (
        f"Its AUCPR is {wording.number(both.best.measures['aucpr'].estimate)}, where"
        in (both.answer[1])
    )


def test_models_that_are_equal_are_told_apart_by_their_names():
    y, score = spread(200, 800, 3.0)
    for names in ("ab", "ba"):
        evaluation = evaluate(y, dict.fromkeys(names, score))
        (other,) = {"a", "b"} - {evaluation.best.title}
        assert evaluation.answer[0].startswith(f"{evaluation.best.title} finds")
        assert f"ranks these rows as {other} does" in evaluation.answer[1]


def test_estimators_that_disagree_are_named_with_their_values():
    """Of all but the model of the scores, the lowest and the highest."""
    y, score = spread(40, 400, 1.0)
    rough = np.round(score)
    text = told(evaluate(y, {"a": rough}), "note")
    ranking = pr.rank(y, rough)
    values = {
        name: pr.aucpr(ranking, estimator=name) for name in pr.ESTIMATORS if name != "binormal"
    }
    low, high = min(values, key=values.get), max(values, key=values.get)
    decimals = wording.decimals_for(values[high] - values[low])
    shown = [
        f"{wording.number(values[name], decimals)} ({name.replace('_', ' ')})"
        for name in (low, high)
    ]
    assert f"Estimators of the area disagree on the model: from {shown[0]} to {shown[1]}." in text
    many, fine = spread(2000, 20_000, 1.0)
    assert "disagree" not in told(evaluate(many, {"a": fine}))


@pytest.mark.parametrize(("shift", "said"), [(0.1, True), (1.0, False)])
def test_a_bias_of_more_than_a_tenth_is_mentioned(shift, said):
    """With a positive on top of hardly more than random order, one row makes most of the area."""
    y, score = spread(20, 2000, shift)
    evaluation = evaluate(y, {"a": score})
    unbiased = evaluation.models[0].estimators["leave_one_out"]
    estimate = evaluation.models[0].measures["aucpr"].estimate
    assert (estimate - unbiased > 0.1 * estimate) == said
    assert ("Average precision is probably too high for the model" in told(evaluation)) == said


def test_bands_of_differences_say_that_they_take_rows_as_independent(good):
    from precall.display.sections import _dominance

    y, score = good
    models = {"a": score, "b": np.sqrt(np.abs(score)) * np.sign(score) + np.sin(np.arange(y.size))}
    together = evaluate(y, models, clusters=np.arange(y.size) // 2, curves=True)
    assert together.difference_bands
    assert all("if rows are independent)." in sentence for sentence in _dominance(together))
    assert "independent" not in " ".join(_dominance(evaluate(y, models, curves=True)))


def test_ranges_of_recall_that_hardly_part_are_shown_as_one():
    from precall.display.sections import _spans

    assert _spans([(0.51, 0.51)]) == "0.51"
    assert _spans([(0.51, 0.51), (0.53, 0.53)]) == "0.51 to 0.53"
    assert _spans([(0.1, 0.2), (0.21, 0.3), (0.6, 0.7)]) == "0.1 to 0.3 and 0.6 to 0.7"


def test_a_curve_that_is_higher_but_for_small_gaps_is_not_said_to_differ_elsewhere():
    from types import SimpleNamespace as Plain

    from precall.display.sections import _dominance

    found = {
        "verdict": "open",
        "baseline_better": (),
        "candidate_better": ((0.1, 0.5), (0.51, 0.9)),
    }
    band = Plain(x=np.array([0.1, 0.9]), diagnostics=found)
    one, two = (Plain(name=name, title=name) for name in "ab")
    evaluation = Plain(
        models=(one, two),
        best=one,
        settings=Plain(confidence_level=0.95, candidates=2, clustered=False),
        difference_bands={"b": band},
    )
    assert _dominance(evaluation) == [
        ("a is more precise at nearly every recall from 0.1 to 0.9 (95 % for the whole statement).")
    ]
    found["candidate_better"] = ((0.1, 0.5),)
    assert _dominance(evaluation) == [
        (
            "a is more precise at recall 0.1 to 0.5; at other recalls from 0.1 to 0.9 a and b "
            "cannot be distinguished (95 % for the whole statement)."
        )
    ]


def test_what_other_tools_print_is_folded_away_under_how_far_they_are_apart():
    y = np.repeat([1, 0], 50)
    evaluation = evaluate(y, {"a": np.random.default_rng(0).random(100)})
    alike = [{"numbers": ["0.5000"]}] * 3
    assert (
        _tools_say(evaluation, alike)
        == "All 3 functions of other tools print the same numbers here"
    )
    mixed = sections(evaluation)
    shown = [row["numbers"][0] for row in mixed["conventions"]]
    values = [float(text) for text in shown if text[0].isdigit()]
    assert f"print {min(values):.4f} to {max(values):.4f} for a" in mixed["tools_say"]


def test_counts_that_give_another_precision_than_the_one_printed_are_explained():
    """Between two thresholds the curve is lower than at the one that reaches the recall."""
    rng = np.random.default_rng(3)
    y = np.arange(300) < 14
    evaluation = evaluate(y, {"a": rng.normal(size=300) + 0.2 * y})
    ranking = evaluation.models[0].ranking
    row = int(np.searchsorted(np.cumsum(ranking.positives), 0.8 * 14))
    found, selected = ranking.tp[row], ranking.tp[row] + ranking.fp[row]
    assert (found, round(100 * found / 14)) == (12, 86)
    first = evaluation.answer[0]
    assert f"{wording.percent(found / selected, 0)} (" not in first
    assert "12 of them right, 86 % of the positives." in first


def test_weights_explain_a_precision_that_the_counts_do_not_give(good):
    y, score = good
    heavy = np.where(y, 3.0, 1.0)
    first = evaluate(y, {"a": score}, sample_weight=heavy).answer[0]
    assert "of them right (shares are of weights)." in first
    assert "of weights" not in evaluate(y, {"a": score}, sample_weight=np.ones(y.size)).answer[0]


def test_what_the_worst_and_a_random_order_have_is_one_number_on_a_page(rng):
    y = np.arange(300) < 6
    evaluation = evaluate(y, {"a": rng.normal(size=300) + 2 * y})
    area = evaluation.models[0].measures["aucpr"]
    worst, random = wording.number(area.floor), wording.number(area.random)
    assert f"has {worst} and a random one {random}." in evaluation.answer[1]
    assert [row for row in sections(evaluation)["trust"] if "interval of AUCPR" in row] == []


def test_the_bias_is_said_once(rng):
    y = np.arange(3000) < 30
    strong = evaluate(y, {"a": rng.normal(size=3000) + 1.5 * y})
    assert "with the bias removed" in told(strong)
    assert "biased upwards" not in told(strong)
    assert "Only 30 positives: intervals are wide." in told(strong)
    certain = evaluate(y, {"a": 1e-3 * rng.normal(size=3000) + y})
    assert "biased upwards" in told(certain)
    assert "with the bias removed" not in told(certain)


def test_clusters_that_change_nothing_are_not_called_1_times_as_wide(good):
    y, score = good
    evaluation = evaluate(y, {"a": score}, clusters=np.arange(y.size))
    assert "about the width of independent rows" in told(evaluation)
    assert " 1 times" not in told(evaluation)


def test_probabilities_that_are_none_are_warned_of_before_decisions_by_them():
    rng = np.random.default_rng(5)
    chance = rng.random(4000) ** 3
    y = rng.random(4000) < chance
    right = evaluate(y, {"a": chance}, net_benefit=True)
    assert "calibrate" not in told(right)
    both = evaluate(y, {"a": chance, "b": chance**0.25}, net_benefit=True)
    assert "those of b do not agree with what was observed: calibrate them" in told(both, "warning")
    assert [one.calibrated for one in both.decisions] == [True, False]


def test_a_page_names_the_best_model_first_in_every_difference():
    """The chart of the difference over recall does, and the signs have to agree."""
    rng = np.random.default_rng(6)
    y = rng.random(1500) < 0.2
    scores = {name: rng.normal(size=1500) + k * y for k, name in enumerate("abc")}
    evaluation = evaluate(y, scores)
    rows = sections(evaluation)["pairs"]
    assert [(row["first"], row["second"]) for row in rows] == [("a", "b"), ("c", "a"), ("c", "b")]
    interval = evaluation.comparison.intervals["a", "c"]
    turned = wording.interval(-interval.estimate, -interval.high, -interval.low, signed=True)
    assert rows[1]["difference"] == turned
    assert rows[1]["verdict"] == "c is better"


def test_bars_of_metrics_without_a_worst_ranking_have_their_own_ends(good):
    y, score = good
    asked = ["mcc_at_threshold(1)", "lift_at_k(100)", "false_positive_rate_at_threshold(1)"]
    measures = evaluate(y, {"a": score}, metrics=asked).models[0].measures
    mcc, lift, rate = list(measures.values())[-3:]
    assert (mcc.start, mcc.end) == ((-1.0, "lowest"), (1.0, "perfect"))
    assert mcc.place(mcc.estimate) == pytest.approx((mcc.estimate + 1) / 2)
    # The perfect ranking has nothing but positives among the first hundred.
    assert lift.end == (pytest.approx(y.size / y.sum()), "perfect")
    assert lift.place(lift.ceiling) == 1.0
    assert (rate.start, rate.end) == ((0.0, "perfect"), (1.0, "worst"))
    assert rate.explanation == "Rows with scores of 1 and above are selected."


def test_what_the_perfect_ranking_has_is_the_ceiling(good):
    y, _ = good
    perfect = pr.rank(y, y + 0.0, thresholds=[0.3, 0.5])
    for metric in (
        pr.metrics.precision_at_k(10),
        pr.metrics.precision_at_k(1000),
        pr.metrics.recall_at_k(10),
        pr.metrics.lift_at_k(0.5),
        pr.metrics.net_benefit(0.3),
    ):
        assert metric.ceiling(perfect) == pytest.approx(metric(perfect))
    cost = pr.metrics.expected_cost(4, threshold=0.5)
    worst = 4 * np.mean(y) + np.mean(~y)  # every positive missed, every negative an alarm
    assert cost.ceiling(perfect) == pytest.approx(worst)


def test_a_window_s_prevalence_is_the_one_it_is_compared_at():
    rng = np.random.default_rng(7)
    y = rng.random(2000) < 0.13
    evaluation = evaluate(y, rng.normal(size=2000) + 2 * y, time=np.repeat([1, 2], 1000), every=1)
    times = sections(evaluation)["times"]
    assert times["first"]["rows"][0].prevalence.startswith(f"{times['share']} (")
