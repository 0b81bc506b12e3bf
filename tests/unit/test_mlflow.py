"""MLflow, for real: a run in a local folder has the numbers and the page."""

import json

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError
from precall.integrations.mlflow import evaluation_metrics, log_evaluation

pytestmark = pytest.mark.filterwarnings("ignore")  # what MLflow itself warns of


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.2
    return pr.evaluate(y, {"new (v2)": rng.normal(size=500) + 2 * y, "old": rng.normal(size=500)})


@pytest.fixture
def client(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield mlflow.MlflowClient()
    while mlflow.active_run() is not None:
        mlflow.end_run()


def test_a_run_has_the_numbers_their_limits_and_the_page(client, evaluation, tmp_path):
    run = client.create_run(client.create_experiment("test")).info.run_id
    logged = log_evaluation(evaluation, run_id=run)
    found = client.get_run(run).data.metrics
    assert found == logged
    area = evaluation.models[0].measures["aucpr"]
    assert found["precall/new _v2_/aucpr"] == area.estimate
    assert found["precall/new _v2_/aucpr.low"] == area.interval.low
    assert found["precall/old/auroc.high"] == evaluation.models[1].measures["auroc"].interval.high
    names = {file.path for file in client.list_artifacts(run)}
    assert names == {"precall-report.html", "precall-report.json"}
    path = client.download_artifacts(run, "precall-report.json", str(tmp_path))
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 (MLflow gives a text)
        assert json.load(file)["rows"] == 500


def test_it_logs_to_the_active_run(client, evaluation):
    mlflow = pytest.importorskip("mlflow")
    with mlflow.start_run() as run:
        log_evaluation(evaluation, prefix="test", report=None)
    assert "test/old/aucpr" in client.get_run(run.info.run_id).data.metrics
    assert client.list_artifacts(run.info.run_id) == []


def test_what_has_no_value_is_left_out():
    single = pr.evaluate([1, 1], {"a": [2.0, 1.0]})
    names = evaluation_metrics(single)
    assert all(np.isfinite(value) for value in names.values())
    with pytest.raises(InputError, match=r"precall\.evaluate"):
        log_evaluation(pr.rank([1, 0], [2, 1]))
