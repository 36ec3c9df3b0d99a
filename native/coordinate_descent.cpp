#include "coordinate_descent.hpp"

#include <algorithm>
#include <cmath>

#include "extrapolation.hpp"
#include "pool.hpp"

namespace radboost {
namespace {

constexpr std::size_t kTaskEntries = 1u << 16;   // entries that make a task worth its start
constexpr std::size_t kCheckEntries = 1u << 24;  // entries between two looks for Ctrl-C

// How many columns a task takes; it does not depend on the number of threads.
template <class Store>
std::size_t columns_per_task(const Store& store, Selection selection, std::size_t n_lines) {
    std::size_t entries = 0;
    for (std::size_t c = 0; c < selection.size; ++c)
        entries += store.entries(static_cast<std::size_t>(selection.columns[c]));
    const std::size_t mean = std::max<std::size_t>(1, entries * n_lines / std::max<std::size_t>(1, selection.size));
    return std::max<std::size_t>(1, kTaskEntries / mean);
}

template <class Store, class Function>
void for_columns(const Store& store, Selection selection, std::size_t n_lines, int n_threads, Function&& function) {
    const std::size_t step = columns_per_task(store, selection, n_lines);
    parallel_for(n_threads, (selection.size + step - 1) / step, [&](std::size_t task) {
        function(task * step, std::min(selection.size, (task + 1) * step));
    });
}

RADBOOST_CLONES void correlate_range(const DenseColumns& store, const double* factors, Selection selection,
                                     const double* lines, std::size_t n_lines, std::size_t begin, std::size_t end,
                                     double* out) {
    for (std::size_t c = begin; c < end; ++c) {
        const auto column = static_cast<std::size_t>(selection.columns[c]);
        for (std::size_t r = 0; r < n_lines; ++r)
            out[c * n_lines + r] = factors[column] * store.dot(column, lines + r * store.n_rows);
    }
}

template <class Value>
void correlate_range(const CompressedColumns<Value>& store, const double* factors, Selection selection,
                     const double* lines, std::size_t n_lines, std::size_t begin, std::size_t end, double* out) {
    for (std::size_t c = begin; c < end; ++c) {
        const auto column = static_cast<std::size_t>(selection.columns[c]);
        for (std::size_t r = 0; r < n_lines; ++r)
            out[c * n_lines + r] = factors[column] * store.dot(column, lines + r * store.n_rows);
    }
}

// direction += x step and residual += H x step, where `step` is the change of the scores of a row with x = 1.
template <class Store>
RADBOOST_INLINE void move_residual(const Store& store, std::size_t column, const QuadraticModel& model,
                                   const double* step) {
    const std::size_t k = model.n_outputs, m = store.n_rows;
    if (model.row_weights == nullptr) {
        for (std::size_t r = 0; r < k; ++r) {
            if (step[r] == 0.0) continue;
            double *residual = model.residual + r * m, *direction = model.direction + r * m;
            const double *curvature = model.curvature + r * m, size = step[r];
            store.each(column, [=](std::size_t i, double x) {
                direction[i] += x * size;
                residual[i] += curvature[i] * (x * size);
            });
        }
        return;
    }
    store.each(column, [&](std::size_t i, double x) {
        double mean = 0.0;
        for (std::size_t r = 0; r < k; ++r) mean += model.curvature[r * m + i] * step[r];
        const double size = model.row_weights[i] * x;
        for (std::size_t r = 0; r < k; ++r) {
            model.direction[r * m + i] += x * step[r];
            model.residual[r * m + i] += size * model.curvature[r * m + i] * (step[r] - mean);
        }
    });
}

// A column of ones, for the intercept.
struct Ones {
    std::size_t n_rows;
    RADBOOST_INLINE std::size_t entries(std::size_t) const { return n_rows; }
    template <class Function>
    RADBOOST_INLINE void each(std::size_t, Function&& function) const {
        for (std::size_t i = 0; i < n_rows; ++i) function(i, 1.0);
    }
    RADBOOST_INLINE double dot(std::size_t, const double* with) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < n_rows; ++i) sum += with[i];
        return sum;
    }
};

// One column: the exact minimum of the model along it. Returns the largest change of a slope.
class ColumnStep {
public:
    ColumnStep(RowPenalty penalty, std::size_t k) : update_(penalty, k), slope_(k), moved_(k), step_(k) {}

    template <class Store>
    RADBOOST_INLINE double operator()(const Store& store, std::size_t column, double factor,
                                      const QuadraticModel& model, const double* curvature, double price,
                                      double* weight) {
        const std::size_t k = model.n_outputs;
        for (std::size_t r = 0; r < k; ++r)
            slope_[r] = factor * store.dot(column, model.residual + r * store.n_rows) - curvature[r] * weight[r];
        update_(curvature, slope_.data(), price, moved_.data());
        double change = 0.0;
        for (std::size_t r = 0; r < k; ++r) {
            const double difference = moved_[r] - weight[r];
            step_[r] = factor * difference;
            change = std::max(change, curvature[r] * std::abs(difference));
            weight[r] = moved_[r];
        }
        if (change > 0.0) move_residual(store, column, model, step_.data());
        return change;
    }

private:
    RowUpdate update_;
    std::vector<double> slope_, moved_, step_;
};

template <class Store>
RADBOOST_INLINE DescentResult descend_over(const Store& store, const double* factors, Selection selection,
                                           const QuadraticModel& model, const double* curvatures,
                                           const double* intercept_curvature, const double* prices,
                                           const DescentOptions& options, InterruptCheck check, double* weights,
                                           double* intercept) {
    const std::size_t k = model.n_outputs;
    const Ones ones{store.n_rows};
    ColumnStep step(options.penalty, k), free_step(RowPenalty::l1, k);
    Extrapolation extrapolation(model, store.n_rows, options.penalty, prices,
                                {weights, intercept, selection.size * k, options.intercept ? k : 0});
    std::vector<std::size_t> all(selection.size), used;
    for (std::size_t c = 0; c < all.size(); ++c) all[c] = c;
    std::size_t entries = 0;
    DescentResult result{0, 0.0};
    bool over_all = true;
    while (result.passes < options.most_passes) {
        double change = 0.0;
        const std::vector<std::size_t>& places = over_all ? all : used;
        for (const std::size_t c : places) {
            const auto column = static_cast<std::size_t>(selection.columns[c]);
            change = std::max(change, step(store, column, factors[column], model, curvatures + c * k, prices[c],
                                           weights + c * k));
            entries += store.entries(column) * k;
            if (entries > kCheckEntries) {
                check();
                entries = 0;
            }
        }
        if (options.intercept)
            change = std::max(change, free_step(ones, 0, 1.0, model, intercept_curvature, 0.0, intercept));
        ++result.passes;
        result.last_change = change;
        if (change <= options.tolerance) {
            if (over_all) break;
            over_all = true;  // whatever was left out has its say before the end
            continue;
        }
        if (over_all) {
            used.clear();
            for (std::size_t c = 0; c < all.size(); ++c)
                if (std::any_of(weights + c * k, weights + (c + 1) * k, [](double w) { return w != 0.0; }))
                    used.push_back(c);
            over_all = false;
        }
        extrapolation.follow();
    }
    return result;
}

RADBOOST_CLONES DescentResult descend_dense(const DenseColumns& store, const double* factors, Selection selection,
                                            const QuadraticModel& model, const double* curvatures,
                                            const double* intercept_curvature, const double* prices,
                                            const DescentOptions& options, InterruptCheck check, double* weights,
                                            double* intercept) {
    return descend_over(store, factors, selection, model, curvatures, intercept_curvature, prices, options, check,
                        weights, intercept);
}

// Rows of the scores that one task adds to: columns are then read in pieces that stay in the cache.
constexpr std::size_t kRowsPerTask = 4096;

RADBOOST_CLONES void add_dense_rows(const DenseColumns& store, const double* factors, Selection selection,
                                    const double* weights, std::size_t k, std::size_t begin, std::size_t end,
                                    double* scores) {
    for (std::size_t c = 0; c < selection.size; ++c) {
        const auto column = static_cast<std::size_t>(selection.columns[c]);
        const double* x = store.data + column * store.n_rows;
        for (std::size_t r = 0; r < k; ++r) {
            const double weight = factors[column] * weights[c * k + r];
            if (weight == 0.0) continue;
            double* line = scores + r * store.n_rows;
            for (std::size_t i = begin; i < end; ++i) line[i] += x[i] * weight;
        }
    }
}

}  // namespace

template <class Store>
void correlate(const Store& store, const double* factors, Selection selection, const double* lines,
               std::size_t n_lines, bool absolute, int n_threads, double* out) {
    for_columns(store, selection, n_lines, n_threads, [&](std::size_t begin, std::size_t end) {
        if (!absolute) {
            correlate_range(store, factors, selection, lines, n_lines, begin, end, out);
            return;
        }
        for (std::size_t c = begin; c < end; ++c) {
            const auto column = static_cast<std::size_t>(selection.columns[c]);
            for (std::size_t r = 0; r < n_lines; ++r) {
                double sum = 0.0;
                store.each(column, [&](std::size_t i, double x) { sum += std::abs(x) * lines[r * store.n_rows + i]; });
                out[c * n_lines + r] = factors[column] * sum;
            }
        }
    });
}

template <class Store>
void weighted_squares(const Store& store, const double* factors, Selection selection, const double* lines,
                      std::size_t n_lines, int n_threads, double* out) {
    for_columns(store, selection, n_lines, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t c = begin; c < end; ++c) {
            const auto column = static_cast<std::size_t>(selection.columns[c]);
            for (std::size_t r = 0; r < n_lines; ++r) {
                double even = 0.0, odd = 0.0;
                bool turn = false;
                store.each(column, [&](std::size_t i, double x) {
                    (turn ? odd : even) += x * x * lines[r * store.n_rows + i];
                    turn = !turn;
                });
                out[c * n_lines + r] = factors[column] * factors[column] * (even + odd);
            }
        }
    });
}

template <class Store>
void row_totals(const Store& store, const double* factors, Selection selection, bool count, double* out) {
    for (std::size_t c = 0; c < selection.size; ++c) {
        const auto column = static_cast<std::size_t>(selection.columns[c]);
        const double factor = factors[column];
        store.each(column, [=](std::size_t i, double x) {
            const double size = std::abs(factor * x);
            out[i] += count ? (size > 0.0 ? 1.0 : 0.0) : size;
        });
    }
}

template <class Store>
void largest_entries(const Store& store, const double* factors, Selection selection, double* out) {
    for (std::size_t c = 0; c < selection.size; ++c) {
        const auto column = static_cast<std::size_t>(selection.columns[c]);
        double largest = 0.0;
        store.each(column, [&](std::size_t, double x) { largest = std::max(largest, std::abs(x)); });
        out[c] = largest * std::abs(factors[column]);
    }
}

template <>
void add_columns(const DenseColumns& store, const double* factors, Selection selection, const double* weights,
                 std::size_t n_lines, int n_threads, double* scores) {
    const std::size_t n_tasks = (store.n_rows + kRowsPerTask - 1) / kRowsPerTask;
    parallel_for(n_threads, n_tasks, [&](std::size_t task) {
        add_dense_rows(store, factors, selection, weights, n_lines, task * kRowsPerTask,
                       std::min(store.n_rows, (task + 1) * kRowsPerTask), scores);
    });
}

template <class Store>
void add_columns(const Store& store, const double* factors, Selection selection, const double* weights,
                 std::size_t n_lines, int n_threads, double* scores) {
    parallel_for(n_threads, n_lines, [&](std::size_t r) {
        double* line = scores + r * store.n_rows;
        for (std::size_t c = 0; c < selection.size; ++c) {
            const auto column = static_cast<std::size_t>(selection.columns[c]);
            const double weight = factors[column] * weights[c * n_lines + r];
            if (weight == 0.0) continue;
            store.each(column, [=](std::size_t i, double x) { line[i] += x * weight; });
        }
    });
}

template <>
DescentResult descend(const DenseColumns& store, const double* factors, Selection selection, QuadraticModel model,
                      const double* curvatures, const double* intercept_curvature, const double* prices,
                      const DescentOptions& options, InterruptCheck check, double* weights, double* intercept) {
    return descend_dense(store, factors, selection, model, curvatures, intercept_curvature, prices, options, check,
                         weights, intercept);
}

template <class Store>
DescentResult descend(const Store& store, const double* factors, Selection selection, QuadraticModel model,
                      const double* curvatures, const double* intercept_curvature, const double* prices,
                      const DescentOptions& options, InterruptCheck check, double* weights, double* intercept) {
    return descend_over(store, factors, selection, model, curvatures, intercept_curvature, prices, options, check,
                        weights, intercept);
}

template void correlate(const DenseColumns&, const double*, Selection, const double*, std::size_t, bool, int, double*);
template void weighted_squares(const DenseColumns&, const double*, Selection, const double*, std::size_t, int, double*);
template void row_totals(const DenseColumns&, const double*, Selection, bool, double*);
template void largest_entries(const DenseColumns&, const double*, Selection, double*);

#define RADBOOST_COMPRESSED(Value)                                                                                   \
    template void correlate(const CompressedColumns<Value>&, const double*, Selection, const double*, std::size_t,   \
                            bool, int, double*);                                                                     \
    template void weighted_squares(const CompressedColumns<Value>&, const double*, Selection, const double*,         \
                                   std::size_t, int, double*);                                                       \
    template void row_totals(const CompressedColumns<Value>&, const double*, Selection, bool, double*);              \
    template void largest_entries(const CompressedColumns<Value>&, const double*, Selection, double*);               \
    template void add_columns(const CompressedColumns<Value>&, const double*, Selection, const double*, std::size_t, \
                              int, double*);                                                                         \
    template DescentResult descend(const CompressedColumns<Value>&, const double*, Selection, QuadraticModel,        \
                                   const double*, const double*, const double*, const DescentOptions&,               \
                                   InterruptCheck, double*, double*);
RADBOOST_COMPRESSED(float)
RADBOOST_COMPRESSED(double)
#undef RADBOOST_COMPRESSED

}  // namespace radboost
