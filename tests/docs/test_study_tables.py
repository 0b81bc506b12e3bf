"""Tables on the pages that quote a study are those of the committed study."""

from __future__ import annotations

from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def tables(page: str) -> list[list[dict[str, str]]]:
    """Markdown tables as lists of rows; the first cell is called name, and has no marks."""
    found: list[list[dict[str, str]]] = []
    header: list[str] = []
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            header = []
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not header:
            header = ["name", *cells[1:]]
            found.append([])
        elif set(line) - set("|-: "):
            cells[0] = cells[0].replace("_", " ").replace(",", "")
            found[-1].append(dict(zip(header, cells, strict=True)))
    return found


@pytest.mark.parametrize(
    ("page", "study", "n_rows"),
    [
        ("explanation/which-estimator", "bias", 6),
        ("explanation/which-interval", "intervals", 25),
        ("how-to/gate-a-model", "gate", 25),
        ("how-to/slices", "slices", 15),
    ],
)
def test_numbers_on_the_page_are_those_of_the_study(page, study, n_rows):
    measured = [
        {column: cell.split(" ±")[0] for column, cell in row.items()}
        for table in tables(f"studies/{study}.md")
        for row in table
    ]
    names = {row["name"] for row in measured}
    shown = [
        row
        for table in tables(f"{page}.md")
        if any(row["name"] in names for row in table)  # others are words: which one to use
        for row in table
    ]
    assert len(shown) >= n_rows
    for row in shown:
        values = {column: cell.split(" ±")[0] for column, cell in row.items()}
        assert any(values.items() <= study_row.items() for study_row in measured), row
