"""Running exported models: C by gcc, ONNX by onnxruntime, Treelite by its own interpreter."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

GCC = shutil.which("gcc")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
DOUBLES = ctypes.POINTER(ctypes.c_double)


class Compiled:
    """A shared library of exported models, one beside the other."""

    def __init__(self, texts: Mapping[str, str], folder: Path) -> None:
        source, library = folder / "models.c", folder / "models.so"
        source.write_text("".join(texts.values()), encoding="ascii")
        subprocess.run([str(GCC), *STRICT, "-shared", "-fPIC", source, "-o", library], check=True)
        self.library = ctypes.CDLL(str(library))

    def scores(self, name: str, rows: np.ndarray, n_scores: int) -> np.ndarray:
        found = self._fill(f"{name}_scores", rows, n_scores)
        return found[:, 0] if n_scores == 1 else found

    def probabilities(self, name: str, rows: np.ndarray, n_classes: int) -> np.ndarray:
        return self._fill(f"{name}_probabilities", rows, n_classes)

    def places(self, name: str, rows: np.ndarray) -> np.ndarray:
        return self._each(f"{name}_predict", rows, ctypes.c_int)

    def task_places(self, name: str, rows: np.ndarray, n_tasks: int) -> np.ndarray:
        call, found = getattr(self.library, f"{name}_predict"), np.full((len(rows), n_tasks), -1, dtype=np.intc)
        for row, line in zip(rows, found, strict=True):
            call(row.ctypes.data_as(DOUBLES), line.ctypes.data_as(ctypes.POINTER(ctypes.c_int)))
        return found

    def numbers(self, name: str, rows: np.ndarray) -> np.ndarray:
        return self._each(f"{name}_predict", rows, ctypes.c_double)

    def several_numbers(self, name: str, rows: np.ndarray, n_targets: int) -> np.ndarray:
        return self._fill(f"{name}_predict", rows, n_targets)

    def _fill(self, function: str, rows: np.ndarray, width: int) -> np.ndarray:
        call, found = getattr(self.library, function), np.full((len(rows), width), np.nan)
        for row, line in zip(rows, found, strict=True):
            call(row.ctypes.data_as(DOUBLES), line.ctypes.data_as(DOUBLES))
        return found

    def _each(self, function: str, rows: np.ndarray, kind: Any) -> np.ndarray:
        call = getattr(self.library, function)
        call.restype = kind
        return np.array([call(row.ctypes.data_as(DOUBLES)) for row in rows])


def run_onnx(proto: Any, rows: np.ndarray) -> dict[str, np.ndarray]:
    import onnx
    import onnxruntime

    onnx.checker.check_model(proto, full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": rows}), strict=True))


def run_treelite(model: Any, rows: np.ndarray) -> np.ndarray:
    import treelite

    found = treelite.gtil.predict(model, rows, nthread=1)[:, 0]
    return found[:, 0] if found.shape[1] == 1 else found


def same_kind(found: np.ndarray, wanted: np.ndarray, to: float = 1e-12) -> None:
    """Equal to so much, relative to numbers above 1 and absolutely below; of the same shape."""
    assert found.shape == wanted.shape
    np.testing.assert_array_less(np.abs(found - wanted), to * np.maximum(1.0, np.abs(wanted)) + 1e-300)
