"""The page without a browser: what is in its text, and that nothing of the data becomes more than text."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, replace
from html.parser import HTMLParser

import pytest

from radboost.report.blocks import (
    CellTable,
    LineChart,
    Report,
    Section,
    SideBySide,
    Text,
)
from radboost.report.html import as_json, column, escape, name, number, plain, shortened
from radboost.report.page import render
from radboost.report.parts import as_html
from report import sample

MINUS = "\N{MINUS SIGN}"
VOID = {"meta", "link", "input", "br", "img"}
REPORTS = {"classes": sample.classes, "hostile": sample.hostile}


class Reader(HTMLParser):
    """Elements with their attributes, and the text outside scripts and styles; tags must match."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [key for key, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} says {names} twice"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module", params=REPORTS)
def rendered(request: pytest.FixtureRequest) -> tuple[Report, str]:
    report = REPORTS[request.param]()
    return report, render(report)


def test_the_page_is_small_encodable_and_the_same_every_time(rendered: tuple[Report, str]) -> None:
    report, page = rendered
    assert len(page.encode("utf-8")) < 1_000_000
    assert render(report) == page
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f]", page)


def test_tags_match_and_nothing_of_the_data_is_a_tag_or_an_attribute(rendered: tuple[Report, str]) -> None:
    reader = read(rendered[1])
    assert [tag for tag, _ in reader.elements].count("script") == 3
    assert {tag for tag, _ in reader.elements}.isdisjoint({"img", "iframe", "object", "embed", "base", "form"})
    for tag, attributes in reader.elements:
        assert not [key for key in attributes if key.startswith("on") or key == "style"], tag
        for key in ("href", "src", "action", "xlink:href"):
            address = attributes.get(key)
            assert address is None or address.startswith(("#", "data:image/svg+xml,")), address


def test_identifiers_are_unique_and_what_points_at_them_finds_them(rendered: tuple[Report, str]) -> None:
    reader = read(rendered[1])
    identifiers = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    for _, attributes in reader.elements:
        target = (attributes.get("href") or "").removeprefix("#")
        assert not target or target.startswith("data:") or target in identifiers


def test_the_data_inside_is_the_report(rendered: tuple[Report, str]) -> None:
    report, page = rendered
    inside = re.search(r'<script type="application/json" id="report-data">(.*?)</script>', page, re.DOTALL)
    assert inside is not None
    assert "<" not in inside[1]
    sections = json.loads(inside[1])["sections"]
    kinds = [[block["kind"] for block in section["blocks"]] for section in sections]
    assert kinds == [[type(block).__name__ for block in section.blocks] for section in report.sections]
    # numbers that are not finite are null
    expected = json.loads(json.dumps(asdict(report)), parse_constant=lambda _: None)
    assert json.loads(inside[1], object_hook=lambda given: given.pop("kind") and given) == expected


def test_every_text_of_the_report_is_shown() -> None:
    shown = " ".join(" ".join(read(render(sample.classes())).text).split())

    def texts(value: object) -> list[str]:
        if isinstance(value, str):
            return [value]
        if isinstance(value, dict):
            hidden = ("kind", "tone", "verdict_tone", "style")
            return [text for key, part in value.items() if key not in hidden for text in texts(part)]
        return [text for part in value for text in texts(part)] if isinstance(value, list) else []

    report = sample.classes()
    missing = {text for text in texts(plain(report)) if " ".join(text.split()) not in shown}
    facts = {text for pair in report.facts for text in pair}  # a section has them
    assert missing <= {*facts, *(section.name for section in report.sections)}  # names are addresses


def test_hostile_texts_are_text() -> None:
    shown = "".join(read(render(sample.hostile())).text)
    for text in (
        "<script>alert(1)</script>",
        "<img src=x onerror=window.broken=3>",
        sample.HOSTILE[2],
        "NUL \ufffd and \ufffd",
    ):
        assert text in shown
    assert "x" * 2500 not in shown  # long texts are shortened, in the middle
    assert "(empty)" in shown


def test_only_the_scripts_of_the_page_may_run() -> None:
    page = render(sample.classes())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    assert "unsafe" not in policy[1]
    assert "http" not in policy[1]


def test_odd_reports_are_pages() -> None:
    empty = Report("", "", "", "plain", (), (), ())
    blocks = (
        Text(()),
        CellTable((), ()),
        CellTable(("a", "b"), ((1,), (None,))),
        LineChart("", "", "", ()),
        CellTable(("a", "b"), (("x", math.nan), ("y", None), ("z", 0.0)), bars=(1,)),
        SideBySide((SideBySide((sample.learning(),)),)),
    )
    read(render(empty))
    read(render(replace(empty, sections=(Section("odd", "", "", blocks),))))


def test_what_is_no_part_of_a_report_is_refused() -> None:
    with pytest.raises(TypeError, match="made of texts, numbers, tuples and blocks, not of set"):
        as_json({1, 2})
    with pytest.raises(TypeError, match="no block of type set"):
        as_html({1, 2})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.123456, "0.1235"),
        (1234567, "1,234,567"),
        (-3, f"{MINUS}3"),
        (1234.5678, "1,235"),
        (12345.678, "12,346"),
        (0.00001234, "0.00001234"),
        (1.5e-9, f"1.5e{MINUS}09"),
        (2.5e15, "2.5e+15"),
        (math.inf, "\N{EM DASH}"),
        (0.0, "0"),
        (-0.5, f"{MINUS}0.5"),
        (100.0, "100"),
    ],
)
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


def test_numbers_of_a_column_line_up() -> None:
    assert column([0.5, 0.25, 1.0]) == ["0.50", "0.25", "1.00"]
    assert column([1, 20, None]) == ["1", "20", ""]
    assert column([57.99, 0.3412]) == ["57.99", "0.3412"]  # no digit is lost for the sake of the line
    assert column([1e-5, 5000.0]) == ["0.00001", "5,000"]


def test_a_column_of_texts_that_say_numbers_lines_up_like_numbers() -> None:
    rows = (("a", "9.5%", "9.5%"), ("b", f"{MINUS}1,234.5 %", "1 to 2"), ("c", "none", ""))
    drawn = as_html(CellTable(("name", "share", "what"), rows))
    assert re.findall(r'<td class="number">([^<]*)<', drawn) == [row[1] for row in rows]


def test_bars_are_as_long_as_their_numbers_and_start_at_zero() -> None:
    rows = (("a", 1.0, 0.5), ("b", 4.0, None), ("c", -2.0, 1.0))
    drawn = as_html(CellTable(("name", "one", "two"), rows, bars=(1, 2)))
    found = re.findall(r'<rect class="f(\d)" x="([\d.]+)" width="([\d.]+)"', drawn)
    bars = [(int(color), float(x), float(width)) for color, x, width in found]
    zero = 100 * 2 / 6
    assert [color for color, _, _ in bars] == [0, 1, 0, 0, 1]  # none of an unknown number
    lengths = (1.0, 0.5, 4.0, -2.0, 1.0)
    for (_, x, width), value in zip(bars, lengths, strict=True):
        assert x == pytest.approx(zero + min(value, 0.0) * 100 / 6, abs=0.06)
        assert width == pytest.approx(max(abs(value) * 100 / 6, 0.5), abs=0.06)


def test_names_are_shortened_in_the_middle_and_isolated() -> None:
    assert shortened("a" * 100 + "b" * 100, 20) == "a" * 14 + "\N{HORIZONTAL ELLIPSIS}" + "b" * 5
    assert name("<b>") == "<bdi>&lt;b&gt;</bdi>"
    assert name("\n ") == '<span class="empty">(empty)</span>'
    assert escape("a\r\nb\rc\x00\ud800\"'&") == "a\nb\nc\ufffd\ufffd&quot;&#39;&amp;"
