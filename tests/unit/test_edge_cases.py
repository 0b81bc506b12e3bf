"""The policy for edge cases, one test per row of its table, and every accepted kind of input."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

import precall as pr
import precall.integrations.sklearn
from precall.exceptions import InputError, UndefinedMetricWarning

Y = [1, 0, 1, 0, 0]
S = [0.9, 0.8, 0.7, 0.3, 0.1]
REFERENCE = pr.rank(Y, S)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        # NaN score
        (([1, 0, 1], [0.1, np.nan, np.nan]), ("y_score", "2 bad rows of 3", "position 1")),
        (([1, 0, 1], [0.1, 0.2, None]), ("y_score", "position 2")),
        (([1, 0, 1], pd.Series([0.1, None, 0.3], dtype="Float64")), ("y_score", "position 1")),
        # NaN label
        (([1.0, np.nan, 0.0], [1, 2, 3]), ("y_true", "1 bad row of 3", "position 1")),
        ((["a", None, "b"], [1, 2, 3], "a"), ("y_true", "position 1")),
        ((pd.Series([1, None, 0], dtype="Int64"), [1, 2, 3]), ("y_true", "position 1")),
        # more than two labels
        (([0, 1, 2], [1, 2, 3]), ("y_true", "at most two labels", "0, 1, 2", "is 2")),
        (([0, 1, -1], [1, 2, 3]), ("y_true", "at most two labels")),
        ((["a", "b", "c"], [1, 2, 3], "a"), ("y_true", "at most two labels")),
        # other labels
        (([0, 2], [1, 2]), ("pos_label=1", "0, 2")),
        (([1, 2], [1, 2]), ("y_true", "{0, 1}", "got 1, 2")),
        (([0.5, 1.0], [1, 2]), ("y_true", "0.5")),
        ((["yes", "no"], [1, 2]), ("y_true", "pos_label")),
        ((["yes", "no"], [1, 2], "maybe"), ("pos_label='maybe'", "'yes', 'no'")),
        (([0, 1], [1, 2], "1"), ("pos_label='1'",)),
        # length mismatch and empty input
        (([1, 0, 1], [1, 2]), ("y_true has 3", "y_score has 2")),
        (([], []), ("at least one row",)),
        # shapes and types
        (
            ([[1, 0]], [[1, 2]]),
            ("y_true", "one-dimensional", "(1, 2)", "np.asarray(y_true).ravel()"),
        ),
        # the column of the positive class, as predict_proba has it
        (
            ([1, 0, 0], [[0.2, 0.8], [0.7, 0.3], [0.6, 0.4]]),
            ("np.asarray(y_score)[:, 1]", "predict_proba"),
        ),
        # of two labels the rarer one is proposed, wherever it comes
        ((["bad", "good", "good"], [1, 2, 3]), ("for example pos_label='bad'",)),
        ((["good", "good", "bad"], [1, 2, 3]), ("for example pos_label='bad'",)),
        ((["bad", "good", "good"], [1, 2, 3], "x"), ("for example pos_label='bad'",)),
        (([2, 3, 3], [1, 2, 3]), ("for example pos_label=2",)),
        (([1, 0], ["a", "b"]), ("y_score", "numbers")),
        (([1, 0], [1j, 2]), ("y_score", "real numbers")),
        ((None, [1, 2]), ("y_true", "array")),
        (("10", [1, 2]), ("y_true", "array")),
        ((np.ma.array([1, 0], mask=[0, 1]), [1, 2]), ("y_true", "masked", "position 1")),
        (([1, [0, 1]], [1, 2]), ("y_true", "cannot be read")),
        ((np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), [1, 2]), ("y_true", "labels")),
    ],
)
def test_bad_input_is_named(arguments, words):
    y, s, *label = arguments
    with pytest.raises(InputError) as caught:
        pr.rank(y, s, **({"pos_label": label[0]} if label else {}))
    for word in words:
        assert word in str(caught.value)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, -1, 1, 1, 1], ("sample_weight", "not negative", "position 1")),
        ([1, np.nan, 1, 1, 1], ("sample_weight", "finite")),
        ([1, 1, 1, 1, np.inf], ("sample_weight", "position 4")),
        ([1, 1], ("sample_weight has 2",)),
        ([0, 0, 0, 0, 0], ("sample_weight is zero",)),
        (["a"] * 5, ("sample_weight", "numbers")),
    ],
)
def test_bad_weights_are_named(weights, words):
    with pytest.raises(InputError) as caught:
        pr.rank(Y, S, sample_weight=weights)
    for word in words:
        assert word in str(caught.value)


def test_infinite_scores_are_allowed():
    ranking = pr.rank([0, 1, 1, 0], [-np.inf, np.inf, 0.5, 0.4])
    assert pr.aucpr(ranking) == 1.0


def test_no_positives():
    ranking = pr.rank([0, 0], [1, 2])
    for metric in (pr.aucpr, pr.aucnpr, pr.auprg):
        with pytest.warns(UndefinedMetricWarning, match="no positives"):
            assert metric(ranking) == 0.0
    assert pr.minimum_aucpr(ranking.prevalence) == 0.0
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(pr.auroc(ranking))
    with pytest.warns(UndefinedMetricWarning):
        assert pr.tie_bounds(ranking).high == 0.0
    assert len(ranking) == 0
    assert ranking.below == 2


def test_no_negatives():
    ranking = pr.rank([1, 1], [1, 2])
    for metric in (pr.aucpr, pr.aucnpr, pr.auprg):
        with pytest.warns(UndefinedMetricWarning, match="no negatives"):
            assert metric(ranking) == 1.0
    assert pr.minimum_aucpr(ranking.prevalence) == 1.0
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(pr.auroc(ranking))
    with pytest.warns(UndefinedMetricWarning):
        assert pr.aucpr(ranking, recall=(0.25, 0.5)) == 0.25


def test_all_scores_equal():
    ranking = pr.rank(Y, [3.0] * 5)
    assert pr.aucpr(ranking) == pytest.approx(0.4)
    assert pr.auroc(ranking) == 0.5


@pytest.mark.parametrize(
    ("labels", "label"),
    [
        ([1, -1, 1, -1, -1], 1),
        ([True, False, True, False, False], 1),
        ([True, False, True, False, False], True),
        ([False, True, False, True, True], False),
        ([1.0, 0.0, 1.0, 0.0, 0.0], 1),
        ([0, 1, 0, 1, 1], 0),
        ([2, 1, 2, 1, 1], 2),
        (["spam", "ham", "spam", "ham", "ham"], "spam"),
        (np.array(["spam", "ham", "spam", "ham", "ham"], dtype=object), "spam"),
        (np.array([b"y", b"n", b"y", b"n", b"n"]), b"y"),
        (pd.Series(["y", "n", "y", "n", "n"], dtype="string"), "y"),
        (pd.Series(["y", "n", "y", "n", "n"], dtype="category"), "y"),
        (pd.Series([1, 0, 1, 0, 0], dtype="Int64"), 1),
        (pd.Series([True, False, True, False, False], dtype="boolean"), 1),
        (pl.Series(["y", "n", "y", "n", "n"]), "y"),
        (pl.Series([True, False, True, False, False]), 1),
        (pa.array(["y", "n", "y", "n", "n"]), "y"),
        (pa.array([True, False, True, False, False]), 1),
        (torch.tensor([1, 0, 1, 0, 0]), 1),
        (torch.tensor([True, False, True, False, False]), 1),
    ],
)
def test_labels_that_are_accepted(labels, label):
    assert pr.rank(labels, S, pos_label=label) == REFERENCE


@pytest.mark.parametrize(
    "scores",
    [
        S,
        tuple(S),
        np.array(S)[::1],
        np.array([*S, *S])[:5],
        np.array(S, dtype=">f8"),
        pd.Series(S, index=[9, 8, 7, 6, 5]),
        pd.Series(S, dtype="Float64"),
        pd.Series(S, dtype="double[pyarrow]"),
        pl.Series(S),
        pa.array(S),
        pa.chunked_array([S[:2], S[2:]]),
        torch.tensor(S, dtype=torch.float64),
        torch.tensor(S, dtype=torch.float64, requires_grad=True),
        np.array(S, dtype=object),
    ],
    ids=lambda s: f"{type(s).__module__}.{type(s).__name__}",
)
def test_scores_that_are_accepted(scores):
    assert pr.rank(Y, scores) == REFERENCE


DICTIONARY = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), ["n", "p", None])
COLUMNS_WITH_NULLS = {
    "chunked dictionary": lambda values: pa.chunked_array([pa.array(values).dictionary_encode()]),
    "chunks of dictionaries": lambda values: pa.chunked_array(
        [pa.array(values[:2]).dictionary_encode(), pa.array(values[2:]).dictionary_encode()]
    ),
    "dictionary": lambda values: pa.array(values).dictionary_encode(),
    "unsigned dictionary": lambda values: (
        pa.array(values).dictionary_encode().cast(pa.dictionary(pa.uint8(), pa.array(values).type))
    ),
    "arrow": pa.array,
    "chunked": lambda values: pa.chunked_array([values[:1], values[1:]]),
    "categorical": lambda values: pd.Series(values, dtype="category"),
    "nullable": lambda values: pd.Series(values).convert_dtypes(),
    "arrow in pandas": lambda values: pd.Series(
        values, dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.array(values).type))
    ),
    "polars": pl.Series,
}


@pytest.mark.parametrize("column", COLUMNS_WITH_NULLS.values(), ids=COLUMNS_WITH_NULLS)
@pytest.mark.parametrize(
    ("call", "values", "name"),
    [
        (lambda c: pr.rank(c, [4, 3, 2, 1], pos_label="p"), ["p", None, "n", None], "y_true"),
        (lambda c: pr.rank(c, [4, 3, 2, 1]), [1, None, 0, None], "y_true"),
        (lambda c: pr.rank([1, 0, 1, 0], c), [4.0, None, 2.0, None], "y_score"),
        (lambda c: pr.rank([1, 0, 1, 0], c), [4, None, 2, None], "y_score"),
        (
            lambda c: pr.rank([1, 0, 1, 0], [4, 3, 2, 1], sample_weight=c),
            [4, None, 2, None],
            "sample_weight",
        ),
        (lambda c: pr.rank_groups([1, 0] * 2, [4, 3, 2, 1], c), ["a", None, "b", None], "groups"),
        (
            lambda c: pr.interval(
                pr.Rows([1, 0] * 2, [4, 3, 2, 1], clusters=c), sampling="classes"
            ),
            ["a", None, "b", None],
            "clusters",
        ),
    ],
    ids=["words", "numbers", "scores", "whole scores", "weights", "groups", "clusters"],
)
def test_missing_values_are_missing_in_every_kind_of_column(column, call, values, name):
    with pytest.raises(InputError, match=rf"^{name} must .*2 bad rows of 4, the first at pos.* 1:"):
        call(column(values))


def test_a_missing_value_inside_a_dictionary_is_missing():
    with pytest.raises(InputError, match=r"y_true must not be missing.*first at position 2"):
        pr.rank(DICTIONARY, [3, 2, 1], pos_label="p")


def test_dictionaries_without_missing_values_are_read():
    labels = pa.chunked_array([pa.array(list("ynynn")).dictionary_encode()])
    assert pr.rank(labels, S, pos_label="y") == REFERENCE
    scores = pa.chunked_array([pa.array(S).dictionary_encode()])
    assert pr.rank(Y, scores) == REFERENCE


def test_a_missing_time_is_no_group():
    times = pd.Series(["2020-01-01", None, "2020-01-02", None], dtype="datetime64[ns]")
    with pytest.raises(InputError, match=r"groups must not be missing.* 2 bad rows.* position 1"):
        pr.rank_groups([1, 0, 1, 0], [4, 3, 2, 1], times)


NESTED = [[1], [0], [1], [0], [0]]


@pytest.mark.parametrize(
    "labels",
    [
        pa.array(NESTED),
        pa.chunked_array([pa.array(NESTED)]),
        pa.array([{"a": label} for (label,) in NESTED]),
        pd.Series(NESTED),
        pd.Series([np.array(label) for label in NESTED]),
        pd.Series([{"a": label} for (label,) in NESTED]),
        pl.Series(NESTED),
    ],
    ids=["list", "chunked", "struct", "pandas", "arrays", "dicts", "polars"],
)
def test_nested_values_are_refused_in_one_way(labels):
    message = "must hold one value per row, got"
    with pytest.raises(InputError, match=f"y_true {message}"):
        pr.rank(labels, S)
    with pytest.raises(InputError, match=f"y_score {message}"):
        pr.rank(Y, labels)
    with pytest.raises(InputError, match=f"sample_weight {message}"):
        pr.rank(Y, S, sample_weight=labels)


@pytest.mark.parametrize("values", [{1, 0}, frozenset({1, 0}), {1: 2, 0: 1}], ids=type)
def test_what_has_no_order_is_refused(values):
    with pytest.raises(InputError, match="y_true must have its values in the order of the rows"):
        pr.rank(values, [2, 1])


def test_a_generator_is_no_array():
    with pytest.raises(InputError, match="y_true must be an array of values, got generator"):
        pr.rank((label for label in Y), S)


@pytest.mark.parametrize("label", [[1], (1, 2), {1}, np.array([1, 0, 1, 0, 0])], ids=str)
def test_the_positive_label_is_one(label):
    with pytest.raises(InputError, match="pos_label must be one label, got"):
        pr.rank(Y, S, pos_label=label)


def test_tensors_are_taken_out_of_their_graph():
    scores = torch.tensor(S, dtype=torch.float64, requires_grad=True)
    assert pr.rank(Y, list(scores)) == REFERENCE
    assert pr.rank(Y, tuple(score * 1.0 for score in scores)) == REFERENCE
    wide = torch.stack([1 - scores, scores], dim=1)
    assert pr.rank_classes(Y, wide).of(1) == pr.rank_classes(Y, wide.detach().numpy()).of(1)
    areas = precall.integrations.sklearn.aucpr_score(torch.tensor(Y), wide, average=None)
    assert areas[1] == pr.aucpr(REFERENCE)


def test_dlpack_alone_is_enough():
    class OnlyDlpack:
        def __init__(self, array):
            self._array = array

        def __dlpack__(self, **arguments):
            return self._array.__dlpack__(**arguments)

        def __dlpack_device__(self):
            return self._array.__dlpack_device__()

    assert pr.rank(Y, OnlyDlpack(np.array(S))) == REFERENCE


def test_boolean_and_integer_scores():
    ranking = pr.rank(Y, [True, True, True, False, False])
    assert ranking.tied.tolist() == [1]
    assert pr.rank(Y, np.array([9, 8, 7, 3, 1], dtype=np.int8)).threshold.dtype == np.int8


def test_zero_weights_drop_rows():
    kept = pr.rank(Y[:4], S[:4], sample_weight=[1, 1, 1, 1])
    assert pr.rank(Y, S, sample_weight=[1, 1, 1, 1, 0]) == kept


def test_a_missing_score_is_refused_whatever_its_weight():
    with pytest.raises(InputError, match="y_score must not be missing"):
        pr.rank(Y, [0.9, 0.8, 0.7, 0.3, np.nan], sample_weight=[1, 1, 1, 1, 0])


def test_read_only_and_strided_inputs_are_left_alone():
    wide = np.zeros((5, 2))
    wide[:, 0] = S
    column = wide[:, 0]
    column.flags.writeable = False
    assert pr.rank(np.array(Y), column) == REFERENCE


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda r: pr.aucpr(r, estimator="average"),
            ("estimator", "Did you mean 'average_precision'"),
        ),
        (lambda r: pr.aucpr(r, recall=(0.5, 0.2)), ("recall", "low < high")),
        (lambda r: pr.aucpr(r, recall=0.5), ("recall", "pair")),
        (lambda r: r.coarsen(0), ("max_rows", "at least 1")),
        (lambda r: r.coarsen(2.5), ("max_rows", "whole number")),
        (lambda r: r.at_prevalence("x"), ("prevalence", "number")),
        (lambda r: r.at_prevalence(1e-120), ("prevalence", "at least")),
        (lambda r: pr.minimum_average_precision(-1, 2), ("n_pos", "not negative")),
        (lambda r: pr.random_average_precision(2, -1), ("n_neg", "not negative")),
        (lambda r: pr.random_average_precision(0.5, 0.5), ("above 1",)),
        (lambda r: pr.auroc(r, false_positive_rate=(0, 2)), ("false_positive_rate",)),
        (lambda r: pr.minimum_pr_curve(0), ("prevalence", "strictly")),
        (lambda r: pr.pr_curve(r).thin(0), ("tolerance", "strictly")),
    ],
)
def test_other_arguments_are_named(call, words):
    with pytest.raises(InputError) as caught:
        call(REFERENCE)
    for word in words:
        assert word in str(caught.value)


BEYOND = [
    [2**70, 2**70 + 1, 0],  # objects
    [2**64 - 1, 2**64 - 2, -1],  # floats, by NumPy's own rule
    [-1, 2**63 + 1, 2**63],
    [2**53 + 1, 0.5, 2**53],  # floats, because one of them is
]


@pytest.mark.parametrize("scores", BEYOND, ids=str)
def test_whole_numbers_that_would_be_rounded_are_refused(scores):
    for given in (scores, np.array(scores, dtype=object)):
        with pytest.raises(InputError, match=r"y_score must hold whole numbers that fit.*ranks"):
            pr.rank([1, 0, 1], given)
    with pytest.raises(InputError, match="whole numbers that fit"):
        pr.rank_groups([1, 0, 1], scores, [1, 1, 1])


def test_large_numbers_that_fit_are_ranked_as_they_are():
    for scores in ([2**64 - 1, 2**64 - 2, 0], [2**62 + 1, 2**62, -1], [1e300, 1e299, -1.0]):
        assert pr.aucpr(pr.rank([1, 0, 1], scores)) == pytest.approx(5 / 6)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (["1", "2", "1"], "real numbers, got dtype <U1"),
        (np.array(["2020-01-01"] * 3, dtype="M8[D]"), "real numbers, got dtype datetime64"),
        (np.array([1, 2, 1j]), "real numbers, got dtype complex"),
        ([1, "2", 1.5], "real numbers, got dtype <U"),
        (np.array([1, "2", 1.5], dtype=object), "must hold numbers: 1 bad row"),
        ([1, 1e308, 1], r"must be 0 or between 1e-100 and 1e\+100.*divide all weights"),
        ([1, 1e-200, 1], "must be 0 or between 1e-100"),
        ([0, 0, 0], "zero in every row"),
        ([1, float("nan"), 1], "finite and not negative"),
    ],
    ids=str,
)
def test_weights_that_cannot_be_weights_are_refused(weights, words):
    for call in (
        lambda: pr.rank([1, 0, 1], [3, 2, 1], sample_weight=weights),
        lambda: pr.rank_groups([1, 0, 1], [3, 2, 1], [1, 1, 1], sample_weight=weights),
        lambda: pr.compare(
            [1, 0, 1], {"a": [3, 2, 1], "b": [1, 2, 3]}, sample_weight=weights, sampling="classes"
        ),
    ):
        with pytest.raises(InputError, match=words):
            call()


def test_a_ranking_read_back_keeps_fractions_and_refuses_what_is_none():
    plain = pr.rank([1, 0, 1], [3, 2, 1], sample_weight=[1.5, 1.0, 2.2]).to_dict()
    plain["below"] = 0  # whole, as another program may write it
    assert pr.Ranking.from_dict(plain).positives.tolist() == [1.5, 2.2]
    plain["positives"] = ["1", "2"]
    with pytest.raises(InputError, match="must hold numbers"):
        pr.Ranking.from_dict(plain)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.float16, np.float32])
def test_narrow_counts_do_not_overflow(dtype):
    size = 300
    counts = np.full(size, 100, dtype=dtype)
    ranking = pr.Ranking(
        threshold=np.arange(size, 0, -1),
        positives=counts,
        tied=np.zeros(size, dtype=dtype),
        above=counts,
        below=dtype(7),
    )
    assert ranking.n_pos == 30_000
    assert ranking.n_neg == 30_007
    assert pr.aucpr(ranking) == pytest.approx(0.5)


def test_counts_that_are_none_are_refused():
    for bad in (np.array([1 + 2j]), np.array(["1"]), np.array([True])):
        with pytest.raises(InputError, match="positives must hold counts or weights"):
            pr.Ranking(threshold=[1.0], positives=bad, tied=[0], above=[0], below=0)
