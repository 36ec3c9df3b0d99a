"""Fitted models that report on themselves."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any


class ReportingMixin:
    """`report`: what a model is worth, on one page (docs/report.md)."""

    def report(
        self,
        X: Any,
        y: Any,
        path: str | os.PathLike[str] | None = None,
        *,
        X_train: Any = None,
        y_train: Any = None,
        sample_weight: Any = None,
        sources: Any = None,
        row_numbers: Any = None,
        row_numbers_train: Any = None,
        context: Mapping[str, Any] | None = None,
        title: str | None = None,
        overwrite: bool = False,
    ) -> Any:
        """What the model is worth on held-out rows, where it errs, and why: as one HTML file, or as plain values.

        Parameters
        ----------
        X, y : held-out rows and their targets
            Rows that the model has not learned from, and that no setting was chosen by.
        path : name of an HTML file, or None
            None writes nothing. The file needs no network and holds its numbers as JSON.
        X_train, y_train : the rows that the model learned from, or None
            For the bound, fair baselines, copies of training rows among the held-out ones, and wrong labels.
        sample_weight : array or None
            Of the held-out rows.
        sources : array or None
            The source of each held-out row; errors are then shown by source.
        row_numbers, row_numbers_train : arrays of whole numbers, or None
            Where the rows stand in the table they come from, counted from 1; None to count them from 0 as given.
        context : dict of texts, or None
            What else the page should say, such as the name of a data file.
        title : str or None
            The heading; None for the name of the estimator.
        overwrite : bool
            Whether a file that is there may be replaced.

        Returns
        -------
        radboost.report.Report
            The sections of the report as plain values, the same for the same rows.
        """
        options = {
            "X_train": X_train,
            "y_train": y_train,
            "sample_weight": sample_weight,
            "sources": sources,
            "row_numbers": row_numbers,
            "row_numbers_train": row_numbers_train,
            "context": context,
            "title": title,
        }
        reports = import_module("radboost.report")  # which stands above the estimators
        if path is None:
            return reports.build(self, X, y, **options)
        return reports.write(self, X, y, path, overwrite=overwrite, **options)
