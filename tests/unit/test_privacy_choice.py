"""The choice of a mechanism: by public facts, and what an area off the curve is as a value."""

import inspect
import pickle
from contextlib import nullcontext

import numpy as np
import pytest

import precall as pr
from precall import privacy
from precall.exceptions import InputError, ReliabilityWarning
from precall.privacy import choice, private_areas

seeded = pytest.mark.filterwarnings("ignore::precall.privacy.SeededReleaseWarning")
RELEASES = {"average_precision": privacy.average_precision, "auroc": privacy.auroc}
CURVES = {"average_precision": privacy.pr_curve, "auroc": privacy.roc_curve}


def budget():
    return privacy.Budget(epsilon=1e9)


def sample(n_pos=300, n_neg=2700, seed=0):
    generator = np.random.default_rng(seed)
    y = np.repeat([1, 0], [n_pos, n_neg])
    return y, np.where(y, generator.beta(5, 2, y.size), generator.beta(2, 5, y.size))


@pytest.mark.parametrize(
    ("n_rows", "epsilon", "prevalence", "expected"),
    [
        (20_000, 0.33, None, "curve"),  # 15 / sqrt(2000) is 0.335
        (20_000, 0.34, None, "rescaled"),
        (20_000, 0.15, 0.5, "curve"),
        (20_000, 0.16, 0.5, "rescaled"),
        (2_000, 3.3, 0.01, "curve"),  # 15 / sqrt(20) is 3.35
        (2_000, 3.4, 0.01, "rescaled"),
        (1, 0.1, None, "curve"),
    ],
)
def test_the_rule(n_rows, epsilon, prevalence, expected):
    facts = {"n_rows": n_rows, "epsilon": epsilon, "prevalence": prevalence}
    assert privacy.choose_mechanism(**facts) == expected
    assert privacy.choose_mechanism(**facts, metric="auroc") == "rescaled"
    # A person with k rows leaves each of them a k-th of epsilon.
    facts["epsilon"] = epsilon * 4
    assert privacy.choose_mechanism(**facts, rows_per_person=4) == expected


def test_the_rule_cannot_see_any_row():
    """It takes public numbers only, and these are all that a release hands to it."""
    names = set(inspect.signature(choice.choose_mechanism).parameters)
    assert names == {"n_rows", "epsilon", "prevalence", "metric", "rows_per_person"}


@seeded
@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("epsilon", [0.2, 0.6, 2.0])
@pytest.mark.parametrize("prevalence", [None, 0.001, 0.4])
def test_auto_is_the_mechanism_that_the_rule_names(name, epsilon, prevalence):
    rows = sample()
    options = {"epsilon": epsilon, "budget": budget(), "rng": 3}
    chosen = privacy.choose_mechanism(
        n_rows=3000, epsilon=epsilon, prevalence=prevalence, metric=name
    )
    auto = RELEASES[name](*rows, mechanism="auto", prevalence=prevalence, **options)
    assert auto.mechanism == chosen
    assert auto == RELEASES[name](*rows, mechanism=chosen, **options)


@seeded
@pytest.mark.parametrize("name", RELEASES)
def test_data_decide_nothing(monkeypatch, name):
    """Neighbours, and rows that are all alike, are released by the same mechanism."""
    asked = []

    def choose(**facts):
        asked.append(facts)
        return choice.choose_mechanism(**facts)

    monkeypatch.setattr(private_areas, "choose_mechanism", choose)
    y, score = sample(30, 170)
    with pytest.warns(ReliabilityWarning) if name == "average_precision" else nullcontext():
        for rows in ((y, score), (1 - y, score), (y, np.zeros(200)), (np.zeros(200), score)):
            RELEASES[name](*rows, epsilon=0.1, budget=budget(), mechanism="auto", rng=0)
    assert all(facts == asked[0] for facts in asked)


@seeded
@pytest.mark.parametrize("name", RELEASES)
def test_a_value_off_the_curve_is_the_area_of_the_curve(name):
    rows = sample()
    options = {"epsilon": 1.0, "budget": budget(), "rng": 5}
    value = RELEASES[name](*rows, mechanism="curve", **options)
    curve = CURVES[name](*rows, **options)
    assert value.value == curve.area()
    for of in ("rows", "population"):
        ours, theirs = value.interval(of=of), curve.area_interval(of=of)
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
        assert ours.method == theirs.method
    assert value.metric.name == name
    assert len(value.noisy) == 2 * (curve.edges.size - 1)
    assert pickle.loads(pickle.dumps(value)) == value


@seeded
@pytest.mark.parametrize("name", RELEASES)
def test_its_scale_is_the_spread_of_what_is_released(name):
    rows = sample()
    curves = [CURVES[name](*rows, epsilon=1.0, budget=budget(), rng=seed) for seed in range(150)]
    spread = np.std([curve.area() for curve in curves])
    scales = [
        RELEASES[name](*rows, epsilon=1.0, budget=budget(), mechanism="curve", rng=seed).scale
        for seed in range(12)
    ]
    assert np.mean(scales) == pytest.approx(spread, rel=0.3)


@seeded
def test_edges_are_those_of_the_curve():
    y, score = sample()
    edges = np.linspace(-10, 20, 16)
    options = {"epsilon": 1.0, "budget": budget(), "rng": 6}
    value = privacy.average_precision(y, 20 * score, mechanism="curve", edges=edges, **options)
    assert value.metric.edges == tuple(edges)
    assert value.value == privacy.pr_curve(y, 20 * score, edges=edges, **options).area()
    assert value.value == pytest.approx(pr.aucpr(pr.rank(y, score)), abs=0.15)


@seeded
def test_persons_are_protected_by_values_off_the_curve():
    y, score = sample()
    options = {"epsilon": 1.0, "budget": budget(), "rng": 7, "mechanism": "curve"}
    drawn = privacy.average_precision(y, score, person=np.arange(3000) // 3, **options)
    assert (drawn.n_persons, drawn.n_rows) == (1000, 1000)
    vouched = privacy.average_precision(y, score, rows_per_person=3, **options)
    assert vouched.noisy[0].scale == pytest.approx(6.0)
    assert vouched.interval(of="population").width > vouched.interval().width


@seeded
def test_folds_take_the_mechanism_too():
    y, score = sample()
    fold = privacy.assign_folds(3000, n_folds=3, rng=0)
    options = {"trained_on": "other_rows", "epsilon": 0.6, "budget": budget(), "rng": 8}
    found = privacy.cross_validation(y, score, fold, mechanism="auto", **options)
    assert {value.mechanism for value in found.folds} == {"curve"}
    found = privacy.cross_validation(y, score, fold, mechanism="auto", prevalence=0.9, **options)
    assert {value.mechanism for value in found.folds} == {"rescaled"}
    assert found.scale > 0


def test_tiny_epsilons_stay_within_64_bits():
    with pytest.warns(ReliabilityWarning):
        value = privacy.average_precision(
            *sample(20, 80), epsilon=1e-25, budget=budget(), mechanism="curve"
        )
    assert 0.0 <= value.value <= 1.0
    assert 0.0 <= value.interval().low <= value.interval().high <= 1.0


def test_the_expected_error_is_that_of_what_auto_chooses():
    facts = {"n_rows": 2000, "epsilon": 0.2, "prevalence": 0.1, "n_simulations": 5}
    auto = privacy.expected_error(**facts, mechanism="auto")
    assert auto.mechanism == "curve"
    assert auto.error == privacy.expected_error(**facts, mechanism="curve").error
    facts["epsilon"] = 3.0
    assert privacy.expected_error(**facts, mechanism="auto").mechanism == "rescaled"


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_rows": 0},
        {"epsilon": 0.0},
        {"prevalence": 0.0},
        {"prevalence": "rare"},
        {"metric": "f1"},
        {"rows_per_person": 0},
    ],
)
def test_bad_facts_are_refused(wrong):
    with pytest.raises(InputError):
        privacy.choose_mechanism(**({"n_rows": 10, "epsilon": 1.0} | wrong))
