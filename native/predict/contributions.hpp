// Shapley values of a forest's scores, path-dependent as in TreeSHAP, computed by quadrature (shapley_program.hpp).
#pragma once

#include "core/matrix_view.hpp"
#include "predict/predict.hpp"

namespace radboost {

// out: shape (n_rows, n_outputs, n_features + 1), zeros on entry: contribution of each feature to each score, and last the
// mean score. weights: one per tree; cover: training weight of every node. With `pairs` the shape is (n_rows, n_outputs,
// n_features + 1, n_features + 1): a symmetric matrix of interaction values, half of each on either side of the diagonal,
// with the remainder of each feature's contribution on the diagonal.
template <class T>
void contributions(const Forest& forest, const MatrixView<T>& X, const double* weights, const double* cover, bool pairs,
                   int n_threads, double* out, InterruptCheck check);

}  // namespace radboost
