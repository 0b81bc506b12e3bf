"""What `make coverage` prints: totals, and the modules that tests reach least."""

import pytest

pytest.importorskip("coverage")

from scripts import measure_coverage


def numbers(lines, branches):
    (covered, statements), (taken, possible) = lines, branches
    return {
        "covered_lines": covered,
        "num_statements": statements,
        "covered_branches": taken,
        "num_branches": possible,
        "percent_covered": 100 * (covered + taken) / (statements + possible),
    }


def test_totals_come_first_then_the_least_covered_modules():
    files = {f"src/precall/m{i:02}.py": numbers((i, 20), (i, 20)) for i in range(20, 0, -1)}
    files["src/precall/plain.py"] = numbers((0, 4), (0, 0))
    found = {
        "totals": numbers((210, 404), (210, 400)),
        "files": {name: {"summary": summary} for name, summary in files.items()},
    }
    head, total, *modules = measure_coverage.summary(found)
    assert head.split() == ["lines", "branches"]
    assert total.split() == ["all", "modules", "210", "52.0", "%", "210", "52.5", "%"]
    assert modules[0].split() == ["precall/plain.py", "0", "0.0", "%", "–"]
    assert modules[1].split() == ["precall/m01.py", "1", "5.0", "%", "1", "5.0", "%"]
    assert [row.split()[0] for row in modules[1:]] == [f"precall/m{i:02}.py" for i in range(1, 10)]


def test_reached_lines_and_branches_are_counted(tmp_path, monkeypatch):
    package = tmp_path / "src" / "precall"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "def sign(x):\n    if x < 0:\n        return -1\n    return 1\n"
    )
    (tmp_path / "test_sign.py").write_text(
        "import precall\n\ndef test_sign():\n    assert precall.sign(3) == 1\n"
    )
    monkeypatch.setattr(measure_coverage, "ROOT", tmp_path)
    folder = tmp_path / "kept"
    folder.mkdir()
    status, found = measure_coverage.measure(["-q", "-p", "no:cacheprovider"], folder)
    assert status == 0
    totals = found["totals"]
    assert (totals["covered_lines"], totals["num_statements"]) == (3, 4)
    assert (totals["covered_branches"], totals["num_branches"]) == (1, 2)
