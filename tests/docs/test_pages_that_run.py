"""Building the documentation runs its pages: a page that lies fails, what a page draws is shown."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx")
pytest.importorskip("myst_parser")

EXTENSIONS = Path(__file__).parents[2] / "docs" / "_extensions"
CONFIGURATION = f"""
import sys
sys.path.insert(0, {str(EXTENSIONS)!r})
extensions = ["myst_parser", "pages_that_run"]
html_theme = "basic"
"""
DRAWS = """# Pictures

## A line

~~~python
import matplotlib.pyplot as plt

# A straight line
plt.plot([1, 2])
~~~

## Two

~~~python
plt.figure().add_subplot().set_title("first")
plt.figure()
print("two", "figures")
~~~

~~~python no-run
print("not run")
~~~

~~~python
print("one line shown")
~~~

~~~text
one line shown
~~~
"""


def build(folder: Path, **pages: str) -> subprocess.CompletedProcess[str]:
    (folder / "conf.py").write_text(CONFIGURATION)
    contents = "# All\n\n~~~{toctree}\n" + "\n".join(pages) + "\n~~~\n"
    for name, text in {"index": contents, **pages}.items():
        (folder / f"{name}.md").write_text(text.replace("~~~", "```"), encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", folder, folder / "html"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_what_a_page_draws_and_prints_is_on_it(tmp_path):
    built = build(tmp_path, draws=DRAWS)
    assert built.returncode == 0, built.stderr
    html = (tmp_path / "html" / "draws.html").read_text(encoding="utf-8")
    images = re.findall(r'<img alt="([^"]*)" class="drawn" src="([^"]*)"', html)
    assert [alt for alt, _ in images] == ["A straight line", "Picture: Two", "Picture: Two"]
    for _, source in images:
        assert "<svg" in (tmp_path / "html" / source).read_text(encoding="utf-8")
    text = re.sub(r"<[^>]*>", "", html)
    assert text.count("two figures") == 1
    assert html.count('class="highlight-text') == 2
    assert text.count("one line shown") == 2  # in the code, and once below it
    assert text.count("not run") == 1
    # Each picture comes after its block and before the next.
    first, second, third = (match.start() for match in re.finditer('class="drawn"', html))
    assert first < html.index("two") < second < third < html.index("not run")


def test_a_page_that_lies_fails_the_build_and_is_named(tmp_path):
    raises = "# Raises\n\n~~~python\nx = 1\nx.missing\n~~~\n"
    lies = "# Lies\n\n~~~python\n1 + 1\n~~~\n\n~~~text\n3\n~~~\n"
    built = build(tmp_path, draws=DRAWS, raises=raises, lies=lies)
    assert built.returncode != 0
    assert f"{tmp_path / 'raises.md'}:5: WARNING: the block raises AttributeError" in built.stderr
    assert f"{tmp_path / 'lies.md'}:4: WARNING: the page shows" in built.stderr
    assert "draws.md" not in built.stderr


def test_pages_run_again_although_they_have_not_changed(tmp_path):
    number = tmp_path / "number.txt"
    number.write_text("1")
    page = f"# Reads\n\n~~~python\nprint(open({str(number)!r}).read())\n~~~\n\n~~~text\n1\n~~~\n"
    assert build(tmp_path, reads=page).returncode == 0
    number.write_text("2")
    assert "the page shows" in build(tmp_path, reads=page).stderr
