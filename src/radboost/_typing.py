"""Names of types used all over the package."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
ClassIds = npt.NDArray[np.uint16]  # 0, 1, ...: places in the sorted list of labels
RowOrder = npt.NDArray[np.uint32]  # half the memory of int64; the engine takes fewer than 2^32 rows
FloatMatrix = npt.NDArray[np.float64] | npt.NDArray[np.float32]
Category = bool | int | float | str
