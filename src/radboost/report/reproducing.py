"""How to come to the same numbers again: parameters, versions, seeds, and what the data were."""

from __future__ import annotations

import platform
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from radboost.report.blocks import Block, Code, Section, Table, Text
from radboost.report.figures import count, shortened
from radboost.report.subject import Subject
from radboost.rows.contents import digest

PACKAGES = ("radboost", "numpy", "scipy", "scikit-learn")
COMMAND = "command"  # the entry of the context that is a line to type


def reproducing(subject: Subject) -> Section:
    """Code, parameters, versions and hashes."""
    blocks: list[Block] = []
    if COMMAND in subject.context:
        blocks.append(Code(subject.context[COMMAND], "console"))
    blocks.append(Code(_code(subject), "python"))
    changed = _changed(subject.model)
    rows = tuple(
        (name, shortened(_text(value), 200), "changed" if name in changed else "as it comes")
        for name, value in sorted(subject.model.get_params(deep=False).items())
    )
    blocks.append(Table(("parameter", "value", "setting"), rows, "All parameters of the model."))
    chosen = getattr(subject.model, "chosen_", None)
    if isinstance(chosen, dict) and chosen:
        shown = tuple((str(name), shortened(_text(value), 200)) for name, value in chosen.items())
        blocks.append(Table(("what the fit chose by itself", "value"), shown))
    blocks.append(Table(("what", "value"), facts(subject), "The same rows in the same order have the same hash."))
    note = "Fits do not depend on the number of threads or the order of the rows: the same rows give the same model."
    blocks.append(Text((note,), "note"))
    if subject.asked is not subject.model:
        blocks.append(Text((_by_search(subject.asked),), "note"))
    return Section("reproduce", "How to reproduce it", "The model again, from the same rows.", tuple(blocks))


def _by_search(search: Any) -> str:
    """What chose the parameters, and whether it would again."""
    again = "The search with the same rows and parameters chooses them again."
    if getattr(search, "time_budget", None) is not None:
        again = (
            f"The search had time_budget={_text(search.time_budget)}: with other seconds, or on a machine that is "
            "faster or slower, it may choose others."
        )
    settings = count(len(search.cv_results_["params"]), "setting")
    return f"The parameters are those that {type(search).__name__} chose from {settings}; the code fits them. {again}"


def facts(subject: Subject) -> tuple[tuple[str, str], ...]:
    """Versions, hashes, and what the caller said of the data."""
    found = [(name, _version(name)) for name in PACKAGES]
    found.append(("python", platform.python_version()))
    found.append(("held-out rows, sha256", subject.digest))
    if subject.train is not None:
        found.append(("training rows, sha256", digest(subject.train.keys, subject.names)))
    seed = subject.model.get_params(deep=False).get("random_state")
    if seed is not None:
        found.append(("random_state", shortened(_text(seed), 80)))
    found += [(name, shortened(value, 300)) for name, value in subject.context.items()]
    return tuple(found)


def _code(subject: Subject) -> str:
    kind = type(subject.model)
    changed = _changed(subject.model)
    given = ", ".join(f"{name}={_text(value)}" for name, value in changed.items())
    module = "radboost" if not kind.__module__.startswith("radboost.baselines") else "radboost.baselines"
    sources = ", sources=sources" if hasattr(subject.model, "source_names_") else ""
    return "\n".join(
        [
            f"from {module} import {kind.__name__}",
            *(f"from radboost import {name}" for name in _parts(changed)),
            "",
            f"model = {kind.__name__}({given})",
            f"model.fit(X_train, y_train{sources})",
            'model.report(X_test, y_test, "report.html", X_train=X_train, y_train=y_train)',
        ]
    )


def _parts(changed: dict[str, Any]) -> list[str]:
    """Classes that the values are written with, of those that the package itself has."""
    package = import_module("radboost")
    kinds = {type(value) for value in changed.values()}
    return sorted(kind.__name__ for kind in kinds if getattr(package, kind.__name__, None) is kind)


def _changed(model: Any) -> dict[str, Any]:
    """Parameters that are not those of a new estimator."""
    usual = type(model)().get_params(deep=False)
    return {
        name: value
        for name, value in sorted(model.get_params(deep=False).items())
        if _text(value) != _text(usual.get(name))
    }


def _text(value: Any) -> str:
    """As code where that is possible; objects without words of their own by the name of their class."""
    shown = repr(value)
    return f"<{type(value).__name__}>" if " at 0x" in shown else shown


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
