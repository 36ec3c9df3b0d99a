"""Data sets of the papers, by name.

    from papers import datasets

    diabetes = datasets.load("diabetes")
    X, y = diabetes.X, diabetes.y

A set is read from the folder `data_dir` (or the one that the environment variable RADBOOST_DATA names), else from the
cache, else from OpenML, whose copy goes into the cache.
"""

from papers.datasets._dataset import Dataset, DatasetError
from papers.datasets._registry import Entry, available, entry
from papers.datasets._sources import load, locate

__all__ = [
    "Dataset",
    "DatasetError",
    "Entry",
    "available",
    "entry",
    "load",
    "locate",
]
