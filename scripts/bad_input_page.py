"""Write the tables of docs/explanation/bad-input.md anew, from the cases that the tests run.

Usage: python scripts/bad_input_page.py
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.bad_input import page_tables  # noqa: E402

PAGE = ROOT / "docs" / "explanation" / "bad-input.md"
START, END = "<!-- cases: made by scripts/bad_input_page.py -->", "<!-- end of cases -->"


def refreshed(page: str) -> str:
    """Return the page with its tables made anew."""
    before, _, rest = page.partition(START)
    after = rest.partition(END)[2]
    return f"{before}{START}\n\n{page_tables()}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(refreshed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
