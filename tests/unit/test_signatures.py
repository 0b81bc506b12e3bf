"""Everything after the data and the metric is given by name, in every public function."""

import inspect
import warnings

import pytest

import precall as pr
from precall import privacy

PUBLIC = {
    f"{place.__name__}.{name}": function
    for place in (pr, privacy)
    for name in place.__all__
    if inspect.isfunction(function := getattr(place, name))
}
#: What may follow the first argument by position: the rest of the data, then what is asked.
DATA = {"y_score", "scores", "scores_matrix", "groups", "fold", "second", "qrels", "n_neg"}
ASKED = {"metric", "curve"}
#: Other arguments that may, each with the reason why. Keep this short.
EXCEPTIONS = {
    ("precall.confusion", "threshold"): "what is asked, as a metric is elsewhere",
    ("precall.is_achievable", "precision"): "the second coordinate of the point",
    ("precall.is_achievable", "prevalence"): "all three together say which point is meant",
    ("precall.slices", "by"): "what the data are cut by, without which nothing can be asked",
    ("precall.privacy.measure_epsilon", "data"): "what the mechanism is run on",
    ("precall.privacy.measure_epsilon", "neighbour"): "and what it is compared with",
}


def by_position(function):
    """Names of the parameters after the first that a caller may give without a name."""
    kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
    parameters = list(inspect.signature(function).parameters.values())
    return [p.name for p in parameters[1:] if p.kind not in kinds]


def test_the_functions_are_found():
    assert {"precall.aucpr", "precall.interval", "precall.privacy.auroc"} <= set(PUBLIC)
    assert len(PUBLIC) > 40


@pytest.mark.parametrize("name", PUBLIC)
def test_options_are_given_by_name(name):
    found = [
        argument
        for argument in by_position(PUBLIC[name])
        if argument not in DATA | ASKED and (name, argument) not in EXCEPTIONS
    ]
    assert not found, f"{name}: put * before {', '.join(found)}"


def test_every_exception_is_still_needed():
    for name, argument in EXCEPTIONS:
        assert argument in by_position(PUBLIC[name])
    assert all(EXCEPTIONS.values())


def test_what_is_asked_comes_after_the_data():
    for name, function in PUBLIC.items():
        kinds = [argument in ASKED for argument in by_position(function)]
        assert kinds == sorted(kinds), name


def test_the_reader_of_signatures_finds_every_kind():
    def one(data, metric, estimator="a", *rest, recall=0, **options):
        pass

    assert by_position(one) == ["metric", "estimator", "rest"]


@pytest.mark.parametrize(
    "ask", [pr.aucpr, pr.aucnpr, pr.auroc, pr.auprg, pr.f_beta], ids=lambda ask: ask.__name__
)
def test_a_warning_points_at_the_caller(ask):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask(pr.rank([0, 0], [2, 1]))
    assert {warning.filename for warning in caught} == {__file__}
