"""Every public function that takes a Ranking: what it says to arrays, and whether counts fit.

The functions are found by their signature, so that a new one cannot be forgotten.
"""

import inspect

import numpy as np
import pytest

import precall as pr
from precall import privacy
from precall.display import mpl
from precall.exceptions import InputError

# What the functions need beside the ranking.
REQUIRED = {
    "aucpr": {},
    "confusion": {"threshold": 3},
    "curve_interval_at": {"recall": 0.5},
    "downsample_effect": {"ratio": 0.5},
    "metric_interval": {},
    "operating_point": {"min_precision": 0.5},
    "undo_downsampling": {"ratio": 0.5},
}


def takes_a_ranking(function):
    if not inspect.isfunction(function):
        return False
    parameters = inspect.signature(function).parameters.values()
    return any(p.name == "ranking" and p.annotation == "Ranking" for p in parameters)


PUBLIC = {
    **{name: getattr(pr, name) for name in pr.__all__},
    **{f"privacy.{name}": getattr(privacy, name) for name in privacy.__all__},
    "mpl.plot_estimators": mpl.plot_estimators,
}
FUNCTIONS = {name: function for name, function in PUBLIC.items() if takes_a_ranking(function)}


def options_of(name):
    if name.startswith("privacy."):
        return {"epsilon": 1.0, "budget": privacy.Budget(epsilon=1.0)}
    return REQUIRED.get(name, {})


def test_the_functions_are_found():
    assert len(FUNCTIONS) > 25
    assert {"aucpr", "pr_curve", "pr_band", "operating_point", "privacy.auroc"} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("given", [[1, 0, 1], np.array([1, 0, 1]), None, "labels"], ids=repr)
def test_anything_else_is_answered_with_the_way_out(name, given):
    with pytest.raises(InputError, match=r"got .*: pass pr\.rank\(y_true, y_score\)"):
        FUNCTIONS[name](given, **options_of(name))


@pytest.mark.parametrize("function", [pr.aucpr, pr.auroc, pr.aucnpr, pr.best_threshold])
def test_labels_and_scores_are_answered_too(function):
    with pytest.raises(InputError, match=r"pass pr\.rank\(y_true, y_score\)"):
        function([1, 0, 1], [0.9, 0.8, 0.7])
