"""Every public function that takes a Ranking: what it says to arrays, and whether counts fit.

The functions are found by their signature, so that a new one cannot be forgotten.
"""

import inspect
from dataclasses import replace

import numpy as np
import pytest

import precall as pr
from precall import ESTIMATORS
from precall.display import mpl
from precall.exceptions import InputError
from precall.inference.rules import rules_of
from precall.privacy.rescaled import centred_auroc, row_count

BOUNDED = ("average_precision", "davis_goadrich")
# Estimators whose value hangs on shares alone.
FREE = ("average_precision", "davis_goadrich", "interpolated_convex")
BANDED = ("asymptotic", "fiducial", "pointwise", "bootstrap", "clemencon_vayatis")
BEST = (
    ("f1", {}),
    ("f_beta", {"beta": 2}),
    ("modified_f1", {}),
    ("mcc", {}),
    ("balanced_accuracy", {}),
    ("cost", {"cost_ratio": 3}),
    ("precision", {"min_recall": 0.5}),
    ("recall", {"min_precision": 0.3}),
)
METRICS = (
    pr.metrics.aucpr(),
    pr.metrics.aucnpr(),
    pr.metrics.auroc(),
    pr.metrics.auprg(),
    pr.metrics.precision_at_recall(0.5),
    pr.metrics.recall_at_precision(0.3),
)

# What the functions need beside the ranking.
REQUIRED = {
    "aucpr": {},
    "confusion": {"threshold": 3},
    "downsample_effect": {"ratio": 0.5},
    "operating_point": {"min_precision": 0.5},
    "two_thresholds": {"min_precision": 0.5, "min_npv": 0.9},
    "undo_downsampling": {"ratio": 0.5},
}


def takes_a_ranking(function):
    if not inspect.isfunction(function):
        return False
    parameters = inspect.signature(function).parameters.values()
    asks = {(p.name, p.annotation) for p in parameters}
    # A Ranking, or a Ranking or Rows.
    return ("ranking", "Ranking") in asks or {("data", "Any"), ("model", "str | None")} <= asks


PUBLIC = {
    **{name: getattr(pr, name) for name in pr.__all__},
    "mpl.plot_estimators": mpl.plot_estimators,
}
FUNCTIONS = {name: function for name, function in PUBLIC.items() if takes_a_ranking(function)}


def test_the_functions_are_found():
    assert len(FUNCTIONS) > 20
    assert {"aucpr", "pr_curve", "band", "interval", "operating_point"} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("given", [[1, 0, 1], np.array([1, 0, 1]), None, "labels"], ids=repr)
def test_anything_else_is_answered_with_the_way_out(name, given):
    with pytest.raises(InputError, match=r"got .*: pass pr\.rank\(y_true, y_score\)"):
        FUNCTIONS[name](given, **REQUIRED.get(name, {}))


@pytest.mark.parametrize(
    "name",
    [
        "aucpr",
        "aucnpr",
        "auroc",
        "auprg",
        "tie_bounds",
        "pr_curve",
        "roc_curve",
        "hit_curve",
        "lift_curve",
        "gain_curve",
        "f_beta",
        "confusion",
        "best_threshold",
        "downsample_effect",
    ],
)
def test_labels_and_scores_are_answered_too(name):
    with pytest.raises(InputError, match=r"pass pr\.rank\(y_true, y_score\)"):
        FUNCTIONS[name]([1, 0, 1], [0.9, 0.8, 0.7])


def test_an_option_without_its_name_is_no_ranking():
    with pytest.raises(TypeError, match="takes 1 positional argument"):
        pr.aucpr(pr.rank([1, 0], [2, 1]), "davis_goadrich")


# Counts beyond a trillion rows. Products of two such counts do not fit an int64, and NumPy does
# not say so; counts that are floats to begin with cannot overflow.
SCALE = 10**10


def scaled(scale, dtype):
    rng = np.random.default_rng(3)
    positives, tied, above = rng.integers([[1], [0], [0]], [[9], [5], [9]], size=(3, 12))
    above[0] = 0  # a positive ranks first, so that a precision can be promised
    return pr.Ranking(
        threshold=np.arange(12, 0, -1),
        positives=positives.astype(dtype) * dtype(scale),
        tied=tied.astype(dtype) * dtype(scale),
        above=above.astype(dtype) * dtype(scale),
        below=dtype(30) * dtype(scale),
    )


def band_of(band):
    return np.concatenate([band.low, band.y, band.high])


def curve_of(curve):
    return np.concatenate([curve.x, curve.y])


def point_of(point):
    return point.precision_bound, point.recall_bound, point.recall.low, point.precision.high


def values_shown(shown):
    return [row["value"] for row in shown.to_dict().values() if not row["reason"]]


def summary_of(summary):
    return summary.prevalence, summary.aucpr, summary.floor, summary.aucnpr


def effect_of(effect):
    return *summary_of(effect.original), *summary_of(effect.downsampled)


def estimators_drawn(axes):
    return np.concatenate([patch.get_data().values for patch in axes.patches])


FEW = {"rng": 0, "n_resamples": 100}
# What to ask of each function, how to read numbers off its answer, and whether these depend on
# shares alone and not on how many rows there are.
QUESTIONS = {
    "aucnpr": [({"estimator": e}, float, e != "average_precision") for e in BOUNDED],
    "aucpr": [({"estimator": e}, float, e in FREE) for e in ESTIMATORS if e != "binormal"],
    "auprg": [({}, float, True)],
    "auroc": [({}, float, True), ({"false_positive_rate": (0.1, 0.4)}, float, True)],
    "band": [
        ({"curve": c, "method": m, "rng": 0, "n_points": 9}, band_of, False)
        for c in ("pr", "roc", "hit")
        for m in BANDED
        if (c, m) != ("hit", "asymptotic")
    ],
    "best_threshold": [
        ({"metric": m, **o}, lambda best: (best.value, best.confusion.recall), True)
        for m, o in BEST
    ],
    "confusion": [
        (
            {"threshold": 5},
            lambda c: (c.precision, c.recall, c.f1, c.accuracy, c.matthews_correlation),
            True,
        )
    ],
    "conventions": [({}, values_shown, False)],
    "cost_curve": [({}, lambda curve: curve.at(np.linspace(0.0, 1.0, 9)), True)],
    "downsample_effect": [
        ({"ratio": 0.1}, lambda e: (*summary_of(e.original), *summary_of(e.downsampled)), False)
    ],
    "f_beta": [({"modified": m}, np.asarray, True) for m in (False, True)],
    "gain_curve": [({}, lambda curve: curve.x, True)],
    "hit_curve": [({}, curve_of, True)],
    "lift_curve": [({}, lambda curve: curve.x, True)],
    "interval": [
        ({"metric": metric, "method": m, "sampling": s, **FEW}, tuple, False)
        for metric in METRICS
        for m in rules_of(metric)
        for s in ("classes", "rows")
    ],
    "mpl.plot_estimators": [({}, estimators_drawn, False)],
    "operating_point": [
        ({"min_precision": 0.3}, point_of, False),
        ({"min_precision": 0.3, "prevalence": 0.5}, point_of, False),
        ({"min_recall": 0.5}, point_of, False),
    ],
    "pr_curve": [({}, curve_of, True)],
    "roc_curve": [({}, curve_of, True)],
    "smooth_pr_curve": [({"n_points": 9}, lambda curve: curve.y, False)],
    "tie_bounds": [({"estimator": e}, tuple, e != "average_precision") for e in BOUNDED],
    "two_thresholds": [
        (
            {"min_precision": 0.3, "min_npv": 0.6},
            lambda two: (two.lower, two.upper, *two.reviewed),
            False,
        )
    ],
    "undo_downsampling": [({"ratio": 0.1}, summary_of, False)],
}


def test_no_function_is_missing_from_the_questions():
    # The scores of the one are probabilities, and those here are not: see
    # tests/unit/test_decision_curves.py. The other places rows one by one: test_chance.py.
    assert set(QUESTIONS) | {"net_benefit_curve", "chance_test"} == set(FUNCTIONS)


# What cannot count positives that were never scored; everything else does.
SMOOTHED = ("asymptotic", "bootstrap", "clemencon_vayatis")
NEEDS_EVERY_SCORE = ("auprg", "conventions", "smooth_pr_curve")


def needs_every_score(name, options):
    return (
        name in NEEDS_EVERY_SCORE
        or (name == "band" and options["method"] in SMOOTHED)
        or options.get("metric") == pr.metrics.auprg()
    )


@pytest.mark.parametrize(
    ("name", "options"),
    [(name, question[0]) for name, questions in QUESTIONS.items() for question in questions],
)
def test_missed_positives_are_counted_or_refused(name, options):
    ranking = replace(scaled(1, np.int64), missed=3)
    if needs_every_score(name, options):
        with pytest.raises(InputError, match="missed positives"):
            FUNCTIONS[name](ranking, **options)
    else:
        FUNCTIONS[name](ranking, **options)


@pytest.mark.parametrize(
    ("name", "options", "read", "scale_free"),
    [(name, *question) for name, questions in QUESTIONS.items() for question in questions],
    ids=lambda value: (
        value
        if isinstance(value, str)
        else "-".join(map(str, value))
        if isinstance(value, dict)
        else ""
    ),
)
def test_a_trillion_rows(name, options, read, scale_free):
    many, floats, few = scaled(SCALE, np.int64), scaled(SCALE, np.float64), scaled(1, np.int64)
    assert many.n_pos + many.n_neg > 10**12
    values, expected = (
        np.ravel(read(FUNCTIONS[name](ranking, **options))) for ranking in (many, floats)
    )
    # Sums of a dozen floats in the same order, but for what BLAS makes of them.
    np.testing.assert_allclose(values, expected, rtol=1e-9)
    assert (values >= 0).all()
    assert (values <= 1).all()
    if scale_free:
        small = np.ravel(read(FUNCTIONS[name](few, **options)))
        np.testing.assert_allclose(values, small, rtol=1e-9, atol=1e-12)


def test_a_trillion_rows_too_many():
    many = scaled(SCALE, np.int64)
    with pytest.raises(InputError, match="at most"):
        row_count(many)
    with pytest.raises(InputError, match="at most 50,000,000 of them"):
        pr.chance_test(many)
    for curve in ("pr", "roc", "hit"):
        with pytest.raises(InputError, match="use method='fiducial'"):
            pr.band(many, curve, method="exact")
    parts = [many, many]
    assert pr.aggregate(parts, "auroc").estimate == pytest.approx(pr.auroc(scaled(1, np.int64)))
    coarse, expected = many.coarsen(5), scaled(1, np.int64).coarsen(5)
    np.testing.assert_array_equal(coarse.threshold, expected.threshold)
    assert pr.auroc(many.at_prevalence(0.01)) == pytest.approx(pr.auroc(many), rel=1e-9)


def test_a_private_auroc_of_as_many_rows_as_are_allowed_fits():
    half = 2**30
    ranking = pr.Ranking(
        threshold=[1.0],
        positives=np.array([half]),
        tied=np.array([0]),
        above=np.array([half]),
        below=np.int64(0),
    )
    assert centred_auroc(ranking) == -0.5
