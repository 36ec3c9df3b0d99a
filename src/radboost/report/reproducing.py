"""Code, versions, seeds and hashes with which the same numbers come out again."""

from __future__ import annotations

import platform
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from radboost.report.blocks import Block, CellTable, Code, Section, Text
from radboost.report.figures import count
from radboost.report.html import shortened
from radboost.report.subject import Subject
from radboost.rows.hashing import digest

PACKAGES = ("radboost", "numpy", "scipy", "scikit-learn")
COMMAND = "command"  # entry of the context with a command line
NOTE = "Fits do not depend on the number of threads or the order of the rows: the same rows give the same model."


def reproducing(subject: Subject) -> Section:
    """Code, automatic settings, versions and hashes."""
    blocks: list[Block] = []
    if COMMAND in subject.context:
        blocks.append(Code(subject.context[COMMAND]))
    blocks.append(Code(_code(subject)))
    chosen = getattr(subject.model, "chosen_", None)
    if isinstance(chosen, dict) and chosen:
        rows = tuple((str(name), shortened(_text(value), 200)) for name, value in chosen.items())
        blocks.append(CellTable(("what the fit chose by itself", "value"), rows))
    blocks.append(CellTable(("what", "value"), facts(subject), "The same rows in the same order have the same hash."))
    note = NOTE if subject.asked is subject.model else f"{NOTE} {_by_search(subject.asked)}"
    blocks.append(Text((note,), "note"))
    return Section("reproduce", "How to reproduce it", "The model again, from the same rows.", tuple(blocks))


def _by_search(search: Any) -> str:
    settings = count(len(search.cv_results_["params"]), "setting")
    by = f"The parameters are those that {type(search).__name__} chose from {settings}; the code fits them."
    budget = getattr(search, "time_budget", None)
    return by if budget is None else f"{by} With time_budget={_text(budget)} another run may choose others."


def facts(subject: Subject) -> tuple[tuple[str, str], ...]:
    """Names with values: versions, hashes, and the context that the caller gave."""
    pairs = [(name, _version(name)) for name in PACKAGES]
    pairs.append(("python", platform.python_version()))
    pairs.append(("held-out rows, sha256", subject.digest))
    if subject.train is not None:
        pairs.append(("training rows, sha256", digest(subject.train.keys, subject.names)))
    seed = subject.model.get_params(deep=False).get("random_state")
    if seed is not None:
        pairs.append(("random_state", shortened(_text(seed), 80)))
    return (*pairs, *((name, shortened(value, 300)) for name, value in subject.context.items()))


def _code(subject: Subject) -> str:
    kind, package = type(subject.model), import_module("radboost")
    usual = kind().get_params(deep=False)
    parameters = sorted(subject.model.get_params(deep=False).items())
    changed = {name: value for name, value in parameters if _text(value) != _text(usual.get(name))}
    module = "radboost.baselines" if kind.__module__.startswith("radboost.baselines") else "radboost"
    classes = {type(value) for value in changed.values()}
    imported = sorted(one.__name__ for one in classes if getattr(package, one.__name__, None) is one)
    sources = ", sources=sources" if hasattr(subject.model, "source_names_") else ""
    return "\n".join(
        [
            f"from {module} import {kind.__name__}",
            *(f"from radboost import {name}" for name in imported),
            "",
            f"model = {kind.__name__}({', '.join(f'{name}={_text(value)}' for name, value in changed.items())})",
            f"model.fit(X_train, y_train{sources})",
            'model.report(X_test, y_test, "report.html", X_train=X_train, y_train=y_train)',
        ]
    )


def _text(value: Any) -> str:
    """Code of a value where that is possible, else the name of its class."""
    shown = repr(value)
    return f"<{type(value).__name__}>" if " at 0x" in shown else shown


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
