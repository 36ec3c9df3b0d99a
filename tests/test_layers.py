"""Imports point one way: a part of the package may use the parts below it, never those beside or above it."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "radboost"

# From the bottom up. A new module or folder of the package is entered here once.
LAYERS: list[set[str]] = [
    {"_native"},
    {"_names", "_number_formats", "_tables"},
    {"_blas", "_members", "_numbers", "_progress", "_typing", "_validation", "engine"},
    {"calibration"},
    {"model_file"},
    {"datasets"},
    {"complexity", "losses", "penalties", "trees"},
    {"rows"},
    {"objectives"},
    {"families"},
    {"boosting", "linear", "projection"},
    {"ensemble", "metrics"},
    {"explain", "export", "pruning"},
    {"estimators", "sparsity"},
    {"tuning"},
    {"baselines"},
    {"structured"},
    {"distributed", "federated", "torch"},
    {"guarantees"},
    {"plot"},
    {"report"},
    {"cli"},
    {"demo"},
    {"__main__"},
]
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
# Below them, and still none of their business: a search for hypotheses sees weights, not what they come from.
UNKNOWN_TO = {"trees": {"losses", "objectives", "penalties"}, "families": {"losses", "penalties"}}
OPTIONAL = {
    "matplotlib",
    "rich",
    "pandas",
    "polars",
    "pyarrow",
    "lightgbm",
    "xgboost",
    "catboost",
    "flwr",
    "optuna",
    "ray",
    "torch",
    "onnx",
    "onnxruntime",
    "treelite",
    "skops",
    "typer",
    "dask",
    "distributed",
    "mpi4py",
}


def part_of(path: Path) -> str:
    """The module or folder of the package that a file belongs to; empty for the package's own `__init__`."""
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem.replace("__init__", "")


def is_part(name: str) -> bool:
    return name == "_native" or (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()


def imported_modules(path: Path) -> Iterator[str]:
    """Absolute dotted names of all imports in a file, those inside functions included."""
    folder = ["radboost", *path.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = folder[: len(folder) + 1 - node.level] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


@cache
def imported_parts(path: Path) -> set[str]:
    """The parts of radboost that a file imports; empty string for a name of the package itself."""
    names = [name.split(".") for name in imported_modules(path)]
    inside = [name[1] if len(name) > 1 else "" for name in names if name[0] == "radboost"]
    return {name if is_part(name) else "" for name in inside}


FILES = sorted(path for path in PACKAGE.rglob("*.py") if part_of(path))


def test_imports_point_down() -> None:
    for path in FILES:
        part, name = part_of(path), path.relative_to(PACKAGE)
        assert part in LEVEL, f"{part} has no layer yet: enter it in LAYERS"
        for other in imported_parts(path) - {part}:
            if not other:
                assert part in set().union(*LAYERS[-3:]), (
                    f"{name} imports the package itself: import the module that defines the name"
                )
                continue
            assert LEVEL[other] < LEVEL[part], f"{name} imports {other}, which is not below it"
            assert other not in UNKNOWN_TO.get(part, set()), f"{name} imports {other}: a search needs only the weights"


def test_model_files_name_nobody_above_them() -> None:
    """Those who can be stored register themselves: no text in `model_file` is the dotted name of another part."""
    for path in (PACKAGE / "model_file").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named = re.findall(r"\bradboost\.(\w+)\.\w", node.value)
                assert set(named) <= {"model_file"}, f"{path.name} names {named}"


def test_the_layers_name_what_exists() -> None:
    missing = sorted(part for part in LEVEL if not is_part(part))
    assert not missing, f"in LAYERS but not in the package: {missing}"


def test_one_module_asks_the_native_core() -> None:
    asking = [path.relative_to(PACKAGE) for path in FILES if "_native" in imported_parts(path)]
    assert asking == [Path("engine.py")]


NATIVE = ROOT / "native"
# From the bottom up. `linear`, the solvers of sparse models, and `automata` use none of the rooms above `core`.
ROOMS = ["core", "data", "losses", "members", "rows", "search", "growth", "predict", "linear", "automata", "bindings"]
UNKNOWN_ROOMS = {
    "losses": {"data"},
    "members": {"data", "losses"},
    "search": {"losses", "members"},
    "predict": {"losses", "members", "rows", "search", "growth"},
    "linear": {"data", "losses", "members", "rows", "search", "growth", "predict"},
    "automata": {"data", "losses", "members", "rows", "search", "growth", "predict", "linear"},
}
SOURCES = sorted(NATIVE.rglob("*.[ch]pp"))


def test_native_includes_point_down() -> None:
    for source in SOURCES:
        name = source.relative_to(NATIVE)
        room = source.parent.name if source.parent != NATIVE else "bindings"
        assert room in ROOMS, f"{room} has no place among the native rooms yet: enter it in ROOMS"
        for included in re.findall(r'#\s*include\s*"([^"]+)"', source.read_text(encoding="utf-8")):
            assert (NATIVE / included).is_file(), f"{name}: {included} is not named from the native folder"
            other = included.split("/")[0]
            assert ROOMS.index(other) <= ROOMS.index(room), f"{name} includes {included}, which is not below it"
            assert other not in UNKNOWN_ROOMS.get(room, set()), f"{name} includes {included}, which it must not know"


def test_only_the_bindings_know_python() -> None:
    for source in SOURCES:
        if source.name != "module.cpp" and source.parent.name != "bindings":
            text = source.read_text(encoding="utf-8")
            assert not re.search(r"#\s*include\s*[<\"](nanobind/|Python\.h)", text), source.relative_to(NATIVE)


def test_importing_radboost_loads_no_optional_dependency() -> None:
    # scikit-learn itself may load some of these where they are installed: only what radboost adds counts.
    script = (
        "import sys, numpy, scipy.sparse, sklearn.base, sklearn.utils.validation, sklearn.utils.multiclass\n"
        "before = set(sys.modules)\n"
        "import radboost\n"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not OPTIONAL & set(run.stdout.split())


def test_what_is_listed_as_pure_never_imports_the_package() -> None:
    """Tests that are left out of `make sanitize` because they run no native code."""
    text = (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8")
    (listed,) = (
        ast.literal_eval(node.value)
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PURE"
    )
    files = [file for place in listed for file in [ROOT / "tests" / place, *(ROOT / "tests" / place).rglob("*.py")]]
    for file in (file for file in files if file.is_file()):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        plain = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        named = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 0}
        tops = {name.split(".")[0] for name in plain | named if name}
        assert not tops & {"radboost", "benchmarks", "native_tools", "hand_made", "model_files"}, file
