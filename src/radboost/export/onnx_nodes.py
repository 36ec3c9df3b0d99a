"""Writing an ONNX graph node by node."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_TYPES = {"double": "DOUBLE", "int64": "INT64", "string": "STRING", "bool": "BOOL"}


def need_onnx() -> Any:
    try:
        import onnx
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise ImportError("to_onnx needs the package onnx: pip install 'radboost[export]'.") from error
    return onnx


class Graph:
    """Nodes, constants and outputs; values have the names v0, v1, ... in the order in which they are computed."""

    def __init__(self) -> None:
        self._onnx = need_onnx()
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._outputs: list[Any] = []
        self._n_values = 0
        self.last = ""  # the value that was computed last

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node with one output, and returns its name."""
        return self.add_several(operator, 1, *inputs, **attributes)[0]

    def add_several(self, operator: str, n_outputs: int, *inputs: str, **attributes: Any) -> list[str]:
        outputs = [f"v{self._n_values + k}" for k in range(n_outputs)]
        self._n_values += n_outputs
        self._nodes.append(self._onnx.helper.make_node(operator, list(inputs), outputs, **attributes))
        self.last = outputs[0]
        return outputs

    def constant(self, values: npt.NDArray[Any]) -> str:
        name = f"c{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(values, name))
        return name

    def real(self, values: npt.ArrayLike) -> str:
        return self.constant(np.array(values, dtype=np.float64))

    def whole(self, values: npt.ArrayLike) -> str:
        return self.constant(np.array(values, dtype=np.int64))

    def type_number(self, kind: str) -> int:
        return int(getattr(self._onnx.TensorProto, _TYPES[kind]))

    def output(self, name: str, value: str, kind: str, n_dimensions: int, width: int = 1) -> None:
        """Makes a value an output of the graph."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [value], [name]))
        shape = [None, width][:n_dimensions]
        self._outputs.append(self._onnx.helper.make_tensor_value_info(name, self.type_number(kind), shape))

    def proto(self, title: str, input_name: str, width: int) -> Any:
        rows = self._onnx.helper.make_tensor_value_info(input_name, self.type_number("double"), [None, width])
        return self._onnx.helper.make_graph(self._nodes, title, [rows], self._outputs, self._constants)
