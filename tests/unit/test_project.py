"""What the files around the package say is true of the package."""

import ast
import re
import tomllib
from collections import Counter
from importlib import resources
from pathlib import Path

import pytest

import precall
from precall import _optional
from scripts import minimum_versions

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_one_version_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {precall.__version__}\n" in citation


def test_the_core_needs_numpy_and_scipy_only():
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in PROJECT["dependencies"]}
    assert names == {"numpy", "scipy"}


def test_all_means_every_extra_for_users():
    extras = PROJECT["optional-dependencies"]
    [everything] = extras["all"]
    named = set(re.search(r"\[(.*)\]", everything)[1].split(","))
    assert named == set(extras) - {"all", "bench", "dev", "docs", "peers"}


def test_what_is_recommended_first_brings_these_packages_only():
    """The README says what they take on disk: a package more makes that untrue."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    recommended = re.findall(r'pip install --no-compile "\.\[([a-z,]+)\]"', readme)
    assert set(recommended) == {"cli,report"}
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *extras["cli"], *extras["report"]]
    names = sorted({re.match(r"[a-z0-9-]+", one)[0] for one in wanted})
    drawing, reading = ["jinja2", "plotly"], ["pyarrow", "python-calamine"]
    assert names == sorted([*drawing, *reading, "click", "numpy", "rich", "scipy"])


def test_the_package_is_typed():
    assert (resources.files("precall") / "py.typed").is_file()


def test_every_lower_bound_can_be_tested():
    listed = minimum_versions.minimum_versions(PROJECT)
    found = dict(line.split("==") for line in listed)
    assert found["numpy"] == "2.0"
    assert {"click", "dask", "matplotlib", "plotly", "pyarrow", "scipy"} <= set(found)
    with pytest.raises(SystemExit, match="no lower bound"):
        list(
            minimum_versions.minimum_versions(
                {"dependencies": ["numpy"], "optional-dependencies": {}}
            )
        )


def test_the_studies_are_in_the_source_distribution_and_not_in_the_wheel():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    assert build["build"]["targets"]["wheel"]["packages"] == ["src/precall"]
    assert {"/benchmarks", "/studies"} <= set(build["build"]["targets"]["sdist"]["include"])
    assert (ROOT / "studies" / "__main__.py").is_file()
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*(from|import) studies\b", text, re.MULTILINE), path


def tracked_files():
    """Every file of the project, without what is built, cached or installed."""
    passed_over = re.compile(
        r"\.git$|\.venv|\.\w+_cache$|\.hypothesis$|__pycache__$|_build$|^(build|dist)$"
    )
    folders = [ROOT]
    while folders:
        for path in folders.pop().iterdir():
            if passed_over.search(path.name):
                continue
            if path.is_dir():
                folders.append(path)
            else:
                yield path


def test_the_old_name_is_gone():
    """It belongs to another project; only the changelog may say, once, that we had it."""
    old = "saw" + "tooth"
    found = {}
    for path in tracked_files():
        text = f"{path.relative_to(ROOT)} {path.read_text(encoding='utf-8', errors='replace')}"
        if count := text.lower().count(old):
            found[str(path.relative_to(ROOT))] = count
    assert found.pop("CHANGELOG.md") == 1
    assert found == {}


def test_no_message_installs_a_name_from_an_index():
    """Until there is a release, `pip install precall` would install somebody else's package."""
    advice = re.compile(r"pip install [\"']?precall")
    for folder in ("src", "docs"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".md", ".html"}:
                assert not advice.search(path.read_text(encoding="utf-8")), path
    assert not advice.search((ROOT / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "extra", ["arrow", "cli", "dask", "plot", "privacy", "report", "sklearn", "spark", "sql"]
)
def test_the_remedy_for_a_missing_package_names_an_extra_that_exists(extra):
    assert extra in PROJECT["optional-dependencies"]
    assert f'pip install ".[{extra}]"' in str(_optional.missing("this", "that", extra))


def test_one_name_for_one_thing():
    """No two classes and no two files share a name; a command's file is named after the command."""
    package = ROOT / "src" / "precall"
    files = Counter(
        path.name
        for path in package.rglob("*.py")
        if path.name not in {"__init__.py", "__main__.py"}
        and path.parent.name != "cli"
        and path != package / "results.py"  # which only hands on what others define
    )
    classes = Counter(
        node.name
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    shared = {name for names in (files, classes) for name, count in names.items() if count > 1}
    assert shared == set(), sorted(shared)


#: Old-fashioned words, and what to say instead.
BANNED = {
    "beware": "warning",
    "law": "distribution",
    "laws": "distributions",
    "mend": "fix",
    "mended": "fixed",
    "told": "said or shown",
    "whence": "where it comes from",
}
# A part of a name counts: class_laws and SmoothLaw as well as law, but not flaw.
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
#: The page that lists old names beside new ones.
STILL_OLD = re.compile(r"docs/migration\.md")


def old_words(text):
    return sorted({part.lower() for part in _PARTS.findall(text)} & BANNED.keys())


def test_old_words_are_found_in_names_too():
    assert old_words("class_laws, SmoothLaw, LAWS and Beware; flaws, lawful, Laws2") == [
        "beware",
        "law",
        "laws",
    ]


@pytest.mark.parametrize("place", ["src", "docs", "studies", "README.md", "CONTRIBUTING.md"])
def test_the_common_word_is_used(place):
    found = []
    start = ROOT / place
    for path in [start] if start.is_file() else sorted(start.rglob("*")):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix in {".py", ".md", ".js", ".j2", ".css", ".html"} and "_build" not in name:
            lines = path.read_text(encoding="utf-8").splitlines()
            found += [
                f"{name}:{number}: not {word!r} but {BANNED[word]}"
                for number, line in enumerate(lines, start=1)
                for word in old_words(line)
                if not STILL_OLD.match(name)
            ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "name",
    [
        "CODE_OF_CONDUCT.md",
        "SECURITY.md",
        "RELEASING.md",
        ".readthedocs.yaml",
        "recipe/recipe.yaml",
    ],
)
def test_files_that_others_look_for_are_there_and_point_to_files_that_are(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert (ROOT / name).parent.joinpath(target).is_file(), target


def test_the_oldest_releases_are_listed():
    page = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8").lower()
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    used = everything.partition("[")[2].rstrip("]").split(",")
    for requirement in [*PROJECT["dependencies"], *(one for name in used for one in extras[name])]:
        name, _, release = requirement.partition(">=")
        assert f"{name.partition('[')[0]} {release}" in page, requirement


def test_the_recipe_asks_for_what_the_project_asks_for():
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    extras = [
        line
        for group in ("cli", "plot", "report")
        for line in PROJECT["optional-dependencies"][group]
    ]
    for requirement in [*PROJECT["dependencies"], *extras]:
        name, bound = re.match(r"([\w-]+)(>=[\d.]+)", requirement).groups()
        assert f"- {name} {bound}\n" in recipe, requirement
    assert f"python {PROJECT['requires-python']}" in recipe
    assert f'  version: "{precall.__version__}"\n' in recipe


def test_continuous_integration_runs_every_python_that_is_named():
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    named = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert named == re.findall(r'"(3\.\d+)"', workflow.split("python: [")[1].split("]")[0])
    assert {"macos-latest", "windows-latest"} <= set(re.findall(r"[\w]+-latest", workflow))
