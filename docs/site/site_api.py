"""The pages of the API reference, made of the public names. Files are read; what needs extras is not imported."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from site_links import ROOT

Definition = ast.ClassDef | ast.FunctionDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class Page:
    """A page of the reference: some names of a module or, where none are given, all its public ones."""

    file: str
    title: str
    text: str
    module: str = "radboost"
    listed: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The page of the site."""
        return f"api/{self.file}.md"

    @property
    def names(self) -> list[str]:
        """What the page has an entry for, by the names that users import."""
        return list(self.listed) or [*public_names(self.module), *registered(self.module)]


PAGES = (
    Page(
        "deepboost",
        "DeepBoost",
        "Classes, with good defaults at every size: [which estimator?](../which-estimator.md)",
        listed=("DeepBoostClassifier", "DeepBoostClassifierCV"),
    ),
    Page(
        "softmax",
        "Soft-max boosting",
        "Unequal costs of mistakes and wrong labels: [the guide](../softmax.md).",
        listed=("SoftmaxBoostClassifier", "SoftmaxBoostClassifierCV"),
    ),
    Page(
        "rgb",
        "Regularized gradient boosting",
        "Regression, and classes: [the guide](../rgb.md).",
        listed=("RGBRegressor", "RGBRegressorCV", "RGBClassifier", "RGBClassifierCV"),
    ),
    Page(
        "sparse",
        "Structural sparsity",
        "Few features, formulas, several tasks: [the guide](../sparsity.md).",
        listed=(
            "SparseBoostClassifier",
            "SparseBoostClassifierCV",
            "SparseBoostRegressor",
            "SparseBoostRegressorCV",
            "MultiTaskSparseBoostClassifier",
            "MultiTaskSparseBoostClassifierCV",
        ),
    ),
    Page(
        "several",
        "Several sources, several losses",
        "One model that holds up on [each source](../sources.md), or under [each loss](../several-losses.md).",
        listed=("MultiSourceBoostClassifier", "Mixtures", "AgnosticBoostClassifier", "AgnosticClassifier"),
    ),
    Page(
        "projection",
        "Kernel projection",
        "A few directions that tell the classes apart: [the guide](../kernel-projection.md).",
        listed=("SupervisedKernelProjection", "NamedKernel", "PrecomputedKernel", "column_kernels"),
    ),
    Page(
        "parts",
        "Parts of a fit",
        "What estimators take as parameters: how trees are grown, which families of hypotheses there are,"
        " [when a fit stops and what it leaves behind](../training.md).",
        listed=(
            "TreeOptions",
            "TreeFamilies",
            "Trees",
            "KernelFamily",
            "Candidates",
            "WeightedL1",
            "EarlyStopping",
            "Checkpoint",
        ),
    ),
    Page(
        "files",
        "Model files",
        "A fitted model has `save`; this opens the file, without running code:"
        " [the format](../developers/model-file.md).",
        listed=("load", "ModelFileError"),
    ),
    Page(
        "guarantees",
        "radboost.guarantees",
        "Margins, [bounds](../guarantees.md), [limits from held-out rows and conformal sets](../held-out.md).",
        "radboost.guarantees",
    ),
    Page("metrics", "radboost.metrics", "Measures beside those of scikit-learn.", "radboost.metrics"),
    Page("plot", "radboost.plot", 'Pictures of models, with `pip install "radboost[plot]"`.', "radboost.plot"),
    Page(
        "losses",
        "radboost.losses",
        "Losses by name and as objects, and what [one of your own](../developers/extending.md#your-own) needs.",
        "radboost.losses",
    ),
    Page(
        "families",
        "radboost.families",
        "Where hypotheses come from, and [how to add a family](../developers/extending.md#a-family).",
        "radboost.families",
    ),
    Page("report", "radboost.report", "A model judged on held-out rows, as a page of HTML.", "radboost.report"),
    Page("sparsity", "radboost.sparsity", "What [sparse models](../sparsity.md) are made of.", "radboost.sparsity"),
    Page("datasets", "radboost.datasets", "Data that is hard on purpose, and wrong labels.", "radboost.datasets"),
    Page("export", "radboost.export", "What [exporting a model](../exporting.md) may raise.", "radboost.export"),
    Page(
        "federated",
        "radboost.federated",
        'Fits on rows of many clients: [the guide](../federated.md). Needs `pip install "radboost[flower]"`.',
        "radboost.federated",
    ),
    Page(
        "distributed",
        "radboost.distributed",
        'Fits on a Dask cluster: [the guide](../cluster.md). Needs `pip install "radboost[dask]"`.',
        "radboost.distributed",
    ),
    Page(
        "distributed-mpi",
        "radboost.distributed.mpi",
        'The same on MPI: [the guide](../cluster.md#mpi). Needs `pip install "radboost[mpi]"`.',
        "radboost.distributed.mpi",
        ("fit",),
    ),
    Page(
        "structured",
        "radboost.structured",
        "Strings as answers: [the guide](../structured.md).",
        "radboost.structured",
    ),
    Page(
        "torch",
        "radboost.torch",
        "Losses for networks: [several of them](../several-losses.md), [of strings](../structured.md)."
        ' Needs `pip install "radboost[torch]"`.',
        "radboost.torch",
    ),
    Page("baselines", "radboost.baselines", "Older algorithms on the same engine.", "radboost.baselines"),
)


def _file(module: str) -> Path:
    path = ROOT.joinpath("src", *module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _module(name: str) -> ast.Module:
    return ast.parse(_file(name).read_text(encoding="utf-8"))


def _submodules(module: str) -> list[str]:
    folder = ROOT.joinpath("src", *module.split("."))
    return [f"{module}.{path.stem}" for path in sorted(folder.glob("*.py")) if path.stem != "__init__"]


def public_names(module: str) -> list[str]:
    """`__all__` of a module or, without one, its public functions and classes."""
    tree = _module(module)
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and "__all__" in _bound(statement):
            return list(ast.literal_eval(statement.value))
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    ]


def registered(package: str) -> list[str]:
    """Classes of a folder that register themselves under a name, which can be imported without being in `__all__`."""
    classes = (node for name in _submodules(package) for node in _module(name).body if isinstance(node, ast.ClassDef))
    found = {
        node.name
        for node in classes
        if any(
            word.arg == "name" and isinstance(word.value, ast.Constant) and word.value.value for word in node.keywords
        )
    }
    return sorted(found - set(public_names(package))) if package == "radboost.losses" else []


def _bound(statement: ast.stmt) -> list[str]:
    """The names that a statement defines."""
    match statement:
        case ast.ClassDef() | ast.FunctionDef():
            return [statement.name]
        case ast.Assign():
            return [target.id for target in statement.targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def definition(module: str, name: str) -> tuple[str, Definition]:
    """The module in which a public name is defined, and the statement that does it: imports are followed."""
    for statement in _module(module).body:
        if name in _bound(statement):
            return module, statement  # type: ignore[return-value]
        if isinstance(statement, ast.ImportFrom) and statement.module:
            for alias in statement.names:
                if (alias.asname or alias.name) == name:
                    return definition(statement.module, alias.name)
    for inner in _submodules(module):  # what `__getattr__` of a folder finds
        if any(name in _bound(statement) for statement in _module(inner).body):
            return definition(inner, name)
    raise LookupError(f"{module}.{name} is public, but no statement that defines it was found.")


def docstring_of_class(module: str, name: str) -> str:
    """What Python knows, for classes that put their docstring together."""
    return inspect.getdoc(getattr(import_module(module), name)) or ""


def summary(module: str, name: str) -> str:
    """The first sentence of the docstring of a public name; empty where there is none."""
    where, statement = definition(module, name)
    if isinstance(statement, ast.ClassDef) and any("__doc__" in _bound(inner) for inner in statement.body):
        return docstring_of_class(where, name).partition("\n\n")[0].replace("\n", " ")
    if isinstance(statement, ast.ClassDef | ast.FunctionDef):
        return (ast.get_docstring(statement) or "").partition("\n\n")[0].replace("\n", " ")
    body = _module(where).body
    after = body[body.index(statement) + 1 : body.index(statement) + 2]
    match after:
        case [ast.Expr(value=ast.Constant(value=str(text)))]:
            return text.partition("\n\n")[0].replace("\n", " ")
    return ""


def _is_bound(module: str, name: str) -> bool:
    """Whether tools that read files find a name in a module: its file binds it, and no file has the name."""
    return f"{module}.{name}" not in _submodules(module) and any(
        name in _bound(statement)
        or (isinstance(statement, ast.ImportFrom) and name in [one.asname or one.name for one in statement.names])
        for statement in _module(module).body
    )


def markdown(page: Page) -> str:
    """A page of the reference: an entry for each name, which mkdocstrings fills."""
    parts = [f"# {page.title}", page.text]
    for name in page.names:
        public = f"{page.module}.{name}"
        if _is_bound(page.module, name):
            parts.append(f"::: {public}")
        else:
            parts.append(f'<a id="{public}"></a>\n\n::: {definition(page.module, name)[0]}.{name}')
    return "\n\n".join(parts) + "\n"


def index() -> str:
    """The first page of the reference: every public name with what it is, in a line."""
    parts = ["# API reference", "Every public name, by topic. Names of modules are loaded when they are first used."]
    for page in PAGES:
        lines = [f"## [{page.title}]({page.file}.md)", "", "| name | what it is |", "|---|---|"]
        for name in page.names:
            text = summary(page.module, name).replace("|", "\\|")
            lines.append(f"| [`{name}`]({page.file}.md#{page.module}.{name}) | {text} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
