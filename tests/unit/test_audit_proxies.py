"""Numbers of positives with the help of a proxy."""

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError


def people(size=6000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(size) < 0.1
    return rng, y, rng.normal(size=size) + 1.5 * y


def sample_of(y, scores, rows, proxy):
    labels = np.full(y.size, np.nan)
    labels[rows] = y[rows]
    return pr.audit.Sample(scores, labels, inclusion=rows.size / y.size, proxy=proxy)


def test_a_good_proxy_lowers_the_error_and_a_useless_one_does_not_raise_it():
    rng, y, scores = people()
    good = np.clip(0.1 + 0.8 * y + 0.1 * rng.normal(size=y.size), 0, 1)
    noise = rng.random(y.size)
    metric = "recall_at_k(600)"
    truth = y[np.argsort(-scores)[:600]].sum() / y.sum()
    errors = {"none": [], "good": [], "noise": []}
    widths = {"none": [], "good": [], "noise": []}
    for _ in range(30):
        rows = rng.choice(y.size, 400, replace=False)
        for name, proxy in (("none", None), ("good", good), ("noise", noise)):
            found = pr.interval(sample_of(y, scores, rows, proxy), metric)
            errors[name].append(found.estimate - truth)
            widths[name].append(found.width)
    square = {name: np.mean(np.square(values)) for name, values in errors.items()}
    # The proxy explains nearly all of the labels: a quotient of about 10, of 30 errors each.
    assert square["none"] / square["good"] > 2.5
    assert np.mean(widths["good"]) < np.mean(widths["none"])
    assert square["noise"] / square["none"] < 1.2


def test_the_estimate_by_hand():
    """Two pieces; the weight of each is the slope of labels on the proxy in the other."""
    scores = np.repeat([2.0, 1.0], 50)
    proxy = np.concatenate([np.tile([0.8, 0.2], 25), np.tile([0.5, 0.1], 25)])
    labels = np.full(100, np.nan)
    labels[:6] = [1, 0, 1, 0, 0, 0]
    labels[50:54] = [1, 0, 1, 0]
    sample = pr.audit.Sample(scores, labels, strata=scores, proxy=proxy)
    pieces = sample.pieces("score", pr.metrics.aucpr())
    top = int(pieces.of_label[0])
    # Labelled rows have the mean proxy of their piece, so that nothing has to be put right.
    assert pieces.estimate[top] == pytest.approx(50 * 2 / 6)
    proxy[6:50] += 0.1
    moved = pr.audit.Sample(scores, labels, strata=scores, proxy=proxy)
    pieces = moved.pieces("score", pr.metrics.aucpr())
    # The slope in the other piece is 1 / .4, over its limit of 1.
    assert pieces.estimate[top] == pytest.approx(50 * 2 / 6 + 0.1 * 44)


def test_one_piece_has_nothing_to_tune_on():
    labels = [1, 0, 1, 0] + [None] * 16
    proxy = np.linspace(0, 1, 20)
    plain, helped = (
        pr.audit.Sample(np.ones(20), labels, inclusion=0.2, proxy=each) for each in (None, proxy)
    )
    assert pr.interval(plain).to_dict() == pr.interval(helped).to_dict()


def test_all_labels_need_no_proxy():
    _, y, scores = people(size=500)
    found = pr.interval(pr.audit.Sample(scores, y, inclusion=1, proxy=np.full(500, 0.3)))
    assert found.estimate == pytest.approx(pr.aucpr(pr.rank(y, scores)))
    assert found.width < 1e-9


@pytest.mark.parametrize(
    ("proxy", "message"),
    [
        ([0.5], "one probability for each of the 4 scores, got 1"),
        ([0.5, 0.5, 0.5, 1.5], r"proxy must hold probabilities, got 1.5 in 1 row"),
        ([0.5, 0.5, 0.5, np.nan], "proxy must not be missing"),
        (["a"] * 4, "proxy"),
    ],
)
def test_bad_proxies_are_refused(proxy, message):
    with pytest.raises(InputError, match=message):
        pr.audit.Sample([4, 3, 2, 1], [1, 0, None, None], inclusion=0.5, proxy=proxy)
