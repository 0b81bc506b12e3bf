"""Many releases together: the lemmas in numbers, rounding outwards, and budgets that count so."""

import json
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from precall import privacy
from precall.exceptions import InputError
from precall.privacy import zcdp
from precall.privacy._ledger import Entry, LedgerSums, Spent, exact
from precall.privacy.accounting import ACCOUNTS, _root

pytestmark = pytest.mark.filterwarnings("ignore::precall.privacy.SeededReleaseWarning")


def spend(budget, epsilon, times=1, delta=0.0):
    for _ in range(times):
        with budget.hold(epsilon=epsilon, delta=delta, what="a count") as hold:
            hold.look()


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0, 10.0])
def test_no_pair_of_distributions_beats_the_rho_of_a_pure_release(epsilon):
    """Renyi divergence of randomised response, the worst of all, and of discrete Laplace noise."""
    orders = 1.0 + np.geomspace(1e-4, 1e3, 40)
    with mpmath.workdps(50):
        for order in map(mpmath.mpf, orders):
            heads = mpmath.exp(epsilon) / (1 + mpmath.exp(epsilon))
            pair = [(heads, 1 - heads), (1 - heads, heads)]
            moment = sum(p**order * q ** (1 - order) for p, q in pair)
            divergence = mpmath.log(moment) / (order - 1)
            assert divergence <= order * mpmath.mpf(epsilon) ** 2 / 2
            closed = mpmath.cosh((2 * order - 1) * epsilon / 2) / mpmath.cosh(epsilon / 2)
            assert mpmath.almosteq(moment, closed, rel_eps=1e-30)
    counts = np.arange(-2000, 2001)
    one = np.exp(-np.abs(counts) * epsilon)
    two = np.exp(-np.abs(counts - 1) * epsilon)
    one, two = one / one.sum(), two / two.sum()
    inside = (one > 1e-280) & (two > 1e-280)
    for order in (1.5, 3.0):
        moment = np.sum(np.exp(order * np.log(one[inside]) + (1 - order) * np.log(two[inside])))
        assert math.log(moment) / (order - 1) <= order * epsilon**2 / 2 + 1e-9


@pytest.mark.parametrize("epsilon", [0.05, 0.2, 1.0])
@pytest.mark.parametrize("times", [10, 60, 300])
def test_the_epsilon_of_many_releases_covers_their_exact_composition(epsilon, times):
    """Randomised response repeated is binomial: its exact delta is a finite sum."""
    delta = 1e-6
    found = privacy.compose([epsilon] * times, delta=delta)
    with mpmath.workdps(40):
        heads = mpmath.exp(epsilon) / (1 + mpmath.exp(epsilon))
        exact_delta = sum(
            mpmath.binomial(times, k)
            * max(
                0,
                heads**k * (1 - heads) ** (times - k)
                - mpmath.exp(found.epsilon) * (1 - heads) ** k * heads ** (times - k),
            )
            for k in range(times + 1)
        )
    assert exact_delta <= delta
    assert found.sum == pytest.approx(times * epsilon)
    assert found.rho == pytest.approx(times * epsilon**2 / 2)
    assert found.n_releases == times


def test_every_bound_is_rounded_outwards():
    """Against 100 digits at the best order of all that are tried there."""
    for rho in (Fraction(1, 10**6), Fraction(1, 50), Fraction(1), Fraction(40)):
        for delta in (0.1, 1e-6, 1e-12):
            found = zcdp.epsilon_of(rho, delta)
            with mpmath.workdps(100):
                chance = mpmath.mpf(exact(delta).numerator) / exact(delta).denominator
                size = mpmath.mpf(rho.numerator) / rho.denominator
                best = min(
                    a * size
                    + (-mpmath.log(chance) + a * mpmath.log(1 - 1 / a) - mpmath.log(a - 1))
                    / (a - 1)
                    for a in (1 + mpmath.mpf(10) ** (mpmath.mpf(k) / 40) for k in range(-80, 400))
                )
            if found > 0.0:
                assert best >= found * (1 - 1e-6)  # no grid finds a much better order
                assert best <= found * (1 + 1e-3)
            # Back again: never more rho than its epsilon, and nearly as much.
            back = zcdp.rho_within(max(found, 1e-9), delta)
            if found > 1e-9:
                assert rho * Fraction(9999, 10000) < back
            assert zcdp.epsilon_of(back, delta) <= found * (1 + 1e-9) + 1e-9


def test_the_bound_holds_at_the_order_that_was_found():
    """Lemma 3 itself at 80 digits: some order shows that rho keeps (epsilon, delta)."""
    for epsilon, delta in ((0.5, 1e-6), (3.0, 1e-6), (20.0, 1e-9)):
        rho = zcdp.rho_within(epsilon, delta)
        with mpmath.workdps(80):
            size = mpmath.mpf(rho.numerator) / rho.denominator
            limit = mpmath.mpf(exact(epsilon).numerator) / exact(epsilon).denominator
            chance = mpmath.mpf(exact(delta).numerator) / exact(delta).denominator

            def shown(order, size=size, limit=limit):
                a = order + 1
                return mpmath.exp(order * (a * size - limit)) * (1 - 1 / a) ** a / order

            order = mpmath.mpf(
                zcdp._best(lambda t, e=epsilon, d=delta: -(e - zcdp._slack(t, d)) / (t + 1.0))
            )
            assert shown(order) <= chance
            assert shown(order) >= chance * (1 - mpmath.mpf(10) ** -30)
            # And one part in a thousand more rho is too much at every order.
            more = size * mpmath.mpf("1.001")
            assert all(
                shown(mpmath.mpf(t), size=more) > chance for t in np.geomspace(1e-6, 1e6, 400)
            )


def test_it_pays_for_many_small_releases_only():
    few, many = (privacy.compose([0.1] * k, delta=1e-6) for k in (10, 100))
    assert few.epsilon == few.sum == 1.0
    assert few.concentrated > few.sum
    assert many.epsilon == many.concentrated < 0.55 * many.sum
    assert "100 releases" in repr(many)
    assert many.to_dict()["delta"] == 1e-6


@pytest.mark.parametrize(
    ("epsilons", "delta", "words"),
    [
        ([], 1e-6, "at least one"),
        (1.0, 1e-6, "list of numbers"),
        ("1", 1e-6, "list of numbers"),
        ([0.0], 1e-6, "epsilons"),
        ([math.inf], 1e-6, "epsilons"),
        (["x"], 1e-6, "epsilons"),
        ([1e200] * 2, 1e-6, "too large"),
        ([1.0], 0.0, "delta"),
        ([1.0], 1.0, "delta"),
    ],
)
def test_costs_that_cannot_be_composed_are_refused(epsilons, delta, words):
    with pytest.raises(InputError, match=words):
        privacy.compose(epsilons, delta=delta)


def test_a_budget_allows_what_either_way_of_counting_allows():
    budget = privacy.Budget(epsilon=3.0, delta=1e-6, accounting="zcdp")
    most = int(zcdp.rho_within(3.0, 1e-6) / zcdp.pure_rho(exact(0.05)))
    assert most > 60  # the sum would allow 60
    spend(budget, 0.05, most)
    with pytest.raises(privacy.BudgetError, match="remain of 3"):
        spend(budget, 0.05)
    assert budget.spent.epsilon <= 3.0
    assert budget.spent.delta == 1e-6
    left = budget.remaining.epsilon
    assert 0.0 < left < 0.05
    spend(budget, left)
    assert budget.remaining.epsilon < left
    one = privacy.Budget(epsilon=3.0, delta=1e-6, accounting="zcdp")
    assert one.remaining.epsilon == 3.0  # one large release is counted by its sum
    spend(one, 3.0)
    assert one.spent == (3.0, 0.0)
    with pytest.raises(privacy.BudgetError):
        spend(one, 0.01)


def test_a_budget_adds_up_unless_it_is_told_not_to():
    budget = privacy.Budget(epsilon=1.0, delta=1e-6)
    assert budget.accounting == "sum"
    spend(budget, 0.1, 10)
    with pytest.raises(privacy.BudgetError):
        spend(budget, 1e-6)
    assert "accounting" not in repr(budget)
    assert "accounting='zcdp'" in repr(privacy.Budget(epsilon=1.0, delta=1e-6, accounting="zcdp"))


def test_what_zcdp_cannot_count_is_refused():
    with pytest.raises(InputError, match="needs a delta"):
        privacy.Budget(epsilon=1.0, accounting="zcdp")
    with pytest.raises(InputError, match="accounting must be one of"):
        privacy.Budget(epsilon=1.0, delta=1e-6, accounting="renyi")
    budget = privacy.Budget(epsilon=1.0, delta=1e-6, accounting="zcdp")
    with pytest.raises(privacy.BudgetError, match="without a delta"):
        spend(budget, 0.1, delta=1e-9)
    assert budget.spent == (0.0, 0.0)


def test_parallel_parts_count_as_the_dearest_of_them():
    budget = privacy.Budget(epsilon=1.0, delta=1e-6, accounting="zcdp")
    with budget.parallel() as rows:
        for name, epsilon in (("a", 0.02), ("b", 0.03)):
            for _ in range(30):
                with rows.part(name).hold(epsilon=epsilon, delta=0.0, what="a count") as hold:
                    hold.look()
    assert budget._sums.total().rho == 30 * zcdp.pure_rho(exact(0.03))
    assert budget._sums.total().epsilon == Fraction(9, 10)
    assert LedgerSums().total() == Spent()
    entry = Entry(what="a", epsilon=0.5, delta=0.1, state="held")
    sums = LedgerSums([entry, entry])
    sums.add(entry, -1)
    assert sums.total() == Spent(Fraction(1, 2), Fraction(1, 10), Fraction(1, 8))


def test_a_ledger_keeps_how_it_counts(tmp_path):
    budget = privacy.Budget(epsilon=1.0, delta=1e-6, accounting="zcdp")
    budget.save(tmp_path / "ledger.json")
    spend(budget, 0.01, 120)
    again = privacy.Budget.load(tmp_path / "ledger.json")
    assert again.accounting == "zcdp"
    assert again.spent == budget.spent
    assert again.spent.epsilon < 1.0
    assert json.loads((tmp_path / "ledger.json").read_text())["accounting"] == "zcdp"
    old = privacy.Budget(epsilon=1.0).to_dict()
    del old["accounting"]
    with pytest.raises(InputError, match="damaged"):
        privacy.Budget.from_dict(old)
    old["format"] = "precall privacy ledger 3"
    assert privacy.Budget.from_dict(old).accounting == "sum"


def test_roots_are_rounded_down():
    assert _root(Fraction(-1)) == 0.0
    for square in (Fraction(1, 3), Fraction(2), Fraction(1, 100), Fraction(7, 10**12)):
        root = _root(square)
        assert exact(root) ** 2 <= square
        assert exact(math.nextafter(math.nextafter(root, 2), 2)) ** 2 > square
    assert set(ACCOUNTS) == {"sum", "zcdp"}


def test_a_release_pays_from_such_a_budget():
    budget = privacy.Budget(epsilon=1.0, delta=1e-6, accounting="zcdp")
    y, score = np.arange(200) % 2, np.linspace(0, 1, 200)
    privacy.confusion(y, score, threshold=0.5, epsilon=0.2, budget=budget, rng=0)
    assert budget.spent.epsilon == 0.2
