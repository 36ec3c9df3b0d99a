"""Model files of estimators."""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar

import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from radboost.estimators._exporting import ExportingMixin
from radboost.estimators._reporting import ReportingMixin
from radboost.model_file import save_model


class SavingMixin(ExportingMixin, ReportingMixin):
    """`save`, and what a file keeps of the parameters."""

    # What a file keeps of the model, by the name that model files look up.
    _kind_of_file: ClassVar[str]
    # Parameters that predictions need and that are never objects of the user's, which a file leaves out.
    _always_stored: ClassVar[tuple[str, ...]] = ("n_jobs",)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file for `radboost.load`, without pickle (docs/developers/model-file.md)."""
        model = copy(self)  # of one fit, whatever another thread does meanwhile
        check_is_fitted(model)
        save_model(model, path)

    def _parameters_of_fit(self) -> dict[str, Any]:
        """Parameters that predictions depend on, as they were in the fit; a file keeps these."""
        return {}

    def _take_given_parameters(self) -> None:
        """Called when those stand there that the model was saved with."""

    def _take_parameters_of_fit(self) -> None:
        """Called when the parameters and labels of a file are in place."""

    def _arrays_of_fit(self) -> dict[str, npt.NDArray[Any]]:
        """What else predictions depend on; a file keeps these as well."""
        return {}

    def _take_arrays_of_fit(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Takes what `_arrays_of_fit` gave, from a file."""
