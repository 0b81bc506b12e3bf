"""A row more or less: the number of rows is private, and shows nowhere but in noisy counts."""

import inspect
import json
import math
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import stats

import precall as pr
from precall import privacy
from precall.exceptions import InputError
from precall.privacy import curve_release, private_confusion, site_releases
from precall.privacy.covering import _reach, area_limits, count_limits
from precall.privacy.mechanisms import SeededNoise
from precall.privacy.neighbours import charged, estimated_rows
from precall.simulate import Bibeta

pytestmark = [
    pytest.mark.filterwarnings("ignore::precall.privacy.SeededReleaseWarning"),
    pytest.mark.filterwarnings("ignore::precall.exceptions.ReliabilityWarning"),
]

EDGES = [0.0, 1.0, 2.0, 3.0]
FREE = {"neighbours": "add_remove"}


def budget(epsilon=1e9, **options):
    return privacy.Budget(epsilon=epsilon, **(FREE | options))


def plan(**options):
    return privacy.site_plan(epsilon=1.0, n_rows=40, n_sites=2, edges=EDGES, **(FREE | options))


def curve_counts(y, score, **options):
    curve = privacy.pr_curve(y, score, edges=EDGES, epsilon=1.0, budget=budget(), **FREE, **options)
    return [*curve.noisy_positives, *curve.noisy_negatives]


def matrix_counts(y, score, **options):
    options |= FREE | {"mechanism": "laplace", "budget": budget()}
    matrix = privacy.confusion(y, score, threshold=1.0, epsilon=1.0, **options)
    return [cell.value for cell in matrix.noisy]


def site_counts(y, score, rows_per_person=1, **options):
    ours = plan(rows_per_person=rows_per_person)
    site = privacy.site_release(y, score, plan=ours, site="a", budget=budget(), **options)
    return [*site.noisy_positives, *site.noisy_negatives]


RELEASES = {"curve": curve_counts, "confusion": matrix_counts, "site": site_counts}


class Silent:
    """No noise, and the scales that it would have had."""

    seeded = False

    def __init__(self):
        self.scales = []

    def add_laplace(self, values, scale):
        self.scales.extend([scale] * len(values))
        return values

    def words(self, count):
        return np.arange(count, dtype=np.uint64)


@pytest.fixture
def silent(monkeypatch):
    noise = Silent()
    for module in (curve_release, private_confusion, site_releases):
        monkeypatch.setattr(module, "noise_source", lambda *_, **__: noise)
    return noise


def statistics(noise, name, rows, **options):
    noise.scales.clear()
    y, score = [r[0] for r in rows], [r[1] for r in rows]
    found = RELEASES[name](y, score, **options)
    return np.array(found, dtype=float) / noise.scales


KINDS = list(product((0, 1), (0.5, 1.0, 2.5)))


@pytest.mark.parametrize("name", RELEASES)
def test_no_row_more_or_less_moves_a_release_by_more_than_its_epsilon(silent, name):
    """All data sets of up to three rows, none included, and every row that can join them."""
    largest = 0.0
    for size in range(3):
        for rows in product(KINDS, repeat=size):
            here = statistics(silent, name, rows)
            for more in KINDS:
                there = statistics(silent, name, [*rows, more])
                assert here.size == there.size  # nothing but the counts can tell them apart
                largest = max(largest, float(np.abs(here - there).sum()))
    assert largest == pytest.approx(1.0)


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("size", [2, 3])
def test_no_person_more_or_less_does(silent, name, size):
    """Somebody with one to three rows joins; vouched for, and drawn from."""
    others = [(1, 0.5), (0, 1.0)]
    for owned in range(1, size + 1):
        for rows in product(KINDS[::2], repeat=owned):
            joined = [*others, *rows]
            moved = statistics(silent, name, others, rows_per_person=size) - statistics(
                silent, name, joined, rows_per_person=size
            )
            assert np.abs(moved).sum() <= 1.0 + 1e-9
            options = {"rows_per_person": size}
            drawn = statistics(silent, name, others, person=[0, 1], **options) - statistics(
                silent, name, joined, person=[0, 1, *[2] * owned], **options
            )
            assert np.abs(drawn).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", RELEASES)
def test_no_rows_at_all_are_rows_too(silent, name):
    assert not statistics(silent, name, []).any()
    for empty in ([], np.zeros(0), np.zeros(0, dtype=np.int64)):
        assert not np.any(RELEASES[name](empty, empty))
        assert not np.any(RELEASES[name](empty, empty, person=empty))


def results(y, score, **options):
    options |= FREE | {"epsilon": 1.0, "budget": budget(), "rng": 3}
    curve = privacy.pr_curve(y, score, edges=EDGES, **options)
    matrix = privacy.confusion(y, score, threshold=1.0, mechanism="laplace", **options)
    return curve, matrix


def test_results_of_no_rows_have_every_number(recwarn):
    for person in (None, []):
        curve, matrix = results([], [], person=person)
        for shown in (curve, curve.to("roc")):
            assert 0.0 <= shown.area() <= 1.0
            for of in ("rows", "population", "noise"):
                interval = shown.area_interval(of=of, rng=0)
                assert 0.0 <= interval.low <= interval.high <= 1.0
            assert shown.band(rng=0).low.size == 91
        json.dumps(curve.to_dict(), allow_nan=False)
        assert matrix.n_persons is None
        for name in privacy.CONFUSION_METRICS:
            interval = matrix.measure(name).interval()
            assert 0.0 <= interval.low <= interval.high <= 1.0
        assert {w.category.__name__ for w in recwarn} <= {
            "ReliabilityWarning",
            "SeededReleaseWarning",
        }


def test_what_is_shown_of_the_number_of_rows_comes_from_noisy_counts():
    y, score = Bibeta().sample(300, 2700, rng=0)
    edges = privacy.probability_edges(10)
    settings = {"edges": edges, "epsilon": 1.0, "budget": budget(), "rng": 1}
    curve = privacy.pr_curve(y, score, **FREE, **settings)
    total = int(curve.noisy_positives.sum() + curve.noisy_negatives.sum())
    assert curve.n_rows == total != 3000
    assert abs(total - 3000) < 60
    assert curve.scale == 1.0  # half of what a replaced row takes
    person = np.arange(3000) // 3
    drawn = privacy.pr_curve(y, score, person=person, rows_per_person=2, **FREE, **settings)
    assert (drawn.n_persons, drawn.scale) == (None, 2.0)
    assert "add_remove" in repr(drawn)
    assert drawn.to_dict()["neighbours"] == "add_remove"
    matrix = privacy.confusion(
        y, score, threshold=0.5, mechanism="laplace", epsilon=1.0, budget=budget(), rng=1, **FREE
    )
    assert matrix.n_rows == sum(cell.value for cell in matrix.noisy)
    assert [matrix.tp, matrix.tn] == [matrix.noisy[0].value, matrix.noisy[3].value]
    assert estimated_rows(-5) == estimated_rows(1) == 2
    assert estimated_rows(2**60) == 2**31


def test_noise_that_hides_everything_still_gives_numbers():
    """An epsilon so small that the counts are at the ends of 64 bits."""
    y, score = Bibeta().sample(30, 270, rng=0)
    for epsilon in (1e-12, 1e-300):
        settings = {"epsilon": epsilon, "budget": budget(), "rng": 1} | FREE
        curve = privacy.pr_curve(y, score, edges=[0.0, 0.3, 0.6, 1.0], **settings)
        for shown in (curve, curve.to("roc")):
            interval = shown.area_interval()
            assert (interval.low, interval.high) == (0.0, 1.0)


def test_bins_that_the_number_of_rows_would_choose_are_refused():
    for release in (privacy.pr_curve, privacy.roc_curve):
        ours = budget()
        with pytest.raises(InputError, match="cannot choose the bins"):
            release([1, 0], [0.5, 0.2], epsilon=1.0, budget=ours, **FREE)
        assert ours.spent.epsilon == 0.0
    with pytest.raises(InputError, match='mechanism="laplace"'):
        privacy.confusion([1, 0], [0.5, 0.2], threshold=0.5, epsilon=1.0, budget=budget(), **FREE)
    with pytest.raises(InputError, match="neighbours must be one of"):
        privacy.pr_curve([1, 0], [0.5, 0.2], epsilon=1.0, budget=budget(), neighbours="both")


def test_which_releases_keep_the_number_of_rows_private():
    having = {
        name
        for name in privacy.__all__
        if inspect.isfunction(function := getattr(privacy, name))
        and "neighbours" in inspect.signature(function).parameters
    }
    assert having == {"pr_curve", "roc_curve", "confusion", "site_plan"}


def test_rows_outside_the_domain_are_refused_in_the_same_words():
    said = set()
    for y, score in (([1], [math.nan]), ([2, 0], [0.1, 0.2]), ([1, 0], [0.1]), ([None], [0.1])):
        with pytest.raises(InputError) as refused:
            results(y, score)
        said.add(str(refused.value))
    assert len(said) == 1


def spend(ours, **options):
    with ours.hold(epsilon=0.5, delta=0.0, what="a count", **options) as hold:
        hold.look()


def test_a_budget_knows_whom_it_protects(tmp_path):
    free, usual = budget(1.0), privacy.Budget(epsilon=1.0)
    spend(free, **FREE)
    assert free.spent.epsilon == 0.5
    with pytest.raises(privacy.BudgetError, match="takes it as public"):
        spend(free)
    # A replaced row is one less and one more.
    spend(usual, **FREE)
    assert usual.spent.epsilon == 1.0
    with pytest.raises(privacy.BudgetError, match="costs epsilon=1"):
        spend(privacy.Budget(epsilon=0.9), **FREE)
    assert charged(0.1, release="add_remove", budget="replace") == 0.2
    free.save(tmp_path / "ledger.json")
    assert privacy.Budget.load(tmp_path / "ledger.json").neighbours == "add_remove"
    assert "neighbours='add_remove'" in repr(free)
    with pytest.raises(InputError, match="neighbours must be one of"):
        privacy.Budget(epsilon=1.0, neighbours="swap")
    for ours in (free, privacy.Budget(epsilon=9.0)):
        with pytest.raises(InputError, match="neighbours must be one of"):
            spend(ours, neighbours="swap")
    with usual.parallel() as rows, pytest.raises(InputError, match="no parallel parts"):
        spend(rows.part("a"), **FREE)


def test_releases_of_a_public_number_are_refused_by_a_budget_that_hides_it():
    y, score = [1, 0, 1, 0] * 5, list(range(20))
    for release in (privacy.auroc, privacy.average_precision):
        ours = budget()
        with pytest.raises(privacy.BudgetError, match="takes it as public"):
            release(y, score, epsilon=1.0, budget=ours)
        assert not ours.ledger


def test_reach_of_cumulated_noise_without_a_known_total():
    bins, scale, error = 6, 1.0, 0.1
    reach = _reach(bins, scale, 1, error, False)
    drawn = SeededNoise(np.random.default_rng(3)).laplace_sums(4000 * 2 * bins, scale)
    moved = np.cumsum(drawn.reshape(4000, 2, bins), axis=2)
    missed = int(np.count_nonzero((np.abs(moved) > reach).any(axis=(1, 2))))
    assert stats.binomtest(missed, 4000, error, alternative="greater").pvalue > 1e-3
    assert missed > 200


@pytest.mark.parametrize("roc", [False, True])
def test_limits_hold_for_all_rows_whose_counts_they_hold(roc):
    """Rows drawn at will, in any order within the bins, with limits of every width."""
    rng = np.random.default_rng(8)
    area = pr.auroc if roc else pr.aucpr
    tight = 0
    for _ in range(300):
        y = rng.random(rng.integers(4, 30)) < rng.choice([0.2, 0.5])
        y[:2] = True, False
        score = np.round(3 * rng.random(y.size) + 0.5 * y, rng.integers(0, 3))
        place = 2 - np.clip(np.searchsorted([1.0, 2.0], score, side="right"), 0, 2)
        counts = [np.bincount(place[y == label], minlength=3) for label in (True, False)]
        limits = count_limits(*counts, n_rows=None, scale=1e-3, error=0.05)
        wider = replace(
            limits,
            tp_low=np.maximum(limits.tp_low - 1, 0),
            tp_high=limits.tp_high + 2,
            fp_low=np.maximum(limits.fp_low - 2, 0),
            fp_high=limits.fp_high + 1,
            n_low=max(limits.n_low - 1, 0),
            n_high=limits.n_high + 2,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exact = area(pr.rank(y, score))
        for each in (limits, wider):
            low, high = area_limits(each, roc=roc)
            assert low <= exact <= high
        fixed = area_limits(count_limits(*counts, n_rows=y.size, scale=1e-3, error=0.05), roc=roc)
        np.testing.assert_allclose(area_limits(limits, roc=roc), fixed, atol=1e-6)
        tight += high - low < 1.0
    assert tight > 100


def test_sites_with_private_sizes_add_up(tmp_path):
    y, score = Bibeta().sample(400, 3600, rng=0)
    ours = privacy.site_plan(epsilon=1.0, n_rows=4000, n_sites=2, **FREE)
    assert ours.scale == 1.0
    assert "add_remove" in repr(ours)
    sites = [
        privacy.site_release(y[k::2], score[k::2], plan=ours, site=f"s{k}", budget=budget(), rng=k)
        for k in range(2)
    ]
    assert sites[0].n_rows is None
    assert "rows" not in repr(sites[0])
    for site in sites:
        site.save(tmp_path / f"{site.site}.json")
        assert privacy.SiteRelease.load(tmp_path / f"{site.site}.json") == site
    curve = privacy.combine(tmp_path / f"s{k}.json" for k in range(2))
    assert curve.n_rows == curve.noisy_positives.sum() + curve.noisy_negatives.sum()
    assert curve.neighbours == "add_remove"
    assert sum(curve.rows_of_sites) == curve.n_rows
    assert "twice this epsilon" in " ".join(curve.assumptions)
    exact = pr.aucpr(pr.rank(y, score))
    for of in ("rows", "population"):
        interval = curve.area_interval(of=of)
        assert interval.low < exact < interval.high
    public = replace(sites[1], plan=replace(ours, neighbours="replace"), n_rows=5)
    with pytest.raises(InputError, match=r"neighbours differ \(add_remove and replace\)"):
        privacy.combine([sites[0], public])
    plain = sites[0].to_dict()
    for wrong in ({"n_rows": 2000}, {"n_persons": 3}):
        with pytest.raises(InputError, match="n_rows must be null"):
            privacy.SiteRelease.from_dict(plain | wrong)
    with pytest.raises(InputError, match="neighbours must be one of"):
        privacy.SitePlan.from_dict(ours.to_dict() | {"neighbours": "some"})
    with pytest.raises(privacy.BudgetError, match="takes it as public"):
        privacy.site_release(y, score, plan=public.plan, site="a", budget=budget())
