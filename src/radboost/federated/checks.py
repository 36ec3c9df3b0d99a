"""Range of the sums that the rows of a client can have, with which the server checks its replies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radboost.federated.fixed_point import SCALE_BITS, Scales, from_words, largest_edge
from radboost.federated.messages import Message, ProtocolError, require
from radboost.federated.registry import ClientRecord


def sums_in(reply: Message, width: int) -> list[int]:
    """The `width` sums in a reply."""
    words = reply.arrays.get("sums")
    if words is None:
        raise ProtocolError("it has sent no sums")
    fits = words.dtype == np.int64 and words.shape == (width, 2)
    require(fits, f"it has sent {words.dtype} of the shape {words.shape}, and {width} integers were asked for")
    return from_words(words)


@dataclass(frozen=True)
class SumCheck:
    """Check of the sums in a reply, rounding included: a client that follows the protocol passes.

    Losses and derivatives stay below 2 to the power of their scale, which becomes 2^61 exactly, and rounding keeps
    their order: their sums need no slack. D is rounded as a double before; see `largest_edge`.
    """

    loss: str
    width: int
    largest_score: float

    def __call__(self, client: ClientRecord, request: Message, reply: Message) -> None:
        values, most = sums_in(reply, self.width), client.n_rows << SCALE_BITS
        if request.action == "evaluate":
            if self._has_valid_scales(client, request, reply):
                self._check_losses(client, values, most)
        elif request.action == "slopes":
            require(all(0 <= value <= most for value in values), "a sum of its derivatives is out of range")
            client.slope_sums = dict(zip(request.facts["sources"], values, strict=True))
        elif request.action == "edges":
            mass = client.slope_sums.get(request.facts["source"], most)
            edge = largest_edge(mass, int(request.facts["total"]), client.n_rows)
            require(all(abs(value) <= edge for value in values), "an edge of its rows is out of range")
        else:
            require(all(0 <= value <= most for value in values), "a loss of its rows along the line is out of range")

    def _check_losses(self, client: ClientRecord, values: list[int], most: int) -> None:
        loss, slope, slope_times_q, wrong = values
        require(0 <= loss <= most, "the sum of its losses is out of range")
        require(0 <= slope <= most, "the sum of its derivatives is out of range")
        require(0 <= slope_times_q <= slope, "the sum of its derivatives times Q is out of range")
        require(0 <= wrong <= client.n_rows, f"it has {wrong} wrong answers for {client.n_rows} rows")
        client.slope_sums = {client.domain: slope_times_q}

    def _has_valid_scales(self, client: ClientRecord, request: Message, reply: Message) -> bool:
        """True if the sums are in the scales of the request; False if the rows of the client exceed these."""
        own = reply.facts.get("scales")
        is_pair = isinstance(own, list) and len(own) == 2 and all(type(one) is int for one in own)
        require(is_pair, f"its scales are {own!r}")
        assert isinstance(own, list)
        bound = Scales.at(self.loss, 1.0 + self.largest_score)
        require(bound.covers(Scales(*own)), f"its scales {own} are larger than any row's can be")
        position = int(request.facts["position"])
        same = client.reported is None or client.reported[0] != position or client.reported[1] == own
        require(same, "its scales change from one request to the next")
        client.reported = (position, own)
        valid, fits = reply.facts.get("valid") is True, Scales(*request.facts["scales"]).covers(Scales(*own))
        require(valid or not fits, "it says that the scales are too small, and they are not")
        require(fits or not valid, "its sums are in scales that its rows exceed")
        return valid
