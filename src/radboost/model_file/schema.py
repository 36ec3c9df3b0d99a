"""The table that a model was fitted to: what a file keeps so that other tables are read in the same way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from radboost._number_formats import FORMS as NUMBER_FORMS
from radboost._number_formats import NumberFormat
from radboost.model_file.errors import ModelFileError

Fact = str | int | float | bool | None

KINDS = ("number", "category", "date", "boolean")
TASKS = ("classes", "numbers")
FORMS = ("table", "numbers")


@dataclass(frozen=True)
class ColumnSchema:
    """A column of the table: its name, and what its values are."""

    name: str
    kind: str
    """What values are: "number"; "category", a text; "date", in days since 1970; or "boolean", 0 or 1."""
    categories: tuple[str, ...] = ()
    """The texts that are told apart, ascending; every other one is a missing value."""
    mean: float | None = None
    """Of the training rows; takes the place of a missing value where a model needs numbers."""
    may_miss: bool = False
    """Where a model needs numbers: whether there is a column that says which values are missing."""
    number_format: NumberFormat | None = None
    """How the numbers of a column of text are written; None where they are plain, or something else."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns that this one is for a model that needs numbers."""
        own = tuple(f"{self.name}={value}" for value in self.categories) if self.kind == "category" else (self.name,)
        return (*own, f"{self.name} is missing") if self.may_miss else own


@dataclass(frozen=True)
class Schema:
    """A table with a target, as it was read for a fit."""

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
    """How the model was made and judged, for people."""
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


def read_schema(found: Any) -> Schema:
    """The schema in a header that nobody vouches for."""
    if not isinstance(found, dict) or set(found) != _KEYS or not isinstance(found["columns"], list):
        raise ModelFileError(f"a schema must have the entries {', '.join(sorted(_KEYS))}.")
    _choice("task of a schema", found["task"], TASKS)
    _choice("form of a schema", found["form"], FORMS)
    if not isinstance(found["target"], str):
        raise ModelFileError("the target of a schema must be the name of a column.")
    facts = found["facts"]
    if not isinstance(facts, dict) or not all(value is None or _is_plain(value) for value in facts.values()):
        raise ModelFileError("the facts of a schema must be texts, numbers and booleans.")
    schema = Schema(
        target=found["target"],
        task=found["task"],
        form=found["form"],
        columns=tuple(map(_read_column, found["columns"])),
        left_out=_texts("columns that are left out", found["left_out"]),
        missing_words=_texts("words for missing values", found["missing_words"]),
        facts=facts,
        target_format=_read_format(found["target_format"]),
    )
    if len(set(schema.names)) < len(schema.columns):
        raise ModelFileError("two columns of the schema have the same name.")
    return schema


def fits(schema: Schema, model: Any) -> bool:
    """True if a fitted model has the columns, categories and task of the schema; it may have been fitted again."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or list(map(str, names)) != schema.feature_names:
        return False
    if (schema.task == "classes") != hasattr(model, "classes_") or schema.target in schema.names:
        return False
    if schema.form == "numbers":
        return True
    categories = getattr(model, "categories_", {})
    return all(
        schema.columns[place].kind == "category" and set(known) <= set(schema.columns[place].categories)
        for place, known in categories.items()
    )


def _read_column(found: Any) -> ColumnSchema:
    if not isinstance(found, dict) or set(found) != _KEYS_OF_COLUMN:
        raise ModelFileError(f"a column of a schema must have the entries {', '.join(sorted(_KEYS_OF_COLUMN))}.")
    name, mean = found["name"], found["mean"]
    _choice("kind of a column", found["kind"], KINDS)
    if not isinstance(name, str) or type(found["may_miss"]) is not bool:
        raise ModelFileError("a column of a schema must have a name, and say whether values may miss.")
    if mean is not None and (type(mean) not in (int, float) or not math.isfinite(mean)):
        raise ModelFileError(f"the mean of the column {name[:40]!r} must be a number or null.")
    categories = _texts(f"categories of {name[:40]!r}", found["categories"])
    if list(categories) != sorted(set(categories)):
        raise ModelFileError(f"the categories of {name[:40]!r} must be different and ascending.")
    mean = None if mean is None else float(mean)
    number_format = _read_format(found["number_format"])
    return ColumnSchema(name, found["kind"], categories, mean, found["may_miss"], number_format)


def _read_format(found: Any) -> NumberFormat | None:
    if found is None:
        return None
    if (
        not isinstance(found, dict)
        or set(found) != _KEYS_OF_FORMAT
        or (found["decimal"], found["thousands"]) not in NUMBER_FORMS
        or not isinstance(found["currency"], str)
        or type(found["percent"]) is not bool
    ):
        raise ModelFileError(
            f"a number format must have the entries {', '.join(sorted(_KEYS_OF_FORMAT))}, of the known kinds."
        )
    return NumberFormat(**found)


def _texts(what: str, found: Any) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise ModelFileError(f"the {what} must be a list of texts.")
    return tuple(found)


def _choice(what: str, found: Any, known: tuple[str, ...]) -> None:
    if found not in known:
        raise ModelFileError(f"the {what} is {str(found)[:40]!r}, and known are {', '.join(known)}.")


def _is_plain(value: Any) -> bool:
    return type(value) in (str, int, float, bool)
