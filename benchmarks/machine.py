"""The machine that measures, and whether it has anything else to do."""

import os
import platform
import time
from importlib.metadata import version
from pathlib import Path
from typing import Self

from benchmarks.competitors import is_installed

IDLE_BELOW = 0.05
PACKAGES = ("radboost", "numpy", "scikit-learn", "lightgbm", "xgboost", "catboost")


def cpu_name() -> str:
    """Return the processor's name as the system reports it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def description() -> list[str]:
    """List processor, cores, Python and the versions of the libraries that are installed."""
    versions = [f"{package} {version(package)}" for package in PACKAGES if is_installed(package)]
    return [f"{cpu_name()}, {os.cpu_count()} cores", f"python {platform.python_version()}", *versions]


def _busy_seconds() -> float | None:
    """CPU seconds spent by all processes since the machine started; None where the system does not say."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return None
    user, nice, system, _idle, _wait, irq, softirq = (float(x) for x in stat.read_text().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class OtherLoad:
    """Fraction of all cores that other processes used during a `with` block.

    Under other load the waiting threads of OpenMP libraries slow them down several times over, so ratios
    taken then are wrong, and wrong in our favour.
    """

    fraction: float | None = None

    def __enter__(self) -> Self:
        self._start = (time.perf_counter(), _busy_seconds(), _own_seconds())
        return self

    def __exit__(self, *_: object) -> None:
        start, busy, own = self._start
        busy_now = _busy_seconds()
        if busy is None or busy_now is None:
            return
        others = (busy_now - busy) - (_own_seconds() - own)
        self.fraction = max(0.0, others / (time.perf_counter() - start) / (os.cpu_count() or 1))

    @property
    def idle(self) -> bool | None:
        """Idleness of the rest of the machine; None where that is not known."""
        return None if self.fraction is None else self.fraction < IDLE_BELOW

    def sentence(self) -> str:
        """Return the measurement in words."""
        if self.fraction is None:
            return "other load unknown on this system"
        state = "idle otherwise" if self.idle else "NOT idle: do not quote these figures"
        return f"other processes used {self.fraction:.0%} of the cores, {state}; load average {os.getloadavg()[0]:.2f}"


def observe(seconds: float = 2.0) -> OtherLoad:
    """Measure the load of the machine for a moment without using it."""
    with OtherLoad() as load:
        time.sleep(seconds)
    return load
