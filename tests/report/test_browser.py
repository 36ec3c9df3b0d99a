"""The page in Chromium: what it asks for, in the dark, on a phone and in print.

Run by `make browser`, which installs Debian's Chromium; RADBOOST_CHROMIUM names another one.
"""

from __future__ import annotations

import os
import re
import shutil
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


REPORTS = {"classes": sample.classes, "hostile": sample.hostile, "fitted": cache(fitted)}


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


def test_hostile_names_stay_text(look: Any) -> None:
    page = look("hostile")
    assert page.evaluate("document.scripts.length") == 3
    assert page.evaluate("document.images.length") == 0
    assert page.title() == "<script>alert(1)</script>"
    for text in ("<script>alert(1)</script>", "<img src=x onerror=window.broken=3>"):
        assert text in page.inner_text("main")
    assert page.evaluate("window.broken") is None
    assert page.evaluate("document.querySelectorAll('[onerror], [onmouseover]').length") == 0


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
    assert look(name, viewport).evaluate("document.documentElement.scrollWidth") <= viewport["width"]


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


def test_print_shows_everything_but_the_controls(look: Any) -> None:
    page = look()
    page.emulate_media(media="print")
    assert not any(shown(page, ".side, button"))
    assert all(shown(page, ".part, table, svg.wide"))


def test_without_scripts_everything_is_there(look: Any) -> None:
    page = look(java_script_enabled=False)
    assert all(shown(page, ".part"))
    assert not any(shown(page, ".js-only"))
