// Binds soft-max boosting: SoftmaxScores and SoftmaxPairs.
#include "growth/softmax_pairs.hpp"

#include <nanobind/stl/shared_ptr.h>

#include "bindings/arrays.hpp"

namespace radboost {
namespace {

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
    nb::class_<SoftmaxScores>(m, "SoftmaxScores")
        .def("__init__",
             [](SoftmaxScores* self, Vector<std::uint16_t> classes, std::size_t n_classes, CMatrix<float> costs,
                bool costs_per_row, const RowWeights& weights) {
                 require(costs.shape(1) == n_classes, "one cost per class is needed");
                 std::vector<float> flat(costs.data(), costs.data() + costs.size());
                 new (self) SoftmaxScores(as_vector(classes), n_classes, std::move(flat), costs_per_row, weights);
             },
             nb::arg("classes"), nb::arg("n_classes"), nb::arg("costs"), nb::kw_only(), nb::arg("costs_per_row"),
             nb::arg("weights"), nb::keep_alive<1, 6>())
        .def("values",
             [](const SoftmaxScores& s) {
                 std::vector<double> out(s.n_rows() * s.n_classes());
                 for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<double>(s.grid().values()[k]) / kScoreGrid;
                 return as_array(std::move(out));
             })
        .def("set",
             [](SoftmaxScores& s, CMatrix<double> scores) {
                 require(scores.shape(0) == s.n_rows() && scores.shape(1) == s.n_classes(),
                         "one score per row and class is needed");
                 nb::gil_scoped_release release;
                 s.set(scores.data());
             })
        .def("rule", [](const SoftmaxScores& s) { return copy_of(s.rule()); })
        .def("row_costs", [](const SoftmaxScores& s) { return copy_of(s.row_costs()); })
        .def("directions", [](const SoftmaxScores& s) { return copy_of(s.directions()); })
        .def("set_directions",
             [](SoftmaxScores& s, CMatrix<std::int8_t> directions) {
                 require(directions.shape(0) == s.n_classes() && directions.shape(1) == s.n_rows(),
                         "one direction per class and row is needed");
                 s.set_directions(directions.data());
             })
        .def("evaluate", &SoftmaxScores::evaluate, nb::call_guard<nb::gil_scoped_release>())
        .def("slope", &SoftmaxScores::slope, nb::call_guard<nb::gil_scoped_release>())
        .def("along", &SoftmaxScores::along, nb::call_guard<nb::gil_scoped_release>())
        .def("step", &SoftmaxScores::step, nb::call_guard<nb::gil_scoped_release>());
    nb::class_<SoftmaxPairs>(m, "SoftmaxPairs")
        .def(nb::init<SoftmaxScores&, const BinnedData&, std::uint64_t, int>(), nb::arg("scores"), nb::arg("data"),
             nb::kw_only(), nb::arg("seed"), nb::arg("n_threads"), nb::keep_alive<1, 2>(),
             nb::call_guard<nb::gil_scoped_release>())
        .def("draw",
             [](SoftmaxPairs& p, const std::string& pairs, std::size_t n_samples, std::uint64_t round, int n_threads) {
                 const Pairs kind = pairs_named(pairs);
                 nb::gil_scoped_release release;
                 p.draw(kind, n_samples, round, n_threads);
             })
        .def("drawn",
             [](const SoftmaxPairs& p, std::size_t label) {
                 require(label < p.drawn().size(), "no such label");
                 std::vector<std::uint32_t> rows;
                 std::vector<float> weights;
                 for (const SoftmaxPairs::Pair& pair : p.drawn()[label]) {
                     rows.push_back(pair.row);
                     weights.push_back(pair.weight);
                 }
                 return std::make_pair(as_array(std::move(rows)), as_array(std::move(weights)));
             })
        .def("grow",
             [](SoftmaxPairs& p, WeightedTrees& trees, const std::string& pairs, std::size_t n_samples,
                std::uint64_t round, int n_threads) {
                 const Pairs kind = pairs_named(pairs);
                 nb::gil_scoped_release release;
                 return p.grow(trees, kind, n_samples, round, n_threads, check_signals);
             })
        .def("trees", [](const SoftmaxPairs& p) { return p.trees(); });
}

}  // namespace radboost
