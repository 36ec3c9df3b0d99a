// Binds linear/: columns of design matrices and their kernels, for boosting with structural sparsity.
#include "linear/coordinate_descent.hpp"

#include "bindings/arrays.hpp"
#include "linear/canonical_rows.hpp"

namespace radboost {
namespace {

template <class T>
using InOut = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using InOutVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Factors = Vector<double>;
using Places = Vector<std::int64_t>;

// A store of columns with their factors, and the NumPy arrays that it points into.
template <class Store, class... Arrays>
struct Held {
    Store store;
    Factors factors;
    std::tuple<Arrays...> arrays;

    Selection select(const Places& columns) const {
        for (std::size_t c = 0; c < columns.size(); ++c)
            require(columns.data()[c] >= 0 && static_cast<std::size_t>(columns.data()[c]) < store.n_columns,
                    "a column number is out of range");
        return {columns.data(), columns.size()};
    }
};

using Dense = Held<DenseColumns, CMatrix<double>>;
template <class Value>
using Compressed = Held<CompressedColumns<Value>, Vector<std::int64_t>, Vector<std::int32_t>, Vector<Value>>;

template <class Columns>
void bind_kernels(nb::class_<Columns>& binding) {
    binding.def_prop_ro("n_rows", [](const Columns& c) { return c.store.n_rows; })
        .def_prop_ro("n_columns", [](const Columns& c) { return c.store.n_columns; })
        .def("correlate",
             [](const Columns& c, Places columns, CMatrix<double> lines, bool absolute, int n_threads) {
                 require(lines.shape(1) == c.store.n_rows, "one number per row is needed");
                 const Selection selection = c.select(columns);
                 std::vector<double> out(columns.size() * lines.shape(0));
                 {
                     nb::gil_scoped_release release;
                     correlate(c.store, c.factors.data(), selection, lines.data(), lines.shape(0), absolute, n_threads,
                               out.data());
                 }
                 return as_array(std::move(out));
             })
        .def("weighted_squares",
             [](const Columns& c, Places columns, CMatrix<double> lines, int n_threads) {
                 require(lines.shape(1) == c.store.n_rows, "one number per row is needed");
                 const Selection selection = c.select(columns);
                 std::vector<double> out(columns.size() * lines.shape(0));
                 {
                     nb::gil_scoped_release release;
                     weighted_squares(c.store, c.factors.data(), selection, lines.data(), lines.shape(0), n_threads,
                                      out.data());
                 }
                 return as_array(std::move(out));
             })
        .def("row_totals",
             [](const Columns& c, Places columns, bool count) {
                 const Selection selection = c.select(columns);
                 std::vector<double> out(c.store.n_rows);
                 {
                     nb::gil_scoped_release release;
                     row_totals(c.store, c.factors.data(), selection, count, out.data());
                 }
                 return as_array(std::move(out));
             })
        .def("largest_entries",
             [](const Columns& c, Places columns) {
                 const Selection selection = c.select(columns);
                 std::vector<double> out(columns.size());
                 {
                     nb::gil_scoped_release release;
                     largest_entries(c.store, c.factors.data(), selection, out.data());
                 }
                 return as_array(std::move(out));
             })
        .def("add_columns",
             [](const Columns& c, Places columns, CMatrix<double> weights, InOut<double> scores, int n_threads) {
                 require(scores.shape(1) == c.store.n_rows && scores.shape(0) == weights.shape(1) &&
                             weights.shape(0) == columns.size(),
                         "weights and scores do not fit");
                 const Selection selection = c.select(columns);
                 nb::gil_scoped_release release;
                 add_columns(c.store, c.factors.data(), selection, weights.data(), weights.shape(1), n_threads,
                             scores.data());
             })
        .def("descend",
             [](const Columns& c, Places columns, CMatrix<double> curvature, Vector<double> row_weights,
                CMatrix<double> start, CMatrix<double> curvatures, Vector<double> intercept_curvature,
                Vector<double> prices, const std::string& penalty, bool intercept, double tolerance,
                std::size_t most_passes, std::size_t expected_passes, InOut<double> weights, InOutVector<double> intercepts) {
                 const std::size_t k = start.shape(0), m = c.store.n_rows, n = columns.size();
                 require(start.shape(1) == m && curvature.shape(0) == k && curvature.shape(1) == m,
                         "one residual and one curvature per output and row are needed");
                 require(row_weights.size() == 0 || row_weights.size() == m, "one weight per row, or none, is needed");
                 require(curvatures.shape(0) == n && curvatures.shape(1) == k && weights.shape(0) == n &&
                             weights.shape(1) == k && prices.size() == n,
                         "curvatures, weights and prices must have a line per column");
                 require(intercept_curvature.size() == k && intercepts.size() == k, "one intercept per output is needed");
                 const Selection selection = c.select(columns);
                 const DescentOptions options{row_penalty_named(penalty), intercept, tolerance, most_passes,
                                              expected_passes};
                 std::vector<double> residual(start.data(), start.data() + k * m), direction(k * m);
                 const QuadraticModel model{k, curvature.data(), row_weights.size() > 0 ? row_weights.data() : nullptr,
                                            start.data(), residual.data(), direction.data()};
                 std::size_t passes;
                 {
                     nb::gil_scoped_release release;
                     passes = descend(c.store, c.factors.data(), selection, model, curvatures.data(),
                                      intercept_curvature.data(), prices.data(), options, check_signals,
                                      weights.data(), intercepts.data());
                 }
                 return std::make_pair(passes, as_array(std::move(direction)));
             },
             nb::arg("columns"), nb::arg("curvature"), nb::arg("row_weights"), nb::arg("start"),
             nb::arg("curvatures"), nb::arg("intercept_curvature"), nb::arg("prices"), nb::kw_only(),
             nb::arg("penalty"), nb::arg("intercept"), nb::arg("tolerance"), nb::arg("most_passes"), nb::arg("expected_passes"), nb::arg("weights"),
             nb::arg("intercepts"));
}

template <class Value>
void bind_compressed(nb::module_& m, const char* name) {
    using Columns = Compressed<Value>;
    nb::class_<Columns> binding(m, name);
    binding.def("__init__",
                [](Columns* self, Vector<std::int64_t> starts, Vector<std::int32_t> rows, Vector<Value> values,
                   std::size_t n_rows, Factors factors) {
                    require(starts.size() == factors.size() + 1 && rows.size() == values.size() &&
                                starts.data()[factors.size()] == static_cast<std::int64_t>(rows.size()),
                            "starts, rows and values of the columns do not fit");
                    const CompressedColumns<Value> store{starts.data(), rows.data(), values.data(), n_rows,
                                                         factors.size()};
                    store.check();
                    new (self) Columns{store, factors, {starts, rows, values}};
                },
                nb::arg("starts"), nb::arg("rows"), nb::arg("values"), nb::arg("n_rows"), nb::arg("factors"));
    bind_kernels(binding);
}

// Throws unless the parts of a compressed matrix are consistent; `places`, row or column indices, must be below n_places.
template <class T>
void check_compressed(const Vector<std::int64_t>& starts, const Vector<std::int32_t>& places, const Vector<T>& values,
                      std::size_t n_places) {
    require(starts.size() > 0 && places.size() == values.size() && starts.data()[0] == 0 &&
                starts.data()[starts.size() - 1] == static_cast<std::int64_t>(places.size()),
            "starts, places and values do not fit");
    for (std::size_t line = 0; line + 1 < starts.size(); ++line)
        require(starts.data()[line] <= starts.data()[line + 1], "the starts must ascend");
    for (std::size_t at = 0; at < places.size(); ++at)
        require(places.data()[at] >= 0 && static_cast<std::size_t>(places.data()[at]) < n_places,
                "a place is out of range");
}

void check_rows(const Places& rows, std::size_t n_rows) {
    for (std::size_t i = 0; i < rows.size(); ++i)
        require(rows.data()[i] >= 0 && static_cast<std::size_t>(rows.data()[i]) < n_rows, "a row number is out of range");
}

template <class T>
void bind_rows(nb::module_& m) {
    m.def("hash_dense_rows", [](Matrix<T> X, std::size_t first, int n_threads) {
        std::vector<std::uint64_t> out(X.shape(0));
        {
            nb::gil_scoped_release release;
            hash_dense_rows(view(X), first, n_threads, out.data());
        }
        return as_array(std::move(out));
    });
    m.def("hash_compressed", [](Vector<std::int64_t> starts, Vector<std::int32_t> places, Vector<T> values,
                                bool by_column, std::size_t n_rows, std::size_t n_columns, int n_threads) {
        check_compressed(starts, places, values, by_column ? n_rows : n_columns);
        require(starts.size() == (by_column ? n_columns : n_rows) + 1, "one start per line is needed");
        std::vector<std::uint64_t> out(n_rows);
        {
            nb::gil_scoped_release release;
            hash_compressed(starts.data(), places.data(), values.data(), starts.size() - 1, by_column,
                            n_threads, out.data());
        }
        return as_array(std::move(out));
    });
    m.def("gather_columns", [](Matrix<T> X, Places rows, InOut<double> out, int n_threads) {
        check_rows(rows, X.shape(0));
        require(out.shape(0) == X.shape(1) && out.shape(1) == rows.size(), "the output has another shape");
        nb::gil_scoped_release release;
        gather_columns(view(X), rows.data(), rows.size(), n_threads, out.data());
    });
    m.def(sizeof(T) == 4 ? "compress_columns32" : "compress_columns", [](Vector<std::int64_t> starts, Vector<std::int32_t> places, Vector<T> values,
                                 Places rows, std::size_t n_columns, int n_threads) {
        check_compressed(starts, places, values, n_columns);
        check_rows(rows, starts.size() - 1);
        std::size_t n_entries = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::int64_t row = rows.data()[i];
            n_entries += static_cast<std::size_t>(starts.data()[row + 1] - starts.data()[row]);
        }
        std::vector<std::int64_t> column_starts(n_columns + 1);
        std::vector<std::int32_t> column_rows(n_entries);
        std::vector<T> column_values(n_entries);
        {
            nb::gil_scoped_release release;
            compress_columns(starts.data(), places.data(), values.data(), rows.data(), rows.size(), n_columns,
                             n_threads, column_starts.data(), column_rows.data(), column_values.data());
        }
        return std::make_tuple(as_array(std::move(column_starts)), as_array(std::move(column_rows)),
                               as_array(std::move(column_values)));
    });
}

}  // namespace

void bind_sparse(nb::module_& m) {
    bind_rows<double>(m);
    bind_rows<float>(m);
    m.def("centre_columns", [](InOut<double> columns, Vector<double> weights, bool centre, int n_threads) {
        require(weights.size() == columns.shape(1), "one weight per row is needed");
        std::vector<double> centres(columns.shape(0)), squares(columns.shape(0));
        {
            nb::gil_scoped_release release;
            centre_columns(columns.data(), columns.shape(0), columns.shape(1), weights.data(), centre, n_threads,
                           centres.data(), squares.data());
        }
        return std::make_pair(as_array(std::move(centres)), as_array(std::move(squares)));
    });
    nb::class_<Dense> dense(m, "DenseColumns");
    dense.def("__init__", [](Dense* self, CMatrix<double> columns, Factors factors) {
        require(columns.shape(0) == factors.size(), "one factor per column is needed");
        const DenseColumns store{columns.data(), columns.shape(1), columns.shape(0)};
        new (self) Dense{store, factors, {columns}};
    });
    bind_kernels(dense);
    bind_compressed<double>(m, "CompressedColumns");
    bind_compressed<float>(m, "CompressedColumns32");
}

}  // namespace radboost
