"""A classifier with a certified threshold: a scikit-learn estimator that keeps what it promises."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import precall as pr
from precall.exceptions import InputError, NotCertifiedError, ReliabilityWarning
from precall.integrations.certified import EXPECTED_FAILED_CHECKS
from precall.integrations.sklearn import CertifiedThresholdClassifier

pytestmark = pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")


@pytest.fixture(scope="module")
def data():
    return make_classification(4000, weights=[0.8], class_sep=1.5, random_state=0)


def certified(estimator=None, **options):
    options = {"min_precision": 0.8, "random_state": 0} | options
    return CertifiedThresholdClassifier(estimator or LogisticRegression(), **options)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        (GaussianNB(), {"min_precision": 0.5}),
        (DecisionTreeClassifier(random_state=0), {"min_recall": 0.1, "cv": 3}),
    ],
    ids=["held out", "folds"],
)
def test_scikit_learn_finds_nothing_wrong(estimator, options):
    if "on_fail" not in inspect.signature(check_estimator).parameters:
        pytest.skip("this scikit-learn cannot list the checks that are expected to fail")
    told = certified(estimator, uncertified="estimator", **options)
    failed = [
        (check["check_name"], check["exception"])
        for check in check_estimator(
            told, on_fail=None, expected_failed_checks=EXPECTED_FAILED_CHECKS
        )
        if check["status"] == "failed"
    ]
    assert not failed


def test_a_held_out_share_certifies_what_was_fitted_on_the_rest(data):
    X, y = data
    found = certified().fit(X, y)
    assert found.certificate_.certified
    assert found.certificate_.confusion.n_pos == pytest.approx(0.3 * y.sum(), abs=1)
    scores = found.estimator_.decision_function(X)
    expected = np.where(scores >= found.threshold_, 1, 0)
    np.testing.assert_array_equal(found.predict(X), expected)
    np.testing.assert_array_equal(found.decision_function(X), scores)
    np.testing.assert_array_equal(found.predict_proba(X), found.estimator_.predict_proba(X))
    assert found.n_features_in_ == X.shape[1]
    again = clone(found).fit(X, y)
    assert again.threshold_ == found.threshold_


def test_prefit_uses_every_row_and_fits_nothing(data):
    X, y = data
    model = LogisticRegression().fit(X[:2000], y[:2000])
    found = certified(model, cv="prefit").fit(X[2000:], y[2000:])
    assert found.estimator_ is model
    expected = pr.operating_point(
        pr.rank(y[2000:], model.decision_function(X[2000:])), min_precision=0.8
    )
    assert found.certificate_.to_dict() == expected.to_dict()
    with pytest.raises(NotFittedError):
        certified(LogisticRegression(), cv="prefit").fit(X, y)


def test_folds_are_approximate_and_say_so(data):
    X, y = data
    with pytest.warns(ReliabilityWarning, match="the promise is approximate"):
        found = certified(cv=5).fit(X, y)
    assert found.certificate_.confusion.n_pos == y.sum()
    np.testing.assert_array_equal(found.estimator_.coef_, LogisticRegression().fit(X, y).coef_)


def test_it_refuses_to_predict_what_it_cannot_promise(data):
    X, y = data
    asked = certified(min_precision=0.9999).fit(X, y)
    assert asked.threshold_ is None
    with pytest.raises(NotCertifiedError, match=r"no threshold can be promised .*uncertified='est"):
        asked.predict(X)
    told = certified(min_precision=0.9999, uncertified="estimator").fit(X, y)
    np.testing.assert_array_equal(told.predict(X), told.estimator_.predict(X))


def test_several_promises(data):
    X, y = data
    found = certified(min_recall=0.2, max_selected=0.5).fit(X, y)
    assert [each.name for each in found.certificate_.constraints] == [
        "precision",
        "recall",
        "selected",
    ]


@pytest.mark.parametrize("pos_label", ["good", "bad"])
@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()])
def test_either_class_can_be_the_positive_one(data, model, pos_label):
    X, y = data
    names = np.where(y == 1, "bad", "good")
    found = certified(model, pos_label=pos_label, min_precision=0.6).fit(X, names)
    said = found.predict(X)
    assert set(said) == {"good", "bad"}
    assert np.mean(names[said == pos_label] == pos_label) > 0.6


def test_in_a_pipeline_and_a_search(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), certified(RidgeClassifier()))
    assert cross_val_score(pipeline, X, y, cv=3, scoring="precision").min() > 0.75
    inside = certified(make_pipeline(StandardScaler(), LogisticRegression()))
    search = GridSearchCV(
        inside, {"estimator__logisticregression__C": [0.01, 1.0]}, cv=3, scoring="recall"
    ).fit(X, y)
    assert search.best_estimator_.certificate_.certified
    assert "confidence_level" in inside.get_params()
    assert not hasattr(certified(RidgeClassifier()), "predict_proba")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"uncertified": "perhaps"}, "uncertified must be"),
        ({"cv": "refit"}, "cv must be"),
        ({"cv": 1.5}, "cv must be"),
        ({"cv": 1}, "cv must be"),
        ({"min_precision": None}, "nothing was asked"),
        ({"min_precision": 1.5}, "min_precision must be"),
        ({"pos_label": 7}, "pos_label=7 is not a class"),
        ({"response_method": "predict_log_odds"}, "has none of predict_log_odds"),
    ],
)
def test_what_is_refused(data, options, message):
    X, y = data
    with pytest.raises(InputError, match=message):
        certified(**options).fit(X[:200], y[:200])


def test_three_classes_are_refused(data):
    X, _ = data
    with pytest.raises(ValueError, match="Only binary classification"):
        certified().fit(X[:90], np.repeat([0, 1, 2], 30))


def test_the_promise_is_kept():
    """Violations in 200 data sets, promised in at most 10 %: 40 or more have probability 2e-5."""
    rng = np.random.default_rng(0)

    def draw(size):
        y = rng.random(size) < 0.3
        return rng.normal(size=(size, 2)) + np.outer(y, [1.2, 0.6]), y.astype(int)

    fresh, truth = draw(20_000)
    violated = 0
    for seed in range(200):
        found = certified(min_precision=0.7, confidence_level=0.9, cv=0.5, random_state=seed).fit(
            *draw(400)
        )
        if found.threshold_ is not None:
            violated += truth[found.predict(fresh) == 1].mean() < 0.7
    assert violated < 40
