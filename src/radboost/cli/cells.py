"""Cells of a column: those of some rows, and summaries of rows that decisions are based on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.cli.tables import RawTable, RowName

MOST_DIFFERENT = 1_000_000  # values of a column that a summary keeps; CSV is in memory, and keeps all of its texts
LARGEST_EXACT = 2.0**53  # integers up to it are exact as floating-point numbers
LONG_INTEGER = "^[+-]?[0-9]{16,300}$"
_SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True)
class Cells:
    """Column in some rows, or a summary of rows; a file of text has texts only."""

    name: str
    form: str
    """Either "text", "number", "date", "boolean" or "empty"; text may spell any of the others."""
    values: Any
    """Different texts, ascending (array of pyarrow), or the number of each row, NaN where it is missing.

    A summary has each number once, and of typed features the least and the largest one only.
    """
    counts: Any = None
    """Number of rows of each value; None for numbers of rows."""
    ranks: Any = None
    """Index of each row's text, and the number of texts where it is missing; None for numbers and summaries."""
    spelled: bool = False
    """True if texts may stand for numbers, as in CSV."""
    decimal_comma: bool = False
    rounded: bool = False
    """True if numbers were integers that floating-point numbers do not keep."""
    more: bool = False
    """True if a summary keeps no texts, or not all numbers, because there are too many."""
    where: RowName | None = None
    """Names of the rows; None where they are not known."""
    by_row: Callable[[], Iterable[Cells]] | None = None
    """Cells of the rows of a summary, in parts, for messages."""

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Each value as a text; numbers without a fraction as integers."""
        if self.form == "text":
            return tuple(self.values.to_pylist())
        return tuple(_shown(value, self.form) for value in self.values.tolist())

    @property
    def present(self) -> npt.NDArray[np.int64]:
        """Indices of the rows that have a value."""
        return np.flatnonzero(self.ranks < len(self.values) if self.form == "text" else ~np.isnan(self.values))

    def of_rows(self, of_values: npt.NDArray[Any], missing: float = np.nan) -> npt.NDArray[Any]:
        """Number of each row, from those of the different texts and of a missing one; of a summary as they are."""
        import pyarrow as pa

        if self.ranks is None:
            return of_values
        given = np.append(of_values, np.asarray(missing, dtype=of_values.dtype))
        return pa.array(given).take(pa.array(self.ranks)).to_numpy()  # type: ignore[no-any-return]

    def as_texts(self) -> Cells:
        """Rows with texts in place of numbers."""
        import pyarrow as pa

        if self.form == "text":
            return self
        coded = pa.array(self.values, from_pandas=True).dictionary_encode()
        shown = pa.array([_shown(value, self.form) for value in coded.dictionary.to_pylist()], pa.string())
        return self.with_texts(pa.chunked_array([pa.DictionaryArray.from_arrays(coded.indices, shown)]))

    def with_texts(self, column: Any, missing: Sequence[str] | None = None) -> Cells:
        """Column of texts, from a dictionary-encoded one of pyarrow; dictionaries may have equal and unused texts.

        Texts lose the spaces around them, and words in `missing` become missing values; None: texts stay as they are.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = pa.dictionary(pa.int32(), pa.string())
        coded = [(one.indices.cast(kind.index_type), one.dictionary.cast(kind.value_type)) for one in column.chunks]
        chunks = pa.chunked_array([pa.DictionaryArray.from_arrays(*one) for one in coded], kind).unify_dictionaries()
        texts = chunks.chunk(0).dictionary if coded else pa.array([], pa.string())
        indices = pa.chunked_array([one.indices for one in chunks.chunks], pa.int32())
        indices = indices.fill_null(len(texts)).to_numpy()
        texts = pc.if_else(pa.array(np.bincount(indices, minlength=len(texts) + 1)[:-1] > 0), texts, None)
        if missing is not None:
            texts = _known(texts, missing)
            texts = _known(unquoted(texts), missing) if self.spelled else texts
        values = texts.drop_null().unique()
        values = values.take(pc.sort_indices(values))
        small = next(one for one in (np.int8, np.int16, np.int32) if len(values) <= np.iinfo(one).max)
        rank_of = pc.fill_null(pc.index_in(texts, values), len(values)).to_numpy(zero_copy_only=False)
        ranks = np.append(rank_of, len(values)).astype(small)[indices]
        counts = np.bincount(ranks, minlength=len(values) + 1)[:-1]
        return replace(self, form="text", values=values, counts=counts, ranks=ranks)

    def summary(self, *, all_numbers: bool) -> Cells:
        """Each value once, without rows; of numbers all of them, or the least and the largest."""
        values, counts = self.values, self.counts
        if self.form != "text":
            known = values[~np.isnan(values)] + 0.0  # no zero below 0
            kept = known if all_numbers or not len(known) else np.array([known.min(), known.max()])
            values, counts = np.unique(kept, return_counts=True)
            counts[:1] += len(known) - len(kept)
        return replace(self, values=values, counts=counts, ranks=None, where=None)._bounded()

    def merged(self, other: Cells) -> Cells:
        """Summary of the rows of two summaries."""
        import pyarrow as pa

        form = self.form if self.form == other.form else "text"  # integers of more than 16 digits are texts
        kind = pa.string() if form == "text" else pa.float64()
        values = [pa.array(one.values if one.form == form else one.texts, kind) for one in (self, other)]
        counts = [pa.array(one.counts, pa.int64()) for one in (self, other)]
        columns = [pa.chunked_array(values), pa.chunked_array(counts)]
        table = pa.table(columns, ["value", "n"]).group_by("value").aggregate([("n", "sum")]).sort_by("value")
        together = table["value"].combine_chunks()
        return replace(
            self,
            form=form,
            values=together if form == "text" else together.to_numpy(),
            counts=table["n_sum"].to_numpy(),
            spelled=self.spelled or other.spelled,
            rounded=self.rounded or other.rounded,
            more=self.more or other.more,
        )._bounded()

    def _bounded(self) -> Cells:
        if not (self.more and self.form == "text") and (self.spelled or len(self.values) <= MOST_DIFFERENT):
            return self
        kept = np.zeros(0, dtype=np.int64)
        if self.form != "text":  # numbers with a fraction first, which decide about a target
            kept = np.argsort(self.values == np.round(self.values), kind="stable")[:MOST_DIFFERENT]
        return replace(self, values=self.values.take(kept), counts=self.counts[kept], more=True)

    def check_finite(self, numbers: FloatArray) -> None:
        """Refuse infinity among the numbers of these rows."""
        infinite = np.flatnonzero(np.isinf(numbers))[:1]
        if len(infinite):
            row = "" if self.where is None else f" in {self.where(infinite[0])}"
            raise ValueError(
                f"the column {self.name!r} holds infinity{row}, and numbers must be finite; "
                "write a missing value in its place, or say --missing inf,-inf"
            )

    def examples(self, is_one: Callable[[str], bool], most: int = 1) -> str:
        """First different texts for which `is_one` is true, each with its row, as messages list them."""
        shown: dict[str, str] = {}
        for cells in [self] if self.by_row is None else self.by_row():
            own = cells.as_texts()
            texts = (*own.texts, None)
            for row in np.sort(np.unique(own.ranks, return_index=True)[1]):
                text = texts[own.ranks[row]]
                if text is None or text in shown or not is_one(text):
                    continue
                shown[text] = repr(text) + ("" if cells.where is None else f" in {cells.where(row)}")
                if len(shown) == most:
                    return ", ".join(shown.values())
        return ", ".join(shown.values())

    @property
    def loses_digits(self) -> bool:
        """True if some integers are rounded as floating-point numbers."""
        import pyarrow.compute as pc

        if self.form != "text":
            return self.rounded
        long = self.values.filter(pc.match_substring_regex(self.values, LONG_INTEGER)).to_pylist()
        return any(int(text) != int(float(text)) for text in long)


def cells_of(given: RawTable, name: str, missing: Sequence[str], *, as_names: bool = False) -> Cells:
    """Cells of a column of a table; words in `missing` become missing values.

    `as_names`: integers may be names, whose digits all count.
    """
    import pyarrow as pa
    from pyarrow import types

    column = given.table.column(name)
    rounded, kind = _has_rounded_integers(column), column.type
    if rounded and as_names:
        column, kind = column.cast(pa.string()), pa.string()
    comma, where = given.separator == ";", given.row_name
    spelled = given.separator is not None or (rounded and as_names)
    cells = Cells(name, "empty", None, spelled=spelled, decimal_comma=comma, rounded=rounded, where=where)
    of_values = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_string(of_values) or types.is_large_string(of_values):
        return cells.with_texts(column if types.is_dictionary(kind) else column.dictionary_encode(), missing)
    column = column.cast(of_values)
    if types.is_date(of_values) or types.is_timestamp(of_values):
        return replace(cells, form="date", values=days_of(column))
    if types.is_null(of_values) or types.is_boolean(of_values):
        return replace(cells, form="empty" if types.is_null(of_values) else "boolean", values=_numpy(column))
    if types.is_integer(of_values) or types.is_floating(of_values) or types.is_decimal(of_values):
        numbers = _numpy(column)
        for word, infinity in (("inf", np.inf), ("-inf", -np.inf)):
            if word in missing:
                numbers[numbers == infinity] = np.nan
        cells.check_finite(numbers)
        return replace(cells, form="number", values=numbers)
    raise ValueError(
        f"the column {name!r} holds {kind}; columns may hold numbers, text, booleans and dates; leave it out with "
        f"--ignore {name!r}, or convert it"
    )


def _known(texts: Any, missing: Sequence[str]) -> Any:
    """Texts without the spaces around them; null for a missing value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(texts)
    return pc.if_else(pc.is_in(pc.utf8_lower(texts), pa.array(missing, pa.string())), None, texts)


def unquoted(texts: Any) -> Any:
    """Array of texts without single quotes around them, if all but missing ones have them."""
    import pyarrow.compute as pc

    if not pc.all(pc.starts_with(texts, "'")).as_py():  # which is fast
        return texts
    if not pc.all(pc.match_substring_regex(texts, "(?s)^'.*'$")).as_py():
        return texts
    return pc.replace_substring_regex(texts, "(?s)^'(.*)'$", r"\1")


def _numpy(column: Any) -> FloatArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    return np.array(pc.cast(column, pa.float64(), safe=False).to_numpy())


def days_of(column: Any) -> FloatArray:
    """Days since the beginning of 1970, with fractions, of dates or timestamps of pyarrow."""
    import pyarrow as pa

    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("s") if pa.types.is_date32(column.type) else pa.timestamp("ms"))
    microseconds = column.cast(pa.timestamp("us", tz=column.type.tz), safe=False).cast(pa.int64())
    return _numpy(microseconds) / (_SECONDS_A_DAY * 1e6)


def is_number(text: str) -> bool:
    """True for a number in Python's notation."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _has_rounded_integers(column: Any) -> bool:
    """True if a column of pyarrow has integers that are rounded as floating-point numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_integer(column.type):
        return False
    ends = pc.min_max(column).as_py()
    if ends["min"] is None or max(-ends["min"], ends["max"]) <= LARGEST_EXACT:
        return False
    integers = column.drop_null().to_numpy()
    with np.errstate(invalid="ignore"):  # the largest integer as a number is beyond its type
        return bool((integers.astype(np.float64).astype(integers.dtype) != integers).any())


def _shown(value: float, form: str) -> str:
    if form == "boolean":
        return "true" if value else "false"
    return str(int(value)) if value.is_integer() and abs(value) < LARGEST_EXACT else repr(value)
