"""Training rows on their way into the engine: read, checked, binned, sorted."""

from radboost.rows.categories import RareCategoriesWarning, TextColumnWarning

__all__ = ["RareCategoriesWarning", "TextColumnWarning"]
