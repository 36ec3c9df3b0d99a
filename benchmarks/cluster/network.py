"""Workers on a network of a known speed: a network namespace each, joined by a bridge, every link shaped by tbf.

Needs Linux, root, `ip` and `tc`. All addresses are inside the namespaces, which end with the block that made them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

PREFIX = "radboost"
SUBNET = "10.83.0"
BURST = 16_000  # bytes that a link lets through at once, at least; more where it is fast: those of half a millisecond
QUEUE = "1s"  # what waits longer is dropped


class NoNamespacesError(RuntimeError):
    """This machine does not let us make networks."""


@dataclass(frozen=True)
class Place:
    """A namespace and its address."""

    name: str
    address: str
    interface: str

    @property
    def words(self) -> list[str]:
        """What is put before a command that is to run here."""
        return ["ip", "netns", "exec", self.name]


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoNamespacesError(f"{' '.join(words)}: {done.stderr.strip()}")


@contextmanager
def _namespace(name: str) -> Iterator[None]:
    _run("ip", "netns", "add", name)
    try:
        _run("ip", "-n", name, "link", "set", "lo", "up")
        yield
    finally:
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


@contextmanager
def shaped(n_places: int, megabits: float | None) -> Iterator[list[Place]]:
    """So many namespaces; what each sends and receives goes through a link of this speed (None: as fast as it goes)."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or not (shutil.which("ip") and shutil.which("tc")):
        raise NoNamespacesError("networks of a known speed need Linux, root, ip and tc")
    own = f"{PREFIX}{os.getpid()}"
    with ExitStack() as stack:
        middle = f"{own}-middle"
        stack.enter_context(_namespace(middle))
        _run("ip", "-n", middle, "link", "add", "bridge", "type", "bridge")
        _run("ip", "-n", middle, "link", "set", "bridge", "up")
        places = []
        for k in range(n_places):
            place = Place(f"{own}-{k}", f"{SUBNET}.{k + 1}", "wire")
            stack.enter_context(_namespace(place.name))
            _join(place, middle, f"port{k}", megabits)
            places.append(place)
        yield places


def _join(place: Place, middle: str, port: str, megabits: float | None) -> None:
    """A pair of interfaces, one end in the namespace and one on the bridge, both shaped."""
    _run("ip", "-n", middle, "link", "add", port, "type", "veth", "peer", "name", place.interface, "netns", place.name)
    _run("ip", "-n", middle, "link", "set", port, "master", "bridge", "up")
    _run("ip", "-n", place.name, "addr", "add", f"{place.address}/24", "dev", place.interface)
    _run("ip", "-n", place.name, "link", "set", place.interface, "up")
    if megabits is None:
        return
    burst = max(BURST, round(megabits * 1e6 / 8 * 0.0005))
    shape = ["root", "tbf", "rate", f"{megabits:g}mbit", "burst", str(burst), "latency", QUEUE]
    for name, interface in ((place.name, place.interface), (middle, port)):
        _run("ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", interface, *shape)


def over_tcp(places: Sequence[Place]) -> dict[str, str]:
    """What makes MPICH use the network although all ranks are on one machine."""
    return {
        "MPIR_CVAR_NOLOCAL": "1",
        "MPIR_CVAR_CH4_NETMOD": "ucx",
        "UCX_TLS": "tcp",
        "UCX_NET_DEVICES": places[0].interface,
    }
