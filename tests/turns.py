"""Tests over many settings that take turns: `make test` has a part of the combinations, `make test-all` has all."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest


def in_turns(names: str, *settings: Sequence[Any], one_in: int = 3) -> pytest.MarkDecorator:
    """Runs a test for every combination of settings, one list for each name; all but one in so many are slow.

    Those are a Latin square: where a list is no shorter than `one_in`, every setting meets every other one.
    """
    cases = []
    for places in itertools.product(*(range(len(values)) for values in settings)):
        chosen = [values[place] for values, place in zip(settings, places, strict=True)]
        marks = () if sum(places) % one_in == 0 else pytest.mark.slow
        cases.append(pytest.param(*chosen, marks=marks, id="-".join(map(str, chosen))))
    return pytest.mark.parametrize(names.split(", "), cases)
