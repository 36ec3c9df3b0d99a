// Binds data/: BinnedData and its construction.
#include "bindings/arrays.hpp"

#include <nanobind/stl/optional.h>

#include <cmath>
#include <optional>

#include "data/sketched_binning.hpp"

namespace radboost {
namespace {

// Blocks of rows that a Python function loads: load(block index) returns the block, shape (rows of the block, n_columns).
template <class T>
class PythonBlocks final : public RowBlocks<T> {
public:
    PythonBlocks(const nb::object& load, const std::vector<std::size_t>& first_rows, std::size_t n_columns)
        : RowBlocks<T>(first_rows, n_columns), load_(load) {}

    void visit(std::size_t block, const std::function<void(const MatrixView<T>&)>& use) const override {
        nb::gil_scoped_acquire gil;
        const auto X = nb::cast<Matrix<T>>(load_(block));
        require(X.shape(0) == this->n_rows(block) && X.shape(1) == this->n_columns, "a block has another shape than was said");
        nb::gil_scoped_release release;
        use(view(X));
    }

private:
    const nb::object& load_;
};

// Arguments as in bin_blocks (binning.hpp), where an empty array means null. sketched: bin_by_sketches.
template <class T>
BinnedData bin_rows(const RowBlocks<T>& X, const Vector<double>& weights, const Vector<std::uint32_t>& order, int max_bins,
                    int n_threads, const std::optional<Vector<std::int32_t>>& categories, const Collective* collective,
                    bool sketched) {
    require(weights.size() == 0 || weights.size() == X.n_rows(), "one weight per row is needed");
    require(order.size() == 0 || order.size() == X.n_rows(), "the order must name every row");
    require(!categories || categories->size() == X.n_columns, "one number of categories per column is needed");
    for (std::size_t i = 0; i < order.size(); ++i)
        require(order.data()[i] < X.n_rows(), "no such row");
    bool integers = true;
    for (std::size_t i = 0; i < weights.size(); ++i) integers = integers && weights.data()[i] == std::floor(weights.data()[i]);
    nb::gil_scoped_release release;
    const auto make = sketched ? bin_by_sketches<T> : bin_blocks<T>;
    return make(X, weights.size() ? weights.data() : nullptr, integers, order.size() ? order.data() : nullptr,
                categories ? categories->data() : nullptr, max_bins, n_threads, check_signals,
                collective ? *collective : one_worker());
}

template <class T>
BinnedData bin(Matrix<T> X, Vector<double> weights, Vector<std::uint32_t> order, int max_bins, int n_threads,
               std::optional<Vector<std::int32_t>> categories, const Collective* collective, bool sketched) {
    const MatrixView<T> rows = view(X);
    return bin_rows<T>(OneBlock<T>(rows), weights, order, max_bins, n_threads, categories, collective, sketched);
}

BinnedData bin_loaded(nb::object load, const std::vector<std::size_t>& first_rows, std::size_t n_columns, bool of_32_bits,
                      Vector<double> weights, Vector<std::uint32_t> order, int max_bins, int n_threads,
                      std::optional<Vector<std::int32_t>> categories, const Collective* collective, bool sketched) {
    if (of_32_bits)
        return bin_rows<float>(PythonBlocks<float>(load, first_rows, n_columns), weights, order, max_bins, n_threads,
                               categories, collective, sketched);
    return bin_rows<double>(PythonBlocks<double>(load, first_rows, n_columns), weights, order, max_bins, n_threads, categories,
                            collective, sketched);
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
        .def("row_hashes", [](const BinnedData& d, int n_threads) { return as_array(d.row_hashes(n_threads)); })
        .def("subset", [](const BinnedData& d, Vector<std::int64_t> rows) { return d.subset(rows.data(), rows.size()); });
    m.def("side_by_side", [](const std::vector<BinnedData*>& parts) {
        return BinnedData::side_by_side({parts.begin(), parts.end()});
    });
    m.def("bin_matrix", &bin<float>, nb::arg("X").noconvert(), nb::arg("weights"), nb::arg("order"), nb::arg("max_bins"),
          nb::arg("n_threads"), nb::arg("categories") = nb::none(), nb::arg("collective").none() = nb::none(),
          nb::arg("sketched") = false);
    m.def("bin_matrix", &bin<double>, nb::arg("X"), nb::arg("weights"), nb::arg("order"), nb::arg("max_bins"),
          nb::arg("n_threads"), nb::arg("categories") = nb::none(), nb::arg("collective").none() = nb::none(),
          nb::arg("sketched") = false);
    m.def("bin_blocks", &bin_loaded, nb::arg("load"), nb::arg("first_rows"), nb::arg("n_columns"), nb::arg("of_32_bits"),
          nb::arg("weights"), nb::arg("order"), nb::arg("max_bins"), nb::arg("n_threads"),
          nb::arg("categories") = nb::none(), nb::arg("collective").none() = nb::none(),
          nb::arg("sketched") = false);
}

}  // namespace radboost
