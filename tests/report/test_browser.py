"""The page in Chromium: what it asks for, what its tabs, sliders and tables do, in the dark, on a phone and in print.

Run by `make browser`, which installs Debian's Chromium; RADBOOST_CHROMIUM names another one.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_breast_cancer

from radboost import DeepBoostClassifier
from radboost.report.blocks import Report
from radboost.report.build import build
from radboost.report.explorer import LARGEST_RATIO, STEPS, cheapest, figures
from radboost.report.html import plain
from radboost.report.page import render
from report import sample

playwright = pytest.importorskip("playwright.sync_api", reason="the browser is driven by playwright: make browser")

pytestmark = pytest.mark.browser
DESKTOP, PHONE, SMALL = {"width": 1280, "height": 900}, {"width": 390, "height": 844}, {"width": 360, "height": 640}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = os.environ.get("RADBOOST_CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.skip("there is no Chromium: make browser installs it, RADBOOST_CHROMIUM names one")
    # Chromium's sandbox does not start for root, whom containers run as.
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=arguments)
        yield chromium
        chromium.close()


def fitted() -> Report:
    """What a small model says of itself."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :6].rename(columns={"mean radius": "<script>alert(1)</script>"})
    model = DeepBoostClassifier(n_rounds=12, max_depth=2).fit(X[:300], y[:300])
    return build(model, X[300:], y[300:], X_train=X[:300], y_train=y[:300])


REPORTS = {"classes": sample.classes, "numbers": sample.numbers, "hostile": sample.hostile, "fitted": cache(fitted)}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    for name, make in REPORTS.items():
        (folder / f"{name}.html").write_text(render(make()), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in REPORTS}


@dataclass
class View:
    """A page that was opened, with everything it asked for or complained of."""

    page: Any
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture
def look(browser: Any, files: dict[str, Path]) -> Iterator[Any]:
    """Opens a report; at the end no page may have asked for anything but itself, or complained."""
    views: list[View] = []

    def open_report(name: str = "classes", viewport: dict[str, int] = DESKTOP, **options: Any) -> Any:
        context = browser.new_context(viewport=viewport, **options)
        view = View(context.new_page())
        view.page.on("request", lambda request: view.asked.append(request.url))
        view.page.on("console", lambda message: view.complaints.append(message.text))
        view.page.on("pageerror", lambda error: view.complaints.append(str(error)))
        view.page.on("dialog", lambda dialog: view.complaints.append(dialog.message))
        view.page.goto(files[name].as_uri())
        views.append(view)
        return view.page

    yield open_report
    for view in views:
        assert {url.partition(":")[0] for url in view.asked} <= {"file", "data"}
        assert {url for url in view.asked if url.startswith("file:")} == {view.page.url.partition("#")[0]}
        assert view.complaints == []
        view.page.context.close()


def shown(page: Any, what: str) -> list[bool]:
    return [element.is_visible() for element in page.query_selector_all(what)]


def out(page: Any, key: str) -> str:
    return str(page.inner_text(f"[data-out={key}]"))


def slide(page: Any, which: str, value: int) -> None:
    """Moves a slider as a hand would: the page hears of it by the event alone."""
    page.eval_on_selector(
        f"[data-slider={which}]",
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input', {bubbles: true})) }",
        value,
    )


@pytest.mark.parametrize("name", REPORTS)
def test_the_data_inside_is_the_report(look: Any, name: str) -> None:
    page = look(name)
    found = page.evaluate("JSON.parse(document.getElementById('report-data').textContent)")
    # Half a pair does not travel between the processes; everything else comes back as it was.
    expected = json.dumps(plain(REPORTS[name]())).replace("\\ud800", "\\ufffd")
    assert json.loads(json.dumps(found).replace("\\ud800", "\\ufffd")) == json.loads(expected)


def test_hostile_names_stay_text(look: Any) -> None:
    page = look("hostile")
    assert page.evaluate("window.broken") is None
    assert page.evaluate("document.scripts.length") == 3
    assert page.evaluate("document.images.length") == 0
    assert page.title() == "<script>alert(1)</script>"
    for text in ("<script>alert(1)</script>", "<img src=x onerror=window.broken=3>"):
        assert text in page.inner_text(".panel:not(.off), main")
    for button in page.query_selector_all(".tablist button"):
        button.click()
    for element in page.query_selector_all("[data-tip]")[:12]:
        element.dispatch_event("pointermove", {"clientX": 5, "clientY": 5, "bubbles": True})
    page.click("[data-open-all]")
    assert page.evaluate("window.broken") is None
    assert page.evaluate("document.querySelectorAll('[onerror], [onmouseover], .tip *').length") == 0


def test_the_policy_stops_what_would_run(browser: Any, files: dict[str, Path]) -> None:
    """If a text did escape its escaping, it would not run: handlers, scripts and addresses are refused."""
    page = browser.new_page()
    stopped: dict[str, str] = {}
    page.on("requestfailed", lambda request: stopped.update({request.url: request.failure}))
    text = files["classes"].read_text(encoding="utf-8")
    attack = "<img src='https://example.org/x.png' onerror='window.broken = 1'><script>window.broken = 2</script>"
    changed = files["classes"].with_name("attacked.html")
    changed.write_text(text.replace('<main id="content">', f'<main id="content">{attack}'), encoding="utf-8")
    page.goto(changed.as_uri())
    assert page.evaluate("window.broken") is None
    assert stopped == {"https://example.org/x.png": "csp"}  # by the policy, before the network was asked
    page.close()


def test_every_tab_shows_its_panel_alone(look: Any) -> None:
    page = look()
    groups = page.query_selector_all(".tabs")
    assert len(groups) == 2
    for group in groups:
        buttons = group.query_selector_all("[role=tab]")
        panels = group.query_selector_all(":scope > .panel")
        assert len(buttons) == len(panels) > 1
        for place in [*range(len(buttons)), 0]:
            buttons[place].click()
            assert [panel.is_visible() for panel in panels] == [i == place for i in range(len(panels))]
            assert [button.get_attribute("aria-selected") for button in buttons] == [
                str(i == place).lower() for i in range(len(buttons))
            ]
        buttons[0].focus()
        page.keyboard.press("ArrowRight")
        assert panels[1].is_visible()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        assert panels[-1].is_visible()


def percent(text: str) -> float:
    return float(text.removesuffix(" %")) / 100


def test_the_slider_of_thresholds_shows_what_python_counts(look: Any) -> None:
    page, block = look(), sample.explorer()
    page.click("text=Thresholds and costs")
    seen = set()
    for place in (0, 17, 50, 83, 100):
        slide(page, "threshold", place)
        expected = figures(block, place)
        assert float(out(page, "threshold")) == pytest.approx(block.thresholds[place], abs=1e-3)
        for key in ("true_positive", "false_positive", "false_negative", "true_negative"):
            assert int(out(page, key).replace(",", "")) == getattr(block, key)[place]
        for key in ("error", "precision", "recall", "specificity"):
            value = expected[key]
            if value is None:
                assert out(page, key) == "\N{EM DASH}"
            else:
                assert percent(out(page, key)) == pytest.approx(value, abs=6e-4)
        assert float(out(page, "cost")) == pytest.approx(expected["cost"], abs=6e-5)
        seen.add(page.get_attribute("[data-chart=rates] .cursor", "d"))
    assert len(seen) == 5
    page.focus("[data-slider=threshold]")
    page.keyboard.press("ArrowLeft")
    assert float(out(page, "threshold")) == pytest.approx(block.thresholds[99])


def test_the_slider_of_costs_finds_the_cheapest_threshold(look: Any) -> None:
    page, block = look(), sample.explorer()
    page.click("text=Thresholds and costs")
    curves = set()
    for step in (-STEPS, -11, 0, 23, STEPS):
        slide(page, "ratio", step)
        ratio = LARGEST_RATIO ** (step / STEPS)
        assert float(out(page, "ratio")) == pytest.approx(ratio, rel=0.05)
        best = cheapest(block, ratio)
        cost = figures(block, best, ratio)["cost"]
        words = re.fullmatch(r"Least mean cost, ([\d.]+), at threshold ([\d.]+)\.", out(page, "advice"))
        assert words is not None
        assert float(words[1]) == pytest.approx(cost, abs=6e-5)
        assert float(words[2]) == pytest.approx(block.thresholds[best], abs=1e-3)
        if page.is_enabled("[data-cheapest]"):
            page.click("[data-cheapest]")
        assert float(out(page, "threshold")) == pytest.approx(block.thresholds[best], abs=1e-3)
        assert float(out(page, "cost")) == pytest.approx(cost, abs=6e-5)
        curves.add(page.get_attribute("[data-chart=costs] .chart .line.s0", "d"))
    assert len(curves) == 5


def test_a_press_on_the_chart_moves_the_threshold(look: Any) -> None:
    page = look()
    page.click("text=Thresholds and costs")
    chart = page.query_selector("[data-chart=rates] svg.chart")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + 0.5 * box["height"])
    assert float(out(page, "threshold")) > 0.8


def test_columns_of_tables_sort_up_down_and_back(look: Any) -> None:
    page = look("numbers")
    table = sample.numbers().sections[1].blocks[0]
    rows = [f"row {place}" for place in range(len(table.rows))]

    def order() -> list[str]:
        return [cell.inner_text() for cell in page.query_selector_all("#rows tbody th")]

    by_residual = [row[0] for row in sorted(table.rows, key=lambda row: row[3])]
    button = page.query_selector_all("#rows thead button")[3]
    assert order() == rows
    button.click()
    assert order() == by_residual
    assert page.query_selector_all("#rows thead th")[3].get_attribute("aria-sort") == "ascending"
    button.click()
    assert order() == by_residual[::-1]
    button.click()
    assert order() == rows
    page.query_selector_all("#rows thead button")[0].click()
    assert order() == rows  # row 2 stands before row 10


def test_missing_cells_are_last_in_either_direction(look: Any) -> None:
    page = look()
    button = page.query_selector_all("#data thead button")[2]
    for _ in range(2):
        button.click()
        assert page.query_selector_all("#data tbody th")[-1].inner_text() == "constant"


def test_rows_open_one_by_one_and_together(look: Any) -> None:
    page = look()
    assert not any(shown(page, ".card .steps"))
    page.click(".card >> nth=1")
    assert shown(page, ".card .steps") == [False, True, False, False, False]
    page.click("[data-open-all]")
    assert all(shown(page, ".card .steps"))
    assert page.inner_text("[data-open-all]") == "Close all"
    page.click("[data-open-all]")
    assert not any(shown(page, ".card .steps"))


def test_what_is_under_the_pointer_is_said(look: Any) -> None:
    page = look()
    series = sample.learning().series
    chart = page.query_selector("#learning svg.wide")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.6 * box["height"])
    words = page.inner_text(".tip").splitlines()
    place = int(re.fullmatch(r"round (\d+)", words[0])[1]) - 1
    assert 80 < place < 170
    for line, one in zip(words[1:], series, strict=True):
        said = re.fullmatch(rf"{one.name}: ([\d.]+)( \([\d.]+ to [\d.]+\))?", line)
        assert said is not None
        assert float(said[1]) == pytest.approx(one.y[place], rel=1e-3)
    page.mouse.move(5, 5)
    assert not page.is_visible(".tip")
    page.hover("#features svg.wide .bar >> nth=0")
    assert page.inner_text(".tip") == "age, gain: 0.31"


def test_a_finger_gets_the_same_words(look: Any) -> None:
    page = look(viewport=PHONE, has_touch=True, is_mobile=True)
    page.query_selector("#guarantees svg.narrow .bar").tap()
    assert page.inner_text(".tip").startswith("observed on held-out rows: 0.128")


def test_navigation_follows_the_section_in_view(look: Any) -> None:
    page = look()
    assert page.inner_text(".side [aria-current]") == "Verdict"
    for section in sample.classes().sections[:-1]:
        page.click(f".side a[href='#{section.name}']")
        page.wait_for_function(
            "name => document.querySelector('.side [aria-current]').hash === '#' + name", arg=section.name
        )
    page.mouse.wheel(0, 100_000)
    page.wait_for_function("() => document.querySelector('.side [aria-current]').hash === '#reproduce'")


def test_dark_by_the_system_and_by_the_button(look: Any) -> None:
    def ground(page: Any) -> int:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    light, dark = look(color_scheme="light"), look(color_scheme="dark")
    assert ground(light) > 700
    assert ground(dark) < 100
    assert light.inner_text("[data-theme-toggle]") == "Dark"
    light.click("[data-theme-toggle]")
    dark.click("[data-theme-toggle]")
    assert ground(light) < 100
    assert ground(dark) > 700
    light.reload()
    assert ground(light) < 100  # the choice was kept
    light.emulate_media(media="print")
    assert light.evaluate("getComputedStyle(document.body).color") == "rgb(29, 33, 39)"


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize(
    "viewport", [SMALL, PHONE, {"width": 768, "height": 1024}, DESKTOP], ids=lambda v: str(v["width"])
)
def test_nothing_is_wider_than_the_page(look: Any, name: str, viewport: dict[str, int]) -> None:
    page = look(name, viewport)
    for place in range(3):
        for group in page.query_selector_all(".tablist"):
            buttons = group.query_selector_all("button")
            buttons[place % len(buttons)].click()
        if place == 1:
            page.click("[data-open-all]") if page.query_selector("[data-open-all]") else None
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def test_a_phone_has_charts_of_its_own_and_a_folded_navigation(look: Any) -> None:
    page = look(viewport=PHONE)
    assert not any(shown(page, "svg.wide"))
    assert shown(page, "#learning svg.narrow") == [True]
    size = page.evaluate(
        "(() => { const t = document.querySelector('#learning svg.narrow .tick');"
        "return t.getBoundingClientRect().height })()"
    )
    assert size > 9
    link = ".side a[href='#rows']"
    assert not page.is_visible(link)
    page.click(".side summary")
    page.click(link)
    assert not page.is_visible(link)
    page.wait_for_function("() => document.querySelector('#rows').getBoundingClientRect().top < 200")


def letters(text: str) -> str:
    """A text without spaces and ligatures, which the readers of PDF files see in different places."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def pdf_text(pdf: bytes) -> str:
    pypdf = pytest.importorskip("pypdf", reason="the text of a PDF is read by pypdf: make browser")
    return letters("".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(pdf)).pages))


def test_print_shows_every_tab_and_opens_every_row(look: Any) -> None:
    page = look()
    page.emulate_media(media="print")
    assert all(shown(page, ".panel"))
    assert all(shown(page, ".panel-title"))
    assert all(shown(page, ".no-slider table"))
    assert not any(shown(page, ".side, .tablist, .controls, button:not(thead button)"))
    words = pdf_text(page.pdf(format="A4"))
    for text in ("Confusion", "Thresholds and costs", "Slices", "Dependence on occupation", "false negatives"):
        assert letters(text) in words
    assert words.count(letters("marital status is Married-civ-spouse")) == 5


def test_without_scripts_everything_is_there(look: Any) -> None:
    page = look(java_script_enabled=False)
    assert all(shown(page, ".panel"))
    assert all(shown(page, ".panel-title"))
    assert all(shown(page, ".no-slider table"))
    assert not any(shown(page, ".js-only"))
    page.click(".card >> nth=0")
    assert page.is_visible(".card .steps")
