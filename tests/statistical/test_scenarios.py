"""Samples follow the distributions of their score models; estimates go to the stated truth.

Each test gives its own probability of failing on right code; seeds are fixed.
"""

import numpy as np
import pytest
from scipy import special, stats

import precall as pr
from precall.metrics._kernels import make_steps
from precall.simulate import (
    HELD_OUT,
    REGULAR,
    UNSEEN,
    Beta,
    Bibeta,
    Binormal,
    ContinuousScenario,
    Empirical,
    Gamma,
    Laplace,
    Levels,
    Logistic,
    Mixture,
    Normal,
    OutlyingNegatives,
    Pareto,
    StudentT,
    Uniform,
    ZeroInflated,
    rank_batch,
)

ERROR_RATE = 1e-3  # of each parametrised test as a whole
N_POS, N_NEG = 20_000, 180_000
MODELS = {
    **REGULAR,
    **UNSEEN,
    **HELD_OUT,
    "outlying": OutlyingNegatives.expecting(100, n_neg=N_NEG, base=Binormal(2.0)),
    "empirical": Empirical(*Bibeta().sample(40, 60, rng=11)),
    "three_levels": Levels((0.2, 0.3, 0.5), (0.6, 0.3, 0.1)),
}
DISTRIBUTIONS = [
    Normal(location=1.0, scale=2.0),
    StudentT(2.0, location=-1.0, scale=3.0),
    Logistic(location=2.0, scale=0.5),
    Laplace(location=-2.0, scale=2.0),
    Uniform(location=0.5, scale=2.0),
    Gamma(0.7, scale=3.0),
    Gamma(4.0),
    Pareto(1.5, location=1.0, scale=2.0),
    Beta(5.0, 2.0),
    Beta(0.5, 0.5),
    Mixture((Normal(), StudentT(3.0, location=4.0), Uniform()), (0.6, 0.3, 0.1), scale=2.0),
]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=repr)
def test_draws_follow_the_distribution(distribution):
    """Kolmogorov's test on 40,000 draws: distances over about .015 are found."""
    draws = distribution.sample(np.random.default_rng(1), (200, 200)).ravel()
    assert stats.kstest(draws, distribution.cdf).pvalue > ERROR_RATE / len(DISTRIBUTIONS)


@pytest.mark.parametrize("name", MODELS)
def test_draws_of_each_class_follow_its_distribution(name):
    """As above through the scenarios, chi-squared where the scores are tied."""
    model = MODELS[name]
    level = ERROR_RATE / (2 * len(MODELS))
    classes = model.sample_scores(200, 300, size=100, rng=2)
    if isinstance(model, ContinuousScenario):
        for scores, distribution in zip(classes, model.distributions(), strict=True):
            assert stats.kstest(scores.ravel(), distribution.cdf).pvalue > level
        return
    if isinstance(model, ZeroInflated):
        shares = model.positives, model.negatives
        parts = zip(classes, shares, model.base.distributions(), strict=True)
        for scores, share, distribution in parts:
            zeros = int(np.count_nonzero(scores == 0.0))
            assert stats.binomtest(zeros, scores.size, share).pvalue > level
            assert stats.kstest(scores[scores > 0.0], distribution.cdf).pvalue > level
        return
    if isinstance(model, Levels):
        atoms = [(np.arange(len(p)), np.array(p)) for p in (model.positives, model.negatives)]
    else:
        atoms = [np.unique(s, return_counts=True) for s in (model.positives, model.negatives)]
    for scores, (values, weights) in zip(classes, atoms, strict=True):
        counts = np.count_nonzero(scores.ravel() == values[:, np.newaxis], axis=1)
        assert counts.sum() == scores.size  # no other values
        assert chi_squared(counts, weights / weights.sum() * scores.size).pvalue > level


def chi_squared(counts, expected):
    """Values that are expected fewer than five times count together."""
    rare = expected < 5.0
    if rare.any():
        counts, expected = (
            np.append(values[~rare], values[rare].sum()) for values in (counts, expected)
        )
    return stats.chisquare(counts, expected)


def estimate(model, seed):
    """Batched cumulated counts of 20 large data sets."""
    return make_steps(rank_batch(*model.sample_scores(N_POS, N_NEG, size=20, rng=seed)).cells)


@pytest.mark.parametrize("name", MODELS)
def test_estimates_on_large_samples_agree_with_the_truth(name):
    """Student's test of the mean over 20 data sets against the limit of each estimator.

    The estimators' own bias, of order 1/N_POS, is at most about .3 standard errors of that mean
    (measured on the weakest scorer, where it is largest), so the level hardly changes.
    """
    model, steps = MODELS[name], estimate(MODELS[name], seed=3)
    cases = [
        ("average_precision", (0.0, 1.0)),
        ("average_precision", (0.2, 0.6)),
        ("davis_goadrich", (0.0, 1.0)),
    ]
    for estimator, recall in cases:
        truth = model.aucpr(N_POS / (N_POS + N_NEG), recall, estimator=estimator)
        values = pr.ESTIMATORS[estimator].kernel(steps, *recall)
        level = ERROR_RATE / (len(cases) * len(MODELS))
        assert stats.ttest_1samp(values, truth).pvalue > level, (estimator, recall)


def test_the_two_limits_of_tied_scores_are_told_apart():
    """The test above could not pass with the one limit in the place of the other."""
    model = MODELS["ten_levels"]
    values = pr.ESTIMATORS["average_precision"].kernel(estimate(model, seed=4), 0.0, 1.0)
    wrong = model.aucpr(N_POS / (N_POS + N_NEG), estimator="davis_goadrich")
    assert stats.ttest_1samp(values, wrong).pvalue < 1e-10


def test_auroc_agrees_with_the_share_of_ordered_pairs():
    """Student's test over 200 data sets; the empirical AUROC is unbiased at any size."""
    for name, model in MODELS.items():
        positives, negatives = model.sample_scores(40, 60, size=200, rng=5)
        pairs = positives[:, :, np.newaxis] - negatives[:, np.newaxis, :]
        values = np.mean(0.5 + 0.5 * np.sign(pairs), axis=(1, 2))
        level = ERROR_RATE / len(MODELS)
        assert stats.ttest_1samp(values, model.auroc()).pvalue > level, name


VARIANCES = [
    (Binormal(1.0), 0.3),
    (Binormal(1.5, 2.0), 0.6),
    (Bibeta(), 0.9),
    (OutlyingNegatives(0.01), 0.2),
]


@pytest.mark.parametrize(("model", "recall"), VARIANCES)
@pytest.mark.parametrize("random_prevalence", [False, True])
def test_variance_of_precision_tends_to_the_asymptotic_one(model, recall, random_prevalence):
    """Chi-squared test of the variance over 3,000 data sets of 5,000 rows, half of them positive.

    It finds ratios outside 1 ± .1. Precision at a recall is nearly normal and its variance within
    about one per cent of the limit at this size.
    """
    n_rows, n_sets = 5_000, 3_000
    rng = np.random.default_rng(6)
    sizes = rng.binomial(n_rows, 0.5, n_sets) if random_prevalence else np.full(n_sets, n_rows // 2)
    precision = []
    for n_pos, size in zip(*np.unique(sizes, return_counts=True), strict=True):
        for part in np.array_split(np.arange(size), max(1, size // 100)):
            batch = rank_batch(*model.sample_scores(n_pos, n_rows - n_pos, part.size, rng))
            rank = int(np.ceil(recall * n_pos))
            precision.append(rank / (rank + batch.fp[:, rank - 1]))
    ratio = np.concatenate(precision).var(ddof=1) * n_rows
    ratio /= model.asymptotic_variance(recall, 0.5, random_prevalence=random_prevalence)
    tail = special.chdtrc(n_sets - 1, ratio * (n_sets - 1))
    assert min(tail, 1 - tail) > ERROR_RATE / (2 * 2 * len(VARIANCES))
