"""Arguments of `fit` on several workers, checked before anything is loaded."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from radboost._validation import check_pair
from radboost.boosting.callbacks import check_callbacks
from radboost.boosting.metrics import read_metrics
from radboost.estimators._sources import check_sources
from radboost.rows.partitions import SUFFIXES, TRAINING, LoadedPartition
from radboost.rows.prepare import check_validation

BESIDE = ("y", "sample_weight", "sources", "offset", "cost")  # of each row, beside its columns


def beside(rows: LoadedPartition) -> dict[str, Any]:
    """Columns beside X that were given, by their names in `LoadedPartition`."""
    return {name: given for name in BESIDE if (given := getattr(rows, name)) is not None}


@dataclass(frozen=True)
class Arguments:
    """Arguments of `fit`: the rows of each role, in any form that it takes, and all that is not one for each row."""

    training: LoadedPartition
    validation: LoadedPartition
    unlabelled: LoadedPartition
    eval_metric: Any = None
    callbacks: Any = None
    resume_from: Any = None

    @property
    def rows(self) -> list[LoadedPartition]:
        """Training rows, and those of other roles that were given."""
        of_roles = self.training, self.validation, self.unlabelled
        return [rows for rows in of_roles if rows.role == TRAINING or rows.X is not None]

    @property
    def given(self) -> frozenset[str]:
        """Names of the arguments of `fit` that are not None."""
        of_roles = self.training, self.validation, self.unlabelled
        columns = {name + SUFFIXES[rows.role] for rows in of_roles for name in beside(rows)}
        others = {"X_val": self.validation.X, "X_unlabelled": self.unlabelled.X, "eval_metric": self.eval_metric}
        others |= {"callbacks": self.callbacks, "resume_from": self.resume_from}
        return frozenset(columns | {name for name, value in others.items() if value is not None})

    def check(self, estimator: Any) -> None:
        """Make the checks of the estimator's `fit` that need no rows."""
        taken = inspect.signature(type(estimator).fit).parameters
        for name in sorted(self.given):
            if name not in taken:
                advice = " sources are for MultiSourceBoostClassifier." if name.startswith("sources") else ""
                raise TypeError(f"{type(estimator).__name__}.fit takes no {name}.{advice}")
        check_callbacks(self.callbacks)
        read_metrics(self.eval_metric)
        rows, validation, unlabelled = self.training, self.validation, self.unlabelled
        check_validation(validation.X, validation.y, validation.sample_weight)
        check_pair("offset", validation.X is not None, rows.offset, validation.offset)
        check_pair("cost", validation.X is not None, rows.cost, validation.cost)
        check_sources(rows.sources, validation.X, validation.sources, unlabelled.X, unlabelled.sources)
