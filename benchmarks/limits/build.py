"""The program that measures, built from the kernels' own sources."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.settings import ROOT

PROGRAM = Path(__file__).with_name("limits.cpp")
# those of CMakeLists.txt: the figures are to be of the kernels that users get
FLAGS = ["-std=c++17", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-I", str(ROOT / "native")]


def compiler() -> str:
    """The C++ compiler of the build."""
    found = shutil.which(os.environ.get("CXX", "g++"))
    if found is None:
        raise RuntimeError("the limits are measured by a C++ program, and there is no g++ here; CXX names another")
    return found


def build(folder: Path) -> Path:
    """Compile what is older than its sources."""
    folder.mkdir(parents=True, exist_ok=True)
    headers = max(path.stat().st_mtime for path in (ROOT / "native").rglob("*.hpp"))
    # the switch for tests in processor.cpp needs the linker's help, and nothing here needs it
    left_out = {"module.cpp", "processor.cpp"}
    kernels = [path for path in (ROOT / "native").rglob("*.cpp") if path.parent.name != "bindings"]
    sources = [path for path in kernels if path.name not in left_out] + [PROGRAM]

    def compile_one(source: Path) -> Path:
        made = folder / f"{source.stem}.o"
        if not made.exists() or made.stat().st_mtime < max(headers, source.stat().st_mtime):
            subprocess.run([compiler(), *FLAGS, "-c", str(source), "-o", str(made)], check=True)
        return made

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, sources))
    program = folder / "limits"
    subprocess.run([compiler(), *map(str, objects), "-pthread", "-o", str(program)], check=True)
    return program
