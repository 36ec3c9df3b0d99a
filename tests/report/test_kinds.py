"""Dates and truth values in reports of models that know their table."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from radboost import RGBClassifier
from radboost.explain.explanation import Asked, Contribution, Explanation
from radboost.report.kinds import date_text, in_words_of_the_table, kinds_of, value_text
from radboost.report.slices import slices
from radboost.report.subject import Subject, read


@pytest.mark.parametrize(
    "text", ["1969-12-31", "1970-01-01", "2012-01-22", "1950-02-28 23:59:59", "2024-02-29 06:00:00"]
)
def test_dates_come_back(text: str) -> None:
    assert date_text(float(np.datetime64(text, "s").astype(np.int64)) / 86_400) == text


def test_values_of_every_kind() -> None:
    assert [value_text(kind, 1.0) for kind in ("date", "boolean", None)] == ["1970-01-02", "true", "1"]
    assert value_text("boolean", 0.5) == "0.5"  # between the two, as quantiles may be


def test_explanations_have_the_words_of_the_table() -> None:
    kinds = {0: "date", 1: "boolean"}
    told = Explanation(
        answer="a",
        runner_up="b",
        score=2.0,
        base=0.0,
        contributions=(
            Contribution("since", 0, 15361.0, 1.0),
            Contribution("new", 1, 0.0, 1.0),
            Contribution("size", 2, 15361.0, 0.5),
            Contribution("new", 1, None, -0.5, remark="missing"),
        ),
        questions=(
            Asked("since <= 15361", True, 1.0, 2, 0, 15361.0),
            Asked("since <= 15400", True, 0.5, 1, 0, 15400.0),
            Asked("since <= 15000", False, 0.25, 1, 0, 15000.0),
            Asked("new <= 0.5", True, 0.2, 1, 1, 0.5),
            Asked("since is not missing", True, 0.05, 1, 0),
            Asked("size <= 15361", True, 0.0, 1, 2, 15361.0),
        ),
        sample_size=10.0,
    )
    found = in_words_of_the_table(told, kinds)
    assert [one.text for one in found.contributions] == [
        "since = 2012-01-22",
        "new = false",
        "size = 15,361",
        "new is missing",
    ]
    assert [one.text for one in found.questions] == [
        "since <= 2012-01-22 ... 2012-03-01? yes, 3 times",
        "since <= 2011-01-26? no",
        "new = false? yes",
        "since is not missing? yes",
        "size <= 15361? yes",
    ]
    assert sum(one.effect for one in found.questions) == pytest.approx(2.0)
    assert "since <= 2012-01-22 ... 2012-03-01? yes, 3 times" in str(found)
    assert in_words_of_the_table(told, {}) is told


def _subject() -> Subject:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"since": rng.integers(15000, 16000, 120), "new": rng.integers(0, 2, 120)}, dtype=float)
    y = rng.integers(0, 2, 120)
    model: Any = RGBClassifier(n_rounds=1, n_jobs=1).fit(frame, y)
    assert kinds_of(model, ["since", "new"]) == {}
    columns = [SimpleNamespace(name=name, kind=kind) for name, kind in (("new", "boolean"), ("since", "date"))]
    model.schema_ = SimpleNamespace(columns=columns)
    frame.loc[0, "since"] = np.nan
    return read(model, frame, y)


def test_parts_of_rows_are_named_by_dates() -> None:
    subject = _subject()
    assert subject.kinds == {0: "date", 1: "boolean"}
    assert [subject.kind(place) for place in (0, 1)] == ["dates", "true or false"]
    told = str(slices(subject))
    assert re.search(r"new = (true|false)", told)
    assert re.search(r"since in \(201\d-\d\d-\d\d", told)
    assert not re.search(r"new = [01]|since (<=|in) \(?1[56]", told)
