"""A comparison out of core is that of the same rows in memory."""

import numpy as np
import pytest

import precall as pr
from precall.engines import arrow
from precall.exceptions import InputError, ReliabilityWarning

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = 20_000
MODELS = ["new", "old", "coarse", "same"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(7)
    labels = rng.random(ROWS) < 0.03
    shared = rng.normal(size=ROWS)
    old = shared + rng.normal(size=ROWS) + labels
    return pa.table(
        {
            "y": np.where(labels, "spam", "ham"),
            "new": (shared + rng.normal(size=ROWS) + 1.3 * labels).astype(np.float32),
            "old": old,
            "coarse": np.round(10 * old).astype(np.int64),
            "same": 2 * old - 1,  # orders the rows as "old" does
            "w": rng.integers(0, 5, ROWS) / 3,
        }
    )


@pytest.fixture(scope="module")
def file(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("compare") / "scores.parquet"
    pq.write_table(table, path, row_group_size=1_500)
    return path


def in_memory(table, **options):
    scores = {name: table[name].to_numpy() for name in MODELS}
    return pr.compare(table["y"], scores, pos_label="spam", **options)


def assert_same(found, expected):
    assert (found.metric, found.method) == (expected.metric, expected.method)
    assert found.estimates == expected.estimates  # from the same counts
    assert found.differences == expected.differences
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-10)
    for pair, interval in expected.intervals.items():
        own = found.intervals[pair]
        assert (own.low, own.high) == pytest.approx((interval.low, interval.high), rel=1e-9)
        assert found.p_values[pair] == pytest.approx(expected.p_values[pair], rel=1e-7)
    for name, probability in expected.probability_best.items():
        assert found.probability_best[name] == pytest.approx(probability, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sampling": "classes", "confidence_level": 0.9},
        {"metric": "auroc", "distribution": "normal"},
        {"metric": "precision_at_recall(0.8)"},
        {"metric": pr.metrics.aucnpr(recall=(0.2, 0.9))},
    ],
    ids=str,
)
def test_the_comparison_is_that_of_the_rows_in_memory(table, file, options):
    found = arrow.compare(file, label="y", scores=MODELS, pos_label="spam", memory=2**22, **options)
    assert_same(found, in_memory(table, **options))


def test_models_that_order_the_rows_alike_differ_by_nothing(file):
    found = arrow.compare(file, label="y", scores=["old", "same"], pos_label="spam")
    assert found.differences["old", "same"] == 0.0
    interval = found.intervals["old", "same"]
    assert (interval.low, interval.high) == (0.0, 0.0)


def test_weights(table, file):
    found = arrow.compare(
        file, label="y", scores=MODELS, pos_label="spam", weight="w", memory=2**22
    )
    expected = in_memory(table, sample_weight=table["w"].to_numpy())
    np.testing.assert_allclose(
        list(found.estimates.values()), list(expected.estimates.values()), rtol=1e-12
    )
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-9)
    for pair, interval in expected.intervals.items():
        own = found.intervals[pair]
        assert (own.low, own.high) == pytest.approx(
            (interval.low, interval.high), rel=1e-8, abs=1e-12
        )


def test_text_and_streams_are_compared_too(table, tmp_path):
    csv = pytest.importorskip("pyarrow.csv")
    some = table.slice(0, 3_000).select(["y", "old", "coarse"])
    csv.write_csv(some, tmp_path / "scores.csv")
    options = {"label": "y", "scores": ["old", "coarse"], "pos_label": "spam"}
    expected = arrow.compare(some, **options)
    assert_same(arrow.compare(tmp_path / "scores.csv", **options), expected)
    assert_same(arrow.compare(lambda: some.to_reader(500), **options), expected)


def test_rows_that_are_other_ones_in_the_third_pass_are_refused(table):
    readings = []

    def reader():
        readings.append(1)
        moved = table.slice(0, 2_000)
        if len(readings) > 4:  # two models, two passes each
            moved = table.slice(1, 2_000)
        return moved.to_reader(500)

    with pytest.raises(InputError, match="the third pass read other rows than the first two"):
        arrow.compare(reader, label="y", scores=["old", "new"], pos_label="spam")


def test_what_cannot_be_compared_is_refused(table, file):
    options = {"label": "y", "pos_label": "spam"}
    for scores in (["old"], ["old", "old"], "old", None):
        with pytest.raises(InputError, match="scores must be a list with the names of at least"):
            arrow.compare(file, scores=scores, **options)
    with pytest.raises(InputError, match="data can be read only once"):
        arrow.compare(table.to_reader(), scores=["old", "new"], **options)
    with pytest.raises(InputError, match="has no influence values: compare the rows in memory"):
        arrow.compare(file, scores=["old", "new"], metric="recall_at_precision(0.5)", **options)
    with pytest.raises(InputError, match="score='gone' is not a column of the data"):
        arrow.compare(file, scores=["old", "gone"], **options)
    with pytest.warns(ReliabilityWarning, match="independent positives"):
        arrow.compare(table.slice(0, 300), scores=["old", "new"], **options)
