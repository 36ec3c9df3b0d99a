#include "linear/coordinate_descent.hpp"

#include <algorithm>
#include <cmath>

#include "core/pool.hpp"

namespace radboost {
namespace {

constexpr std::size_t kTaskEntries = 1u << 16;  // minimum number of entries per task

// Number of columns per task; independent of the number of threads.
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

// Rows of the scores per task of add_columns, so that they stay in the cache.
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
                              int, double*);
RADBOOST_COMPRESSED(float)
RADBOOST_COMPRESSED(double)
#undef RADBOOST_COMPRESSED

}  // namespace radboost
