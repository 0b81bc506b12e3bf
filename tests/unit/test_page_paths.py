"""Where a page may be written, from Python."""

import pytest

import precall as pr
from precall.exceptions import InputError


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("page.pdf", r"path must end in \.html or \.htm, got"),
        ("page", r"path must end in \.html or \.htm, got"),
        ("nowhere/page.html", "in a folder that is not there: make it first"),
    ],
)
def test_a_page_goes_where_pages_go(tmp_path, name, words):
    evaluation = pr.evaluate([1, 0, 1, 0] * 10, range(40))
    sample = pr.audit.Sample([0.1, 0.9, 0.4], [0, 1, 0], inclusion=[1, 1, 1])
    for result in (evaluation, sample):
        with pytest.raises(InputError, match=words):
            result.report(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_labels_that_are_the_wrong_way_round_are_recognised():
    example = pr.load_example()
    found = pr.evaluate(example.label == 0, example.scores["scorecard"]).findings
    assert any("name it as the positive label" in finding.text for finding in found)
    found = pr.evaluate(example.label, -example.scores["scorecard"]).findings
    assert any("change the sign" in finding.text for finding in found)
    assert not any("the positive label" in finding.text for finding in found)
