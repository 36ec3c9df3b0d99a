"""Arguments of `fit` on several workers, checked before anything is loaded."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from radboost._validation import check_pair
from radboost.boosting.callbacks import check_callbacks
from radboost.boosting.metrics import read_metrics
from radboost.estimators._sources import check_sources
from radboost.rows.partitions import SUFFIXES, TRAINING
from radboost.rows.prepare import check_validation

BESIDE = ("y", "sample_weight", "sources", "offset", "cost")  # of each row, beside its columns


@dataclass(frozen=True)
class Arguments:
    """Arguments of `fit`, named as in the `fit` of the estimators."""

    X: Any = None
    y: Any = None
    sample_weight: Any = None
    sources: Any = None
    offset: Any = None
    cost: Any = None
    X_val: Any = None
    y_val: Any = None
    sample_weight_val: Any = None
    sources_val: Any = None
    offset_val: Any = None
    cost_val: Any = None
    X_unlabelled: Any = None
    sources_unlabelled: Any = None
    eval_metric: Any = None
    callbacks: Any = None
    resume_from: Any = None

    @classmethod
    def among(cls, names: Mapping[str, Any]) -> Self:
        """Arguments from the local variables of a `fit` that has all of them."""
        return cls(**{field.name: names[field.name] for field in fields(cls)})

    @property
    def given(self) -> frozenset[str]:
        """Names of the arguments that are not None."""
        return frozenset(field.name for field in fields(self) if getattr(self, field.name) is not None)

    def check(self, estimator: Any) -> None:
        """Make the checks of the estimator's `fit` that need no rows."""
        taken = inspect.signature(type(estimator).fit).parameters
        for name in sorted(self.given):
            if name not in taken:
                advice = " sources are for MultiSourceBoostClassifier." if name.startswith("sources") else ""
                raise TypeError(f"{type(estimator).__name__}.fit takes no {name}.{advice}")
        check_callbacks(self.callbacks)
        read_metrics(self.eval_metric)
        check_validation(self.X_val, self.y_val, self.sample_weight_val)
        check_pair("offset", self.X_val is not None, self.offset, self.offset_val)
        check_pair("cost", self.X_val is not None, self.cost, self.cost_val)
        check_sources(self.sources, self.X_val, self.sources_val, self.X_unlabelled, self.sources_unlabelled)

    def by_role(self) -> Iterator[tuple[str, Any, dict[str, Any]]]:
        """Roles of the given rows, the rows, and the arguments beside them by their names in `LoadedPartition`."""
        for role, suffix in SUFFIXES.items():
            rows = getattr(self, f"X{suffix}")
            if role == TRAINING or rows is not None:
                beside = {name: getattr(self, name + suffix, None) for name in BESIDE}
                yield role, rows, {name: given for name, given in beside.items() if given is not None}


ROWS_ALONE = Arguments()
