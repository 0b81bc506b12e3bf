"""Private average precision, AUROC and confusion matrix: values, costs, and nothing else."""

import itertools
import math
import pickle
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest

import precall as pr
from precall import privacy
from precall.exceptions import InputError, ReliabilityWarning
from precall.privacy import private_areas, ratios, rescaled, sensitivity
from precall.privacy.mechanisms import Noisy

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
    assert 0.0 <= released.value <= 1.0
    assert (released.epsilon, released.delta) == (0.5, 0.0)
    assert ours.spent == (0.5, 0.0)
    assert ours.ledger[0].what == f"{name} ({mechanism})"
    assert released.mechanism in ("rescaled", "curve")
    assert released.to_dict()["metric"] == name
    assert float(released) == released.value
    assert f" ± {released.scale:.2g}, epsilon=0.5," in repr(released)
    assert released.scale > 0
    assert released.value in released.interval(confidence_level=0.5)


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
        warnings.simplefilter("ignore", ReliabilityWarning)
        for seed in range(5):
            released = release(
                *rows, epsilon=1.0, delta=1e-3, budget=budget(), mechanism=mechanism, rng=seed
            )
            assert 0.0 <= released.value <= 1.0
            low, high = released.interval()
            assert 0.0 <= low <= high <= 1.0
            assert math.isfinite(released.scale)


@pytest.mark.parametrize("name", METRICS)
def test_a_release_is_a_function_of_its_noisy_numbers(name, monkeypatch):
    """Two data sets, noise chosen so that both release the same: the results are the same bytes."""
    release, _ = METRICS[name]
    data = [sample(40, 160, seed=1), sample(43, 157, seed=2)]

    def run(rows, *draws):
        monkeypatch.setattr(private_areas, "noise_source", lambda *_, **__: Fixed(*draws))
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
    monkeypatch.setattr(private_areas, "noise_source", lambda *_, **__: noise)
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
        "prevalence is for": {"prevalence": 0.1},
        "prevalence must be": {"prevalence": 1.5, "mechanism": "auto"},
        "edges is for": {"edges": [0, 0.5, 1]},
        "edges must be": {"edges": "quantiles", "mechanism": "curve"},
        "remain of 1": {"epsilon": 2.0},
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
    for arguments in ({"epsilon": 2.0}, {"epsilon": 0.5, "mechanism": "smooth"}):
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


@pytest.mark.parametrize("mechanism", privacy.CONFUSION_MECHANISMS)
def test_a_private_matrix_is_a_function_of_its_noisy_numbers(monkeypatch, mechanism):
    from precall.privacy import balanced
    from precall.privacy import private_confusion as module

    data = [sample(40, 160, seed=1), sample(43, 157, seed=2)]

    def run(rows, *draws):
        monkeypatch.setattr(module, "noise_source", lambda *_, **__: Fixed(*draws))
        monkeypatch.setattr(balanced, "balanced_offset", lambda *_: draws or [0] * 4)
        return privacy.confusion(
            *rows, threshold=0.5, epsilon=0.7, budget=budget(), mechanism=mechanism
        )

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


def measured(name, tp, fp, fn, tn):
    """A measure by its textbook formula, beta = 2; NaN where it is 0 / 0."""
    part, whole = {
        "accuracy": (tp + tn, tp + fp + fn + tn),
        "recall": (tp, tp + fn),
        "false_positive_rate": (fp, fp + tn),
        "specificity": (tn, fp + tn),
        "precision": (tp, tp + fp),
        "negative_predictive_value": (tn, fn + tn),
        "f1": (2 * tp, 2 * tp + fp + fn),
        "f_beta": (5 * tp, 5 * tp + 4 * fn + fp),
    }[name]
    return part / whole if whole else math.nan


def noisy_matrix(*counts, scale=3.0):
    return tuple(Noisy(value=float(count), scale=scale, grid=1.0) for count in counts)


@pytest.mark.parametrize("name", privacy.CONFUSION_METRICS)
@pytest.mark.parametrize(
    "counts", [(60, 20, 10, 110), (30, 20, 0, 197), (-4, 3, 150, 60), (-90, -90, -90, -90)]
)
def test_limits_of_a_measure_are_its_extremes_over_all_matrices_that_the_noise_allows(name, counts):
    """A ratio of sums has its extremes at corners; if it can be undefined, it can be anything."""
    noisy = noisy_matrix(*counts)
    used = {"accuracy": 4, "f1": 3, "f_beta": 3}.get(name, 2)
    boxes = [[min(max(limit, 0), 200) for limit in cell.bounds(0.1 / used)] for cell in noisy]
    values = [measured(name, *cells) for cells in itertools.product(*boxes)]
    unknown = any(map(math.isnan, values))
    expected = (0.0, 1.0) if unknown else (min(values), max(values))
    assert ratios.ratio(name, beta=2.0).bounds(noisy, 200, 0.1) == pytest.approx(expected)


@pytest.mark.parametrize("name", privacy.CONFUSION_METRICS)
def test_the_error_of_a_measure_is_that_of_its_derivatives(name):
    """Laplace noise of scale s has variance 2 s^2 in each count; derivatives by differences."""
    counts = np.array([60.0, 20.0, 10.0, 110.0])
    steps = 1e-4 * np.eye(4)
    slopes = [(measured(name, *(counts + h)) - measured(name, *(counts - h))) / 2e-4 for h in steps]
    form, noisy = ratios.ratio(name, beta=2.0), noisy_matrix(*counts)
    expected = math.sqrt(2 * 3.0**2 * sum(slope**2 for slope in slopes))
    assert form.error(noisy, 200) == pytest.approx(expected, rel=1e-6)
    assert form.value(noisy, 200) == pytest.approx(measured(name, *counts), rel=1e-12)


def test_measures_are_ratios_of_fractions_of_rows_too():
    """Plausible counts are not whole: what is left of a cell may be less than a row."""
    assert ratios.ratio("precision").of([0.5, 0.25, 10.0, 10.0]) == pytest.approx(2 / 3)
    assert math.isnan(ratios.ratio("precision").of([0.0, 0.0, 10.0, 10.0]))


def test_the_error_of_an_undefined_measure_is_undefined():
    assert math.isnan(ratios.ratio("precision").error(noisy_matrix(0, 0, 20, 180), 200))


@pytest.mark.parametrize(
    ("noisy", "expected"),
    [
        ((60, 20, 10, 110), (60, 20, 10, 110)),
        ((64, 24, 14, 114), (60, 20, 10, 110)),
        ((-40, 30, 30, 50), (0, 60, 60, 80)),
        ((-500, -400, 100, 100), (0, 0, 100, 100)),
        ((0, 0, 0, 900), (0, 0, 0, 200)),
    ],
)
def test_plausible_counts_are_the_nearest_that_add_up(noisy, expected):
    found = ratios.plausible(noisy_matrix(*noisy), 200)
    assert found == pytest.approx(expected)
    assert sum(found) == pytest.approx(200)
    generator = np.random.default_rng(0)
    nearest = math.dist(noisy, found)
    for other in generator.dirichlet(np.full(4, 0.3), 2000) * 200:
        assert math.dist(noisy, other) >= nearest - 1e-9


def average_precision_of(statistic, n_pos):
    return min(max(1 - statistic * float(sensitivity.lost_precision_bound(n_pos)) / n_pos, 0), 1)


@pytest.mark.parametrize("positives", [40, 3, 500, 1, 18, 19])  # 18 less 18 steps of noise is 0
@pytest.mark.parametrize("statistic", [2.0, 0.5, -1.0, 40.0])
def test_limits_of_average_precision_are_its_extremes_over_all_that_the_noise_allows(
    positives, statistic
):
    noisy = (
        Noisy(value=statistic, scale=0.25, grid=2.0**-20),
        Noisy(value=float(positives), scale=4.0, grid=1.0),
    )
    form = rescaled.AveragePrecision()
    # Four fifths of the error are for the statistic, as documented beside it.
    losses = [max(limit, 0.0) for limit in noisy[0].bounds(0.04)]
    fewest, most = noisy[1].bounds(0.01)
    # With more positives than rows, as many as there are rows are the nearest that can be.
    counts = range(min(max(int(fewest), 1), 200), min(int(most), 200) + 1)
    values = [average_precision_of(loss, n) for loss in losses for n in counts]
    low = min(values) if fewest >= 1 else 0.0  # no positives: 0 by convention
    assert form.bounds(noisy, 200, 0.05) == pytest.approx((low, max(values)), abs=1e-12)
    assert form.value(noisy, 200) == pytest.approx(
        average_precision_of(statistic, min(positives, 200))
    )


def test_values_beyond_what_is_possible_are_cut_off():
    below, above = (Noisy(value=v, scale=1.0, grid=2.0**-20) for v in (-900.0, 900.0))
    positives = Noisy(value=50.0, scale=1.0, grid=1.0)
    for form, low, high in (
        (rescaled.AveragePrecision(), above, below),
        (rescaled.Auroc(), below, above),
    ):
        assert form.value((low, positives), 200) == 0.0
        assert form.value((high, positives), 200) == 1.0
        assert form.bounds((low, positives), 200, 0.05) == (0.0, 0.0)
        assert form.bounds((high, positives), 200, 0.05) == (1.0, 1.0)


@pytest.mark.parametrize("statistic", [12.0, -12.0, 0.0, 1.0])
@pytest.mark.parametrize("positives", [40, 95, 5, 160, 198, 300])
def test_limits_of_auroc_are_its_extremes_over_all_that_the_noise_allows(statistic, positives):
    noisy = (
        Noisy(value=statistic, scale=0.5, grid=2.0**-20),
        Noisy(value=float(positives), scale=4.0, grid=1.0),
    )
    limits = noisy[0].bounds(0.04)
    fewest, most = (int(limit) for limit in noisy[1].bounds(0.01))
    values = [
        min(max(0.5 + limit / float(sensitivity.auroc_weight(n, 200)), 0), 1)
        for limit in limits
        for n in range(max(fewest, 1), min(most, 199) + 1)
    ]
    expected = (min(values), max(values)) if values else (0.0, 1.0)
    assert rescaled.Auroc().bounds(noisy, 200, 0.05) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("form", [rescaled.AveragePrecision(), rescaled.Auroc()])
def test_the_error_of_a_rescaled_metric_is_that_of_its_derivatives(form):
    """Derivatives by differences; for average precision, L(n) counts as constant."""
    n_rows, n_pos = 200_000, 30_000
    noisy = (
        Noisy(value=2.0, scale=0.5, grid=2.0**-20),
        Noisy(value=float(n_pos), scale=4.0, grid=1.0),
    )

    def value(statistic, positives):
        moved = (replace(noisy[0], value=statistic), replace(noisy[1], value=float(positives)))
        return form.value(moved, n_rows)

    by_statistic = (value(2.1, n_pos) - value(1.9, n_pos)) / 0.2
    by_positives = (value(2.0, n_pos + 100) - value(2.0, n_pos - 100)) / 200
    if form.name == "average_precision":
        by_positives = (1 - value(2.0, n_pos)) / n_pos
    expected = math.sqrt(2) * math.hypot(0.5 * by_statistic, 4.0 * by_positives)
    assert form.error(noisy, n_rows) == pytest.approx(expected, rel=1e-4)


def test_the_epsilon_of_average_precision_is_divided_as_the_proofs_say(monkeypatch):
    noise = Fixed()
    monkeypatch.setattr(private_areas, "noise_source", lambda *_, **__: noise)
    privacy.average_precision(*sample(), epsilon=0.8, budget=budget())
    statistic, positives = noise.scales
    assert (2**20 + 1) / statistic == pytest.approx(0.85 * 0.8, rel=1e-12)
    assert 1 / positives == pytest.approx(0.15 * 0.8, rel=1e-12)


def test_more_rows_than_the_proofs_cover_are_refused():
    def ranking(n_rows):
        return pr.Ranking(
            threshold=np.array([1.0]),
            positives=np.array([1]),
            tied=np.array([0]),
            above=np.array([0]),
            below=n_rows - 1,
        )

    assert rescaled.row_count(ranking(2**31)) == 2**31
    with pytest.raises(InputError, match="at most 2147483648 rows"):
        rescaled.row_count(ranking(2**31 + 1))


@seeded
def test_f_beta_of_a_private_matrix_is_f1_unless_it_is_said():
    y, s = np.array([1, 0, 1, 0, 0, 1] * 20), np.linspace(0, 1, 120)
    matrix = privacy.confusion(y, s, threshold=0.8, epsilon=50.0, budget=budget(), rng=0)
    assert matrix.measure("f_beta").value == matrix.measure("f_beta", beta=1.0).value
    assert matrix.measure("f_beta").value != matrix.measure("f_beta", beta=2.0).value
