"""The package as a whole: what importing it costs, and what it promises."""

import importlib
import subprocess
import sys
import types

import precall as pr

OPTIONAL = (
    "click", "dask", "distributed", "duckdb", "jinja2", "matplotlib", "opendp", "pandas", "plotly",
    "polars", "psycopg", "pyarrow", "pyspark", "rich", "sklearn", "sqlite3", "torch",
)  # fmt: skip
SLOW = ("scipy.stats", "scipy.optimize", "scipy.integrate", "scipy.interpolate")


def modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_pulls_in_no_optional_or_slow_module():
    loaded = modules_after("import precall\n[getattr(precall, name) for name in precall.__all__]")
    assert "precall.ranking" in loaded
    assert not loaded & set(OPTIONAL)
    assert not loaded & set(SLOW)


def test_a_first_answer_needs_numpy_and_scipy_only():
    loaded = modules_after(
        "import precall as pr\n"
        "r = pr.rank([1, 0, 1, 0], [4, 3, 2, 1])\n"
        "[pr.aucpr(r, estimator=e) for e in pr.ESTIMATORS]\n"
        "pr.aucnpr(r); pr.auroc(r); pr.pr_curve(r)"
    )
    assert not loaded & set(OPTIONAL)
    assert "scipy.stats" not in loaded


def test_every_public_name_exists_and_is_documented():
    assert pr.__all__ == sorted(pr.__all__)
    for name in pr.__all__:
        value = getattr(pr, name)
        if callable(value):
            assert value.__doc__, name


def test_evaluating_a_text_file_imports_no_slow_module(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("y,s\n" + "".join(f"{i % 3 == 0:d},{i * 7 % 41}\n" for i in range(60)))
    arguments = ["evaluate", str(path), "--label", "y", "--score", "s", "--json"]
    loaded = modules_after(
        "import contextlib, io\n"
        "from precall.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        f"    assert main({arguments!r}) == 0"
    )
    assert "scipy.special" in loaded
    assert not loaded & {"pandas", "pyarrow.dataset", "scipy.optimize", "matplotlib", "plotly"}
    assert not loaded & {"numpy.f2py", "numpy.testing"}
    assert not loaded & {"precall.groups", "precall.inference.bands", "precall.monitoring"}


def test_a_command_reads_its_file_before_what_evaluates_is_imported():
    loaded = modules_after("import precall.cli.app, precall.cli.evaluate")
    assert "precall.readers.columns" in loaded
    assert not loaded & {"precall.ranking", "precall.evaluation.build", "precall.metrics"}
    assert not loaded & {"scipy", "pyarrow", "concurrent.futures", "hashlib"}
    assert "numpy" not in modules_after("from precall.cli import main\nmain(['--version'])")


def test_loading_imports_beside_the_body_and_leaves_the_turns_of_threads_as_they_were():
    loaded = modules_after(
        "import sys\n"
        "from precall.cli import loading\n"
        "usual = sys.getswitchinterval()\n"
        "with loading.beside('precall.evaluation.build', first='precall.rows'):\n"
        "    assert sys.getswitchinterval() < usual\n"
        "assert sys.getswitchinterval() == usual"
    )
    assert {"precall.rows", "precall.evaluation.build", "scipy.special"} <= loaded


def test_loading_has_a_core_for_itself_and_gives_it_back():
    """Also where an import fails, so that what is read and ranked later has all cores."""
    code = (
        "import pyarrow as pa, sys, threading\n"
        "from precall import _threads\n"
        "from precall.cli import loading\n"
        "threading.excepthook = lambda _: None\n"
        "cores = pa.cpu_count(), _threads.available_cores()\n"
        "fewer = tuple(max(each - 1, 1) for each in cores)\n"
        "seen, hold = [], threading.Event()\n"
        "load = loading.special_functions\n"
        "loading.special_functions = lambda: (hold.wait(), load())\n"
        "for module in ('json', 'precall.no_such_module'):\n"
        "    with loading.beside(module):\n"
        "        seen.append((pa.cpu_count(), _threads.available_cores()))\n"
        "        hold.set()\n"
        "    assert (pa.cpu_count(), _threads.available_cores()) == cores\n"
        "    hold.clear()\n"
        "assert seen == [fewer, fewer], (seen, fewer)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_garbage_is_searched_for_less_often_in_a_process_of_our_own_only():
    start = "import gc, sys\nfrom precall.cli import main\nusual = gc.get_threshold()\n"
    for code in (
        "main(['--version'])\nassert gc.get_threshold() == usual",
        "sys.argv[1:] = ['--version']\nmain()\nassert gc.get_threshold()[0] > usual[0]",
    ):
        subprocess.run([sys.executable, "-c", start + code], check=True)


def test_loading_special_functions_leaves_numpy_as_it_was():
    """With every function of SciPy and every name of NumPy there afterwards."""
    code = (
        "import numpy as np\n"
        "before = np.__all__, np.__dir__, dir(np)\n"
        "from precall.cli import loading\n"
        "loading.special_functions()\n"
        "loading.special_functions()\n"
        "assert np.__all__ is before[0] and np.__dir__ is before[1]\n"
        "assert set(dir(np)) >= set(before[2])\n"
        "import scipy.special, scipy.stats, scipy.sparse, scipy.optimize\n"
        "assert scipy.special.betainc(1.0, 1.0, 0.25) == 0.25\n"
        "assert abs(scipy.stats.norm.cdf(0.0) - 0.5) < 1e-12\n"
        "assert np.testing.assert_allclose and np.f2py.get_include"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_has_one_home_and_loads_from_there():
    homes = [name for names in pr._HOMES.values() for name in names]
    assert len(homes) == len(set(homes))
    assert {*homes, "__version__", "metrics"} == set(pr.__all__)
    for home, names in pr._HOMES.items():
        module = importlib.import_module(home, "precall")
        for name in names:
            assert getattr(pr, name) is getattr(module, name)
            assert not isinstance(getattr(pr, name), types.ModuleType)


def test_importing_the_package_loads_no_array_library():
    assert not {"numpy", "scipy", "precall.ranking"} & modules_after("import precall")
    assert "scipy" not in modules_after("import precall; precall.rank([1, 0], [2, 1])")
