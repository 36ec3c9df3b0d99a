"""The tables of the papers, run again.

    from radboost import experiments

    table = experiments.table("deep-boosting-2")
    for cell in experiments.reproduce(table, datasets=["diabetes"], quick=True):
        print(cell.dataset, cell.algorithm, cell.error, cell.paper.error)

`radboost reproduce deep-boosting-2` does the same from the command line.
"""

from radboost.experiments.almo import STUDIES as _ALMO
from radboost.experiments.deep_boosting import TABLES as _DEEP_BOOSTING
from radboost.experiments.deep_boosting_figures import STUDIES as _DEEP_BOOSTING_FIGURES
from radboost.experiments.federated import STUDIES as _FEDERATED
from radboost.experiments.kept import KeptResults
from radboost.experiments.kernel_projection import STUDIES as _KERNEL_PROJECTION
from radboost.experiments.multi_class_deep_boosting import TABLES as _MULTI_CLASS
from radboost.experiments.multi_source import STUDIES as _MULTI_SOURCE
from radboost.experiments.protocol import RULES, Cell, Run, reproduce
from radboost.experiments.regularized_gradient_boosting import TABLES as _REGULARIZED
from radboost.experiments.regularized_gradient_boosting import ComparisonTable
from radboost.experiments.soft_max_boosting import STUDIES as _SOFT_MAX
from radboost.experiments.spec import Algorithm, Figures, Table
from radboost.experiments.structural_sparsity import STUDIES as _STRUCTURAL_SPARSITY
from radboost.experiments.structural_sparsity import SparsityStudy
from radboost.experiments.structured import STUDIES as _STRUCTURED
from radboost.experiments.structured_alignment import STUDIES as _ALIGNMENT
from radboost.experiments.studies import Outcome
from radboost.experiments.study import Study

TABLES = {table.name: table for table in (*_DEEP_BOOSTING, *_MULTI_CLASS)}
"""With a grid of parameters and folds: `reproduce` runs them."""

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        *_DEEP_BOOSTING_FIGURES,
        *_SOFT_MAX,
        *_STRUCTURAL_SPARSITY,
        *_MULTI_SOURCE,
        *_FEDERATED,
        *_ALMO,
        *_STRUCTURED,
        *_ALIGNMENT,
        *_KERNEL_PROJECTION,
    )
}
"""Without a grid: `radboost.experiments.studies` runs them."""

COMPARISONS = {table.name: table for table in _REGULARIZED}
"""Contenders that are cross-validated side by side: `radboost.experiments.comparison` runs them."""


def table(name: str) -> Table:
    """A table of `TABLES` by its name."""
    if name not in TABLES:
        known = ", ".join([*TABLES, *STUDIES, *COMPARISONS])
        raise ValueError(f"unknown table {name!r}; known are {known}")
    return TABLES[name]


__all__ = [
    "COMPARISONS",
    "RULES",
    "STUDIES",
    "TABLES",
    "Algorithm",
    "Cell",
    "ComparisonTable",
    "Figures",
    "KeptResults",
    "Outcome",
    "Run",
    "SparsityStudy",
    "Study",
    "Table",
    "reproduce",
    "table",
]
