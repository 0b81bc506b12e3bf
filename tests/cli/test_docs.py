"""Every command on the how-to page runs and prints what the page shows."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

import precall as pr

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
PAGE = HOW_TO / "command-line.md"
# A page whose commands need what those before them wrote, and rows that its Python makes.
IN_ORDER = HOW_TO / "several-sites.md"
BLOCK = re.compile(r"^```console\n(.*?)^```", re.M | re.S)


def examples(page: Path = PAGE) -> list[tuple[str, str]]:
    """Commands with what they print; blocks marked no-run need what is not here."""
    text = page.read_text(encoding="utf-8")
    blocks = [match[1].split("\n", 1) for match in BLOCK.finditer(text)]
    return [(command.removeprefix("$ "), printed) for command, printed in blocks]


def test_there_are_examples():
    assert len(examples()) >= 6
    assert all(command.startswith("precall ") for command, _ in examples())


@pytest.mark.parametrize(("command", "printed"), examples(), ids=lambda text: text[:40])
def test_command_prints_what_the_page_shows(run, tmp_path, monkeypatch, command, printed):
    monkeypatch.chdir(tmp_path)
    shutil.copy(pr.example_path(), tmp_path / "payments.csv")
    assert_prints(run, command, printed)


def assert_prints(run, command: str, printed: str) -> None:
    result = run(*shlex.split(command)[1:])
    # A line is as long as the numbers below it are wide, and those may be left out on the page.
    shown, printed = (re.sub("─+", "─", text) for text in (result.out + result.err, printed))
    shown = " ".join(shown.split())
    pattern = ".*".join(re.escape(" ".join(part.split())) for part in printed.split("..."))
    assert re.fullmatch(pattern.replace(r"\ .*", ".*").replace(r".*\ ", ".*"), shown, re.S), shown


def test_commands_of_several_sites_follow_from_one_another(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = re.search(r"^```python\n(.*?)^```", IN_ORDER.read_text(encoding="utf-8"), re.M | re.S)
    exec(rows[1], {})
    commands = examples(IN_ORDER)
    assert [command.split()[2] for command, _ in commands] == ["plan", *["release"] * 3, "combine"]
    for command, printed in commands:
        assert_prints(run, command, printed)
