"""Soft-max boosting around scikit-learn's trees: the oracle of the tests, and the measure of speed."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

PLACE = Path(__file__).resolve().parents[1] / "tests" / "reference" / "softmax.py"


def softmax_oracle() -> ModuleType:
    """The module `tests/reference/softmax.py`, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("softmax_oracle", PLACE)
    if spec is None or spec.loader is None:
        raise ImportError(f"{PLACE} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclass looks itself up there
    spec.loader.exec_module(module)
    return module
