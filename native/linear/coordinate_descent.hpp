// Kernels of boosting with structural sparsity: correlations of columns with what the rows ask for, and descent along
// the columns of a quadratic model of the loss.
//
// Scores, residuals and curvatures have a row for each output (class or task), weights a row for each column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "linear/column_store.hpp"
#include "linear/row_penalty.hpp"

namespace radboost {

// The columns that a kernel works on.
struct Selection {
    const std::int64_t* columns;
    std::size_t size;
};

// out[c, r] = factor_c * sum over i of x_ic * lines[r, i], with |x| in place of x if `absolute`.
template <class Store>
void correlate(const Store& store, const double* factors, Selection selection, const double* lines,
               std::size_t n_lines, bool absolute, int n_threads, double* out);

// out[c, r] = factor_c^2 * sum over i of x_ic^2 * lines[r, i].
template <class Store>
void weighted_squares(const Store& store, const double* factors, Selection selection, const double* lines,
                      std::size_t n_lines, int n_threads, double* out);

// out[i] += the sum over the selected columns of |factor_c x_ic|, or how many of them are not zero.
template <class Store>
void row_totals(const Store& store, const double* factors, Selection selection, bool count, double* out);

// out[c] = the largest |factor_c x_ic|.
template <class Store>
void largest_entries(const Store& store, const double* factors, Selection selection, double* out);

// scores[r, i] += sum over the columns c of factor_c * x_ic * weights[c, r].
template <class Store>
void add_columns(const Store& store, const double* factors, Selection selection, const double* weights,
                 std::size_t n_lines, int n_threads, double* scores);

// A quadratic model of the mean loss at some weights. With `row_weights` the Hessian of row i is
// row_weights_i (diag(p) - p p^T), where `curvature` holds the p; without, it is diagonal and `curvature` holds it.
struct QuadraticModel {
    std::size_t n_outputs;
    const double* curvature;    // n_outputs x n_rows
    const double* row_weights;  // n_rows, or null
    const double* start;        // n_outputs x n_rows: the slopes by the scores at the start
    double* residual;           // the same at the current weights
    double* direction;          // n_outputs x n_rows: what the scores have changed by
};

struct DescentOptions {
    const RowPenalty& penalty;
    bool intercept;
    double tolerance;  // largest change of a slope in a pass that counts as none
    std::size_t most_passes;
    std::size_t expected_passes;  // how many a model much like this one took; 0 if nothing is known
};

// Exact minimization along one column after the other, again and again over those with weights, until nothing changes.
// Every few passes the path so far is extrapolated to where it seems to lead, which is kept if the model is lower there.
// If passes over the rows go on for longer than the matrix X^T D X of the selected columns would take, or are expected
// to, it takes their place. Returns the number of passes.
// `curvatures` and `prices` have an entry per selected column (curvatures also per output), `weights` and `intercept`
// hold the start and the result.
template <class Store>
std::size_t descend(const Store& store, const double* factors, Selection selection, QuadraticModel model,
                    const double* curvatures, const double* intercept_curvature, const double* prices,
                    const DescentOptions& options, InterruptCheck check, double* weights, double* intercept);

}  // namespace radboost
