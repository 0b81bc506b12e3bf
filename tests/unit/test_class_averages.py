"""Averages over classes that are these very ones."""

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError
from precall.groups.class_averages import _one, _together
from precall.metrics import as_metric


def classes(rng, rows=300, shares=(0.5, 0.3, 0.2), shift=1.5):
    label = rng.choice(len(shares), rows, p=shares)
    scores = rng.normal(size=(rows, len(shares)))
    return label, scores + shift * (label[:, np.newaxis] == np.arange(len(shares)))


def test_classes_that_rank_alike_are_one_class():
    rng = np.random.default_rng(1)
    y = rng.random(200) < 0.2
    s = rng.normal(size=200) + 1.5 * y
    one = pr.interval(pr.rank(y, s))
    for how in ("mean", "weighted"):
        found = pr.aggregate(
            pr.rank_classes(np.stack([y, y], 1).astype(int), np.stack([s, s], 1)), "aucpr", how=how
        ).interval
        assert found.high == pytest.approx(one.high, rel=1e-12)
        assert found.low <= one.low + 1e-12
        assert found.estimate == pytest.approx(one.estimate, rel=1e-12)
        assert found.method == "mover over classes"


def test_classes_that_go_against_each_other_vary_less_than_each():
    """Half of the rows count for one class and the other half for the other: no correlation."""
    rng = np.random.default_rng(2)
    y, s = rng.random(400) < 0.3, rng.normal(size=400)
    s = s + 1.5 * y
    labels, scores = np.zeros((800, 2), dtype=int), np.full((800, 2), -99.0)
    labels[:400, 0], labels[400:, 1] = y, y
    scores[:400, 0], scores[400:, 1] = s, s
    found = pr.aggregate(pr.rank_classes(labels, scores), "auroc").interval
    one = pr.interval(pr.rank(labels[:, 0], scores[:, 0]), "auroc")
    # The rows of the other class are negatives below all, with an influence of their own.
    assert (found.high - found.estimate) / (one.high - one.estimate) == pytest.approx(
        np.sqrt(0.5), abs=0.05
    )


@pytest.mark.parametrize("metric", ["aucpr", "auroc"])
@pytest.mark.parametrize("weighted", [False, True])
def test_summed_influence_is_what_a_little_more_weight_of_a_row_does(metric, weighted):
    rng = np.random.default_rng(3)
    label, scores = classes(rng, rows=60)
    weight = rng.exponential(size=label.size) if weighted else np.ones(label.size)
    what, step = as_metric(metric), 1e-4

    def average(row, factor):
        changed = weight.copy()
        changed[row] *= factor
        rankings = pr.rank_classes(label, scores, sample_weight=changed, pooled=False)
        return what.per_group(rankings).mean()

    derivative = np.array(
        [
            (average(row, 1 + step) - average(row, 1 - step)) / (2 * step)
            for row in range(label.size)
        ]
    )
    rankings = pr.rank_classes(label, scores, sample_weight=weight)
    parts = [_one(rankings[c], rankings.shared, c, what, 1 / 3, 0.95) for c in range(3)]
    assert sum(part.influence for part in parts) / 3 == pytest.approx(derivative, abs=1e-7)
    sizes = [np.sqrt(np.sum(part.influence**2)) for part in parts]
    together = _together(
        [(size / 3, part.influence) for size, part in zip(sizes, parts, strict=True)],
        np.zeros(label.size),
    )
    assert together == pytest.approx(np.sqrt(np.sum(derivative**2)), rel=1e-5)


def test_a_class_without_influence_varies_on_its_own():
    assert _together([(0.3, np.zeros(4)), (0.4, np.array([1.0, -1.0, 0, 0]))], np.zeros(4)) == (
        pytest.approx(0.5)
    )
    label = np.repeat([0, 1, 2], 50)
    perfect = np.eye(3)[label] * 2 + np.linspace(0, 1, 150)[:, np.newaxis]
    found = pr.aggregate(pr.rank_classes(label, perfect), "aucpr").interval
    one = pr.interval(pr.rank(label == 0, perfect[:, 0]))
    assert found.high == found.estimate == 1
    assert 1 - found.low == pytest.approx((1 - one.low) / np.sqrt(3), rel=0.1)


def test_the_order_of_rows_and_classes_does_not_matter():
    rng = np.random.default_rng(4)
    label, scores = classes(rng)
    order, columns = rng.permutation(label.size), [2, 0, 1]
    names = np.arange(3)
    for how in ("mean", "weighted", "pooled"):
        one, other = (
            pr.aggregate(pr.rank_classes(*data[:2], classes=data[2]), "aucpr", how=how).interval
            for data in (
                (label, scores, names),
                (label[order], scores[order][:, columns], names[columns]),
            )
        )
        assert (other.low, other.high) == pytest.approx((one.low, one.high), rel=1e-9)


def test_rows_of_weight_zero_are_left_out():
    label, scores = classes(np.random.default_rng(5))
    weight = (np.arange(label.size) % 3 > 0).astype(float)
    kept = weight > 0
    for how in ("mean", "weighted", "pooled"):
        with_them = pr.aggregate(pr.rank_classes(label, scores, sample_weight=weight), how=how)
        without = pr.aggregate(pr.rank_classes(label[kept], scores[kept]), how=how)
        assert with_them.interval.low == pytest.approx(without.interval.low, rel=1e-9)
        assert with_them.interval.high == pytest.approx(without.interval.high, rel=1e-9)


def test_pooled_entries_of_a_row_belong_together():
    label, scores = classes(np.random.default_rng(6))
    member = label[:, np.newaxis] == np.arange(3)
    rows = pr.Rows(member.ravel(), scores.ravel(), clusters=np.repeat(np.arange(label.size), 3))
    found = pr.aggregate(pr.rank_classes(label, scores), "aucpr", how="pooled")
    expected = pr.interval(rows)
    assert found.interval.low == pytest.approx(expected.low, rel=1e-9)
    assert found.interval.high == pytest.approx(expected.high, rel=1e-9)
    assert found.estimate == pytest.approx(expected.estimate, rel=1e-12)


def test_which_question_is_answered_can_be_said():
    rankings = pr.rank_classes(*classes(np.random.default_rng(7)))
    these, others = pr.aggregate(rankings), pr.aggregate(rankings, design="independent")
    assert these.design == these.to_dict()["design"] == "classes"
    assert others.interval.method == "t over groups"
    assert others.interval.width > 2 * these.interval.width
    assert "folds" not in " ".join(these.warnings)
    with pytest.raises(InputError, match="needs the rows that the classes share"):
        pr.aggregate(list(rankings), design="classes")
    assert pr.aggregate(list(rankings), "aucpr").design is None


def test_a_metric_without_influence_values_has_no_interval_for_these_classes():
    rankings = pr.rank_classes(*classes(np.random.default_rng(8)))
    found = pr.aggregate(rankings, "recall_at_precision(0.5)")
    assert found.interval is None
    assert "has no influence values" in " ".join(found.warnings)


def test_classes_without_positives_do_not_count():
    label, scores = classes(np.random.default_rng(9))
    wider = np.column_stack([scores, np.zeros(label.size)])
    found = pr.aggregate(pr.rank_classes(label, wider, classes=[0, 1, 2, 3]), "aucpr")
    plain = pr.aggregate(pr.rank_classes(label, scores), "aucpr")
    assert found.interval.low == pytest.approx(plain.interval.low, rel=1e-12)
    assert found.n_undefined == 1
