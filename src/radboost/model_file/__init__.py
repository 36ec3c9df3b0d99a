"""Keeping models: one documented, versioned file per model, without pickle (``docs/model-file.md``)."""

from radboost.model_file.container import DTYPES, FORMAT_VERSION, MAGIC, read, write
from radboost.model_file.errors import ModelFileError

__all__ = ["DTYPES", "FORMAT_VERSION", "MAGIC", "ModelFileError", "read", "write"]
