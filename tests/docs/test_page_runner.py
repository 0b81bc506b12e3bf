"""A page that lies is found out, at the right line; a page that draws hands over its picture."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_runner import blocks, run_page

from scripts.refresh_pages import refreshed


def page(*parts: str) -> str:
    """Fences are written as ~~~ here, so that this file has none of its own."""
    return "# Page\n\nWords.\n\n" + "\n\n".join(parts).replace("~~~", "```") + "\n"


def problems(text: str) -> list[tuple[int, str]]:
    return [(o.line, o.problem) for o in run_page(text, "page.md") if o.problem]


def test_blocks_share_a_namespace_and_an_empty_folder():
    text = page(
        "~~~python\nfrom pathlib import Path\nx = list(Path().iterdir())\nx\n~~~",
        "~~~text\n[]\n~~~",
        "~~~python\nlen(x)\n~~~",
        "~~~text\n0\n~~~",
    )
    assert problems(text) == []
    assert run_page(text, "page.md")[0].block.line == 6
    assert Path.cwd().exists()


def test_output_is_compared_whatever_the_spaces():
    text = page("~~~python\nprint('a  1')\n'last'\n~~~", "~~~text\na 1\n  'last'\n~~~")
    assert problems(text) == []


def test_an_output_that_lies_is_reported_at_its_block():
    [(line, problem)] = problems(
        page("~~~python\n1 + 1\n~~~", "~~~text\n3\n~~~", "~~~python\n2\n~~~")
    )
    assert line == 6
    assert "shows\n3" in problem
    assert "prints\n2" in problem


def test_a_silent_block_that_is_said_to_print_lies():
    assert problems(page("~~~python\nx = 1\n~~~", "~~~text\n1\n~~~"))


@pytest.mark.parametrize(
    ("code", "line", "words"),
    [
        ("x = 1\n\nx / 0", 8, "ZeroDivisionError"),
        ("def f():\n    return missing\n\n\nf()", 7, "NameError"),
        ("x = 1\nx = = 2", 7, "SyntaxError"),
        ("import warnings\n\nwarnings.warn('careful')", 8, "UserWarning: careful"),
    ],
)
def test_a_block_that_raises_or_warns_is_reported_where_it_does(code, line, words):
    text = page(f"~~~python\n{code}\n~~~", "~~~python\n1 / 0\n~~~")
    [(reported, problem)] = problems(text)  # what comes after is not run
    assert reported == line
    assert words in problem


@pytest.mark.parametrize(
    "line",
    [
        "0.6291  # 0.629  average precision",
        "0.6291  # 0.63",
        "[0.2, 0.748]  # [0.2, 0.75]  an interval at 95 %",
        "'no number'  # of the 78 positives",
        "1e-6  # 0  to the digits shown",
        "print(3)  # prints 4",
    ],
)
def test_a_comment_may_say_the_value(line):
    assert problems(page(f"~~~python\n{line}\nNone\n~~~")) == []


@pytest.mark.parametrize(
    "line", ["0.6291  # 0.628  average precision", "0.6291  # 0.62", "[0.2, 0.7]  # [0.2, 0.75]"]
)
def test_a_comment_with_another_value_lies(line):
    [(reported, problem)] = problems(page(f"~~~python\nx = 1\n{line}\n~~~"))
    assert reported == 7
    assert "comment says" in problem


def test_blocks_marked_so_are_not_run():
    assert blocks(page("~~~python no-run\n1 / 0\n~~~", "~~~console\n$ true\n~~~")) == []


def test_figures_left_open_belong_to_their_block():
    text = page(
        "~~~python\nimport matplotlib.pyplot as plt\n\nplt.plot([1, 2])\nplt.gca()\n~~~",
        "~~~python\nplt.figure()\nplt.close('all')\n~~~",
        "~~~python\nplt.subplots()\nplt.subplots()[1]\n~~~",
    )
    outcomes = run_page(text, "page.md")
    assert [len(outcome.figures) for outcome in outcomes] == [1, 0, 2]
    assert [outcome.printed for outcome in outcomes] == ["", "", ""]


def test_refreshing_writes_what_is_printed_and_nothing_else():
    old = page("~~~python\n1 + 1\n~~~", "~~~text\n3\n~~~", "~~~python\n5\n~~~", "~~~text\n~~~")
    new = page("~~~python\n1 + 1\n~~~", "~~~text\n2\n~~~", "~~~python\n5\n~~~", "~~~text\n5\n~~~")
    assert refreshed(old, "page.md") == new
    with pytest.raises(SystemExit, match="line 6: the block raises ZeroDivisionError"):
        refreshed(page("~~~python\n1 / 0\n~~~"), "page.md")
