"""The report in a real browser: it works, it shows the library's numbers, and nothing gets out.

Pictures of the pages are left in build/screenshots.
"""

import math
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import precall as pr
from precall.display.report import Origin, write_report
from precall.display.sample_page import write_sample_report
from precall.evaluation import Evaluation, evaluate, wording
from precall.points.matrix import confusion

playwright = pytest.importorskip("playwright.sync_api")

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-first-run",
)
HOSTILE = '</script><img src=x onerror="window.hacked=1">\n"a" \'b\' %{x} <b>c</b>' + "x" * 500


@dataclass
class Opened:
    """A page with everything it complained about and everything it asked for."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def text(self, selector: str) -> str:
        return " ".join(self.page.inner_text(selector).split())

    def traces(self, chart: str = "pr-chart") -> list[dict[str, Any]]:
        """What the chart draws."""
        script = (
            "id => document.getElementById(id).data.map("
            "t => ({name: t.name, meta: t.meta, x: Array.from(t.x), y: Array.from(t.y)}))"
        )
        return self.page.evaluate(script, chart)

    def curves(self) -> list[dict[str, Any]]:
        return [trace for trace in self.traces() if trace["meta"] == "curve"]

    def move(self, selector: str, value: int) -> None:
        """Put a slider at a value, as a hand does."""
        script = (
            "([selector, value]) => { const slider = document.querySelector(selector);"
            " slider.value = value; slider.dispatchEvent(new Event('input', {bubbles: true})); }"
        )
        self.page.evaluate(script, [selector, value])

    def take_picture(self, name: str, *, whole: bool = True) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=whole)


@pytest.fixture(scope="module")
def browser(chromium_path: Path) -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=chromium_path, args=list(ARGUMENTS))
        yield chromium
        chromium.close()


def open_page(browser: Any, path: Path, *, charts: bool = True, **options: Any) -> Opened:
    width = options.pop("width", 1200)
    page = browser.new_page(viewport={"width": width, "height": 900}, **options)
    view = Opened(page)
    page.on("console", lambda message: view.complaints.append(message.text))
    page.on("pageerror", lambda error: view.complaints.append(str(error)))
    page.on("request", lambda request: view.requests.append(request.url))
    page.goto(path.as_uri())
    if charts:
        page.wait_for_selector("html[data-ready=true]", timeout=60_000)
    return view


def close_page(view: Opened) -> None:
    """No page may have complained about anything or asked anything of the network."""
    outside = [url for url in view.requests if not url.startswith(("file:", "data:", "blob:"))]
    view.page.close()
    assert view.complaints == []
    assert outside == []


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Opened]]:
    """Open pages of one's own."""
    opened: list[Opened] = []

    def go(path: Path, **options: Any) -> Opened:
        opened.append(open_page(browser, path, **options))
        return opened[-1]

    yield go
    for view in opened:
        close_page(view)


@dataclass(frozen=True)
class Made:
    path: Path
    evaluation: Evaluation
    rankings: list[pr.Ranking]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Made:
    data = pr.load_example()
    evaluation = evaluate(data.label, data.scores, groups=data.group, curves=True)
    path = write_report(
        evaluation,
        tmp_path_factory.mktemp("report") / "example.html",
        origin=Origin(source="payments.csv", command=("precall", "report")),
    )
    return Made(path, evaluation, [pr.rank(data.label, score) for score in data.scores.values()])


@pytest.fixture(scope="module")
def opened_example(browser: Any, example: Made) -> Iterator[Opened]:
    view = open_page(browser, example.path)
    yield view
    close_page(view)


@pytest.fixture
def view(opened_example: Opened) -> Opened:
    """The example's page, opened once for all tests and put back as it was by its own controls."""
    page = opened_example.page
    if page.is_enabled("#prevalence-reset"):
        page.click("#prevalence-reset")
    for box in page.query_selector_all(".show-model, #show-bands"):
        box.check()
    for box in page.query_selector_all("#show-contours, #log-recall"):
        box.uncheck()
    page.select_option("#explore-model", "1")
    page.select_option("#explore-model", "0")
    return opened_example


def test_the_page_opens_in_light_and_dark_and_stays_small(visit, example):
    assert example.path.stat().st_size < 6_000_000
    backgrounds = {}
    for scheme in ("light", "dark"):
        view = visit(example.path, color_scheme=scheme)
        view.take_picture(f"example-{scheme}")
        backgrounds[scheme] = view.page.evaluate(
            "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
        )
        for chart in ("pr", "roc", "hit", "gain", "forest", "difference"):
            assert view.page.locator(f"#{chart}-chart svg.main-svg").count() > 0
    assert min(backgrounds["light"]) > 200
    assert max(backgrounds["dark"]) < 60


def test_the_answer_comes_first_and_the_order_is_kept(view, example):
    sections = view.page.eval_on_selector_all("main > section", "all => all.map(s => s.id)")
    assert sections == [
        "answer",
        "findings",
        "strip",
        "curve",
        "others",
        "comparison",
        "groups",
        "trust",
        "how",
    ]
    assert view.text("#answer") == " ".join(example.evaluation.answer)
    shown = view.page.eval_on_selector_all(
        "#findings li > span:last-child", "all => all.map(s => s.textContent)"
    )
    # A space that does not break keeps a number with its percent sign.
    assert [" ".join(text.split()) for text in shown] == [
        finding.text for finding in example.evaluation.findings
    ]


def test_columns_are_named_where_the_data_are_described(visit, tmp_path):
    data = pr.load_example()
    origin = Origin(source="a.csv", columns=(("label", "fraud"), ("clusters", HOSTILE)))
    view = visit(
        write_report(evaluate(data.label, data.scores), tmp_path / "a.html", origin=origin)
    )
    described = view.text("header .models")
    assert described.startswith("label fraud clusters </script><img src=x onerror=")
    assert described.endswith("scores gradient_boosting scorecard")
    assert view.page.evaluate("document.documentElement.scrollWidth") <= 1200


def test_the_headline_numbers_are_the_library_s(view, example):
    shown = view.page.eval_on_selector_all(
        "#strip .measure:nth-of-type(1) .value", "all => all.map(s => s.textContent)"
    )
    expected = []
    for ranking in example.rankings:
        interval = pr.interval(ranking)
        expected.append(wording.interval(interval.estimate, interval.low, interval.high))
    assert shown == expected


def test_the_drawn_curve_is_the_curve(view, example):
    """Every threshold is a vertex, nothing is unachievable, and the area is that of the curve."""
    drawn = view.curves()
    for trace, ranking in zip(drawn, example.rankings, strict=True):
        curve = pr.pr_curve(ranking)
        x, y = np.array(trace["x"]), np.array(trace["y"], dtype=float)
        assert np.all(np.diff(x) >= 0)
        assert y.min() >= 0
        assert pr.is_achievable(x, y, ranking.prevalence).all()
        # Arrival points, where the curve has its highest value at that recall.
        recall, precision = ranking.tp / ranking.n_pos, ranking.tp / (ranking.tp + ranking.fp)
        assert rounded(recall, precision) <= rounded(x, y)
        # Straight lines between drawn points stay within the tolerance of drawing.
        assert np.trapezoid(y, x) == pytest.approx(curve.area(), abs=5e-4)


def rounded(x: Any, y: Any) -> set[tuple[float, float]]:
    return {(round(a, 6), round(b, 6)) for a, b in zip(x, y, strict=True)}


def exact_limits(k: float, n: float, level: float) -> tuple[float, float]:
    from scipy.stats import binomtest

    interval = binomtest(round(k), round(n)).proportion_ci(level, method="exact")
    return interval.low, interval.high


@pytest.mark.parametrize("model", [0, 1])
def test_the_threshold_explorer_counts_right(view, example, model):
    view.page.select_option("#explore-model", str(model))
    ranking = example.rankings[model]
    table = example.evaluation.models[model].thresholds
    before = view.text("#explorer")
    for row in (0, len(table) // 3, len(table) - 1):
        view.move("#threshold-slider", row)
        at = confusion(ranking, table.threshold[row].item())
        for cell in ("tp", "fp", "fn", "tn"):
            assert view.text(f"#{cell}") == wording.count(getattr(at, cell))
        low, high = exact_limits(at.tp, at.tp + at.fp, 0.95)
        assert view.text("#precision") == wording.interval(at.precision, low, high)
        low, high = exact_limits(at.tp, ranking.n_pos, 0.95)
        assert view.text("#recall") == wording.interval(at.recall, low, high)
        chosen = next(trace for trace in view.traces() if trace["meta"] == "chosen")
        assert chosen["x"][0] == pytest.approx(at.recall)
        assert chosen["y"][0] == pytest.approx(at.precision)
    assert view.text("#explorer") != before


def type_prevalence(view: Opened, text: str) -> None:
    view.page.fill("#prevalence", text)
    view.page.press("#prevalence", "Enter")


def type_threshold(view: Opened, text: str) -> None:
    view.page.fill("#threshold", text)
    view.page.press("#threshold", "Enter")


def shown_range(text: str) -> tuple[float, float]:
    """A number, or the two ends of a range."""
    ends = [float(end.replace(",", "")) for end in text.split(" to ")]
    return ends[0], ends[-1]


@pytest.mark.parametrize("typed", ["0.5", "0.31", "0.9", "0.001", "-3", "7"])
def test_a_typed_threshold_is_answered_at_that_threshold(view, typed):
    """Positives are counted exactly; negatives are enclosed, and the page says so."""
    data = pr.load_example()
    selected = data.scores["gradient_boosting"] >= float(typed)
    positive = data.label == 1
    tp, fp = np.sum(selected & positive), np.sum(selected & ~positive)
    type_threshold(view, typed)
    assert view.page.input_value("#threshold") == typed
    assert view.text("#tp") == str(tp)
    assert view.text("#fn") == str(positive.sum() - tp)
    low, high = shown_range(view.text("#fp"))
    assert low <= fp <= high
    true_negatives = shown_range(view.text("#tn"))
    assert true_negatives[0] <= np.sum(~positive) - fp <= true_negatives[1]
    if low < high:
        assert "they lie within these limits" in view.text("#confusion-note")
        near = view.page.locator("#threshold-near button")
        assert near.count() > 0
        near.first.click()
        assert view.text("#confusion-note").startswith("Counted in the data.")
        assert " to " not in view.text("#fp")


def test_the_answer_to_a_typed_threshold_has_the_limits_of_both_ends(view, example):
    ranking = example.rankings[0]
    type_threshold(view, "0.31")
    row = int(np.count_nonzero(ranking.threshold >= 0.31))
    tp, low = int(ranking.tp[row - 1]), int(ranking.fp[row - 1])
    high = int(ranking.fp[row] - ranking.tied[row])
    assert low < high
    assert view.text("#fp") == f"{low} to {high}"
    limits = exact_limits(tp, tp + high, 0.95)[0], exact_limits(tp, tp + low, 0.95)[1]
    ends = tp / (tp + high), tp / (tp + low)
    decimals = wording.decimals_for(0.5 * (limits[1] - limits[0]))
    shown = [wording.number(value, decimals) for value in (*ends, *limits)]
    assert view.text("#precision") == "{} to {} ({}–{})".format(*shown)
    drawn = next(trace for trace in view.traces() if trace["meta"] == "chosen")
    assert sorted(drawn["y"]) == pytest.approx(sorted(ends))


def test_a_threshold_that_was_shown_can_be_typed_again(view, example):
    """All its digits are there, so the same rows are selected."""
    table = example.evaluation.models[0].thresholds
    view.move("#threshold-slider", 20)
    shown, counted = view.page.input_value("#threshold"), view.text("#confusion")
    assert float(shown) == table.threshold[20]
    view.move("#threshold-slider", 3)
    type_threshold(view, shown)
    assert view.text("#confusion") == counted
    assert view.text("#confusion-note") == "Counted in the data."


@pytest.mark.parametrize("typed", ["nonsense", "0,5", ""])
def test_what_is_no_number_changes_nothing_and_is_named(view, typed):
    before, counted = view.page.input_value("#threshold"), view.text("#confusion")
    type_threshold(view, typed)
    assert view.page.input_value("#threshold") == before
    assert view.text("#confusion") == counted
    assert f"“{typed}” is not a number." in view.text("#confusion-note")


def test_a_promise_moves_the_threshold_and_says_what_it_promises(view, example):
    points = example.evaluation.models[0].certificates
    options = view.page.eval_on_selector_all("#certificate option", "all => all.map(o => o.text)")
    kept = [wording.percent(point.constraints[0].required) for point in points]
    assert options == ["–", *kept]
    view.page.select_option("#certificate", str(len(points) - 1))
    text = view.text("#certificate-text")
    assert f"at least {kept[-1]} with 95 % confidence" in text
    assert "allowing for the choice among 14 precisions and 2 models" in text
    assert float(view.page.input_value("#threshold")) == points[-1].threshold
    assert view.text("#tp") == wording.count(points[-1].confusion.tp)


@pytest.mark.parametrize("how", ["slider", "typed", "model", "prevalence"])
def test_a_promise_goes_when_the_threshold_moves(view, example, how):
    view.page.select_option("#certificate", "1")
    assert "with 95 % confidence" in view.text("#certificate-text")
    if how == "slider":
        view.move("#threshold-slider", 2)
    elif how == "typed":
        type_threshold(view, "0.123")
    elif how == "model":
        view.page.select_option("#explore-model", "1")
    else:
        type_prevalence(view, "0.3")
    assert "confidence" not in view.text("#certificate-text")
    assert view.page.input_value("#certificate") == ""


def test_weights_are_not_called_counts(visit, tmp_path):
    rng = np.random.default_rng(9)
    y = rng.random(300) < 0.3
    evaluation = evaluate(y, {"a": rng.normal(size=300) + y}, sample_weight=rng.random(300))
    view = visit(write_report(evaluation, tmp_path / "weighted.html"))
    assert view.text("#confusion-note").startswith("Sums of the weights in the data.")
    type_threshold(view, "0.77")
    assert "Counted" not in view.text("#confusion-note")


VALUES = [
    *(0.0, 1.0, 0.5, 0.125, 0.375, 0.998, 0.9996, 0.99999, 0.0004, 0.00049, 3e-7, 0.015, 0.35),
    *(0.1 * 3 + 0.7, 1 - 1e-13, 1 - 1e-9, 0.285, 1.005, 12.5, 0.0625, 2.5, 1234.5, 99.95),
]


def test_the_page_words_numbers_as_the_library_does(view):
    """One rule in two languages, ends and middles of the last digit included."""
    rng = np.random.default_rng(4)
    values = [*VALUES, *rng.random(300).tolist(), *(rng.random(100) ** 8).tolist()]

    def said(call: str, cases: list[Any]) -> list[str]:
        return view.page.evaluate(f"cases => cases.map((c) => wording.{call})", cases)

    for decimals in range(5):
        cases = [*values, *(-value for value in values)]
        expected = [wording.number(value, decimals) for value in cases]
        assert said(f"fixed(c, {decimals})", cases) == expected
    assert said("percent(c)", values) == [wording.percent(value) for value in values]
    assert said("count(c)", [*values[:-100], 12345.0]) == [
        wording.count(value) for value in [*values[:-100], 12345.0]
    ]
    thresholds = [*values, *(-value for value in values), 31.0, 123456.789, 1e-9, 1e17]
    assert said("threshold(c)", thresholds) == [wording.threshold(t) for t in thresholds]
    triples = [sorted(rng.random(3) ** power) for power in (0.02, 0.2, 1, 5) for _ in range(50)]
    triples += [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.5, 0.5, 0.5]]
    assert said("withLimits(c[1], c[0], c[2])", [list(map(float, t)) for t in triples]) == [
        wording.interval(t[1], t[0], t[2]) for t in triples
    ]


def test_the_prevalence_slider_redraws_curve_band_and_numbers(view, example):
    table = example.evaluation.models[0].prevalences
    first = view.curves()[0]
    for index in (2, len(table.prevalence) - 1):
        prevalence = float(table.prevalence[index])
        view.move("#prevalence-slider", math.log(prevalence / (1 - prevalence)))
        assert view.page.input_value("#prevalence") == wording.percent(prevalence)
        shown = view.page.eval_on_selector_all(
            "#elsewhere tbody tr td:nth-child(2)", "all => all.map(s => s.textContent)"
        )
        expected = []
        for ranking in example.rankings:
            interval = pr.interval(ranking, prevalence=prevalence)
            expected.append(wording.interval(interval.estimate, interval.low, interval.high))
        assert shown == expected
        moved = view.curves()[0]
        assert moved["x"] == first["x"]
        assert moved["y"] != first["y"]
        elsewhere = pr.pr_curve(example.rankings[0].at_prevalence(prevalence))
        tp, fp = elsewhere.tp[elsewhere.observed], elsewhere.fp[elsewhere.observed]
        points = rounded(tp / elsewhere.n_pos, tp / (tp + fp))
        assert points <= rounded(moved["x"], moved["y"])
    assert view.page.is_disabled("#certificate")  # promises are for the prevalence of the data
    view.take_picture("example-elsewhere")
    view.page.click("#prevalence-reset")
    assert view.text("#prevalence-note") == "The prevalence of the data."
    again = view.curves()[0]
    assert again["y"] == first["y"]
    assert view.page.is_enabled("#certificate")


@pytest.mark.parametrize("typed", ["0.1", "10 %", " 10% "])
def test_a_typed_prevalence_is_answered(view, example, typed):
    """Between computed prevalences, within a few thousandths of what is computed there."""
    type_prevalence(view, typed)
    assert view.page.input_value("#prevalence") == "10 %"
    assert "between computed prevalences" in view.text("#prevalence-note")
    shown = view.page.eval_on_selector_all(
        "#elsewhere tbody tr td:nth-child(2)", "all => all.map(s => s.textContent)"
    )
    for text, ranking in zip(shown, example.rankings, strict=True):
        exact = pr.interval(ranking, prevalence=0.1)
        numbers = [float(number) for number in re.findall(r"[\d.]+", text)]
        assert numbers == pytest.approx([exact.estimate, exact.low, exact.high], abs=0.0075)
    curve = pr.pr_curve(example.rankings[0].at_prevalence(0.1))
    moved = view.curves()[0]
    tp, fp = curve.tp[curve.observed], curve.fp[curve.observed]
    assert rounded(tp / curve.n_pos, tp / (tp + fp)) <= rounded(moved["x"], moved["y"])


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("much", "is not a share"),
        ("2", "is not a share"),
        ("", "is not"),
        ("1e-9", "Computed from"),
    ],
)
def test_a_prevalence_that_cannot_be_answered_is_refused(view, example, typed, said):
    before = view.page.input_value("#prevalence")
    type_prevalence(view, typed)
    assert said in view.text("#prevalence-note")
    assert view.page.input_value("#prevalence") == before


def test_a_page_about_another_prevalence_opens_there(visit, tmp_path):
    data = pr.load_example()
    evaluation = evaluate(data.label, data.scores, prevalence=0.1, curves=True)
    view = visit(write_report(evaluation, tmp_path / "page.html"))
    assert view.page.input_value("#prevalence") == "10 %"
    assert view.page.is_enabled("#certificate")
    assert "where the prevalence is 10 %" in view.text("#answer")
    shown = view.page.inner_text("#elsewhere tbody tr td:nth-child(2)")
    assert shown == evaluation.models[0].measures["aucpr"].text
    view.page.click("#prevalence-reset")
    assert view.page.is_disabled("#certificate")
    own = pr.interval(pr.rank(data.label, data.scores["gradient_boosting"]), sampling="rows")
    assert view.page.inner_text("#elsewhere tbody tr td:nth-child(2)") == wording.interval(
        own.estimate, own.low, own.high
    )


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight models on rare positives."""
    rng = np.random.default_rng(1)
    y = rng.random(2000) < 0.05
    scores = {f"model_number_{k}": rng.normal(size=2000) + (2.2 - 0.2 * k) * y for k in range(8)}
    evaluation = evaluate(y, scores, curves=True)
    return write_report(evaluation, tmp_path_factory.mktemp("many") / "many.html")


@pytest.mark.parametrize("width", [1280, 390])
def test_eight_models_stay_readable(visit, many, width):
    view = visit(many, width=width)
    page = view.page
    view.take_picture(f"eight-models-{width}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    colours = page.eval_on_selector_all(
        ".models .swatch path.line",
        "all => all.map((s) => [getComputedStyle(s).stroke, s.getAttribute('stroke-dasharray')])",
    )
    assert len({colour for colour, _ in colours}) == 8
    marks = page.eval_on_selector_all(
        ".models .mark-of-model", "all => all.map((s) => s.getAttribute('d'))"
    )
    dashes = [dash for _, dash in colours]
    assert len(set(zip(marks, dashes, strict=True))) == 8  # without colours too
    names = page.eval_on_selector_all(
        ".measure:first-of-type .whose", "all => all.map((s) => s.textContent)"
    )
    assert names == [f"model_number_{k}" for k in range(8)]
    chart = page.evaluate("document.getElementById('pr-chart').data.map((t) => t.name)")
    assert chart.count("band") == 2  # of the best, which is also the one chosen
    page.select_option("#explore-model", "5")
    chart = page.evaluate("document.getElementById('pr-chart').data.map((t) => t.name)")
    assert chart.count("band") == 4
    legend = page.evaluate("document.getElementById('difference-chart').layout.showlegend")
    assert legend is True
    if width == 390:  # a name has a line of its own
        first = page.locator("#comparison td.pair").first.bounding_box()
        assert first["width"] > 300
        # In the chart it stands above its bar, which has the whole width.
        assert page.locator("#forest-chart .ytick").count() == 0
        names = page.locator("#forest-chart .annotation")
        assert names.count() == 7
        inside(page, names, width)
        inside(page, page.locator("#forest-chart .xtitle"), width)
        across = page.evaluate("document.getElementById('forest-chart')._fullLayout._size.w")
        assert across > 250


def inside(page: Any, places: Any, width: int) -> None:
    """Everything there is within the page."""
    boxes = [place.bounding_box() for place in places.all()]
    assert boxes
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)


def test_long_names_are_shortened_where_they_would_be_cut(visit, tmp_path):
    data = pr.load_example()
    names = (f"{letter} model with quite a long name" for letter in "ab")
    scores = dict(zip(names, data.scores.values(), strict=True))
    path = write_report(evaluate(data.label, scores, curves=True), tmp_path / "page.html")
    for width in (1280, 390):
        view = visit(path, width=width)
        legend = view.page.locator("#difference-chart .legendtext")
        inside(view.page, legend, width)
        assert ("…" in legend.first.text_content()) == (width == 390)
        names = view.page.locator("#forest-chart .annotation, #forest-chart .ytick")
        inside(view.page, names, width)


def test_names_that_have_room_are_whole_on_a_telephone(visit, example):
    view = visit(example.path, width=390)
    for name in ("#difference-chart .legendtext", "#forest-chart .annotation"):
        assert view.page.text_content(name) == "gradient_boosting − scorecard"
        inside(view.page, view.page.locator(name), 390)


def test_under_ten_positives_there_are_counts_and_no_limits(visit, tmp_path):
    rng = np.random.default_rng(4)
    y = np.arange(600) < 7
    scores = {name: rng.normal(size=600) + 2 * y for name in ("new", "old")}
    evaluation = evaluate(y, scores, curves=True)
    view = visit(write_report(evaluation, tmp_path / "few.html"))
    page = view.page
    view.take_picture("few-positives")
    assert page.locator("i.interval").count() == 0
    assert page.locator("#show-bands, #forest-chart, #difference-chart").count() == 0
    assert not [trace for trace in view.traces() if trace["name"] == "band"]
    tp, fp = view.text("#tp"), view.text("#fp")
    assert view.text("#precision") == f"{tp} of {int(tp) + int(fp)}"
    assert view.text("#recall") == f"{tp} of 7"
    limits = re.compile(r"\(\d[\d.]*–\d[\d.]*\)")
    assert not limits.search(page.inner_text("body"))
    type_prevalence(view, "0.1")
    assert re.fullmatch(r"0\.\d+", view.text("#precision"))
    assert not limits.search(page.inner_text("body"))
    type_threshold(view, "1.234")
    assert not limits.search(page.inner_text("body"))


def test_lift_of_very_rare_positives_has_level_ticks_on_paper(visit, tmp_path):
    rng = np.random.default_rng(1)
    y = np.arange(200_000) < 30
    path = write_report(evaluate(y, rng.normal(size=y.size) + 3.5 * y), tmp_path / "rare.html")
    page = visit(path).page
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    ticks = page.locator("#lift-chart .xtick text").all()
    assert len(ticks) >= 3
    title = page.locator("#lift-chart .xtitle").bounding_box()
    boxes = sorted((tick.bounding_box() for tick in ticks), key=lambda box: box["x"])
    assert all(box["y"] + box["height"] <= title["y"] + 2 for box in boxes)
    assert all(a["x"] + a["width"] <= b["x"] for a, b in pairwise(boxes))
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")


def test_the_page_from_few_labels_fits_a_telephone(visit, tmp_path):
    rng = np.random.default_rng(6)
    y = rng.random(20_000) < 0.05
    scores = rng.normal(size=y.size) + 2 * y
    plan = pr.audit.plan(scores, budget=400, rng=0)
    sample = pr.audit.Sample(scores, {row: y[row] for row in plan.rows.tolist()}, plan=plan)
    view = visit(write_sample_report(sample, tmp_path / "few.html"), charts=False, width=390)
    view.take_picture("few-labels-390")
    assert view.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert view.page.eval_on_selector("#strata .scroll", "b => b.scrollWidth <= b.clientWidth")


def test_a_name_and_the_mark_of_chance_do_not_touch(visit, many):
    page = visit(many).page
    apart = page.evaluate(
        "[...document.querySelectorAll('.bar:has(.random)')].map((b) => "
        "b.querySelector('.random').getBoundingClientRect().top - "
        "b.querySelector('.whose').getBoundingClientRect().bottom)"
    )
    assert len(apart) == 32
    assert min(apart) >= 0


def test_eight_models_do_not_bury_the_worth_of_decisions(visit, tmp_path):
    rng = np.random.default_rng(2)
    chance = rng.random(2000) ** 3
    y = rng.random(2000) < chance
    scores = {f"model {k}": np.clip(chance + 0.03 * k * rng.random(2000), 0, 1) for k in range(8)}
    evaluation = evaluate(y, scores, net_benefit=True)
    view = visit(write_report(evaluation, tmp_path / "page.html"), width=390)
    names = view.page.locator("#decision-chart .legendtext").all_text_contents()
    assert names == ["select everything", "select nothing"]  # the table below has the others
    traces = view.page.evaluate("document.getElementById('decision-chart').data.map(t => t.name)")
    assert traces.count("band") == 2
    low, high = view.page.evaluate("document.getElementById('decision-chart').layout.yaxis.range")
    band = evaluation.decisions[evaluation.models.index(evaluation.best)].band
    assert low <= max(band.low.min(), -high)
    assert high >= band.high.max()


def test_rare_events_are_not_counted_in_millionths(visit, tmp_path):
    rng = np.random.default_rng(3)
    y = np.arange(200_000) < 20
    path = write_report(evaluate(y, rng.normal(size=y.size) + 3 * y), tmp_path / "page.html")
    view = visit(path)
    ticks = view.page.locator("#hit-chart .ytick").all_text_contents()
    assert "0.0001" in ticks
    assert not any("µ" in tick for tick in ticks)
    assert "1,000" in view.page.locator("#lift-chart .ytick").all_text_contents()


def test_a_long_value_is_not_cut_and_ticks_of_lift_are_whole_numbers(visit, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(300_000) < 30
    path = write_report(evaluate(y, rng.normal(size=y.size) + 5 * y), tmp_path / "page.html")
    view = visit(path)
    values = view.page.locator("#strip .value")
    texts = [" ".join(text.split()) for text in values.all_inner_texts()]
    assert max(map(len, texts)) > 25  # AUPRG of rare positives has many nines
    edge = view.page.locator("#strip").bounding_box()
    for value in values.all():
        box = value.evaluate(
            "s => [s.scrollWidth - s.clientWidth, s.getBoundingClientRect().right]"
        )
        assert box[0] <= 0
        assert box[1] <= edge["x"] + edge["width"] + 1
    few = np.arange(2000) < 40
    page = write_report(evaluate(few, rng.normal(size=2000) + 4 * few), tmp_path / "lift.html")
    ticks = visit(page).page.locator("#lift-chart .ytick").all_text_contents()
    assert {"1", "2", "5", "10", "20", "50"} <= set(ticks)
    assert len(set(ticks)) == len(ticks)


def test_other_charts_are_about_the_prevalence_of_the_page(visit, tmp_path):
    data = pr.load_example()
    asked = 0.3
    path = write_report(evaluate(data.label, data.scores, prevalence=asked), tmp_path / "page.html")
    view = visit(path)
    there = pr.rank(data.label, data.scores["gradient_boosting"]).at_prevalence(asked)
    highest = max(max(trace["y"]) for trace in view.traces("hit-chart"))
    assert highest == pytest.approx(asked)
    gain = next(t for t in view.traces("gain-chart") if t["name"] == "gradient_boosting")
    assert np.trapezoid(gain["y"], gain["x"]) == pytest.approx(
        pr.gain_curve(there).area(), abs=5e-3
    )
    assert view.page.locator("#lift-chart").count() == 0  # 30 % are not rare


def test_no_promise_is_not_blamed_on_few_positives(visit, tmp_path):
    y = np.arange(500) < 100
    view = visit(write_report(evaluate(y, np.full(500, 0.5)), tmp_path / "page.html"))
    said = view.text("#certificate-text")
    assert said == "No precision clearly above the prevalence can be promised for this model."
    assert "e−" not in view.text("#strip")


def test_an_interval_is_never_broken_at_its_dash(visit, example):
    for width in (1280, 390):
        view = visit(example.path, width=width)
        heights = view.page.eval_on_selector_all(
            ".keep", "all => all.map((s) => s.getClientRects().length)"
        )
        assert heights
        assert set(heights) == {1}
        lines = view.page.eval_on_selector_all(
            "code > span", "all => all.map((s) => s.textContent)"
        )
        assert lines == ["precall", "report"]


def test_the_page_says_when_it_was_made_and_of_what(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    y, score = [1, 0, 1, 0, 0], [5.0, 4.0, 3.0, 2.0, 1.0]

    def page(name, scores):
        return write_report(evaluate(y, {"a": scores}), tmp_path / name).read_text("utf-8")

    first, again, other = page("1", score), page("2", score), page("3", [5.0, 4.0, 3.5, 2.0, 1.0])
    assert "14 November 2023" in first
    fingerprints = [re.search(r"<code>([0-9a-f]{12})</code>", text)[1] for text in (first, other)]
    assert first == again
    assert len(set(fingerprints)) == 2


def test_net_benefit_is_drawn_with_what_needs_no_scorer(visit, tmp_path):
    data = pr.load_example()
    evaluation = evaluate(data.label, data.scores, net_benefit=True, cost_ratio=10)
    view = visit(write_report(evaluation, tmp_path / "page.html"))
    traces = view.page.evaluate(
        "document.getElementById('decision-chart').data.map((t) => [t.name, t.x, t.y])"
    )
    drawn = {name: (x, y) for name, x, y in traces if name not in ("band", "mark")}
    assert set(drawn) == {"select everything", "select nothing", "gradient_boosting"}
    curve = evaluation.decisions[0].curve
    np.testing.assert_allclose(drawn["gradient_boosting"][1], curve.y, rtol=1e-5, atol=1e-9)
    view.page.locator("#decisions").screenshot(path=SCREENSHOTS / "decisions.png")


@pytest.fixture(scope="module")
def months(tmp_path_factory) -> tuple[Path, Evaluation]:
    """Two models over nine months; fewer positives in the last three, a worse ranking last."""
    rng = np.random.default_rng(13)
    month = np.repeat(np.arange("2026-01", "2026-10", dtype="datetime64[M]"), 2000)
    y = rng.random(month.size) < np.where(month >= np.datetime64("2026-07"), 0.06, 0.12)
    apart = np.where(month == np.datetime64("2026-09"), 1.0, 2.0)
    scores = {"net": rng.normal(size=y.size) + apart * y, "card": rng.normal(size=y.size) + y}
    evaluation = evaluate(y, scores, time=month, every="month")
    folder = tmp_path_factory.mktemp("months")
    return write_report(evaluation, folder / "page.html"), evaluation


def test_decisions_are_readable_on_a_telephone(visit, tmp_path):
    data = pr.load_example("tumours")
    evaluation = evaluate(data.label, data.scores, net_benefit=True, cost_ratio=10)
    view = visit(write_report(evaluation, tmp_path / "benefit.html"), width=390)
    said = view.page.locator("#decisions table.slices td:last-child").first
    assert said.bounding_box()["width"] > 300  # sentences, and not a column of words
    names = view.page.locator("#decision-chart .legendtext").all_text_contents()
    assert names[-2:] == [model.title for model in evaluation.models]
    title = view.page.locator("#decision-chart .xtitle").bounding_box()
    assert title["x"] >= 0
    assert title["x"] + title["width"] <= 390


def test_a_threshold_is_shown_with_all_its_digits(visit, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.1
    path = write_report(evaluate(y, rng.normal(size=2000) + y), tmp_path / "digits.html")
    for width in (1280, 390):
        view = visit(path, width=width)
        box = "document.getElementById('threshold')"
        assert len(view.page.input_value("#threshold")) > 12
        assert view.page.evaluate(f"{box}.scrollWidth - {box}.clientWidth") <= 0


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_windows_are_drawn_and_fit(visit, months, width, scheme):
    path, evaluation = months
    view = visit(path, width=width, color_scheme=scheme)
    assert view.page.evaluate("document.documentElement.scrollWidth") <= width
    own, compared, prevalence = view.traces("time-chart")
    best = evaluation.windows[0].windows
    for trace, name in ((own, "interval"), (compared, "at_reference"), (prevalence, "prevalence")):
        expected = [getattr(window, name).estimate for window in best]
        np.testing.assert_allclose(trace["y"], expected, rtol=1e-5)
    assert own["name"] == "AUCPR as it is"
    text = view.text("#time")
    assert "net: the ranking is worse in 2026-09-01 than in the first window, 2026-01-01" in text
    assert "worse ranking and fewer positives" in text
    # The other model's table waits behind its name.
    assert view.text("#time summary") == "The same for card"
    assert view.page.locator("#time table").nth(1).is_hidden()
    # The chart's labels stay inside it.
    inside = view.page.evaluate(
        "() => { const box = document.getElementById('time-chart').getBoundingClientRect();"
        " return [...document.querySelectorAll('#time-chart text')].every((t) => {"
        " const r = t.getBoundingClientRect();"
        " return r.left >= box.left - 1 && r.right <= box.right + 1; }); }"
    )
    assert inside
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    view.page.locator("#time").screenshot(path=SCREENSHOTS / f"time-{width}-{scheme}.png")


def test_the_best_model_is_opened_first(visit, tmp_path):
    data = pr.load_example()
    names = ["scorecard", "gradient_boosting"]
    evaluation = evaluate(data.label, {name: data.scores[name] for name in names})
    view = visit(write_report(evaluation, tmp_path / "page.html"))
    assert view.page.input_value("#explore-model") == "1"


def test_precision_elsewhere_has_the_limits_of_recall_and_false_positive_rate(view, example):
    ranking = example.rankings[0]
    table = example.evaluation.models[0]
    index = 4
    prevalence = float(table.prevalences.prevalence[index])
    row = len(table.thresholds) // 2
    view.move("#threshold-slider", row)
    view.move("#prevalence-slider", math.log(prevalence / (1 - prevalence)))
    at = confusion(ranking, table.thresholds.threshold[row].item())
    recall = exact_limits(at.tp, ranking.n_pos, 0.975)
    rate = exact_limits(at.fp, ranking.n_neg, 0.975)

    def precision(tpr: float, fpr: float) -> float:
        return prevalence * tpr / (prevalence * tpr + (1 - prevalence) * fpr)

    assert view.text("#precision") == wording.interval(
        precision(at.recall, at.false_positive_rate),
        precision(recall[0], rate[1]),
        precision(recall[1], rate[0]),
    )


def test_toggles_change_what_is_drawn(view, example):

    def names() -> list[str]:
        return [trace["name"] for trace in view.traces()]

    assert names().count("band") == 4
    view.page.uncheck("#show-bands")
    assert "band" not in names()
    view.page.check("#show-contours")
    assert names().count("F1") == 4
    view.page.check("#log-recall")
    axis = "document.getElementById('pr-chart').layout.xaxis.type"
    assert view.page.evaluate(axis) == "log"
    view.page.uncheck("#log-recall")
    assert view.page.evaluate(axis) != "log"
    view.page.uncheck(".show-model >> nth=1")
    assert "scorecard" not in names()
    assert len(view.traces("roc-chart")) == 3  # random, the curve and its marks
    view.page.check(".show-model >> nth=1")
    assert "scorecard" in names()


def test_hovering_tells_threshold_and_counts(view, example):
    chart = view.page.locator("#pr-chart .nsewdrag").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    ranking = example.rankings[0]
    row = 30
    x = ranking.tp[row] / ranking.n_pos
    y = ranking.tp[row] / (ranking.tp[row] + ranking.fp[row])
    ranges = view.page.evaluate(
        "(() => { const l = document.getElementById('pr-chart')._fullLayout;"
        " return [l.xaxis.range, l.yaxis.range]; })()"
    )
    (x0, x1), (y0, y1) = ranges
    view.page.mouse.move(
        box["x"] + box["width"] * (x - x0) / (x1 - x0),
        box["y"] + box["height"] * (1 - (y - y0) / (y1 - y0)),
    )
    view.page.wait_for_selector("#pr-chart .hovertext")
    told = view.page.text_content("#pr-chart .hovertext")
    assert f"{ranking.tp[row]} true, {ranking.fp[row]} false positives" in told
    assert wording.threshold(ranking.threshold[row].item()) in told


def test_no_button_of_the_charts_sends_them_anywhere(view):
    """The charting library has one that does, and adds others from release to release."""
    titles = view.page.eval_on_selector_all(
        ".modebar-btn", "buttons => buttons.map((button) => button.dataset.title)"
    )
    assert set(titles) == {
        "Download plot as a PNG",
        "Zoom",
        "Pan",
        "Zoom in",
        "Zoom out",
        "Reset axes",
    }


def test_on_paper_and_on_a_telephone(visit, example):
    view = visit(example.path, width=390, color_scheme="dark")
    assert view.page.evaluate("document.documentElement.scrollWidth") <= 390
    view.take_picture("example-telephone")
    view.page.emulate_media(media="print")
    # What can be chosen on the screen is the legend of the chart on paper.
    assert view.page.is_visible(".toggles .name >> nth=0")
    assert not view.page.is_visible(".toggles input >> nth=0")
    assert not view.page.is_visible("text=log recall")
    assert view.page.is_visible("#answer")
    ink = "document.getElementById('pr-chart').layout.font.color"
    on_screen = view.page.evaluate(ink)
    view.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert view.page.evaluate(ink) == "#1c2128"
    view.page.emulate_media(media="screen")
    view.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert view.page.evaluate(ink) == on_screen != "#1c2128"


def test_charts_are_drawn_for_the_paper_and_none_is_cut(visit, example):
    """A4 with margins of 15 mm is 680 pixels wide; what follows the screen would be cut there."""
    view = visit(example.path, width=1280)
    view.page.emulate_media(media="print")
    view.page.set_viewport_size({"width": 680, "height": 1000})
    view.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    drawn = view.page.eval_on_selector_all(
        ".chart", "all => all.map(c => [c.layout.width, c.clientWidth, c.parentNode.clientWidth])"
    )
    assert len(drawn) == 7
    for width, place, room in drawn:
        assert width == place <= room <= 680
    assert view.page.evaluate("document.documentElement.scrollWidth") <= 680
    view.page.emulate_media(media="screen")
    view.page.set_viewport_size({"width": 1280, "height": 900})
    view.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    width = "document.getElementById('pr-chart').getBoundingClientRect().width"
    drawn_again = "document.querySelector('#pr-chart svg.main-svg').getBoundingClientRect().width"
    assert view.page.evaluate(drawn_again) == pytest.approx(view.page.evaluate(width), abs=1)


def test_paper_shows_what_was_chosen_and_no_empty_questions(visit, example):
    view = visit(example.path, width=680)
    view.page.uncheck(".show-model[data-model='1']")
    view.page.emulate_media(media="print")
    style = "getComputedStyle(document.querySelector('.toggles'))"
    kept = view.page.evaluate(f"[{style}.breakInside, {style}.breakAfter]")
    assert kept == ["avoid", "avoid"]  # a legend is on the page of its chart
    shown = [box.is_visible() for box in view.page.query_selector_all(".toggles .name")]
    assert shown == [True, False]
    # At the prevalence of the data the table of areas would be a second time the one above.
    assert not view.page.is_visible("#prevalence-panel")
    view.page.emulate_media(media="screen")
    type_prevalence(view, "0.3")
    view.page.emulate_media(media="print")
    assert view.page.is_visible("#prevalence-panel")
    # Each bar has its name and its number on one line, and no line of the strip is broken in two.
    for bar in view.page.query_selector_all("#strip .bar"):
        tops = [bar.query_selector(part).bounding_box() for part in (".whose", ".track", ".value")]
        middles = [box["y"] + box["height"] / 2 for box in tops]
        assert max(middles) - min(middles) < 2


@pytest.mark.parametrize("prevalence", [None, 0.3])
def test_the_page_opens_at_the_highest_f1_and_says_so(visit, tmp_path, prevalence):
    rng = np.random.default_rng(8)
    y = rng.random(600) < 0.1
    score = rng.normal(size=600) + 1.5 * y
    evaluation = evaluate(y, score, prevalence=prevalence, curves=True)
    view = visit(write_report(evaluation, tmp_path / "f1.html"))
    share = y.mean() if prevalence is None else prevalence

    def f1(threshold: float) -> float:
        recall, rate = np.mean(score[y] >= threshold), np.mean(score[~y] >= threshold)
        return 2 * share * recall / (share * recall + (1 - share) * rate + share)

    opened = float(view.page.input_value("#threshold"))
    assert f1(opened) == pytest.approx(max(map(f1, score[y])))
    assert view.text("#confusion-note").endswith("F1 is highest here.")
    view.move("#threshold-slider", 1)
    assert "F1 is highest" not in view.text("#confusion-note")


@pytest.mark.parametrize("chart", ["pr", "roc", "gain"])
def test_the_highest_tick_has_room_in_browsers_with_taller_letters(view, chart):
    """A label that leaves the chart is left out, as Firefox did with the 1 of smaller charts."""
    top = view.page.locator(f"#{chart}-chart .ytick text", has_text=re.compile("^1$"))
    room = top.bounding_box()["y"] - view.page.locator(f"#{chart}-chart").bounding_box()["y"]
    assert room >= 3


def test_a_point_in_the_corner_of_a_chart_is_drawn_whole(visit, tmp_path):
    y = np.repeat([1, 0], [20, 100])
    view = visit(write_report(evaluate(y, y + 0.0, curves=True), tmp_path / "perfect.html"))
    kept = view.page.evaluate(
        "document.getElementById('pr-chart').data"
        ".filter((t) => ['marks', 'chosen'].includes(t.meta)).map((t) => t.cliponaxis)"
    )
    assert kept == [False, False]


def test_everything_works_from_the_keyboard_and_shows_where_one_is(visit, example):
    view = visit(example.path)
    page = view.page
    page.focus("#threshold-slider")
    before = view.text("#selected")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert view.text("#selected") != before
    page.focus("#prevalence-slider")
    page.keyboard.press("End")
    assert page.input_value("#prevalence") != wording.percent(example.evaluation.prevalence)
    page.click("#prevalence-reset")
    seen, outlined = set(), True
    page.evaluate("document.activeElement.blur()")
    for _ in range(60):
        page.keyboard.press("Tab")
        at, outline = page.evaluate(
            "[document.activeElement.id || document.activeElement.className || "
            "document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]"
        )
        seen.add(at)
        outlined &= at == "BODY" or outline != "none"
    controls = {"show-model", "show-bands", "threshold", "threshold-slider", "certificate"}
    assert controls | {"explore-model", "prevalence-slider", "prevalence", "SUMMARY"} <= seen
    assert outlined
    page.focus("#others summary")
    page.keyboard.press("Enter")
    assert page.is_visible("#others .numbers table")


def test_every_chart_has_a_name_and_a_table_with_its_numbers(view, example):
    charts = view.page.eval_on_selector_all(
        ".chart",
        "all => all.map(c => [c.id, c.getAttribute('role'), c.getAttribute('aria-label')])",
    )
    assert [name for name, _, _ in charts][:2] == ["pr-chart", "roc-chart"]
    assert len(charts) == 7
    assert all(role == "img" and label for _, role, label in charts)
    tables = view.page.eval_on_selector_all("details.numbers table", "all => all.length")
    assert tables == len(charts) - 1  # the differences of areas have theirs in the open
    cells = view.page.eval_on_selector_all(
        "#curve .numbers tbody tr:nth-child(8) > *", "all => all.map(c => c.textContent)"
    )
    at = [float(pr.pr_curve(ranking).at(0.8)) for ranking in example.rankings]
    assert cells[0] == "0.8"
    assert [float(cell.split()[0]) for cell in cells[1:]] == pytest.approx(at, abs=0.006)


def test_two_hundred_groups_are_sorted_and_fit_a_telephone(visit, tmp_path):
    rng = np.random.default_rng(12)
    y = rng.random(20_000) < 0.1
    group = np.minimum((rng.pareto(1.2, y.size) * 12).astype(int), 199)
    scores = {"new": rng.normal(size=y.size) + 1.8 * y, "old": rng.normal(size=y.size) + y}
    evaluation = evaluate(
        y, scores, groups=np.char.add("a region with a long name ", group.astype(str))
    )
    path = evaluation.report(tmp_path / "groups.html")
    view = visit(path, width=390)
    assert view.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert view.page.eval_on_selector(
        "#groups .scroll", "box => box.scrollWidth <= box.clientWidth"
    )
    view.page.click("#groups summary")
    names = view.page.eval_on_selector_all(
        "#groups td.pair", "cells => cells.map(cell => cell.textContent)"
    )
    best = evaluation.slices[evaluation.models.index(evaluation.best)]
    ours = [*best.slices, *best.too_small]
    assert len(names) == len(ours) > 100
    titles = {group.name: group.title for group in evaluation.groups}
    assert names == [titles[one.levels["group"]] for one in ours]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(7)
    y = rng.random(300) < 0.3
    scores = {HOSTILE: rng.normal(size=300) + y, f"{HOSTILE} ": rng.normal(size=300) + 2 * y}
    groups = np.array(["fine", HOSTILE])[rng.integers(0, 2, 300)]
    evaluation = evaluate(y, scores, groups=groups, curves=True)
    path = tmp_path_factory.mktemp("hostile") / "hostile.html"
    origin = Origin(source=HOSTILE, command=("precall", "report", HOSTILE))
    return write_report(evaluation, path, origin=origin)


def test_a_hostile_name_does_nothing(visit, hostile):
    view = visit(hostile)
    view.move("#prevalence-slider", -9)
    view.page.select_option("#explore-model", "1")
    view.take_picture("hostile-names")
    assert view.page.evaluate("window.hacked") is None
    assert view.page.locator("img[src='x']").count() == 0
    assert view.page.locator("main b:text-is('c')").count() == 0
    assert "</script><img src=x" in view.text("h1")
    assert view.page.evaluate("document.documentElement.scrollWidth") <= 1200
    assert [trace["name"] for trace in view.traces() if trace["meta"] == "curve"] == [
        re.sub("<", "&lt;", re.sub(">", "&gt;", name))
        for name in wording.clean_names([HOSTILE, f"{HOSTILE} "])
    ]


INTRUSION = """() => {
  const script = document.createElement("script");
  script.textContent = "window.ran = 1";
  const image = new Image();
  image.src = "ADDRESS/image.png";
  document.body.append(script, image);
  document.body.insertAdjacentHTML("beforeend", "<img src='data:,' onerror='window.ran = 1'>");
  return fetch("ADDRESS/fetched", {mode: "no-cors"}).then(() => "sent", () => "refused");
}"""


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """A server on this machine that writes down what it is asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def test_no_other_script_can_run_and_no_request_can_leave(browser, example, tmp_path, listener):
    """Even if something got into the page; the same intrusion succeeds in a page without policy."""
    address, asked = listener
    unguarded = tmp_path / "unguarded.html"
    unguarded.write_text("<!doctype html><title>page</title><body></body>")
    outcomes = {}
    for path in (example.path, unguarded):
        page = browser.new_page()
        page.goto(path.as_uri())
        sent = page.evaluate(INTRUSION.replace("ADDRESS", address))
        page.wait_for_timeout(300)
        outcomes[path] = (sent, page.evaluate("window.ran"), sorted(asked))
        page.close()
    assert outcomes[example.path] == ("refused", None, [])
    assert outcomes[unguarded] == ("sent", 1, ["/fetched", "/image.png"])


def extreme() -> dict[str, tuple[Any, dict[str, Any], Any, bool]]:
    """Labels, scores, weights and whether there is anything to draw."""
    rng = np.random.default_rng(8)
    y = (rng.random(200) < 0.2).astype(int)
    score = rng.normal(size=200) + y
    none = np.zeros(30, dtype=int)
    return {
        "one-row": ([1], {"a": [0.5]}, None, False),
        "no-positives": (none, {"a": np.arange(30), "b": np.arange(30)}, None, False),
        "no-negatives": (none + 1, {"a": np.arange(30)}, None, False),
        "two-rows": ([0, 1], {"a": [0.1, 0.2]}, None, True),
        "constant": (y, {"a": np.zeros(200)}, None, True),
        "tied": (y, {"a": np.round(score)}, None, True),
        "infinite": (y, {"a": np.where(score > 1, np.inf, score)}, None, True),
        "perfect": (y, {"a": y + score / 100}, None, True),
        "weighted": (y, {"a": score, "b": -score}, rng.gamma(0.5, 2.0, 200), True),
        "many-models": (
            y,
            {f"m{k}": score + k * rng.normal(size=200) for k in range(8)},
            None,
            True,
        ),
    }


@pytest.mark.parametrize("case", list(extreme()))
def test_extreme_data_give_a_page_that_says_why(visit, tmp_path, case):
    y, scores, weights, drawn = extreme()[case]
    evaluation = evaluate(y, scores, sample_weight=weights, curves=True)
    view = visit(write_report(evaluation, tmp_path / "page.html"), charts=drawn)
    text = view.page.inner_text("body")
    assert not re.search(r"\b(NaN|nan|undefined|null|Infinity)\b", text)
    assert evaluation.answer[0] in " ".join(text.split())
    assert (view.page.locator("#pr-chart").count() == 1) == drawn
    if not drawn:
        assert "Warning" in text
    else:
        slider = view.page.locator("#threshold-slider")
        view.move("#threshold-slider", int(slider.get_attribute("max")))
        view.move("#prevalence-slider", -9)
        assert not re.search(r"\b(NaN|undefined|Infinity)\b", view.page.inner_text("body"))
    view.take_picture(f"extreme-{case}", whole=False)
