"""The sections of a report between its data and how to reproduce it, in their order."""

from __future__ import annotations

from collections.abc import Callable

from radboost.report.answers import answers
from radboost.report.blocks import Section
from radboost.report.calibrated import calibrated
from radboost.report.dependence import dependence
from radboost.report.hardest import hardest
from radboost.report.importance import importance
from radboost.report.learning import learning, weights
from radboost.report.noise import noise
from radboost.report.residuals import residuals
from radboost.report.slices import slices
from radboost.report.subject import Subject
from radboost.report.trust import trust

# Each says None where it has nothing to say of a model.
SECTIONS: tuple[Callable[[Subject], Section | None], ...] = (
    noise,
    answers,
    residuals,
    calibrated,
    slices,
    importance,
    dependence,
    hardest,
    learning,
    weights,
    trust,
)
