"""Clients that drop out, lose their state, reply twice, or send impossible sums."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from federation_tools import LocalTransport, all_rows, candidates, changed, domain_model, estimator, lost, rows_of, when
from radboost.families import Candidates, stumps_at
from radboost.families.columns import Column
from radboost.families.thresholds import Stump
from radboost.federated import TrainedByOwners, learn_domains
from radboost.federated.client import Client, ClientData
from radboost.federated.fitting import fit_federated
from radboost.federated.fixed_point import to_words
from radboost.federated.messages import Message, ProtocolError, pack_hypotheses, unpack_hypotheses
from radboost.model_file import ModelFileError


def fit(transport: LocalTransport, n_rounds: int = 15, changes: Any = None, **more: Any) -> tuple[Any, Any]:
    usual: dict[str, Any] = {"candidates": candidates(), "domain_model": domain_model()}
    return fit_federated(estimator(n_rounds, **(changes or {})), transport, **{**usual, **more})


def test_who_drops_out_is_not_counted_as_zero(caplog: pytest.LogCaptureFixture) -> None:
    """Clients that never answer after they have registered: the model is that of the others."""
    gone = {1, 6}
    silent = when(lambda node, request: node in gone and request.action != "register", lost)
    X, y, domains = all_rows(10)
    clients = np.concatenate([np.full(len(rows_of(k)[1]), k) for k in range(10)])
    there = ~np.isin(clients, list(gone))
    central = estimator(family=candidates(), domain_classifier=domain_model())
    central.fit(X[there], y[there], sources=domains[there])
    with caplog.at_level(logging.WARNING, "radboost.federated"):
        found, server = fit(LocalTransport(10, fault=silent))
    np.testing.assert_array_equal(found.decision_function(X), central.decision_function(X))
    assert found.history_["objective"] == central.history_["objective"]
    assert "'client 001' has not answered and is skipped" in caplog.text
    assert not server.left_out


def test_who_drops_out_within_a_round() -> None:
    """Its losses count and its edges are missing: those who are left stand for their domain."""
    silent = when(lambda node, request: request.action == "edges" and node == 4, lambda reply: ["went away"])
    X, y, _ = all_rows(10)
    transport = LocalTransport(10, fault=silent)
    found, _ = fit(transport, 40)
    plain, _ = fit(LocalTransport(10), 40)
    assert sum(request.action == "edges" and node == 4 for node, request in transport.requests) > 5
    assert found.score(X, y) > plain.score(X, y) - 0.05


def test_a_domain_that_falls_silent_keeps_what_was_known_of_it() -> None:
    silent = when(lambda node, request: node % 2 == 1 and request.facts["exchange"] > 12, lost)
    found, _ = fit(LocalTransport(6, fault=silent), 30)
    losses = found.history_["source_loss[domain 1]"]
    assert len(set(losses[-5:])) == 1
    assert found.n_iter_ == 30


def test_nobody_of_a_domain_ever_answers() -> None:
    silent = when(lambda node, request: node % 2 == 1 and request.action != "register", lost)
    with pytest.raises(RuntimeError, match=r"No client of the domain 'domain 1' has answered yet"):
        fit(LocalTransport(6, fault=silent))


@pytest.mark.parametrize("forget", [False, True])
@pytest.mark.parametrize("trained", [False, True])
def test_restarted_clients_get_all_steps(forget: bool, trained: bool) -> None:
    """What was kept for a node brings it back; where that is lost the server begins from the first step."""
    transport = LocalTransport(6)
    n = [0]

    def restarting(node: int, request: Message, reply: Message) -> Iterable[Message | str]:
        n[0] += 1
        if n[0] % 7 == 0:
            transport.restart((n[0] // 7) % 6, forget=forget)
        return [reply]

    transport.fault = restarting
    given: Any = TrainedByOwners() if trained else candidates()
    found, _ = fit(transport, candidates=given)
    plain, _ = fit(LocalTransport(6), candidates=given)
    assert found.history_ == plain.history_
    X, _, _ = all_rows(6)
    np.testing.assert_array_equal(found.decision_function(X), plain.decision_function(X))


def test_clients_that_were_away_get_the_steps_that_they_missed() -> None:
    transport = LocalTransport(8)

    def coming_and_going(node: int, request: Message, reply: Message) -> Iterable[Message | str]:
        if request.action == "edges":
            transport.absent = {int(request.facts["exchange"]) % 8}
        return [reply]

    transport.fault = coming_and_going
    fit(transport, 30)
    transport.absent, transport.fault = set(), None
    positions = {memory.slots["rows"].facts["position"] for memory in transport.states}
    assert max(positions) == 30
    n_steps = [len(request.arrays["step_etas"]) for _, request in transport.requests if request.action == "evaluate"]
    assert max(n_steps) > 1  # more than one step at once


OUT_OF_RANGE = "a sum of its rows is out of range"
LIES: dict[str, tuple[str, Any, str]] = {
    "a loss too large": ("evaluate", lambda r: sums(r, 0, 2**80), "losses is out of range"),
    "a negative loss": ("evaluate", lambda r: sums(r, 0, -1), "losses is out of range"),
    "derivatives too large": ("evaluate", lambda r: sums(r, 1, 2**90), "derivatives is out of range"),
    "more than all of Q": ("evaluate", lambda r: sums(r, 2, 2**67), "times Q is out of range"),
    "too many errors": ("evaluate", lambda r: sums(r, 3, 10**6), "1000000 wrong answers for"),
    "scales too large": ("evaluate", lambda r: changed(r, {"scales": [900, 900]}), "larger than any row's can be"),
    "scales that are text": ("evaluate", lambda r: changed(r, {"scales": ["a", "b"]}), "its scales are"),
    "sums beyond their scales": (
        "evaluate",
        lambda r: changed(r, {"scales": [r.facts["scales"][0] + 9] * 2}),
        "scales",
    ),
    "steps that were never taken": (
        "evaluate",
        lambda r: changed(r, {"position": 10**9}),
        "it has taken 1000000000 steps",
    ),
    "scales said to be too small": ("evaluate", lambda r: changed(r, {"valid": False}), "and they are not"),
    "an edge too large": ("edges", lambda r: sums(r, 3, 2**62), "edge of its rows is out of range"),
    "too few sums": ("edges", lambda r: changed(r, arrays={"sums": to_words([1, 2])}), "integers were asked for"),
    "sums that are real": ("edges", lambda r: changed(r, arrays={"sums": np.zeros((48, 2))}), "float64"),
    "no sums": ("edges", lambda r: Message(r.action, r.facts), "it has sent no sums"),
    "another request": ("edges", lambda r: changed(r, {"exchange": 1}), "answers another message"),
    "another name": ("edges", lambda r: changed(r, {"name": "client 000"}), "says that it is 'client 000'"),
    "no request": ("edges", lambda r: Message("unreadable", {"why": "?"}), "says that it is None"),
    "two requests": ("edges", lambda r: [r, r], "it has answered 2 times"),
    # Of exchanges in which Q is learned.
    "negative counts": ("moments", lambda r: all_sums(r, [-1, 0, 0] * 4), OUT_OF_RANGE),
    "counts of more rows": ("moments", lambda r: all_sums(r, [1000, 0, 0] * 4), OUT_OF_RANGE),
    "sums too large": ("moments", lambda r: all_sums(r, [1, 2**62, 0] * 4), OUT_OF_RANGE),
    "negative squares": ("moments", lambda r: all_sums(r, [1, 0, -1] * 4), OUT_OF_RANGE),
    "a negative loss of Q": ("gradient", lambda r: all_sums(r, [-1] + [0] * 10), OUT_OF_RANGE),
    "a gradient too large": ("gradient", lambda r: all_sums(r, [1] + [2**80] * 10), OUT_OF_RANGE),
}


def all_sums(reply: Message, values: list[int]) -> Message:
    return changed(reply, arrays={"sums": to_words(values)})


def sums(reply: Message, place: int, value: int) -> Message:
    words = reply.arrays["sums"].copy()
    words[place] = to_words([value])[0]
    return changed(reply, arrays={"sums": words})


@pytest.mark.parametrize("what", LIES)
def test_who_says_what_cannot_be_is_named_and_left_out(what: str, caplog: pytest.LogCaptureFixture) -> None:
    action, lie, reason = LIES[what]
    transport = LocalTransport(8, fault=when(lambda node, request: node == 3 and request.action == action, lie))
    warned = r"left out for good: 'client 003' \(.*nothing more from their rows, 43 of the 333 registered\. Check"
    with caplog.at_level(logging.ERROR, "radboost.federated"), pytest.warns(UserWarning, match=warned):
        found, server = fit(transport, 6, domain_model=None if action in ("moments", "gradient") else domain_model())
    assert list(server.left_out) == ["client 003"]
    assert type(found).from_dict(found.to_dict()).left_out_ == found.left_out_ == server.left_out
    assert reason in server.left_out["client 003"]
    assert f"{action}: 'client 003' is left out from now on" in caplog.text
    assert sum(node == 3 and request.action == action for node, request in transport.requests) == 1
    X, y, domains = all_rows(8)
    assert found.score(X, y) > 0.6
    assert np.mean(found.source_probabilities(X).argmax(axis=1) == (domains == "domain 1")) > 0.8


def test_a_domain_of_which_all_are_left_out() -> None:
    late = lambda node, request: node % 2 == 1 and request.facts.get("position", 0) > 3  # noqa: E731
    transport = LocalTransport(8, fault=when(late, lambda reply: sums(reply, 0, 2**80)))
    warned = r"'client 001' .*'client 005' .*, 1 more in left_out_\..*166 of the 333 .* domain 'domain 1' is left\."
    with pytest.warns(UserWarning, match=warned):
        found, _ = fit(transport, 8)
    assert sorted(found.left_out_) == [f"client {k:03}" for k in (1, 3, 5, 7)]
    forged = {**found._arrays_of_fit(), "left_out": np.frombuffer(b'{"client 001": 3}', dtype=np.uint8)}
    with pytest.raises(ModelFileError, match="who was left out"):
        found._take_arrays_of_fit(forged)
    X, y, _ = all_rows(2)
    assert not hasattr(found.set_params(step="auto").fit(X, y), "left_out_")


def test_answers_of_nodes_that_were_not_asked(caplog: pytest.LogCaptureFixture) -> None:
    class Noisy(LocalTransport):
        def send(self, requests: Any) -> Any:
            found = super().send(requests)
            more = [(77, found[0][1])] if all(request.action != "register" for request in requests.values()) else []
            return [*found, *more]

    found, _ = fit(Noisy(4))
    plain, _ = fit(LocalTransport(4))
    assert found.history_ == plain.history_
    assert "node 77 has answered and was not asked" in caplog.text


def client(X: Any, y: Any, domain: Any, name: str = "a") -> Client:
    return Client(lambda: ClientData(X, y, domain, name), LocalTransport(1).states[0])


MISFITS: dict[str, tuple[list[Client], str, str]] = {
    "a third label": ([client(np.zeros((4, 4)), [0, 7, 0, 7], "domain 0", "x")], "x", r"its labels are \[0, 7\]"),
    "labels of text": ([client(np.zeros((2, 4)), ["0", "1"], "domain 0", "x")], "x", r"types of labels are \['str'\]"),
    "columns": ([client(np.zeros((4, 3)), [0, 1, 0, 1], "domain 0", "x")], "x", r"columns are \(3, None\)"),
    "domains": ([client(np.zeros((4, 4)), [0, 1, 0, 1], 5, "x")], "x", r"types of domains are 'int'"),
}


@pytest.mark.parametrize("what", MISFITS)
def test_clients_that_do_not_fit_are_named_and_left_out(what: str) -> None:
    others, name, message = MISFITS[what]
    transport = LocalTransport(4)
    transport.clients += others
    found, server = fit(transport, 3)
    plain, _ = fit(LocalTransport(4), 3)
    assert found.history_ == plain.history_
    assert list(server.left_out) == [name]
    assert re.search(message, server.left_out[name])


def test_a_name_that_two_have_is_nobodys(caplog: pytest.LogCaptureFixture) -> None:
    transport = LocalTransport(6)
    transport.clients += [client(np.zeros((4, 4)), [0, 1, 0, 1], "domain 0", "client 001")]
    found, _ = fit(transport)
    assert "2 nodes go by the name 'client 001'" in caplog.text
    assert found.left_out_ == {"client 001": "2 nodes go by this name"}
    assert found.ensemble_.sample_size == sum(len(rows_of(k)[1]) for k in range(6) if k != 1)


REGISTRATIONS: dict[str, dict[str, Any]] = {
    "no rows": {"n_rows": 0},
    "a number of rows beyond all": {"n_rows": 10**400},
    "true rows": {"n_rows": True},
    "three labels": {"labels": [0, 1, 2]},
    "labels that are nothing": {"labels": [float("nan")]},
    "labels that are lists": {"labels": [[0], [1]]},
    "a domain that is a list": {"domain": [1]},
    "a name that is a number": {"name": 3},
    "columns that do not fit": {"columns": ["a"]},
}


@pytest.mark.parametrize("what", REGISTRATIONS)
def test_nonsense_at_registration(what: str, caplog: pytest.LogCaptureFixture) -> None:
    registering = lambda node, request: node == 2 and request.action == "register"  # noqa: E731
    lying = when(registering, lambda reply: changed(reply, REGISTRATIONS[what]))
    with pytest.warns(UserWarning, match="left out for good: 'node 2'"):
        found, _ = fit(LocalTransport(6, fault=lying), 3)
    assert list(found.left_out_) == ["node 2"]
    assert "register: node 2 is left out" in caplog.text


def test_columns_have_one_order_everywhere() -> None:
    transport = LocalTransport(6)
    for k, one in enumerate(transport.clients):
        names = list("abcd") if k != 3 else list("badc")
        frame = pd.DataFrame(rows_of(k)[0], columns=names)
        one._load = lambda frame=frame, k=k: ClientData(frame, *rows_of(k)[1:], f"client {k:03}")  # type: ignore[misc]
    found, server = fit(transport)
    assert list(server.left_out) == ["client 003"]
    assert list(found.feature_names_in_) == list("abcd")


def test_q_knows_its_domains() -> None:
    X, _, domains = all_rows(8)
    swapped = learn_domains(X, np.where(domains == "domain 0", "domain 0", "Domain 1"))
    with pytest.raises(ValueError, match=r"Q knows \['Domain 1', 'domain 0'\].*must be the same"):
        fit(LocalTransport(4), domain_model=swapped)
    transport = LocalTransport(4)
    transport.absent = {1, 3}
    with pytest.raises(ValueError, match=r"Q knows \['domain 0', 'domain 1'\], and the clients have the domains"):
        fit(transport, domain_model=learn_domains(X, domains))


def test_silence_is_no_convergence() -> None:
    """One lost answer about edges, or about the line, is a round without a step, and not the end."""
    for action, step in (("edges", "decay"), ("line_search", "line_search")):
        seen = [0]

        def silent(node: int, request: Message, reply: Message) -> Iterable[Message | str]:
            seen[0] += request.action == action  # noqa: B023
            return ["lost"] if request.action == action and seen[0] in (7, 8) else [reply]  # noqa: B023

        found, _ = fit(LocalTransport(2, fault=silent), 30, {"step": step})
        assert found.n_iter_ == 30
        assert found.n_skipped_rounds_ >= 1


def test_a_line_search_goes_on_without_a_silent_domain() -> None:
    silent = when(lambda node, request: node % 2 == 1 and request.facts["exchange"] > 12, lost)
    found, _ = fit(LocalTransport(6, fault=silent), 40, {"step": "line_search"})
    assert found.n_iter_ == 40
    losses = found.history_["source_loss[domain 0]"]
    assert losses[-1] < 0.9 * losses[6]


def test_a_client_that_misses_one_message_is_not_left_out() -> None:
    """A lost answer about slopes: the client is not asked for edges under a total that it is not in."""
    seen = [0]

    def losing(node: int, request: Message, reply: Message) -> Iterable[Message | str]:
        seen[0] += request.action == "slopes" and node == 1
        return ["lost"] if request.action == "slopes" and node == 1 and seen[0] == 3 else [reply]

    found, server = fit(LocalTransport(3, fault=losing), 20, {"source_objective": "softmax"})
    assert not server.left_out
    assert found.n_iter_ == 20


def test_scales_that_never_settle() -> None:
    seen = [0]

    def wavering(node: int, request: Message, reply: Message) -> Iterable[Message | str]:
        if node != 1 or request.action != "evaluate" or request.facts["position"] < 4:
            return [reply]
        seen[0] += 1
        loss, slope = reply.facts["scales"]
        return [changed(reply, {"scales": [loss - seen[0] % 2, slope - seen[0] % 2]})]

    _, server = fit(LocalTransport(6, fault=wavering))
    assert "scales" in server.left_out["client 001"]


PROPOSALS: dict[str, Any] = {
    "a column": [Column(0)],
    "a stump of real numbers": [Stump(0, 0.0)],
    "two trees": stumps_at([[0.0, 1.0], [], [], []]),
    "a tree for other columns": stumps_at([[0.0], []]),
    "no arrays": {"inline/node_feature": np.array(5)},
}


@pytest.mark.parametrize("what", PROPOSALS)
def test_proposals_that_are_no_trees(what: str) -> None:
    def false_proposal(reply: Message) -> Message:
        given = PROPOSALS[what]
        if isinstance(given, dict):
            return changed(reply, arrays=given)
        facts, arrays = pack_hypotheses(given, given[0].n_features if "other" in what else 4, "inline")
        return Message("propose", {**reply.facts, **facts}, arrays)

    proposing = when(lambda node, request: node == 2 and request.action == "propose", false_proposal)
    _, server = fit(LocalTransport(6, fault=proposing), 2, candidates=TrainedByOwners())
    assert list(server.left_out) == ["client 002"]


def test_no_kernel_and_nothing_unasked_for_is_trained_for_others() -> None:
    """The centre of a kernel is a row; a client says what it is willing to train, by default nothing."""
    for family in ("kernel", "nonsense", None):
        with pytest.raises((ValueError, TypeError), match="family of TrainedByOwners"):
            TrainedByOwners(family)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="per_round of TrainedByOwners"):
        TrainedByOwners("trees", 0)
    transport = LocalTransport(2)
    fit(transport, 2)
    request = Message("propose", {"exchange": 1, "from": 2, "position": 2, "source": 0, "family": "kernel"}, {})
    with pytest.raises(ProtocolError, match="does not train 'kernel' for others"):
        transport.clients[0].handle(request)
    shy = client(*rows_of(0))
    with pytest.raises(ProtocolError, match="does not train 'stumps' for others"):
        shy.handle(changed(request, {"family": "stumps"}))


def test_clients_that_come_back_under_another_number() -> None:
    transport = LocalTransport(6)
    moved: dict[int, int] = {}

    class Moving(LocalTransport):
        def connected(self) -> list[int]:
            return [moved.get(k, k) for k in super().connected()]

        def send(self, requests: Any) -> Any:
            back = {new: old for old, new in moved.items()}
            found = super().send({back.get(node, node): request for node, request in requests.items()})
            if any(request.facts.get("exchange", 0) > 12 for request in requests.values()):
                moved[2] = 77
            return [(moved.get(node, node), answer) for node, answer in found]

    transport = Moving(6)
    found, server = fit(transport)
    plain, _ = fit(LocalTransport(6))
    assert moved == {2: 77}
    assert found.n_iter_ == 15
    assert not server.left_out
    late = [request for node, request in transport.requests[-24:] if node == 2]
    assert late
    assert found.history_["objective"][-1] == pytest.approx(plain.history_["objective"][-1], rel=0.2)


def test_clients_whose_rows_cannot_be_read_are_named(caplog: pytest.LogCaptureFixture) -> None:
    transport = LocalTransport(4)
    text = np.array([["a", "b", "c", "d"]] * 4, dtype=object)
    transport.clients += [client(text, [0, 1, 0, 1], "domain 0"), client(np.zeros((3, 4)), [0, 1, None], "domain 0")]
    found, _ = fit(transport)
    assert "node 4 has failed and is skipped: X holds text" in caplog.text
    assert "node 5 has failed and is skipped: y holds labels that are missing" in caplog.text
    assert found.ensemble_.sample_size == sum(len(rows_of(k)[1]) for k in range(4))


def test_what_a_federation_does_not_do() -> None:
    transport = LocalTransport(2)

    def refused(match: str, error: type[Exception] = ValueError, estimator_: Any = None, **more: Any) -> None:
        usual: dict[str, Any] = {"candidates": candidates(), "domain_model": domain_model()}
        with pytest.raises(error, match=match):
            fit_federated(estimator() if estimator_ is None else estimator_, transport, **{**usual, **more})

    refused(
        r"step='auto' needs more of the rows than sums.*\"decay\".*\"line_search\"", estimator_=estimator(step="auto")
    )
    refused(r"early_stopping=5 is not known in a federation", estimator_=estimator(early_stopping=5))
    refused(r"family=.*is not known in a federation; give candidates", estimator_=estimator(family=candidates()))
    refused(r"(?s)domain_classifier=.*give domain_model", estimator_=estimator(domain_classifier=domain_model()))
    refused(r"objective='max' is not known", estimator_=estimator(objective="max"))
    refused(r"categorical_features=\[0\] is not known", estimator_=estimator(categorical_features=[0]))
    refused(r"Stump.*cannot be a candidate of a federation", candidates=Candidates([Stump(0, 0.0)]))
    refused(r"class_weight='balanced' is not known", estimator_=estimator(class_weight="balanced"))
    refused(r"fits a MultiSourceBoostClassifier; got 3", TypeError, estimator_=3)
    refused(r"candidates must be Candidates", TypeError, candidates="stumps")
    refused(r"clients_per_round must be", clients_per_round=0)
    transport.absent = {0, 1}
    refused(r"No client with rows is connected", RuntimeError)


def test_hypotheses_in_messages_are_read_with_care() -> None:
    trees = candidates().hypotheses[:3]
    facts, arrays = pack_hypotheses(trees, 4, "inline")
    assert unpack_hypotheses(Message("edges", facts, arrays), 4, "inline") == list(trees)
    assert unpack_hypotheses(Message("edges"), 4, "inline") == []
    for name in arrays:
        with pytest.raises(ProtocolError):
            unpack_hypotheses(Message("edges", facts, {**arrays, name: np.full(3, 200, dtype=np.uint8)}), 4, "inline")
    with pytest.raises(ProtocolError, match="cannot be read"):
        unpack_hypotheses(Message("edges", facts, arrays), 0, "inline")
