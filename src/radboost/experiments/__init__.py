"""The tables of the papers, run again.

    from radboost import experiments

    table = experiments.table("deep-boosting-2")
    for cell in experiments.reproduce(table, datasets=["diabetes"], quick=True):
        print(cell.dataset, cell.algorithm, cell.error, cell.paper.error)

`radboost reproduce deep-boosting-2` does the same from the command line.
"""

from radboost.experiments.deep_boosting import TABLES as _DEEP_BOOSTING
from radboost.experiments.kept import KeptResults
from radboost.experiments.multi_class_deep_boosting import TABLES as _MULTI_CLASS
from radboost.experiments.protocol import RULES, Cell, Run, reproduce
from radboost.experiments.spec import Algorithm, Figures, Table

TABLES = {table.name: table for table in (*_DEEP_BOOSTING, *_MULTI_CLASS)}


def table(name: str) -> Table:
    """A table of `TABLES` by its name."""
    if name not in TABLES:
        raise ValueError(f"unknown table {name!r}; known are {', '.join(TABLES)}")
    return TABLES[name]


__all__ = ["RULES", "TABLES", "Algorithm", "Cell", "Figures", "KeptResults", "Run", "Table", "reproduce", "table"]
