"""A threshold that was kept changes no curve, area, interval, band or choice of a threshold."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import precall as pr
from precall.evaluation import evaluate_rankings

pytestmark = pytest.mark.filterwarnings("ignore")

METRICS = [
    *(pr.metrics.aucpr(estimator=name) for name in pr.ESTIMATORS),
    pr.metrics.aucpr(recall=(0.2, 0.7)),
    pr.metrics.aucnpr(estimator="davis_goadrich"),
    pr.metrics.auroc(false_positive_rate=(0.1, 0.6)),
    pr.metrics.auroc(),
    pr.metrics.auprg(),
    pr.metrics.precision_at_recall(0.5),
    pr.metrics.recall_at_precision(0.5),
]
BY_RANK = [
    pr.metrics.precision_at_k(3),
    pr.metrics.recall_at_k(3),
    pr.metrics.ndcg(),
    pr.metrics.reciprocal_rank(),
    pr.metrics.r_precision(),
    pr.metrics.eleven_point_precision(),
]


@st.composite
def pairs(draw, weighted=None):
    """The same rows ranked without and with thresholds to keep."""
    size = draw(st.integers(4, 25))
    y = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    s = np.array(draw(st.lists(st.integers(-6, 6), min_size=size, max_size=size)), dtype=float)
    assume(all(np.unique(s[y == label]).size >= 2 for label in (True, False)))
    kept = draw(st.lists(st.integers(-16, 16).map(lambda half: half / 2), min_size=1, max_size=8))
    w = None
    if draw(st.booleans()) if weighted is None else weighted:
        w = np.array(draw(st.lists(st.integers(1, 30), min_size=size, max_size=size))) / 7
    plain = pr.rank(y, s, sample_weight=w)
    return plain, pr.rank(y, s, sample_weight=w, thresholds=kept)


def numbers(found):
    """What a result says, as one list of numbers and words."""
    if isinstance(found, dict):
        return [each for key in found for each in numbers(found[key])]
    if isinstance(found, (list, tuple, np.ndarray)):
        return [each for part in found for each in numbers(part)]
    return [found]


def same(first, second):
    ours, theirs = numbers(first), numbers(second)
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        if isinstance(mine, float) and not isinstance(other, str):
            both_nan = math.isnan(mine) and math.isnan(other)
            assert both_nan or mine == pytest.approx(other, rel=1e-12, abs=1e-12)
        else:
            assert mine == other


def answer(function, ranking):
    """What a function says, or its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = function(ranking)
        except pr.exceptions.PrecallError as error:
            return f"{type(error).__name__}: {error}"
    return found.to_dict() if hasattr(found, "to_dict") else found


def check(function, pair):
    plain, kept = pair
    same(answer(function, kept), answer(function, plain))


@pytest.mark.parametrize("metric", METRICS, ids=str)
@settings(max_examples=25)
@given(pair=pairs())
def test_metrics(metric, pair):
    check(metric, pair)
    check(lambda ranking: pr.per_group([ranking, ranking], metric), pair)


@pytest.mark.parametrize("metric", BY_RANK, ids=str)
@settings(max_examples=25)
@given(pair=pairs(weighted=False))
def test_metrics_by_rank(metric, pair):
    check(metric, pair)
    check(lambda ranking: pr.per_group([ranking, ranking], metric), pair)


CURVES = (pr.pr_curve, pr.roc_curve, pr.hit_curve, pr.lift_curve, pr.gain_curve)
OTHERS = {
    **{curve.__name__: curve for curve in CURVES},
    "smooth": pr.smooth_pr_curve,
    "tie bounds": pr.tie_bounds,
    "tie bounds of the curve": lambda r: pr.tie_bounds(r, estimator="davis_goadrich"),
    "tied share": lambda r: r.tied_share,
    "sizes": lambda r: (r.n_pos, r.n_neg, r.prevalence, r.effective_sizes),
    "coarsened": lambda r: pr.tie_bounds(r.coarsen(2)),
    "prevalence": lambda r: pr.aucpr(r.at_prevalence(0.1)),
    # Keras is the one that asks for thresholds of its own.
    "conventions": lambda r: [x for x in pr.conventions(r) if x.name != "keras_auc_pr"],
    "downsampled": lambda r: pr.downsample_effect(r, ratio=0.5),
    "undone": lambda r: pr.undo_downsampling(r, ratio=0.5),
    "promised precision": lambda r: pr.operating_point(r, min_precision=0.6),
    "promised recall": lambda r: pr.operating_point(r, min_recall=0.3),
    "promised elsewhere": lambda r: pr.operating_point(r, min_precision=0.3, prevalence=0.4),
    "folds": lambda r: pr.crossval_interval([r, r]),
    "average": lambda r: pr.aggregate([r, r]),
    "chance": lambda r: pr.metrics.aucpr().random(r),
    "floor": lambda r: pr.metrics.aucpr().floor(r),
    **{
        f"best {name}": lambda r, name=name, option=option: pr.best_threshold(r, name, **option)
        for name, option in {
            "f1": {},
            "f_beta": {"beta": 2.0},
            "modified_f1": {},
            "mcc": {},
            "balanced_accuracy": {},
            "cost": {"cost_ratio": 3.0},
            "precision": {"min_recall": 0.5},
            "recall": {"min_precision": 0.4},
        }.items()
    },
}


@pytest.mark.parametrize("name", OTHERS)
@settings(max_examples=25)
@given(pair=pairs())
def test_what_is_asked_of_a_ranking(name, pair):
    check(OTHERS[name], pair)


RULES = [
    (metric, method)
    for metric in (
        pr.metrics.aucpr(),
        pr.metrics.aucnpr(),
        pr.metrics.auroc(),
        pr.metrics.auprg(),
        pr.metrics.precision_at_recall(0.5),
        pr.metrics.recall_at_precision(0.5),
    )
    for method in metric.rules
]


@pytest.mark.parametrize(("metric", "method"), RULES, ids=str)
@settings(max_examples=5)
@given(pair=pairs())
def test_intervals(metric, method, pair):
    check(
        lambda ranking: tuple(pr.interval(ranking, metric, method=method, n_resamples=50, rng=3)),
        pair,
    )


BANDS = [(curve, method) for curve in ("pr", "roc", "hit") for method in pr.BANDS]


@pytest.mark.parametrize(("curve", "method"), BANDS)
@settings(max_examples=4)
@given(pair=pairs())
def test_bands(curve, method, pair):
    check(lambda r: band_of(r, curve, method), pair)


def band_of(ranking, curve, method):
    drawn = {} if method == "exact" else {"n_resamples": 100}
    band = pr.band(ranking, curve, method=method, n_points=5, rng=2, **drawn)
    return [band.x, band.low, band.y, band.high]


@settings(max_examples=5)
@given(pair=pairs())
def test_an_evaluation(pair):
    check(lambda ranking: evaluate_rankings({"model": ranking}).to_dict(), pair)


@settings(max_examples=25)
@given(pair=pairs(weighted=False))
def test_without_weights_the_ranking_of_positives_is_the_same(pair):
    plain, kept = pair
    assert kept.of_positives == plain
