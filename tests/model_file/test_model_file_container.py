"""The container: round trips, atomic writing, and every kind of damage named."""

import contextlib
import hashlib
import json
import os
import pickle
import stat
import struct
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from radboost.model_file import DTYPES, FORMAT_VERSION, MAGIC, ModelFileError, read, write

IN_TMP = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

HEADER = {"kind": "test", "numbers": [1, 2.5, None, True], "nested": {"a": {"b": ["é", "\n"]}}}
ARRAYS = {
    "weights": np.array([0.1, -2.0, np.inf, np.nan]),
    "empty": np.zeros((0, 3), dtype=np.int32),
    "flags": np.array([True, False, True]),
    "scalar": np.array(7, dtype=np.uint8),
    "table": np.arange(12, dtype=np.int16).reshape(3, 4),
}


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "model.radb"
    write(path, HEADER, ARRAYS)
    return path


def seal(body: bytes) -> bytes:
    """Give ``body`` the stated size and the checksum it needs, as someone who forges a file would."""
    body = body[:16] + struct.pack("<Q", len(body) + 32) + body[24:]
    return body + hashlib.sha256(body).digest()


def forge(document: object, data: bytes = b"", *, raw: bytes | None = None) -> bytes:
    """Build a well-sealed file around any header."""
    text = json.dumps(document).encode() if raw is None else raw
    text += b" " * (-(24 + len(text)) % 64)
    return seal(MAGIC + struct.pack("<IIQ", FORMAT_VERSION, len(text), 0) + text + data)


def row(**changes: object) -> dict[str, object]:
    return {"name": "a", "dtype": "<f8", "shape": [4], "offset": 0, "nbytes": 32} | changes


def table(*rows: object) -> dict[str, object]:
    return {"arrays": list(rows), "content": {}}


# --- round trips --------------------------------------------------------------------------------------------


def test_equal_content_gives_equal_bytes(tmp_path: Path) -> None:
    write(tmp_path / "a", {"x": 1, "y": 2}, ARRAYS)
    write(tmp_path / "b", {"y": 2, "x": 1}, ARRAYS)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_order_of_bytes_and_memory_do_not_matter(tmp_path: Path) -> None:
    values = np.arange(12.0).reshape(3, 4)
    for version in (values.astype(">f8"), np.asfortranarray(values), values.repeat(2, axis=0)[::2]):
        write(tmp_path / "m", {}, {"v": version})
        (back,) = read(str(tmp_path / "m"))[1].values()
        assert back.dtype.str == "<f8"
        np.testing.assert_array_equal(back, values)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)
plain_arrays = st.sampled_from(sorted(DTYPES)).flatmap(
    lambda code: hnp.arrays(np.dtype(code), hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
)


@IN_TMP
@given(
    header=st.dictionaries(st.text(), json_values, max_size=5),
    arrays=st.dictionaries(st.text(min_size=1, max_size=200), plain_arrays, max_size=4),
)
def test_any_content_survives(tmp_path: Path, header: dict, arrays: dict) -> None:
    write(tmp_path / "m", header, arrays)
    header_back, arrays_back = read(tmp_path / "m")
    assert header_back == header
    assert list(arrays_back) == list(arrays)
    for name, array in arrays.items():
        assert (arrays_back[name].dtype, arrays_back[name].shape) == (array.dtype, array.shape)
        assert arrays_back[name].tobytes() == array.tobytes()
        assert arrays_back[name].flags.aligned
        assert not arrays_back[name].flags.writeable


# --- writing ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "arrays", "message"),
    [
        ({"x": float("nan")}, {}, "JSON"),
        ({"x": np.int64(3)}, {}, "JSON"),
        ({"x": {1: 2}}, {}, "keys of a header must be strings"),
        ({}, {"x": np.array(["text"])}, "dtype"),
        ({}, {"x": np.array([None])}, "dtype"),
        ({}, {"x": np.zeros(2, dtype="datetime64[s]")}, "dtype"),
        ({}, {"": np.zeros(2)}, "name"),
        ({}, {"x": np.zeros((1,) * 9)}, "dimensions"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path: Path, header: dict, arrays: dict, message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        write(tmp_path / "m", header, arrays)
    assert list(tmp_path.iterdir()) == []


def test_a_header_that_contains_itself_is_refused(tmp_path: Path) -> None:
    header: dict = {}
    header["self"] = header
    with pytest.raises(ModelFileError, match="levels deep"):
        write(tmp_path / "m", header, {})


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_a_failure_leaves_only_the_old_file(
    sample: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    before = sample.read_bytes()

    def fail(descriptor: int) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(type(error)):
        write(sample, {"new": 1}, {})
    assert sample.read_bytes() == before
    assert [entry.name for entry in sample.parent.iterdir()] == [sample.name]


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_permissions(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write(tmp_path / "new", {}, {})
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "new").chmod(0o604)
    write(tmp_path / "new", {"again": True}, {})
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o604


@pytest.mark.skipif(os.name == "nt", reason="links need privileges there")
def test_a_link_stays_a_link(sample: Path) -> None:
    link = sample.with_name("link")
    link.symlink_to(sample)
    write(link, {"through": "link"}, {})
    assert link.is_symlink()
    assert read(sample)[0] == {"through": "link"}


def test_places_that_cannot_hold_a_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist"):
        write(tmp_path / "no" / "m", {}, {})
    with pytest.raises(IsADirectoryError, match="not a regular file"):
        write(tmp_path, {}, {})
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="it is a device, pipe or socket and not a regular file") as caught:
        write(pipe, {}, {})
    assert not isinstance(caught.value, IsADirectoryError)


# --- damage -------------------------------------------------------------------------------------------------


def tried(n_bytes: int) -> list[int]:
    """All of the first and the last positions of a file, and every seventh of the others."""
    return [*range(64), *range(64, n_bytes - 40, 7), *range(n_bytes - 40, n_bytes)]


def test_every_truncation_is_noticed(sample: Path) -> None:
    whole = sample.read_bytes()
    for length in tried(len(whole)):
        sample.write_bytes(whole[:length])
        with pytest.raises(ModelFileError, match=r"truncated|empty"):
            read(sample)


def test_every_altered_byte_is_noticed(sample: Path) -> None:
    whole = sample.read_bytes()
    for position in tried(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= (0x01, 0x80, 0xFF)[position % 3]
        sample.write_bytes(damaged)
        with pytest.raises(ModelFileError):
            read(sample)


EIGHT = bytes(32)
HOSTILE = [
    (forge([]), "two entries"),
    (forge({"arrays": []}), "two entries"),
    (forge({"arrays": {}, "content": {}}), "not a list"),
    (forge({"arrays": [], "content": []}), "not a dict"),
    (forge(None, raw=b"{"), "not valid JSON"),
    (forge(None, raw=b""), "not valid JSON"),
    (forge(None, raw=b'{"arrays":[],"content":{}} {}'), "not valid JSON"),
    (forge(None, raw=b'{"arrays":[],"arrays":[],"content":{}}'), "twice"),
    (forge(None, raw=b'{"arrays":[],"content":{"a":1,"a":2}}'), "twice"),
    (forge(None, raw=b'{"arrays":[],"content":{"a":NaN}}'), "finite"),
    (forge(None, raw=b'{"arrays":[],"content":{"a":1e999}}'), "finite"),
    (forge(None, raw=b'{"arrays":[],"content":{"a":' + b"9" * 10_000 + b"}}"), "not valid JSON"),
    (forge(None, raw='{"arrays":[],"content":{"é":1}}'.encode()), "ASCII"),
    (forge(None, raw=b"[" * 200_000), "levels deep"),
    (forge(None, raw=b'{"arrays":[],"content":' + b'{"a":' * 50 + b"1" + b"}" * 51), "levels deep"),
    (forge(table(3), EIGHT), "name, dtype, shape"),
    (forge(table(row(extra=1)), EIGHT), "name, dtype, shape"),
    (forge(table(row(name="")), EIGHT), "name of an array"),
    (forge(table(row(name=3)), EIGHT), "name of an array"),
    (forge(table(row(name="n" * 201)), EIGHT), "name of an array"),
    (forge(table(row(dtype="|O")), EIGHT), "unknown type"),
    (forge(table(row(dtype=">f8")), EIGHT), "unknown type"),
    (forge(table(row(dtype=["<f8"])), EIGHT), "unknown type"),
    (forge(table(row(shape=4)), EIGHT), "list of at most"),
    (forge(table(row(shape=[4.0])), EIGHT), "list of at most"),
    (forge(table(row(shape=[True, 4])), EIGHT), "list of at most"),
    (forge(table(row(shape=[1] * 9)), EIGHT), "list of at most"),
    (forge(table(row(shape=[-2, -2])), EIGHT), "negative or too large"),
    (forge(table(row(shape=[2**61 + 4])), EIGHT), "negative or too large"),
    (forge(table(row(shape=[0, 2**40, 2**40], nbytes=0))), "negative or too large"),
    (forge(table(row(shape=[5])), EIGHT), "does not fit"),
    (forge(table(row(shape=[2**40])), EIGHT), "does not fit"),
    (forge(table(row(nbytes=2**70)), EIGHT), "nbytes of array"),
    (forge(table(row(offset=-1)), EIGHT), "offset of array"),
    (forge(table(row(offset="0")), EIGHT), "offset of array"),
    (forge(table(row(offset=8)), EIGHT), "overlap or leave gaps"),
    (forge(table(row(), row(name="b")), EIGHT), "overlap or leave gaps"),
    (forge(table(row(), row(offset=64)), bytes(96)), "occurs twice"),
    (forge(table(row()), bytes(24)), "claims 32 bytes"),
    (forge(table(row(), row(name="b", offset=64)), bytes(40)), "claims 32 bytes"),
    (forge(table(row()), bytes(40)), "belong to no array"),
    (forge(table(), b"x"), "belong to no array"),
    (forge(table(row(), row(name="b", offset=64)), bytes(40) + b"x" + bytes(55)), "padding"),
    (forge(table(row(dtype="|b1", shape=[32])), b"\x02" + bytes(31)), "neither 0 nor 1"),
    (
        seal(MAGIC + struct.pack("<IIQ", 1, 41, 0) + b'{"arrays":[],"content":{}}'.ljust(41) + bytes(31)),
        "not a multiple of 64",
    ),
]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda b: b"", "empty"),
        (lambda b: b"PK\x03\x04" + b[4:], "signature"),
        (lambda b: pickle.dumps({"a": 1}), "pickle"),
        (lambda b: b[:8] + struct.pack("<I", 2) + b[12:], "format version 2.*up to format 1.*upgrade"),
        (lambda b: b[:8] + struct.pack("<I", 0) + b[12:], "the first is 1"),
        (lambda b: b + b"x", "1 bytes follow its end"),
        (lambda b: b[:-1] + bytes([b[-1] ^ 1]), "checksum"),
        (lambda b: b[:16] + struct.pack("<Q", 2**64 - 1) + b[24:], "truncated"),
        (lambda b: seal(b[:12] + struct.pack("<I", 2**32 - 1) + b[16:-32]), "header claims"),
        (lambda b: seal(b[:24]), "header claims"),
        (lambda b: b.replace(b"\r\n", b"\n"), "signature"),
        *((lambda b, content=content: content, reason) for content, reason in HOSTILE),
    ],
)
def test_the_reason_is_named(sample: Path, change, reason: str) -> None:
    sample.write_bytes(change(sample.read_bytes()))
    with pytest.raises(ModelFileError, match=reason) as caught:
        read(sample)
    assert str(sample) in str(caught.value)


def test_the_forger_can_also_make_a_good_file(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(forge(table(row(), row(name="b", offset=64)), bytes(96)))
    _, arrays = read(tmp_path / "m")
    assert list(arrays) == ["a", "b"]


MANY = 30_000
LONG = [b"x" * MANY, rb"\n" * MANY, rb"\\" * MANY, rb"\u4e00" * MANY, b"x" * MANY + rb"\ud83d\ude00"]
MANY_PARTS = [b"0", b"0.5", b'"ab"', b"[]", b'{"":0}', b'{"":' * 25 + b"0" + b"}" * 25]


def content(raw: bytes) -> bytes:
    return b'{"arrays":[],"content":{"a":' + raw + b"}}"


HEADERS = [
    *((content(b'"' + text + b'"'), 10) for text in LONG),
    (content(b'"' + LONG[1]), 10),  # whose string does not end
    *((content(b"[" + b",".join([part] * (MANY // len(part))) + b"]"), 40) for part in MANY_PARTS),
    (content(b"[" * MANY), 40),
]
FILES = [
    *((forge(None, raw=raw), factor) for raw, factor in HEADERS),
    # Arrays and a header of many gigabytes are claimed.
    (forge(table(row(shape=[2**33], nbytes=2**36)), EIGHT), 40),
    (forge(table(row(shape=[2**33, 0], nbytes=0)), EIGHT), 40),
    (forge(table(*(row(name=str(i), shape=[2**30], nbytes=2**33) for i in range(50))), EIGHT), 40),
    (seal(MAGIC + struct.pack("<IIQ", 1, 2**31, 0) + bytes(200)), 40),
]


@pytest.mark.parametrize(("file", "factor"), FILES, ids=range(len(FILES)))
def test_a_file_takes_memory_in_proportion_to_its_bytes(tmp_path: Path, file: bytes, factor: int) -> None:
    path = tmp_path / "m"
    path.write_bytes(file)
    tracemalloc.start()
    try:
        with contextlib.suppress(ModelFileError):
            read(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= factor * len(file) + 2**16


junk_numbers = st.integers(-(2**70), 2**70) | st.integers(-3, 130) | st.floats() | st.booleans()
junk_rows = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["a", "b", "", 1]),
        "dtype": st.sampled_from([*DTYPES, "|O", "<c16"]),
        "shape": st.lists(junk_numbers, max_size=3) | junk_numbers,
        "offset": junk_numbers,
        "nbytes": junk_numbers,
    }
)


@IN_TMP
@given(
    document=json_values | st.lists(junk_rows, max_size=3).map(lambda rows: {"arrays": rows, "content": {}}),
    data=st.binary(max_size=200),
)
def test_sealed_junk_never_does_anything_else_than_be_refused(tmp_path: Path, document, data: bytes) -> None:
    (tmp_path / "m").write_bytes(forge(document, data))
    try:
        _, arrays = read(tmp_path / "m")
    except ModelFileError:
        return
    assert sum(array.nbytes for array in arrays.values()) <= len(data)


def test_what_is_not_a_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for ever
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "missing")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ModelFileError, match="not a regular file"):
            read(path)


# --- what killed processes leave ----------------------------------------------------------------------------


def killed(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a process that is killed while it writes to ``path`` leaves: the old file, and one beside it."""

    def die(descriptor: int) -> None:
        patch.setattr(Path, "unlink", lambda *_, **__: None)  # what is dead cleans up nothing
        raise SystemExit

    before = set(beside(path))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", die)
        with pytest.raises(SystemExit):
            write(path, {"new": True}, {})
    (left,) = set(beside(path)) - before
    return left


def beside(path: Path) -> list[Path]:
    return sorted(entry for entry in path.parent.iterdir() if entry.name.endswith(".tmp"))


def old(path: Path) -> Path:
    """The file as if nobody had written to it for more than an hour."""
    hour_ago = path.lstat().st_mtime - 3700
    os.utime(path, (hour_ago, hour_ago), follow_symlinks=False)
    return path


def test_a_save_removes_what_a_killed_one_has_left_an_hour_ago(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other, first = old(killed(sample.with_name("other"), monkeypatch)), old(killed(sample, monkeypatch))
    second = killed(sample, monkeypatch)
    assert not first.exists()  # gone before the second one was killed
    write(sample, {"next": 1}, {})
    assert read(sample)[0] == {"next": 1}
    assert beside(sample) == sorted([other, second])  # of another target; perhaps still being written
    old(second)
    write(sample, {}, {})
    assert beside(sample) == [other]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes and links")
def test_what_only_has_the_name_of_such_a_file_stays(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = killed(sample, monkeypatch)
    left.unlink()
    os.mkfifo(left)
    precious = sample.with_name("precious")
    precious.write_bytes(b"x")
    link = left.with_name(left.name.replace(".tmp", "-link.tmp"))
    link.symlink_to(precious)
    old(left), old(link)
    write(sample, {"a": 1}, {})
    assert read(sample)[0] == {"a": 1}
    assert beside(sample) == sorted([left, link])
    assert precious.read_bytes() == b"x"


def test_threads_that_save_to_one_name(tmp_path: Path) -> None:
    path = tmp_path / "m"
    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(write, path, {"n": n}, ARRAYS) for n in range(200)]:
            done.result()
    assert 0 <= read(path)[0]["n"] < 200
    assert beside(path) == []
