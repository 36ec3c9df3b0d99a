"""Clipping and noise on sums, masks on sums, and the account of the privacy spent."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation_tools import (
    GRID,
    LocalTransport,
    all_rows,
    candidates,
    changed,
    clean_rows,
    domain_model,
    estimator,
    rows_of,
)
from radboost.families import Candidates, stumps_at
from radboost.federated import Privacy
from radboost.federated.fitting import TrainedByOwners, fit_federated
from radboost.federated.letters import Letter, LetterError
from radboost.federated.numbers import from_words, to_words
from radboost.federated.privacy import clipped

pytest.importorskip("flwr")
pytest.importorskip("dp_accounting")


def fit(
    n_owners: int = 6, n_rounds: int = 6, trouble: Any = None, rows: Any = None, **more: Any
) -> tuple[Any, Any, LocalTransport]:
    transport = LocalTransport(n_owners, trouble=trouble, rows=rows)
    usual: dict[str, Any] = {"candidates": candidates(8), "domain_model": domain_model()}
    model, office = fit_federated(estimator(n_rounds), transport, **{**usual, **more})
    return model, office, transport


# --- noise


@given(st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=6), st.floats(0.1, 100.0))
def test_clipped_sums_are_no_longer_than_the_clip(sums: list[int], clip: float) -> None:
    units = [2.0**61] * len(sums)
    found = clipped(sums, units, clip)
    length, before = (math.sqrt(sum((v / u) ** 2 for v, u in zip(one, units, strict=True))) for one in (found, sums))
    assert length <= clip * (1 + 1e-9) + 1e-15
    if before <= clip:
        assert found == sums
    else:
        assert length == pytest.approx(clip, rel=1e-9)
        assert [value * other >= 0 for value, other in zip(found, sums, strict=True)] == [True] * len(sums)


def test_owners_send_clipped_sums() -> None:
    _, _, transport = fit(privacy=Privacy(clip=5.0, noise_multiplier=1e-6, seed=1))
    for _, reply in transport.replies:
        if reply.action == "stand":
            assert set(reply.facts) == {"exchange", "name", "position"}  # and nothing else, for example no scales
            values = from_words(reply.arrays["sums"])
            units = [2.0**61] * 3 + [1.0]
            assert math.sqrt(sum((v / u) ** 2 for v, u in zip(values, units, strict=True))) <= 5.0 + 1e-6


def test_a_wide_clip_and_no_noise_change_nothing_that_matters() -> None:
    """With one domain: of several, which are tied at first, the least noise makes another one the worst."""
    X, _, _ = all_rows(6, 1)
    tight = Privacy(clip=1e6, noise_multiplier=1e-16, seed=1)
    plain, found = (
        fit_federated(estimator(), LocalTransport(6, 1), candidates=candidates(8), domain_model=None, privacy=privacy)[
            0
        ]
        for privacy in (None, tight)
    )
    np.testing.assert_allclose(found.decision_function(X), plain.decision_function(X), atol=1e-6)


def test_noise_has_the_size_that_it_should_have() -> None:
    privacy = Privacy(clip=3.0, noise_multiplier=2.0, seed=5)
    noise = privacy.noise()
    drawn = np.array([noise.added([0, 10**6], [2.0**40, 1e6]) for _ in range(4000)], dtype=float)
    assert drawn[:, 0].std() / 2.0**40 == pytest.approx(6.0, rel=0.05)
    assert (drawn[:, 1].mean(), drawn[:, 1].std()) == (pytest.approx(1e6, abs=3e5), pytest.approx(6e6, rel=0.05))
    secret = [Privacy(clip=3.0, noise_multiplier=2.0).noise().added([0], [1e9]) for _ in range(2)]
    assert secret[0] != secret[1]


def test_more_noise_costs_accuracy_and_spends_less() -> None:
    X, y, _ = all_rows(40)
    found = {}
    for multiplier in (0.02, 0.3, 30.0):
        model, office, _ = fit(40, 25, privacy=Privacy(clip=45.0, noise_multiplier=multiplier, seed=2))
        found[multiplier] = model.score(X, y), office.privacy_spent()
    assert found[0.02][0] > found[30.0][0] + 0.1
    assert found[0.02][1].epsilon > found[0.3][1].epsilon > found[30.0][1].epsilon > 0.0
    assert found[0.3][1].delta == 1e-5
    # One release for the losses before the first round, then two in each; again by the formula of the mechanism.
    assert found[30.0][1].num_releases == 1 + 2 * 25
    rho = 51 / (2 * 30.0**2)
    assert found[30.0][1].epsilon <= rho + 2 * math.sqrt(rho * math.log(1e5)) + 1e-9


def test_noise_is_repeatable_with_a_seed() -> None:
    first, again, other = (fit(privacy=Privacy(clip=40.0, noise_multiplier=0.1, seed=s))[0] for s in (1, 1, 2))
    assert first.history_ == again.history_ != other.history_


def test_the_budget_ends_the_fit() -> None:
    model, office, _ = fit(20, 50, privacy=Privacy(clip=45.0, noise_multiplier=5.0, max_epsilon=3.0, seed=1))
    assert model.stop_reason_ == "the privacy budget is spent"
    assert 1 <= model.n_iter_ < 50
    assert 2.0 < office.privacy_spent().epsilon <= 3.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"clip": 0.0},
        {"clip": -1.0},
        {"noise_multiplier": 0.0},
        {"delta": 0.0},
        {"delta": 0.9},
        {"max_epsilon": 0.0},
        {"seed": -1},
    ],
)
def test_refused_settings(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Privacy(**{"clip": 1.0, "noise_multiplier": 1.0, **wrong})


@pytest.mark.parametrize("more", [{"secure": True}, {"privacy": Privacy(clip=1.0, noise_multiplier=1.0)}])
def test_what_would_give_single_rows_away_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="show values of single rows"):
        fit(candidates=TrainedByOwners(), **more)
    with pytest.raises(ValueError, match="Q is learned together by sums without noise or masks"):
        fit(domain_model=None, **more)


# --- masks


@pytest.mark.parametrize("rows", [rows_of, clean_rows])
def test_secure_sums_are_exact(rows: Any, caplog: pytest.LogCaptureFixture) -> None:
    """The same integers as without masks at the same scales, and so the same model."""
    X, _, _ = all_rows(6)
    plain, _, _ = fit(rows=rows, candidates=candidates())
    found, office, transport = fit(rows=rows, candidates=candidates(), secure=True)
    np.testing.assert_array_equal(found.decision_function(X), plain.decision_function(X))
    assert found.history_["objective"] == pytest.approx(plain.history_["objective"], rel=1e-14)
    assert {reply.action for _, reply in transport.replies} >= {"keys", "shares", "stand", "edges", "unmask"}
    assert not office.left_out
    assert "out of range" not in caplog.text


def test_the_server_sees_masks_and_not_sums() -> None:
    """Of each owner alone the integers look random: as many high bits as low ones, and other ones in every run."""
    sums = []
    for _ in range(2):
        _, _, transport = fit(n_rounds=2, secure=True)
        sums.append([reply.arrays["sums"] for _, reply in transport.replies if reply.action in ("stand", "edges")])
    for one, other in zip(*sums, strict=True):
        assert not (one == other).any()
    bits = np.unpackbits(np.concatenate(sums[0]).view(np.uint8))
    assert 0.45 < bits.mean() < 0.55


def test_secure_sums_of_those_who_stay(caplog: pytest.LogCaptureFixture) -> None:
    """An owner who has shared its keys and then falls silent: the masks that others share with it come off."""

    def silent(node: int, letter: Letter, reply: Letter) -> Iterable[Letter | str]:
        return [] if node == 4 and letter.action == "stand" and letter.facts["exchange"] > 12 else [reply]

    found, _, transport = fit(10, 6, secure=True, trouble=silent)
    expected, _, _ = fit(10, 6, trouble=silent_after(transport))
    assert found.history_["objective"] == pytest.approx(expected.history_["objective"], rel=1e-12)


def silent_after(transport: LocalTransport) -> Any:
    """The same owner misses the same rounds without masks."""
    missed = [
        int(letter.facts["position"])
        for node, letter in transport.letters
        if node == 4 and letter.action == "stand" and letter.facts["exchange"] > 12
    ]

    def silent(node: int, letter: Letter, reply: Letter) -> Iterable[Letter | str]:
        return [] if node == 4 and letter.action == "stand" and letter.facts["position"] in missed else [reply]

    return silent


def test_too_few_owners_for_a_secret(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "radboost.federated"), pytest.raises(RuntimeError, match="No owner of the"):
        fit(4, secure=True)
    assert "2 owners answer, and a secure sum needs 3" in caplog.text


def test_a_server_that_asks_for_single_sums_is_refused() -> None:
    """An owner never gives both shares of another one, nor for a group that is too small."""
    refused: list[str] = []

    def asking(node: int, letter: Letter, reply: Letter) -> Iterable[Letter | str]:
        return [reply]

    transport = LocalTransport(10, trouble=asking)
    original = transport.send

    def greedy(letters: Any) -> Any:
        asked = {}
        for node, letter in letters.items():
            if letter.action == "unmask" and node == 0:
                arrived = letter.facts["arrived"]
                letter = changed(letter, {"arrived": arrived[:1], "gone": arrived[1:]})
            asked[node] = letter
        found = original(asked)
        refused.extend(answer for _, answer in found if isinstance(answer, str))
        return found

    transport.send = greedy  # type: ignore[method-assign]
    fit_federated(estimator(1), transport, candidates=candidates(4), domain_model=domain_model(), secure=True)
    assert refused
    assert all("what would show single sums" in one for one in refused)


def test_owners_named_twice_do_not_open_a_sum() -> None:
    """With copies of itself an owner would add no mask that others share."""
    from radboost.federated.secure import Session

    sessions, names = [Session.begin(1) for _ in range(3)], ["a", "b", "c"]
    keys = {f"{name}/{k}": a for k, s in enumerate(sessions) for name, a in s.public_keys().items()}
    told = {"session": 1, "peers": names, "threshold": 3}
    for session, name in zip(sessions, names, strict=True):
        session.share(Letter("shares", told, dict(keys)), name)
    for there in ([0, 0, 0], [0, 1, 1], [0, 1, 2, 7], [1, 2]):
        with pytest.raises(LetterError, match=r"not what they were|too few"):
            sessions[0].masked(Letter("stand", {"session": 1, "there": there}), to_words([1]))


def test_an_owner_may_insist_on_secure_sums() -> None:
    transport = LocalTransport(6)
    for one in transport.owners:
        one._require_secure = True
    with pytest.raises(RuntimeError, match="No owner of the domain"):
        fit_federated(estimator(2), transport, candidates=candidates(), domain_model=domain_model())
    model, _ = fit_federated(
        estimator(2), transport, candidates=candidates(4), domain_model=domain_model(), secure=True
    )
    assert model.n_iter_ == 2


GARBAGE: dict[str, tuple[str, Any]] = {
    "no keys": ("keys", lambda a: {}),
    "half a key": ("keys", lambda a: {name: array[:20] for name, array in a.items()}),
    "no shares": ("shares", lambda a: {}),
    "no secrets": ("unmask", lambda a: {}),
    "short secrets": ("unmask", lambda a: {name: np.zeros(3, np.uint8) for name in a}),
    "secrets of real numbers": ("unmask", lambda a: {name: array.astype(float) for name, array in a.items()}),
}


@pytest.mark.parametrize("what", GARBAGE)
def test_garbage_in_secure_sums(what: str) -> None:
    action, change = GARBAGE[what]

    def troubling(node: int, letter: Letter, reply: Letter) -> Iterable[Letter | str]:
        wrong = node == 3 and letter.action == action
        return [Letter(reply.action, reply.facts, change(reply.arrays)) if wrong else reply]

    model, office, _ = fit(12, 2, secure=True, trouble=troubling)
    assert list(office.left_out) == ["owner 003"]
    assert model.n_iter_ == 2


def test_false_secrets_do_not_end_the_fit(caplog: pytest.LogCaptureFixture) -> None:
    """They have the right form, and nobody can say whose they are: the sum is lost, and the next one goes on."""
    seen = [0]

    def lying(node: int, letter: Letter, reply: Letter) -> Iterable[Letter | str]:
        seen[0] += letter.action == "unmask" and node == 3
        if letter.action != "unmask" or node != 3 or seen[0] != 2:
            return [reply]
        return [Letter(reply.action, reply.facts, {name: array ^ 1 for name, array in reply.arrays.items()})]

    model, _, _ = fit(8, 4, secure=True, trouble=lying)
    assert model.n_iter_ >= 3
    assert "do not come off" in caplog.text or "is out of range and is not used" in caplog.text


def test_scores_that_secure_sums_do_not_resolve() -> None:
    """Rows that one stump parts, whose weight grows without end."""
    found, _ = fit_federated(
        estimator(300, learning_rate=1.0),
        LocalTransport(3, rows=lambda k: (*clean_rows(k)[:2], "domain 0")),
        candidates=Candidates(stumps_at([[GRID[0][3]], [], [], []])),
        domain_model=None,
        privacy=Privacy(clip=1e3, noise_multiplier=1e-17, seed=1),
    )
    assert 'take loss="logistic"' in found.stop_reason_
    assert 50 < found.n_iter_ < 300


def test_a_budget_that_allows_for_nothing() -> None:
    with pytest.raises(ValueError, match="does not allow for the losses before the first round"):
        fit(privacy=Privacy(clip=1.0, noise_multiplier=0.1, max_epsilon=0.01))


@settings(max_examples=5)
@given(
    st.integers(3, 6),
    st.lists(st.integers(-(2**100), 2**100), min_size=1, max_size=5),
    st.integers(0, 2**32 - 1),
)
def test_masks_cancel_whoever_drops_out(n: int, values: list[int], seed: int) -> None:
    from radboost.federated.secure import Session, threshold_of, unmasked

    rng = np.random.default_rng(seed)
    names, threshold = [f"{k}" for k in range(n)], threshold_of(n)
    own = [[value * (k + 1) for value in values] for k in range(n)]
    sessions = [Session.begin(1) for _ in names]
    keys = {f"{name}/{k}": a for k, s in enumerate(sessions) for name, a in s.public_keys().items()}
    told = {"session": 1, "peers": names, "threshold": threshold}
    sealed = [s.share(Letter("shares", told, dict(keys)), name) for s, name in zip(sessions, names, strict=True)]
    there = list(range(n))
    masked = {}
    for k, session in enumerate(sessions):
        arrays = {f"share/{j}": sealed[j][f"share/{k}"] for j in there if j != k}
        masked[k] = session.masked(Letter("stand", {"session": 1, "there": there}, arrays), to_words(own[k]))
    gone = rng.permutation(n)[: n - threshold].tolist()
    arrived = [k for k in there if k not in gone]
    letter = Letter("unmask", {"session": 1, "arrived": arrived, "gone": gone})
    parts = {k: sessions[k].unmask(letter) for k in arrived}
    shares = {k: {j: parts[j][f"share/{k}"].tobytes() for j in arrived} for k in there}
    public = {k: keys[f"mask_public/{k}"].tobytes() for k in there}
    total = unmasked({k: masked[k] for k in arrived}, gone, shares, public, threshold)
    assert total == [sum(own[k][place] for k in arrived) for place in range(len(values))]
    with pytest.raises(LetterError, match="another order"):
        sessions[arrived[0]].unmask(letter)
    with pytest.raises(RuntimeError, match="are needed to take the masks off"):
        unmasked({k: masked[k] for k in arrived}, gone, {k: {} for k in there}, public, threshold)
