"""The weight of the project is a budget: what needs more takes as much away elsewhere.

`python tests/test_weight.py` prints what is there beside the ceilings. A ceiling is lowered by whoever takes something
away, and raised by a commit of its own that says why.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CODE = (".py", ".cpp", ".hpp", ".css", ".js", ".html")

CEILINGS = {
    "lines of src": 50_999,
    "lines of native": 20_221,
    "lines of papers": 3_990,
    "lines of benchmarks and their tests": 5_503,
    "lines of all other tests": 46_950,
    "words of docs": 64_467,
    "words of docs/decisions": 7_769,
    "docstrings that begin with What, Who, Those, That, Of, With, The same": 0,
    "class names with two meanings": 0,
    "mix-ins": 3,
    "isinstance in src": 548,
}
#: public parameters of each estimator's constructor
PARAMETERS = {
    "AgnosticBoostClassifier": 17,
    "AgnosticClassifier": 14,
    "DeepBoostClassifier": 19,
    "DeepBoostClassifierCV": 9,
    "MultiSourceBoostClassifier": 18,
    "MultiTaskSparseBoostClassifier": 14,
    "MultiTaskSparseBoostClassifierCV": 14,
    "RGBClassifier": 17,
    "RGBClassifierCV": 9,
    "RGBRegressor": 15,
    "RGBRegressorCV": 9,
    "SoftmaxBoostClassifier": 17,
    "SoftmaxBoostClassifierCV": 9,
    "SparseBoostClassifier": 16,
    "SparseBoostClassifierCV": 16,
    "SparseBoostRegressor": 15,
    "SparseBoostRegressorCV": 15,
    "SupervisedKernelProjection": 11,
}


def files(*folders: str) -> list[Path]:
    """Files of the project in these folders: tracked, and new ones that git does not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return [ROOT / name for name in listed if name and (ROOT / name).is_file()]


def lines(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths if path.suffix in CODE)


def words(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").split()) for path in paths if path.suffix == ".md")


DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NOUNLESS = re.compile(r"(What|Who|Those|That|Of|With|The same)\b")


@cache
def package() -> tuple[str, list[str], list[str]]:
    """Source of the package, its docstrings, and the names of the classes at the top of its modules."""
    sources, docstrings, classes = [], [], []
    for path in (path for path in files("src") if path.suffix == ".py"):
        sources.append(path.read_text(encoding="utf-8"))
        tree = ast.parse(sources[-1])
        nodes = (node for node in ast.walk(tree) if isinstance(node, DOCUMENTED))
        docstrings += [text for node in nodes if (text := ast.get_docstring(node))]
        classes += [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    return "\n".join(sources), docstrings, classes


def repeated_class_names() -> list[str]:
    _, _, classes = package()
    return sorted(name for name, n in Counter(classes).items() if n > 1)


def weights() -> dict[str, int]:
    """What is there, by the names of `CEILINGS`."""
    tests, benchmarks = files("tests"), files("benchmarks", "tests/benchmarks")
    source, docstrings, classes = package()
    return {
        "lines of src": lines(files("src")),
        "lines of native": lines(files("native")),
        "lines of papers": lines(files("papers")),
        "lines of benchmarks and their tests": lines(benchmarks),
        "lines of all other tests": lines(path for path in tests if path not in benchmarks),
        "words of docs": words(files("docs")),
        "words of docs/decisions": words(files("docs/decisions")),
        "docstrings that begin with What, Who, Those, That, Of, With, The same": sum(
            NOUNLESS.match(text) is not None for text in docstrings
        ),
        "class names with two meanings": len(repeated_class_names()),
        "mix-ins": sum(name.endswith("Mixin") for name in classes),
        "isinstance in src": len(re.findall(r"\bisinstance\(", source)),
    }


def parameters() -> dict[str, int]:
    """Number of parameters of the constructor of each public estimator."""
    import radboost

    public = [getattr(radboost, name) for name in radboost.__all__]
    return {cls.__name__: len(inspect.signature(cls).parameters) for cls in public if hasattr(cls, "get_params")}


def test_no_weight_is_above_its_ceiling() -> None:
    found = weights()
    assert set(found) == set(CEILINGS)
    above = {what: f"{n:,} (at most {CEILINGS[what]:,})" for what, n in found.items() if n > CEILINGS[what]}
    assert not above, f"take as much away elsewhere, or raise a ceiling in a commit that says why: {above}"


def test_no_estimator_has_more_parameters_than_its_ceiling() -> None:
    assert parameters() == PARAMETERS, "a parameter more takes another away; one less lowers the ceiling here"


def main() -> None:
    found = weights()
    for what, n in found.items():
        print(f"{n:>9,} of {CEILINGS[what]:>9,}  {what}")
    for name, n in parameters().items():
        print(f"{n:>9,} of {PARAMETERS.get(name, 0):>9,}  parameters of {name}")
    print("class names with two meanings:", *repeated_class_names())


if __name__ == "__main__":
    main()
