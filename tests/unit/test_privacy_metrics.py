"""Private average precision, AUROC and confusion matrix: values, costs, and nothing else."""

import math
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import precall as pr
from precall import privacy
from precall.exceptions import InputError
from precall.privacy import metrics

METRICS = {
    "average_precision": (privacy.average_precision, pr.aucpr),
    "auroc": (privacy.auroc, pr.auroc),
}
seeded = pytest.mark.filterwarnings("ignore::precall.privacy.SeededReleaseWarning")


class Fixed:
    """Noise that is told in advance."""

    seeded = False

    def __init__(self, *draws):
        self.draws = list(draws)
        self.scales = []

    def add_laplace(self, values, scale):
        self.scales.append(scale)
        return values + np.array([self.draws.pop(0) if self.draws else 0 for _ in values])

    def bits(self, count):
        return 0


def sample(n_pos=200, n_neg=1800, seed=0, levels=None):
    generator = np.random.default_rng(seed)
    y = np.repeat([1, 0], [n_pos, n_neg])
    score = np.where(y, generator.beta(5, 2, y.size), generator.beta(2, 5, y.size))
    return y, score if levels is None else np.round(score * levels)


def budget(epsilon=1e9, delta=0.5):
    return privacy.Budget(epsilon=epsilon, delta=delta)


@seeded
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("levels", [None, 10])
def test_with_next_to_no_noise_the_value_is_the_metric(name, levels):
    release, exact = METRICS[name]
    rows = sample(levels=levels)
    ranking = pr.rank(*rows)
    released = release(*rows, epsilon=1e7, budget=budget(), rng=0)
    assert released.value == pytest.approx(exact(ranking), abs=1e-5)
    low, high = released.interval()
    assert low <= exact(ranking) <= high < low + 1e-4


@seeded
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("mechanism", privacy.MECHANISMS)
def test_every_mechanism_releases_charges_and_tells_what_it_may(name, mechanism):
    release, _ = METRICS[name]
    ours = privacy.Budget(epsilon=1.0, delta=1e-3)
    rows = sample(60, 140)
    released = release(*rows, epsilon=0.5, delta=1e-4, budget=ours, mechanism=mechanism, rng=1)
    spent = 1e-4 if mechanism.endswith("laplace") else 0.0
    assert 0.0 <= released.value <= 1.0
    assert (released.epsilon, released.delta) == (0.5, spent)
    assert ours.spent == (0.5, spent)
    assert released.to_dict()["metric"] == name
    assert float(released) == released.value
    if mechanism == "rescaled":
        assert released.scale > 0
        assert released.value in released.interval(confidence_level=0.5)
    else:  # their scale would tell the number of positives
        assert released.scale is None
        assert released.noisy == ()
        with pytest.raises(InputError, match="has no interval"):
            released.interval()


@seeded
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("mechanism", privacy.MECHANISMS)
@pytest.mark.parametrize(
    ("n_pos", "n_neg"), [(0, 1), (1, 0), (0, 9), (9, 0), (1, 1), (1, 8), (8, 1)]
)
def test_empty_classes_and_single_rows_are_released_like_any_other(name, mechanism, n_pos, n_neg):
    release, _ = METRICS[name]
    rows = np.repeat([1, 0], [n_pos, n_neg]), np.arange(n_pos + n_neg)[::-1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", privacy.SeededReleaseWarning)
        for seed in range(5):
            released = release(
                *rows, epsilon=1.0, delta=1e-3, budget=budget(), mechanism=mechanism, rng=seed
            )
            assert 0.0 <= released.value <= 1.0
            if mechanism == "rescaled":
                low, high = released.interval()
                assert 0.0 <= low <= high <= 1.0
                assert math.isfinite(released.scale)


@pytest.mark.parametrize("name", METRICS)
def test_a_release_is_a_function_of_its_noisy_numbers(name, monkeypatch):
    """Two data sets, noise chosen so that both release the same: the results are the same bytes."""
    release, _ = METRICS[name]
    data = [sample(40, 160, seed=1), sample(43, 157, seed=2)]

    def run(rows, *draws):
        monkeypatch.setattr(metrics, "noise_source", lambda *_, **__: Fixed(*draws))
        ours = budget(epsilon=0.7)
        return release(*rows, epsilon=0.7, budget=ours), ours

    (first, ledger), (second, _) = run(data[0]), run(data[1])
    steps = [
        round((a.value - b.value) / a.grid) for a, b in zip(first.noisy, second.noisy, strict=True)
    ]
    assert steps != [0, 0]
    third, other = run(data[1], *steps)
    assert pickle.dumps(third) == pickle.dumps(first)
    assert repr(third) == repr(first)
    assert other.to_dict() == ledger.to_dict()


@pytest.mark.parametrize("name", METRICS)
def test_noise_is_as_large_as_the_proofs_ask_for(name, monkeypatch):
    """Statistic in grid steps, 2^k + 1 over its share; positives 1 over theirs; in all epsilon."""
    release, _ = METRICS[name]
    noise = Fixed()
    monkeypatch.setattr(metrics, "noise_source", lambda *_, **__: noise)
    release(*sample(), epsilon=0.8, budget=budget())
    step = 2**20
    statistic, positives = noise.scales
    if name == "average_precision":
        cost = (step + 1) / statistic + 1 / positives
    else:
        assert (step + 1) / statistic == pytest.approx(0.8, rel=1e-12)  # the label stays
        cost = (math.ceil(0.6 * step) + 1) / statistic + 1 / positives  # the label changes
    assert cost == pytest.approx(0.8, rel=1e-12)
    assert cost <= 0.8 * (1 + 1e-14)


def test_importing_the_package_does_not_import_opendp():
    code = "import sys; from precall import privacy; sys.exit('opendp' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_system_noise_is_the_default():
    rows = sample()
    values = {
        privacy.average_precision(*rows, epsilon=1.0, budget=budget()).value for _ in range(4)
    }
    assert len(values) == 4


@pytest.mark.parametrize("name", METRICS)
def test_seeds_warn_at_the_callers_line_and_repeat(name):
    release, _ = METRICS[name]
    rows = sample()
    with pytest.warns(privacy.SeededReleaseWarning) as caught:
        first = release(*rows, epsilon=1.0, budget=budget(), rng=5)
    assert caught[0].filename == __file__
    with pytest.warns(privacy.SeededReleaseWarning):
        assert release(*rows, epsilon=1.0, budget=budget(), rng=5) == first


@pytest.mark.parametrize("name", METRICS)
def test_refusals_come_before_looking(name):
    release, _ = METRICS[name]
    ours = privacy.Budget(epsilon=1.0)
    rows = sample()
    cases = {
        "epsilon must be a finite number above 0": {"epsilon": 0.0},
        "delta must be at least 0": {"delta": 1.0},
        "budget must be a Budget": {"budget": None},
        "mechanism must be one of": {"mechanism": "laplace"},
        "delta must be above 0": {"mechanism": "smooth_laplace"},
        "remain of 1": {"epsilon": 2.0},
        "at most 64": {"mechanism": "smooth_cauchy", "epsilon": 100.0, "budget": budget()},
    }
    for message, change in cases.items():
        with pytest.raises(InputError, match=message):
            release(*rows, **({"epsilon": 0.5, "budget": ours} | change))
    with pytest.raises(TypeError):
        release(*rows, budget=ours)
    with pytest.raises(TypeError):
        release(*rows, epsilon=1.0)
    assert ours.spent.epsilon == 0.0


def test_errors_say_nothing_about_the_data():
    private = sample(7, 13)
    for arguments in ({"epsilon": 2.0}, {"epsilon": 0.5, "mechanism": "smooth_laplace"}):
        with pytest.raises(InputError) as refused:
            privacy.auroc(*private, budget=privacy.Budget(epsilon=1.0), **arguments)
        assert "7" not in str(refused.value)
        assert "13" not in str(refused.value)


@seeded
def test_confusion_counts_and_measures():
    y, score = sample()
    matrix = privacy.confusion(y, score, threshold=0.5, epsilon=1e6, budget=budget(), rng=0)
    exact = pr.confusion(pr.rank(y, score >= 0.5), 1)
    for cell in ("tp", "fp", "fn", "tn"):
        assert getattr(matrix, cell) == pytest.approx(getattr(exact, cell), abs=1e-6)
    for name in privacy.CONFUSION_METRICS:
        value = matrix.measure(name, beta=2.0)
        expected = exact.f_beta(2.0) if name == "f_beta" else getattr(exact, name)
        assert value.value == pytest.approx(expected, rel=1e-9)
        low, high = value.interval()
        assert low <= expected <= high
    assert matrix.to_dict()["precision"] == matrix.measure("precision").value


def test_a_private_matrix_is_a_function_of_its_noisy_numbers(monkeypatch):
    from precall.privacy import matrix as module

    data = [sample(40, 160, seed=1), sample(43, 157, seed=2)]

    def run(rows, *draws):
        monkeypatch.setattr(module, "noise_source", lambda *_, **__: Fixed(*draws))
        return privacy.confusion(*rows, threshold=0.5, epsilon=0.7, budget=budget())

    first, second = run(data[0]), run(data[1])
    steps = [round(a.value - b.value) for a, b in zip(first.noisy, second.noisy, strict=True)]
    assert any(steps)
    assert pickle.dumps(run(data[1], *steps)) == pickle.dumps(first)


@seeded
@pytest.mark.parametrize(("n_pos", "n_neg"), [(0, 1), (1, 0), (0, 9), (9, 0)])
@pytest.mark.parametrize("threshold", [-math.inf, 4, math.inf])
def test_confusion_of_one_class_has_no_errors(n_pos, n_neg, threshold):
    y, score = np.repeat([1, 0], [n_pos, n_neg]), np.arange(n_pos + n_neg)
    matrix = privacy.confusion(y, score, threshold=threshold, epsilon=1.0, budget=budget(), rng=0)
    assert matrix.tp + matrix.fp + matrix.fn + matrix.tn == pytest.approx(y.size)
    assert min(matrix.tp, matrix.fp, matrix.fn, matrix.tn) >= 0
    for name in privacy.CONFUSION_METRICS:
        value = matrix.measure(name).value
        assert math.isnan(value) or 0 <= value <= 1


def test_metrics_in_parallel_parts_cost_once():
    ours = privacy.Budget(epsilon=1.0)
    y, score = sample()
    with ours.parallel() as rows:
        for half in (0, 1):
            positions = np.arange(half, y.size, 2)
            part = rows.part(f"half {half}", rows=positions)
            privacy.auroc(y[positions], score[positions], epsilon=1.0, budget=part)
    assert ours.remaining.epsilon == 0.0
