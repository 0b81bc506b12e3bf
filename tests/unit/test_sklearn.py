"""scikit-learn's conventions, tried in scikit-learn itself."""

import dataclasses
import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import PrecisionRecallDisplay, average_precision_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.tree import DecisionTreeClassifier

import precall as pr
from precall.exceptions import InputError
from precall.integrations.sklearn import (
    PRDisplay,
    aucnpr_score,
    aucnpr_scorer,
    aucpr_score,
    aucpr_scorer,
    scorer,
)
from tests.datasets import random_data

pytestmark = pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")


@pytest.fixture(scope="module")
def data():
    return make_classification(n_samples=600, weights=[0.85], random_state=0)


@pytest.mark.parametrize("weights", ["none", "real", "some_zero"])
def test_agrees_with_average_precision_score(weights):
    rng = np.random.default_rng(1)
    for _ in range(300):
        y, s, w = random_data(rng, weights=weights)
        expected = average_precision_score(y, s, sample_weight=w)
        assert aucpr_score(y, s, sample_weight=w) == pytest.approx(expected, rel=1e-13)


def test_agrees_where_one_class_is_empty():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for y in ([0, 0, 0], [1, 1, 1]):
            assert aucpr_score(y, [1, 2, 3]) == average_precision_score(y, [1, 2, 3])


@pytest.mark.parametrize("average", ["macro", "micro", "weighted", "samples", None])
@pytest.mark.parametrize("weighted", [False, True])
def test_agrees_on_indicator_matrices(average, weighted):
    rng = np.random.default_rng(2)
    y = rng.random((60, 4)) < 0.4
    y[:, 0] |= ~y.any(axis=1)
    s = rng.normal(size=(60, 4)).round(1) + y
    w = rng.random(60) if weighted else None
    expected = average_precision_score(y.astype(int), s, average=average, sample_weight=w)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a row of a single class, for "samples"
        value = aucpr_score(y.astype(int), s, average=average, sample_weight=w)
    np.testing.assert_allclose(value, expected, rtol=1e-13)


def test_agrees_on_class_labels():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 90)
    s = rng.random((90, 3)) + np.eye(3)[y]
    assert aucpr_score(y, s) == pytest.approx(average_precision_score(y, s), rel=1e-13)
    with pytest.raises(InputError, match="3 classes and y_score has 2 columns"):
        aucpr_score(y, s[:, :2])
    with pytest.raises(InputError, match="they must be equal"):
        aucpr_score(np.eye(3)[y][:5], s)
    with pytest.raises(InputError, match="only 0 and 1"):
        aucpr_score(np.eye(3)[y] * 2, s)
    with pytest.raises(InputError, match="average"):
        aucpr_score(y, s, average="mean")


def test_scorers_work_in_model_selection(data):
    x, y = data
    folds = cross_val_score(LogisticRegression(), x, y, scoring=aucpr_scorer, cv=3)
    np.testing.assert_allclose(
        folds, cross_val_score(LogisticRegression(), x, y, scoring="average_precision", cv=3)
    )
    normalised = cross_val_score(LogisticRegression(), x, y, scoring=aucnpr_scorer, cv=3)
    assert np.all(normalised < folds)
    search = GridSearchCV(
        RidgeClassifier(), {"alpha": [0.1, 10.0]}, scoring=aucpr_scorer, cv=3
    ).fit(x, y)
    assert 0 < search.best_score_ <= 1
    own = make_scorer(
        aucnpr_score, response_method="predict_proba", estimator="davis_goadrich", recall=(0.2, 0.8)
    )
    assert np.all(cross_val_score(LogisticRegression(), x, y, scoring=own, cv=3) > 0)


def test_display_from_estimator_and_predictions(data):
    import matplotlib.pyplot as plt

    x, y = data
    model = LogisticRegression().fit(x, y)
    display = PRDisplay.from_estimator(model, x, y, rng=0)
    assert display.name == "LogisticRegression"
    assert display.interval.estimate == pytest.approx(
        average_precision_score(y, model.decision_function(x))
    )
    assert "LogisticRegression: AP" in display.line_.get_label()
    second = PRDisplay.from_estimator(
        DecisionTreeClassifier(max_depth=3, random_state=0).fit(x, y),
        x,
        y,
        ax=display.ax_,
        rng=0,
        band=False,
    )
    assert second.ax_ is display.ax_
    assert second.figure_ is display.figure_
    assert second.band is None
    # The floor and the random line are drawn once.
    assert sum("random" in str(line.get_label()) for line in display.ax_.lines) == 1
    flipped = PRDisplay.from_estimator(model, x, y, pos_label=0, rng=0)
    assert flipped.ranking.n_pos == (y == 0).sum()
    assert pr.auroc(flipped.ranking) == pytest.approx(pr.auroc(display.ranking))
    plt.close("all")


def test_display_says_what_is_wrong(data):
    x, y = data
    with pytest.raises(InputError, match="binary classifier"):
        PRDisplay.from_estimator(LogisticRegression().fit(x, np.arange(len(y)) % 3), x, y)
    model = LogisticRegression().fit(x, y)
    with pytest.raises(InputError, match="not a class"):
        PRDisplay.from_estimator(model, x, y, pos_label=7)
    with pytest.raises(InputError, match="has none of"):
        PRDisplay.from_estimator(model, x, y, response_method="nonsense")


def test_a_missing_value_is_no_class_of_its_own():
    scores = np.random.default_rng(0).random((4, 3))
    with pytest.raises(InputError, match=r"y_true must not be missing.*position 3"):
        aucpr_score([0.0, 1.0, 2.0, np.nan], np.column_stack([scores, scores[:, 0]]))
    bad = scores.copy()
    bad[1, 2] = np.nan
    with pytest.raises(InputError, match="y_score must not be missing"):
        aucpr_score([0, 1, 2, 0], bad)
    with pytest.raises(InputError, match="4 rows and y_score has 3"):
        aucpr_score([0, 1, 2, 0], scores[:3])
    with pytest.raises(InputError, match="y_score must hold real numbers"):
        aucpr_score([0, 1, 2, 0], scores.astype(complex))


class TestScorers:
    def test_every_metric_has_one(self, data):
        X, y = data
        model = LogisticRegression().fit(X, y)
        rows = pr.Rows(y, model.predict_proba(X)[:, 1])
        order = pr.Rows(y, model.decision_function(X))
        for name, kind in pr.METRICS.items():
            needed = {"beta", "estimator"}
            required = [
                field.name
                for field in dataclasses.fields(kind)
                if field.default is dataclasses.MISSING and field.name not in needed
            ]
            options = {"k": 50, "cost_ratio": 5, "probability": 0.2, "threshold": 0.4}
            metric = kind(**{option: options.get(option, 0.5) for option in required})
            expected = metric(order if metric.of_ranks else rows)
            sign = -1 if metric.lower_is_better else 1
            assert scorer(metric)(model, X, y) == pytest.approx(sign * expected), name

    def test_in_scikit_learn(self, data):
        X, y = data
        words = "precision_at_recall(0.8)"
        found = cross_val_score(LogisticRegression(), X, y, scoring=scorer(words), cv=3)
        assert found.shape == (3,)
        assert ((found > 0) & (found <= 1)).all()
        search = GridSearchCV(
            LogisticRegression(), {"C": [1e-6, 1.0]}, scoring=scorer("expected_cost(20)"), cv=3
        ).fit(X, y)
        assert search.best_params_["C"] == 1.0
        assert search.best_score_ < 0
        again = pickle.loads(pickle.dumps(scorer(words)))
        model = search.best_estimator_
        assert again(model, X, y) == scorer(words)(model, X, y)
        assert repr(scorer(words)).startswith(f"make_scorer({words}")

    def test_other_labels_and_weights(self, data):
        X, y = data
        names = np.where(y == 1, "bad", "good")
        model = LogisticRegression().fit(X, names)
        weight = np.linspace(0.5, 2.0, len(y))
        found = scorer("aucpr", pos_label="bad")(model, X, names, sample_weight=weight)
        ranking = pr.rank(y, -model.decision_function(X), sample_weight=weight)
        assert found == pytest.approx(pr.aucpr(ranking))


class TestFromCvResults:
    def test_one_curve_per_fold_and_their_summary(self, data):
        X, y = data
        results = cross_validate(
            LogisticRegression(), X, y, cv=4, return_estimator=True, return_indices=True
        )
        display = PRDisplay.from_cv_results(results, X, y)
        assert len(display.folds) == 4
        folds = [
            pr.rank(y[test], model.decision_function(X[test]))
            for model, test in zip(results["estimator"], results["indices"]["test"], strict=True)
        ]
        assert list(display.folds) == folds
        assert display.interval == pr.crossval_interval(folds)
        assert display.curve.area() == pytest.approx(pr.summary_curve(folds).area())
        assert "mean of 4 folds" in display.line_.get_label()
        expected = [
            average_precision_score(y[test], model.decision_function(X[test]))
            for model, test in zip(results["estimator"], results["indices"]["test"], strict=True)
        ]
        np.testing.assert_allclose([pr.aucpr(fold) for fold in folds], expected, rtol=1e-12)
        if hasattr(PrecisionRecallDisplay, "from_cv_results"):  # newer releases
            theirs = PrecisionRecallDisplay.from_cv_results(results, X, y)
            np.testing.assert_allclose(theirs.average_precision, expected, rtol=1e-12)

    def test_what_cross_validate_has_to_return(self, data):
        X, y = data
        with pytest.raises(InputError, match="return_estimator=True and return_indices=True"):
            PRDisplay.from_cv_results(cross_validate(LogisticRegression(), X, y), X, y)
