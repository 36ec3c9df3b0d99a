// Binned data.
#include "bindings/arrays.hpp"

#include <nanobind/stl/optional.h>

#include <cmath>
#include <optional>

namespace radboost {
namespace {

template <class T>
BinnedData bin(Matrix<T> X, Vector<double> weights, Vector<std::int64_t> order, int max_bins, int n_threads,
               std::optional<Vector<std::int32_t>> categories, const Collective* collective) {
    require(weights.size() == 0 || weights.size() == X.shape(0), "one weight per row is needed");
    require(order.size() == 0 || order.size() == X.shape(0), "the order must name every row");
    require(!categories || categories->size() == X.shape(1), "one number of categories per column is needed");
    for (std::size_t i = 0; i < order.size(); ++i)
        require(order.data()[i] >= 0 && static_cast<std::size_t>(order.data()[i]) < X.shape(0), "no such row");
    bool integers = true;
    for (std::size_t i = 0; i < weights.size(); ++i) integers = integers && weights.data()[i] == std::floor(weights.data()[i]);
    nb::gil_scoped_release release;
    return bin_matrix(view(X), weights.size() ? weights.data() : nullptr, integers,
                      order.size() ? order.data() : nullptr, categories ? categories->data() : nullptr, max_bins,
                      n_threads, check_signals, collective ? *collective : one_worker());
}

}  // namespace

void bind_data(nb::module_& m) {
    nb::class_<BinnedData>(m, "BinnedData")
        .def_ro("n_rows", &BinnedData::n_rows)
        .def_ro("n_columns", &BinnedData::n_columns)
        .def("codes", [](const BinnedData& d) {
                 d.lay_out_rows(1);
                 return as_array(std::vector<std::uint8_t>(d.row(0), d.row(d.n_rows)));
             })
        .def("n_bins", [](const BinnedData& d) { return as_array(std::vector<std::uint16_t>(d.bin_counts)); })
        .def("has_missing", [](const BinnedData& d) { return as_array(std::vector<std::uint8_t>(d.has_missing)); })
        .def("is_categorical", [](const BinnedData& d) { return as_array(std::vector<std::uint8_t>(d.is_categorical)); })
        .def("thresholds",
             [](const BinnedData& d, std::size_t c) {
                 require(c < d.n_columns, "no such column");
                 const double* begin = d.thresholds.data();
                 return as_array(std::vector<double>(begin + d.first_threshold[c], begin + d.first_threshold[c + 1]));
             })
        .def("row_hashes",
             [](const BinnedData& d, Vector<std::uint16_t> classes, int n_threads) {
                 require(classes.size() == d.n_rows, "one class per row is needed");
                 return as_array(d.row_hashes(classes.data(), n_threads));
             })
        .def("subset", [](const BinnedData& d, Vector<std::int64_t> rows) { return d.subset(rows.data(), rows.size()); });
    m.def("side_by_side", [](const std::vector<BinnedData*>& parts) {
        return BinnedData::side_by_side({parts.begin(), parts.end()});
    });
    m.def("bin_matrix", &bin<float>, nb::arg("X"), nb::arg("weights"), nb::arg("order"), nb::arg("max_bins"),
          nb::arg("n_threads"), nb::arg("categories") = nb::none(), nb::arg("collective").none() = nb::none());
    m.def("bin_matrix", &bin<double>, nb::arg("X"), nb::arg("weights"), nb::arg("order"), nb::arg("max_bins"),
          nb::arg("n_threads"), nb::arg("categories") = nb::none(), nb::arg("collective").none() = nb::none());
}

}  // namespace radboost
