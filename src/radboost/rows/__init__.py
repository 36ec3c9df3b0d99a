"""Training rows on their way into the engine: read, checked, binned, sorted, watched."""

from radboost.rows.categories import TextColumnWarning

__all__ = ["TextColumnWarning"]
