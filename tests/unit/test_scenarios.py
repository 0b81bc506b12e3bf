"""Score models: areas and variances against published numbers, closed forms and quadrature."""

import dataclasses
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, special

import precall as pr
from precall.exceptions import InputError, UndefinedMetricError
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
    OffsetUniform,
    OutlyingNegatives,
    Pair,
    Pareto,
    StudentT,
    Uniform,
    ZeroInflated,
    scenarios,
)

CONTINUOUS = {
    **{
        name: model
        for name, model in {**REGULAR, **UNSEEN, **HELD_OUT}.items()
        if isinstance(model, ContinuousScenario)
    },
    "outlying": OutlyingNegatives(0.002),
    "layered": Pair(
        Mixture((Normal(location=3.0, scale=0.1), StudentT(2.0)), (0.9, 0.1)),
        Mixture((Normal(), Normal(location=3.0)), (0.99, 0.01)),
    ),
    "narrow": OffsetUniform(0.2, 0.1),
    "reversed": Binormal(-1.0),
}
DISTRIBUTIONS = [
    Normal(location=1.0, scale=2.0),
    StudentT(1.0),
    StudentT(3.5, location=-1.0, scale=0.5),
    Logistic(location=2.0, scale=3.0),
    Laplace(location=0.5, scale=2.0),
    Uniform(location=-1.0, scale=0.5),
    Gamma(0.7, scale=2.0),
    Gamma(4.0),
    Pareto(1.5, location=1.0, scale=2.0),
    Beta(5.0, 2.0),
    Beta(2.0, 3.0, location=1.0, scale=4.0),
    Mixture((Normal(), StudentT(3.0, location=4.0)), (0.8, 0.2), location=1.0, scale=2.0),
]


# Areas of Boyd's scenarios by 40-digit quadrature (2014, section 4.4 gives the distributions), to
# 12 digits.
@pytest.mark.parametrize(
    ("model", "areas"),
    [
        (Binormal(), (0.752995996865, 0.292835643514, 0.0422075155258)),
        (Bibeta(), (0.960893289585, 0.809586774289, 0.490635642389)),
        (OffsetUniform(), (0.887326536084, 0.657905287276, 0.527844846558)),
    ],
)
def test_areas_of_the_dissertation(model, areas):
    got = [model.aucpr(prevalence) for prevalence in (0.5, 0.1, 0.01)]
    np.testing.assert_allclose(got, areas, rtol=0, atol=6e-13)


# The corrected Theorem 1 of Clémençon & Vayatis (2009) by 40-digit arithmetic, to 12 digits.
@pytest.mark.parametrize(
    ("mean", "deviation", "prevalence", "expected"),
    [
        (1.0, 1.0, 0.5, (1.81907793328, 0.975486643503, 0.732700143411, 0.516458023095)),
        (1.0, 1.0, 0.1, (19.3744370818, 4.78736330559, 1.97552149186, 0.574490153291)),
        (1.5, 2.0, 0.5, (0.00486304016009, 0.146954903186, 0.855835824331, 0.777734465725)),
        (1.5, 2.0, 0.1, (0.226175167877, 11.3404025932, 16.1473817433, 0.679802896808)),
    ],
)
def test_asymptotic_variance(mean, deviation, prevalence, expected):
    recall = np.array([0.1, 0.3, 0.5, 0.8])
    got = Binormal(mean, deviation).asymptotic_variance(recall, prevalence)
    np.testing.assert_allclose(got, expected, rtol=6e-12)  # 12 digits are given


def test_asymptotic_variance_with_fixed_prevalence_lacks_the_term_of_the_prevalence():
    model, recall, p = Bibeta(), 0.7, 0.2
    random = model.asymptotic_variance(recall, p)
    fixed = model.asymptotic_variance(recall, p, random_prevalence=False)
    step = 1e-5
    slope = (model.precision(recall, p + step) - model.precision(recall, p - step)) / (2 * step)
    assert isinstance(fixed, float)
    assert random - fixed == pytest.approx(slope**2 * p * (1 - p), rel=1e-8)


@pytest.mark.parametrize("prevalence", [0.9, 0.5, 0.1, 1e-3, 1e-6])
def test_areas_with_a_closed_form(prevalence):
    odds = (1 - prevalence) / prevalence

    def close(model, area):
        assert model.aucpr(prevalence) == pytest.approx(area, rel=1e-12)

    close(Binormal(0.0), prevalence)  # no discrimination
    close(OffsetUniform(0.0), prevalence)
    close(OffsetUniform(1.0), 1.0)  # perfect
    # FPR = recall**3 and recall**2: the second with scores so near 1 that 1 - score is lost.
    close(Pair(Gamma(1.0, scale=3.0), Gamma(1.0)), np.arctan(np.sqrt(odds)) / np.sqrt(odds))
    close(Bibeta((1.0, 0.5), (1.0, 1.0)), np.log1p(odds) / odds)
    close(Bibeta((1.0, 0.1), (1.0, 0.2)), np.log1p(odds) / odds)
    # Uniform: FPR = 0 up to recall 1/2, then recall - 1/2.
    half = (
        0.5
        + prevalence / 2
        + prevalence * (1 - prevalence) / 2 * np.log((1 + prevalence) / prevalence)
    )
    close(OffsetUniform(), half)
    # A negative above every positive with probability f, else below: FPR = f.
    model = OutlyingNegatives(0.01, OffsetUniform(1.0))
    share = odds * 0.01
    close(model, 1 - share * np.log1p(1 / share))


def test_auroc_with_a_closed_form():
    assert Binormal(1.5, 2.0).auroc() == pytest.approx(special.ndtr(1.5 / np.sqrt(5)), abs=1e-13)
    assert OffsetUniform(0.3).auroc() == pytest.approx(1 - 0.7**2 / 2, abs=1e-13)
    assert OffsetUniform(2.0).auroc() == 1.0
    assert Binormal(0.0).auroc() == pytest.approx(0.5, abs=1e-13)
    assert Pair(Gamma(1.0, scale=3.0), Gamma(1.0)).auroc() == pytest.approx(3 / 4, abs=1e-13)
    base = Bibeta()
    expected = 0.9 * base.auroc()
    assert OutlyingNegatives(0.1, base).auroc() == pytest.approx(expected, abs=1e-13)


def integrate_over_thresholds(model, prevalence, recall=(0.0, 1.0)):
    """The area as an integral over the scores of positives, not over recall, by adaptive Gauss."""
    positive, negative = model.distributions()

    def precision_times_density(score):
        tp, fp = prevalence * positive.survival(score), (1 - prevalence) * negative.survival(score)
        return float(tp / (tp + fp) * positive.density(score))

    # Heavy tails want every power of ten.
    powers = 10.0 ** np.arange(-16, -2)
    tails = [*powers, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, *(1.0 - powers[2:])]
    tails = [tail for tail in tails if recall[0] < tail < recall[1]]
    ends = [max(recall[0], 1e-17), min(recall[1], 1 - 1e-15)]
    edges = np.concatenate([positive.upper_quantile([*ends, *tails]), negative.landmarks])
    low, high = positive.upper_quantile(ends[::-1])
    edges = np.unique(edges[(edges >= low) & (edges <= high)])
    return sum(
        integrate.quad(precision_times_density, a, b, epsabs=1e-14, epsrel=1e-12, limit=200)[0]
        for a, b in pairwise(edges)
        if b - a > 1e-14 * abs(b)  # an edge that two computations put one digit apart
    )


@pytest.mark.parametrize("name", CONTINUOUS)
def test_area_agrees_with_an_integral_over_thresholds(name):
    model = CONTINUOUS[name]
    for prevalence, recall in ((0.5, (0.0, 1.0)), (0.01, (0.0, 1.0)), (0.1, (0.2, 0.65))):
        expected = integrate_over_thresholds(model, prevalence, recall)
        # The reference leaves out recalls over 1 - 1e-15 and has about 20 panels of error 1e-14.
        assert model.aucpr(prevalence, recall) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", [*CONTINUOUS, "ten_levels", "zero_inflated", "one_decimal"])
def test_areas_over_ranges_of_recall_add_up(name):
    model = {**CONTINUOUS, **REGULAR, **UNSEEN, **HELD_OUT}[name]
    for estimator in ("average_precision", "davis_goadrich"):
        parts = [
            model.aucpr(0.1, recall=pair, estimator=estimator)
            for pair in pairwise((0.0, 1e-6, 0.25, 0.5, 0.99, 1.0))
        ]
        assert sum(parts) == pytest.approx(model.aucpr(0.1, estimator=estimator), abs=1e-12)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_both_estimators_have_one_limit_when_scores_are_continuous(name):
    model = CONTINUOUS[name]
    assert model.aucpr(0.1) == model.aucpr(0.1, estimator="davis_goadrich")


def test_an_integral_that_does_not_settle_is_an_error():
    rng = np.random.default_rng(0)
    with pytest.raises(ArithmeticError, match="did not settle"):
        scenarios._integrate(lambda recall: rng.random(recall.shape), np.array([0.0, 1.0]))


def test_curve_at_its_ends():
    assert np.isnan(Binormal().precision(0.0, 0.1))  # 0/0: nothing is predicted positive
    assert Binormal().false_positive_rate(0.0) == 0.0
    assert Binormal().precision(1.0, 0.1) == pytest.approx(0.1)
    assert OutlyingNegatives(0.01).false_positive_rate(0.0) == 0.01
    assert OutlyingNegatives(0.01).precision(0.0, 0.1) == 0.0
    assert OffsetUniform(-0.5).false_positive_rate(0.0) == 0.5
    assert Levels((0.5, 0.5, 0.0), (0.5, 0.2, 0.3)).false_positive_rate(0.0) == pytest.approx(0.3)
    assert OffsetUniform().precision(0.25, 0.01) == 1.0


def test_numbers_give_numbers_and_arrays_give_arrays():
    for model in (Binormal(), Levels.cut()):
        recall = np.array([[0.1, 0.5], [0.9, 1.0]])
        for curve in (model.false_positive_rate, lambda r, m=model: m.precision(r, 0.1)):
            assert isinstance(curve(0.5), float)
            assert curve(recall).shape == recall.shape
            assert curve(recall)[0, 1] == pytest.approx(curve(0.5), rel=1e-15)


# Four levels; positives never have the third from below, so its negatives lie in a gap.
LEVELS = Levels(positives=(0.25, 0.25, 0.0, 0.5), negatives=(0.5, 0.125, 0.25, 0.125))


def test_levels_by_hand():
    p, q = Fraction(1, 5), Fraction(4, 5)
    recall = [Fraction(1, 2), Fraction(3, 4), Fraction(1)]
    rate = [Fraction(1, 8), Fraction(1, 2), Fraction(1)]
    precision = [p * t / (p * t + q * a) for t, a in zip(recall, rate, strict=True)]
    area = precision[0] / 2 + precision[1] / 4 + precision[2] / 4
    assert LEVELS.aucpr(0.2) == pytest.approx(float(area), rel=1e-14)
    part = precision[0] / 4 + precision[1] / 8  # recall 1/4 to 5/8
    assert LEVELS.aucpr(0.2, (0.25, 0.625)) == pytest.approx(float(part), rel=1e-14)
    np.testing.assert_allclose(
        LEVELS.precision([0.5, 0.75, 1.0], 0.2), [float(x) for x in precision], rtol=1e-14
    )
    # Just after recall 1/2 the gap has been passed: a false-positive rate of 3/8.
    assert LEVELS.false_positive_rate(0.5 + 1e-12) == pytest.approx(0.375, abs=1e-11)
    assert LEVELS.false_positive_rate(0.625) == pytest.approx(0.4375, rel=1e-14)
    # 1/2 (7/8 + 1/8/2) + 1/4 (1/2 + 1/8/2) + 1/4 (1/2/2)
    assert LEVELS.auroc() == pytest.approx(0.5 * 0.9375 + 0.25 * 0.5625 + 0.25 * 0.25, rel=1e-14)


@pytest.mark.parametrize("prevalence", [0.5, 0.01])
@pytest.mark.parametrize("recall", [(0.0, 1.0), (0.3, 0.8)])
def test_davis_goadrich_limit_is_the_area_under_the_curve(prevalence, recall):
    for model in (LEVELS, Levels.cut(Bibeta(), 7)):
        corners = [r for r in np.cumsum(model.positives[::-1]) if recall[0] < r < recall[1]]
        edges = np.unique([recall[0], *corners, recall[1]])
        area = sum(
            integrate.quad(
                lambda r, m=model: m.precision(r, prevalence), a, b, epsabs=1e-14, epsrel=1e-12
            )[0]
            for a, b in pairwise(edges)
        )
        got = model.aucpr(prevalence, recall, estimator="davis_goadrich")
        assert got == pytest.approx(area, abs=1e-12)


def test_many_levels_approach_the_continuous_scenario():
    n_levels = 10_000
    model = Levels.cut(Binormal(), n_levels)
    # No level holds more than 2 / n_levels of either class, and precision falls from 1 to 0.1: so
    # the two areas differ by less than 2 / n_levels. In AUROC a tie is worth 1/2 at most.
    for estimator in ("average_precision", "davis_goadrich"):
        area = model.aucpr(0.1, estimator=estimator)
        assert area == pytest.approx(Binormal().aucpr(0.1), abs=2 / n_levels)
    assert model.auroc() == pytest.approx(Binormal().auroc(), abs=1 / n_levels)


@pytest.mark.parametrize("digits", [1, 2, 15])
def test_empirical_has_the_areas_of_its_sample(digits):
    y_true, y_score = Binormal().sample(60, 140, rng=5)
    y_score = np.round(y_score, digits)
    model, ranking = Empirical(y_true, y_score), pr.rank(y_true, y_score)
    for prevalence in (0.3, 0.02):
        moved = ranking.at_prevalence(prevalence)
        for estimator in ("average_precision", "davis_goadrich"):
            for recall in ((0.0, 1.0), (0.111, 0.85)):
                got = model.aucpr(prevalence, recall, estimator=estimator)
                expected = pr.aucpr(moved, estimator=estimator, recall=recall)
                assert got == pytest.approx(expected, rel=1e-12)
    assert model.auroc() == pytest.approx(pr.auroc(ranking), rel=1e-14)


def test_empirical_draws_from_the_scores_of_each_class():
    y_true, y_score = ["a", "b", "a", "b", "b"], [2**53 + 1, 3, 4, 5, 3]
    model = Empirical(y_true, y_score, pos_label="a")
    positives, negatives = model.sample_scores(40, 60, size=3, rng=0)
    assert positives.dtype == np.int64
    assert set(positives.flat) == {2**53 + 1, 4}
    assert set(negatives.flat) == {3, 5}
    assert repr(model) == "Empirical(n_pos=2, n_neg=3)"
    y_score[0] = 0
    assert model.positives[0] == 2**53 + 1
    with pytest.raises(ValueError, match="read-only"):
        model.positives[0] = 0


def test_ties_have_no_asymptotic_variance():
    with pytest.raises(UndefinedMetricError, match="continuous"):
        LEVELS.asymptotic_variance(0.5, 0.1)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=repr)
def test_distributions_agree_with_themselves(distribution):
    tails = np.array([1e-8, 1e-3, 0.05, 0.3, 0.5, 0.77, 0.99])
    scores = distribution.upper_quantile(tails)
    assert np.all(np.diff(scores) < 0)
    # Beta distributions lose digits of 1 - score next to 1; the others keep all.
    np.testing.assert_allclose(distribution.survival(scores), tails, rtol=1e-7)
    np.testing.assert_allclose(distribution.survival(scores[1:]), tails[1:], rtol=1e-11)
    np.testing.assert_allclose(distribution.cdf(scores), 1 - tails, rtol=1e-9)
    ends = distribution.upper_quantile([0.0, 1.0])
    np.testing.assert_array_equal(distribution.survival(ends), [0.0, 1.0])
    # Central differences, away from kinks: they err by about step**2 / distance**2, and by
    # rounding of 1e-16 / step.
    distance = np.abs(scores[:, None] - distribution.landmarks).min(axis=1)
    smooth = distance > 1e-3 * distribution.scale
    assert smooth.sum() >= 3
    scores, step = scores[smooth], 1e-4 * distance[smooth]
    slope = (distribution.survival(scores - step) - distribution.survival(scores + step)) / (
        2 * step
    )
    np.testing.assert_allclose(distribution.density(scores), slope, rtol=1e-6, atol=1e-8)


def test_distributions_with_a_bounded_support_have_no_mass_outside():
    for distribution in (Beta(2.0, 3.0), Uniform()):
        np.testing.assert_array_equal(distribution.survival([-0.5, 1.5]), [1.0, 0.0])
        np.testing.assert_array_equal(distribution.density([-0.5, 1.5]), [0.0, 0.0])
    assert Gamma(2.0).survival(-1.0) == 1.0
    assert Gamma(2.0).density(-1.0) == 0.0


@pytest.mark.parametrize("name", [*CONTINUOUS, "ten_levels", "zero_inflated", "one_decimal"])
def test_samples_have_the_sizes_asked_for_and_repeat_under_a_seed(name):
    model = {**CONTINUOUS, **REGULAR, **UNSEEN, **HELD_OUT}[name]
    y_true, y_score = model.sample(30, 70, rng=3)
    assert y_true.shape == y_score.shape == (100,)
    assert y_true.sum() == 30
    assert set(y_true) == {0, 1}
    assert not np.array_equal(y_true, np.sort(y_true)[::-1])  # in no order
    again = model.sample(30, 70, np.random.default_rng(3))
    np.testing.assert_array_equal(again, (y_true, y_score))
    positives, negatives = model.sample_scores(5, 8, size=4, rng=3)
    assert positives.shape == (4, 5)
    assert negatives.shape == (4, 8)
    assert np.isfinite(positives).all()
    assert np.isfinite(negatives).all()


def test_sample_gives_every_class_its_scores():
    y_true, y_score = OffsetUniform(5.0).sample(40, 60, rng=0)
    np.testing.assert_array_equal(y_true == 1, y_score >= 5.0)


def test_outlying_negatives_lie_above_all_positives():
    model = OutlyingNegatives.expecting(3.0, n_neg=1000, base=Binormal(1.0))
    assert model.fraction == 0.003
    positives, negatives = model.sample_scores(500, 1000, size=100, rng=0)
    threshold = model.distributions()[0].upper_quantile(2.0**-54)
    assert positives.max() < threshold
    outliers = np.count_nonzero(negatives >= threshold, axis=1)
    assert outliers.min() == 0  # a binomial number, not a fixed one
    assert outliers.max() > 3
    assert OutlyingNegatives.expecting(1, n_neg=10).base == Binormal(2.0)


def test_scenarios_are_frozen_and_compare_by_value():
    assert Binormal(2.0) == Binormal(mean=2.0)
    assert Binormal(2.0) != Binormal(1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Binormal().mean = 3.0
    assert dataclasses.asdict(Bibeta()) == {"positives": (5.0, 2.0), "negatives": (2.0, 5.0)}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Binormal(1.0, 0.0), "scale must be positive and finite, got 0.0"),
        (lambda: Binormal(float("nan")), "location must be a number"),
        (lambda: Binormal(np.inf), "location must be finite"),
        (lambda: Bibeta((1.0, -1.0)), "b must be positive"),
        (lambda: StudentT(-2.0), "degrees_of_freedom must be positive"),
        (lambda: Mixture((Normal(),), (0.5, 0.5)), "one number per distribution, got 2 for 1"),
        (lambda: Mixture((Normal(), Normal()), (0.5, 0.6)), "sum to 1"),
        (lambda: Levels((0.5, 0.6), (0.5, 0.5)), "positives must be probabilities"),
        (lambda: Levels((1.0,), (0.5, 0.5)), "one probability per level each, got 1 and 2"),
        (lambda: OutlyingNegatives(0.0), "fraction must be strictly between 0 and 1"),
        (lambda: OutlyingNegatives(0.1, LEVELS), "base must be a scenario with continuous"),
        (lambda: Empirical([1, 1], [1, 2]), "y_true must have negatives"),
        (lambda: Empirical([1, 0], [1, np.nan]), "must not be NaN"),
        (lambda: Binormal().aucpr(1.0), "prevalence must be strictly between 0 and 1, got 1.0"),
        (lambda: Binormal().aucpr(0.1, (0.5, 0.2)), "recall must satisfy"),
        (lambda: Binormal().aucpr(0.1, estimator="binormal"), "estimator must be one of"),
        (lambda: Binormal().precision([0.5, 1.2], 0.1), "recall must be between 0 and 1, got 1.2"),
        (lambda: Binormal().asymptotic_variance(1.0, 0.1), "recall must be strictly between"),
        (lambda: Binormal().sample(-1, 10), "n_pos must be a whole number"),
        (lambda: Binormal().sample(1, 10, rng="x"), "rng must be"),
    ],
)
def test_bad_parameters_are_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_rows_at_zero_by_exact_counts():
    """With a base that orders perfectly the area is two pieces that can be written down."""
    model = ZeroInflated(0.25, 0.5, Pair(Uniform(location=2.0), Uniform(location=1.0)))
    # Three quarters of the positives above everything; the rest with half of the negatives.
    assert model.aucpr(0.5) == pytest.approx(0.75 + 0.25 * 0.5, rel=1e-12)
    assert model.aucpr(0.5, recall=(0.5, 0.9)) == pytest.approx(0.25 + 0.15 * 0.5, rel=1e-12)
    assert model.auroc() == pytest.approx(0.75 + 0.25 * 0.5 * 0.5, rel=1e-12)
    # From (.75, .5) to (1, 1) in ROC space, at prevalence 1/2.
    steps = np.linspace(0.75, 1.0, 200_001)
    line = steps / (steps + 0.5 + 2.0 * (steps - 0.75))
    expected = 0.75 + float(np.trapezoid(line, steps))
    assert model.aucpr(0.5, estimator="davis_goadrich") == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(model.false_positive_rate([0.5, 0.8, 1.0]), [0.0, 0.6, 1.0])


def test_rows_at_zero_refuse_scores_below_it():
    with pytest.raises(InputError, match="base must have scores over 0 only"):
        ZeroInflated(0.2, 0.5, Binormal())
    with pytest.raises(InputError, match="base must be a scenario with continuous scores"):
        ZeroInflated(0.2, 0.5, Levels((0.5, 0.5), (0.2, 0.8)))
    with pytest.raises(UndefinedMetricError, match="asymptotic variance"):
        UNSEEN["zero_inflated"].asymptotic_variance(0.5, 0.1)


def test_wrong_labels_have_the_areas_of_their_mixture():
    """One percent of each class in the other's place: the four kinds of pairs by hand."""
    assert UNSEEN["noisy_perfect"].auroc() == pytest.approx(0.99**2 + 0.99 * 0.01, rel=1e-12)
    half_below = UNSEEN["two_sided"]
    assert half_below.auroc() == pytest.approx(0.5, rel=1e-12)
    # Recall over 1/2 takes every negative: precision r/(r + 1) at prevalence 1/2.
    expected = 0.5 + 0.5 - float(np.log(2.0 / 1.5))
    assert half_below.aucpr(0.5) == pytest.approx(expected, rel=1e-12)


def test_precision_at_a_recall_that_many_thresholds_have_is_that_of_the_highest():
    upper = Mixture((Uniform(location=2.0), Uniform(location=-2.0)), (0.5, 0.5))
    assert Pair(upper, Uniform()).precision(np.array([0.5, 0.501]), 0.5) == pytest.approx(
        [1.0, 0.501 / 1.501]
    )
    # As in a sample: recall 1/2 is reached above all negatives.
    ranking = pr.rank([1, 1, 0, 0, 0, 0, 1, 1], -np.arange(8))
    assert pr.metrics.precision_at_recall(0.5)(ranking) == 1.0
    assert pr.metrics.precision_at_recall(0.501)(ranking) == pytest.approx(2.004 / 6.004)
