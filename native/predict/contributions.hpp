// What each feature contributes to the scores of rows: Shapley values of a forest.
#pragma once

#include "core/matrix_view.hpp"
#include "predict/predict.hpp"

namespace radboost {

// Of a row of n_features + 1 numbers for each output, out[(i * n_outputs + k) * (n_features + 1) + j] is the contribution of
// feature j to the score k of row i, and the last number the mean score by `cover`, the training weight of every node. With
// `pairs` there are n_features + 1 such rows, a symmetric matrix: what pairs contribute, half on each side of the diagonal, and
// on it what is left of each feature's own contribution. `out` holds zeros before.
template <class T>
void contributions(const Forest& forest, const MatrixView<T>& X, const double* weights, const double* cover, bool pairs,
                   int n_threads, double* out, InterruptCheck check);

}  // namespace radboost
