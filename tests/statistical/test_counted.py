"""Coverage of the limits of what is counted, as hypotheses with an error rate."""

import numpy as np
import pytest
from scipy.stats import binom

import precall as pr
from precall.inference.rules.counted import CLOPPER_PEARSON, SeveralShares, ShareOfTrials
from precall.metrics.four_counts import SHARES, FourCounts
from precall.monitoring import windows
from precall.simulate import Binormal
from scripts.weighted_coverage import NEW, NOISE, at_thresholds, at_top

# A test here is wrong once in 10,000 times if the claim just holds, and its seed is fixed.
ALPHA = 1e-4


def covers_at_least(covered, claim):
    return np.sum(covered) >= binom.ppf(ALPHA, len(covered), claim)


@pytest.mark.parametrize("recall", [0.5, 0.9])
@pytest.mark.parametrize(("n_pos", "prevalence"), [(20, 0.01), (20, 0.5), (100, 0.1)])
def test_what_is_made_of_several_shares_covers(n_pos, prevalence, recall):
    """The counts of 4,000 data sets at the threshold of a recall, rows as they came."""
    rng = np.random.default_rng([n_pos, int(10 * recall)])
    ours, theirs = Binormal(1.0).distributions()
    rate = float(theirs.survival(ours.upper_quantile(recall)))
    total = round(n_pos / prevalence)
    n = np.clip(rng.binomial(total, prevalence, 4000), 1, total - 1)
    tp, fp = rng.binomial(n, recall), rng.binomial(total - n, rate)
    counts = FourCounts(tp, fp, n - tp, total - n - fp)
    parts = [SHARES[name] for name in ("recall", "false_positive_rate", "prevalence")]
    for metric in (
        pr.metrics.mcc_at_threshold(0),
        pr.metrics.balanced_accuracy_at_threshold(0),
        pr.metrics.f_beta_at_threshold(0, beta=2),
        pr.metrics.net_benefit(0.5 * prevalence, threshold=0),
        pr.metrics.expected_cost(20, threshold=0),
    ):
        evidence = SeveralShares(
            at=metric,
            parts=tuple(
                ShareOfTrials(share.of(counts), share.rows(counts)[1], CLOPPER_PEARSON.share_limits)
                for share in parts
            ),
            prevalence=prevalence,
        )
        low, high = evidence.limits(0.95)
        shares = prevalence * recall, (1 - prevalence) * rate, prevalence, 1 - prevalence
        truth = float(metric.of(*shares))
        assert covers_at_least((low <= truth) & (truth <= high), 0.94), metric


@pytest.mark.parametrize("design", ["all at the top, 1 in 80 at the bottom", NOISE])
def test_weights_are_followed_at_thresholds(design):
    """Scores that nothing about weights was chosen on; many rows of weight 80 were not drawn.

    With as many trials as the rows are worth, recall at a recall of .8 was covered in .37.
    """
    cells = at_thresholds({"shelf": NEW["shelf"]}, 100, design, 0)
    for name, found in cells.items():
        for held, width, where in found:
            assert 100 * held >= binom.ppf(ALPHA, 100, 0.94), (name, where)
            assert 0.0 < width < 1.0


@pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")
@pytest.mark.parametrize(
    "design", ["all at the top, 1 in 80 at the bottom", "1 in 10 at the top, all others"]
)
def test_weights_are_followed_at_the_top(design):
    """With as many trials as the variance is worth, .60 was covered, or limits far too wide."""
    cells = at_top({"far_below": NEW["far_below"]}, 100, design, 4)
    for name, found in cells.items():
        for held, width, where in found:
            assert 100 * held >= binom.ppf(ALPHA, 100, 0.94), (name, where)
            assert 0.0 < width < 0.95


@pytest.mark.parametrize("kind", ["weights", "clusters"])
def test_windows_claim_no_change_of_the_share_of_positives_where_there_is_none(kind):
    """Positives kept 1 in 10, or rows that repeat each other six times; once 24 and 4 % claimed."""
    claimed, missed = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        time = np.repeat(np.arange(8), 600)
        if kind == "weights":
            y, clusters = rng.random(4800) < 1 / 11, None
            weight = np.where(y, 10.0, 1.0) * np.exp(0.3 * rng.normal(size=4800))
        else:
            clusters, weight = np.arange(4800) // 6, None
            y = np.where(
                rng.random(4800) < 0.9, (rng.random(800) < 0.5)[clusters], rng.random(4800) < 0.5
            )
        rows = pr.Rows(
            y,
            rng.normal(size=4800) + 1.5 * y,
            sample_weight=weight,
            clusters=clusters,
            columns={"time": time},
        )
        found = windows(rows, time="time", every=1).windows
        claimed.append(any(window.prevalence_changed is not None for window in found))
        missed.append(not all(each.prevalence.low <= 0.5 <= each.prevalence.high for each in found))
    assert covers_at_least(~np.array(claimed), 0.95)
    assert covers_at_least(~np.array(missed), 0.95)


@pytest.mark.parametrize("name", ["precision_at_k", "recall_at_k", "lift_at_k"])
def test_the_first_k_cover_what_the_population_has_there(name):
    """The fifth of the rows with the highest scores, 20 of 200 rows positive on average."""
    rng = np.random.default_rng(5)
    ours, theirs = Binormal(1.0).distributions()
    scores = np.linspace(-3.0, 4.0, 200_001)
    selected = 0.1 * ours.survival(scores) + 0.9 * theirs.survival(scores)
    recall = float(np.interp(0.2, selected[::-1], ours.survival(scores)[::-1]))
    truth = {"precision_at_k": 0.1 * recall / 0.2, "recall_at_k": recall, "lift_at_k": recall / 0.2}
    covered = []
    for _ in range(500):
        y = rng.random(200) < 0.1
        found = pr.interval(pr.rank(y, rng.normal(size=200) + y), pr.METRICS[name](40))
        covered.append(found.low <= truth[name] <= found.high)
    assert covers_at_least(covered, 0.94)


@pytest.mark.parametrize("name", ["precision_at_k", "recall_at_k"])
def test_the_cut_may_lie_beside_a_cliff(name):
    """All positives but 3 % are above all negatives but 3 %, and half of the rows are selected.

    With the rows about the cut taken as even it covered 0.91 and 0.85.
    """
    rng, covered = np.random.default_rng(6), []
    for _ in range(400):
        y = rng.random(40) < 0.5
        score = rng.random(40) + (y ^ (rng.random(40) < 0.03))
        found = pr.interval(pr.rank(y, score), pr.METRICS[name](0.5))
        covered.append(found.low <= 0.97 <= found.high)
    assert covers_at_least(covered, 0.94)
