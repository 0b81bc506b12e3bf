"""The script that changes one operator at a time: one change, that compiles, chosen repeatably."""

import ast
import json
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest

from scripts import mutant_scope, mutant_session, mutants
from scripts.mutant_changes import apply, find_mutants

EXAMPLE = '''\
"""Not 1 + 1."""

from typing import Literal

LIMIT = 3


class Box:
    size: Literal[7] = 2

    def area(self, other: "Box | None" = None, flag=True):
        größe = 4; whole = (self.size
                            + 1.5) ** 2
        if not (flag and whole > 3):
            return -(whole)
        whole //= LIMIT
        message = f"{whole + 1:.3f}"
        return [x for x, y in zip("a", "b", strict=True)] if whole <= 1 or flag == 5 else message
'''


def shown(source=EXAMPLE):
    return [mutant.becomes for mutant in find_mutants("example.py", source)]


def test_every_kind_of_change_is_found_once():
    assert shown() == [
        "LIMIT = 4",
        "size: Literal[7] = 3",
        'def area(self, other: "Box | None" = None, flag=False):',
        "größe = 5; whole = (self.size",
        "- 1.5) ** 2",
        "+ 2.5) ** 2",
        "+ 1.5) * 2",
        "+ 1.5) ** 3",
        "if (flag and whole > 3):",
        "if not (flag or whole > 3):",
        "if not (flag and whole >= 3):",
        "if not (flag and whole > 4):",
        "return +(whole)",
        "whole /= LIMIT",
        *(
            f'return [x for x, y in zip("a", "b", strict=True)] if {test} else message'
            for test in (
                "not (whole <= 1 or flag == 5)",
                "whole < 1 or flag == 5",
                "whole <= 2 or flag == 5",
                "whole <= 1 and flag == 5",
                "whole <= 1 or flag != 5",
                "whole <= 1 or flag == 6",
            )
        ),
    ]


def test_a_condition_over_several_lines_is_inverted_as_a_whole():
    source = "if (\n    a\n    and b\n):\n    pass\n"
    (inverted,) = (m for m in find_mutants("m.py", source) if m.new.startswith("not"))
    changed = ast.parse(apply(source, inverted)).body[0]
    assert ast.unparse(changed) == "if not (a and b):\n    pass"


@pytest.mark.parametrize(
    "module", ["inference/limits.py", "ranking/counting.py", "points/matrix.py"]
)
def test_each_mutant_of_a_module_is_one_change_that_compiles(module):
    source = (mutants.ROOT / mutants.PACKAGE / module).read_text()
    found = find_mutants(module, source)
    assert len(found) > 30
    assert len({mutant.key for mutant in found}) == len(found)
    unchanged = ast.dump(ast.parse(source))
    for mutant in found[:: len(found) // 30]:
        changed = apply(source, mutant)
        compile(changed, module, "exec")
        assert ast.dump(ast.parse(changed)) != unchanged
        first, last = mutant.start[0], mutant.stop[0]
        before, after = source.splitlines(), changed.splitlines()
        kept = len(before) - last
        assert before[: first - 1] == after[: first - 1]
        assert before[last:] == after[len(after) - kept :]


def test_every_named_module_is_there():
    for pattern in mutants.MODULES:
        assert list((mutants.ROOT / mutants.PACKAGE).glob(pattern)), pattern
    assert {mutant.module for mutant in mutants.all_mutants()} >= {
        "inference/bands/exact.py",
        "metrics/areas.py",
        "privacy/rescaled.py",
    }


def test_choices_are_seeded_and_a_larger_one_goes_on_from_a_smaller():
    found = find_mutants("example.py", EXAMPLE)
    small, large = (mutants.choose(found, size, 1) for size in (4, 9))
    assert small == mutants.choose(found, 4, 1) == large[:4]
    assert small != mutants.choose(found, 4, 2)
    assert mutants.choose(found, None, 1) == found
    # What is dropped from the text leaves the order of the rest.
    gone = small[0]
    rest = [mutant for mutant in found if mutant != gone]
    assert mutants.choose(rest, 8, 1) == large[1:]


def test_parts_of_one_sample_are_disjoint_and_together_the_whole(capsys):
    def listed(*only):
        mutants.main(["--sample", "60", "--seed", "1", "--list", *only])
        return capsys.readouterr().out.splitlines()

    whole = listed()
    part = listed("--only", "inference/*")
    rest = listed("--only", "[!i]*")
    assert {line.split("/")[0] for line in part} == {"inference"}
    assert rest
    assert len(part) + len(rest) == len(whole)
    assert {*part, *rest} == set(whole)


def test_every_change_that_makes_no_difference_still_exists_and_has_a_reason():
    found = {(m.module, m.line, m.becomes) for m in mutants.all_mutants()}
    for change, reason in mutants.read_equivalent().items():
        assert change in found, f"{change}: the line has changed, so the entry has to go"
        assert len(reason) > 20, change


@pytest.fixture
def git(tmp_path):
    """Run git in a folder with one committed module."""
    package = tmp_path / mutants.PACKAGE
    package.mkdir(parents=True)
    (package / "areas.py").write_text("a = 1\nb = 2\nc = 3\n")

    def run(*words, cwd=tmp_path):
        settings = ["-c", "user.name=x", "-c", "user.email=x@y.z", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", *settings, *words], cwd=cwd, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    run("init", "--initial-branch", "main")
    run("add", ".")
    run("commit", "-m", "one")
    return run


def test_lines_that_differ_from_a_commit(tmp_path, git):
    (tmp_path / mutants.PACKAGE / "areas.py").write_text("a = 1\nb = 5\nc = 3\nd = 4\ne = 5\n")
    found = mutant_scope.changed_lines(tmp_path, mutants.PACKAGE, "HEAD")
    assert found == {"areas.py": {2, 4, 5}}
    with pytest.raises(ValueError, match="no commit v9 here"):
        mutant_scope.changed_lines(tmp_path, mutants.PACKAGE, "v9")


def test_a_change_began_where_its_branch_left_main(tmp_path, git):
    areas = tmp_path / mutants.PACKAGE / "areas.py"
    first = git("rev-parse", "HEAD")
    assert mutant_scope.usual_base(tmp_path) is None  # there is no commit before
    areas.write_text("a = 2\n")
    assert mutant_scope.usual_base(tmp_path) == first  # what is not committed yet
    git("commit", "-am", "two")
    assert mutant_scope.usual_base(tmp_path) == first  # on main: the last commit
    second = git("rev-parse", "HEAD")
    git("checkout", "-b", "branch")
    for number in (3, 4):
        areas.write_text(f"a = {number}\n")
        git("commit", "-am", str(number))
    assert mutant_scope.usual_base(tmp_path) == second


def test_a_shallow_clone_has_no_base_and_is_no_failure(
    tmp_path, tmp_path_factory, git, monkeypatch, capsys
):
    (tmp_path / mutants.PACKAGE / "areas.py").write_text("a = 2\n")
    git("commit", "-am", "two")
    clone = tmp_path_factory.mktemp("clone")
    git("clone", "--depth", "1", f"file://{tmp_path}", str(clone))
    monkeypatch.setattr(mutants, "ROOT", clone)
    monkeypatch.setattr(mutants, "MODULES", ("areas.py",))
    assert mutants.main(["--changed", "--sample", "40"]) == 0
    assert "history does not reach back" in capsys.readouterr().out


def test_files_that_speak_of_a_module_are_recorded_first(tmp_path):
    (tmp_path / "p").mkdir()
    texts = {
        "p/areas.py": "def double(x):\n    return 2 * x\n\n\nclass Box: ...\n",
        "p/curves.py": "from .areas import Box\n\n\ndef curve():\n    return Box()\n",
        "a.py": "redouble",
        "b.py": "double(double(1))",
        "c.py": "areas.double(Box())",
        "d.py": "curve()",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    found = mutant_scope.by_relevance(tmp_path, Path("p"), list(texts)[2:], [Path("p/areas.py")])
    assert found == ["c.py", "b.py", "d.py", "a.py"]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with one function and a test of it, in place of this one."""
    package = tmp_path / mutants.PACKAGE
    (package / "privacy").mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (package / "__init__.py").touch()
    (package / "areas.py").write_text("def double(x):\n    return 2 * x\n")
    (tmp_path / "tests" / "test_areas.py").write_text("")
    (tmp_path / "equivalent.toml").write_text("mutant = []\n")
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "MODULES", ("areas.py",))
    monkeypatch.setattr(mutants, "KEPT", tmp_path / ".mutants")
    monkeypatch.setattr(mutants, "EQUIVALENT", tmp_path / "equivalent.toml")
    return tmp_path


@pytest.fixture
def unrecorded(monkeypatch):
    monkeypatch.setattr(mutants, "collect", lambda *_: {})
    monkeypatch.setattr(mutants, "Collected", lambda *_: nullcontext())


@pytest.mark.usefixtures("unrecorded")
def test_a_run_goes_on_where_it_was_stopped(project, monkeypatch, capsys):
    judged = []

    def judge(self, mutant, tests, quick, until):
        judged.append(mutant.becomes)
        return "test_double" if "/" in mutant.becomes else None

    monkeypatch.setattr(mutants.Copy, "judge", judge)
    assert mutants.main(["--sample", "1", "--seed", "0"]) in (0, 1)
    assert mutants.main([]) == 1
    assert sorted(judged) == ["return 2 / x", "return 3 * x"]
    assert "1 killed, 1 survived, 0 equivalent" in capsys.readouterr().out

    # A new test may kill the survivor; what was killed stays killed.
    (project / "tests" / "test_areas.py").write_text("# more\n")
    mutants.main([])
    assert judged[2:] == ["return 3 * x"]
    # A quick look does not replace the long one.
    (project / "tests" / "test_areas.py").write_text("# still more\n")
    for arguments in (["--quick"], ["--quick"], [], []):
        mutants.main(arguments)
    assert judged[3:] == ["return 3 * x", "return 3 * x"]
    # A changed module is new altogether.
    areas = project / mutants.PACKAGE / "areas.py"
    areas.write_text(areas.read_text() + "\n")
    mutants.main([])
    assert sorted(judged[5:]) == ["return 2 / x", "return 3 * x"]


@pytest.mark.usefixtures("unrecorded")
def test_what_is_not_judged_in_time_is_undecided(project, monkeypatch, capsys):
    def judge(self, mutant, tests, quick, until):
        if "/" in mutant.becomes:
            raise TimeoutError
        return None

    monkeypatch.setattr(mutants.Copy, "judge", judge)
    # No test was recorded that could notice anything.
    assert mutants.main(["--minutes", "1"]) == 0
    said = "0 killed, 0 survived, 0 equivalent, 2 undecided for lack of time"
    assert said in capsys.readouterr().out
    test = {"seconds": 0.1, "calls": ["areas.py:double"]}
    monkeypatch.setattr(mutants, "collect", lambda *_: {"test_areas.py::test_double": test})
    assert mutants.main(["--minutes", "1"]) == 1
    said = "0 killed, 1 survived, 0 equivalent, 1 undecided for lack of time"
    assert said in capsys.readouterr().out
    assert mutants.main(["--minutes", "1", "--advise"]) == 0
    assert said in capsys.readouterr().out


@pytest.mark.usefixtures("unrecorded")
def test_marked_changes_are_counted_and_not_run(project, monkeypatch, capsys):
    monkeypatch.setattr(mutants.Copy, "judge", lambda *_: "test_double")
    row = {"module": "areas.py", "line": "return 2 * x", "becomes": "return 3 * x"}
    entries = [f"{key} = {json.dumps(value)}" for key, value in (row | {"reason": "none"}).items()]
    (project / "equivalent.toml").write_text("[[mutant]]\n" + "\n".join(entries))
    assert mutants.main([]) == 0
    assert "1 killed, 0 survived, 1 equivalent" in capsys.readouterr().out


def test_an_unknown_module_is_an_error(capsys):
    with pytest.raises(SystemExit):
        mutants.main(["--module", "inference/limit.py", "--list"])
    assert "no file below src/precall is called inference/limit.py" in capsys.readouterr().err


def test_close_tests_come_first_and_the_others_last():
    source = "def double(x):\n    return 2 * x\n"
    mutant = find_mutants("areas.py", source)[0]
    tests = {
        "a.py::slow": {"seconds": 9.0, "calls": ["areas.py:double"]},
        "b.py::other": {"seconds": 0.1, "calls": ["areas.py:doubles", "ranking.py:double"]},
        "c.py::quick": {"seconds": 0.1, "calls": ["areas.py:double"]},
    }
    assert list(mutants.stages(mutant, tests, quick=False)) == [
        ["c.py::quick"],
        ["a.py::slow"],
        ["b.py::other"],
    ]
    assert list(mutants.stages(mutant, tests, quick=True)) == [["c.py::quick"], ["a.py::slow"]]
    # A quick look leaves out what would take too long, and never everything.
    tests["a.py::slow"]["seconds"] = mutants.QUICK
    assert list(mutants.stages(mutant, tests, quick=True)) == [["c.py::quick"]]
    tests["c.py::quick"]["seconds"] = 2.0 * mutants.QUICK
    assert list(mutants.stages(mutant, tests, quick=True)) == [["a.py::slow"]]
    assert list(mutants.stages(mutant, tests, quick=False)) == [
        ["a.py::slow", "c.py::quick"],
        ["b.py::other"],
    ]


@pytest.fixture
def tested(project):
    """The project with a test that pytest runs."""
    (project / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\nmarkers = ["slow", "spark", "dask", "browser"]\n'
    )
    (project / "tests" / "test_areas.py").write_text(
        "from precall.areas import double\n\ndef test_double():\n    assert double(2) == 4\n"
    )
    return project


def test_the_copy_is_judged_and_restored(tested, tmp_path_factory):
    project = tested
    source = (project / mutants.PACKAGE / "areas.py").read_text()
    mutant = find_mutants("areas.py", source)[0]
    copy = mutants.Copy(tmp_path_factory.mktemp("copy"))
    name = "tests/test_areas.py::test_double"
    tests = {name: {"seconds": 0.1, "calls": ["areas.py:double"]}}
    assert copy.judge(mutant, tests, quick=False) == name
    assert (copy.base / "areas.py").read_text() == source
    assert copy.fails([name], 0.1) is None


def test_what_tests_call_is_recorded_once_and_in_time(tested, tmp_path_factory, capsys):
    mutants.KEPT.mkdir()
    copy = mutants.Copy(tmp_path_factory.mktemp("copy"))
    modules = [mutants.PACKAGE / "areas.py"]
    assert mutants.collect(copy, ["tests"], modules, until=0.0) == {}
    assert "no time to record what the tests in 1 of 1 files call" in capsys.readouterr().out
    (found,) = mutants.collect(copy, ["tests"], modules).items()
    assert found[0] == "tests/test_areas.py::test_double"
    assert "areas.py:double" in found[1]["calls"]
    assert "recorded what tests call: 1 of 1 files" in capsys.readouterr().out
    assert mutants.collect(copy, ["tests"], modules, until=0.0) == dict([found])
    assert not capsys.readouterr().out


def test_a_call_that_a_cache_would_hide_is_recorded_for_each_test(tested, tmp_path_factory):
    (tested / mutants.PACKAGE / "areas.py").write_text(
        "from functools import cache\n\n@cache\ndef double(x):\n    return 2 * x\n\n"
        "SIX = double(3)\n"
    )
    (tested / "tests" / "test_areas.py").write_text(
        "from precall.areas import SIX, double\n\ndef test_one():\n    assert double(2) == 4\n\n"
        "def test_two():\n    assert double(2) == 4\n\ndef test_none():\n    assert SIX == 6\n"
    )
    mutants.KEPT.mkdir()
    copy = mutants.Copy(tmp_path_factory.mktemp("copy"))
    tests = mutants.collect(copy, ["tests"], [mutants.PACKAGE / "areas.py"])
    calling = [name.split("::")[1] for name in tests if "areas.py:double" in tests[name]["calls"]]
    # What the module calls when it is imported is no call of the test that comes first.
    assert calling == ["test_one", "test_two"]


@pytest.mark.parametrize(
    ("new", "names"),
    [
        ("LIMIT = 3\ndef f(x, y=1):\n    return [2 * z for z in x]\n", []),
        ("LIMIT = 3\ndef f(x, y=1):\n    return [3 * z for z in x]\n", ["f"]),
        ("LIMIT = 4\ndef f(x, y=1):\n    return [2 * z for z in x]\n", None),
        ("LIMIT = 3\ndef f(x, y=True):\n    return [2 * z for z in x]\n", None),
    ],
)
def test_only_a_change_inside_of_functions_is_new_code(new, names):
    old = "LIMIT = 3\ndef f(x, y=1):\n    return [2 * z for z in x]\n"
    inside = "class Box:\n    size = 1\n    def area(self):\n        return self.size\n"
    found = mutant_session.changed_functions(old + inside, new + inside, "areas.py")
    assert (None if found is None else [code.co_qualname for code in found]) == names


def test_a_changed_method_is_new_code_and_a_changed_attribute_is_not():
    old = "class Box:\n    size = 1\n    def area(self):\n        return self.size + 1\n"
    (code,) = mutant_session.changed_functions(old, old.replace("+", "-"), "areas.py")
    assert code.co_qualname == "Box.area"
    assert mutant_session.changed_functions(old, old.replace("= 1", "= 2"), "areas.py") is None


def test_collected_tests_judge_many_changes(tested, tmp_path_factory):
    areas = tested / mutants.PACKAGE / "areas.py"
    areas.write_text(
        "LIMIT = 5\n\ndef double(x):\n    return 2 * x if x < LIMIT else LIMIT\n\n"
        "def triple(x):\n    return 3 * x\n"
    )
    (tested / "tests" / "test_areas.py").write_text(
        "from precall.areas import double, triple\n\nNINE = triple(3)\n\n"
        "def test_double():\n    assert double(2) == 4\n\n"
        "def test_limit():\n    assert double(6) == 5\n\n"
        "def test_triple():\n    assert triple(3) == NINE\n"
    )
    copy = mutants.Copy(tmp_path_factory.mktemp("copy"))
    names = [f"tests/test_areas.py::test_{name}" for name in ("double", "limit", "triple")]
    calls = ["areas.py:double", "areas.py:double", "areas.py:triple"]
    tests = {n: {"seconds": 0.1, "calls": [c]} for n, c in zip(names, calls, strict=True)}
    fresh = []
    with mutant_session.Collected(copy.root, copy.base, [*mutants.PYTEST, "tests"]) as collected:
        copy.collected = collected
        in_new_process = copy.fails
        copy.fails = lambda tests, *rest: fresh.append(tests) or in_new_process(tests, *rest)
        found = {
            mutant.becomes: copy.judge(mutant, tests, quick=True)
            for mutant in find_mutants("areas.py", areas.read_text())
        }
    assert found == {
        "LIMIT = 6": names[1],
        "return 3 * x if x < LIMIT else LIMIT": names[0],
        "return 2 / x if x < LIMIT else LIMIT": names[0],
        "return 2 * x if x <= LIMIT else LIMIT": None,
        "return 2 * x if not (x < LIMIT) else LIMIT": names[0],
        # Both sides of its test come from the change.
        "return 4 * x": None,
        "return 3 / x": None,
    }
    # New processes: for the constant; to see that what a collected test noticed is no difference
    # between the code before and after it was collected, and then for all tests.
    assert fresh == [names, [names[2]], [names[2]], [names[2]], [names[2]]]


def test_tests_that_cannot_be_collected_are_an_error(tested):
    (tested / "tests" / "test_areas.py").write_text("import nothing_of_that_name\n")
    with pytest.raises(SystemExit, match="nothing_of_that_name"):
        mutant_session.Collected(tested, tested / mutants.PACKAGE, [*mutants.PYTEST, "tests"])
