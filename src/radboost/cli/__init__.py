"""The command `radboost`: from a table to a model, its predictions and a report."""

from radboost.cli.entry import main

__all__ = ["main"]
