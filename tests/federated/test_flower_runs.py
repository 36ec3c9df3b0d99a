"""Real runs: Flower's simulation on Ray, and a SuperLink with SuperNodes, each in processes of its own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from radboost import MultiSourceBoostClassifier, load

pytest.importorskip("flwr")
sys.path.insert(0, str(Path(__file__).parent / "loopback_app"))

from loopback import clinics

pytestmark = pytest.mark.slow
APP = Path(__file__).parent / "loopback_app"
PATIENCE = 420.0


def central(n_clients: int, n_rounds: int) -> Any:
    """Model of all rows in one place."""
    strategy = clinics.clinics_strategy(n_clients, n_rounds)
    parameters = strategy.estimator.get_params(deep=False)
    own = {"family": strategy.candidates, "domain_classifier": strategy.domain_model}
    X, y, regions = clinics.together(range(n_clients))
    return MultiSourceBoostClassifier(**{**parameters, **own}).fit(X, y, sources=regions)


def new_rows() -> tuple[np.ndarray, np.ndarray]:
    X, y, _ = clinics.together(range(5000, 5020))
    return X, y


def on_ray(path: Path, n_rounds: int, n_silent: int = 0, n_lying: int = 0, per_round: int = 0) -> tuple[Any, str]:
    numbers = [str(number) for number in (n_rounds, n_silent, n_lying, per_round)]
    run = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("simulation.py")), str(path), *numbers],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return load(path), run.stdout + run.stderr


def test_five_fall_silent_and_two_lie_on_ray(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    (one, text), (other, _) = (on_ray(tmp_path / name, 12, 5, 2, 8) for name in ("one", "other"))
    assert one.n_iter_ == 12
    for number in range(5):
        assert f"'partition 00000{number}' has failed and is skipped" in text
    for number in (5, 6):
        assert f"'partition 00000{number}' is left out from now on: an edge of its rows is out of range" in text
    X, y = new_rows()
    assert one.score(X, y) > 0.75
    assert one.history_ == other.history_
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def free_ports(n: int) -> list[int]:
    """All different: each is held until the last one is found."""
    with ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(n)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


class Federation:
    """A SuperLink and its SuperNodes; whoever is started here is ended here."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.environment = {**os.environ, "FLWR_HOME": str(folder / "home"), "FLWR_TELEMETRY_ENABLED": "0"}
        self.environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.nodes: list[subprocess.Popen[bytes]] = []
        self._running: list[subprocess.Popen[bytes]] = []
        self.named: dict[str, subprocess.Popen[bytes]] = {}
        (folder / "home").mkdir()
        (folder / "home" / "config.toml").write_text(
            f'[superlink]\ndefault = "here"\n[superlink.here]\naddress = "127.0.0.1:{self.port}"\ninsecure = true\n'
        )
        shutil.copytree(APP, folder / "app")

    def begin(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{name}.log").open("wb")
        process = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, env=self.environment, start_new_session=True
        )
        self._running.append(process)
        self.named[name] = process
        return process

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def wait(self, name: str, pattern: str) -> None:
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, self.log(name)):
            assert time.monotonic() < end, self.log(name)[-3000:]
            assert self.named[name].poll() is None, self.log(name)[-3000:]
            time.sleep(0.2)

    def end(self) -> None:
        for process in reversed(self._running):
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """The process and all that it has started, without a word of warning."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(30)


@contextmanager
def federation(folder: Path, n_nodes: int) -> Iterator[Federation]:
    port, *of_nodes = free_ports(1 + n_nodes)
    found = Federation(folder, port)
    try:
        link = ("flower-superlink", "--insecure", "--host", "127.0.0.1", "--port", str(found.port))
        found.begin("link", *link, "--disable-runtime-dependency-installation")
        found.wait("link", "running on|Uvicorn")
        for k in range(n_nodes):
            address = ("--superlink", f"127.0.0.1:{found.port}", "--host", "127.0.0.1", "--port", str(of_nodes[k]))
            config = ("--node-config", f"partition-id={k}")
            found.nodes.append(found.begin(f"node{k}", "flower-supernode", "--insecure", *address, *config))
        for k in range(n_nodes):
            found.wait(f"node{k}", "SuperNode ID")
        yield found
    finally:
        found.end()


def run(found: Federation, model: Path, clients: int, rounds: int) -> None:
    config = f'out="{model}" clients={clients} rounds={rounds}'
    found.begin("run", "flwr", "run", str(found.folder / "app"), "here", "--run-config", config, "--stream")


def arrived(found: Federation, model: Path) -> Any:
    end = time.monotonic() + PATIENCE
    while not model.exists():
        assert time.monotonic() < end, found.log("run")[-3000:] + found.log("link")[-2000:]
        time.sleep(0.5)
    return load(model)  # files appear whole


def test_over_the_loopback_address(tmp_path: Path) -> None:
    """The model of all rows, bit for bit, from processes that share nothing."""
    with federation(tmp_path, 4) as found:
        model = tmp_path / "model.radboost"
        run(found, model, clients=4, rounds=2)
        X, _ = new_rows()
        np.testing.assert_array_equal(arrived(found, model).decision_function(X), central(4, 2).decision_function(X))


def test_a_node_that_is_killed(tmp_path: Path) -> None:
    """One of six is ended by the system in the middle of the run; the others go on to a usable model."""
    with federation(tmp_path, 6) as found:
        model = tmp_path / "model.radboost"
        run(found, model, clients=6, rounds=3)
        found.wait("node2", r"train\.edges|train\.evaluate")
        kill(found.nodes[2])
        fitted = arrived(found, model)
        assert fitted.n_iter_ == 3
        X, y = new_rows()
        assert fitted.score(X, y) > 0.6
        text = found.log("run")
        assert re.search(r"'partition 000002' has (failed|not answered) and is skipped", text), text[-3000:]
