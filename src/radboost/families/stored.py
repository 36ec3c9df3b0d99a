"""Conversion of hypotheses to arrays of model files, by kind, and back with checks of untrusted arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost.families.kinds import KINDS, Arrays, Kind, Shape, Stored, by_kind
from radboost.model_file.checks import read_array, require


def _numbered(boosted: bool) -> dict[int, Kind[Any]]:
    """Kinds by their numbers in files, ascending."""
    numbers = {kind.boosted_code if boosted else kind.code: kind for kind in KINDS.values()}
    return dict(sorted(numbers.items()))


# Arrays of kinds with smaller numbers than these, for sparse and for boosted models, are in every file, empty ones too.
ALWAYS = {False: 5, True: 2}


def write_hypotheses(hypotheses: Sequence[Any], n_features: int, *, boosted: bool) -> tuple[npt.NDArray[Any], Stored]:
    """Number of the kind of each hypothesis, and the arrays and header entries of each kind."""
    groups = by_kind(hypotheses)
    numbered = _numbered(boosted)
    numbers = np.zeros(len(hypotheses), dtype="<u1")
    for kind in groups.keys() - set(numbered.values()):
        kind.write([hypotheses[index] for index in groups[kind]], n_features)  # which is an error
    stored = Stored()
    for number, kind in numbered.items():
        indices = groups.get(kind, [])
        numbers[indices] = number
        if indices or number < ALWAYS[boosted]:
            part = kind.write([hypotheses[index] for index in indices], n_features)
            stored.header.update(part.header)
            stored.arrays.update(part.arrays)
    return numbers, stored


def read_hypotheses(name: str, header: Mapping[str, Any], arrays: Arrays, shape: Shape, *, boosted: bool) -> list[Any]:
    """Inverse of `write_hypotheses`; `name`: the array with the numbers of the kinds."""
    numbers, numbered = read_array(arrays, name, "<u1"), _numbered(boosted)
    require(bool(np.isin(numbers, list(numbered)).all()), "a hypothesis is of an unknown kind")
    hypotheses = np.empty(len(numbers), dtype=object)
    # Those that are there first: what is wrong with them says more than an empty array that does not fit.
    for number in sorted(numbered, key=lambda number: (number not in numbers, -number)):
        kind, indices = numbered[number], np.flatnonzero(numbers == number)
        if len(indices) or number < ALWAYS[boosted]:
            for index, hypothesis in zip(indices, kind.read(len(indices), header, arrays, shape), strict=True):
                hypotheses[index] = hypothesis
    return list(hypotheses)
