"""Monitors: limits that hold at all times, an alarm, late labels, restarts and shards."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import precall as pr
from precall.exceptions import InputError
from precall.monitoring import PrecisionMonitor, RecallMonitor, sequences

LABELS = st.lists(st.booleans(), min_size=1, max_size=60)


def naive_mixture(p, labels, centre):
    """M_t(p) as the product of predictions over likelihoods, label by label, exactly."""
    a, b = 10 * Fraction(centre), 10 * (1 - Fraction(centre))
    value = Fraction(1)
    for label in labels:
        value *= (a if label else b) / (a + b) / (p if label else 1 - p)
        a, b = (a + 1, b) if label else (a, b + 1)
    return value


def stream(monitor, labels):
    return [monitor.update(int(label)) for label in labels]


def state(monitor):
    return json.loads(json.dumps(monitor.to_dict(), allow_nan=False))


@pytest.mark.parametrize("centre", [Fraction(1, 2), Fraction(9, 10)])
def test_the_mixture_is_a_product_of_predictions(centre):
    labels = np.random.default_rng(3).random(50) < 0.6
    for p in (Fraction(1, 10), Fraction(1, 2), Fraction(19, 20)):
        found = sequences.log_mixture(float(p), labels.sum(), labels.size, float(centre))
        assert np.exp(found) == pytest.approx(float(naive_mixture(p, labels, centre)), rel=1e-11)


@given(LABELS)
def test_the_mixture_is_a_martingale(labels):
    """Its mean over the next label is its value: the whole reason why looking costs nothing."""
    p, centre = Fraction(2, 5), Fraction(1, 2)
    now = naive_mixture(p, labels, centre)
    nexts = [naive_mixture(p, [*labels, each], centre) for each in (True, False)]
    assert p * nexts[0] + (1 - p) * nexts[1] == now


@pytest.mark.parametrize(("done", "trials"), [(0, 7), (7, 7), (3, 10), (400, 1000), (0, 10**7)])
def test_limits_are_where_the_evidence_is_reached(done, trials):
    low, high = sequences.limits(np.array([float(done)]), np.array([float(trials)]), 0.3, 0.05)
    assert low <= done / trials <= high
    for limit, there in ((low, done > 0), (high, done < trials)):
        if there:
            found = sequences.log_mixture(limit, done, trials, 0.3)
            assert found == pytest.approx(np.log(20.0), rel=1e-6)
    assert (low == 0.0) == (done == 0)
    assert (high == 1.0) == (done == trials)


def alarm_counts(target, length, alpha):
    """For every number of trials, the most successes with which the alarm goes on."""
    trials = np.arange(1, length + 1)
    counts = np.arange(length + 1)
    table = sequences.too_few(target, counts[:, None], trials, target, alpha)
    assert (np.diff(table.astype(int), axis=0) <= 0).all()  # the fewer, the surer
    return table.sum(axis=0) - 1


def chance_of_alarm(share, most):
    """Exact probability that a stream of labels with this share ever raises the alarm."""
    alive = np.zeros(most.size + 2)
    alive[0] = 1.0
    for worst in most:
        alive[1:] = alive[1:] * (1.0 - share) + alive[:-1] * share
        alive[0] *= 1.0 - share
        alive[: worst + 1] = 0.0
    return 1.0 - alive.sum()


@pytest.mark.numerics
@pytest.mark.parametrize("target", [0.05, 0.3, 0.5, 0.9, 0.99])
def test_looking_after_every_label_keeps_the_level(target):
    """Computed, not simulated: over 600 looks the alarm is false with probability at most alpha."""
    for alpha in (0.05, 0.2):
        most = alarm_counts(target, 600, alpha)
        exact = chance_of_alarm(target, most)
        assert exact <= alpha
        assert chance_of_alarm(target + 0.5 * (1 - target), most) <= exact
    assert chance_of_alarm(0.5 * target, most) > (0.9 if target > 0.1 else 0.5)


@given(LABELS, st.integers(1, 20))
@settings(max_examples=30)
def test_batches_are_labels_one_by_one(labels, size):
    each, all_ = PrecisionMonitor(target=0.6), PrecisionMonitor(target=0.6, confidence_level=0.95)
    said = stream(each, labels)
    for start in range(0, len(labels), size):
        all_.update(labels[start : start + size])
    assert each.to_dict() == all_.to_dict()
    assert said[-1] is all_.alarm
    assert said == sorted(said)  # once on, it stays on


def test_the_alarm_is_the_upper_limit_under_the_target():
    monitor = PrecisionMonitor(target=0.5)
    rng = np.random.default_rng(1)
    for label in rng.random(400) < 0.35:
        assert monitor.update(bool(label)) is (monitor.interval.high < 0.5)
        if monitor.alarm:
            break
    assert monitor.alarm_at == monitor.trials
    good = PrecisionMonitor(target=0.5)
    good.update(rng.random(1000) < 0.9)  # excluded from below: no alarm
    assert good.interval.low > 0.5
    assert not good.alarm
    assert good.message.startswith("The precision is at least 0.5")


@given(LABELS, st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_late_labels_in_any_order_count_in_the_order_of_decisions(labels, random):
    straight, late = PrecisionMonitor(target=0.4), PrecisionMonitor(target=0.4)
    straight.update(labels)
    late.register(list(range(len(labels))))
    order = list(range(len(labels)))
    random.shuffle(order)
    arrived = set()
    for row in order:
        late.update(labels[row], id=row)
        arrived.add(row)
        first_missing = next((i for i in range(len(labels)) if i not in arrived), len(labels))
        assert late.trials == first_missing
        assert late.pending == len(labels) - first_missing
        late = PrecisionMonitor.from_dict(state(late))
    assert (late.successes, late.alarm_at) == (straight.successes, straight.alarm_at)
    assert late.interval == straight.interval


def test_a_declared_delay_counts_every_label_at_once():
    monitor = PrecisionMonitor(target=0.4, delay="independent")
    monitor.register(["a", "b", "c"])
    monitor.update([1, 0], id=["c", "b"])
    assert (monitor.successes, monitor.trials, monitor.pending) == (1, 2, 1)


def test_a_long_good_past_hides_a_drop_unless_the_monitor_restarts():
    labels = np.random.default_rng(5).random(12_000) < np.repeat([0.8, 0.3], [10_000, 2_000])
    plain = PrecisionMonitor(target=0.5)
    restarting = PrecisionMonitor(target=0.5, restart_every=500)
    halves = PrecisionMonitor(target=0.5, restart_every=500)
    assert not plain.update(labels)
    assert restarting.update(labels)
    assert 10_000 < restarting.alarm_at < 10_700
    for part in np.array_split(labels, 7):
        halves = PrecisionMonitor.from_dict(state(halves))
        halves.update(part)
    assert halves.to_dict() == restarting.to_dict()
    assert restarting.interval == plain.interval


def test_recall_counts_positives_only():
    monitor = RecallMonitor(target=0.8)
    monitor.register(["a", "b", "c", "d"], selected=[True, False, False, True])
    monitor.update([0, 1, 1, 1], id=["a", "b", "d", "c"])
    assert (monitor.successes, monitor.trials) == (1, 3)
    assert RecallMonitor.from_dict(state(monitor)).to_dict() == monitor.to_dict()
    with pytest.raises(InputError, match="monitor of recall, not of precision"):
        PrecisionMonitor.from_dict(state(monitor))


def test_shards_with_a_declared_delay_add_up():
    labels = np.random.default_rng(2).random(300) < 0.3
    whole = PrecisionMonitor(target=0.5, delay="independent")
    whole.update(labels)
    shards = [PrecisionMonitor(target=0.5, delay="independent") for _ in range(3)]
    for part, shard in zip(np.array_split(labels, 3), shards, strict=True):
        shard.update(part)
    merged = PrecisionMonitor.merge([shards[0], state(shards[1]), shards[2]])
    assert merged.interval == whole.interval
    assert merged.alarm
    merged.update(1)
    assert merged.trials == 301


@pytest.mark.numerics
def test_shards_in_no_common_order_are_combined_by_fishers_method():
    shards = [PrecisionMonitor(target=0.5) for _ in range(3)]
    for shard, count in zip(shards, (0, 40, 200), strict=True):
        shard.update(np.arange(count) % 10 < 2) if count else None
    merged = PrecisionMonitor.merge(shards)
    assert (merged.successes, merged.trials) == (48, 240)
    evidence = sum(
        max(float(sequences.log_mixture(0.5, s.successes, s.trials, 0.5)), 0.0) for s in shards
    )
    tail = np.exp(-evidence) * (1 + evidence + evidence**2 / 2)  # of Gamma(3)
    assert merged.alarm is bool(tail <= 0.05)
    assert merged.alarm
    assert merged.interval.high < 0.5
    one = PrecisionMonitor.merge(shards[1:2])
    assert one.interval == shards[1].interval
    with pytest.raises(InputError, match="merged from shards: go on with the shards"):
        merged.update(1)
    with pytest.raises(InputError, match="merged from shards"):
        merged.register("x")


def test_a_shard_that_is_better_does_not_raise_the_alarm():
    shards = [PrecisionMonitor(target=0.5) for _ in range(2)]
    shards[0].update([True] * 400)
    shards[1].update([True, False] * 200)
    merged = PrecisionMonitor.merge(shards)
    assert not merged.alarm
    assert merged.interval.low > merged.interval.high  # they have no precision in common


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PrecisionMonitor(target=0), "target must be strictly between 0 and 1, got 0"),
        (lambda: PrecisionMonitor(target=1), "target must be strictly between 0 and 1, got 1"),
        (lambda: PrecisionMonitor(target="a"), "target must be a number"),
        (lambda: PrecisionMonitor(target=0.5, delay="late"), "delay must be one of"),
        (lambda: PrecisionMonitor(target=0.5, restart_every=0), "restart_every must be a whole"),
        (lambda: PrecisionMonitor.merge([]), "at least one monitor"),
        (lambda: PrecisionMonitor.merge(3), "at least one monitor"),
        (lambda: PrecisionMonitor.merge(["a"]), "not the state of a monitor"),
        (
            lambda: PrecisionMonitor.merge([PrecisionMonitor(target=t) for t in (0.5, 0.6)]),
            "the shards differ in target: 0.5, 0.6",
        ),
        (lambda: PrecisionMonitor.from_dict({}), "not the state of a monitor: it needs"),
    ],
)
def test_bad_settings_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()


def registered(*ids):
    monitor = PrecisionMonitor(target=0.5)
    monitor.register(list(ids))
    return monitor


def labelled():
    monitor = registered("a", "b")
    monitor.update(1, id="b")
    return monitor


@pytest.mark.parametrize(
    ("make", "feed", "message"),
    [
        (registered, lambda m: m.update(1, id="z"), "'z' has a label before its decision"),
        (lambda: registered("a"), lambda m: m.register("a"), "waiting for its label already"),
        (lambda: registered("a"), lambda m: m.register(["b", "b"]), "'b' comes twice"),
        (lambda: registered("a"), lambda m: m.update([1, 0], id=["a", "a"]), "comes twice"),
        (lambda: registered("a"), lambda m: m.update(1), "give the id of the label's decision"),
        (labelled, lambda m: m.update(0, id="b"), "'b' already has its label"),
        (labelled, lambda m: m.update([0, 0], id=["a", "b"]), "'b' already has its label"),
        (lambda: registered("a"), lambda m: m.update([1, 0], id=["a"]), "2 and 1"),
        (lambda: registered("a"), lambda m: m.update(float("nan"), id="a"), "must not be missing"),
        (lambda: registered("a"), lambda m: m.update(2, id="a"), "label"),
        (lambda: registered("a"), lambda m: m.update(None, id="a"), "label must be"),
        (lambda: registered("a"), lambda m: m.update([[1], [0, 1]], id="a"), "label cannot be"),
        (lambda: registered("a"), lambda m: m.update(slice(1), id="a"), "label must be"),
        (lambda: registered("a"), lambda m: m.update("yes", id="a"), "pos_label"),
        (lambda: registered("a"), lambda m: m.register(0.5), "id must be"),
        (lambda: registered("a"), lambda m: m.register(None), "id must be"),
        (lambda: registered("a"), lambda m: m.register([True]), "word or a whole number"),
        (lambda: registered("a"), lambda m: m.register("b", selected=2), "selected must be True"),
    ],
)
def test_bad_labels_and_ids_change_nothing(make, feed, message):
    monitor = make() if make is not registered else registered("a")
    before = state(monitor)
    with pytest.raises(InputError, match=message):
        feed(monitor)
    assert state(monitor) == before


def test_labels_before_decisions_are_refused_where_decisions_are_registered():
    monitor = PrecisionMonitor(target=0.5)
    monitor.update(1, id="a")
    with pytest.raises(InputError, match="labels came before decisions"):
        monitor.register("a")
    with pytest.raises(InputError, match="'a' was there before"):
        monitor.update(1, id="a")
    done = labelled()
    done.update(1, id="a")
    with pytest.raises(InputError, match="'a' already has its label"):
        PrecisionMonitor.from_dict(state(done)).update(1, id="a")


@pytest.mark.parametrize(
    "change",
    [
        {"successes": [5]},
        {"successes": 1},
        {"trials": [1.5]},
        {"target": 2},
        {"waiting": 3},
        {"waiting": [["a"]]},
        {"watches": "accuracy"},
        {"more": 1},
    ],
)
def test_a_state_that_is_none_is_refused(change):
    with pytest.raises(InputError):
        PrecisionMonitor.from_dict(PrecisionMonitor(target=0.5).to_dict() | change)


def test_an_empty_monitor_knows_nothing_and_says_so():
    monitor = pr.monitoring.PrecisionMonitor(target=0.5)
    found = monitor.interval
    assert (found.low, found.high, np.isnan(found.estimate)) == (0.0, 1.0, True)
    assert monitor.message == "No decision was counted yet."
    assert not monitor.alarm


@pytest.mark.parametrize("label", [1, True, 1.0, np.int8(1), np.array(1), np.bool_(True)])
def test_one_label_may_be_written_in_many_ways(label):
    monitor = PrecisionMonitor(target=0.5)
    monitor.update(label)
    assert (monitor.successes, monitor.trials) == (1, 1)


def test_what_is_shown():
    monitor = PrecisionMonitor(target=0.5, pos_label="fraud")
    monitor.update(["ok"] * 30 + ["fraud"] * 2)
    assert repr(monitor).startswith("PrecisionMonitor(0.0625, low=")
    assert monitor.message.startswith("Alarm after ")
    assert "decisions" in monitor._repr_html_()
    frame = monitor.to_frame()
    assert frame["precision"].tolist() == [0.0625]
