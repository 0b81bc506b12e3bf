"""What commands say to NumPy and PyArrow; nobody else's process is touched."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from precall.cli import environment as told

ZEN_4 = {"vendor_id": "AuthenticAMD", "cpu family": "25", "flags": "fpu sse avx2 avx512f avx512dq"}
DISABLED = "NPY_DISABLE_CPU_FEATURES"


@pytest.fixture
def environment(monkeypatch):
    """One that says nothing of NumPy, in a process where nobody asked for warnings."""
    found = {name: value for name, value in os.environ.items() if name != DISABLED}
    monkeypatch.setattr(told.os, "environ", found)
    monkeypatch.setattr(told.sys, "warnoptions", [])
    return found


@pytest.fixture
def described(tmp_path):
    def write(**facts):
        lines = (f"{name:15}: {value}" for name, value in (ZEN_4 | facts).items())
        path = tmp_path / "cpuinfo"
        path.write_text("processor : 0\n" + "\n".join(lines) + "\n\n" + "processor : 1\n" * 400)
        return path

    return write


def test_on_zen_4(environment, described):
    told.avoid_slow_sort(described())
    assert environment[DISABLED] == "X86_V4"


@pytest.mark.parametrize(
    "facts",
    [
        {"flags": "fpu sse avx2"},  # Zen 3
        {"cpu family": "26"},  # Zen 5
        {"vendor_id": "GenuineIntel", "cpu family": "6"},
        {"flags": "fpu avx512frog"},
    ],
)
def test_not_on_other_processors(environment, described, facts):
    told.avoid_slow_sort(described(**facts))
    assert DISABLED not in environment


def test_not_where_the_system_does_not_say(environment, tmp_path):
    told.avoid_slow_sort(tmp_path / "nothing")
    assert DISABLED not in environment


def test_not_where_somebody_has_said_what_to_leave_out(environment, described):
    environment[DISABLED] = ""
    told.avoid_slow_sort(described())
    assert environment[DISABLED] == ""


def test_not_where_warnings_were_asked_for(environment, described, monkeypatch):
    monkeypatch.setattr(told.sys, "warnoptions", ["error"])
    told.avoid_slow_sort(described())
    assert DISABLED not in environment


def test_what_somebody_has_said_stays(environment, monkeypatch):
    monkeypatch.setattr(told, "is_zen_4", lambda described: False)
    settings = told._ONE_THREAD | told._ONE_HEAP
    for name in settings:
        environment.pop(name, None)
    environment["OPENBLAS_NUM_THREADS"] = "3"
    told.prepare()
    assert {name: environment[name] for name in settings} == settings | {
        "OPENBLAS_NUM_THREADS": "3"
    }
    assert DISABLED not in environment


def test_no_thread_of_linear_algebra_is_beside_a_command(tmp_path):
    """OpenBLAS starts its threads when NumPy is loaded, and PyArrow chooses its heap then."""
    code = (
        "import os, sys\n"
        "from precall.cli import main\n"
        "sys.argv[1:] = ['--version']\n"
        "main()\n"
        "import numpy, pyarrow\n"
        "tasks = '/proc/self/task'\n"
        "assert not os.path.isdir(tasks) or len(os.listdir(tasks)) <= 2, os.listdir(tasks)\n"
        "assert pyarrow.default_memory_pool().backend_name == 'system'"
    )
    silent = {k: v for k, v in os.environ.items() if k not in told._ONE_THREAD | told._ONE_HEAP}
    subprocess.run([sys.executable, "-c", code], check=True, env=silent)


def test_only_a_process_of_our_own_is_touched():
    """A command says it before NumPy is loaded; a call of the function says nothing."""
    code = (
        "import os, sys\n"
        "from precall.cli import environment, main\n"
        "environment.is_zen_4 = lambda described: True\n"
        "main(['--version'])\n"
        f"assert {DISABLED!r} not in os.environ\n"
        "sys.argv[1:] = ['--version']\n"
        "main()\n"
        f"assert os.environ[{DISABLED!r}] == 'X86_V4'\n"
        "assert 'numpy' not in sys.modules"
    )
    silent = {name: value for name, value in os.environ.items() if name != DISABLED}
    silent.pop("PYTHONWARNINGS", None)
    subprocess.run([sys.executable, "-c", code], check=True, env=silent)


def test_a_command_says_the_same_with_and_without(tmp_path):
    rng = np.random.default_rng(4)
    label = (rng.random(30_000) < 0.1).astype(int)
    table = np.column_stack([label, rng.standard_normal(label.size) + label])
    path = tmp_path / "scores.csv"
    np.savetxt(path, table, delimiter=",", header="y,s", comments="", fmt=["%d", "%.17g"])
    stored, found = tmp_path / "ranking.json", []
    columns = ["--label", "y", "--score", "s"]
    for setting in ("", told._FEATURE):
        done = subprocess.run(
            [sys.executable, "-m", "precall", "rank", path, *columns, "-o", stored],
            env={**os.environ, DISABLED: setting},
            capture_output=True,
            check=True,
        )
        assert not done.stderr
        found.append(json.loads(stored.read_text()))
    assert found[0] == found[1]


def ended(code, *arguments):
    """What a process prints that runs some code, and then a command to its end."""
    program = (
        f"import atexit, sys, threading, time\n{code}\n"
        f"sys.argv[1:] = {list(arguments)!r}\n"
        "from precall.cli import start\n"
        "start()\n"
        "print('never')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


def test_a_process_ends_with_what_others_asked_for():
    status, lines = ended("atexit.register(print, 'called')", "--version")
    assert status == 0
    assert lines[0].startswith("precall ")
    assert lines[1:] == ["called"]
    assert ended("atexit.register(print, 'called')", "evaluate") == (2, ["called"])


def test_a_process_waits_for_its_threads():
    code = "threading.Thread(target=lambda: (time.sleep(0.5), print('done'))).start()"
    status, lines = ended(code, "--version")
    assert (status, lines[1:]) == (0, ["done"])


@pytest.mark.skipif(os.name != "posix", reason="a shell closes its output")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_process_without_output_ends_as_well(closed):
    done = subprocess.run(["sh", "-c", f"'{sys.executable}' -m precall --version {closed}"])
    assert done.returncode == 0
