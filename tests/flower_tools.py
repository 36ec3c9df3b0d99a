"""Flower in this process: a grid that calls the apps of its nodes. For quick tests only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flwr.app import Context, Error, Message, RecordDict
from flwr.serverapp import Grid
from flwr.supercore.task_identity import TaskIdentity


class LocalGrid(Grid):
    """Nodes with numbers that are no order, as Flower's are."""

    def __init__(self, app: Any, n_nodes: int, configs: Any = None) -> None:
        TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 0, 1
        self.app, self.n_messages = app, 0
        self.contexts = {
            7919 * (k + 1) % 10007: Context(
                run_id=1,
                node_id=7919 * (k + 1) % 10007,
                node_config={"partition-id": k} if configs is None else configs(k),
                state=RecordDict(),
                run_config={},
            )
            for k in range(n_nodes)
        }

    def set_run(self, run: Any) -> None:
        raise NotImplementedError

    @property
    def run(self) -> Any:
        raise NotImplementedError

    def create_message(self, *given: Any, **more: Any) -> Message:
        raise NotImplementedError

    def get_node_ids(self) -> Iterable[int]:
        return list(self.contexts)

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        raise NotImplementedError

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        raise NotImplementedError

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> Iterable[Message]:
        replies = []
        for message in messages:
            self.n_messages += 1
            try:
                reply = self.app(message, self.contexts[message.metadata.dst_node_id])
            except Exception as error:
                reply = Message(Error(code=0, reason=repr(error)), reply_to=message)
            replies.append(reply)
        return replies
