"""The library speaks of arguments; only the command line speaks of options."""

import ast
import re
from pathlib import Path

import pytest

import precall
from precall.cli.option_words import in_options

PACKAGE = Path(precall.__file__).parent
MODULES = sorted([*PACKAGE.glob("readers/*.py"), *PACKAGE.glob("engines/*.py")])


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_message_of_the_library_names_an_option(path):
    texts = [
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert not [text for text in texts if re.search(r"(^|\s)--[a-z]", text)]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("say which is positive, for example pos_label='yes'.", "for example --pos-label 'yes'."),
        ("say which one is positive with pos_label=.", "positive with --pos-label."),
        ("leave them out with missing='drop'.", "out with --missing drop."),
        ("score='it\\'s' must hold real numbers", "score column 'it\\'s' must hold real numbers"),
    ],
)
def test_the_command_line_says_the_same_with_options(message, said):
    assert said in in_options(message)
