// Kernels of boosting with structural sparsity (Duchi and Singer, 2009): correlations, and coordinate descent.
//
// Arrays by row have shape (n_outputs, n_rows), outputs being classes or tasks; weights have shape (n_columns, n_outputs).
// "lines" are vectors over the rows, shape (n_lines, n_rows). x_ic is the entry of row i in column c, scaled by factor_c.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "linear/column_store.hpp"
#include "linear/row_penalty.hpp"

namespace radboost {

// Indices of the columns on which a kernel works, shape (size,).
struct Selection {
    const std::int64_t* columns;
    std::size_t size;
};

// out[c, r] = factor_c * sum_i x_ic * lines[r, i], with |x_ic| if `absolute`; shape (size, n_lines).
template <class Store>
void correlate(const Store& store, const double* factors, Selection selection, const double* lines,
               std::size_t n_lines, bool absolute, int n_threads, double* out);

// out[c, r] = factor_c^2 * sum_i x_ic^2 * lines[r, i]; shape (size, n_lines).
template <class Store>
void weighted_squares(const Store& store, const double* factors, Selection selection, const double* lines,
                      std::size_t n_lines, int n_threads, double* out);

// out[i] += sum over the selected columns of |factor_c x_ic|, or, if `count`, the number of nonzero ones; shape (n_rows,).
template <class Store>
void row_totals(const Store& store, const double* factors, Selection selection, bool count, double* out);

// out[c] = max_i |factor_c x_ic|; shape (size,).
template <class Store>
void largest_entries(const Store& store, const double* factors, Selection selection, double* out);

// scores[r, i] += sum_c factor_c * x_ic * weights[c, r], over the selected columns.
template <class Store>
void add_columns(const Store& store, const double* factors, Selection selection, const double* weights,
                 std::size_t n_lines, int n_threads, double* scores);

// Quadratic model of the mean loss as a function of the scores. The Hessian of row i by its scores is diag(curvature[:, i])
// if row_weights is null, otherwise row_weights[i] (diag(p) - p p^T) with p = curvature[:, i] (multinomial loss).
struct QuadraticModel {
    std::size_t n_outputs;
    const double* curvature;    // shape (n_outputs, n_rows)
    const double* row_weights;  // shape (n_rows,), or null
    const double* start;        // shape (n_outputs, n_rows): gradient by the scores at the initial weights
    double* residual;           // the same at the current weights
    double* direction;          // shape (n_outputs, n_rows): change of the scores so far
};

struct DescentOptions {
    const RowPenalty& penalty;
    bool intercept;
    double tolerance;  // converged if no slope changes by more than this in a pass
    std::size_t most_passes;
    std::size_t expected_passes;  // passes that a similar model took; 0 if unknown
};

// Cyclic coordinate descent: minimizes model plus penalty exactly by the weights of one column after the other, in repeated
// passes over the columns with nonzero weights (the active set), until convergence. Every few passes it tries Anderson
// extrapolation. If passes over the rows take longer, or are expected to, than computing the Gram matrices X^T D X of the
// selected columns, it continues with these instead. Returns the number of passes.
// curvatures: second derivatives by the weights, shape (size, n_outputs); prices: penalty per column (size,); weights (size,
// n_outputs) and intercept (n_outputs,): initial values on entry, the result on return.
template <class Store>
std::size_t descend(const Store& store, const double* factors, Selection selection, QuadraticModel model,
                    const double* curvatures, const double* intercept_curvature, const double* prices,
                    const DescentOptions& options, InterruptCheck check, double* weights, double* intercept);

}  // namespace radboost
