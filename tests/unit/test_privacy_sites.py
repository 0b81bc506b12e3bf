"""Several sites: what each releases, what its file may hold, and what the sum says."""

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
from precall.exceptions import InputError, ReliabilityWarning
from precall.privacy import site_releases as module
from precall.privacy.combining import _added
from precall.privacy.covering import _reach
from precall.privacy.mechanisms import SeededNoise
from precall.simulate import Bibeta

pytestmark = pytest.mark.filterwarnings("ignore::precall.privacy.SeededReleaseWarning")

EDGES = [0.0, 1.0, 2.0, 3.0]


def plan(epsilon=1.0, n_rows=20_000, n_sites=3, **options):
    return privacy.site_plan(epsilon=epsilon, n_rows=n_rows, n_sites=n_sites, **options)


def budget(epsilon=1e9):
    return privacy.Budget(epsilon=epsilon)


def release(rows, site="north", ours=None, **options):
    options = {"rng": 0, "budget": budget()} | options
    return privacy.site_release(*rows, plan=ours or plan(), site=site, **options)


@pytest.fixture(scope="module")
def sample():
    return Bibeta().sample(2000, 18_000, rng=0)


def dealt(sample, n_sites=3):
    y, s = sample
    return [(y[k::n_sites], s[k::n_sites]) for k in range(n_sites)]


def made(noisy_positives=(5, 3, 1), noisy_negatives=(1, 3, 9), **options):
    """A release as if it had been sent by somebody."""
    settings = {"site": "north", "n_rows": 22, "n_persons": None, "release_id": "a"} | options
    return privacy.SiteRelease(
        plan=settings.pop("plan", plan(edges=EDGES, n_rows=40)),
        noisy_positives=noisy_positives,
        noisy_negatives=noisy_negatives,
        **settings,
    )


class Silent:
    """No noise, and the scales that it would have had."""

    seeded = False

    def __init__(self):
        self.scales = []

    def add_laplace(self, values, scale):
        self.scales.extend([scale] * len(values))
        return values


def test_one_row_at_one_site_moves_all_releases_by_no_more_than_epsilon(monkeypatch):
    """All data sets of two rows at each of two sites, ties included, and every neighbour."""
    noise = Silent()
    monkeypatch.setattr(module, "noise_source", lambda *_, **__: noise)
    ours = plan(epsilon=1.0, edges=EDGES)
    kinds = list(product((0, 1), (0.5, 1.0, 2.5)))

    def statistics(rows):
        noise.scales.clear()
        y, s = np.array(rows).T
        found = release((y, s), ours=ours, rng=None)
        return np.array(found.noisy_positives + found.noisy_negatives) / noise.scales

    table = {rows: statistics(rows) for rows in product(kinds, repeat=2)}
    largest = 0.0
    # What both sites release, and the sum; the second site is the same on both neighbours.
    for rows, place, other in product(table, (0, 1), kinds):
        changed = (other, rows[1]) if place == 0 else (rows[0], other)
        moved = np.abs(table[rows] - table[changed]).sum()
        for second in list(table)[:3]:
            together = np.abs(
                np.concatenate([table[rows], table[second]])
                - np.concatenate([table[changed], table[second]])
            ).sum()
            assert together == moved
        largest = max(largest, moved)
    assert largest == pytest.approx(1.0)


def test_without_noise_the_sum_is_the_histogram_of_all_rows(sample):
    ours = plan(epsilon=1e6)
    combined = privacy.combine(
        release(rows, f"site {k}", ours) for k, rows in enumerate(dealt(sample))
    )
    whole = privacy.pr_curve(*sample, edges=ours.edges, epsilon=1e6, budget=budget(), rng=0)
    np.testing.assert_array_equal(combined.noisy_positives, whole.noisy_positives)
    np.testing.assert_array_equal(combined.noisy_negatives, whole.noisy_negatives)
    assert combined.area() == whole.area()
    assert combined.to("roc").area() == whole.to("roc").area()
    assert isinstance(combined.to("roc"), privacy.SitesCurve)
    assert combined.n_rows == 20_000
    assert combined.rows_of_sites == (6667, 6667, 6666)


def test_the_noise_of_the_sites_adds_up(sample):
    released = [release(rows, f"site {k}", rng=k) for k, rows in enumerate(dealt(sample))]
    curve = privacy.combine(released)
    by_hand = np.sum([site.noisy_positives for site in released], axis=0)
    np.testing.assert_array_equal(curve.noisy_positives, by_hand)
    assert (curve.noises, curve.scale, curve.epsilon) == (3, 2.0, 1.0)
    assert curve.seeded
    exact = pr.aucpr(pr.rank(*sample))
    interval = curve.area_interval()
    assert interval.low < exact < interval.high
    assert interval.method == "noise and binning"
    beyond = curve.area_interval(of="population")
    assert beyond.low < interval.low
    assert beyond.high > interval.high
    # The same counts with the noise of one release are surer, in every interval.
    alone = replace(curve, noises=1)
    for of in ("rows", "population", "noise"):
        wide, narrow = (c.area_interval(of=of, rng=0) for c in (curve, alone))
        assert wide.width > narrow.width
    wide, narrow = (np.mean(c.band(rng=0).high - c.band(rng=0).low) for c in (curve, alone))
    assert wide > 1.2 * narrow


@pytest.mark.parametrize("terms", [1, 3, 20])
def test_sums_of_noise_have_the_distribution_of_added_noises(terms):
    """By a chi-squared test against the convolution of the exact probabilities."""
    scale, count = 0.8, 40_000
    reach = np.arange(-60, 61)
    one = np.exp(-np.abs(reach) / scale)
    one /= one.sum()
    exact = one
    for _ in range(terms - 1):
        exact = np.convolve(exact, one, mode="same")
    drawn = SeededNoise(np.random.default_rng(5)).laplace_sums(count, scale, terms)
    seen = np.bincount((drawn + 60).astype(int), minlength=121)
    often = exact * count > 10
    assert often.sum() > 5
    observed = np.append(seen[often], seen[~often].sum())
    expected = np.append(exact[often], exact[~often].sum()) * count
    assert stats.chisquare(observed, expected * count / expected.sum()).pvalue > 1e-3


def test_sums_of_wide_noise_are_continuous_and_finite():
    noise = SeededNoise(np.random.default_rng(6))
    drawn = noise.laplace_sums(20_000, 2.0**55, 4)
    assert np.std(drawn) == pytest.approx(math.sqrt(8.0) * 2.0**55, rel=0.05)
    assert np.isfinite(noise.laplace_sums(10, 1e300, 3)).all()


def test_limits_of_counts_hold_for_the_noise_of_several_sites():
    """Cumulated noise of five sites stays within its reach as often as it should."""
    bins, scale, terms, error = 6, 2.0, 5, 0.1
    reach = _reach(bins, scale, terms, error)
    assert np.all(reach > _reach(bins, scale, 1, error))
    drawn = SeededNoise(np.random.default_rng(7)).laplace_sums(4000 * 2 * bins, scale, terms)
    drawn = drawn.reshape(4000, 2, bins)
    excess = drawn.sum(axis=(1, 2))
    share = np.arange(1, bins + 1) / (2.0 * bins)
    moved = np.cumsum(drawn, axis=2) - excess[:, None, None] * share
    missed = int(np.count_nonzero((np.abs(moved) > reach).any(axis=(1, 2))))
    assert stats.binomtest(missed, 4000, error, alternative="greater").pvalue > 1e-3
    assert missed > 200  # and they are not so wide that nothing is ever outside
    # An error too small to simulate takes a bound of every single noise.
    tiny = _reach(bins, scale, terms, 1e-9)
    assert np.all(tiny > _reach(bins, scale, 1, 1e-9))
    each = -scale * math.log(1e-9 / (4 * bins * terms))
    assert np.all(tiny >= 2 * bins * terms * each)


def test_a_plan_takes_as_many_bins_as_the_noise_of_all_sites_allows():
    for n_sites in (1, 4, 16):
        ours = plan(epsilon=2.0, n_rows=50_000, n_sites=n_sites)
        bins = privacy.bin_count(50_000, epsilon=2.0 / math.sqrt(n_sites))
        np.testing.assert_array_equal(ours.edges, privacy.probability_edges(bins))
    assert plan(rows_per_person=4).scale == 4 * plan().scale == 8.0
    assert plan(edges=EDGES).edges == tuple(EDGES)
    assert repr(plan(edges=EDGES, rows_per_person=2)) == (
        "SitePlan(3 bins, epsilon=1, rows_per_person=2)"
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 1e-320}, "finite scale"),
        ({"n_rows": 0}, "n_rows"),
        ({"n_rows": 2**40}, "n_rows"),
        ({"n_sites": 0}, "n_sites"),
        ({"n_sites": 10_001}, "n_sites"),
        ({"rows_per_person": 0}, "rows_per_person"),
        ({"edges": "quantiles"}, "without paying"),
        ({"edges": [0, 1]}, "increasing"),
        ({"edges": np.arange(5000)}, "at most 4097"),
    ],
)
def test_a_plan_is_checked_when_it_is_made(options, words):
    with pytest.raises(InputError, match=words):
        plan(**options)


def test_files_hold_what_was_released(sample, tmp_path):
    open_ended = plan(edges=[-math.inf, 0.1, 1 / 3, math.inf])
    open_ended.save(tmp_path / "plan.json")
    assert privacy.SitePlan.load(tmp_path / "plan.json") == open_ended
    released = release(sample, "Zürich 1", open_ended)
    released.save(tmp_path / "one.json")
    assert privacy.SiteRelease.load(tmp_path / "one.json") == released
    other = release(sample, "Bern", open_ended)
    other.save(tmp_path / "two.json")
    files = [str(tmp_path / "one.json"), tmp_path / "two.json"]
    assert privacy.combine(files).sites == ("Zürich 1", "Bern")
    assert released.release_id != other.release_id
    assert "Zürich 1" in repr(released)
    assert "not private" in repr(released)


def test_every_release_is_paid_for_before_the_rows_are_looked_at(sample, tmp_path):
    ours = privacy.Budget(epsilon=1.5)
    ours.save(tmp_path / "ledger.json")
    release(sample, budget=ours, rng=None)
    (entry,) = ours.ledger
    assert (entry.what, entry.epsilon, entry.seeded) == ("histogram of a site", 1.0, False)
    with pytest.raises(privacy.BudgetError):
        release(["no", "rows"], budget=ours)
    with pytest.raises(InputError, match="Which rows break this is not said"):
        release(([1, 0], [0.5, math.nan]), budget=budget())
    again, turned = privacy.Budget.load(tmp_path / "ledger.json"), [c[::-1] for c in sample]
    with pytest.raises(InputError, match="not those that the ledger was kept for"):
        release(turned, ours=plan(epsilon=0.5), budget=again)
    assert ours.spent.epsilon == 1.0


def test_persons_are_drawn_from_as_in_every_release(sample):
    ours = plan(rows_per_person=2)
    person = np.arange(20_000) // 4
    one = release(sample, "a", ours, person=person)
    assert (one.n_persons, one.n_rows) == (5000, 10_000)
    two = release(sample, "b", ours, person=person)
    curve = privacy.combine([one, two])
    assert (curve.n_persons, curve.n_rows, curve.scale) == (10_000, 20_000, 4.0)
    assert "number of persons of each site is public" in " ".join(curve.assumptions)
    vouched = release(sample, "c", ours)
    mixed = privacy.combine([one, vouched])
    assert mixed.n_persons is None
    assert mixed.n_rows == 30_000


def test_the_result_says_what_it_takes_for_granted(sample):
    curve = privacy.combine(release(rows, f"s{k}") for k, rows in enumerate(dealt(sample)))
    words = " ".join(curve.assumptions)
    for part in ("epsilon=1", "k times", "at which site", "count twice", "in proportion"):
        assert part in words
    plain = curve.to_dict()
    assert plain["assumptions"] == list(curve.assumptions)
    assert [site["n_rows"] for site in plain["sites"]] == [6667, 6667, 6666]
    assert plain["noises"] == 3
    assert ", 3 sites" in repr(curve)
    json.dumps(plain, allow_nan=False)


def test_few_positives_for_so_many_sites_are_named():
    """27 positives are enough for one release at epsilon 1, and not for the noise of nine."""
    few = {"plan": plan(edges=[0.0, 0.5, 1.0]), "n_rows": 500}
    releases = [made((2, 1), (170, 327), site=f"s{k}", release_id=f"{k}", **few) for k in range(9)]
    with pytest.warns(ReliabilityWarning, match="too few for a curve"):
        privacy.combine(releases)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        privacy.combine([made((18, 9), (170, 303), **few)])


def other(**options):
    return made(site="south", release_id="b", **options)


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (made(release_id="b"), "'north' comes twice"),
        (made(site="south"), "is that of 'north'"),
        (other(plan=plan(edges=EDGES, n_rows=40, epsilon=2.0)), r"epsilon differ \(1 and 2\)"),
        (other(plan=plan(edges=[0.0, 1.0, 2.0, 4.0], n_rows=40)), "edges differ"),
        (other(plan=plan(edges=EDGES, n_rows=40, rows_per_person=3)), "rows_per_person differ"),
        (other(plan=plan(edges=EDGES, n_rows=41)), r"n_rows differ \(40 and 41\)"),
        (other(n_rows=2**31), "at most 2147483648 rows"),
        (other(noisy_positives=(2**62, 0, 0)), "too large"),
    ],
)
def test_sites_that_do_not_go_together_are_refused(second, words):
    with pytest.raises(InputError, match=words):
        privacy.combine([made(), second])


@pytest.mark.parametrize(
    ("releases", "words"),
    [
        ([], "from 1 to"),
        ("north.json", "list of SiteRelease"),
        (made(), "list of SiteRelease"),
        (None, "list of SiteRelease"),
        ([made().to_dict()], "hold SiteRelease"),
        ([3], "hold SiteRelease"),
    ],
)
def test_what_is_no_list_of_releases_is_refused(releases, words):
    with pytest.raises(InputError, match=words):
        privacy.combine(releases)
    with pytest.raises(InputError, match="kind"):
        privacy.combine([made()], kind="lift")


def test_counts_add_up_in_integers_of_any_size():
    assert _added([(2**60, -1), (2**60, 4)]).tolist() == [2**61, 3]


def changed(**values):
    return made().to_dict() | values


def within(**values):
    return changed(plan=made().plan.to_dict() | values)


HOSTILE = {
    "no object": ([1], "no object"),
    "another format": (changed(format="x"), "format must be"),
    "no format": ({}, "format must be"),
    "another version": (changed(format="precall site release 9"), "another version"),
    "a long version": (changed(format="precall site release " + "\x1b" * 999), "another version"),
    "a name too many": (changed(extra=1), "nothing else"),
    "a name too few": ({"format": "precall site release 1"}, "nothing else"),
    "counts too few": (changed(noisy_positives=[1, 2]), "3 whole numbers"),
    "counts too large": (changed(noisy_positives=[1, 2, 2**63]), "64 bits"),
    "fractions": (changed(noisy_negatives=[1, 2, 2.5]), "64 bits"),
    "truths": (changed(noisy_negatives=[1, 2, True]), "64 bits"),
    "text for counts": (changed(noisy_negatives="123"), "64 bits"),
    "no rows": (changed(n_rows=0), "n_rows"),
    "rows as text": (changed(n_rows="22"), "n_rows"),
    "rows as a truth": (changed(n_rows=True), "n_rows"),
    "no persons": (changed(n_persons=0), "n_persons"),
    "a blank name": (changed(site=" "), "site"),
    "a name of colours": (changed(site="\x1b[31mred"), "site"),
    "a name turned round": (changed(site="a\u202eb"), "site"),
    "a long name": (changed(site="x" * 101), "site"),
    "a number for a name": (changed(site=3), "site"),
    "seeded as a number": (changed(seeded=0), "seeded"),
    "no identity": (changed(release_id=""), "release_id"),
    "no plan": (changed(plan=None), "a plan for sites"),
    "a plan of another version": (within(format="precall site plan 2"), "another version"),
    "epsilon of nothing": (within(epsilon=0), "epsilon"),
    "epsilon without end": (within(epsilon=10**400), "epsilon"),
    "epsilon as text": (within(epsilon="1"), "epsilon"),
    "edges that fall": (within(edges=[0, 2, 1, 3]), "edges"),
    "edges that tie": (within(edges=[0, 1, 1, 3]), "edges"),
    "edges of words": (within(edges=["nan", 1, 2, 3]), "edges"),
    "edges beyond floats": (within(edges=[0, 1, 2, 10**400]), "edges"),
    "edges nested": (within(edges=[[0], 1, 2, 3]), "edges"),
    "two edges": (within(edges=[0, 1]), "edges"),
    "rows per nobody": (within(rows_per_person=0), "rows_per_person"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_is_no_release_is_refused_with_the_reason(name, tmp_path):
    plain, words = HOSTILE[name]
    path = tmp_path / "sent.json"
    path.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(InputError, match=words) as refused:
        privacy.SiteRelease.load(path)
    assert str(path) in str(refused.value)
    assert "\x1b" not in str(refused.value)
    with pytest.raises(InputError, match=words):
        privacy.SiteRelease.from_dict(plain)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b"\xff\xfe\x00", "no JSON"),
        (b"NaN", "no JSON"),
        (b'{"epsilon": NaN}', "no JSON"),
        (b'{"a": 1, "a": 2}', "no JSON"),
        (b'{"n_rows": ' + b"9" * 5000 + b"}", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b" " * (2**22 + 1), "too large"),
    ],
)
def test_a_file_that_is_no_document_is_refused(text, words, tmp_path):
    path = tmp_path / "sent.json"
    path.write_bytes(text)
    for kind in (privacy.SiteRelease, privacy.SitePlan):
        with pytest.raises(InputError, match=words):
            kind.load(path)
    with pytest.raises(FileNotFoundError):
        privacy.SiteRelease.load(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"site": ""}, "site must be a name"),
        ({"site": "a\n"}, "site must be a name"),
        ({"site": 3}, "site must be a name"),
        ({"plan": {"epsilon": 1.0}}, "plan must be a SitePlan"),
        ({"budget": 1.0}, "budget must be"),
    ],
)
def test_a_release_says_what_it_needs(sample, options, words):
    given = {"plan": plan(), "site": "north", "budget": budget()} | options
    with pytest.raises(InputError, match=words):
        privacy.site_release(*sample, **given)


def test_what_is_expected_of_sites_is_what_comes_out():
    one = privacy.expected_error(
        n_rows=20_000, epsilon=1.0, prevalence=0.1, mechanism="curve", n_sites=16
    )
    alone = privacy.expected_error(n_rows=20_000, epsilon=0.25, prevalence=0.1, mechanism="curve")
    assert one.error == pytest.approx(alone.error, rel=0.3)
    with pytest.raises(InputError, match="n_sites"):
        privacy.expected_error(n_rows=100, epsilon=1.0, prevalence=0.1, n_sites=2)
