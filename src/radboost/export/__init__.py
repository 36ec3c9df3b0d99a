"""Models in forms that run without RadBoost: ONNX, Treelite, C (``docs/exporting.md``)."""

from radboost.export.parts import ExportError

__all__ = ["ExportError"]
