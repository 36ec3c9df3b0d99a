"""The tables of the papers, run again.

    import papers

    table = papers.table("deep-boosting-2")
    for cell in papers.reproduce(table, datasets=["diabetes"], quick=True):
        print(cell.dataset, cell.algorithm, cell.error, cell.paper.error)

`python -m papers run deep-boosting-2` does the same from the command line.
"""

from papers.almo import STUDIES as _ALMO
from papers.deep_boosting import TABLES as _DEEP_BOOSTING
from papers.deep_boosting_figures import STUDIES as _DEEP_BOOSTING_FIGURES
from papers.federated import STUDIES as _FEDERATED
from papers.kept import KeptResults
from papers.kernel_projection import STUDIES as _KERNEL_PROJECTION
from papers.multi_class_deep_boosting import TABLES as _MULTI_CLASS
from papers.multi_source import STUDIES as _MULTI_SOURCE
from papers.protocol import RULES, Cell, Run, reproduce
from papers.regularized_gradient_boosting import TABLES as _REGULARIZED
from papers.regularized_gradient_boosting import ComparisonTable
from papers.soft_max_boosting import STUDIES as _SOFT_MAX
from papers.spec import Algorithm, Figures, Table
from papers.structural_sparsity import STUDIES as _STRUCTURAL_SPARSITY
from papers.structural_sparsity import SparsityStudy
from papers.structured import STUDIES as _STRUCTURED
from papers.structured_alignment import STUDIES as _ALIGNMENT
from papers.studies import Outcome
from papers.study import Study

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
"""Without a grid: `papers.studies` runs them."""

COMPARISONS = {table.name: table for table in _REGULARIZED}
"""Contenders that are cross-validated side by side: `papers.comparison` runs them."""


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
