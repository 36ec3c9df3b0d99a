// Implements `descend` (coordinate_descent.hpp): cyclic coordinate descent with an active set (rows or Gram matrices).
#include <algorithm>
#include <cmath>

#include "linear/coordinate_descent.hpp"
#include "linear/descent_models.hpp"
#include "linear/extrapolation.hpp"

namespace radboost {
namespace {

constexpr std::size_t kCheckEntries = 1u << 24;    // entries between two checks for Ctrl-C
constexpr std::size_t kLargestMatrix = 1u << 22;   // maximum number of cells of all Gram matrices X^T D X (32 MiB)
constexpr double kCellsPerEntry = 1.0;             // products for X^T D X in the time of one entry of a pass
constexpr double kDenseCellsPerEntry = 3.0;        // the same for dense columns

// Minimizes the model plus penalty over the weights of one column (all outputs). Returns the largest change of a slope.
class RowStep {
public:
    RowStep(const RowPenalty& penalty, std::size_t k) : update_(penalty, k), slope_(k), moved_(k), difference_(k) {}

    template <class SlopeOf, class Move>
    RADBOOST_INLINE double operator()(SlopeOf&& slope_of, Move&& move, const double* curvature, double price,
                                      double* weight) {
        const std::size_t k = slope_.size();
        for (std::size_t r = 0; r < k; ++r) slope_[r] = slope_of(r) - curvature[r] * weight[r];
        update_(curvature, slope_.data(), price, moved_.data());
        double change = 0.0;
        for (std::size_t r = 0; r < k; ++r) {
            difference_[r] = moved_[r] - weight[r];
            change = std::max(change, curvature[r] * std::abs(difference_[r]));
            weight[r] = moved_[r];
        }
        if (change > 0.0) move(difference_.data());
        return change;
    }

private:
    RowUpdate update_;
    std::vector<double> slope_, moved_, difference_;
};

// Descent on either form of the model (descent_models.hpp). `run` returns true if converged and adds to `passes`.
struct Descent {
    const double *curvatures, *intercept_curvature, *prices;
    const DescentOptions& options;
    InterruptCheck check;
    double *weights, *intercept;
    std::size_t n_columns;

    template <class Model>
    RADBOOST_INLINE bool run(Model& model, std::size_t most_passes, std::size_t& passes) {
        const std::size_t k = model.n_outputs();
        RowStep step(options.penalty, k), free_step(row_penalty_named("l1"), k);
        Extrapolation<Model> extrapolation(model, options.penalty, prices,
                                           {weights, intercept, n_columns * k, options.intercept ? k : 0});
        std::vector<std::size_t> all(n_columns), active;  // active: those with nonzero weights
        for (std::size_t c = 0; c < n_columns; ++c) all[c] = c;
        std::size_t entries = 0;
        bool over_all = true;
        for (std::size_t pass = 0; pass < most_passes; ++pass) {
            double change = 0.0;
            for (const std::size_t c : over_all ? all : active) {
                const double moved = step([&](std::size_t r) { return model.slope(c, r); },
                                          [&](const double* by) { model.move(c, by); }, curvatures + c * k, prices[c],
                                          weights + c * k);
                change = std::max(change, moved);
                entries += model.entries(c);
                if (entries > kCheckEntries) {
                    check();
                    entries = 0;
                }
            }
            if (options.intercept)
                change = std::max(change, free_step([&](std::size_t r) { return model.intercept_slope(r); },
                                                    [&](const double* by) { model.move_intercept(by); },
                                                    intercept_curvature, 0.0, intercept));
            ++passes;
            if (change <= options.tolerance) {
                if (over_all) return true;
                over_all = true;  // columns with zero weight were left out and must be checked
                continue;
            }
            if (over_all) {
                active.clear();
                for (std::size_t c = 0; c < n_columns; ++c)
                    if (std::any_of(weights + c * k, weights + (c + 1) * k, [](double w) { return w != 0.0; }))
                        active.push_back(c);
                over_all = false;
            }
            extrapolation.follow();
        }
        return false;
    }
};

// Time to compute X^T D X, in passes over the rows. `descend` first spends as much on passes, unless it expects more.
std::size_t passes_for_matrices(const DenseColumns&, Selection selection) {
    return 1 + static_cast<std::size_t>(static_cast<double>(selection.size) / (2.0 * kDenseCellsPerEntry));
}
template <class Value>
std::size_t passes_for_matrices(const CompressedColumns<Value>& store, Selection selection) {
    std::vector<std::uint32_t> counts(store.n_rows);
    double entries = 0.0, cells = 0.0;
    for (std::size_t c = 0; c < selection.size; ++c)
        store.each(static_cast<std::size_t>(selection.columns[c]), [&](std::size_t i, double) { ++counts[i]; });
    for (const std::uint32_t count : counts) {
        entries += count;
        cells += 0.5 * static_cast<double>(count) * count;
    }
    return 1 + static_cast<std::size_t>(cells / std::max(1.0, kCellsPerEntry * entries));
}

// Fills the lower triangle of X^T D X, D = diag(curvature), and its last column X^T D 1; matrix: zeros, (side, side).
RADBOOST_CLONES void fill_matrix(const DenseColumns& store, const double* factors, Selection selection,
                                 const double* curvature, double* matrix, std::size_t side) {
    std::vector<double> weighted(store.n_rows);
    for (std::size_t a = 0; a < selection.size; ++a) {
        const auto left = static_cast<std::size_t>(selection.columns[a]);
        double sum = 0.0;
        for (std::size_t i = 0; i < store.n_rows; ++i) {
            weighted[i] = store.data[left * store.n_rows + i] * curvature[i];
            sum += weighted[i];
        }
        matrix[a * side + side - 1] = factors[left] * sum;
        for (std::size_t b = 0; b <= a; ++b) {
            const auto right = static_cast<std::size_t>(selection.columns[b]);
            matrix[a * side + b] = factors[left] * factors[right] * store.dot(right, weighted.data());
        }
    }
}

// The same as a sum of outer products of the rows, because sparse rows have few entries.
template <class Value>
void fill_matrix(const CompressedColumns<Value>& store, const double* factors, Selection selection,
                 const double* curvature, double* matrix, std::size_t side) {
    std::vector<std::size_t> starts(store.n_rows + 1);
    for (std::size_t c = 0; c < selection.size; ++c)
        store.each(static_cast<std::size_t>(selection.columns[c]), [&](std::size_t i, double) { ++starts[i + 1]; });
    for (std::size_t i = 0; i < store.n_rows; ++i) starts[i + 1] += starts[i];
    std::vector<std::uint32_t> columns(starts.back());
    std::vector<double> values(starts.back());
    std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
    for (std::size_t c = 0; c < selection.size; ++c) {
        const auto column = static_cast<std::size_t>(selection.columns[c]);
        store.each(column, [&](std::size_t i, double x) {
            columns[next[i]] = static_cast<std::uint32_t>(c);
            values[next[i]++] = factors[column] * x;
        });
    }
    for (std::size_t i = 0; i < store.n_rows; ++i)
        for (std::size_t a = starts[i]; a < starts[i + 1]; ++a) {
            const double weighted = curvature[i] * values[a];
            double* gram_row = matrix + columns[a] * side;
            gram_row[side - 1] += weighted;
            for (std::size_t b = starts[i]; b <= a; ++b) gram_row[columns[b]] += weighted * values[b];
        }
}

// Continues with Gram matrices for up to most_passes more; updates model.direction, not residual. True if converged.
template <class Store>
bool continue_on_gram(const Store& store, const double* factors, Selection selection, const QuadraticModel& model,
                      Descent& descent, std::size_t& passes) {
    const std::size_t k = model.n_outputs, m = store.n_rows, n = selection.size;
    GramModel gram(n, k);
    const std::size_t side = gram.side();
    std::vector<double> slopes(k * side);
    for (std::size_t r = 0; r < k; ++r) {
        double* matrix = gram.matrix(r);
        const double *curvature = model.curvature + r * m, *residual = model.residual + r * m;
        fill_matrix(store, factors, selection, curvature, matrix, side);
        for (std::size_t i = 0; i < m; ++i) {
            matrix[side * side - 1] += curvature[i];
            slopes[r * side + n] += residual[i];
        }
        for (std::size_t a = 0; a < n; ++a) {
            matrix[n * side + a] = matrix[a * side + n];
            for (std::size_t b = a + 1; b < n; ++b) matrix[a * side + b] = matrix[b * side + a];
            const auto column = static_cast<std::size_t>(selection.columns[a]);
            slopes[r * side + a] = factors[column] * store.dot(column, residual);
        }
    }
    descent.check();
    const std::vector<double> weights(descent.weights, descent.weights + n * k),
        intercept(descent.intercept, descent.intercept + k);
    gram.begin(slopes.data(), weights.data(), intercept.data());
    const bool done = descent.run(gram, descent.options.most_passes, passes);
    for (std::size_t r = 0; r < k; ++r) {
        double* direction = model.direction + r * m;
        const double shift = descent.intercept[r] - intercept[r];
        for (std::size_t i = 0; i < m; ++i) direction[i] += shift;
        for (std::size_t c = 0; c < n; ++c) {
            const auto column = static_cast<std::size_t>(selection.columns[c]);
            const double by = factors[column] * (descent.weights[c * k + r] - weights[c * k + r]);
            if (by != 0.0) store.each(column, [=](std::size_t i, double x) { direction[i] += x * by; });
        }
    }
    return done;
}

RADBOOST_CLONES bool run_on_rows(Descent& descent, ScoreModel<DenseColumns>& model, std::size_t most,
                                 std::size_t& passes) {
    return descent.run(model, most, passes);
}
template <class Value>
bool run_on_rows(Descent& descent, ScoreModel<CompressedColumns<Value>>& model, std::size_t most, std::size_t& passes) {
    return descent.run(model, most, passes);
}

}  // namespace

RADBOOST_CLONES void GramModel::add_line(double* to, const double* line, std::size_t n, double times) {
    for (std::size_t i = 0; i < n; ++i) to[i] += line[i] * times;
}

template <class Store>
std::size_t descend(const Store& store, const double* factors, Selection selection, QuadraticModel model,
                    const double* curvatures, const double* intercept_curvature, const double* prices,
                    const DescentOptions& options, InterruptCheck check, double* weights, double* intercept) {
    Descent descent{curvatures, intercept_curvature, prices, options, check, weights, intercept, selection.size};
    ScoreModel<Store> rows(store, factors, selection, model);
    const std::size_t side = selection.size + 1;  // with the intercept
    const bool fits = model.row_weights == nullptr && model.n_outputs * side * side <= kLargestMatrix;
    const std::size_t gram_passes = fits ? passes_for_matrices(store, selection) : options.most_passes;
    const std::size_t first = fits && options.expected_passes > gram_passes ? 0 : std::min(options.most_passes, gram_passes);
    std::size_t passes = 0;
    if (!run_on_rows(descent, rows, first, passes) && first < options.most_passes)
        continue_on_gram(store, factors, selection, model, descent, passes);
    return passes;
}

#define RADBOOST_DESCEND(Store)                                                                                      \
    template std::size_t descend(const Store&, const double*, Selection, QuadraticModel, const double*, const double*, \
                                 const double*, const DescentOptions&, InterruptCheck, double*, double*);
RADBOOST_DESCEND(DenseColumns)
RADBOOST_DESCEND(CompressedColumns<float>)
RADBOOST_DESCEND(CompressedColumns<double>)
#undef RADBOOST_DESCEND

}  // namespace radboost
