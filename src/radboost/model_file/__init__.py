"""Saving and loading: one documented, versioned file per model, without pickle (``docs/developers/model-file.md``)."""

from radboost.model_file.container import DTYPES, FORMAT_VERSION, MAGIC, read, write
from radboost.model_file.encoding import MissingPartError, NotStored
from radboost.model_file.errors import ModelFileError
from radboost.model_file.models import load_model, model_bytes, save_model
from radboost.model_file.plain import from_plain, to_plain
from radboost.model_file.registry import loaded_on_demand, storable_estimator, storable_value
from radboost.model_file.replacing import check_can_save, replacing
from radboost.model_file.schema import ColumnSchema, Schema

__all__ = [
    "DTYPES",
    "FORMAT_VERSION",
    "MAGIC",
    "ColumnSchema",
    "MissingPartError",
    "ModelFileError",
    "NotStored",
    "Schema",
    "check_can_save",
    "from_plain",
    "load_model",
    "loaded_on_demand",
    "model_bytes",
    "read",
    "replacing",
    "save_model",
    "storable_estimator",
    "storable_value",
    "to_plain",
    "write",
]
