"""Answers from few labels: exact where everything is known, by hand where little is."""

import numpy as np
import pytest
from scipy import stats

import precall as pr
from precall.audit.strata_pieces import cut
from precall.exceptions import InputError, ReliabilityWarning
from tests.naive_audit import weighted_average_precision

METRICS = (
    "aucpr",
    "aucpr(davis_goadrich)",
    "aucnpr",
    "auroc",
    "auprg",
    "precision_at_recall(0.5)",
    "precision_at_threshold(1)",
    "recall_at_threshold(1)",
    "f1_at_threshold(1)",
    "f_beta_at_threshold(1, beta=2)",
    "precision_at_k(100)",
    "recall_at_k(100)",
)


def population(seed=0, size=4000, share=0.05, digits=None):
    rng = np.random.default_rng(seed)
    y = rng.random(size) < share
    scores = rng.normal(size=size) + 2.0 * y
    return (scores if digits is None else np.round(scores, digits)), y


def drawn(y, rows):
    labels = np.full(y.size, np.nan)
    labels[rows] = y[rows]
    return labels


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("digits", [None, 1])
def test_all_labels_give_the_number_itself(metric, digits):
    scores, y = population(digits=digits)
    found = pr.interval(pr.audit.Sample(scores, y, inclusion=1.0), metric)
    truth = pr.metrics.parse(metric)(pr.Rows(y, scores))
    assert found.estimate == pytest.approx(truth, rel=1e-9)
    assert found.low == pytest.approx(truth, rel=1e-9)
    assert found.high == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("metric", METRICS)
def test_half_of_the_labels_give_an_interval_about_the_number(metric):
    scores, y = population()
    plan = pr.audit.plan(scores, budget=2000, metric=metric, rng=1)
    sample = pr.audit.Sample(scores, drawn(y, plan.rows), plan=plan)
    found = pr.interval(sample, metric, confidence_level=0.999)
    assert pr.metrics.parse(metric)(pr.Rows(y, scores)) in found
    assert found.low <= found.estimate <= found.high
    assert found.width < 0.5
    narrow = found.at_level(0.5)
    assert found.low <= narrow.low <= narrow.high <= found.high


def test_the_estimate_is_the_weighted_form():
    scores, y = population()
    rng = np.random.default_rng(3)
    strata = np.where(scores > 1.5, "top", "rest")
    rows = np.concatenate(
        [
            rng.choice(np.flatnonzero(strata == h), n, replace=False)
            for h, n in (("top", 60), ("rest", 90))
        ]
    )
    sample = pr.audit.Sample(scores, drawn(y, rows), strata=strata)
    pieces = sample.pieces("score", pr.metrics.aucpr())
    assert pieces.size.sum() == 4000
    count = np.bincount(pieces.of_label)
    weight = (pieces.size / count)[pieces.of_label]
    known = sample.known
    expected = weighted_average_precision(scores[known.rows], known.positive, weight)
    assert pr.interval(sample).estimate == pytest.approx(expected, rel=1e-12)


def test_rows_stand_for_others_of_their_tie():
    """Where strata are ties, the numbers of positives are all that average precision needs."""
    scores = np.repeat([4, 3, 2, 1], [30, 200, 1000, 5000])
    labels = np.full(scores.size, np.nan)
    labels[[0, 1, 40, 41, 42, 300, 301, 2000, 2001]] = [1, 0, 1, 1, 0, 0, 0, 1, 0]
    sample = pr.audit.Sample(scores, labels, strata=scores)
    pieces = sample.pieces("score", pr.metrics.aucpr())
    assert pieces.tied.tolist() == [1.0] * pieces.tied.size
    size = pieces.size.astype(int)
    found = np.array([12, 60, 7, 1])[np.argsort(np.argsort(-size))][::-1]
    levels = scores[sample.known.rows][np.unique(pieces.of_label, return_index=True)[1]]
    order = np.argsort(-levels)
    positive = np.concatenate([np.arange(size[h]) < found[h] for h in order])
    expected = pr.aucpr(pr.rank(positive, np.repeat(levels[order], size[order])))
    value = sample.sampled("score", pr.metrics.aucpr()).value(found.astype(float))
    assert value == pytest.approx(expected, rel=1e-12)


def test_a_tie_counts_by_its_share_of_the_piece():
    scores = np.array([5.0, 5.0, 5.0, 4.0, 3.0])
    sample = pr.audit.Sample(scores, [1, None, None, None, 0], inclusion=0.4)
    pieces = sample.pieces("score", pr.metrics.aucpr())
    assert pieces.size.tolist() == [5]
    # Two of the other four rows have the score of the first, none that of the last.
    assert pieces.tied[:2].tolist() == [0.5, 0.0]


def test_precision_at_a_threshold_is_a_share_of_one_stratum():
    scores, y = population()
    rng = np.random.default_rng(5)
    above = np.flatnonzero(scores >= 2)
    rows = np.append(
        rng.choice(above, 40, replace=False), rng.choice(np.flatnonzero(scores < 2), 40, False)
    )
    sample = pr.audit.Sample(scores, drawn(y, rows), strata=scores >= 2)
    k, size = int(y[rows[:40]].sum()), above.size
    pieces = sample.pieces("score", pr.metrics.precision_at_threshold(2))
    inside = np.unique(pieces.of_label[scores[sample.known.rows] >= 2])
    found = pr.interval(sample, "precision_at_threshold(2)")
    expected = pieces.estimate[inside].sum() / size
    assert pieces.size[inside].sum() == size
    assert found.estimate == pytest.approx(expected, rel=1e-12)
    assert abs(found.estimate - k / 40) < 0.1


def test_one_piece_has_the_limits_of_clopper_and_pearson():
    """Fifty rows are one range of ranks; the limits are drawn in by the share that is known."""
    scores = np.arange(50.0)
    labels = np.full(50, np.nan)
    labels[10:30] = [1] * 8 + [0] * 12
    found = pr.interval(pr.audit.Sample(scores, labels, inclusion=0.4), "precision_at_threshold(0)")
    exact = stats.binomtest(8, 20).proportion_ci(0.95)
    shrink = np.sqrt(0.6)
    assert found.estimate == pytest.approx(0.4)
    assert found.low == pytest.approx(0.4 - (0.4 - exact.low) * shrink)
    assert found.high == pytest.approx(0.4 + (exact.high - 0.4) * shrink)


def test_what_was_seen_is_never_excluded():
    """Eight positives were seen among fifty rows, and twelve negatives."""
    labels = np.full(50, np.nan)
    labels[:20] = [1] * 8 + [0] * 12
    sample = pr.audit.Sample(np.arange(50.0), labels, inclusion=0.4)
    found = pr.interval(sample, "precision_at_threshold(0)", confidence_level=1 - 1e-12)
    assert found.low >= 8 / 50 - 1e-11
    assert found.high <= 38 / 50 + 1e-11


def test_equal_probabilities_in_any_form_are_one_design():
    scores, y = population(size=1000)
    rows = np.random.default_rng(0).choice(1000, 200, replace=False)
    labels = drawn(y, rows)
    one, many, strata = (
        pr.interval(pr.audit.Sample(scores, labels, **design))
        for design in (
            {"inclusion": 0.2},
            {"inclusion": np.full(1000, 0.2)},
            {"strata": ["all"] * 1000},
        )
    )
    assert one.to_dict() == many.to_dict() == strata.to_dict()
    mapped = pr.audit.Sample(scores, {int(row): bool(y[row]) for row in rows}, inclusion=0.2)
    assert pr.interval(mapped).to_dict() == one.to_dict()


def test_unequal_probabilities_are_weighted():
    """Positives are drawn more often inside each stratum of similar probabilities."""
    scores, y = population(seed=2, size=4000)
    rng = np.random.default_rng(7)
    inclusion = np.clip(0.02 + 0.1 * rng.random(4000) + 0.05 * y, 0.0, 1.0)
    values = []
    for _ in range(25):
        rows = np.flatnonzero(rng.random(4000) < inclusion)
        sample = pr.audit.Sample(scores, drawn(y, rows), inclusion=inclusion)
        values.append(pr.interval(sample, "precision_at_threshold(-9)").estimate)
    error = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values) - y.mean()) < 5 * error
    assert abs(y[rows].mean() - y.mean()) > 5 * error  # the labels alone are misleading


def test_the_process_is_less_certain_than_the_rows():
    scores, y = population()
    plan = pr.audit.plan(scores, budget=1000, rng=0)
    labels = drawn(y, plan.rows)
    rows, process = (
        pr.interval(pr.audit.Sample(scores, labels, plan=plan, target=target))
        for target in ("rows", "process")
    )
    assert rows.estimate == process.estimate
    assert process.low < rows.low
    assert rows.high < process.high
    everything = pr.interval(pr.audit.Sample(scores, y, inclusion=1, target="process"))
    plain = pr.interval(pr.rank(y, scores), method="influence")
    assert everything.width == pytest.approx(plain.width, rel=0.15)


def test_several_models_are_asked_one_at_a_time():
    scores, y = population()
    other = scores + np.random.default_rng(1).normal(size=y.size)
    plan = pr.audit.plan(scores, budget=400, rng=0)
    sample = pr.audit.Sample({"a": scores, "b": other}, drawn(y, plan.rows), plan=plan)
    assert repr(sample).endswith("models: a, b)")
    assert pr.interval(sample, model="a").estimate > pr.interval(sample, model="b").estimate
    with pytest.raises(InputError, match="the sample has the models 'a', 'b': say which"):
        pr.interval(sample)


def test_a_tie_at_a_rank_is_a_piece_of_its_own():
    scores = np.array([3, 3, 2, 2, 2, 2, 1, 1])
    labels = np.array([1, np.nan, 1, 0, np.nan, np.nan, 0, np.nan])
    sample = pr.audit.Sample(scores, labels, inclusion=0.5)
    pieces = sample.pieces("score", pr.metrics.precision_at_k(4))
    assert pieces.size.tolist() == [2, 4, 2]
    # Two of two above, and half of the tie, of which half is positive.
    assert pr.interval(sample, "precision_at_k(4)").estimate == pytest.approx(3 / 4)


def test_pieces_without_labels_take_the_share_of_their_stratum():
    scores = np.arange(40.0)
    labels = np.full(40, np.nan)
    labels[:10] = [1, 0] * 5
    sample = pr.audit.Sample(scores, labels, inclusion=0.25)
    pieces = cut(scores, scores[::-1], sample.design, sample.known, thresholds=(30.0,))
    assert pieces.size.tolist() == [10, 30]
    assert pieces.estimate.tolist() == [5, 15]
    found = pr.interval(sample, "precision_at_threshold(30)")
    assert tuple(found) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("metric", "limit"),
    [("aucpr", 0.9), ("precision_at_threshold(15)", 0.9), ("auroc", 1.0), ("recall_at_k(5)", 1.0)],
)
def test_no_labelled_positive_gives_an_upper_limit(metric, limit):
    scores = np.arange(400.0)[::-1]
    labels = np.full(400, np.nan)
    labels[:40] = 0
    labels[40::4] = 0
    strata = np.arange(400) < 40
    sample = pr.audit.Sample(scores, labels, strata=strata)
    with pytest.warns(ReliabilityWarning, match="none of the 130 labelled rows is positive"):
        found = pr.interval(sample, metric)
    assert found.low == found.estimate
    assert found.high <= limit
    if metric == "aucpr":
        # 12 positives at most, since (3/4)**13 < 0.025; all of them right below the labelled rows.
        expected = pr.audit.bounds(scores, labels, max_positives=12).high
        assert found.high == pytest.approx(expected)
        assert found.at_level(0.5).high < found.high


@pytest.mark.parametrize(
    ("design", "message"),
    [
        ({}, "exactly one of plan, inclusion and strata, got none"),
        ({"inclusion": 0.5, "strata": [0] * 4}, "got inclusion and strata"),
        (
            {"inclusion": [0.5, 0.0, 0.5, 0.5]},
            r"inclusion is 0 in 1 row \(the first is row 1\) that has",
        ),
        ({"inclusion": [0.5, 0.5, 0.5, 0.0]}, "inclusion is 0 in 1 row .* nothing can be said"),
        ({"inclusion": [0.5, np.nan, 0.5, 0.5]}, "inclusion is missing in 1 row"),
        ({"inclusion": [0.5, 1.5, 0.5, 0.5]}, "at most 1, got 1.5"),
        ({"inclusion": [0.5, 0.5, 0.5, 1.0]}, "inclusion is 1 in 1 row .* without a label"),
        ({"inclusion": [0.5, 0.5]}, "one for each of the 4 scores, got 2"),
        ({"inclusion": "half"}, "inclusion must be"),
        ({"inclusion": 0.0}, "inclusion is 0"),
        (
            {"strata": ["a", "a", "b", "c"]},
            "2 strata of 3 have no label, the first is 'b' with 1 row",
        ),
        ({"strata": ["a", "a"]}, "strata must have one value for each of the 4 scores"),
        ({"strata": ["a", "a", None, "b"]}, "strata must not be missing"),
        ({"plan": 3}, "plan must be what pr.audit.plan returns"),
        ({"inclusion": 0.5, "target": "all"}, "target must be one of"),
    ],
)
def test_impossible_designs_are_refused(design, message):
    with pytest.raises(InputError, match=message):
        pr.audit.Sample([4, 3, 2, 1], [1, 0, None, None], **design)


def test_other_bad_input():
    with pytest.raises(InputError, match="labels has no label at all"):
        pr.audit.Sample([4, 3], [None, None], inclusion=0.5)
    with pytest.raises(InputError, match="scores must name at least one model"):
        pr.audit.Sample({}, [1, 0], inclusion=0.5)
    sample = pr.audit.Sample([4, 3, 2, 1], [1, 0, None, None], inclusion=0.5)
    with pytest.raises(InputError, match="prevalence has no meaning for a Sample"):
        pr.interval(sample, prevalence=0.1)
    with pytest.raises(InputError, match="method must be one of 'mover'"):
        pr.interval(sample, method="logit")
    with pytest.raises(InputError, match="has no influence values"):
        pr.interval(sample, "ndcg")
    with pytest.raises(InputError, match=r"got Sample: pass it to pr\.interval"):
        pr.aucpr(sample)
    with pytest.raises(InputError, match="needs the label of every row"):
        pr.chance_test(sample)
    with pytest.raises(InputError, match="there is no such promise with a proof"):
        pr.operating_point(sample, min_precision=0.5)


def test_a_sample_says_what_it_is():
    sample = pr.audit.Sample([4, 3, 2, 1], [1, 0, None, None], inclusion=0.5, target="process")
    assert repr(sample) == "Sample(2 of 4 rows labelled, 1 positive, about the process)"
    assert (len(sample), sample.n_labelled, sample.n_positives) == (4, 2, 1)
