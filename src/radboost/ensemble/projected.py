"""The fitted model of a supervised kernel projection: eigenfunctions and their weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from radboost._typing import FloatArray


@dataclass(frozen=True, eq=False)
class ProjectedEnsemble:
    """Eigenfunctions of base kernels, by falling eigenvalue, each with a weight for each score."""

    kernels: tuple[str, ...]  # names of the base kernels
    mixture: FloatArray
    components: FloatArray  # the kernel and the number of each eigenfunction
    eigenvalues: FloatArray
    weights: FloatArray  # shape (n_eigenfunctions, n_outputs)
    intercept: FloatArray
    sample_size: float  # m, the sum of the weights of the labeled rows

    def __len__(self) -> int:
        return len(self.components)

    def __repr__(self) -> str:
        parts = [f"{len(self)} eigenfunctions of {len(self.kernels)} kernels"]
        for k, (name, weight) in enumerate(zip(self.kernels, self.mixture, strict=True)):
            kept = int(np.sum(self.components[:, 0] == k))
            parts.append(f"  {weight:8.4f}  {name}: {kept} kept")
        return "\n".join(parts)
