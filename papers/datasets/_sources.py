"""Sources of data sets: a folder, the cache, OpenML, in this order."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from papers.datasets import _files, _openml
from papers.datasets._dataset import Dataset, DatasetError
from papers.datasets._registry import Entry, entry

StrPath = str | os.PathLike[str]


def load(name: str, data_dir: StrPath | None = None) -> Dataset:
    """Load a data set by its name or alias (`papers.datasets.available()` lists the names).

    Read from `data_dir` (None: the folder named by the environment variable RADBOOST_DATA), else from the cache
    (RADBOOST_CACHE, or ~/.cache/radboost), else from OpenML, whose copy is then cached.
    """
    wanted = entry(name)
    if wanted.digits is not None:
        return _two_digits(load("mnist", data_dir), wanted.name, wanted.digits)
    return _files.read(locate(name, data_dir) or _download(wanted, data_dir), wanted.name)


def locate(name: str, data_dir: StrPath | None = None) -> Path | None:
    """Local file that `load` would read (`mnist` for the sets cut out of it); None if there is none."""
    wanted = entry(name)
    stem = wanted.name if wanted.digits is None else "mnist"
    for folder in _folders(data_dir):
        path = _files.find(folder, stem)
        if path is not None:
            return path
    return None


def _folders(data_dir: StrPath | None) -> list[Path]:
    given, origin = (
        (data_dir, "data_dir") if data_dir is not None else (os.environ.get("RADBOOST_DATA"), "RADBOOST_DATA")
    )
    if not given:
        return [_cache()]
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise DatasetError(f"{origin} is {str(folder)!r}, which is not a directory; give one with files <name>.csv.gz")
    return [folder, _cache()]


def _cache() -> Path:
    return Path(os.environ.get("RADBOOST_CACHE") or "~/.cache/radboost").expanduser()


def _download(wanted: Entry, data_dir: StrPath | None) -> Path:
    try:
        if wanted.openml is None:
            raise DatasetError("OpenML does not have it in this form")
        return _openml.fetch(wanted, _cache())
    # whatever goes wrong on the way to OpenML (network, server, parser), the user needs the same advice
    except Exception as error:
        folders = " and ".join(str(folder) for folder in _folders(data_dir))
        source = "OpenML" if wanted.openml is None else f"OpenML {wanted.openml}"
        raise DatasetError(
            f"data set {wanted.name!r} not found: no file in {folders}; {source}: {error}. "
            f"Put {wanted.file_name} into a folder and name that folder by data_dir or RADBOOST_DATA"
        ) from error


def _two_digits(mnist: Dataset, name: str, digits: tuple[int, int]) -> Dataset:
    """Two digits of MNIST, cut back from 28 x 28 to 20 x 20 (the paper's ocr17-mnist and ocr49-mnist)."""
    rows = np.isin(mnist.y, digits)
    return Dataset(
        name=name,
        X=_crop(mnist.X[rows].reshape(-1, 28, 28), 20).reshape(-1, 400),
        y=mnist.y[rows],
        feature_names=_files.pixel_names(400),
        split=None if mnist.split is None else mnist.split[rows],
        categories={},
        source=mnist.source,
    )


def _crop(images: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """Move the box around the ink of each image to the middle of a smaller square."""
    firsts, extents = [], []
    for axis in (2, 1):
        ink = np.asarray(images.any(axis=axis))
        first = ink.argmax(axis=1)
        firsts.append(first)
        extents.append(ink.shape[1] - ink[:, ::-1].argmax(axis=1) - first)
    if max(extent.max() for extent in extents) > side:
        raise DatasetError(f"an image has ink in a box larger than {side} x {side}: this is not MNIST")
    # output pixel p of an axis shows input pixel p + shift; a border of zeros serves what lies outside
    padded = np.pad(images, ((0, 0), (side, side), (side, side)))
    row, column = (
        (first - (side - extent) // 2 + side)[:, None] + np.arange(side)
        for first, extent in zip(firsts, extents, strict=True)
    )
    out: NDArray[np.uint8] = padded[np.arange(len(images))[:, None, None], row[:, :, None], column[:, None, :]]
    return out
