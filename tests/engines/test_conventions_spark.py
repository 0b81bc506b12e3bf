"""The rule given for Spark is what a real Spark prints."""

import os
import sys

import numpy as np
import pytest

import precall as pr
from precall.metrics.conventions import conventions
from tests.datasets import random_data

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = (
        sql.SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def area_under_pr(spark, y, s, w=None):
    from pyspark.ml.evaluation import BinaryClassificationEvaluator

    weights = np.ones(len(y)) if w is None else w
    rows = [(float(a), float(b), float(c)) for a, b, c in zip(y, s, weights, strict=True)]
    frame = spark.createDataFrame(rows, ["label", "score", "weight"])
    evaluator = BinaryClassificationEvaluator(
        rawPredictionCol="score", metricName="areaUnderPR", numBins=0
    )
    if w is not None:
        evaluator.setWeightCol("weight")
    return evaluator.evaluate(frame)


CASES = {
    "C1": ([1, 0, 1, 0], [3, 2, 2, 1], None),
    "C2": ([1, 0, 0, 1], [3, 3, 2, 1], None),
    "C3": ([0, 0, 1, 1], [4, 3, 2, 1], None),
    "C4": ([1, 1, 1, 0, 0, 0, 1, 0], [8, 7, 6, 5, 4, 3, 1, 1], None),
    "random": random_data(np.random.default_rng(0), max_rows=60),
    "weighted": random_data(np.random.default_rng(1), max_rows=60, weights="real"),
}


@pytest.mark.parametrize("name", CASES)
def test_area_under_pr(spark, name):
    y, s, w = CASES[name]
    found = conventions(pr.rank(y, s, sample_weight=w))["spark_area_under_pr"].value
    # Spark sums the same trapezoids in another order.
    assert found == pytest.approx(area_under_pr(spark, y, s, w), rel=1e-12)
