"""Supervised kernel projection beside other learners that know the same kernels, on small data sets.

Chapter 7 of Storcheus's thesis (2021) reports no experiment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from papers.kernel_projection_fits import METHODS, fit_projection_unit
from papers.study import Facts, Study
from radboost._typing import FloatArray

DATASETS = (
    "sonar",
    "ionosphere",
    "breastcancer",
    "diabetes",
    "german",
    "ocr49",
    "waveform40",
)
HALVES = 5
FULL = {"n_train": 200, "n_test": 1000, "inner_folds": 5}


@dataclass(frozen=True)
class ProjectionStudy(Study):
    """Every method on random halves of every data set."""

    name: str = "kernel-projection-7"
    title: str = "Storcheus (2021), chapter 7: supervised kernel projection and others that know the same kernels"

    takes_datasets = True
    named_by = "projection"
    legend = (
        "test errors, means (standard deviations) over random halves. All know the same four kernels (linear,\n"
        "polynomial of degree 2, Gaussian, Laplacian) of the same standardised columns, and try 12 settings by the\n"
        "same five-fold cross-validation on the training rows. projection: SupervisedKernelProjection (rank, alpha);\n"
        "KernelPCA + SVM: KernelPCA of the mean of the kernels, then a linear SVM (rank, C); average + SVM: an SVM on\n"
        "the mean of the kernels (C); best kernel + SVM: on one of them (which, C); MKL: on a mixture that is learned\n"
        "(norm of the weights, C). place: 1 for the lowest mean error of a set, mean over the sets; directions: mean\n"
        "rank that was chosen; seconds: of tuning and learning, for a half"
    )

    @property
    def heading(self) -> str:
        return _line("data set", list(METHODS))

    def units(self, quick: bool, datasets: Sequence[str] | None = None) -> list[dict[str, Any]]:
        unknown = [name for name in datasets or () if name not in DATASETS]
        if unknown:
            raise ValueError(f"{self.name} has no data set {unknown[0]!r}; it has {', '.join(DATASETS)}")
        size = {"n_train": 60, "n_test": 200, "inner_folds": 2} if quick else FULL
        chosen = datasets or (DATASETS[:2] if quick else DATASETS)
        return [
            {"projection": name, "fold": fold, "method": method, **size}
            for name in chosen
            for fold in range(1 if quick else HALVES)
            for method in METHODS
        ]

    def fit(self, facts: Facts, data_dir: str | None) -> dict[str, Any]:
        return fit_projection_unit(facts, data_dir)

    def rows(self, outcomes: Sequence[Any]) -> list[str]:
        names = list(dict.fromkeys(outcome.facts["projection"] for outcome in outcomes))
        means = np.array([[of(outcomes, name, method, "error").mean() for method in METHODS] for name in names])
        lines = []
        for name in names:
            found = [of(outcomes, name, method, "error") for method in METHODS]
            lines.append(_line(name, [f"{one.mean():.4f} ({one.std():.4f})" for one in found]))
        places = np.array([rankdata(line) for line in means])
        lines.append(_line("mean error", [f"{value:.4f}" for value in means.mean(axis=0)]))
        lines.append(_line("mean place", [f"{value:.2f}" for value in places.mean(axis=0)]))
        for key, form in (("directions", "{:.1f}"), ("seconds", "{:.2f}")):
            found = [of(outcomes, None, method, key) for method in METHODS]
            lines.append(_line(key, [form.format(one.mean()) if len(one) else "" for one in found]))
        return lines


def of(outcomes: Sequence[Any], name: str | None, method: str, key: str) -> FloatArray:
    """What a method led to on the halves of a set, or of all; directions only where they are counted."""
    chosen = [o.result for o in outcomes if o.facts["method"] == method and name in (None, o.facts["projection"])]
    if key == "directions":
        return np.array([one["setting"]["rank"] for one in chosen if "rank" in one["setting"]])
    return np.array([one[key] for one in chosen])


def _line(name: str, cells: Sequence[str]) -> str:
    return f"{name:<14}{''.join(f'{cell:>20}' for cell in cells)}".rstrip()


STUDIES = (ProjectionStudy(),)
