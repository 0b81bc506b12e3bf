"""Rows, checked once: labels, the scores of one or several models, weights, clusters, columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _validation
from ._arrow import with_missing
from ._cached import cached_property
from ._words import plural
from .exceptions import InputError
from .ranking import Ranked, Ranking, rank_checked
from .ranking.counted_rows import count_at
from .ranking.direction import warn_if_worse_than_random

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

# A model, and the thresholds that its ranking keeps.
_Key = tuple[str, tuple[float, ...]]

#: What a single array of scores is called.
SCORE = "score"
MISSING = ("raise", "drop")


class Rows:
    """Rows with labels and scores, ranked once per model and kept.

    Parameters
    ----------
    y_true, pos_label, sample_weight
        As in :func:`precall.rank`. Rows of weight zero are left out.
    scores : array-like, or mapping from name to array-like
        The scores of one model, or of each of several; a pandas, Polars or PyArrow frame is a
        mapping from its columns.
    clusters : array-like, optional
        Rows of one cluster belong together: patients with several images, users with several
        clicks. Numbers or strings, at least two different ones.
    columns : mapping from name to array-like, optional
        What groups, slices, windows and persons are taken from.

    Attributes
    ----------
    positive : array of bool
    weight : array of float, or None
        None if every row has weight 1.
    cluster : array of int, or None
        The number of each row's cluster, from 0.
    scores : mapping from name to array
    columns : mapping from name to array

    Examples
    --------
    >>> import precall as pr
    >>> rows = pr.Rows([1, 0, 1, 0], {"new": [4, 3, 2, 1], "old": [4, 2, 3, 1]})
    >>> rows
    Rows(4 rows, 2 positive, models: new, old)
    >>> pr.aucpr(rows["old"])
    1.0
    """

    positive: Mask
    weight: FloatArray | None
    cluster: IntArray | None
    scores: Mapping[str, Array]
    columns: Mapping[str, Array]

    def __init__(
        self,
        y_true: object,
        scores: object,
        *,
        sample_weight: object = None,
        clusters: object = None,
        columns: Mapping[str, object] | None = None,
        pos_label: object = 1,
    ) -> None:
        positive = _validation.as_positive_mask(y_true, pos_label)
        named, shown = named_scores(scores)
        checked: dict[str, Array] = {}
        for name, values in named.items():
            checked[name] = _validation.as_scores(values, shown[name])
            _validation.reject_missing(checked[name], shown[name])
        others: dict[str, Array] = {}
        if sample_weight is not None:
            others["sample_weight"] = _validation.as_weights(sample_weight)
        if clusters is not None:
            others["clusters"] = _validation.as_names(clusters, "clusters")
            _validation.reject_missing(others["clusters"], "clusters")
        kept = _as_columns(columns)
        _validation.require_same_length(
            y_true=positive,
            **{shown[name]: values for name, values in checked.items()},
            **others,
            **{f"columns[{name!r}]": values for name, values in kept.items()},
        )
        weight = others.get("sample_weight")
        self._used: Mask | None = None
        if weight is not None and not weight.all():
            used = self._used = weight > 0
            positive, weight = positive[used], weight[used]
            checked, others, kept = (
                {name: values[used] for name, values in part.items()}
                for part in (checked, others, kept)
            )
        self._set(positive, weight, _codes(others.get("clusters")), checked, kept)

    def _set(
        self,
        positive: Mask,
        weight: FloatArray | None,
        cluster: IntArray | None,
        scores: dict[str, Array],
        columns: dict[str, Array],
    ) -> None:
        self.positive, self.weight, self.cluster = positive, weight, cluster
        self.scores = MappingProxyType(scores)
        self.columns = MappingProxyType(columns)
        self._rankings: dict[_Key, Ranking] = {}
        self._places: dict[_Key, IntArray] = {}
        self._orders: dict[str, IntArray] = {}

    @classmethod
    def from_frame(
        cls,
        frame: object,
        *,
        label: str,
        scores: object,
        sample_weight: str | None = None,
        clusters: str | None = None,
        columns: object = (),
        pos_label: object = 1,
        missing: str = "raise",
    ) -> Rows:
        """Take the rows of a data frame.

        Parameters
        ----------
        frame : pandas or Polars DataFrame, PyArrow Table
            Any other frame goes through narwhals, where it is installed. A mapping from name to
            array will do.
        label : str
            The column of labels.
        scores : str or list of str
            The columns of scores, one per model.
        sample_weight, clusters : str, optional
            The columns of weights and of clusters.
        columns : str or list of str
            Columns to keep beside them.
        pos_label
            As in :func:`precall.rank`.
        missing : {"raise", "drop"}
            What to do with rows that miss a label, a score, a weight or a cluster. ``drop`` leaves
            them out, and :attr:`n_dropped` says how many they were.

        Examples
        --------
        >>> import pandas as pd, precall as pr
        >>> frame = pd.DataFrame({"y": [1, 0, None], "a": [2.0, 1.0, 0.0]})
        >>> rows = pr.Rows.from_frame(frame, label="y", scores="a", missing="drop")
        >>> len(rows), rows.n_dropped
        (2, 1)
        """
        from .readers import frames

        _validation.as_choice(missing, "missing", MISSING)
        names = frames.as_column_names(scores, "scores")
        kept = frames.as_column_names(columns, "columns")
        single: dict[str, Any] = {
            "label": label,
            "sample_weight": sample_weight,
            "clusters": clusters,
        }
        for argument, name in single.items():
            if not (isinstance(name, str) or (name is None and argument != "label")):
                raise InputError(f"{argument} must be the name of a column, got {name!r}.")
        roles = [label, *names, *(name for name in (sample_weight, clusters) if name is not None)]
        table = frames.columns_of(frame, dict.fromkeys([*roles, *kept]))
        dropped = 0
        if missing == "drop":
            complete = ~np.logical_or.reduce([frames.missing_in(table[name]) for name in roles])
            dropped = int(np.count_nonzero(~complete))
            table = {name: frames.kept(values, complete) for name, values in table.items()}
        rows = cls(
            table[label],
            {name: table[name] for name in names},
            sample_weight=None if sample_weight is None else table[sample_weight],
            clusters=None if clusters is None else table[clusters],
            columns={name: table[name] for name in kept},
            pos_label=pos_label,
        )
        rows.n_dropped = dropped
        return rows

    #: How many rows :meth:`from_frame` left out because a value was missing.
    n_dropped: int = 0

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.positive.size)

    @property
    def names(self) -> list[str]:
        """Names of the models."""
        return list(self.scores)

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the models."""
        return iter(self.scores)

    def __getitem__(self, model: str) -> Ranking:
        """Return the ranking of a model; it is made once and kept."""
        return self.ranking(model)

    def ranking(self, model: str, thresholds: tuple[float, ...] = ()) -> Ranking:
        """Return the ranking of a model that keeps some thresholds; it is made once and kept."""
        key = (model, thresholds)
        if key not in self._rankings:
            scores = self.scores[self.model_named(model)]
            order = self._orders.get(model)
            ranking = rank_checked(self.positive, scores, self.weight, thresholds, order)
            if not any(name == model for name, _ in self._rankings):
                warn_if_worse_than_random(ranking)
            self._rankings[key] = ranking
        return self._rankings[key]

    def __repr__(self) -> str:
        """Return one line."""
        parts = [plural(len(self), "row"), f"{int(np.count_nonzero(self.positive))} positive"]
        parts.append(f"models: {', '.join(self.names)}")
        parts += ["weighted"] if self.weight is not None else []
        parts += [plural(self.n_clusters, "cluster")] if self.cluster is not None else []
        parts += [f"columns: {', '.join(self.columns)}"] if self.columns else []
        return f"Rows({', '.join(parts)})"

    @cached_property
    def n_clusters(self) -> int:
        """Number of clusters; 0 if there are none."""
        return 0 if self.cluster is None else int(self.cluster.max()) + 1

    @cached_property
    def effective_sizes(self) -> tuple[float, float]:
        """Kish's effective number of independent positives and negatives, clusters taken as one."""
        if self.weight is None and self.cluster is None:
            ours = float(np.count_nonzero(self.positive))
            return ours, len(self) - ours
        weight = np.ones(len(self)) if self.weight is None else self.weight
        sizes = []
        for chosen in (self.positive, ~self.positive):
            sums = weight[chosen]
            if self.cluster is not None:
                sums = np.bincount(self.cluster[chosen], sums).astype(np.float64)
            sizes.append(float(sums.sum() ** 2 / np.sum(sums**2)))
        return sizes[0], sizes[1]

    def order(self, model: str) -> IntArray:
        """Return the rows by rising score, which of equal ones first is open; sorted once and kept.

        Places, and the rankings of parts of the rows, follow from it without another sort. So does
        the ranking of all rows: whoever needs both asks for the order first.
        """
        if model not in self._orders:
            self._orders[model] = np.argsort(self.scores[self.model_named(model)])
        return self._orders[model]

    def place(self, model: str, thresholds: tuple[float, ...] = ()) -> IntArray:
        """Return where every row stands among the thresholds of a model; see :func:`locate`."""
        key = (model, thresholds)
        if key not in self._places:
            falling = self.order(model)[::-1]
            ranking = self.ranking(model, thresholds)
            counts = ranking.rows or ranking.cells
            lengths = np.empty(2 * len(ranking) + 1, dtype=np.int64)
            lengths[:-1:2], lengths[1::2] = counts.above, counts.positives + counts.tied
            lengths[-1] = counts.below
            place = np.empty(len(self), dtype=np.int64)
            place[falling] = np.repeat(np.arange(lengths.size), lengths)
            self._places[key] = place
        return self._places[key]

    def ranked(self, model: str | None = None, thresholds: tuple[float, ...] = ()) -> Ranked:
        """Return the ranking of a model together with its rows, for who needs both."""
        name = self.model_named(model)
        place = None if self.cluster is None else self.place(name, thresholds)
        return Ranked(self.ranking(name, thresholds), self, place)

    def counted(self, model: str | None = None, thresholds: tuple[float, ...] = ()) -> Ranked:
        """Return the same where the counts at some thresholds will do.

        Rows that were not ranked yet are then only counted: weights and clusters need more.
        """
        name = self.model_named(model)
        known = (name, thresholds) in self._rankings
        if known or self.weight is not None or self.cluster is not None:
            return self.ranked(name, thresholds)
        ranking = count_at(self.positive, self.scores[name], thresholds)
        if not any(ranked == name for ranked, _ in self._rankings):
            warn_if_worse_than_random(ranking)
        return Ranked(ranking, self)

    def model_named(self, model: object) -> str:
        """Return the name of a model; with several, none given is an error that lists them."""
        return one_of(self.names, model, "these rows have")

    def column(self, name: object) -> Array:
        """Return a column that was kept."""
        if not isinstance(name, str) or name not in self.columns:
            listed = ", ".join(map(repr, self.columns)) or "none"
            raise InputError(f"these rows have no column {name!r}: the columns are {listed}.")
        return self.columns[name]

    def aligned(self, values: object, name: str) -> Array:
        """Return one value per row, checked; rows of weight zero, left out here, are left out."""
        column = _validation.as_vector(values, name)
        if self._used is not None and column.size == self._used.size:
            column = column[self._used]
        _validation.require_same_length(rows=self.positive, **{name: column})
        return column

    def unclustered(self) -> Rows:
        """Return the same rows as if they did not belong together; what was ranked is kept."""
        return self._with(cluster=None)

    def only(self, *models: str) -> Rows:
        """Return the same rows with some of the models, in this order; what was ranked is kept."""
        scores = {name: self.scores[self.model_named(name)] for name in models}
        return self._with(scores=MappingProxyType(scores))

    def reweighted(self, weight: FloatArray) -> Rows:
        """Return the same rows with other weights, all of them positive."""
        return self._with(weight=weight, _rankings={})

    def _with(self, **changed: Any) -> Rows:
        other = Rows.__new__(Rows)
        other.__dict__.update(self.__dict__)
        for computed in ("n_clusters", "effective_sizes"):
            other.__dict__.pop(computed, None)
        other.__dict__.update(changed)
        return other

    def select(self, chosen: Mask) -> Rows:
        """Return the rows that a mask chooses, clusters numbered anew."""
        part = Rows.__new__(Rows)
        part._used = None
        cluster = None if self.cluster is None else self.cluster[chosen]
        part._set(
            self.positive[chosen],
            None if self.weight is None else self.weight[chosen],
            None if cluster is None else np.unique(cluster, return_inverse=True)[1],
            {name: values[chosen] for name, values in self.scores.items()},
            {name: values[chosen] for name, values in self.columns.items()},
        )
        return part

    def at_prevalence(self, prevalence: float) -> Rows:
        """Return the rows with the negatives weighted so that the prevalence is another one."""
        share = _validation.as_prevalence(prevalence)
        weight = np.ones(len(self)) if self.weight is None else self.weight
        ours, theirs = (float(weight[mask].sum()) for mask in (self.positive, ~self.positive))
        if not (ours and theirs):
            missing = "negatives" if ours else "positives"
            raise InputError(f"prevalence cannot be changed with no {missing}: check the labels.")
        factor = ours * (1.0 - share) / (share * theirs)
        # The order is the same, so nothing is ranked or located again.
        return self._with(
            weight=np.where(self.positive, weight, factor * weight),
            _rankings={key: each.at_prevalence(share) for key, each in self._rankings.items()},
        )


def one_of(names: list[str], model: object, owner: str) -> str:
    """Return the model that is meant; the only one if none is named."""
    if model is None and len(names) == 1:
        return names[0]
    if isinstance(model, str) and model in names:
        return model
    listed = ", ".join(map(repr, names))
    given = "say which" if model is None else f"there is no model {model!r}"
    raise InputError(f"{owner} the models {listed}: {given} (model=).")


def named_scores(scores: object) -> tuple[dict[str, object], dict[str, str]]:
    """Return the scores by model, and what messages call each."""
    from .readers.frames import frame_columns

    frame = frame_columns(scores)
    if frame is not None:
        scores = frame
    if isinstance(scores, Mapping):
        if not scores:
            raise InputError("scores must name at least one model, got an empty mapping.")
        named = {str(name): values for name, values in scores.items()}
        if len(named) < len(scores):
            raise InputError("scores must have different names for its models.")
        return named, {name: f"scores[{name!r}]" for name in named}
    return {SCORE: scores}, {SCORE: "scores"}


def _as_columns(columns: object) -> dict[str, Array]:
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise InputError(
            f"columns must be a mapping from name to array, got {type(columns).__name__}."
        )
    return {
        str(name): _validation.as_vector(with_missing(values), f"columns[{name!r}]")
        for name, values in columns.items()
    }


def _codes(clusters: Array | None) -> IntArray | None:
    if clusters is None:
        return None
    codes = np.unique(clusters, return_inverse=True)[1].astype(np.int64)
    if codes.size and codes.max() == 0:
        raise InputError("clusters must name at least two clusters, got one.")
    return codes


def as_rows(
    data: object,
    scores: object = None,
    *,
    sample_weight: object = None,
    clusters: object = None,
    pos_label: object = 1,
) -> Rows:
    """Return rows as they are, or labels and scores as rows."""
    if isinstance(data, Rows):
        given = {"scores": scores, "sample_weight": sample_weight, "clusters": clusters}
        for name, value in given.items():
            if value is not None:
                raise InputError(f"{name} belongs into the Rows: give it to precall.Rows.")
        return data
    return Rows(data, scores, sample_weight=sample_weight, clusters=clusters, pos_label=pos_label)
