"""The same file gives the same ranking whichever way it is read."""

from __future__ import annotations

import csv
import io
import json
import tempfile
import warnings
from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import precall as pr
from precall.engines import arrow
from precall.exceptions import DirectionWarning, InputError
from precall.groups.ranking_by_group import rank_groups
from precall.readers import pieces
from precall.readers.columns import Roles, columns_of
from precall.readers.large import is_large, may_be_held, positive_label
from precall.readers.names import positions, with_names
from precall.readers.sources import opened

ROLES = Roles(label="y", scores=("s",), weight="w", group="g")


def separated(table, path, delimiter=","):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(table.column_names)
        for row in zip(*(table[name].to_pylist() for name in table.column_names), strict=True):
            writer.writerow([plain(value) for value in row])


def plain(value):
    return str(value).lower() if isinstance(value, bool) else value


def rows_of(table):
    as_json = {Decimal: float}
    return [
        {name: as_json.get(type(v), lambda x: x)(v) for name, v in row.items()}
        for row in table.to_pylist()
    ]


def stream(table, path):
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)


def compressed(table, path):
    inner = path.with_suffix("")
    separated(table, inner)
    with pa.output_stream(str(path), compression="detect") as file:
        file.write(inner.read_bytes())
    inner.unlink()


WRITERS = {
    "a.csv": separated,
    "semicolons.csv": partial(separated, delimiter=";"),
    "a.tsv": partial(separated, delimiter="\t"),
    "a.csv.gz": compressed,
    "a.csv.bz2": compressed,
    "a.csv.zst": compressed,
    "a.jsonl": lambda t, path: path.write_text("\n".join(map(json.dumps, rows_of(t)))),
    "array.json": lambda t, path: path.write_text(json.dumps(rows_of(t), indent=1)),
    "a.parquet": lambda t, path: parquet.write_table(t, path, row_group_size=11),
    "a.feather": lambda t, path: feather.write_feather(t, path, chunksize=9),
    "stream.arrow": stream,
}
LABELS = {
    "whole": lambda y: pa.array(y.astype(int)),
    "numbers": lambda y: pa.array(y.astype(float)),
    "booleans": lambda y: pa.array(y),
    "words": lambda y: pa.array(np.where(y, "sick", "well")),
    "dictionary": lambda y: pa.array(np.where(y, "sick", "well")).dictionary_encode(),
    "decimals": lambda y: pa.array([Decimal(int(v)) for v in y], pa.decimal128(3, 1)),
}
SCORES = {
    "whole": lambda s: pa.array(np.round(10 * s).astype(int)),
    "small": lambda s: pa.array(np.round(10 * s).astype(np.int8)),
    "large": lambda s: pa.array(2**60 + np.round(10 * s).astype(int)),
    "numbers": lambda s: pa.array(s),
    "single": lambda s: pa.array(np.round(s, 1).astype(np.float32)),
    "infinite": lambda s: pa.array(np.where(s > 1, np.inf, s)),
    "late": lambda s: pa.array([float(round(10 * v)) for v in s[:-1]] + [0.5]),
    "decimals": lambda s: pa.array([Decimal(f"{v:.7f}") for v in s], pa.decimal128(20, 7)),
    "booleans": lambda s: pa.array(s > 0),
    "words": lambda s: pa.array([f"{v:.3f}" for v in s[:-1]] + ["high"]),
    "missing": lambda s: pa.array([*s[:-1], None]),
    "percent": lambda s: pa.array([f"{v:.3f} %" for v in s]),
    "wide percent": lambda s: pa.array([f"{v:.3f}%" for v in s], pa.large_string()),
    "coded percent": lambda s: pa.array([f"{v:.0f}%" for v in s]).dictionary_encode(),
    "commas in percent": lambda s: pa.array([f"{v:.3f} %".replace(".", ",") for v in s]),
    "both decimal signs": lambda s: pa.array([f"{v:.3f} %" for v in s[:-1]] + ["0,5 %"]),
    "missing percent": lambda s: pa.array([f"{v:.3f} %" for v in s[:-1]] + [None]),
    "partly percent": lambda s: pa.array([f"{v:.3f}%" for v in s[:-1]] + ["0.5"]),
    "late percent": lambda s: pa.array([f"{v:.3f}" for v in s[:-1]] + ["0.5 %"]),
}
GROUPS = {
    "text": lambda g: pa.array(np.array(["007", "7", "NA", "1", "1.0"])[g]),
    "whole": lambda g: pa.array(g),
    "missing": lambda g: pa.array([None if v == 0 else f"g{v}" for v in g]),
    "numbers": lambda g: pa.array(g / 2),
}


def answer(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DirectionWarning)
        try:
            return call()
        except InputError:
            return "refused"


def whole(path, roles):
    with opened(path) as files:
        columns = columns_of(files, roles, path)
    ranking = pr.rank(columns.positive, columns.scores["s"], sample_weight=columns.weight)
    groups = rank_groups(
        columns.positive, columns.scores["s"], columns.group.codes, sample_weight=columns.weight
    )
    names = [columns.group.names[code] for code in groups.labels.tolist()]
    return ranking, dict(zip(names, groups, strict=True))


def in_pieces(data, roles, memory):
    prepare = partial(with_names, name="g")
    with (
        opened(data, hold=may_be_held(memory)) as files,
        pieces.copied(files, roles.wanted, source=data, memory=memory, prepare=prepare) as paths,
    ):
        found = positive_label(paths, roles, "data")
        options = {"label": "y", "score": "s", "weight": roles.weight, "pos_label": found}
        groups = arrow.rank_groups(paths, **options, group="g")
        groups = groups.select(positions(groups.labels.tolist()))
        named = dict(zip(groups.labels.tolist(), groups, strict=True))
        return arrow.rank(paths, **options), named


@settings(deadline=None)
@given(
    name=st.sampled_from(sorted(WRITERS)),
    label=st.sampled_from(sorted(LABELS)),
    score=st.sampled_from(sorted(SCORES)),
    group=st.sampled_from(sorted(GROUPS)),
    size=st.integers(2, 60),
    seed=st.integers(0, 2**16),
    block=st.sampled_from([64, 500, 2**20]),
    memory=st.sampled_from([2**12, 2**20, 2**30]),
    piped=st.booleans(),
)
def test_one_file_has_one_ranking(name, label, score, group, size, seed, block, memory, piped):
    rng = np.random.default_rng(seed)
    y = rng.random(size) < 0.4
    y[:2] = True, False
    table = pa.table(
        {
            "id": np.arange(size),
            "y": LABELS[label](y),
            "s": SCORES[score](np.round(rng.normal(size=size) + y, 7)),
            "w": rng.integers(1, 4, size),
            "g": GROUPS[group](rng.integers(0, 4, size)),
        }
    )
    roles = Roles(
        **{**vars(ROLES), "pos_label": "sick" if label in ("words", "dictionary") else None}
    )
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "_MOST_BLOCK", block)
        path = Path(folder) / name
        WRITERS[name](table, path)
        expected = answer(lambda: whole(path, roles))
        data = io.BytesIO(path.read_bytes()) if piped else path
        found = answer(lambda: in_pieces(data, roles, memory))
        assert found == expected
        if expected != "refused":
            assert list(found[1]) == list(expected[1])
            options = {"label": "y", "score": "s", "weight": "w"}
            pos_label = roles.pos_label or 1
            data = io.BytesIO(path.read_bytes()) if piped else path
            engine = answer(lambda: arrow.rank(data, **options, pos_label=pos_label))
            assert engine == expected[0]


@pytest.mark.parametrize("score", ["whole", "numbers", "late", "decimals"])
def test_files_of_several_kinds_are_one_table(tmp_path, score):
    rng = np.random.default_rng(9)
    names = ["a.csv", "a.jsonl", "a.parquet", "a.feather", "semicolons.csv"]
    for name in names:
        y = rng.random(40) < 0.4
        table = pa.table(
            {
                "y": LABELS["whole"](y),
                "s": SCORES[score](np.round(rng.normal(size=40) + y, 4)),
                "w": rng.integers(1, 4, 40),
                "g": GROUPS["text"](rng.integers(0, 4, 40)),
            }
        )
        WRITERS[name](table, tmp_path / name)
    paths = [tmp_path / name for name in names]
    expected = whole(paths, ROLES)
    assert in_pieces(paths, ROLES, 2**20) == expected
    with opened(paths) as files:
        assert is_large(files, ROLES, memory=20_000)
        assert not is_large(files, ROLES, memory=2**20)


# What the cells below the first ones hold, by column.
LABEL_WORDS = ("0", "1"), ("0", "1.0"), ("true", "0"), ("1", "0,0"), ("1", "NA"), ("1", "sick")
SCORE_WORDS = (
    ("7", "-3"),
    ("0.5", "7"),
    ("9007199254740993", "9007199254740992"),
    ("9007199254740993", "0.5"),
    ("99999999999999999999", "1e3"),
    ("0,5", "7"),
    ("0,5", "0.5"),
    ("inf", "-inf"),
    ("true", "0"),
    ("7", ""),
    ("7", "x"),
    ("7%", "0.5 %"),
    ("7%", "x"),
)
GROUP_WORDS = ("007", "7", "1", "1.0", "NA", "", "null", "é", '"a\nb"', '""')


@settings(max_examples=2 * settings.default.max_examples)
@given(
    labels=st.sampled_from(LABEL_WORDS),
    scores=st.sampled_from(SCORE_WORDS),
    picks=st.lists(st.integers(0, 39), min_size=1, max_size=12),
    repeats=st.integers(1, 40),
    delimiter=st.sampled_from(",;\t|"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
    block=st.sampled_from([64, 500, 2**20]),
)
def test_any_cells_have_one_ranking(labels, scores, picks, repeats, delimiter, encoding, block):
    """What follows from the cells does not depend on how many of them are read at a time."""
    rows = [("1", "1", "a"), ("0", "2", "b")] * repeats
    rows += [(labels[n % 2], scores[n // 2 % 2], GROUP_WORDS[n // 4]) for n in picks]
    text = "\n".join(delimiter.join(row) for row in [("y", "s", "g"), *rows]) + "\n"
    roles = Roles(label="y", scores=("s",), group="g")
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "_MOST_BLOCK", block)
        path = Path(folder) / "a.csv"
        path.write_bytes(text.encode(encoding))
        expected = answer(lambda: whole(path, roles))
        assert answer(lambda: in_pieces(path, roles, 2**20)) == expected
