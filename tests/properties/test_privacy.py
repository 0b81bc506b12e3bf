"""What must hold for any data, any replaced row and any sequence of releases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import precall as pr
from precall import privacy
from precall.privacy import sensitivity
from precall.privacy.edges import probability_edges
from precall.privacy.rescaled import centred_auroc, lost_precision

pytestmark = [
    pytest.mark.filterwarnings("ignore::precall.privacy.SeededReleaseWarning"),
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
    pytest.mark.filterwarnings("ignore::precall.exceptions.ReliabilityWarning"),
]

row = st.tuples(st.integers(0, 1), st.integers(0, 30))
rows = st.lists(row, min_size=1, max_size=120)


@st.composite
def neighbours(draw):
    data = draw(rows)
    place = draw(st.integers(0, len(data) - 1))
    return data, [*data[:place], draw(row), *data[place + 1 :]]


def ranked(data):
    y, score = np.array(data).T
    return pr.rank(y, score)


@given(neighbours())
def test_no_row_moves_a_statistic_by_more_than_its_sensitivity(pair):
    ours, theirs = map(ranked, pair)
    n_rows = len(pair[0])
    statistics = [
        (lost_precision(r) / sensitivity.lost_precision_bound(r.n_pos), r.n_pos)
        for r in (ours, theirs)
    ]
    assert abs(statistics[0][0] - statistics[1][0]) <= 1 + 1e-9
    areas = [sensitivity.auroc_weight(r.n_pos, n_rows) * centred_auroc(r) for r in (ours, theirs)]
    same = ours.n_pos == theirs.n_pos
    limit = sensitivity.AUROC_SAME_LABEL if same else sensitivity.AUROC_LABEL_CHANGE
    assert abs(areas[0] - areas[1]) <= limit + 1e-9


@given(neighbours())
def test_no_row_moves_a_metric_by_more_than_its_local_sensitivity(pair):
    ours, theirs = map(ranked, pair)
    precision = [1 - lost_precision(r) / r.n_pos if r.n_pos else 0.0 for r in (ours, theirs)]
    area = [0.5 + centred_auroc(r) for r in (ours, theirs)]
    for ranking in (ours, theirs):
        n, m = ranking.n_pos, ranking.n_neg
        tight = sensitivity.local_average_precision(n)
        assert abs(precision[0] - precision[1]) <= tight + 1e-9
        assert tight <= sensitivity.local_average_precision_printed(n) + 1e-12
        assert abs(area[0] - area[1]) <= sensitivity.local_auroc(n, m) + 1e-9


@given(neighbours(), st.integers(2, 9))
def test_no_row_moves_histograms_by_more_than_two(pair, bins):
    edges = probability_edges(bins)
    counts = []
    for data in pair:
        y, score = np.array(data).T
        curve = privacy.pr_curve(
            y, score / 30, edges=edges, epsilon=1e6, budget=privacy.Budget(epsilon=1e6), rng=0
        )
        counts.append(np.concatenate([curve.noisy_positives, curve.noisy_negatives]))
    assert np.abs(counts[0] - counts[1]).sum() <= 2


@given(rows, st.randoms(use_true_random=False))
def test_releases_depend_on_the_order_of_scores_only(data, shuffler):
    y, score = np.array(data).T
    order = list(range(len(data)))
    shuffler.shuffle(order)
    values = [
        release(
            *rows,
            epsilon=0.5,
            budget=privacy.Budget(epsilon=0.5),
            rng=3,
        ).value
        for rows in ((y, score), (y[order], np.exp(score[order] / 10)))
        for release in (privacy.average_precision, privacy.auroc)
    ]
    assert values[:2] == values[2:]


amounts = st.floats(1e-6, 0.7)


@given(st.lists(st.tuples(amounts, st.sampled_from([None, "a", "b"]), st.booleans()), max_size=25))
def test_a_budget_is_never_overdrawn_and_its_ledger_adds_up(releases):
    budget = privacy.Budget(epsilon=1.0)
    plain, parts = 0.0, {"a": 0.0, "b": 0.0}
    with budget.parallel() as block:
        for epsilon, part, fails in releases:
            payer = budget if part is None else block.part(part)
            try:
                with payer.hold(epsilon=epsilon, delta=0.0, what="x") as hold:
                    if fails:
                        raise KeyError
                    hold.look()
            except KeyError:
                continue
            except privacy.BudgetError:
                more = plain + epsilon + max(parts.values())
                if part is not None:
                    more = plain + max(parts[part] + epsilon, *parts.values())
                assert more > 1.0 - 1e-9
                continue
            if part is None:
                plain += epsilon
            else:
                parts[part] += epsilon
    assert budget.spent.epsilon == pytest.approx(plain + max(parts.values()))
    assert budget.spent.epsilon <= 1.0
    assert privacy.Budget.from_dict(budget.to_dict()).spent == budget.spent
