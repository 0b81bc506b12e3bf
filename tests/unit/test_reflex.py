"""What scikit-learn's users write by reflex is answered with what to write."""

import warnings
from pathlib import Path

import pytest

import precall as pr
from precall.exceptions import InputError, UndefinedMetricWarning

Y, S = [1, 0, 1, 0], [0.9, 0.6, 0.4, 0.2]


@pytest.mark.parametrize(
    ("function", "way_out"),
    [
        (pr.cost_curve, "pr.rank(y_true, y_score)"),
        (pr.conventions, "pr.rank(y_true, y_score)"),
        (pr.net_benefit_curve, "pr.Rows(y_true, y_score)"),
        (pr.brier_curve, "pr.Rows(y_true, y_score)"),
        (pr.summary_curve, "pr.rank_groups(y_true, y_score, groups)"),
        (pr.difference_band, "pr.Rows(y_true, {'old': s_old, 'new': s_new})"),
        (pr.gate, "pr.Rows(y_true, {'old': s_old, 'new': s_new})"),
    ],
)
def test_labels_and_scores_where_one_argument_is_taken(function, way_out):
    with pytest.raises(InputError) as caught:
        function(Y, S)
    assert str(caught.value) == (
        f"{function.__name__} takes one argument without a name, got 2: pass {way_out}."
    )
    # What is named in the message is there, and whoever has it and more is told by Python.
    assert hasattr(pr, way_out.split("(")[0].removeprefix("pr."))
    with pytest.raises(TypeError, match="positional argument"):
        function(pr.rank(Y, S), "auroc")


def test_a_metric_is_called_with_one_argument():
    with pytest.raises(InputError, match=r"a metric takes one argument .* got 2: pass pr\.rank"):
        pr.metrics.auroc()(Y, S)
    with pytest.raises(TypeError, match="positional argument"):
        pr.metrics.auroc()(pr.rank(Y, S), S)


def test_warnings_of_a_metric_and_of_a_table_point_to_the_caller():
    empty = pr.rank([0, 0], [2, 1])
    for call in (pr.metrics.aucpr(), pr.conventions):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(empty)
        [warning] = [each for each in caught if each.category is UndefinedMetricWarning]
        assert Path(warning.filename) == Path(__file__)
