"""Options that are wrong are named, whatever they are; those that are only hard are answered."""

import numpy as np
import pandas as pd
import pytest

import precall as pr
from precall.exceptions import InputError

RANKING = pr.rank([1, 0, 1, 0], [4, 3, 2, 1])
LABELS = [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pr.crossval_interval(RANKING), "folds must be at least two rankings"),
        (lambda: pr.crossval_interval([RANKING, 0.5]), "got 1 of 2: pass a list"),
        (lambda: pr.crossval_interval(None), "folds must be at least two rankings"),
        (lambda: pr.downsample_effect([1, 0], ratio=0.5), r"pass pr\.rank\(y_true, y_score\)"),
        (lambda: pr.aggregate(np.array(1)), "rankings must be at least one Ranking"),
        (lambda: pr.aucpr(RANKING, estimator=np.array(["a", "b"])), "estimator must be one of"),
        (lambda: pr.tie_bounds(RANKING, estimator=pd.NA), "estimator must be one of"),
        (lambda: pr.best_threshold(RANKING, pd.NA), "metric must be one of"),
        (lambda: pr.f_beta(RANKING, modified=np.ones(2)), "modified must be True or False"),
        (
            lambda: pr.f_beta(RANKING, beta=-(2**2000)),
            "beta must be a number that a float can hold",
        ),
        (lambda: pr.confusion(RANKING, np.complex128(1)), "threshold must be a number"),
        (lambda: RANKING.coarsen(2**100), "max_rows must be a whole number of at most"),
        (lambda: pr.rank_groups(LABELS, LABELS, LABELS, pooled=np.ones(2)), "pooled must be True"),
        (lambda: pr.rank(LABELS, LABELS, pos_label=pd.NA), "pos_label must not be missing"),
        (lambda: pr.rank(LABELS, LABELS, pos_label=pd.Series([1])), "pos_label must be one label"),
        (lambda: pr.is_achievable("half", 0.5, 0.5), "recall must be an array"),
        (lambda: pr.is_achievable([1j], 0.5, 0.5), "recall must hold real numbers"),
        (lambda: pr.is_achievable([0.1, 0.2], [0.1] * 3, 0.5), "arrays of one shape"),
        (lambda: pr.minimum_aucpr([None]), "prevalence must be a number"),
        (lambda: pr.random_average_precision(3, 1e308), "at most"),
        (lambda: pr.rank([1, 0], np.array(["9", "8"], object)), "y_score must hold numbers, not"),
        (
            lambda: pr.interval(RANKING, progress=5, sampling="classes"),
            "progress must be a function",
        ),
        (
            lambda: pr.interval(RANKING, "auroc", progress=5, sampling="classes"),
            "progress must be a function",
        ),
        (
            lambda: pr.interval(pr.Rows(*[LABELS] * 2, clusters=LABELS), progress=5),
            "progress must be a function",
        ),
        (
            lambda: pr.compare(LABELS, {"a": LABELS, "b": LABELS}, progress=5, sampling="classes"),
            "progress must be",
        ),
        (lambda: pr.read_trec([b"q Q0 d 1 1 x"], ["q 0 d 1"]), "run must have lines of text"),
        (lambda: pr.read_trec(np.array("q"), ["q 0 d 1"]), "run must be a file or lines"),
        (lambda: pr.compare_groups(np.array(1), np.array(1)), "first must be an array of values"),
        (lambda: pr.iso_f_contours(None), "values must be an array"),
        (lambda: pr.smooth_pr_curve(RANKING, bandwidth=[1, 2, 3]), "one number per class"),
        (lambda: pr.smooth_pr_curve(RANKING, bandwidth=1e308), "bandwidth must be positive and"),
        (lambda: pr.undo_downsampling(RANKING, ratio=1e-300), "ratio must be at least"),
        (lambda: pr.summary_curve([RANKING] * 3, prevalence=1e-300), "prevalence must be at least"),
    ],
)
def test_wrong_options_are_named(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_hard_options_are_answered():
    assert pr.iso_f_contours([1e-300])[0].precision[0] == 1.0
    assert pr.band(RANKING, confidence_level=1e-300, n_resamples=100, rng=0).low.size
    # Precision is 1 up to half of the recall and almost 0 after it; the ratio's square overflows.
    heavy = pr.rank([1, 0, 1], [3, 2, 1], sample_weight=[1e-90, 1e90, 1e-90])
    assert pr.aucpr(heavy, estimator="davis_goadrich") == pytest.approx(0.5)
    almost_sure = pr.summary_curve([RANKING] * 3, confidence_level=float(np.nextafter(1.0, 0.0)))
    assert np.isfinite(almost_sure.band.high).all()
