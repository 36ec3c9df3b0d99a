// The bindings: arrays in, arrays out, the GIL released in between. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "binning.hpp"
#include "columns.hpp"
#include "exact_math.hpp"
#include "grower.hpp"
#include "kernels.hpp"
#include "margins.hpp"
#include "predict.hpp"

namespace nb = nanobind;
using namespace radboost;

namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using CMatrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

void check_signals() {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

template <class T>
Output<T> as_array(std::vector<T>&& values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Output<T>(owned->data(), {owned->size()}, owner);
}

template <class T>
std::vector<T> as_vector(const Vector<T>& array) {
    return std::vector<T>(array.data(), array.data() + array.size());
}

template <class T>
MatrixView<T> view(const Matrix<T>& X) {
    return {X.data(), X.shape(0), X.shape(1), X.stride(0), X.stride(1)};
}

template <class T>
BinnedData bin(Matrix<T> X, Vector<double> weights, int max_bins, int n_threads) {
    require(weights.size() == 0 || weights.size() == X.shape(0), "one weight per row is needed");
    bool integers = true;
    for (std::size_t i = 0; i < weights.size(); ++i) integers = integers && weights.data()[i] == std::floor(weights.data()[i]);
    nb::gil_scoped_release release;
    return bin_matrix(view(X), weights.size() ? weights.data() : nullptr, integers, max_bins, n_threads, check_signals);
}

template <class T>
Output<double> forest_scores(const Forest& forest, Matrix<T> X, Vector<double> weights, int n_threads) {
    require(weights.size() == forest.n_trees(), "one weight per tree is needed");
    require(X.shape(0) <= (std::size_t{1} << 60) / forest.n_outputs(), "more scores than memory can hold");
    std::vector<double> out(X.shape(0) * forest.n_outputs());
    {
        nb::gil_scoped_release release;
        forest.scores(view(X), weights.data(), n_threads, out.data(), check_signals);
    }
    return as_array(std::move(out));
}

template <class T>
Output<double> forest_values(const Forest& forest, Matrix<T> X, int n_threads) {
    std::vector<double> out(X.shape(0) * forest.n_trees());
    {
        nb::gil_scoped_release release;
        forest.tree_values(view(X), n_threads, out.data());
    }
    return as_array(std::move(out));
}

MarginLoss loss_named(const std::string& name) {
    require(name == "exponential" || name == "logistic", "the native losses are 'exponential' and 'logistic'");
    return name == "exponential" ? MarginLoss::exponential : MarginLoss::logistic;
}

void bind_data(nb::module_& m) {
    nb::class_<BinnedData>(m, "BinnedData")
        .def_ro("n_rows", &BinnedData::n_rows)
        .def_ro("n_columns", &BinnedData::n_columns)
        .def("codes", [](const BinnedData& d) { return as_array(std::vector<std::uint8_t>(d.by_row.begin(), d.by_row.end())); })
        .def("n_bins", [](const BinnedData& d) { return as_array(std::vector<std::uint16_t>(d.bin_counts)); })
        .def("has_missing", [](const BinnedData& d) { return as_array(std::vector<std::uint8_t>(d.has_missing)); })
        .def("thresholds",
             [](const BinnedData& d, std::size_t c) {
                 require(c < d.n_columns, "no such column");
                 const double* begin = d.thresholds.data();
                 return as_array(std::vector<double>(begin + d.first_threshold[c], begin + d.first_threshold[c + 1]));
             })
        .def("row_hashes",
             [](const BinnedData& d, Vector<std::int8_t> labels, int n_threads) {
                 require(labels.size() == d.n_rows, "one label per row is needed");
                 return as_array(d.row_hashes(labels.data(), n_threads));
             })
        .def("subset", [](const BinnedData& d, Vector<std::int64_t> rows) { return d.subset(rows.data(), rows.size()); });
    m.def("side_by_side", [](const std::vector<BinnedData*>& parts) {
        return BinnedData::side_by_side({parts.begin(), parts.end()});
    });
    m.def("bin_matrix", &bin<float>, nb::arg("X"), nb::arg("weights"), nb::arg("max_bins"), nb::arg("n_threads"));
    m.def("bin_matrix", &bin<double>, nb::arg("X"), nb::arg("weights"), nb::arg("max_bins"), nb::arg("n_threads"));
}

void bind_state(nb::module_& m) {
    nb::class_<MarginState>(m, "MarginState")
        .def("__init__",
             [](MarginState* self, Vector<std::int8_t> labels, Vector<double> weights) {
                 new (self) MarginState(as_vector(labels), as_vector(weights));
             })
        .def_prop_ro("total_weight", &MarginState::total_weight)
        .def("scores", [](MarginState& s) { return as_array(std::vector<double>(s.scores().begin(), s.scores().end())); })
        .def("edge_weights",
             [](MarginState& s) {
                 return as_array(std::vector<std::int64_t>(s.edge_weights(), s.edge_weights() + s.n_rows()));
             })
        .def("packed_weights",
             [](MarginState& s) {
                 return as_array(std::vector<std::int64_t>(s.packed_weights(), s.packed_weights() + s.n_rows()));
             })
        .def("reweigh",
             [](MarginState& s, const std::string& loss, bool packed, int n_threads) {
                 nb::gil_scoped_release release;
                 return s.reweigh(loss_named(loss), packed, n_threads);
             })
        .def("reweigh_from",
             [](MarginState& s, Vector<double> values, Vector<double> derivatives, bool packed, int n_threads) {
                 require(values.size() == s.n_rows() && derivatives.size() == s.n_rows(), "one value per row is needed");
                 return s.reweigh_from(values.data(), derivatives.data(), packed, n_threads);
             })
        .def("along",
             [](MarginState& s, const std::string& loss, Vector<double> h, double eta, int n_threads) {
                 require(h.size() == s.n_rows(), "one prediction per row is needed");
                 nb::gil_scoped_release release;
                 const LineSums line = s.along(loss_named(loss), h.data(), eta, n_threads);
                 return std::vector<double>{line.loss, line.slope};
             })
        .def("weighted_sum", [](const MarginState& s, Vector<double> values, int n_threads) {
            require(values.size() == s.n_rows(), "one value per row is needed");
            return s.weighted_sum(values.data(), n_threads);
        });
    nb::class_<LossSums>(m, "LossSums")
        .def_ro("loss", &LossSums::loss)
        .def_ro("slope", &LossSums::slope)
        .def_ro("error", &LossSums::error);
    nb::class_<HypothesisColumns>(m, "HypothesisColumns")
        .def(nb::init<std::size_t>())
        .def_prop_ro("n_slots", &HypothesisColumns::n_slots)
        .def("take_slot", &HypothesisColumns::take_slot)
        .def("release", &HypothesisColumns::release)
        .def("add_values",
             [](HypothesisColumns& c, Vector<float> values) {
                 require(values.size() == c.n_rows(), "one prediction per row is needed");
                 return c.add_values(values.data());
             })
        .def("edges",
             [](const HypothesisColumns& c, const MarginState& s, int n_threads) {
                 std::vector<double> out(c.n_slots());
                 {
                     nb::gil_scoped_release release;
                     c.edges(s, n_threads, out.data());
                 }
                 return out;
             })
        .def("predictions",
             [](const HypothesisColumns& c, std::size_t slot) {
                 std::vector<double> out(c.n_rows());
                 c.predictions(slot, out.data());
                 return as_array(std::move(out));
             })
        .def("step", &HypothesisColumns::step, nb::call_guard<nb::gil_scoped_release>());
}

GrowthOptions growth_options(const std::string& growth, const std::string& criterion, int max_depth,
                             std::size_t max_leaves, std::size_t max_features, double subsample,
                             bool random_thresholds, double minimum_leaf_weight, std::uint64_t seed, int n_threads) {
    require(growth == "layers" || growth == "best_first" || growth == "stump_pair", "unknown growth");
    require(criterion == "edge" || criterion == "gini", "unknown criterion");
    GrowthOptions options;
    options.growth = growth == "layers" ? Growth::layers : growth == "best_first" ? Growth::best_first : Growth::stump_pair;
    options.criterion = criterion == "edge" ? Criterion::edge : Criterion::gini;
    options.max_depth = max_depth;
    options.max_leaves = max_leaves;
    options.max_features = max_features;
    options.subsample = subsample;
    options.random_thresholds = random_thresholds;
    options.minimum_leaf_weight = minimum_leaf_weight;
    options.seed = seed;
    options.n_threads = n_threads;
    return options;
}

// The arrays of a tree after `n_splits` splits.
auto tree_arrays(const TreeGrower& g, std::size_t n_splits) {
    const std::vector<std::int8_t> signs = g.tree().signs(n_splits);
    const std::size_t size = signs.size();
    std::vector<std::int32_t> feature(size, -1), left(size, -1);
    std::vector<double> threshold(size, 0), value(size, 0), cover(size), gain(size, 0);
    std::vector<std::uint8_t> missing_left(size, 0);
    for (std::size_t i = 0; i < size; ++i) {
        const GrownNode& node = g.tree().nodes[i];
        cover[i] = static_cast<double>(node.cover) / g.mass_scale();
        if (node.left >= 0 && static_cast<std::size_t>(node.left) < size) {
            feature[i] = static_cast<std::int32_t>(node.column);
            threshold[i] = g.data().threshold(node.column, node.bin);
            left[i] = node.left;
            missing_left[i] = node.missing_left;
            gain[i] = node.gain;
        } else {
            value[i] = signs[i];
        }
    }
    return std::make_tuple(as_array(std::move(feature)), as_array(std::move(threshold)), as_array(std::move(left)),
                          as_array(std::move(missing_left)), as_array(std::move(value)), as_array(std::move(cover)),
                          as_array(std::move(gain)));
}

void bind_trees(nb::module_& m) {
    nb::class_<TreeGrower>(m, "TreeGrower")
        .def("__init__",
             [](TreeGrower* self, const BinnedData& data, const MarginState& state, const std::string& growth,
                const std::string& criterion, int max_depth, std::size_t max_leaves, std::size_t max_features,
                double subsample, bool random_thresholds, double minimum_leaf_weight, std::uint64_t seed,
                int n_threads) {
                 new (self) TreeGrower(data, state,
                                       growth_options(growth, criterion, max_depth, max_leaves, max_features, subsample,
                                                      random_thresholds, minimum_leaf_weight, seed, n_threads));
             },
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::arg("data"), nb::arg("state"), nb::kw_only(),
             nb::arg("growth"), nb::arg("criterion"), nb::arg("max_depth"), nb::arg("max_leaves"),
             nb::arg("max_features"), nb::arg("subsample"), nb::arg("random_thresholds"),
             nb::arg("minimum_leaf_weight"), nb::arg("seed"), nb::arg("n_threads"))
        .def("grow",
             [](TreeGrower& g, std::uint64_t round) {
                 {
                     nb::gil_scoped_release release;
                     g.grow(round, check_signals);
                 }
                 return std::make_pair(g.tree().candidate_splits, g.tree().candidate_edges);
             })
        .def("tree", &tree_arrays)
        .def("store", [](const TreeGrower& g, std::size_t n_splits, HypothesisColumns& columns, std::size_t slot) {
            nb::gil_scoped_release release;
            g.tree().store(n_splits, columns, slot, g.n_threads());
        });
    nb::class_<Forest>(m, "Forest")
        .def("__init__",
             [](Forest* self, Vector<std::int64_t> offsets, Vector<std::int32_t> features, Vector<double> thresholds,
                Vector<std::int32_t> left, Vector<std::uint8_t> missing_left, Vector<double> values,
                std::size_t n_features, std::size_t n_outputs) {
                 new (self) Forest(as_vector(offsets), as_vector(features), as_vector(thresholds), as_vector(left),
                                   as_vector(missing_left), as_vector(values), n_features, n_outputs);
             },
             nb::arg("tree_offsets"), nb::arg("features"), nb::arg("thresholds"), nb::arg("left"),
             nb::arg("missing_left"), nb::arg("values"), nb::arg("n_features"), nb::arg("n_outputs") = 1)
        .def_prop_ro("n_outputs", &Forest::n_outputs)
        .def("scores", &forest_scores<float>)
        .def("scores", &forest_scores<double>)
        .def("tree_values", &forest_values<float>)
        .def("tree_values", &forest_values<double>);
}

void bind_functions(nb::module_& m) {
    m.def("exp", &exact_exp);
    m.def("log", [](double x) {
        require(x >= 0x1p-1022 && std::isfinite(x), "log needs a positive number");
        return exact_log(x);
    });
    m.def("evaluate_loss", [](const std::string& loss, Vector<double> u) {
        std::vector<double> value(u.size()), derivative(u.size());
        evaluate_loss(loss_named(loss), u.data(), u.size(), value.data(), derivative.data());
        return std::make_pair(as_array(std::move(value)), as_array(std::move(derivative)));
    });
    m.def("kernel_values", [](const std::string& name, double gamma, CMatrix<double> centres, CMatrix<double> X,
                              int n_threads) {
        require(name == "rbf" || name == "laplacian" || name == "cosine", "unknown kernel");
        require(centres.shape(1) == X.shape(1), "centres and rows have different numbers of columns");
        const Kernel kernel = name == "rbf" ? Kernel::rbf : name == "laplacian" ? Kernel::laplacian : Kernel::cosine;
        std::vector<float> out(centres.shape(0) * X.shape(0));
        {
            nb::gil_scoped_release release;
            kernel_values(kernel, gamma, centres.data(), centres.shape(0), X.data(), X.shape(0), X.shape(1), n_threads,
                          out.data());
        }
        return as_array(std::move(out));
    });
    m.def("value_edges", [](const MarginState& s, CMatrix<float> values, int n_threads) {
        require(values.shape(1) == s.n_rows(), "one prediction per row is needed");
        std::vector<double> out(values.shape(0));
        value_edges(s, values.data(), values.shape(0), n_threads, out.data());
        return as_array(std::move(out));
    });
}

}  // namespace

NB_MODULE(_native, m) {
    bind_data(m);
    bind_state(m);
    bind_trees(m);
    bind_functions(m);
}
