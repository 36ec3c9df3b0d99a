"""Faults made on purpose, to see whether the tests notice them.

    python tests/mutants.py list                         # the drawn faults, a line each
    python tests/mutants.py run [NAME ...] [--all-tests] # put each into a copy of the tree and run the tests there

Every operator below makes a fault wherever it applies in `src` and `native`. `N_MUTANTS` of them are drawn with `SEED`,
half in C++, at most `MOST_PER_FILE` in a file; others are drawn for those in `NO_FAULTS`. A fault is caught when a test
fails: the tests of its room run first, with `--all-tests` the others after them. The copy is a git worktree with an
environment of its own (`--tree`), because an editable installation has one place.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SEED = "22d5c4b71da655d0cbbc838b441a484460cb47fe"
N_MUTANTS = 60
MOST_PER_FILE = 3
SECONDS_PER_RUN = 1500
#: name of what was drawn and is no fault -> why
NO_FAULTS: dict[str, str] = {
    "wrong_tie-d38da4": "no gain is exactly the 1e-15 that it is compared with",
    "wrong_tie-4d0b72": "the value at the near end of a bracket is negative, the other is not: they are never equal",
    "min_for_max-930070": "the second of two conditions followed from the first; it is gone",
    "stale_cache-56e8c0": "the bin of a question about categories is not read",
    "wrong_axis-fc49be": "number of parts of the rows: changes time only",
    "stale_cache-1dd644": "number of histograms that are kept: changes time only",
    "min_for_max-93ce46": "number of columns that are cut at once: changes memory only",
    "wrong_tie-49646e": "one more block, without rows",
    "wrong_axis-eb32dc": "does not compile",
    "lost_weight-e3d762": "does not compile",
    "lost_weight-ab716b": "does not compile",
    "lost_weight-261261": "does not compile",
    "swapped_class-a608b1": "does not compile",
    "swapped_class-678734": "does not compile",
}
#: folder of src/radboost or native -> tests that run first
ROOMS = {
    "core": ["native", "reference"],
    "data": ["native", "rows"],
    "rows": ["rows", "native"],
    "losses": ["native", "contracts", "objectives", "linear"],
    "families": ["families", "contracts", "linear", "estimators/test_own_families.py"],
    "members": ["native", "families", "contracts", "boosting"],
    "search": ["native", "properties/test_models.py"],
    "growth": ["native", "trees", "boosting"],
    "predict": ["native", "explain", "ensemble"],
    "automata": ["structured"],
    "linear": ["linear", "native/test_sparse_columns.py"],
    "model_file": ["model_file", "estimators/test_kernel_projection.py"],
    "objectives": ["objectives", "contracts", "boosting"],
    "bindings": ["native", "test_engine.py"],
}


@dataclass(frozen=True)
class Mutant:
    """One fault: `old` at `start` of a file becomes `new`.

    `context` is the whole line or lines there, and `offset` the position in it: where lines have moved, the same line
    is changed.
    """

    operator: str
    path: str
    start: int
    old: str
    new: str
    line: int
    context: str
    offset: int

    @property
    def name(self) -> str:
        facts = f"{self.operator} {self.path} {self.start} {self.old} {self.new}"
        return f"{self.operator}-{hashlib.sha256(facts.encode()).hexdigest()[:6]}"

    @property
    def room(self) -> str:
        parts = Path(self.path).parts
        return parts[2] if parts[0] == "src" else parts[1]


Site = tuple[str, int, int, str]  # operator, start, end, new text


def _between(source: str, left: int, right: int, old: str, new: str) -> tuple[int, int, str] | None:
    """Position of an operator between two operands."""
    at = source.find(old, left, right)
    return (at, at + len(old), new) if at >= 0 else None


TIES: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
}
SIGNS: dict[type[ast.operator], tuple[str, str]] = {ast.Add: ("+", "-"), ast.Sub: ("-", "+")}


class _PythonFaults(ast.NodeVisitor):
    """Positions in a module where an operator applies."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.starts = [0]
        for line in source.split("\n"):
            self.starts.append(self.starts[-1] + len(line.encode()) + 1)
        self.sites: list[Site] = []

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        last, column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[last - 1] + column

    def add(self, operator: str, node: ast.expr | ast.stmt, new: str) -> None:
        self.sites.append((operator, *self.span(node), new))

    def text(self, node: ast.expr) -> str:
        start, end = self.span(node)
        return self.source[start:end]

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = [self.text(node.left), self.text(node.right)]
        if type(node.op) in SIGNS and not any(re.search(r"^f?[\"'\[]", text) for text in texts):
            gap = _between(self.source, self.span(node.left)[1], self.span(node.right)[0], *SIGNS[type(node.op)])
            self.sites += [("sign", *gap)] if gap else []
        if isinstance(node.op, ast.Mult):
            for lost, kept in (texts, texts[::-1]):
                if "weight" in lost:
                    self.add("lost_weight", node, kept)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1 and type(node.ops[0]) in TIES:
            right = self.span(node.comparators[0])[0]
            gap = _between(self.source, self.span(node.left)[1], right, *TIES[type(node.ops[0])])
            self.sites += [("wrong_tie", *gap)] if gap else []
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if type(node.value) is int and 0 < node.value < 1000:
            self.add("off_by_one", node, str(node.value + 1))

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.slice, ast.Constant) and node.slice.value in (0, 1) and type(node.slice.value) is int:
            is_axis = self.text(node.value).endswith("shape")
            self.add("wrong_axis" if is_axis else "swapped_class", node.slice, str(1 - node.slice.value))
        elif self.text(node.slice) in ("(:, None)", ":, None", "None, :"):
            self.add("wrong_axis", node.slice, "None, :" if self.text(node.slice) == ":, None" else ":, None")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        for keyword in node.keywords:
            if keyword.arg == "axis" and isinstance(keyword.value, ast.Constant) and keyword.value.value in (0, 1):
                self.add("wrong_axis", keyword.value, str(1 - keyword.value.value))
            if keyword.arg and "weight" in keyword.arg and not isinstance(keyword.value, ast.Constant):
                self.add("lost_weight", keyword.value, "None")
        if isinstance(node.func, ast.Name) and node.func.id in ("min", "max"):
            self.add("min_for_max", node.func, {"min": "max", "max": "min"}[node.func.id])
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.body[-1], ast.Raise) and not node.orelse:
            self.add("dropped_check", node.test, "False")
        elif len(node.body) == 1 and isinstance(node.body[0], ast.Assign) and " is None" in self.text(node.test):
            target = self.text(node.body[0].targets[0])
            if target.startswith("self._"):  # what is computed once is computed again, from what is there then
                self.add("stale_cache", node.test, f"not hasattr(self, {target[5:]!r})")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        target = self.text(node.targets[0])
        if (
            target.startswith("self._")
            and isinstance(node.value, ast.Constant)
            and node.value.value in (None, 0, False)
        ):
            self.add("stale_cache", node, f"{target} = getattr(self, {target[5:]!r}, {self.text(node.value)})")
        self.generic_visit(node)


def python_sites(source: str) -> list[Site]:
    if not source.isascii():  # positions in bytes and in characters are the same
        return []
    faults = _PythonFaults(source)
    faults.visit(ast.parse(source))
    return faults.sites


#: operator -> pattern of a C++ line, and what its first group becomes
CPP: list[tuple[str, str, Callable[[str], str]]] = [
    ("sign", r"[\w\])] ([+-]) [\w(]", lambda old: "-" if old == "+" else "+"),
    ("off_by_one", r"\b(?:[a-z_]\w*|\)|\])( [+-] 1)\b(?!\.)", lambda old: ""),
    ("wrong_tie", r"[\w\])] (<=?|>=?) [\w(]", lambda old: old[:1] if "=" in old else f"{old}="),
    ("lost_weight", r"( \* \w*weight\w*(?:\[\w+\])?)", lambda old: ""),
    ("swapped_class", r"\[([01])\]", lambda old: str(1 - int(old))),
    ("swapped_class", r"\b(left|right)\b", lambda old: "right" if old == "left" else "left"),
    ("dropped_check", r"\bif \((?=[^;{]*\) throw)()", lambda old: "false && "),
    ("min_for_max", r"std::(min|max)\b", lambda old: "max" if old == "min" else "min"),
    ("stale_cache", r"^\s+([\w.]+(?:\.clear\(\)| = 0|\.assign\([^;]*\)));$", lambda old: "(void)0"),
    ("wrong_axis", r"\b(n_rows|n_columns|n_bins|n_classes)\b(?= [*])", lambda old: f"({old} - 1)"),
]


def cpp_sites(source: str) -> list[Site]:
    """Line by line, without comments, directives and lines that hold template arguments."""
    sites: list[Site] = []
    start = 0
    for line in source.split("\n"):
        code = line.split("//")[0]
        if not re.match(r"\s*(#|template|using|\*)", code) and not re.search(r"<<|>>|->|operator", code):
            for operator, pattern, replace in CPP:
                if operator == "wrong_tie" and re.search(r"\w<\w", code):
                    continue
                sites += [
                    (operator, start + match.start(1), start + match.end(1), replace(match[1]))
                    for match in re.finditer(pattern, code)
                ]
        start += len(line) + 1
    return sites


def mutants(root: Path = ROOT) -> Iterator[Mutant]:
    """Every fault that an operator can make."""
    for folder, endings, sites_of in (("src", (".py",), python_sites), ("native", (".cpp", ".hpp"), cpp_sites)):
        for path in sorted(p for p in (root / folder).rglob("*") if p.suffix in endings):
            source = path.read_text(encoding="utf-8")
            for operator, start, end, new in sites_of(source):
                line = source.count("\n", 0, start) + 1
                first, last = source.rfind("\n", 0, start) + 1, source.find("\n", end)
                where = path.relative_to(root).as_posix()
                yield Mutant(operator, where, start, source[start:end], new, line, source[first:last], start - first)


def draw() -> list[Mutant]:
    """The faults of `SEED`, in the tree of that commit.

    An operator is drawn first, so that rare ones come as often as common ones.
    """
    rng = random.Random(SEED)
    drawn: list[Mutant] = []
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(["git", "archive", SEED, "src", "native"], cwd=ROOT, capture_output=True, check=True)
        subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)
        everything = list(mutants(Path(folder)))
    of_language: dict[str, dict[str, list[Mutant]]] = {"src": {}, "native": {}}
    for mutant in everything:
        of_language[Path(mutant.path).parts[0]].setdefault(mutant.operator, []).append(mutant)
    # Both halves first, then replacements, each half with a generator of its own: a replacement changes no other draw.
    for no_faults in ({}, NO_FAULTS):
        for language, of_operator in of_language.items():
            rng = random.Random(f"{SEED} {language}") if no_faults else rng
            kept = [mutant for mutant in drawn if mutant.name not in no_faults]
            missing = N_MUTANTS // 2 - sum(mutant.path.startswith(language) for mutant in kept)
            while missing:
                mutant = rng.choice(of_operator[rng.choice(sorted(of_operator))])
                in_file = Counter(other.path for other in drawn)[mutant.path]
                if mutant not in drawn and in_file < MOST_PER_FILE:
                    drawn.append(mutant)
                    missing -= mutant.name not in no_faults
    return drawn


def tests_of(mutant: Mutant, tree: Path) -> list[str]:
    """Tests of the room that holds the fault, as far as they exist."""
    names = ROOMS.get(mutant.room, [mutant.room.removesuffix(".py"), f"test_{mutant.room}"])
    return [f"tests/{name}" for name in names if (tree / "tests" / name).exists()] or ["tests/test_fingerprints.py"]


def located(mutant: Mutant, tree: Path) -> tuple[Path, int] | None:
    """File and position of the fault in a tree: in its own file, or where the same line stands alone in another."""
    own = tree / mutant.path
    others = sorted(p for p in (tree / Path(mutant.path).parts[0]).rglob(f"*{own.suffix}") if p != own)
    lines = f"\n{mutant.context}\n"
    for paths in ([own], others):
        known = [(p, text) for p in paths if p.is_file() and lines in (text := "\n" + p.read_text(encoding="utf-8"))]
        if known and (paths == [own] or (len(known) == 1 and known[0][1].count(lines) == 1)):
            path, text = known[0]
            starts = [match.start() + mutant.offset for match in re.finditer(re.escape(lines), text)]
            return path, min(starts, key=lambda start: abs(start - mutant.start))
    return None


def outcome(mutant: Mutant, tree: Path, all_tests: bool) -> str:
    """The first test that fails, or "not caught"; the tree is as before afterwards."""
    if (found := located(mutant, tree)) is None:
        return "gone"
    path, start = found
    source = path.read_text(encoding="utf-8")
    path.write_text(source[:start] + mutant.new + source[start + len(mutant.old) :], encoding="utf-8")
    try:
        if mutant.path.startswith("native") and subprocess.run(["make", "-C", tree, "build"], check=False).returncode:
            return "does not compile"
        room = tests_of(mutant, tree)
        for given in [room, ["tests"]][: 2 if all_tests else 1]:
            command = [".venv/bin/python", "-m", "pytest", "-x", "-q", "-m", "not slow and not browser", *given]
            try:
                ended = subprocess.run(
                    command, cwd=tree, capture_output=True, text=True, timeout=SECONDS_PER_RUN, check=False
                )
            except subprocess.TimeoutExpired:
                return "caught: does not end"
            if failed := re.search(r"^(?:FAILED|ERROR) (\S+)", ended.stdout, re.MULTILINE):
                return f"caught: {failed[1]}"
            if ended.returncode:
                return f"caught: exit {ended.returncode}"
        return "not caught"
    finally:
        path.write_text(source, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["list", "run"])
    parser.add_argument("names", nargs="*", help="faults to run (default: all that are drawn)")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the copy that is changed and tested")
    parser.add_argument("--all-tests", action="store_true", help="run all tests where those of the room pass")
    arguments = parser.parse_args()
    for mutant in draw():
        if arguments.names and mutant.name not in arguments.names:
            continue
        began = time.monotonic()
        result = outcome(mutant, arguments.tree, arguments.all_tests) if arguments.command == "run" else ""
        seconds = f"{time.monotonic() - began:.0f} s" if result else ""
        old = " ".join(mutant.old.split())
        print(mutant.name, f"{mutant.path}:{mutant.line}", f"{old!r} -> {mutant.new!r}", result, seconds, sep="\t")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
