"""Families of hypotheses, and the names they go by."""

from __future__ import annotations

from radboost._members import import_members
from radboost._validation import resolve
from radboost.families.base import FAMILIES, Candidate, Family, Hypothesis, Problem, Proposer, ValuesCandidate
from radboost.families.candidates import Candidates, stumps_at
from radboost.families.generators import GENERATORS, Generator, Training, get_generator
from radboost.families.kernel import KernelFamily, KernelHypothesis
from radboost.families.norm_balls import NormBalls, TreeFamilies
from radboost.families.trees import StumpPairs, Stumps, Trees


def get_families(family: object) -> list[Family]:
    """The families of a name, of a Family object, or of a list of those."""
    given = list(family) if isinstance(family, list | tuple) else [family]
    if not given:
        raise ValueError(f"family is an empty list; name at least one of {', '.join(map(repr, FAMILIES))}.")
    families = [resolve("family", one, FAMILIES, Family, "a Family object, or a list of those") for one in given]  # type: ignore[type-abstract]
    for one in families:
        one.validate()
    return families


__all__ = [
    "FAMILIES",
    "GENERATORS",
    "Candidate",
    "Candidates",
    "Family",
    "Generator",
    "Hypothesis",
    "KernelFamily",
    "KernelHypothesis",
    "NormBalls",
    "Problem",
    "Proposer",
    "StumpPairs",
    "Stumps",
    "Training",
    "TreeFamilies",
    "Trees",
    "ValuesCandidate",
    "get_families",
    "get_generator",
    "stumps_at",
]

import_members(__name__, __path__)
