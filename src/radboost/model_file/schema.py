"""Schema of the table that a model was fitted to, stored in its file so that other tables are read equally."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from radboost._number_formats import FORMS as NUMBER_FORMS
from radboost._number_formats import NumberFormat
from radboost.model_file.checks import require

Fact = str | int | float | bool | None

KINDS = ("number", "category", "date", "boolean")
TASKS = ("classes", "numbers")
FORMS = ("table", "numbers")


@dataclass(frozen=True)
class ColumnSchema:
    """Name and kind of a column of the table."""

    name: str
    kind: str
    """What values are: "number"; "category", a text; "date", in days since 1970; or "boolean", 0 or 1."""
    categories: tuple[str, ...] = ()
    """Texts that differ, ascending; every other one is a missing value."""
    mean: float | None = None
    """Mean of the training rows, for missing values where a model needs numbers."""
    may_miss: bool = False
    """Where a model needs numbers: whether there is a column that says which values are missing."""
    number_format: NumberFormat | None = None
    """How the numbers of a column of text are written; None where they are plain, or something else."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the numeric columns that this one is encoded as, for models without categories."""
        names = tuple(f"{self.name}={value}" for value in self.categories) if self.kind == "category" else (self.name,)
        return (*names, f"{self.name} is missing") if self.may_miss else names


@dataclass(frozen=True)
class Schema:
    """Columns and target of a table, as read for a fit."""

    target: str
    task: str
    """Either "classes" or "numbers"."""
    form: str
    """What the model sees: "table", the columns with their categories, or "numbers", one for each category."""
    columns: tuple[ColumnSchema, ...]
    left_out: tuple[str, ...] = ()
    """Columns of the table that the model does not use."""
    missing_words: tuple[str, ...] = ()
    """What stands for a missing value, in lower case, without the spaces around it."""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """How the model was made and evaluated, for people."""
    target_format: NumberFormat | None = None
    """How the numbers of the target are written; None where they are plain, or classes."""

    @property
    def names(self) -> list[str]:
        """Names of the columns that the model uses."""
        return [column.name for column in self.columns]

    @property
    def feature_names(self) -> list[str]:
        """Names of the features that the model was fitted with."""
        if self.form == "table":
            return self.names
        return [name for column in self.columns for name in column.feature_names]


def write_schema(schema: Schema) -> dict[str, Any]:
    """The schema as an entry of a header."""
    return {**asdict(schema), "facts": dict(schema.facts)}


_KEYS, _KEYS_OF_COLUMN, _KEYS_OF_FORMAT = (
    {one.name for one in fields(kind)} for kind in (Schema, ColumnSchema, NumberFormat)
)


def read_schema(given: Any) -> Schema:
    """Checked schema from an untrusted header."""
    complete = isinstance(given, dict) and set(given) == _KEYS and isinstance(given["columns"], list)
    require(complete, f"a schema must have the entries {', '.join(sorted(_KEYS))}")
    _choice("task of a schema", given["task"], TASKS)
    _choice("form of a schema", given["form"], FORMS)
    require(isinstance(given["target"], str), "the target of a schema must be the name of a column")
    facts = given["facts"]
    plain = isinstance(facts, dict) and {*map(type, facts.values())} <= {str, int, float, bool, type(None)}
    require(plain, "the facts of a schema must be texts, numbers and booleans")
    parts = {
        "columns": tuple(map(_read_column, given["columns"])),
        "left_out": _texts("columns that are left out", given["left_out"]),
        "missing_words": _texts("words for missing values", given["missing_words"]),
        "target_format": _read_format(given["target_format"]),
    }
    schema = Schema(**{**given, **parts})
    require(len(set(schema.names)) == len(schema.columns), "two columns of the schema have the same name")
    return schema


def fits(schema: Schema, model: Any) -> bool:
    """True if a fitted model still has the columns, categories and task of the schema."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or list(map(str, names)) != schema.feature_names:
        return False
    if (schema.task == "classes") != hasattr(model, "classes_") or schema.target in schema.names:
        return False
    if schema.form == "numbers":
        return True
    categories = getattr(model, "categories_", {})
    return all(
        schema.columns[index].kind == "category" and set(known) <= set(schema.columns[index].categories)
        for index, known in categories.items()
    )


def _read_column(given: Any) -> ColumnSchema:
    complete = isinstance(given, dict) and set(given) == _KEYS_OF_COLUMN
    require(complete, f"a column of a schema must have the entries {', '.join(sorted(_KEYS_OF_COLUMN))}")
    name, mean = given["name"], given["mean"]
    _choice("kind of a column", given["kind"], KINDS)
    named = isinstance(name, str) and type(given["may_miss"]) is bool
    require(named, "a column of a schema must have a name, and say whether values may miss")
    number = mean is None or (type(mean) in (int, float) and math.isfinite(mean))
    require(number, f"the mean of the column {name[:40]!r} must be a number or null")
    categories = _texts(f"categories of {name[:40]!r}", given["categories"])
    ascending = list(categories) == sorted(set(categories))
    require(ascending, f"the categories of {name[:40]!r} must be different and ascending")
    mean = None if mean is None else float(mean)
    number_format = _read_format(given["number_format"])
    return ColumnSchema(name, given["kind"], categories, mean, given["may_miss"], number_format)


def _read_format(given: Any) -> NumberFormat | None:
    if given is None:
        return None
    known = (
        isinstance(given, dict)
        and set(given) == _KEYS_OF_FORMAT
        and (given["decimal"], given["thousands"]) in NUMBER_FORMS
        and isinstance(given["currency"], str)
        and type(given["percent"]) is bool
    )
    require(known, f"a number format must have the entries {', '.join(sorted(_KEYS_OF_FORMAT))}, of the known kinds")
    return NumberFormat(**given)


def _texts(what: str, given: Any) -> tuple[str, ...]:
    texts = isinstance(given, list) and all(isinstance(text, str) for text in given)
    require(texts, f"the {what} must be a list of texts")
    return tuple(given)


def _choice(what: str, given: Any, known: tuple[str, ...]) -> None:
    require(given in known, f"the {what} is {str(given)[:40]!r}, and known are {', '.join(known)}")
