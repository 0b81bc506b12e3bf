"""What is foreseen of a release, and that it comes true."""

import numpy as np
import pytest

import precall as pr
from precall import privacy
from precall.exceptions import InputError
from precall.simulate import Bibeta

RELEASES = {
    ("average_precision", "rescaled"): (privacy.average_precision, float, pr.aucpr),
    ("auroc", "rescaled"): (privacy.auroc, float, pr.auroc),
    ("average_precision", "curve"): (privacy.pr_curve, lambda curve: curve.area(), pr.aucpr),
    ("auroc", "curve"): (privacy.roc_curve, lambda curve: curve.area(), pr.auroc),
}


@pytest.mark.filterwarnings("ignore::precall.privacy.SeededReleaseWarning")
@pytest.mark.parametrize("way", RELEASES, ids=" ".join)
def test_what_is_foreseen_comes_true(way):
    metric, mechanism = way
    release, value_of, exact = RELEASES[way]
    expected = privacy.expected_error(
        n_rows=2000, epsilon=1.0, prevalence=0.1, metric=metric, mechanism=mechanism
    )
    rng = np.random.default_rng(0)
    squares = []
    for seed in range(20):
        rows = Bibeta().sample(200, 1800, rng=seed)
        truth = exact(pr.rank(*rows))
        for _ in range(8):
            released = release(*rows, epsilon=1.0, budget=privacy.Budget(epsilon=1.0), rng=rng)
            squares.append((value_of(released) - truth) ** 2)
    found = np.sqrt(np.mean(squares))
    # 160 releases and 200 simulated ones: both have a standard error of about a tenth.
    assert expected.error == pytest.approx(found, rel=0.4)
    assert expected.value == pytest.approx(truth, abs=0.05)
    assert 0 < expected.uncertainty < 0.2 * expected.error


def test_more_rows_than_are_simulated_stand_in_proportion():
    errors = [
        privacy.expected_error(n_rows=n, epsilon=e, prevalence=0.1, mechanism="curve").error
        for n, e in ((100_000, 1.0), (1_000_000, 0.1))
    ]
    assert errors[0] == errors[1]


def test_the_same_seed_foresees_the_same():
    facts = {"n_rows": 500, "epsilon": 1.0, "prevalence": 0.2, "n_simulations": 20}
    first = privacy.expected_error(**facts)
    assert first == privacy.expected_error(**facts)
    assert first.to_dict()["error"] == first.error
    assert "0.2" in repr(first)


@pytest.mark.parametrize("n_rows", [2, 3, 10])
@pytest.mark.parametrize("way", RELEASES, ids=" ".join)
def test_hardly_any_rows(n_rows, way):
    expected = privacy.expected_error(
        n_rows=n_rows,
        epsilon=1.0,
        prevalence=1e-9,
        metric=way[0],
        mechanism=way[1],
        n_simulations=5,
    )
    assert 0 <= expected.error <= 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_rows": 1},
        {"n_rows": 2**31 + 1},
        {"epsilon": 0},
        {"prevalence": 1.0},
        {"prevalence": "half"},
        {"metric": "f1"},
        {"mechanism": "magic"},
        {"edges": [0, 1, 2]},
        {"n_simulations": 1},
    ],
    ids=str,
)
def test_wrong_facts_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        privacy.expected_error(**{"n_rows": 100, "epsilon": 1.0, "prevalence": 0.1} | wrong)


def test_the_uncertainty_is_how_much_the_error_differs_between_seeds():
    found = [
        privacy.expected_error(
            n_rows=2000, epsilon=1.0, prevalence=0.1, n_simulations=100, rng=seed
        )
        for seed in range(40)
    ]
    spread = np.std([one.error for one in found], ddof=1)
    claimed = np.mean([one.uncertainty for one in found])
    # A standard deviation of 40 is known to a factor of 1.5; heavy tails take some more.
    assert spread / 2 < claimed < 2 * spread
