"""Sums of which the server sees the total alone: SecAgg+'s keys, shares and masks on our integers.

Bonawitz et al. (2017), with the keys and the secret sharing of Flower. Flower's own workflow rounds real numbers at
random and draws masks from a generator with a seed of 32 bits; here integers are masked modulo 2^128 by a stream
cipher, so that the masks cancel exactly. Keys are made anew for each sum.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from flwr.common.secure_aggregation.crypto.shamir import combine_shares, create_shares
from flwr.common.secure_aggregation.crypto.symmetric_encryption import decrypt, encrypt, generate_shared_key
from flwr.supercore.primitives.asymmetric import (
    bytes_to_private_key,
    bytes_to_public_key,
    generate_key_pairs,
    private_key_to_bytes,
    public_key_to_bytes,
)

from radboost.federated.letters import Arrays, Letter, LetterError, need
from radboost.federated.numbers import from_words, to_words

MODULUS = 2**128
WORD_BYTES = 16
SEED_BYTES = 32
# Below so many owners a total says too much of each of them.
FEWEST_OWNERS = 3

Bytes = npt.NDArray[np.uint8]


def threshold_of(n: int) -> int:
    """Owners whose shares bring back a secret: more than two thirds."""
    return max(2, 2 * n // 3 + 1)


def mask(key: bytes, width: int) -> list[int]:
    """So many integers modulo 2^128 that look random to whoever does not have the key."""
    encryptor = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor()
    stream = encryptor.update(bytes(WORD_BYTES * width))
    return [int.from_bytes(stream[k : k + WORD_BYTES], "little") for k in range(0, len(stream), WORD_BYTES)]


def is_public_key(given: bytes) -> bool:
    try:
        bytes_to_public_key(given)
    except (ValueError, TypeError):
        return False
    return True


def pair_key(private_key: bytes, public_key: bytes) -> bytes:
    """What two owners share, and nobody else knows."""
    shared = generate_shared_key(bytes_to_private_key(private_key), bytes_to_public_key(public_key))
    return base64.urlsafe_b64decode(shared)


def _signed(value: int) -> int:
    value %= MODULUS
    return value - MODULUS if value >= MODULUS // 2 else value


def _array(given: bytes) -> Bytes:
    return np.frombuffer(given, dtype=np.uint8).copy()


def _bytes(arrays: Mapping[str, npt.NDArray[Any]], name: str) -> bytes:
    need(name in arrays and arrays[name].dtype == np.uint8, f"{name!r} is missing")
    return arrays[name].tobytes()


# --- owners


class Session:
    """What an owner must remember of one sum; kept in its state between letters."""

    def __init__(self, kept: Letter) -> None:
        self.facts, self.arrays = kept.facts, kept.arrays

    @classmethod
    def begin(cls, number: int) -> Session:
        arrays: Arrays = {}
        for name in ("cipher", "mask"):  # keys for shares on their way, and for masks
            private, public = generate_key_pairs()
            arrays[f"{name}_private"] = _array(private_key_to_bytes(private))
            arrays[f"{name}_public"] = _array(public_key_to_bytes(public))
        return cls(Letter("session", {"number": number, "stage": "keys"}, arrays))

    def kept(self) -> Letter:
        return Letter("session", self.facts, self.arrays)

    def expect(self, letter: Letter, stage: str) -> None:
        if self.facts.get("number") != letter.facts.get("session") or self.facts.get("stage") != stage:
            raise LetterError("the letters of a secure sum came in another order than the protocol has")

    def public_keys(self) -> Arrays:
        return {name: self.arrays[name] for name in ("cipher_public", "mask_public")}

    def share(self, letter: Letter, name: str) -> Arrays:
        """Shares of the own secrets, each for one of the others to keep."""
        self.expect(letter, "keys")
        peers, threshold = list(letter.facts["peers"]), int(letter.facts["threshold"])
        need(name in peers and len(set(peers)) == len(peers) >= FEWEST_OWNERS, "too few owners for a secure sum")
        need(threshold >= threshold_of(len(peers)), "the server asks for too few shares")
        seed = secrets.token_bytes(SEED_BYTES)
        of_seed = create_shares(seed, threshold, len(peers))
        of_key = create_shares(_bytes(self.arrays, "mask_private"), threshold, len(peers))
        sealed: Arrays = {}
        for k, peer in enumerate(peers):
            both = len(of_seed[k]).to_bytes(4, "little") + of_seed[k] + of_key[k]
            if peer == name:
                self.arrays[f"held/{k}"] = _array(both)
            else:
                shared = pair_key(_bytes(self.arrays, "cipher_private"), _bytes(letter.arrays, f"cipher_public/{k}"))
                sealed[f"share/{k}"] = _array(encrypt(base64.urlsafe_b64encode(shared), both))
            for kind in ("cipher", "mask"):
                self.arrays[f"{kind}_public/{k}"] = letter.arrays[f"{kind}_public/{k}"]
        self.arrays["seed"] = _array(seed)
        self.facts = {**self.facts, "stage": "shared", "peers": peers, "threshold": threshold, "name": name}
        return sealed

    def masked(self, letter: Letter, sums: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The own sums under the masks shared with all who have sent their shares."""
        self.expect(letter, "shared")
        there, me = list(letter.facts["there"]), self._me()
        real = len(set(there)) == len(there) and set(there) <= set(range(len(self.facts["peers"])))
        need(real and me in there, "the owners of a secure sum are not what they were")
        need(len(there) >= self.facts["threshold"], "too few owners are left for a secure sum")
        for k in there:
            if k != me:
                self.arrays[f"sealed/{k}"] = letter.arrays[f"share/{k}"]
        values = from_words(sums)
        total = [value + m for value, m in zip(values, mask(_bytes(self.arrays, "seed"), len(values)), strict=True)]
        for k in there:
            if k != me:
                key = pair_key(_bytes(self.arrays, "mask_private"), _bytes(self.arrays, f"mask_public/{k}"))
                sign = 1 if me < k else -1
                total = [one + sign * m for one, m in zip(total, mask(key, len(total)), strict=True)]
        self.facts = {**self.facts, "stage": "masked", "there": there}
        return to_words([_signed(one) for one in total])

    def unmask(self, letter: Letter) -> Arrays:
        """For owners whose sums have arrived the share of their seed, for others that of their key; never both."""
        self.expect(letter, "masked")
        arrived, gone = list(letter.facts["arrived"]), list(letter.facts["gone"])
        whole = sorted([*arrived, *gone]) == sorted(self.facts["there"])  # each of them once
        need(whole and len(arrived) >= self.facts["threshold"], "the server asks for what would show single sums")
        found: Arrays = {}
        for k in [*arrived, *gone]:
            seed_share, key_share = self._held(k)
            found[f"share/{k}"] = _array(seed_share if k in arrived else key_share)
        self.facts = {**self.facts, "stage": "over"}
        self.arrays = {}
        return found

    def _me(self) -> int:
        return int(self.facts["peers"].index(self.facts["name"]))

    def _held(self, k: int) -> tuple[bytes, bytes]:
        """The shares of the secrets of owner k."""
        if k == self._me():
            both = _bytes(self.arrays, f"held/{k}")
        else:
            shared = pair_key(_bytes(self.arrays, "cipher_private"), _bytes(self.arrays, f"cipher_public/{k}"))
            both = decrypt(base64.urlsafe_b64encode(shared), _bytes(self.arrays, f"sealed/{k}"))
        length = int.from_bytes(both[:4], "little")
        return both[4 : 4 + length], both[4 + length :]


# --- the server


def unmasked(
    masked: Mapping[int, npt.NDArray[np.int64]],
    gone: Sequence[int],
    shares: Mapping[int, Mapping[int, bytes]],
    public_keys: Mapping[int, bytes],
    threshold: int,
) -> list[int]:
    """The total of the sums that have arrived: the masks that do not cancel are taken off.

    `masked` has the sums by owners, `shares` for each owner whose secret is needed the shares of those who answered.
    """
    width = len(next(iter(masked.values())))
    total = [sum(column) for column in zip(*(from_words(words) for words in masked.values()), strict=True)]

    def secret(k: int) -> bytes:
        parts = list(shares[k].values())
        if len(parts) < threshold:
            raise RuntimeError(f"{len(parts)} owners have answered, and {threshold} are needed to take the masks off.")
        return combine_shares(parts[:threshold])

    for k in masked:
        total = [one - m for one, m in zip(total, mask(secret(k), width), strict=True)]
    for absent in gone:
        private = secret(absent)
        for k in masked:
            key = pair_key(private, public_keys[k])
            sign = 1 if k < absent else -1
            total = [one - sign * m for one, m in zip(total, mask(key, width), strict=True)]
    return [_signed(one) for one in total]
