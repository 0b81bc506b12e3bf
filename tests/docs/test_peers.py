"""What pages say of other tools is backed by docs/peers.md, which `make peers` writes."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import precall as pr
from precall.metrics._tools import RULES
from scripts import certified_recall, interval_peers, monitors
from scripts.peers import data, ours, own_data, page, tools

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| `([^`]+)` \| (\d+) \| ([^|]+) \|$", re.MULTILINE)
COMPARED = [
    (tool, quantity, int(sets), float(worst))
    for tool, _, quantity, sets, worst in ROW.findall(TEXT)
]
#: Peers by the names that pages use for them, with the names that they have among the comparisons.
NAMES = {
    "scikit-learn": "scikit-learn",
    "average_precision_score": "scikit-learn",
    "roc_auc_score": "scikit-learn",
    "torchmetrics": "torchmetrics",
    "TorchEval": "torcheval",
    "Keras": "Keras",
    "statsmodels": "statsmodels",
    "dcurves": "dcurves",
    "trec_eval": "pytrec_eval",
    "pytrec_eval": "pytrec_eval",
    "ir-measures": "ir-measures",
    "ranx": "ranx",
    "PRROC": "PRROC",
    "precrec": "precrec",
    "pROC": "pROC",
    "ROCR": "ROCR",
    "PerfMeas": "PerfMeas",
    "MLeval": "MLeval",
    "AUCCalculator": "AUCCalculator",
    "raucpr": "raucpr",
    "prg": "prg",
    "confidenceinterval": "confidenceinterval",
}
CLAIM = re.compile(
    r"the same (?:number|area|value)|\bequals?\b|\bagrees?\b|to the last digit", re.I
)
PAGES = [
    path
    for path in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    if "_build" not in path.parts and path.name not in {"peers.md", "the-papers-reproduced.md"}
]


def sentences(text):
    """Lines of tables, and sentences of paragraphs; code is left out."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    yield from re.findall(r"^\|.*$", text, flags=re.MULTILINE)
    prose = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    yield from re.split(r"(?<=[.:;])\s+(?=[A-Z`*])|\n\n", prose)


def claims():
    for path in PAGES:
        for sentence in sentences(path.read_text(encoding="utf-8")):
            named = [
                name for name in NAMES if re.search(rf"(?<![\w-]){re.escape(name)}(?!\w)", sentence)
            ]
            if named and CLAIM.search(sentence):
                yield path.name, " ".join(sentence.split()), named


def test_claims_are_found():
    found = list(claims())
    assert {where for where, _, _ in found} >= {"from-other-tools.md", "queries-and-trec.md"}


@pytest.mark.parametrize("claim", list(claims()), ids=lambda claim: f"{claim[0]}: {claim[2]}")
def test_a_claim_about_a_peer_is_backed(claim):
    where, sentence, named = claim
    for name in named:
        rows = [row for row in COMPARED if row[0] == NAMES[name]]
        assert rows, f"{where} claims something of {name}, which docs/peers.md has not: {sentence}"
        limit = page.SINGLE if NAMES[name] in page.SINGLE_PRECISION else page.DOUBLE
        assert max(row[3] for row in rows) <= limit, sentence


def test_a_claim_that_is_not_backed_is_noticed(monkeypatch, tmp_path):
    claimed = tmp_path / "claim.md"
    claimed.write_text("PRROC and ROCR print the same number.\n\nPRROC is written in R.\n")
    monkeypatch.setitem(globals(), "PAGES", [claimed])
    [found] = claims()
    assert found == ("claim.md", "PRROC and ROCR print the same number.", ["PRROC", "ROCR"])
    test_a_claim_about_a_peer_is_backed(found)
    kept = [row for row in COMPARED if row[0] != "ROCR"]
    monkeypatch.setitem(globals(), "COMPARED", kept)
    with pytest.raises(AssertionError, match=r"ROCR, which docs/peers\.md has not"):
        test_a_claim_about_a_peer_is_backed(found)
    far = ("ROCR", "rocr", 317, 1e-3)
    monkeypatch.setitem(globals(), "COMPARED", [*kept, far])
    with pytest.raises(AssertionError, match="the same number"):
        test_a_claim_about_a_peer_is_backed(found)


def test_the_page_has_no_difference_without_a_reason():
    assert "not explained" not in TEXT
    assert sum(row[2] for row in COMPARED) > 10_000
    for row in COMPARED:
        limit = page.SINGLE if row[0] in page.SINGLE_PRECISION else page.DOUBLE
        assert row[3] <= limit, row


# Those that could not be run where the page was written; the reason is on the page or here.
NOT_RUN = {
    "spark_area_under_pr": "tested against Spark itself in tests/engines",
    "weka_prc_area": "read in its source",
}


def test_every_convention_was_compared_or_is_named():
    compared = {quantity for _, quantity, sets, _ in COMPARED if sets}
    for rule in RULES:
        if rule.name not in compared:
            assert rule.name in NOT_RUN, rule.name
    for name in NOT_RUN:
        assert name in {rule.name for rule in RULES}
        assert name not in compared, f"{name} was compared: take it off the list"


def cells(page_name, command):
    """The rows of the table before the command that makes it, without their marks."""
    text = (ROOT / "docs" / page_name).read_text(encoding="utf-8")
    before, found, _ = text.partition(command)
    assert found, f"{page_name} does not say how its table is made: {command}"
    lines = re.findall(r"(?:^\|.*\n)+", before, flags=re.MULTILINE)[-1].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return rows[0], rows[2:]


def test_the_table_of_certified_recall_is_that_of_its_script():
    page_name, command = "how-to/choose-a-threshold.md", "scripts/certified_recall.py"
    _, rows = cells(page_name, f"`python {command} --data-sets 1000`")
    settings = [
        [f"{n:,}", f"{p:g}", f"{d:g}", f"{t:g}"] for n, p, d, t in certified_recall.SETTINGS
    ]
    assert [row[:4] for row in rows] == settings


def test_the_table_of_monitors_is_that_of_its_script():
    header, rows = cells("how-to/is-it-still-true.md", "`python -m scripts.monitors --streams 60`")
    expected = [[f"{t:g}", f"{p:g}", f"{n:,}"] for t, p, n in monitors.SETTINGS]
    assert [row[:3] for row in rows] == expected
    assert len(header) == 3 + 1 + len(monitors.LEVELS) + 1
    for (target, precision, _), row in zip(monitors.SETTINGS, rows, strict=True):
        once = "–" if target == precision else f"{monitors.one_look(target, precision):,}"
        assert row[-1] == once
        # Its own numbers are made again from the same streams.
        rng = np.random.default_rng(1)
        length = int(row[2].replace(",", ""))
        streams = [rng.random(length) < precision for _ in range(60)]
        found = np.array([monitors.ours(labels, target) for labels in streams])
        assert row[3] == monitors.words(found, target == precision)


def test_the_table_of_intervals_is_that_of_its_script():
    command = "`python -m scripts.interval_peers --data-sets 200`"
    header, rows = cells("explanation/which-interval.md", command)
    expected = [f"{m}, {n:,}" for m in interval_peers.MODELS for n in interval_peers.SIZES]
    assert [row[0] for row in rows] == expected
    assert header[2] == "precall"
    assert sum(name.startswith("precrec") for name in header) == 2
    assert sum(name.startswith("confidenceinterval") for name in header) == 2
    for row in rows:
        model = row[0].partition(",")[0]
        area = interval_peers.MODELS[model][model].aucpr(interval_peers.PREVALENCE)
        assert row[1] == f"{area:.2f}"
        for cell in row[2:]:
            assert re.fullmatch(r"[01]\.\d{3} \(0\.\d{3}\)", cell)


def test_scripts_beside_peers_name_who_is_not_there(capsys, monkeypatch):
    monkeypatch.setattr(interval_peers.shutil, "which", lambda name: None)
    assert list(interval_peers.precrec([])) == []
    monkeypatch.setitem(sys.modules, "confidenceinterval.bootstrap", None)
    y, s = data.data_sets()[0].y, data.data_sets()[0].s
    found = interval_peers.methods()
    assert [name.partition(",")[0] for name in found] == ["precall", "precall", "t over folds"]
    said = capsys.readouterr().out
    assert "not there: precrec (there is no Rscript)" in said
    assert "not there: confidenceinterval" in said
    for ask in found.values():
        low, high = ask(np.tile(y, 5), np.tile(s, 5), np.random.default_rng(1))
        assert 0.0 <= low < high <= 1.0


def test_numbers_of_proc_on_its_own_data():
    # From pROC 1.18 on aSAH; the test of the two correlated areas by DeLong.
    for row in (
        "| wfns against s100b, z | 2.2089836 | 2.2089836 |",
        "| wfns against s100b, p | 0.027175782 | 0.027175782 |",
        "| wfns against s100b, low | 0.010406177 | 0.010406177 |",
        "| wfns against s100b, high | 0.17421442 | 0.17421442 |",
        "| wfns against ndka, z | 2.7977759 | 2.7977759 |",
        "| wfns against ndka, p | 0.0051455797 | 0.0051455797 |",
    ):
        assert row in TEXT


def test_numbers_of_trec_eval_on_its_own_files():
    rows = re.findall(r"^\| (\S+ with \S+) \| (\d+) \| (.+) \|$", TEXT, flags=re.MULTILINE)
    assert len(rows) == 4
    assert all(int(count) >= 36 and differ == "none" for _, count, differ in rows)


def test_the_data_sets_are_what_the_page_says():
    sets = data.data_sets()
    assert len(sets) == 320
    assert f"on {len(sets)} seeded" in TEXT
    for each, again in zip(sets, data.data_sets(), strict=True):
        assert 0 < each.y.sum() < each.y.size
        # Ties are the same in single precision, in which some tools count.
        assert np.unique(each.s.astype(np.float32)).size == np.unique(each.s).size
        np.testing.assert_array_equal(each.s, again.s)
    assert sum(np.unique(each.s).size < each.s.size for each in sets) > 200


def test_a_difference_that_nobody_explained_is_shown():
    value = pr.aucpr(pr.rank(ours.SETS["worst"].y, ours.SETS["worst"].s))
    said = [
        tools.Answer("", "tool", "version", None, "1"),
        tools.Answer("worst", "tool", "average_precision", value + 0.01),
        tools.Answer("perfect", "tool", "average_precision", 1.0),
        tools.Answer("infinite", "tool", "auroc", 0.5),
        tools.Answer("all tied", "tool", "auroc", None, "raises"),
        tools.Answer("", "other", "missing", None, "not installed"),
    ]
    lines = page.compared(said)
    area, roc = lines["tool", "average_precision"], lines["tool", "auroc"]
    assert (area.compared, len(area.unexplained)) == (2, 1)
    assert area.worst == pytest.approx(0.01)
    assert (roc.compared, len(roc.unexplained), sum(roc.aside.values())) == (0, 1, 1)
    curves = [("curve", 35, 0.5)]
    text = page.written(said, lines, [("z", 1.0, 2.0)], [("files", 3, ["map"])], curves)
    for part in (
        "not explained: worst",
        "raises against 0.5",
        "| z | 1 | 2 |",
        "| files | 3 | map |",
        "| curve | 35 | 5.0e-01 |",
    ):
        assert part in text
    assert "- other: not installed" in text


def test_net_benefit_on_the_data_of_dcurves():
    """Two files, a model and everybody: what the page of costs says."""
    section = TEXT.partition("## dcurves' own data")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (df_\w+)\.csv, (\w+) \| 35 \| ([^|]+) \|$", section, re.MULTILINE)
    assert {name for name, _, _ in rows} == {"df_binary", "df_case_control"}
    assert len(rows) == 4
    assert max(float(worst) for _, _, worst in rows) <= page.DOUBLE


def test_curves_of_dcurves_are_compared_at_the_same_probabilities(monkeypatch, tmp_path):
    """With a stand-in for the package: its files, and a curve that is off by a hundredth."""
    folder = tmp_path / "dcurves"
    (folder / "data").mkdir(parents=True)
    rng = np.random.default_rng(0)
    for file, outcome, _ in own_data._DCURVES:
        y = rng.random(60) < 0.3
        scores = 0.4 * y + 0.5 * rng.random(60)
        lines = [f"{bool(a)},{b:.6f}" for a, b in zip(y, scores, strict=True)]
        text = "\n".join([f"{outcome},cancerpredmarker", *lines]) + "\n"
        (folder / "data" / file).write_text(text)

    def dca(*, data, outcome, modelnames, thresholds, prevalence):
        import pandas as pd

        rows = pr.Rows(data[outcome], data[modelnames[0]])
        curve = pr.net_benefit_curve(rows, probabilities=thresholds, prevalence=prevalence)
        parts = [
            pd.DataFrame({"model": name, "threshold": thresholds, "net_benefit": values + 0.01})
            for name, values in (
                (modelnames[0], curve.y),
                ("all", curve.references["select everything"]),
            )
        ]
        return pd.concat(parts).iloc[::-1]

    module = types.SimpleNamespace(__file__=str(folder / "__init__.py"), dca=dca)
    monkeypatch.setitem(sys.modules, "dcurves", module)
    found = list(own_data.decision_curves())
    assert [count for _, count, _ in found] == [35] * 4
    assert [worst for *_, worst in found] == pytest.approx([0.01] * 4)
