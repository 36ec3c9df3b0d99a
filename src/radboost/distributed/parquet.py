"""Parquet files as partitions: the client reads their metadata, the workers their rows."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from radboost._tables import without_arrow
from radboost.rows.partitions import SUFFIXES, TRAINING, LoadedPartition

ENDINGS = (".parquet", ".pq")
PART_BYTES = 2**26  # largest size of a partition, with 8 bytes per value; a row group is never divided
PARTS_OF_A_WORKER = 8  # smallest number of partitions per worker, if row groups allow it, for an even distribution
NUMBER_BYTES = 8  # per value


@dataclass(frozen=True)
class ParquetPartition:
    """Row groups of a file, which `load` reads each time it is called."""

    path: str
    row_groups: list[int]
    n_rows: int
    features: list[str]
    other_columns: Mapping[str, str | list[str]] = field(default_factory=dict)
    """Names of columns by fields of `LoadedPartition`; several for a y of several targets."""
    role: str = TRAINING

    def load(self) -> LoadedPartition:
        """Rows as `fit` takes them: X as a pyarrow table, the rest as arrays."""
        import pyarrow as pa
        import pyarrow.parquet as parquet

        wanted = dict.fromkeys([*self.features, *_flat(self.other_columns)])
        try:
            with parquet.ParquetFile(self.path) as file:
                table = file.read_row_groups(self.row_groups, columns=list(wanted))
        except FileNotFoundError:
            raise ValueError(
                f"A worker has no file {self.path}. The client and all workers must see the files by the same paths, "
                "for example in a folder that all of them share."
            ) from None
        except (pa.ArrowException, OSError, IndexError) as error:  # an OSError would be taken for a lost worker
            raise ValueError(f"{self.path} cannot be read by a worker: {error}") from error
        if table.num_rows != self.n_rows:
            raise ValueError(
                f"{self.path} has changed since the fit began: row groups with {self.n_rows} rows have "
                f"{table.num_rows} now."
            )
        others = {
            name: without_arrow(table.column(of) if isinstance(of, str) else table.select(of))
            for name, of in self.other_columns.items()
        }
        return LoadedPartition(_with_floats(table.select(self.features)), **others, role=self.role)


def are_files(given: Any) -> bool:
    """Return True for a path or a list of paths."""
    if isinstance(given, list | tuple):
        return bool(given) and all(isinstance(one, str | os.PathLike) for one in given)
    return isinstance(given, str | os.PathLike)


def parquet_parts(
    paths: Any,
    other_columns: Mapping[str, Any],
    columns: Sequence[str] | None = None,
    *,
    n_workers: int = 1,
    part_bytes: int = PART_BYTES,
    role: str = TRAINING,
) -> list[ParquetPartition]:
    """Partitions of Parquet files: successive row groups, merged up to `part_bytes` bytes.

    `other_columns` maps fields of `LoadedPartition` (y, sample_weight, ...) to column names. `columns` are
    the columns of X; None: all others.
    """
    contents = read_contents(parquet_files(paths))
    for name, of in other_columns.items():
        _check_name(name + SUFFIXES[role], of, contents[0])
    taken = _flat(other_columns)
    features = _features(contents[0], taken, columns)
    _check_alike(contents, [*features, *taken])
    n_rows_of_files = sum(sum(one.group_rows) for one in contents)
    most_rows = min(
        part_bytes // (NUMBER_BYTES * (len(features) + len(taken))), n_rows_of_files // (PARTS_OF_A_WORKER * n_workers)
    )
    parts = [
        ParquetPartition(one.path, groups, n_rows, features, other_columns, role)
        for one in contents
        for groups, n_rows in _grouped(one.group_rows, most_rows)
    ]
    if not parts:
        raise ValueError(f"{contents[0].path}{' and the other files have' if contents[1:] else ' has'} no rows.")
    return parts


@dataclass(frozen=True)
class Contents:
    """Metadata of a file."""

    path: str
    schema: Any
    group_rows: list[int]  # number of rows of each row group

    @property
    def names(self) -> list[str]:
        """Names of the columns, without the index that pandas stored."""
        stored = (self.schema.pandas_metadata or {}).get("index_columns", [])
        names_of_rows = {one for one in stored if isinstance(one, str)}
        return [name for name in self.schema.names if name not in names_of_rows]


def parquet_files(given: Any) -> list[str]:
    """Absolute paths of the files named by a path, a pattern, a folder or a list of these."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: install the extra, pip install 'radboost[dask]'.") from error
    several = list(given) if isinstance(given, list | tuple) else [given]
    files = [str(Path(path).absolute()) for one in several for path in _files_of(os.fspath(one))]
    twice = [path for path, n_times in Counter(files).items() if n_times > 1]
    if twice:
        raise ValueError(f"{twice[0]} is named twice; its rows would count twice.")
    return files


def _files_of(path: str) -> list[str]:
    if "://" in path:
        raise ValueError(
            f"{path}: only files that the workers have in a folder are read by their names; for others give fit a Dask "
            "data frame, dask.dataframe.read_parquet(...)."
        )
    if Path(path).is_dir():
        return _files_in(path)
    if Path(path).exists():
        return [path]
    if not glob.has_magic(path):
        raise FileNotFoundError(f"{path}: there is no such file or folder.")
    matching = sorted(one for one in glob.glob(path, recursive=True) if Path(one).is_file())  # noqa: PTH207, absolute
    if not matching:
        raise FileNotFoundError(f"{path}: no file has such a name.")
    return matching


def _files_in(folder: str) -> list[str]:
    """Parquet files of a folder and its subfolders; names that begin with a dot or _ belong to other tools."""
    files = []
    for path in sorted(Path(folder).rglob("*")):
        inside = path.relative_to(folder).parts
        if path.suffix.lower() not in ENDINGS or not path.is_file() or any(one[0] in "._" for one in inside):
            continue
        if any("=" in one for one in inside[:-1]):
            raise ValueError(
                f"{path}: values that stand in the names of folders are not read. Give fit a Dask data frame, "
                "dask.dataframe.read_parquet(...), or write them as columns."
            )
        files.append(str(path))
    if not files:
        raise FileNotFoundError(f"{folder}: this folder has no file that ends with {' or '.join(ENDINGS)}.")
    return files


def read_contents(paths: Sequence[str]) -> list[Contents]:
    """Metadata of files; no rows are read."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    contents = []
    for path in paths:
        try:
            metadata = parquet.read_metadata(path)
            schema = metadata.schema.to_arrow_schema()
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{path} is no Parquet file that can be read: {error}") from error
        twice = [name for name, n_times in Counter(schema.names).items() if n_times > 1]
        if twice:
            raise ValueError(
                f"{path} has more than one column named {twice[0]!r}; give every column a name of its own."
            )
        group_rows = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        contents.append(Contents(path, schema, group_rows))
    return contents


def _check_name(name: str, given: Any, contents: Contents) -> None:
    several = given if name.startswith("y") and isinstance(given, list | tuple) and given else [given]
    if not all(isinstance(one, str) for one in several):
        raise TypeError(f"{name} must be the name of a column where X names files; got {type(given).__name__}.")
    _check_columns_exist(name, several, contents)


def _check_columns_exist(what: str, names: Sequence[str], contents: Contents) -> None:
    present = contents.schema.names
    absent = [one for one in names if one not in present]
    if absent:
        shown = ", ".join(map(repr, present[:10])) + (f" and {len(present) - 10} more" if len(present) > 10 else "")
        raise ValueError(f"{what} names the column {absent[0]!r}, and {contents.path} has the columns {shown}.")


def _features(contents: Contents, taken: Sequence[str], columns: Sequence[str] | None) -> list[str]:
    if columns is None:
        features = [name for name in contents.names if name not in taken]
    else:
        if isinstance(columns, str) or not all(isinstance(one, str) for one in columns):
            raise TypeError(f"columns must be a list of names of columns; got {columns!r}.")
        features = list(columns)
        _check_columns_exist("columns", features, contents)
        both = [one for one in features if one in taken]
        if both:
            raise ValueError(f"columns names {both[0]!r}, which is a column beside X. Leave it out of one of them.")
        if len(set(features)) < len(features):
            raise ValueError(f"columns names a column twice: {features}.")
    if not features:
        raise ValueError(f"{contents.path} has no column for X beside {', '.join(map(repr, taken))}.")
    return features


def _check_alike(contents: Sequence[Contents], used: Sequence[str]) -> None:
    """Raise ValueError unless all files have the columns of the first one, with equal types; in any order."""
    first = contents[0]
    known = set(first.names)
    for other in contents[1:]:
        absent = [name for name in used if name not in other.schema.names]
        more = [name for name in other.names if name not in known]
        if absent or (more and len(used) == len(known)):
            name, has, lacks = (absent[0], first, other) if absent else (more[0], other, first)
            raise ValueError(f"The files differ: {has.path} has a column {name!r}, and {lacks.path} has none.")
        for name in used:
            types = [_type_of(one.schema.field(name).type) for one in (first, other)]
            if types[0] != types[1]:
                raise ValueError(
                    f"The files differ: the column {name!r} is {types[0]} in {first.path}, and {types[1]} in "
                    f"{other.path}. Write it with one type everywhere."
                )


def _type_of(kind: Any) -> str:
    """Name of an Arrow type, equal for the several types of categories and of text."""
    if str(kind).startswith("dictionary"):
        return f"categories of {_type_of(kind.value_type)}"
    return str(kind).replace("large_string", "string").replace("string_view", "string")


def _grouped(group_rows: Sequence[int], most_rows: int) -> list[tuple[list[int], int]]:
    """Indices of successive row groups with at most `most_rows` rows (or one group), and their number of rows."""
    grouped: list[tuple[list[int], int]] = []
    for group, n_rows in enumerate(group_rows):
        if n_rows:
            fits = bool(grouped) and grouped[-1][1] + n_rows <= most_rows
            groups, n_before = grouped.pop() if fits else ([], 0)
            grouped.append(([*groups, group], n_before + n_rows))
    return grouped


def _flat(columns: Mapping[str, str | Sequence[str]]) -> list[str]:
    """Names of all columns."""
    return [name for of in columns.values() for name in ([of] if isinstance(of, str) else of)]


def _with_floats(table: Any) -> Any:
    """Table with booleans and decimal numbers converted to float64, as scikit-learn does for data frames."""
    import pyarrow as pa

    for i, kind in enumerate(table.schema.types):
        if pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
            values = np.asarray(table.column(i)).astype(np.float64)
            table = table.set_column(i, table.column_names[i], pa.array(values))
    return table


def deal_out(parts: Sequence[ParquetPartition], workers: Sequence[str]) -> dict[str, list[ParquetPartition]]:
    """Assign partitions to workers, by worker name, with about equal numbers of rows."""
    dealt: dict[str, list[ParquetPartition]] = {worker: [] for worker in sorted(workers)}
    n_rows = dict.fromkeys(dealt, 0)
    for part in sorted(parts, key=lambda part: -part.n_rows):
        smallest = min(n_rows, key=n_rows.__getitem__)
        n_rows[smallest] += part.n_rows
        dealt[smallest].append(part)
    return {worker: own for worker, own in dealt.items() if own}
