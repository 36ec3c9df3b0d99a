"""A source archive and a wheel of this machine's kind, as users would get them: `make wheel`.

The wheel is built from the source archive, so that a file missing there is noticed; compiled against an old C library
by Zig's compiler, or by the system's with `--compiler system`; repaired and named by auditwheel; installed into a fresh
environment whose PATH has no compiler; and used there (smoke.py). Releases for every kind of machine are built by
.github/workflows/release.yml.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import venv
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
WORK = REPOSITORY / "build" / "wheel"


def run(*command: str | Path, **environment: str) -> None:
    print("+", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, cwd=REPOSITORY, env={**os.environ, **environment})


def zig_environment(glibc: str) -> dict[str, str]:
    """The compilers as scripts that know their target, and what else CMake must be told."""
    target = f"{platform.machine()}-linux-gnu.{glibc}"
    tools = WORK / "compilers"
    tools.mkdir(parents=True, exist_ok=True)
    for name in ("cc", "c++"):
        script = tools / name
        script.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -m ziglang {name} -target {target} "$@"\n', encoding="ascii"
        )
        script.chmod(0o755)
    environment = {"CC": str(tools / "cc"), "CXX": str(tools / "c++")}
    if platform.machine() == "x86_64":
        # Zig's run-time library does not tell processors apart, which the clones of kernels need; that of GCC does.
        found = subprocess.run(
            ["g++", "-print-libgcc-file-name"], check=True, capture_output=True, text=True
        ).stdout.strip()
        environment["SKBUILD_CMAKE_DEFINE"] = f"CMAKE_CXX_STANDARD_LIBRARIES={found}"
    return environment


def build(compiler: str, glibc: str) -> Path:
    """The wheel as the compiler leaves it; the source archive goes to dist/."""
    raw, archives = WORK / "raw", REPOSITORY / "dist"
    for folder in (raw, archives):
        shutil.rmtree(folder, ignore_errors=True)
    environment = zig_environment(glibc) if compiler == "zig" else {}
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", raw, **environment)
    archives.mkdir()
    for archive in raw.glob("*.tar.gz"):
        shutil.move(archive, archives)
    (wheel,) = raw.glob("*.whl")
    return wheel


def repair(wheel: Path) -> Path:
    """Gives the wheel the name of the oldest systems it runs on."""
    run(sys.executable, "-m", "auditwheel", "show", wheel)
    run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", REPOSITORY / "dist", wheel)
    (repaired,) = (REPOSITORY / "dist").glob("*.whl")
    return repaired


def use(wheel: Path) -> None:
    """Installs the wheel where nothing can be compiled, and runs smoke.py there."""
    folder = WORK / "fresh"
    venv.create(folder, clear=True, with_pip=True, symlinks=True)
    python = folder / "bin" / "python"
    alone = {"PATH": str(folder / "bin"), "PYTHONPATH": "", "CC": "none", "CXX": "none"}
    run(
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--only-binary",
        ":all:",
        wheel,
        **alone,
    )
    run(python, REPOSITORY / "release" / "smoke.py", **alone)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="release/wheel.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--compiler", choices=["zig", "system"], default="zig", help="what compiles (default: zig)")
    parser.add_argument(
        "--glibc", default="2.28", metavar="VERSION", help="the C library zig compiles against (default: 2.28)"
    )
    given = parser.parse_args()
    if platform.system() != "Linux":
        sys.exit(
            f"wheels are repaired by auditwheel, which is for Linux, not {platform.system()}: use cibuildwheel here"
        )
    wheel = repair(build(given.compiler, given.glibc))
    run(sys.executable, "-m", "twine", "check", "--strict", *(REPOSITORY / "dist").iterdir())
    use(wheel)
    print(f"\n{wheel.relative_to(REPOSITORY)}")


if __name__ == "__main__":
    main()
