"""A real Dask cluster of processes gives what the same rows in memory give."""

import os
import signal

import numpy as np
import pytest

import precall as pr
from precall.engines import dask as engine
from precall.exceptions import InputError
from precall.groups.ranking_by_group import rank_groups
from tests.few_labels import check_plan_and_estimate

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

pytestmark = [
    pytest.mark.dask,
    pytest.mark.xdist_group("dask"),
    # Closing sockets and processes at the end is the cluster's business.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ROWS = 20_000
NAMES = {"label": "y", "score": "a.b"}


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    labels = (rng.random(ROWS) < 0.05).astype(np.int64)
    return pd.DataFrame(
        {
            "y": labels,
            "a.b": np.round(rng.normal(size=ROWS) + labels, 3),
            "w": rng.integers(0, 5, ROWS) / 4,
            "g": rng.choice(["north", "south", "west"], ROWS),
            "text": np.where(labels == 1, "spam", "ham"),
        }
    )


@pytest.fixture(scope="module")
def expected(frame):
    return pr.rank(frame["y"], frame["a.b"])


def test_the_result_is_that_of_rank_to_the_last_bit(client, frame, expected):
    data = dd.from_pandas(frame, npartitions=19)
    found = engine.rank(data, **NAMES)
    assert found == expected
    np.testing.assert_allclose(found.moments, expected.moments, rtol=1e-12)
    assert engine.rank(data, label="text", score="a.b", pos_label="spam") == expected


def test_thresholds_are_kept_and_missed_positives_counted(client, frame):
    asked = {"thresholds": [0.25], "missed_positives": 2}
    found = engine.rank(dd.from_pandas(frame, npartitions=5), **NAMES, **asked)
    assert found == pr.rank(frame["y"], frame["a.b"], **asked)


def test_weights_and_groups(client, frame):
    data = dd.from_pandas(frame, npartitions=5)
    found = engine.rank(data, **NAMES, weight="w")
    exact = pr.rank(frame["y"], frame["a.b"], sample_weight=frame["w"])
    assert found == exact  # weights are quarters, so their sums are exact
    for one, other in zip(found.rows, exact.rows, strict=True):
        np.testing.assert_array_equal(one, other)
    rankings = engine.rank_groups(data, **NAMES, group="g")
    in_memory = rank_groups(frame["y"], frame["a.b"], frame["g"])
    assert rankings.labels.tolist() == in_memory.labels.tolist()
    assert all(one == other for one, other in zip(rankings, in_memory, strict=True))


def test_coarsened_with_bounds_that_contain_the_exact_value(client, frame, expected):
    found = engine.rank(dd.from_pandas(frame, npartitions=7), **NAMES, max_rows=10)
    assert len(found) <= 10
    bounds = pr.tie_bounds(found)
    assert bounds.low <= pr.aucpr(expected) <= bounds.high
    assert bounds.high - bounds.low < 0.2


# Older releases of Dask warn of a scheduler beside a cluster; here that is what is wanted.
@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler:UserWarning")
def test_delayed_partitions_with_and_without_a_cluster(client, frame, expected):
    pa = pytest.importorskip("pyarrow")
    halves = [frame[:7000], pa.Table.from_pandas(frame[7000:])]
    parts = [dask.delayed(half) for half in halves]
    assert engine.rank(parts, **NAMES) == expected
    with dask.config.set(scheduler="threads"):
        assert engine.rank(parts, **NAMES) == expected


def test_workers_killed_in_both_passes_change_nothing(client, frame, expected, tmp_path):
    def part(number, rows):
        if number == 3:
            reading = len(list(tmp_path.iterdir())) + 1
            (tmp_path / str(reading)).touch()
            if reading in (1, 3):  # the first reading of each pass
                os.kill(os.getpid(), signal.SIGKILL)
        return rows

    pieces = np.array_split(np.arange(ROWS), 8)
    parts = [dask.delayed(part)(i, frame.iloc[rows]) for i, rows in enumerate(pieces)]
    assert engine.rank(parts, **NAMES) == expected
    assert len(list(tmp_path.iterdir())) >= 4


def test_errors_are_those_of_rank_with_the_count_over_all_partitions(client, frame):
    bad = frame.copy()
    bad.loc[[17, 4000, 19_000], "a.b"] = np.nan
    with pytest.raises(InputError) as in_memory:
        pr.rank(bad["y"], bad["a.b"])
    with pytest.raises(InputError) as found:
        engine.rank(dd.from_pandas(bad, npartitions=6), **NAMES)
    assert str(found.value) == str(in_memory.value).replace("y_score", "score='a.b'")

    bad = frame.copy()
    bad.loc[[15_000, 3_000], "y"] = 2
    with pytest.raises(InputError, match=r"got 3 \(.*\); the first row with a third one is 3000"):
        engine.rank(dd.from_pandas(bad, npartitions=6), **NAMES)


def test_wrong_columns_and_wrong_data(client, frame):
    with pytest.raises(InputError, match="score='a' is not a column of the data"):
        engine.rank(dd.from_pandas(frame, npartitions=2), label="y", score="a")
    with pytest.raises(InputError, match="score='a' is not a column of the data"):
        engine.rank([dask.delayed(frame)], label="y", score="a")
    with pytest.raises(InputError, match="score='text' must hold real numbers"):
        engine.rank(dd.from_pandas(frame, npartitions=2), label="y", score="text")
    with pytest.raises(InputError, match="must be a Dask data frame"):
        engine.rank(frame, **NAMES)
    mixed = pd.DataFrame({"y": pd.Series([1, "a"], dtype=object), "s": [1.0, 2.0]})
    with pytest.raises(InputError, match="values of more than one kind"):
        engine.rank([dask.delayed(mixed)], label="y", score="s")


def test_a_plan_and_its_labels_are_those_in_memory(client, frame):
    data = dd.from_pandas(frame.assign(id=range(ROWS)), npartitions=7)
    asked = ("aucpr", "precision_at_threshold(1.5)", "recall_at_k(700)")
    population = engine.scores(data, score="a.b", keep=["id"])
    given = frame["a.b"].to_numpy(), frame["y"].to_numpy()
    check_plan_and_estimate(population, *given, budget=400, metrics=asked)


def test_scores_and_names_that_cannot_be_used_are_refused(client, frame):
    scores = frame["a.b"].where(np.arange(ROWS) != 12_345)
    data = dd.from_pandas(frame.assign(**{"a.b": scores}), npartitions=3)
    with pytest.raises(InputError, match="1 bad row of 20000, the first at position 12345"):
        pr.audit.plan_of(engine.scores(data, score="a.b"), budget=100)
    with pytest.raises(InputError, match="score='z' is not a column"):
        engine.scores(data, score="z")
    with pytest.raises(InputError, match="keep must be a list of names of columns, got 'y'"):
        engine.scores(data, score="a.b", keep="y")
    with pytest.raises(InputError, match="keep must name each column once"):
        engine.scores(data, score="a.b", keep=["a.b"])
