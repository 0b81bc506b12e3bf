"""Predicted beside observed: exact limits, tenths of the rows, and what is said."""

import json

import numpy as np
import pytest
import scipy.stats

import precall as pr
from precall.exceptions import InputError

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]


def draw(size=5000, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.5, 4.0, size)
    return rng.random(size) < p, p


def test_calibrated_scores_agree():
    y, p = draw()
    check = pr.calibration_check(pr.Rows(y, p))
    assert check.agrees
    assert check.predicted == pytest.approx(p.mean())
    expected = scipy.stats.binomtest(int(y.sum()), y.size).proportion_ci(0.95)
    assert tuple(check.observed) == pytest.approx(tuple(expected), abs=1e-8)
    assert check.message.endswith(
        f"As far as {y.sum()} positives can tell, the scores can be taken for probabilities."
    )


def test_tenths_by_hand():
    y, p = draw()
    check = pr.calibration_check(pr.Rows(y, p), confidence_level=0.9)
    order = np.argsort(p)
    for place, chosen in enumerate(np.split(order, 10)):
        assert check.rows[place] == 500
        assert check.tenths_predicted[place] == pytest.approx(p[chosen].mean())
        expected = scipy.stats.binomtest(int(y[chosen].sum()), 500).proportion_ci(0.99)
        assert tuple(check.tenths[place]) == pytest.approx(tuple(expected), abs=1e-8)
        assert check.tenths[place].estimate == y[chosen].mean()


def test_too_high_and_too_low_on_the_whole():
    y, p = draw()
    high = pr.calibration_check(pr.Rows(y, np.minimum(2 * p, 1.0)))
    assert "they are too high on the whole" in high.message
    low = pr.calibration_check(pr.Rows(y, p / 2))
    assert "they are too low on the whole" in low.message
    assert not high.agrees
    assert not low.agrees
    assert low.message.endswith("calibrate the scores first.")


def test_wrong_on_the_whole_where_no_part_shows_it():
    """The limits of the parts are wider than that of the whole, and must not be said to agree."""
    y, p = draw(2000, seed=1)
    check = pr.calibration_check(pr.Rows(y, np.minimum(1.2 * p, 1.0)))
    assert check.predicted > check.observed.high
    assert not check.disagreeing
    assert not check.agrees
    assert "None of the 10 parts of the rows by score shows it alone" in check.message
    assert "agrees" not in check.message
    assert check.message.endswith("calibrate the scores first.")


def test_one_score_has_no_parts():
    y = np.repeat([1, 0], [100, 900])
    check = pr.calibration_check(pr.Rows(y, np.full(1000, 0.1)))
    assert check.agrees
    assert "there are no parts to compare" in check.message
    assert not pr.calibration_check(pr.Rows(y, np.full(1000, 0.2))).agrees


def test_right_on_the_whole_and_wrong_in_parts():
    rng = np.random.default_rng(1)
    p = rng.uniform(0.1, 0.9, 4000)
    y = rng.random(4000) < p
    sharp = 0.5 + 1.2 * (p - 0.5)
    check = pr.calibration_check(pr.Rows(y, sharp))
    assert check.predicted in check.observed
    assert check.disagreeing
    assert "of 10 parts of the rows by score they disagree" in check.message


def test_ties_stay_together():
    y, p = draw(1000)
    check = pr.calibration_check(pr.Rows(y, np.round(p, 1)))
    assert len(check.tenths) <= 6
    assert check.rows.sum() == 1000
    one = pr.calibration_check(pr.Rows(y, np.full(1000, 0.1)))
    assert one.rows.tolist() == [1000]


def test_it_errs_as_seldom_as_it_says():
    """Of 400 calibrated data sets at most 10 % disagree: 68 or more have probability 1e-5."""
    wrong = sum(not pr.calibration_check(pr.Rows(*draw(400, seed))).agrees for seed in range(400))
    assert wrong < 68


def test_what_it_refuses_and_what_it_gives():
    y, s = [1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]
    with pytest.raises(InputError, match="go from 1 to 9: calibrate them first"):
        pr.calibration_check(pr.Rows(y, [9, 6, 4, 1]))
    with pytest.raises(InputError, match="needs every score"):
        pr.calibration_check(pr.rank(y, s))
    with pytest.raises(InputError, match="these have weights"):
        pr.calibration_check(pr.Rows(y, s, sample_weight=[1, 2, 1, 2]))
    check = pr.calibration_check(pr.Rows(y, s))
    assert json.loads(json.dumps(check.to_dict()))["agrees"] is True
    assert len(check.to_frame()) == len(check.tenths)
    assert repr(check).startswith("CalibrationCheck(predicted=0.5, observed=0.5 [")
