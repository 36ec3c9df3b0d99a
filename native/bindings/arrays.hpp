// Common parts of the bindings: array types, conversions, and the check for Ctrl-C.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "data/binning.hpp"
#include "core/common.hpp"

namespace radboost {

namespace nb = nanobind;

// Arrays from Python: contiguous vectors, matrices with any strides, row-major matrices; and vectors to Python.
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using CMatrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

// The InterruptCheck of all bindings: throws if a signal handler raises, such as KeyboardInterrupt.
inline void check_signals() {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Moves a vector to a NumPy array that owns it; no copy.
template <class T>
Output<T> as_array(std::vector<T>&& values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Output<T>(owned->data(), {owned->size()}, owner);
}

template <class T>
std::vector<T> as_vector(const Vector<T>& array) {
    return std::vector<T>(array.data(), array.data() + array.size());
}

template <class T>
MatrixView<T> view(const Matrix<T>& X) {
    return {X.data(), X.shape(0), X.shape(1), X.stride(0), X.stride(1)};
}

// Each adds the classes and functions of one file to the module.
void bind_collective(nb::module_& m);
void bind_data(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_trees(nb::module_& m);
void bind_given_weights(nb::module_& m);
void bind_softmax(nb::module_& m);
void bind_gradient(nb::module_& m);
void bind_sparse(nb::module_& m);
void bind_functions(nb::module_& m);
void bind_masks(nb::module_& m);
void bind_automata(nb::module_& m);

}  // namespace radboost
