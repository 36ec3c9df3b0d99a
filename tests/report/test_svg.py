"""Ticks, points and colors of a report's charts."""

from __future__ import annotations

import itertools
import math
import re
from importlib import resources

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from radboost.report.blocks import LineChart, Mark, Series
from radboost.report.svg import COLUMN, NARROW, WIDE, line_chart, nice_ticks, path, tick_texts

STYLE = resources.files("radboost.report").joinpath("page.css").read_text(encoding="utf-8")


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(2, 9))
@example(-536870912.1090183, 1e-06, 7)
@example(450359963.1090183, 1e-06, 4)
def test_ticks_are_few_round_numbers_within_the_range(low: float, length: float, count: int) -> None:
    high = low + length
    ticks = nice_ticks(low, high, count)
    assert 1 <= len(ticks) <= 3 * count + 1
    if high > low and len(ticks) > 2:
        step = ticks[1] - ticks[0]
        assert all(low - 1e-6 * step <= tick <= high + 1e-6 * step for tick in ticks)
        assert np.allclose(np.diff(ticks), step, rtol=1e-6, atol=abs(low) * 1e-12)
        lead = step / 10.0 ** math.floor(math.log10(step) + 1e-6)
        assert min(abs(lead - multiple) for multiple in (1, 2, 5, 10)) < 1e-3 + abs(low) / step * 1e-12
        assert len(set(tick_texts(ticks))) == len(ticks) or max(map(abs, ticks)) >= 1e6


def test_ticks_are_named_with_the_decimals_they_need() -> None:
    assert tick_texts(nice_ticks(0, 1, 5)) == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    assert tick_texts(nice_ticks(-0.01, 0.01, 2)) == ["\N{MINUS SIGN}0.01", "0.00", "0.01"]
    assert tick_texts([0, 20_000]) == ["0", "20,000"]
    assert tick_texts([0, 1e-5]) == ["0", "1e-5".replace("-", "\N{MINUS SIGN}")]


def test_a_path_is_interrupted_where_nothing_is_known_and_skips_what_is_on_one_spot() -> None:
    assert path([(0, 0), (0.01, 0.01), (1, 2.04), None, (3, 3)]) == "M0 0L1 2M3 3"
    assert path([]) == ""


def test_points_lie_where_their_numbers_say() -> None:
    drawn = line_chart(LineChart("t", "x", "y", (Series("s", (0, 5, 10), (0.0, 0.5, 1.0)),)), WIDE)
    path = re.search(r'<path class="line s0" d="M([^"]*)"', drawn)[1]
    (x0, y0), (x1, y1), (x2, y2) = [tuple(map(float, point.split())) for point in path.split("L")]
    assert (x1, y1) == pytest.approx(((x0 + x2) / 2, (y0 + y2) / 2), abs=0.11)
    grid = [float(y) for y in re.findall(r'class="grid" d="M[\d.]+ ([\d.]+)L', drawn)]
    assert (y0, y2) == (grid[0], grid[-1])  # 0 and 1


def test_discs_have_areas_of_rows() -> None:
    block = LineChart("t", "x", "y", (Series("s", (0, 1), (0, 1), style="points", sizes=(100, 25)),), diagonal=True)
    large, small = map(float, re.findall(r' r="([\d.]+)"', line_chart(block, COLUMN)))
    assert large - 2.5 == pytest.approx(2 * (small - 2.5), abs=0.11)


def test_steps_are_levels_up_to_the_next_point() -> None:
    block = LineChart("t", "x", "y", (Series("s", (0, 1, 2), (1.0, 3.0, 3.0), style="steps"),))
    path = re.search(r'class="line s0" d="M([^"]*)"', line_chart(block, WIDE))[1]
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = [tuple(map(float, point.split())) for point in path.split("L")]
    assert (y0, y2) == (y1, y3)
    assert x0 < x1 == x2 < x3


ODD = [
    (),
    (Series("none", (), ()),),
    (Series("one", (3,), (4,)),),
    (Series("flat", (1, 2), (5, 5)),),
    (Series("gaps", (1, 2, 3, 4), (None, 1, None, 2)),),
    (Series("large", (1, 2), (-1e300, 1e300)),),
    (Series("tiny", (1e-300, 2e-300), (1e-310, 2e-310)),),
    (Series("close", (1.0, 1.0 + 1e-16), (1.0, 1.0 + 2e-16)),),
    (Series("not finite", (1, math.inf, 3), (math.nan, 1, 2), (0, 0, math.nan), (1, 1, 1)),),
    tuple(Series(f"many {index}", (0, 1), (index, index)) for index in range(30)),
]


@pytest.mark.parametrize("series", ODD, ids=lambda series: series[0].name if series else "nothing")
def test_odd_numbers_leave_no_gaps_in_the_drawing(series: tuple[Series, ...]) -> None:
    marks = (Mark(1, "a mark"), Mark(1, "another"))
    for width in (WIDE, COLUMN, NARROW):
        for is_diagonal in (False, True):
            drawn = line_chart(LineChart("t", "x", "y", series, marks, is_diagonal), width)
            assert "nan" not in drawn.lower().replace("not finite", "")
            assert not re.search(r'[ ="](-?inf)\b', drawn)


# --------------------------------------------------------------------------------------------------------- colours


def themes() -> dict[str, dict[str, str]]:
    """The colors of the light and the dark theme."""
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", body)) for body in re.findall(r":root[^{]*\{([^}]*)\}", STYLE)
    )
    assert set(light) == set(dark)
    return {"light": light, "dark": dark}


def linear(colour: str) -> np.ndarray:
    """Linear red, green and blue of a colour of sRGB."""
    shares = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def contrast(one: str, two: str) -> float:
    """The ratio of luminances of WCAG 2."""
    low, high = sorted(float(linear(colour) @ (0.2126, 0.7152, 0.0722)) for colour in (one, two))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_are_readable_on_what_they_stand_on(theme: str) -> None:
    colours = themes()[theme]
    words = ["ink", "muted", "accent", "good", "warning", *(f"s{index}" for index in range(6))]
    for word, ground in itertools.product(words, ("paper", "card")):
        assert contrast(colours[word], colours[ground]) >= 4.5, (word, ground)
    for tone in ("accent", "good", "warning"):
        for word in ("ink", tone):
            assert contrast(colours[word], colours[f"{tone}-soft"]) >= 4.5, (word, tone)


# Machado, Oliveira and Fernandes (2009), severity 1: what is left of linear colours for three kinds of eyes.
EYES = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_first_colours_differ_for_every_kind_of_eyes(theme: str, eyes: str) -> None:
    def lab(colour: str) -> np.ndarray:
        to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
        xyz = to_xyz @ np.clip(np.array(EYES[eyes]) @ linear(colour), 0, 1) / (0.9505, 1.0, 1.089)
        f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
        return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])

    colours = [lab(themes()[theme][f"s{index}"]) for index in range(3)]
    for one, two in itertools.combinations(colours, 2):
        assert np.linalg.norm(one - two) > 15
