"""The data sets of the papers, by name.

    from radboost import datasets

    diabetes = datasets.load("diabetes")
    X, y = diabetes.X, diabetes.y

A set is looked for in the folder `data_dir` (or the one that the environment variable RADBOOST_DATA names),
then in the cache, then on OpenML; what OpenML delivers goes into the cache.

`make_long_servedio`, `make_madelon_like` and `make_noisy` make problems, and labels that are wrong.
"""

from radboost.datasets._dataset import Dataset, DatasetError
from radboost.datasets._registry import Entry, available, entry
from radboost.datasets._sources import load, locate
from radboost.datasets._synthetic import MadelonLike, make_long_servedio, make_madelon_like, make_noisy

__all__ = [
    "Dataset",
    "DatasetError",
    "Entry",
    "MadelonLike",
    "available",
    "entry",
    "load",
    "locate",
    "make_long_servedio",
    "make_madelon_like",
    "make_noisy",
]
