"""The strategy and the apps on a grid in this process; runs on Ray and over the network are in test_flower_runs.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flwr")

from flwr.app import Array, ArrayRecord, ConfigRecord, Context, MetricRecord, RecordDict
from flwr.app import Message as FlowerMessage
from flwr.serverapp.strategy import Strategy

from federation_tools import all_rows, candidates, domain_model, estimator, rows_of
from flower_tools import LocalGrid
from radboost import DeepBoostClassifier, load
from radboost.federated import FedMultiBoost, client_app, server_app
from radboost.federated.flower import from_records, to_records
from radboost.federated.messages import Message


def own_rows(context: Context) -> Any:
    return rows_of(int(context.node_config["partition-id"]))


def strategy(**changes: Any) -> FedMultiBoost:
    usual: dict[str, Any] = {"candidates": candidates(), "domain_model": domain_model(), "wait_for": 6}
    return FedMultiBoost(estimator(), **{**usual, **changes})


def test_a_run_is_the_fit_on_all_rows(tmp_path: Path) -> None:
    X, y, domains = all_rows(6)
    central = estimator(family=candidates(), domain_classifier=domain_model()).fit(X, y, sources=domains)
    chosen = strategy()
    assert isinstance(chosen, Strategy)
    result = chosen.start(LocalGrid(client_app(own_rows), 6))
    np.testing.assert_array_equal(chosen.model_.decision_function(X), central.decision_function(X))
    assert chosen.model_.history_ == central.history_
    assert sorted(result.train_metrics_clientapp) == list(range(1, 16))
    assert result.train_metrics_clientapp[15]["objective"] == central.history_["objective"][-1]
    assert len(chosen.traffic_) == 17
    assert chosen.left_out_ == {}
    path = tmp_path / "model.radboost"
    path.write_bytes(result.arrays["model"].numpy().tobytes())
    np.testing.assert_array_equal(load(path).decision_function(X), central.decision_function(X))


def test_the_server_app_saves_the_model(tmp_path: Path) -> None:
    for made in (strategy(), lambda context: strategy()):
        path = tmp_path / f"{type(made).__name__}.radboost"
        grid = LocalGrid(client_app(own_rows), 6)
        server_app(made, path)(grid, next(iter(grid.contexts.values())))
        assert load(path).n_iter_ == 15


def test_state_is_flowers() -> None:
    """Each message meets another process, which knows the rows and the node's state alone."""

    def forgetful(message: FlowerMessage, context: Context) -> FlowerMessage:
        return client_app(own_rows)(message, context)

    one, other = strategy(), strategy()
    one.start(LocalGrid(client_app(own_rows), 6))
    other.start(LocalGrid(forgetful, 6))
    assert one.model_.history_ == other.model_.history_


def test_rounds_and_evaluation_of_the_caller() -> None:
    seen = []

    def evaluate(round_index: int, arrays: ArrayRecord) -> MetricRecord:
        seen.append((round_index, list(arrays)))
        return MetricRecord({"size": len(arrays["model"].numpy())})

    chosen = strategy()
    result = chosen.start(LocalGrid(client_app(own_rows), 6), num_rounds=4, evaluate_fn=evaluate)
    assert chosen.model_.n_iter_ == 4
    assert seen == [(4, ["model"])]
    assert result.evaluate_metrics_serverapp[4]["size"] > 100
    assert chosen.configure_evaluate(1, ArrayRecord(), ConfigRecord(), LocalGrid(None, 0)) == []
    assert chosen.aggregate_evaluate(1, []) is None


def test_messages_are_flowers_and_back() -> None:
    request = Message(
        "evaluate",
        {"a": [1, 2.5, "x", None, True], "b": {"c": 10**30}},
        {
            "words": np.arange(6).reshape(3, 2),
            "empty": np.zeros(0, dtype=np.int32),
            "bytes": np.zeros(3, dtype=np.uint8),
        },
    )
    found = from_records("evaluate", to_records(request))
    assert found.facts == request.facts
    assert found.arrays.keys() == request.arrays.keys()
    for name, array in request.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)
        assert found.arrays[name].dtype == array.dtype


NONSENSE: dict[str, RecordDict] = {
    "nothing": RecordDict(),
    "no JSON": RecordDict({"arrays": ArrayRecord(), "facts": ConfigRecord({"json": "{"})}),
    "a list": RecordDict({"arrays": ArrayRecord(), "facts": ConfigRecord({"json": "[1]"})}),
    "objects": RecordDict(
        {"arrays": ArrayRecord({"sums": Array("object", (2,), "numpy.ndarray", b"\x80\x04.")}), "facts": ConfigRecord()}
    ),
}


@pytest.mark.parametrize("what", NONSENSE)
def test_nonsense_is_no_message(what: str) -> None:
    def nonsense(message: FlowerMessage, context: Context, handle: Any) -> FlowerMessage:
        reply = handle(message, context)
        if context.node_config["partition-id"] == 2 and message.metadata.message_type == "train.edges":
            return FlowerMessage(NONSENSE[what], reply_to=message)
        return reply

    chosen = strategy()
    with pytest.warns(UserWarning, match="left out for good: 'partition 000002'"):
        chosen.start(LocalGrid(client_app(own_rows, mods=[nonsense]), 6))
    assert list(chosen.left_out_) == list(chosen.model_.left_out_) == ["partition 000002"]


def test_clients_need_names() -> None:
    grid = LocalGrid(client_app(lambda context: rows_of(0)), 2, configs=lambda k: {})
    with pytest.raises(RuntimeError, match="No client with rows is connected"):
        strategy(wait_for=1).start(grid)
    named = LocalGrid(
        client_app(lambda context: (*rows_of(int(context.node_config["number"])), f"clinic {context.node_id}")),
        6,
        configs=lambda k: {"number": k},
    )
    chosen = strategy()
    chosen.start(named)
    assert chosen.model_.n_iter_ == 15


@pytest.mark.parametrize("wrong", [3, (1, 2), "rows"])
def test_loads_that_return_something_else(wrong: Any, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(RuntimeError, match="No client with rows is connected"):
        strategy(wait_for=1).start(LocalGrid(client_app(lambda context: wrong), 1))
    assert "load must return (X, y, domain)" in caplog.text


def test_refusals() -> None:
    with pytest.raises(TypeError, match="load must be a function"):
        client_app(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="wait_for"):
        strategy(wait_for=0)
    with pytest.raises(ValueError, match="timeout"):
        strategy(timeout=0.0)
    with pytest.raises(RuntimeError, match=r"After 0.01 seconds 2 clients are connected, and wait_for=6"):
        strategy(timeout=0.01).start(LocalGrid(client_app(own_rows), 2))
    with pytest.raises(TypeError, match=r"A federation fits a MultiSourceBoostClassifier; got DeepBoostClassifier"):
        FedMultiBoost(DeepBoostClassifier(3), candidates=candidates())  # type: ignore[arg-type]


def test_where_the_model_goes_is_checked_before_clients_are_asked(tmp_path: Path) -> None:
    asked = []

    def rows(context: Context) -> Any:
        asked.append(context)
        return own_rows(context)

    missing, folder = tmp_path / "missing" / "model.radboost", tmp_path / "folder"
    folder.mkdir()
    for path, error, match in (
        (missing, FileNotFoundError, "the folder .*missing does not exist"),
        (folder, IsADirectoryError, "it is a folder"),
    ):
        grid = LocalGrid(client_app(rows), 6)
        app = server_app(strategy(), path)  # a client that imports it needs no such folder
        with pytest.raises(error, match=match):
            app(grid, next(iter(grid.contexts.values())))
    assert not asked


def test_telemetry_is_off_and_flower_is_named_where_it_is_missing() -> None:
    script = (
        "import os, sys\n"
        "import radboost.federated as f\n"
        "assert 'flwr' not in sys.modules\n"
        "f.stumps_at([[1.0]])\n"
        "f.client_app\n"
        "assert os.environ['FLWR_TELEMETRY_ENABLED'] == '0'\n"
        "sys.modules['flwr'] = None\n"
        "for name in [n for n in sys.modules if n.startswith('flwr.') or n == 'radboost.federated.flower']:\n"
        "    del sys.modules[name]\n"
        "del f.flower\n"
        "try:\n"
        "    f.FedMultiBoost\n"
        "except ModuleNotFoundError as error:\n"
        "    assert \"pip install 'radboost[flower]'\" in str(error), error\n"
        "else:\n"
        "    raise SystemExit('found')\n"
        "try:\n"
        "    f.nothing\n"
        "except AttributeError:\n"
        "    pass\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
