// Soft-max boosting.
#include "rows/softmax_state.hpp"

#include <nanobind/stl/shared_ptr.h>

#include "bindings/arrays.hpp"

namespace radboost {
namespace {

Pairs pairs_named(const std::string& name) {
    require(name == "all" || name == "by_rule" || name == "by_gradient",
            "the pairs are 'all', 'by_rule' or 'by_gradient'");
    return name == "all" ? Pairs::all : name == "by_rule" ? Pairs::by_rule : Pairs::by_gradient;
}

template <class Array>
auto copy_of(const Array& array) {
    return as_array(std::vector<typename Array::value_type>(array.begin(), array.end()));
}

}  // namespace

void bind_softmax(nb::module_& m) {
    nb::class_<SoftmaxSums>(m, "SoftmaxSums")
        .def_ro("risk", &SoftmaxSums::risk)
        .def_ro("error", &SoftmaxSums::error)
        .def_ro("size", &SoftmaxSums::size);
    nb::class_<SoftmaxState>(m, "SoftmaxState")
        .def("__init__",
             [](SoftmaxState* self, const BinnedData& data, Vector<std::uint16_t> classes, std::size_t n_classes,
                Vector<double> weights, CMatrix<float> costs, bool costs_per_row, std::uint64_t seed, int n_threads) {
                 require(costs.shape(1) == n_classes, "one cost per class is needed");
                 std::vector<float> flat(costs.data(), costs.data() + costs.size());
                 new (self) SoftmaxState(data, as_vector(classes), n_classes, as_vector(weights), std::move(flat),
                                         costs_per_row, seed, n_threads);
             },
             nb::arg("data"), nb::arg("classes"), nb::arg("n_classes"), nb::arg("weights"), nb::arg("costs"),
             nb::kw_only(), nb::arg("costs_per_row"), nb::arg("seed"), nb::arg("n_threads"))
        .def_prop_ro("total_weight", &SoftmaxState::total_weight)
        .def("scores",
             [](const SoftmaxState& s) {
                 std::vector<double> out(s.scores().begin(), s.scores().end());
                 for (double& score : out) score /= 1048576.0;
                 return as_array(std::move(out));
             })
        .def("set_scores",
             [](SoftmaxState& s, CMatrix<double> scores) {
                 require(scores.shape(0) == s.n_rows() && scores.shape(1) == s.n_classes(),
                         "one score per row and class is needed");
                 s.set_scores(scores.data());
             })
        .def("rule", [](const SoftmaxState& s) { return copy_of(s.rule()); })
        .def("row_costs", [](const SoftmaxState& s) { return copy_of(s.row_costs()); })
        .def("directions", [](const SoftmaxState& s) { return copy_of(s.directions()); })
        .def("set_directions",
             [](SoftmaxState& s, CMatrix<std::int8_t> directions) {
                 require(directions.shape(0) == s.n_classes() && directions.shape(1) == s.n_rows(),
                         "one direction per class and row is needed");
                 s.set_directions(directions.data());
             })
        .def("evaluate", &SoftmaxState::evaluate, nb::call_guard<nb::gil_scoped_release>())
        .def("grow",
             [](SoftmaxState& s, WeightedTrees& trees, const std::string& pairs, std::size_t n_samples,
                std::uint64_t round, int n_threads) {
                 const Pairs kind = pairs_named(pairs);
                 nb::gil_scoped_release release;
                 return s.grow(trees, kind, n_samples, round, n_threads, check_signals);
             })
        .def("trees", [](const SoftmaxState& s) { return s.trees(); })
        .def("slope", &SoftmaxState::slope, nb::call_guard<nb::gil_scoped_release>())
        .def("along", &SoftmaxState::along, nb::call_guard<nb::gil_scoped_release>())
        .def("step", &SoftmaxState::step, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace radboost
