"""The four exchanges of a secure sum, as the server leads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from radboost.federated.desk import Client, logger
from radboost.federated.letters import Letter, need
from radboost.federated.numbers import SCALE_BITS, largest_edge

if TYPE_CHECKING:
    from radboost.federated.office import Office

Facts = Mapping[str, Any]


def add_securely(
    office: Office, action: str, owners: Sequence[Client], facts: Callable[[Client], Facts], width: int
) -> tuple[dict[int, list[int]], tuple[Client, ...]]:
    """The totals of each domain and the owners in them; domains with too few owners are left out."""
    from radboost.federated.secure import FEWEST_OWNERS, threshold_of, unmasked

    session = office.exchange + 1
    keys = office.ask("keys", owners, lambda client: {"session": session}, _has_keys)
    groups = [[client for client in keys if client.domain == domain] for domain in sorted({c.domain for c in keys})]
    groups = [group for group in groups if _enough(group, len(group), FEWEST_OWNERS)]
    place = {client: (group, k) for group in groups for k, client in enumerate(group)}

    def to_share(client: Client) -> Facts:
        group, _ = place[client]
        arrays = {f"{name}/{k}": keys[peer].arrays[name] for k, peer in enumerate(group) for name in keys[peer].arrays}
        names = [peer.name for peer in group]
        return {"session": session, "peers": names, "threshold": threshold_of(len(group)), "arrays": arrays}

    def has_shares(client: Client, request: Letter, reply: Letter) -> None:
        group, me = place[client]
        for k in range(len(group)):
            share = reply.arrays.get(f"share/{k}")
            need(k == me or (share is not None and share.dtype == np.uint8 and share.size > 0), "a share is missing")

    shares = office.ask("shares", [c for group in groups for c in group], to_share, has_shares)
    there = {client: [k for k, peer in enumerate(place[client][0]) if peer in shares] for client in shares}

    def to_mask(client: Client) -> Facts:
        group, me = place[client]
        sealed = {
            f"share/{k}": shares[group[k]].arrays.get(f"share/{me}", np.zeros(0, dtype=np.uint8))
            for k in there[client]
            if k != me
        }
        return {**facts(client), "session": session, "there": there[client], "arrays": sealed}

    still = [c for c in shares if _enough(place[c][0], len(there[c]), threshold_of(len(place[c][0])))]
    masked = office.ask(action, still, to_mask, _right_shape(width))

    def split(client: Client) -> tuple[list[int], list[int]]:
        group, _ = place[client]
        arrived = [k for k in there[client] if group[k] in masked]
        return arrived, [k for k in there[client] if k not in arrived]

    still = [c for c in masked if _enough(place[c][0], len(split(c)[0]), threshold_of(len(place[c][0])))]
    parts = office.ask(
        "unmask",
        still,
        lambda client: {"session": session, "arrived": split(client)[0], "gone": split(client)[1]},
        lambda client, request, reply: _has_secrets(request, reply),
    )
    sums: dict[int, list[int]] = {}
    counted: list[Client] = []
    for group in groups:
        answering = [client for client in group if client in parts]
        if not _enough(group, len(answering), threshold_of(len(group))):
            continue
        arrived, gone = split(answering[0])
        of_owner = {
            k: {
                place[client][1]: parts[client].arrays[f"share/{k}"].tobytes()
                for client in answering
                if f"share/{k}" in parts[client].arrays
            }
            for k in [*arrived, *gone]
        }
        words = {k: masked[group[k]].arrays["sums"] for k in arrived}
        public = {k: keys[group[k]].arrays["mask_public"].tobytes() for k in arrived}
        members = [group[k] for k in arrived]
        try:
            total = unmasked(words, gone, of_owner, public, threshold_of(len(group)))
        except (ValueError, RuntimeError) as error:
            logger.error("%s: the masks of domain %d do not come off (%s); skipped", action, group[0].domain, error)
            continue
        if _plausible(action, total, sum(client.n_rows for client in members), facts(group[0])):
            sums[group[0].domain] = total
            counted += members
        else:
            logger.error("%s: the total of domain %d is out of range and is not used", action, group[0].domain)
    return sums, tuple(client for client in owners if client in counted)


def _enough(group: Sequence[Client], n: int, least: int) -> bool:
    if n < least and group:
        logger.warning(
            "domain %d: %d owners answer, and a secure sum needs %d; it is skipped", group[0].domain, n, least
        )
    return n >= least


def _has_keys(client: Client, request: Letter, reply: Letter) -> None:
    from radboost.federated.secure import is_public_key

    for name in ("cipher_public", "mask_public"):
        key = reply.arrays.get(name)
        need(key is not None and key.dtype == np.uint8 and is_public_key(key.tobytes()), f"its {name} is no key")


def _has_secrets(request: Letter, reply: Letter) -> None:
    wanted = [*request.facts["arrived"], *request.facts["gone"]]
    for k in wanted:
        share = reply.arrays.get(f"share/{k}")
        right = share is not None and share.dtype == np.uint8 and share.ndim == 1 and share.size % 16 == 4
        need(right, "a share that it was asked for is missing")


def _right_shape(width: int) -> Callable[[Client, Letter, Letter], None]:
    """All that can be seen of a sum under a mask."""

    def check(client: Client, request: Letter, reply: Letter) -> None:
        words = reply.arrays.get("sums")
        right = words is not None and words.dtype == np.int64 and words.shape == (width, 2)
        need(right, f"it has not sent {width} integers")

    return check


def _plausible(action: str, total: Sequence[int], n_rows: int, told: Facts) -> bool:
    if action == "edges":
        of_all = int(told["total"])
        most = largest_edge(min(of_all, n_rows << SCALE_BITS), of_all, n_rows)
        return all(abs(value) <= most for value in total)
    return all(0 <= value <= n_rows << SCALE_BITS for value in total)
