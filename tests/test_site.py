"""The documents as a site: pages have their place, links and anchors lead somewhere, public names have an entry."""

import importlib.util
import os
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

import site_api
import site_home
import site_links

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
PAGES = sorted([ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "README.md", *DOCS.rglob("*.md")])
LEFT_OUT: set[str] = set()
"""Pages of docs/ that the site does not have."""


def pages_of(nav: Any) -> Iterator[str]:
    for entry in nav if isinstance(nav, list) else [nav]:
        if isinstance(entry, dict):
            for content in entry.values():
                yield from pages_of(content)
        else:
            yield entry


def test_every_page_is_in_the_navigation_once() -> None:
    listed = list(pages_of(CONFIG["nav"]))
    assert len(listed) == len(set(listed)), "a page stands twice in the navigation"
    there = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} - LEFT_OUT
    missing = sorted(there - set(listed))
    assert not missing, f"mkdocs.yml has no place for {missing}"
    unknown = sorted(set(listed) - there - set(site_links.ON_SITE.values()))
    assert not unknown, f"mkdocs.yml names pages that are not there: {unknown}"


def test_links_lead_to_files_and_headings() -> None:
    wrong = []
    for page in PAGES:
        for target in site_links.targets(page.read_text(encoding="utf-8")):
            path, _, anchor = target.partition("#")
            there = (page.parent / path) if path else page
            if site_links.is_external(target):
                continue
            has_headings = anchor and there.suffix == ".md" and there.exists()
            headings = site_links.anchors(there.read_text(encoding="utf-8")) if has_headings else {anchor}
            if not there.exists() or anchor not in headings:
                wrong.append(f"{page.relative_to(ROOT)}: {target}")
    assert not wrong, wrong


def test_decisions_are_listed() -> None:
    listed = set(site_links.targets((DOCS / "decisions" / "README.md").read_text(encoding="utf-8")))
    assert {path.name for path in DOCS.glob("decisions/*.md")} - {"README.md"} == listed


def test_links_are_moved_with_their_page() -> None:
    text = "[a](docs/tuning.md#scores) [b](src/radboost/engine.py) `[c](docs/x.md)` [d](https://e.org/f) [e](#here)\n"
    moved = site_links.for_site(text, "CONTRIBUTING.md", "developers/contributing.md")
    assert moved == (
        "[a](../tuning.md#scores) b (`src/radboost/engine.py`) `[c](docs/x.md)` [d](https://e.org/f) [e](#here)\n"
    )
    back = site_links.for_site("[x](../CHANGELOG.md) [y](../README.md)", "docs/a.md", "a.md")
    assert back == "[x](developers/changelog.md) [y](index.md)"
    fenced = "```python\n[x](../y.md)\n```\n"
    assert site_links.for_site(fenced, "docs/a.md", "a.md") == fenced


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("8. More than two classes", "8-more-than-two-classes"),
        ("What `make test` proves", "what-make-test-proves"),
        ("Names: ours, theirs", "names-ours-theirs"),
        ("A - b", "a---b"),
        ("radboost_data", "radboost_data"),
    ],
)
def test_anchors_are_those_of_github(heading: str, anchor: str) -> None:
    assert site_links.anchors(f"# {heading}\n\n```\n# no heading\n```\n") == {anchor}


def test_every_picture_has_its_command() -> None:
    table = (DOCS / "developers" / "pictures.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([^`]+)` \| [^|]+ \| ([^|]+) \|$", table, re.MULTILINE))
    there = {path.name for path in (DOCS / "images").iterdir()}
    assert sorted(rows) == sorted(there)
    assert all("`" in command for command in rows.values())


def test_the_picture_of_the_home_page_shows_the_tables() -> None:
    tables = site_home.tables()
    assert [line for line in tables[0] if line.name == "DeepBoost"] == [site_home.Line("DeepBoost", 0.0760, 0.0894)]
    drawn = site_home.picture()
    for line in (line for lines in tables for line in lines):
        assert f"{line.name} {100 * line.clean:.1f} and {100 * line.noisy:.1f}" in drawn


def test_labels_of_the_picture_do_not_meet() -> None:
    places = site_home.apart([10.0, 11.0, 11.5, 60.0, 61.0], 15.0)
    assert all(b - a > 14.5 for a, b in pairwise(places))


NEED_EXTRAS = {"radboost.torch", "radboost.distributed", "radboost.distributed.mpi"}
MODULES = [page.module for page in site_api.PAGES if page.module != "radboost"]


def test_every_public_name_has_an_entry() -> None:
    tops = [name for page in site_api.PAGES if page.module == "radboost" for name in page.names]
    assert sorted(tops) == sorted(site_api.public_names("radboost"))
    import radboost

    assert sorted(site_api.public_names("radboost")) == sorted(radboost.__all__)
    assert {f"radboost.{module}" for module in set(dir(radboost)) - set(radboost.__all__) - {"__version__"}} <= set(
        MODULES
    )


@pytest.mark.parametrize("module", sorted(set(MODULES) - NEED_EXTRAS))
def test_names_are_read_off_the_files_as_python_finds_them(module: str) -> None:
    found = importlib.import_module(module)
    if hasattr(found, "__all__"):
        assert sorted(site_api.public_names(module)) == sorted(found.__all__)
    for page in site_api.PAGES:
        if page.module == module and module != "radboost.federated":  # which may not have Flower
            assert all(hasattr(found, one) for one in page.names)


def test_every_entry_says_what_it_is() -> None:
    entries = ((page.module, one) for page in site_api.PAGES for one in page.names)
    silent = [f"{module}.{one}" for module, one in entries if not site_api.summary(module, one)]
    assert not silent, f"public names without a docstring: {silent}"


class Loaded(HTMLParser):
    """What a page of the site loads, and its anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.ids.add(given.get("id", ""))
        if tag == "a":
            self.links.append(given.get("href", ""))
        elif tag == "link":
            self.loads += [given["href"]] if given.get("rel") not in ("canonical", "next", "prev") else []
        else:
            self.loads += [given[key] for key in ("src", "srcset", "data", "poster") if key in given]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("the site is made with the extra docs: make test-all installs it")
    site = tmp_path_factory.mktemp("site")
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(site)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr.strip(), done.stderr
    return site


@pytest.fixture(scope="module")
def read(built: Path) -> dict[str, Loaded]:
    found = {}
    for path in built.rglob("*.html"):
        found[path.relative_to(built).as_posix()] = page = Loaded()
        page.feed(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(built: Path, read: dict[str, Loaded]) -> None:
    for place, page in read.items():
        outside = [address for address in page.loads if re.match(r"(https?:)?//", address)]
        assert not outside, f"{place} loads {outside}"
    sheets = "\n".join(path.read_text(encoding="utf-8") for path in built.rglob("*.css"))
    assert not re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", sheets)


@pytest.mark.slow
def test_links_of_the_site_lead_to_its_pages_and_anchors(built: Path, read: dict[str, Loaded]) -> None:
    wrong = []
    for place, page in read.items():
        if place == "404.html":  # its addresses begin at the root of a server
            continue
        for link in page.links + page.loads:
            path, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:|//", link) or not link or link == ".":
                continue
            there = posixpath.normpath(posixpath.join(posixpath.dirname(place), path)) if path else place
            if not (built / there).exists() or (anchor and there in read and anchor not in read[there].ids):
                wrong.append(f"{place}: {link}")
    assert not wrong, wrong


@pytest.mark.slow
def test_the_reference_has_every_public_name(built: Path, read: dict[str, Loaded]) -> None:
    for page in site_api.PAGES:
        text = (built / page.place).with_suffix(".html").read_text(encoding="utf-8")
        assert "doc-symbol-module" not in text, f"{page.place} shows a file where a function has its name"
        ids = read[page.place.replace(".md", ".html")].ids
        missing = [one for one in page.names if f"{page.module}.{one}" not in ids]
        assert not missing, f"{page.place} has no entry for {missing}"


@pytest.mark.slow
def test_formulas_are_mathml(built: Path) -> None:
    theory = (built / "theory.html").read_text(encoding="utf-8")
    assert theory.count("<math") > 500
    assert theory.count('class="formula-number"') > 40
    for path in built.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "arithmatex" not in text
        assert "$$" not in re.sub(r"<(pre|code)\b.*?</\1>", "", text, flags=re.DOTALL), path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = os.environ.get("RADBOOST_CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.skip("there is no Chromium: make browser installs it, RADBOOST_CHROMIUM names one")
    driving = pytest.importorskip("playwright.sync_api", reason="the extra browser drives Chromium")
    with driving.sync_playwright() as driver:
        # Chromium's sandbox does not start for root, whom containers run as.
        arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        chromium = driver.chromium.launch(executable_path=path, args=arguments)
        yield chromium
        chromium.close()


@pytest.mark.slow
@pytest.mark.browser
def test_pages_opened_as_files_fit_a_phone_and_ask_for_nothing(built: Path, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url) if request.url.startswith("http") else None)
    for place in ("index", "theory", "which-estimator", "coming-from", "api/deepboost", "defaults"):
        page.goto((built / f"{place}.html").as_uri())
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 390, place
    assert not wrong
    page.close()


@pytest.mark.slow
@pytest.mark.browser
def test_search_works_without_a_server(built: Path, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((built / "index.html").as_uri() + "?q=conformal")
    found = page.locator(".md-search-result__item").first
    found.wait_for(timeout=20000)
    assert "conformal" in found.inner_text()
    page.close()
