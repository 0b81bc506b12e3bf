"""Studies run end to end on thin slices, go on after an interruption, and compute what they say."""

import itertools
import json
import math
import os
import shutil
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import precall as pr
from precall import _optional
from precall.exceptions import InputError, PrecallWarning
from precall.privacy import sensitivity
from precall.privacy.attack import reidentification_curve
from precall.simulate import Bibeta, Binormal, rank_batch
from studies import (
    ABOUT,
    _results,
    attack,
    audit,
    bands,
    bias,
    defaults,
    downsampling,
    drug_discovery,
    folds,
    gate,
    intervals,
    missed,
    monitoring,
    neighbours,
    planning,
    privacy,
    private_choice,
    private_threshold,
    promises,
    region,
    sites,
    slices,
)
from studies import _private_choice_page as choice_page
from studies.__main__ import main
from studies._cases import compute
from studies._results import Results, markdown_table, read_rows
from studies._scores import read_scores

ROOT = Path(__file__).parents[2]


class Clock:
    """Time that passes by one whenever somebody looks: a case takes as long each time."""

    def __init__(self):
        self.process_time = itertools.count().__next__


# What is changed to make a slice thin; only what the study reads in its own process, because the
# processes of more than one worker import their modules anew.
SLICES = {
    attack: {"SIZES": (10, 20)},
    audit: {
        "cases": lambda quick: [
            ("five_levels", 0.1, 200, design) for design in ("guess", "simple", "poisson")
        ],
    },
    bands: {"cases": lambda quick: [("bibeta", "random", 200, 0.1), ("gamma", "fixed", 100, 0.2)]},
    bias: {"CASES": [(100, 0.1), (1000, 0.1)]},
    defaults: {"DOUBTED_UNDER": 1.1},
    downsampling: {"RATIOS": (1, 24), "_POSITIVES": 20},
    drug_discovery: {"COLLECTION": (1200, 80)},
    folds: {
        "cases": lambda quick: [
            folds.Case("heavy tails", 80, 0.3, "quadratic discriminant", scheme)
            for scheme in ("plain", "nested", "repeated")
        ],
        "FOLDS": 2,
        "GRIDS": {"quadratic discriminant": {"reg_param": [0.3]}},
        "_NEW": (50, 200),
    },
    gate: {
        "PREVALENCES": (0.1,),
        "N_POS": (20, 40),
        "OTHERS": ("auroc", "recall_at_threshold"),
    },
    intervals: {
        "plan": lambda quick: [
            (part, "binormal_1", "fixed", 0.1, 20) for part in ("formula", "other", "resampling")
        ],
    },
    missed: {},
    monitoring: {"_LONGEST": 500},
    neighbours: {"BINS": 5},
    planning: {
        "cases": lambda quick: [
            planning.Case("width", planning.ASSUMED, "aucpr", 0.4, 0.1, 0.5),
            planning.Case("width", "logistic", "aucpr", 0.4, 0.1, 0.5),
            planning.Case("power", planning.ASSUMED, "aucpr", 0.4, 0.2, 0.0),
            planning.Case("power", planning.ASSUMED, "aucpr", 0.4, 0.2, 20.0),
        ]
    },
    privacy: {"SIZES": ((100, 0.5), (200, 0.1)), "EPSILONS": (1.0,), "SENSITIVITY_ROWS": (100,)},
    private_choice: {
        "cases": lambda quick: [
            private_choice.Case(model, 100, 0.2, epsilon)
            for model in ("bibeta", "offset uniform")
            for epsilon in (0.1, 4.0)
        ],
        "RELEASES": 2,
    },
    promises: {
        "PROMISES": {
            name: promises.PROMISES[name]
            for name in ("two thresholds", "net benefit, weighted", "recall, positives missed")
        },
    },
    region: {},
    sites: {"SITES": (2,)},
    slices: {},
}
NAMES = {study: study.__name__.rpartition(".")[2] for study in SLICES}
studies = pytest.mark.parametrize("study", SLICES, ids=NAMES.values())


# Those whose cases run on several workers; the others take the argument and run in turn.
PARALLEL = [attack, audit, bands, bias, drug_discovery, intervals, privacy]


@contextmanager
def thin(study, *, figure=False):
    """Make the study thin, and leave its figure out unless it is wanted."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SLICES[study].items():
            patch.setattr(study, name, value)
        clock = Clock()
        for module in (study, _results):
            if hasattr(module, "time"):
                patch.setattr(module, "time", clock)
        if not figure and hasattr(study, "draw"):
            patch.setattr(study, "draw", lambda *arguments: None)
        yield NAMES[study]


class Slice(NamedTuple):
    name: str
    folder: Path
    page: Path
    told: list[tuple[int, int]]

    def bytes(self, suffix):
        return (self.folder / f"{self.name}{suffix}").read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Each study's thin slice, run once, in one go and on one worker."""
    done = {}

    def make(study):
        if study not in done:
            folder, told = tmp_path_factory.mktemp("whole"), []
            with thin(study, figure=True) as name:
                page = study.run(
                    folder, quick=True, workers=1, progress=lambda *now: told.append(now)
                )
            done[study] = Slice(name, folder, page, told)
        return done[study]

    return make


@studies
def test_a_study_writes_its_table_figure_and_page(study, whole):
    name, folder, page, told = whole(study)
    assert page == folder / f"{name}.md"
    text = page.read_text()
    assert text.startswith("# ")
    assert "nan" not in text.lower().split()
    assert (folder / f"{name}.svg").exists() == (f"({name}.svg)" in text)
    settings = json.loads((folder / f"{name}.json").read_text())
    assert settings["study"] == name
    assert isinstance(settings["seed"], int)
    assert read_rows(folder / f"{name}.csv")
    assert told == [(done, len(told)) for done in range(1, len(told) + 1)]


class StoppedError(Exception):
    """What a test raises in the middle of a study."""


@studies
def test_an_interrupted_study_goes_on_where_it_stopped(study, whole, tmp_path):
    def interrupt(done, total):
        raise StoppedError

    expected = whole(study)
    with thin(study) as name:
        with pytest.raises(StoppedError):
            study.run(tmp_path, quick=True, workers=1, progress=interrupt)
        table = tmp_path / f"{name}.csv"
        begun = table.read_bytes()
        study.run(tmp_path, quick=True, workers=1)
    assert expected.bytes(".csv").startswith(begun)
    # The quick run of that one is a single split.
    assert (begun == expected.bytes(".csv")) == (study is drug_discovery)
    assert table.read_bytes() == expected.bytes(".csv")
    assert (tmp_path / f"{name}.md").read_bytes() == expected.bytes(".md")


def test_a_method_whose_rows_were_taken_out_is_run_again(whole, tmp_path):
    """As after a change of one method: the page is written while most of its rows lack."""
    expected = whole(bands)
    shutil.copy(expected.folder / "bands.json", tmp_path)
    header, *rows = (expected.folder / "bands.csv").read_text().splitlines(keepends=True)
    kept = [row for row in rows if ",fiducial," not in row]
    assert 0 < len(kept) < len(rows)
    (tmp_path / "bands.csv").write_text("".join([header, *kept]))
    with thin(bands):
        bands.run(tmp_path, quick=True, workers=1)
    found = (tmp_path / "bands.csv").read_text().splitlines(keepends=True)
    assert sorted(found) == sorted([header, *rows])
    assert (tmp_path / "bands.md").read_bytes() == expected.bytes(".md")


@pytest.mark.parametrize("study", PARALLEL, ids=[NAMES[study] for study in PARALLEL])
def test_a_study_gives_the_same_numbers_on_two_workers(study, whole, tmp_path):
    with thin(study) as name:
        study.run(tmp_path, quick=True, workers=2)
    # A process of its own has a clock of its own.
    [ours, theirs] = (
        [{name: value for name, value in row.items() if name != "core_seconds"} for row in rows]
        for rows in (
            read_rows(folder / f"{name}.csv") for folder in (tmp_path, whole(study).folder)
        )
    )
    assert ours == theirs


def test_a_table_made_with_other_settings_is_begun_anew(tmp_path):
    first = Results(tmp_path, "study", {"seed": 1})
    first.add([{"case": 1, "value": 1 / 3, "word": ""}])
    again = Results(tmp_path, "study", {"seed": 1})
    assert again.rows == first.rows == [{"case": 1, "value": 0.333333, "word": ""}]
    assert again.has(case=1)
    assert not again.has(case=2)
    assert Results(tmp_path, "study", {"seed": 2}).rows == []
    assert not (tmp_path / "study.csv").exists()


def some_case(number):
    return [{"case": number, "method": method, "value": number / 7} for method in ("a", "b", "c")]


def damaged(folder, change):
    """A table of three cases whose bytes were changed."""
    results = Results(folder, "study", {"seed": 1})
    for number in range(3):
        results.add(some_case(number))
    table = folder / "study.csv"
    table.write_bytes(change(table.read_bytes()))
    return table


DAMAGES = {
    # what a full disk leaves, and which cases have to be computed again
    "cut in a line": (lambda data: data[:-4], {2}),
    "cut in a number": (lambda data: data[: data.rindex(b"\n2,b") + 6], {2}),
    "cut in the first line of a case": (lambda data: data[: data.index(b"\n2,a") + 3], {1, 2}),
    "cut in the header": (lambda data: data[:6], {0, 1, 2}),
    "nothing left": (lambda data: b"", {0, 1, 2}),
    # what a run on top of that made
    "glued": (lambda data: data.replace(b"1,c,0.142857\n", b"1,c,0.1"), {1, 2}),
    "a line without values": (lambda data: data.replace(b"1,b,0.142857\n", b"\n"), {1}),
    "bytes that are no text": (lambda data: data[: data.index(b"\n2,c") + 1] + b"\xff", {2}),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_table_is_repaired_case_by_case(name, tmp_path):
    change, again = DAMAGES[name]
    table = damaged(tmp_path, change)
    whole = [row for number in range(3) for row in some_case(number)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = Results(tmp_path, "study", {"seed": 1})
    if name != "nothing left":
        [warning] = caught
        assert "study.csv is damaged" in str(warning.message)
        assert "computed again" in str(warning.message)
    missing = {number for number in range(3) if not results.has(case=number)}
    assert missing == again
    for number in sorted(missing):
        results.add(some_case(number))
    found = sorted(read_rows(table), key=lambda row: (row["case"], row["method"]))
    assert found == [row | {"value": float(f"{row['value']:.6g}")} for row in whole]
    assert Results(tmp_path, "study", {"seed": 1}).rows == results.rows


def test_damaged_settings_begin_the_study_anew(tmp_path):
    damaged(tmp_path, lambda data: data)
    (tmp_path / "study.json").write_text('{"se')
    with pytest.warns(PrecallWarning, match=r"study\.json is damaged: the study starts again"):
        assert Results(tmp_path, "study", {"seed": 1}).rows == []
    assert Results(tmp_path, "study", {"seed": 1}).settings == {"seed": 1}


def test_the_command_runs_a_study_into_a_folder(tmp_path, capsys):
    assert main(["region", "--quick", "-o", str(tmp_path / "results")]) == 0
    assert read_rows(tmp_path / "results" / "region.csv")
    assert capsys.readouterr().err == ""


def test_help_lists_every_study_and_an_example_that_runs(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in ABOUT)
    assert "python -m studies bias --quick -o results" in shown.split("Examples:\n")[1]


def test_an_unknown_study_is_refused_in_one_line(tmp_path, capsys):
    assert main(["nonsense", "-o", str(tmp_path / "out")]) == 2
    shown = capsys.readouterr()
    [line] = shown.err.splitlines()
    assert "there is no study 'nonsense'; there are attack, " in line
    assert not (tmp_path / "out").exists()


def test_a_study_without_matplotlib_names_the_extra(tmp_path, monkeypatch, capsys):
    found = _optional.find_spec
    monkeypatch.setattr(
        _optional, "find_spec", lambda name: None if name == "matplotlib" else found(name)
    )
    assert main(["bias", "--quick", "-o", str(tmp_path / "out")]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "needs matplotlib" in line
    assert '".[plot]"' in line


def test_an_interrupted_study_says_where_it_goes_on(tmp_path, monkeypatch, capsys):
    def interrupted(output, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(region, "run", interrupted)
    assert main(["region", "-o", str(tmp_path / "results")]) == 130
    shown = capsys.readouterr()
    where = f"What was finished is in {tmp_path / 'results'}; the same command goes on there."
    assert (shown.out, shown.err.strip()) == ("", f"precall: interrupted. {where}")


# A disk with room for so many bytes in a file, as far as the process can tell.
FULL_DISK = """
import resource, signal, sys
from studies.__main__ import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("room", [0, 100, 400, 1000])
def test_a_study_on_a_full_disk_keeps_whole_cases_and_goes_on_later(room, whole, tmp_path):
    expected = whole(region).bytes(".csv")
    assert 400 < len(expected) < 1000  # no settings, no table, half of it, and no figure
    folder = tmp_path / "results"
    words = ["region", "--quick", "--workers", "1", "-o", str(folder)]
    result = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(room), *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 2
    [line] = result.stderr.splitlines()
    assert "File too large" in line
    assert f"What was finished is in {folder}; the same command goes on there." in line
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]
    if (folder / "region.csv").exists():
        begun = (folder / "region.csv").read_bytes()
        assert begun.endswith(b"\n")
        assert expected.startswith(begun)
    assert main(words) == 0
    assert (folder / "region.csv").read_bytes() == expected


WAITING = """
import signal
from studies._cases import compute

def case(number):
    if number:
        signal.pause()  # for ever
    return [{"case": number}]

if __name__ == "__main__":
    rows = compute(case, [(0,), (1,), (2,)], 2)
    print(next(rows))
    rows.close()
"""


def test_processes_end_when_the_caller_stops(tmp_path):
    script = tmp_path / "waiting.py"
    script.write_text(WAITING)
    result = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (result.returncode, result.stdout) == (0, "[{'case': 0}]\n")


def test_a_markdown_table():
    assert markdown_table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_no_further_case_is_begun_when_the_caller_stops():
    begun = []
    rows = compute(lambda case: begun.append(case) or [], [(1,), (2,), (3,)], 1)
    next(rows)
    rows.close()
    assert begun == [1]


def test_bias_takes_the_estimators_as_they_are():
    rng = np.random.default_rng(1)
    values = bias.estimates(Binormal(), 10, 40, 5, rng)
    assert set(values) == set(pr.ESTIMATORS)
    scores = Binormal().sample_scores(10, 40, size=5, rng=np.random.default_rng(1))
    batch = rank_batch(*scores, moments=True)
    for name, got in values.items():
        expected = [pr.aucpr(batch[k], estimator=name) for k in range(5)]
        np.testing.assert_allclose(got, expected, rtol=1e-13)


def test_bias_divides_by_the_true_area():
    rows = {row["estimator"]: row for row in bias.simulate_case("bibeta", 100, 0.1, 50, [1, 2])}
    assert rows["average_precision"]["truth"] == pytest.approx(0.809586774289, rel=1e-9)
    for row in rows.values():
        spread = row["standard_error"] ** 2 * 49
        assert row["relative_rmse"] ** 2 == pytest.approx(spread + (row["bias_ratio"] - 1) ** 2)


def test_region_has_the_closed_form_of_the_floor():
    for prevalence in (0.1, 0.5):
        for row in region.rows_of(prevalence):
            low, high = row["recall_from"], row["recall_to"]
            logarithm = math.log((prevalence * (low - 1) + 1) / (prevalence * (high - 1) + 1))
            floor = high - low + (1 - prevalence) / prevalence * logarithm
            assert row["minimum_aucpr"] == pytest.approx(floor, rel=1e-12)
            assert row["share_of_maximum"] == pytest.approx(floor / (high - low), rel=1e-12)


def test_region_twins_have_one_f1_and_one_of_them_is_the_worst_possible():
    twins = region.f1_twins()
    for recall, precision in twins.values():
        assert 2 * recall * precision / (recall + precision) == pytest.approx(0.4, rel=1e-12)
    recall, precision = twins["B"]
    assert precision == pytest.approx(0.33 * recall / (1 - 0.33 + 0.33 * recall), rel=1e-12)
    assert twins["A"][1] > 2 * 0.33


def test_the_table_of_the_paper_on_downsampling_agrees_with_the_normalisation():
    """Its AUCNPR follows from its AUCPR and the ratio, to the digits that are printed."""
    for ratio, (small, small_normalised, full, full_normalised) in downsampling.PAPER.items():
        for area, normalised, prevalence in (
            (small, small_normalised, 1 / (1 + ratio)),
            (full, full_normalised, 1 / 25),
        ):
            floor = pr.minimum_aucpr(prevalence)
            rounding = 0.0005 + 0.0005 / (1 - floor)
            assert (area - floor) / (1 - floor) == pytest.approx(normalised, abs=rounding)


def test_downsampling_keeps_the_positives_and_the_ratio():
    rng = np.random.default_rng(0)
    labels = (rng.random(1000) < 0.04).astype(int)
    part = rng.random(1000) < 0.5
    kept = downsampling._downsample(labels, part, 3, rng)
    assert part[kept].all()
    assert np.unique(kept).size == kept.size
    positives = int(labels[part].sum())
    assert labels[kept].sum() == positives
    assert kept.size == 4 * positives


def test_the_attack_is_that_of_the_library(monkeypatch):
    monkeypatch.setattr(attack, "DIGITS", (3, 0))
    monkeypatch.setattr(attack, "EPSILONS", (1.0, 20.0))
    monkeypatch.setattr(attack, "RELEASES", {"both": ("auroc", "confusion")})
    rows = attack.simulate_case("tossed", 20, Binormal(), 6, [1, 2])
    rng = np.random.default_rng([1, 2])
    options = {"sizes": [20], "n_trials": 6, "toss": True, "threshold": 0.9, "rng": rng}

    def sample(size, generator):
        return Binormal().sample(10, 10, generator)

    expected = reidentification_curve(sample, digits=[3, None], **options)
    expected += reidentification_curve(
        sample, digits=[], epsilons=(1.0, 20.0), metrics=("auroc", "confusion"), **options
    )
    assert [row["success"] for row in rows] == [exposure.success for exposure in expected]
    kinds = [("digits", 3), ("digits", 0), ("both", 1.0), ("both", 20.0)]
    assert [(row["release"], row["value"]) for row in rows] == kinds
    assert rows[1]["success"] >= rows[0]["success"]


def test_drug_discovery_splits_each_class_in_halves():
    compounds, active = drug_discovery.generate([1, 0], 1201, 80)
    assert compounds.shape == (1201, 6)
    assert active.sum() == 80
    training = drug_discovery.split(active, np.random.default_rng(0))
    assert active[training].sum() == 40
    assert training.sum() == 40 + 560


def test_adaptive_kernels_are_as_wide_as_inactive_compounds_are_far():
    rng = np.random.default_rng(5)
    train, test = rng.normal(size=(40, 2)), rng.normal(size=(7, 2))
    active = (np.arange(40) < 5).astype(int)
    for kernel, value in (
        (drug_discovery._gaussian, lambda u: math.exp(-u * u / 2)),
        (drug_discovery._triangular, lambda u: max(0.0, 1.0 - abs(u))),
    ):
        got = drug_discovery.adaptive_kernels(kernel, 3, 1.5)(train, active, test)
        for point, score in zip(test, got, strict=True):
            expected = 0.0
            for centre in train[:5]:
                nearest = sorted(train[5:], key=lambda other, c=centre: math.dist(other, c))[:3]
                product = 1.0
                for axis in range(2):
                    radius = 1.5 * sum(abs(other[axis] - centre[axis]) for other in nearest) / 3
                    product *= value((point[axis] - centre[axis]) / radius)
                expected += product
            assert score == pytest.approx(expected, rel=1e-12)


def test_drug_discovery_tells_what_the_library_tells(monkeypatch):
    scores = {}
    monkeypatch.setattr(
        drug_discovery,
        "SCORERS",
        {
            "one": lambda train, active, test: scores.setdefault("one", test[:, 0]),
            "two": lambda train, active, test: scores.setdefault("two", test[:, 1]),
        },
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pr.exceptions.DirectionWarning)
        rows = drug_discovery.one_split(7, 0, 1200, 80)
        _, active = drug_discovery.generate([7, 0], 1200, 80)
        labels = active[~drug_discovery.split(active, np.random.default_rng([7, 1, 0]))]
        comparison = pr.compare(labels, scores, sampling="classes")
        interval = pr.interval(pr.rank(labels, scores["one"]), sampling="classes")
    found = {(row["quantity"], row["scorer"]): row for row in rows}
    assert found["average_precision", "one"]["low"] == interval.low
    assert found["difference", "one"]["p_value"] == comparison.p_values["one", "two"]
    hits = [row for row in rows if row["quantity"] == "hits" and row["scorer"] == "two"]
    first = next(row for row in hits if row["selected"] == 0.1)
    top = np.sort(scores["two"])[::-1][59]
    assert first["estimate"] == pytest.approx(labels[scores["two"] >= top].sum())


def test_smooth_sensitivity_of_the_study_is_a_maximum_over_all_counts():
    rows = privacy.sensitivity_rows(30)
    every = np.arange(31)
    for row in rows:
        if row["metric"] != "auroc":
            continue
        local = sensitivity.local_auroc(every, 30 - every)
        beta = row["mechanism"].partition("beta ")[2]
        decay = np.exp(-float(beta) * np.abs(every - row["at"])) if beta else every == row["at"]
        assert row["value"] == pytest.approx(np.max(local * decay), rel=1e-12)


def test_errors_are_against_the_exact_value_and_histograms_are_shares():
    with privacy.quietly():
        rows = privacy.error_rows(Bibeta(), 1000, 0.5, 50.0, data_sets=3, releases=2, seed=[1])
        shares = privacy.histogram_rows(Bibeta(), 200, releases=40, seed=[1])
    errors = {(row["metric"], row["mechanism"]): row["value"] for row in rows}
    assert errors["average_precision", "rescaled"] < 1e-2  # almost no noise at epsilon 50
    assert errors["auroc", "rescaled"] < 1e-2
    for mechanism in ("printed_laplace", "rescaled"):
        found = [row for row in shares if row["mechanism"] == mechanism]
        bars = [row["value"] for row in found if row["at"] != "ends"]
        assert len(bars) == len(found) - 1 == privacy.BINS
        assert found[-1]["value"] <= bars[0] + bars[-1]
        assert sum(bars) == pytest.approx(1.0)
    exact = [row["value"] for row in shares if row["mechanism"] == "exact"]
    assert len(exact) == 1
    assert 0.8 < exact[0] < 1.0


@pytest.mark.parametrize("study", [attack, privacy], ids=["attack", "privacy"])
def test_scores_of_the_user_take_the_place_of_generated_ones(study, tmp_path):
    labels, scores = Bibeta().sample(60, 140, rng=4)
    path = tmp_path / "mine.csv"
    lines = [f"{label},{score!r}" for label, score in zip(labels, scores.tolist(), strict=True)]
    path.write_text("\n".join(["label,score", *lines]) + "\n")
    with thin(study) as name:
        study.run(tmp_path / "out", quick=True, workers=1, scores=path)
    assert json.loads((tmp_path / "out" / f"{name}.json").read_text())["scores"] == "mine.csv"
    drawn = read_scores(path)
    np.testing.assert_array_equal(np.sort(drawn.positives), np.sort(scores[labels == 1]))
    np.testing.assert_array_equal(np.sort(drawn.negatives), np.sort(scores[labels == 0]))


@pytest.mark.parametrize(
    ("text", "words"),
    [("y,s\n1,2\n", "y, s"), ("", "none"), ("label,score\n1,2\n0,x\n", "line 3")],
)
def test_a_file_of_scores_that_cannot_be_read_is_refused(text, words, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_scores(path)


def test_the_table_of_auto_is_that_of_what_it_chooses(tmp_path):
    """Losses are ratios to the better of two, and the least error of a cell is in bold."""
    with thin(private_choice):
        page = private_choice.run(tmp_path, quick=True).read_text()
    cells = choice_page.errors(
        Results(
            tmp_path, "private_choice", json.loads((tmp_path / "private_choice.json").read_text())
        ),
        "average_precision",
    )
    cell = cells["offset uniform", 100, 0.2, 0.1]
    auto = cell[choice_page.chosen(("", 100, 0.2, 0.1), "average_precision", 0.2)]["error"]
    line = next(line for line in page.splitlines() if line.startswith("| 0.1 | 100 | 0.2 |"))
    shown = [float(part.strip(" *")) for part in line.strip("|").split("|")[3:]]
    assert shown[0] == pytest.approx(auto, abs=6e-4)
    assert f"**{min(shown):.3f}**" in line
    assert "On models that nothing was chosen on" in page


def test_models_that_the_rule_was_chosen_on_are_not_those_it_is_reported_on():
    assert not private_choice.CHOSEN_ON.keys() & private_choice.REPORTED_ON.keys()
    rng = np.random.default_rng(0)
    for model in private_choice.MODELS.values():
        for draws in model:
            scores = draws(rng, 1000)
            assert scores.min() >= 0.0
            assert scores.max() <= 1.0


@pytest.mark.parametrize("model", promises.MODELS)
def test_promises_know_how_many_reach_a_threshold(model):
    """Scores of drawn rows, at thresholds on and beside levels."""
    rng = np.random.default_rng(3)
    drawn = promises.MODELS[model].sample_scores(20_000, 20_000, rng=rng)
    for threshold in (*np.quantile(drawn[0], [0.1, 0.5, 0.9]), -1e9, 1e9):
        shares = promises.shares_above(promises.MODELS[model], threshold)
        for share, [scores] in zip(shares, drawn, strict=True):
            assert float(share) == pytest.approx(np.mean(scores >= threshold), abs=0.02)


def test_promises_that_are_broken_too_often_are_named():
    row = {"data_sets": 500, "broken": 0.05}
    worse = [row | {"broken": 0.12, "model": "a"}, row | {"broken": 0.11, "model": "b"}]
    assert promises.beyond_chance([row] * 50 + worse) == worse
    assert promises.beyond_chance([row] * 50) == []
    population = promises.Population(promises.MODELS["cauchy"], 0.2, 0.1, 0.25)
    tp, fp = 0.2 * 0.9 * 0.5, 0.8 * 0.1
    for name, value in {
        "recall": 0.45,
        "precision": tp / (tp + fp),
        "selected": tp + fp,
        promises.NPV: (0.8 - fp) / (1 - tp - fp),
        "net_benefit": tp - fp / 3,
    }.items():
        assert population.value(name, 0.5, 0.1) == pytest.approx(value)
    assert (population.value("precision", 0, 0), population.value(promises.NPV, 1 / 0.9, 1)) == (
        1,
        1,
    )


def test_hard_models_are_just_short_of_the_promise():
    edges = private_threshold.probability_edges(private_threshold.BINS)
    for promise in (0.5, 0.8, 0.9):
        case = private_threshold.Case("nothing to find", 1, promise, 1.0)
        found = private_threshold.precisions(case, edges)
        np.testing.assert_allclose(found, promise - 1e-6, atol=1e-9)
        found = private_threshold.precisions(case._replace(model="cliff"), edges)
        kept = found >= promise
        assert kept[0]
        assert promise - 1e-3 < found[-1] < promise
        assert (np.diff(kept.astype(int)) <= 0).all()
