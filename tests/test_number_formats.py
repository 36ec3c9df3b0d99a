"""Columns of numbers as people write them, and codes that only look like them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from radboost._number_formats import NumberFormat, WrittenNumbers, conversion, find_numbers

COLUMNS = {
    "dollars": (["$172,000", "$950", "-$1,234.50", "($12)", "$ (3)", "$ -"], [172000, 950, -1234.5, -12, -3, None]),
    "euros": (["€ 5,513.56", "€12", "€ 1,000,000"], [5513.56, 12, 1e6]),
    "euros behind": (["5.513,56 €", "12 €", "-1 €"], [5513.56, 12, -1]),
    "code of a currency": (["USD 1,200.50", "USD 3"], [1200.5, 3]),
    "commas divide": (["31,770", "950", "1,234"], [31770, 950, 1234]),
    "commas divide, as others say": (["1,234", "12.5"], [1234, 12.5]),
    "decimal commas, as others say": (["1,234", "12,5", "0,125"], [1.234, 12.5, 0.125]),
    "dots divide, as others say": (["1.234", "1.234.567"], [1234, 1234567]),
    "spaces": (["1 234", "12", "1\u00a0234\u202f567,5"], [1234, 12, 1234567.5]),
    "apostrophes": (["1'234.5", "12\u2019345"], [1234.5, 12345]),
    "percent": (["11%", "3.5 %", "-2%"], [11, 3.5, -2]),
    "negative": (["(12)", "5", "+3", "\u22124"], [-12, 5, 3, -4]),
    "markers": (["61", "-", "--", "?", "Unknown", "n/a", "NA", "none", "NULL", "."], [61, *[None] * 9]),
    "exponents": (["1e3", "-2.5E-1", "-"], [1000, -0.25, None]),
}
CODES = {
    "zip codes": ["01234", "90210", "unknown"],
    "longer zip codes": ["90210", "10001-1234"],
    "phones": ["555-123-4567", "555-987-6543"],
    "phones with a plus": ["+15551234567", "+49301234567"],
    "phones in groups": ["612 345 678", "698 765 432"],
    "dates": ["2020-12-31", "2021-01-01"],
    "other dates": ["31.12.2020", "1/2/2020"],
    "versions": ["1.2.3", "1.10.0"],
    "addresses": ["192.168.100.101", "192.168.100.102"],
    "ranges": ["12-34", "35-50"],
    "ids": ["A12", "A13"],
    "two currencies": ["$5", "€6"],
    "some with percent": ["5%", "6"],
    "two signs": ["-(5)", "--5"],
    "nothing": ["-", "unknown"],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_one_format_of_a_column(name: str) -> None:
    texts, numbers = COLUMNS[name]
    found = find_numbers(dict.fromkeys(texts, 1))
    assert found is not None
    assert [found.format.parse(text) for text in texts] == numbers
    assert found.n_others == numbers.count(None)


def test_codes_are_no_numbers() -> None:
    assert [name for name, codes in CODES.items() if find_numbers(dict.fromkeys(codes, 1))] == []


def test_a_twentieth_may_be_written_otherwise() -> None:
    found = find_numbers({"$1,200": 37, "$7": 1, "call us": 2, "-": 60})
    assert found is not None
    assert (found.n_rows, found.n_others, found.others) == (100, 62, ("-", "call us"))
    assert (found.shown, found.otherwise) == ("'$1,200' is 1200", 1.2)
    assert find_numbers({"$1,200": 37, "call us": 2}) is None
    assert find_numbers({"1,234": 9}, decimal_comma=True) == WrittenNumbers(
        NumberFormat(","), ("1,234",), 9, (), 0, otherwise=1234.0, signs=""
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_line_of_code_makes_the_same_numbers(library: str) -> None:
    given: dict[str, Any] = {"pd": pd}
    if library == "polars":
        given["pl"] = pytest.importorskip("polars")
    for name, (texts, numbers) in COLUMNS.items():
        found = find_numbers(dict.fromkeys(texts, 1))
        assert found is not None
        column = given["pl"].Series(texts) if library == "polars" else pd.Series(texts)
        made = eval(conversion(found, "column", polars=library == "polars"), {**given, "column": column})
        expected = [np.nan if one is None else one for one in numbers]
        np.testing.assert_array_equal(np.array(made.to_numpy(), dtype=np.float64), expected, err_msg=name)
