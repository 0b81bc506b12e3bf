"""Counts at every threshold that can be asked for: exact where kept, enclosed elsewhere."""

import numpy as np
import pytest
from scipy import stats

import precall as pr
from precall.evaluation.threshold_table import threshold_table


def data(rows, *, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < 0.3
    score = np.round(rng.normal(size=rows) + y, 2)
    return y, score, rng.gamma(1.0, 1.0, rows) if weighted else None


def asked(threshold, value):
    """The row that has this threshold, or the gap that it lies in."""
    place = int(np.count_nonzero(threshold >= value))
    return place, bool(place and threshold[place - 1] == value)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", [60, 20_000])
def test_whatever_threshold_is_asked_for_the_count_is_within_the_bounds(rows, weighted):
    y, score, weights = data(rows, weighted=weighted)
    w = np.ones(rows) if weights is None else weights
    ranking = pr.rank(y, score, sample_weight=weights)
    table = threshold_table(ranking, 0.95)
    gap = table.between
    thresholds = np.concatenate([np.unique(score), np.unique(score) + 0.005, [-99.0, 99.0]])
    for value in thresholds:
        selected = score >= value
        tp, fp = np.sum(w[selected & y]), np.sum(w[selected & ~y])
        place, tabulated = asked(table.threshold, value)
        if tabulated:
            assert table.tp[place - 1] == pytest.approx(tp)
            assert table.fp[place - 1] == pytest.approx(fp)
        else:
            assert gap.tp_low[place] - 1e-9 <= tp <= gap.tp_high[place] + 1e-9
            assert gap.fp_low[place] - 1e-9 <= fp <= gap.fp_high[place] + 1e-9
    if len(table) == len(ranking):  # no positive lies between two of them
        np.testing.assert_allclose(gap.tp_low, gap.tp_high, atol=1e-9)


def test_limits_between_are_those_of_the_extreme_counts():
    y, score, _ = data(200)
    table = threshold_table(pr.rank(y, score), 0.9)
    gap, n, m = table.between, int(y.sum()), int((~y).sum())

    def exact(k, total, level):
        return stats.binomtest(int(k), int(total)).proportion_ci(level, method="exact")

    for i in range(1, len(table) + 1):
        tp, low, high = gap.tp_low[i], gap.fp_low[i], gap.fp_high[i]
        assert gap.precision_low[i] == pytest.approx(exact(tp, tp + high, 0.9).low)
        assert gap.precision_high[i] == pytest.approx(exact(tp, tp + low, 0.9).high)
        assert gap.recall_low[i] == pytest.approx(exact(tp, n, 0.9).low)
        assert gap.wide_rate_low[i] == pytest.approx(exact(low, m, 0.95).low)
        assert gap.wide_rate_high[i] == pytest.approx(exact(high, m, 0.95).high)
    assert (gap.precision_low[0], gap.precision_high[0]) == (0.0, 1.0)


def test_certified_thresholds_are_among_the_tabulated():
    y, score, _ = data(20_000)
    score = score + np.random.default_rng(1).normal(scale=1e-6, size=score.size)
    ranking = pr.rank(y, score)
    every = threshold_table(ranking, 0.95)
    left_out = np.setdiff1d(ranking.threshold, every.threshold)[[5, 500]]
    table = threshold_table(ranking, 0.95, left_out.tolist())
    assert np.isin(left_out, table.threshold).all()
    assert len(table) <= 602


def test_many_models_share_the_thresholds_of_three():
    y, score, _ = data(20_000)
    score = score + np.random.default_rng(1).normal(scale=1e-6, size=score.size)
    ranking = pr.rank(y, score)
    sizes = {
        models: len(threshold_table(ranking, 0.95, n_models=models)) for models in (1, 3, 8, 50)
    }
    assert 500 < sizes[1] == sizes[3] <= 602
    assert 190 < sizes[8] <= 227
    assert 120 < sizes[50] <= 152


def test_the_page_of_eight_models_stays_under_six_megabytes(tmp_path):
    """With so many positives that every list of it is as long as it gets."""
    rng = np.random.default_rng(8)
    y = rng.random(300_000) < 0.1
    scores = {f"model {k}": rng.normal(size=y.size) + 0.3 * k * y for k in range(1, 9)}
    page = pr.evaluate(y, scores).report(tmp_path / "page.html")
    assert page.stat().st_size < 6e6
