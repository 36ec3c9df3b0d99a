"""Numbers as people write them (24,790, .25 as 0.25, years without a comma), and lists of names."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

YEARS = (1500.0, 2100.0)


def number_text(value: float, sign: str = "", *, year: bool = False) -> str:
    """Four significant digits; of larger numbers all in front of the point, thousands apart but in a year."""
    size = abs(value)
    if not math.isfinite(value) or size >= 1e15 or 0.0 < size < 1e-6:
        return f"{value:{sign}.4g}"
    if size >= 999.95:
        return f"{value:{sign}.0f}" if year else f"{value:{sign},.0f}"
    if size and size < 1e-3:
        return f"{value:{sign}.{3 - math.floor(math.log10(size))}f}".rstrip("0")
    return f"{value:{sign}.4g}"


def are_years(values: ArrayLike) -> bool:
    """True if all values are whole numbers from 1,500 to 2,100."""
    given = np.asarray(values, dtype=np.float64)
    return bool(given.size and YEARS[0] <= given.min() and given.max() <= YEARS[1] and (given == np.rint(given)).all())


def listed(names: Collection[Any], most: int = 10, show: Callable[[Any], str] = repr) -> str:
    """First names, and the number of others."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(show, islice(names, most))) + more
