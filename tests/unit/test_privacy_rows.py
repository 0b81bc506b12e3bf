"""Private rows: each read by itself, and refused in words that say nothing about any of them."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import precall as pr
from precall import privacy
from precall.exceptions import InputError
from precall.privacy._rows import read_rows, read_scores

RELEASES = {
    "average_precision": privacy.average_precision,
    "auroc": privacy.auroc,
    "confusion": lambda *rows, **options: privacy.confusion(*rows, threshold=0.5, **options),
    "pr_curve": privacy.pr_curve,
    "roc_curve": privacy.roc_curve,
}
BIG = 2**53


def budget():
    return privacy.Budget(epsilon=1.0)


def test_one_row_does_not_decide_the_type_of_the_others():
    """Whole numbers above 2^53 were compared as such until one row held 0.5, and then tied."""
    y = [1, 0] * 50
    score = [BIG + 2 * (i // 2) + label for i, label in enumerate(y)]
    other = [*score[:-1], 0.5]
    ours, theirs = (read_rows(y, rows)[1] for rows in (score, other))
    np.testing.assert_array_equal(ours[:-1], theirs[:-1])
    # Today's arrays of one type each, as a file or a frame would hold them.
    np.testing.assert_array_equal(read_rows(y, np.array(score))[1][:-1], theirs[:-1])
    np.testing.assert_array_equal(read_rows(y, np.array(other))[1], theirs)


def test_one_label_does_not_decide_the_type_of_the_others():
    score = [0.1, 0.2, 0.3, 0.4]
    for other in ("sick", "well", 7, None):
        labels = [1, 0, "sick", other]
        if other is None:
            with pytest.raises(InputError):
                read_rows(labels, score, pos_label="sick")
            continue
        positive, _ = read_rows(labels, score, pos_label="sick")
        assert positive.tolist() == [False, False, True, other == "sick"]


@pytest.mark.parametrize("name", RELEASES)
def test_an_empty_class_a_third_label_and_a_wrong_direction_are_not_spoken_of(name):
    score = np.linspace(0, 1, 400)
    sick = np.where(score < 0.3, "sick", "well")  # ranked upside down
    for labels in (sick, np.full(400, "well"), np.where(score > 0.9, "unknown", sick)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", pr.exceptions.ReliabilityWarning)
            RELEASES[name](labels, score, pos_label="sick", epsilon=1.0, budget=budget())


BAD = {
    "third label": ([0, 1, 2], [0.1, 0.2, 0.3]),
    "NaN score": ([0, 1, 1], [0.1, np.nan, 0.3]),
    "missing label": ([0, None, 1], [0.1, 0.2, 0.3]),
    "NaN label": ([0.0, np.nan, 1.0], [0.1, 0.2, 0.3]),
    "lengths": ([0, 1], [0.1, 0.2, 0.3]),
    "empty": ([], []),
    "words": (["a", "b"], [1, 2]),
    "typed words": (np.array(["1", "0"]), [1, 2]),
    "text score": ([0, 1], [0.5, "0.7"]),
    "typed text": ([0, 1], np.array(["0.5", "0.7"])),
    "two-dimensional": ([0, 1], np.zeros((2, 2))),
    "ragged": ([0, 1], [[1, 2], [3]]),
    "too large": ([0, 1], [1, 10**400]),
    "complex": ([0, 1], [1, 2j]),
    "a word": ("01", [1, 2]),
    "nothing": ([0, 1], None),
    "dates": ([0, 1], np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")),
    "masked": ([0, 1], np.ma.masked_equal([1.0, 2.0], 2.0)),
    "arrays of arrays": (np.array([np.zeros(2), 1], dtype=object), [0.1, 0.2]),
}


@pytest.mark.parametrize("name", RELEASES)
def test_rows_that_are_not_rows_are_refused_in_the_same_words(name):
    ours, messages = budget(), set()
    for rows in BAD.values():
        with pytest.raises(InputError) as refused:
            RELEASES[name](*rows, epsilon=0.5, budget=ours)
        messages.add(str(refused.value))
        assert refused.value.__context__ is None  # nor does the error carry another that says it
    assert len(messages) == 1
    assert "not said here" in messages.pop()
    assert ours.spent.epsilon == 0.0


@pytest.mark.parametrize("name", RELEASES)
def test_a_ranking_is_answered_with_the_rows_whatever_is_in_it(name):
    """Refusing a coarsened ranking only where something was merged depended on the data."""
    score = np.arange(400.0)
    rankings = [
        pr.rank(score > 100, score).coarsen(200),
        pr.rank(score > 250, score).coarsen(200),
        pr.rank_classes(np.arange(400) % 3, np.eye(3)[np.arange(400) % 3]).pooled.ranking,
    ]
    assert rankings[0].coarsened != rankings[1].coarsened
    messages = set()
    for ranking in rankings:
        with pytest.raises(InputError, match="pass y_true and y_score") as refused:
            RELEASES[name](ranking, epsilon=0.5, budget=budget())
        messages.add(str(refused.value))
    assert len(messages) == 1


def test_scores_of_every_kind_are_doubles():
    expected = [0.0, 1.0, 2.0]
    kinds = [np.int8, np.uint64, np.float16, np.float32, np.longdouble, ">f8", object]
    for values in (
        *(np.array(expected, dtype=kind) for kind in kinds),
        expected,
        (False, True, 2),
        [Fraction(0), Decimal(1), np.float32(2)],
        range(3),
    ):
        scores = read_scores(values)
        assert scores.dtype == np.float64
        assert scores.tolist() == expected
    assert read_scores([True, np.inf]).tolist() == [1.0, np.inf]
    positive, _ = read_rows([True, -1, 0], [1, 2, 3])
    assert positive.tolist() == [True, False, False]
    positive, _ = read_rows(np.array([2.0, 3.0, 1.0]), [1, 2, 3], pos_label=2)
    assert positive.tolist() == [True, False, False]
    with pytest.raises(InputError, match="y_score must be one-dimensional"):
        read_scores([])


def test_columns_are_read_by_either_protocol():
    """Objects that are no sequences and speak one of the two ways of handing an array over."""
    held = np.array([0.5, 1.5])

    class WithArray:
        def __array__(self, dtype=None, copy=None):
            return held

    class WithDlpack:
        def __dlpack__(self, **options):
            return held.__dlpack__(**options)

        def __dlpack_device__(self):
            return held.__dlpack_device__()

    for column in (WithArray(), WithDlpack()):
        assert read_scores(column).tolist() == [0.5, 1.5]


@pytest.mark.parametrize("name", RELEASES)
def test_a_seeded_release_says_so_wherever_it_goes(name):
    y, score = np.arange(400) % 2, np.linspace(0, 1, 400)
    for rng in (None, 3):
        ours = budget()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", privacy.SeededReleaseWarning)
            released = RELEASES[name](y, score, epsilon=0.5, budget=ours, rng=rng)
        seeded = rng is not None
        assert released.to_dict()["seeded"] is seeded
        assert ("seeded: not private" in repr(released)) is seeded
        assert [entry.seeded for entry in ours.ledger] == [seeded]
        if name == "confusion":
            assert released.measure("recall").to_dict()["seeded"] is seeded
        if name == "pr_curve":
            assert released.to("roc").to_dict()["seeded"] is seeded
