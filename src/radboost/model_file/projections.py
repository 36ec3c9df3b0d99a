"""Model files of supervised kernel projections: header and arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from radboost.model_file.checks import read_array, read_integer, read_names, require
from radboost.model_file.container import AnyArray
from radboost.model_file.encoding import decode_labels, encode_labels, is_stored
from radboost.model_file.sections import FIT, Content, history_arrays, restore_course, section

MOST_TRIED = 64  # rows of the sample that a loaded model scores, to check that scores are finite


def describe(estimator: Any) -> Content:
    """Header and arrays of a fitted model."""
    spectra = estimator._spectra
    names = getattr(estimator, "feature_names_in_", None)
    header = {
        "classes": encode_labels(estimator.classes_),
        "n_features": int(estimator.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "n_sample": len(estimator._sample),
        "n_components": len(estimator.components_),
        "n_unlabelled": int(estimator.n_unlabelled_),
        "stop_reason": str(estimator.stop_reason_),
    }
    numbers = {
        "sample": estimator._sample.ravel(),
        "means": estimator._means,
        "scales": estimator._scales,
        "eigenvalues": np.concatenate([one.eigenvalues for one in spectra]),
        "directions": np.concatenate([one.directions.ravel() for one in spectra]),
        "units": np.array([one.unit for one in spectra]),
        "errors": np.array([one.error for one in spectra]),
        "mixture": estimator.mixture_,
        "component_eigenvalues": estimator.eigenvalues_,
        "coef": estimator.coef_.ravel(),
        "intercept": estimator.intercept_,
        "sample_size": np.array([estimator._sample_size]),
        "objective": np.array([estimator.objective_, estimator.inverse_sum_]),
    }
    counts = {
        "n_eigenvalues": np.array([len(one.eigenvalues) for one in spectra]),
        "components": estimator.components_.ravel(),
        "kinks": np.array(estimator.kinks_, dtype=np.int64).ravel(),
    }
    arrays = {FIT + key: np.ascontiguousarray(array, dtype="<f8") for key, array in numbers.items()}
    arrays |= {FIT + key: np.ascontiguousarray(array, dtype="<i8") for key, array in counts.items()}
    return header, arrays | history_arrays(estimator.history_)


def restore(model: Any, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Put the content of a file into an unfitted model."""
    fit = section(FIT, arrays)
    model.classes_ = decode_labels(header["classes"])
    model.n_features_in_ = read_integer(header, "n_features", 1)
    names = read_names(header, model.n_features_in_)
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    n_sample, n_components = read_integer(header, "n_sample", 1), read_integer(header, "n_components", 1)
    n_outputs = 1 if len(model.classes_) == 2 else len(model.classes_)
    mixture = read_array(fit, "mixture", "<f8")
    n_kernels = len(mixture)
    sizes = read_array(fit, "n_eigenvalues", "<i8", n_kernels)
    require(n_kernels >= 1 and bool((sizes >= 1).all()) and bool((mixture > 0.0).all()), "the mixture is no mixture")
    total = int(sizes.sum())
    parts = {
        "sample": n_sample * model.n_features_in_,
        "means": model.n_features_in_,
        "scales": model.n_features_in_,
        "eigenvalues": total,
        "directions": total * n_sample,
        "units": n_kernels,
        "errors": n_kernels,
        "component_eigenvalues": n_components,
        "coef": n_components * n_outputs,
        "intercept": n_outputs,
        "sample_size": 1,
        "objective": 2,
    }
    numbers = {key: np.asarray(read_array(fit, key, "<f8", size), dtype=np.float64) for key, size in parts.items()}
    require(all(np.isfinite(array).all() for array in numbers.values()), "a number is infinite")
    require(bool((numbers["units"] > 0.0).all()), "a kernel has no unit")
    require(bool((numbers["scales"] >= 0.0).all()), "a column has a negative scale")
    components = read_array(fit, "components", "<i8", 2 * n_components).reshape(n_components, 2)
    kernels = components[:, 0]
    require(bool(((kernels >= 0) & (kernels < n_kernels)).all()), "a component belongs to a kernel that is not there")
    within = (components[:, 1] >= 0) & (components[:, 1] < sizes[kernels])
    require(bool(within.all()), "a component is an eigenfunction that is not there")
    kinks = read_array(fit, "kinks", "<i8")
    require(len(kinks) % 2 == 0, "a kink is a pair of kernels")
    restore_course(model, header, arrays, {"objective"})
    model.mixture_, model.components_ = mixture.copy(), components.copy()
    model.eigenvalues_, model.n_unlabelled_ = numbers["component_eigenvalues"], read_integer(header, "n_unlabelled", 0)
    model.objective_, model.inverse_sum_ = numbers["objective"].tolist()
    model.coef_, model.intercept_ = numbers["coef"].reshape(n_outputs, n_components), numbers["intercept"]
    model.kinks_ = [tuple(pair) for pair in kinks.reshape(-1, 2).tolist()]
    model.nystrom_error_ = numbers["errors"]
    model._take_spectra(numbers["sample"].reshape(n_sample, -1), sizes.tolist(), numbers)
    if is_stored(model._kernels):
        with np.errstate(all="ignore"):
            scores = model._scores_of(model._sample[:MOST_TRIED])
        require(bool(np.isfinite(scores).all()), "its scores are no numbers")
