"""Federated boosting over rows that stay with the clients: FedMultiBoost on Flower.

Storcheus, PhD thesis (NYU, 2021), section 4.5. `pip install 'radboost[flower]'`; the guide is docs/federated.md.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from radboost.families.candidates import Candidates, stumps_at
from radboost.federated.public import TrainedByOwners, candidates_from, learn_domains

if TYPE_CHECKING:
    from radboost.federated.flower import FedMultiBoost, client_app, server_app

__all__ = [
    "Candidates",
    "FedMultiBoost",
    "TrainedByOwners",
    "candidates_from",
    "client_app",
    "learn_domains",
    "server_app",
    "stumps_at",
]

_OF_FLOWER = ("FedMultiBoost", "client_app", "server_app")


def __getattr__(name: str) -> Any:
    if name not in _OF_FLOWER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    os.environ.setdefault("FLWR_TELEMETRY_ENABLED", "0")  # before Flower is imported
    try:
        from radboost.federated import flower
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "flwr":
            raise
        raise ModuleNotFoundError(
            f"radboost.federated.{name} runs on Flower, which is not installed: pip install 'radboost[flower]'.",
            name=error.name,
        ) from None
    return getattr(flower, name)
