"""Checks of what users pass in. Every message says what was given, what is allowed and what to do."""

from __future__ import annotations

import math
import numbers
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from radboost._names import our_loss
from radboost._tables import read_numbers

T = TypeVar("T")

# Sums of weights are kept in fixed point: beyond these bounds they would lose rows.
LARGEST_WEIGHT = 2.0**52
SMALLEST_WEIGHT = 1e-100
# The native code counts rounds and leaves in 32 bits.
LARGEST_INTEGER = 2**31 - 1


def resolve(what: str, given: object, known: Mapping[str, Callable[[], T]], kind: type[T], otherwise: str) -> T:
    """The member of a registry with this name, or the given object if it is of the right kind."""
    if isinstance(given, str):
        if given not in known:
            names = ", ".join(repr(name) for name in known)
            meant = our_loss(given, known) if what == "loss" else ""
            raise ValueError(f"Unknown {what} {given!r}.{meant} Known are {names}, or {otherwise}.")
        return known[given]()
    if isinstance(given, type) or not isinstance(given, kind):
        names = ", ".join(repr(name) for name in known)
        raise TypeError(f"{what} must be one of {names}, or {otherwise}; got {given!r}.")
    return given


@dataclass(frozen=True)
class Need:
    """Attribute that a solver needs of a loss or a penalty; None or False where it is lacking.

    In `message`, {given} and {name} stand for the loss or penalty and its name, {able} for those of `known` that have
    the attribute.
    """

    part: str
    attribute: str
    message: str
    known: Mapping[str, type[Any]] = field(default_factory=dict)


def check_needs(needs: Iterable[Need], **parts: Any) -> None:
    """Refuse the first of the parts that lacks an attribute that a solver needs."""
    for need in needs:
        given = parts[need.part]
        value = getattr(given, need.attribute, None)
        if value is None or value is False:
            able = [repr(name) for name, kind in need.known.items() if getattr(kind, need.attribute, None)]
            name = getattr(given, "name", type(given).__name__)
            raise ValueError(need.message.format(given=given, name=name, able=" or ".join(able).replace("'", '"')))


def check_choice(name: str, value: object, allowed: Sequence[str], also: str = "") -> str:
    if not isinstance(value, str) or value not in allowed:
        known = ", ".join(map(repr, allowed))
        known = f"{known} {also}" if also else f"one of {known}"
        meant = our_loss(value, allowed) if name == "loss" and isinstance(value, str) else ""
        raise ValueError(f"{name} must be {known}; got {value!r}.{meant}")
    return value


def check_integer(name: str, value: object, low: int, high: int = LARGEST_INTEGER) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer; got {value!r}.")
    number = int(value)
    if not low <= number <= high:
        raise ValueError(f"{name} must be {_integer_span(low, high, number)}; got {_shown(number)}.")
    return number


def check_verbose(value: object) -> int:
    """0, 1, ..., or a boolean."""
    return check_integer("verbose", int(value) if isinstance(value, bool | np.bool_) else value, 0)


def check_real(name: str, value: object, *, low: float, high: float = np.inf, open_low: bool = False) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number; got {value!r}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not (low < number if open_low else low <= number) or not number <= high or not np.isfinite(number):
        raise ValueError(f"{name} must lie in {_real_span(low, high, open_low)}; got {_shown(value)}.")
    return number


def check_integer_or(
    words: Sequence[str | None], name: str, value: object, low: int, high: int = LARGEST_INTEGER
) -> None:
    """An integer, or one of some words that stand for one; the message names both."""
    span = _integer_span(low, high, low).replace("at least", "of at least")
    _check_or(words, name, value, [f"an integer {span}"], lambda: check_integer(name, value, low, high))


def check_real_or(
    words: Sequence[str | None],
    name: str,
    value: object,
    *,
    low: float,
    high: float = np.inf,
    open_low: bool = False,
) -> None:
    """A number, or one of some words that stand for one; the message names both."""
    what = [f"a number in {_real_span(low, high, open_low)}"]
    _check_or(words, name, value, what, lambda: check_real(name, value, low=low, high=high, open_low=open_low))


def _check_or(
    words: Sequence[str | None], name: str, value: object, what: Sequence[str], check_number: Callable[[], object]
) -> None:
    is_word = value is None or isinstance(value, str)
    if is_word and value in words:
        return
    try:
        check_number()
    except (TypeError, ValueError) as error:
        kind = ValueError if is_word else type(error)
        *all_but_one, last = [*map(repr, words), *what]
        raise kind(f"{name} must be {', '.join(all_but_one)} or {last}; got {_shown(value)}.") from None


def _integer_span(low: int, high: int, number: int) -> str:
    """The allowed range in words; the limit of the type is named only where it was passed."""
    return f"at least {low}" if high == LARGEST_INTEGER and number <= high else f"between {low} and {high}"


def _real_span(low: float, high: float, open_low: bool) -> str:
    return f"{'(' if open_low else '['}{low:g}, {high:g}{')' if high == np.inf else ']'}"


def _shown(value: object) -> str:
    """Python refuses to write out integers of thousands of digits."""
    if isinstance(value, int) and value.bit_length() > 2000:
        return f"an integer of {value.bit_length()} bits"
    return repr(value)


def check_max_features(value: object, n_features: int) -> int:
    """Number of columns that a node tries; 0 stands for all of them."""
    names = {"sqrt": n_features**0.5, "log2": np.log2(max(2, n_features))}
    whole = isinstance(value, int | np.integer)

    def number() -> float:
        if whole:
            return min(n_features, check_integer("max_features", value, 1))
        return n_features * check_real("max_features", value, low=0.0, high=1.0, open_low=True)

    what = ["an integer of at least 1 (columns)", "a number in (0, 1] (a share of them)"]
    _check_or([None, *names], "max_features", value, what, number)
    if value is None:
        return 0
    wanted = names[value] if isinstance(value, str) else number()
    return min(n_features, max(1, round(float(wanted))))


def resolve_n_jobs(n_jobs: object) -> int:
    """Threads to use: None means all this process may use, negative numbers count back from there as in joblib.

    Inside a worker of joblib OMP_NUM_THREADS says how many threads are meant for it.
    """
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return max(1, min(available, int(limit))) if limit.isdigit() else available
    number = check_integer("n_jobs", n_jobs, -(2**31), 1024)
    if number == 0:
        raise ValueError("n_jobs must not be 0. Use None for all cores, a positive number, or -1, -2, ... .")
    return number if number > 0 else max(1, available + 1 + number)


def check_pair(name: str, has_validation: bool, given: Any, given_val: Any) -> None:
    """Refuse an argument of `fit` (costs, offsets) that training and validation rows have not both, or neither."""
    if not has_validation and given_val is not None:
        raise ValueError(f"{name}_val was given without X_val and y_val.")
    if has_validation and (given is None) != (given_val is None):
        raise ValueError(
            f"{name} and {name}_val belong together: where each training row has one, so has each validation row, and "
            "the other way round."
        )


def check_sample_weight(
    sample_weight: object, n_rows: int, name: str = "sample_weight"
) -> npt.NDArray[np.float64] | None:
    """One finite, non-negative weight per row, not all zero; None stands for ones."""
    if sample_weight is None:
        return None
    weights = read_sample_weight(sample_weight, n_rows, name)
    check_total_weight(float(weights.max()), float(weights.sum()), name)
    return weights


def read_sample_weight(sample_weight: object, n_rows: int, name: str = "sample_weight") -> npt.NDArray[np.float64]:
    """One finite, non-negative weight per row."""
    if isinstance(sample_weight, numbers.Real):
        sample_weight = np.full(n_rows, float(sample_weight))
    wanted = "one per row, not dates or complex numbers"
    weights = read_numbers(sample_weight, name, wanted, "with 0 to leave rows out, say")
    if weights.ndim != 1:
        raise ValueError(f"{name} must be 1-dimensional, one weight per row; got {weights.ndim} dimensions.")
    if weights.shape[0] != n_rows:
        raise ValueError(f"{name} has {weights.shape[0]} entries for {n_rows} rows; one weight per row is needed.")
    check_not_negative(weights, name, "weight", "Weights count repetitions of a row: use 0 to leave a row out.")
    return weights


def check_not_negative(values: npt.NDArray[np.float64], name: str, what: str, advice: str) -> None:
    """Refuse numbers that are not finite, or below 0."""
    if not np.isfinite(values).all():
        raise ValueError(f"{name} holds NaN or infinity; every {what} must be a finite number.")
    if (values < 0).any():
        raise ValueError(f"{name} holds negative {what}s (the smallest is {values.min():g}). {advice}")


def check_total_weight(largest: float, total: float, name: str = "sample_weight") -> None:
    """Refuse weights whose sums would lose rows, and those of which none is positive."""
    if largest > LARGEST_WEIGHT or total > LARGEST_WEIGHT or 0 < largest < SMALLEST_WEIGHT:
        raise ValueError(
            f"{name} goes up to {largest:g} and sums to {total:g}; the largest weight must be at least "
            f"{SMALLEST_WEIGHT:g} and the sum at most {LARGEST_WEIGHT:g}. Rescale the weights."
        )
    if not largest > 0:
        raise ValueError(f"{name} is zero for every row; at least one sample needs a non-zero weight.")


def warn_small_total(total: float, n_rows: int) -> None:
    """Weights are repetitions, so weights that sum to 1 mean a data set of one row."""
    if total < n_rows / 4:
        warnings.warn(
            f"The sample weights sum to {total:g} for {n_rows} rows. A weight counts repetitions of its row, and the "
            "complexity of a hypothesis is judged against that sum. If the weights are only meant as ratios, rescale "
            "them: sample_weight * len(sample_weight) / sample_weight.sum().",
            UserWarning,
            stacklevel=7,
        )


def check_boolean(name: str, value: Any) -> bool:
    """True or False, NumPy's too."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def check_random_state(random_state: Any) -> None:
    """Refuse anything but a seed, without drawing from a generator."""
    known = np.random.RandomState | np.random.Generator | int | np.integer | None
    if isinstance(random_state, bool) or not isinstance(random_state, known):
        raise ValueError(f"random_state must be an integer, a NumPy generator or None; got {random_state!r}.")


def seed_from(random_state: Any) -> int:
    """An integer seed; a generator gives one number, None one from the operating system."""
    check_random_state(random_state)
    if random_state is None:
        return int(np.random.default_rng().integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    return int(random_state) % 2**64


def generator_from(random_state: Any) -> np.random.Generator:
    """A new generator, or the one that was given."""
    return (
        random_state
        if isinstance(random_state, np.random.Generator)
        else np.random.default_rng(seed_from(random_state))
    )


def check_score_memory(n_rows: int, n_classes: int, bytes_per_score: int) -> None:
    """Refuse a number for each row and class that would not fit into memory."""
    needed, available = bytes_per_score * n_rows * n_classes, free_memory()
    if needed > available:
        raise ValueError(
            f"{n_rows} rows with {n_classes} classes need about {needed / 2**30:.1f} GiB for their scores, and "
            f"{available / 2**30:.1f} GiB are free. Use fewer rows or classes; is y a class at all, or a number to "
            "predict or an identifier?"
        )


def free_memory() -> float:
    """Bytes that a process can have, or infinity where the system does not tell."""
    try:  # Linux counts the cache of files in, which gives way
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        pass
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        return math.inf
