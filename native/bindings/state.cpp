// The states of boosting and the columns of its hypotheses.
#include "bindings/arrays.hpp"

#include "columns.hpp"

namespace radboost {

void bind_state(nb::module_& m) {
    nb::class_<BoostingState>(m, "BoostingState")
        .def_prop_ro("total_weight", &BoostingState::total_weight)
        .def_prop_ro("n_classes", &BoostingState::n_classes)
        .def("growth_weights",
             [](const BoostingState& s) {
                 return as_array(std::vector<std::uint32_t>(s.growth_weights(), s.growth_weights() + s.n_rows()));
             })
        .def("weighted_sum", [](const BoostingState& s, Vector<double> values, int n_threads) {
            require(values.size() == s.n_rows(), "one value per row is needed");
            return s.weighted_sum(values.data(), n_threads);
        });
    nb::class_<MarginState, BoostingState>(m, "MarginState")
        .def("__init__",
             [](MarginState* self, Vector<std::int8_t> labels, Vector<double> weights) {
                 new (self) MarginState(as_vector(labels), as_vector(weights));
             })
        .def("scores", [](MarginState& s) { return as_array(std::vector<double>(s.scores().begin(), s.scores().end())); })
        .def("edge_weights",
             [](MarginState& s) {
                 return as_array(std::vector<std::int64_t>(s.edge_weights(), s.edge_weights() + s.n_rows()));
             })
        .def("reweigh",
             [](MarginState& s, const std::string& loss, int n_threads) {
                 nb::gil_scoped_release release;
                 return s.reweigh(loss_named(loss), n_threads);
             })
        .def("reweigh_from",
             [](MarginState& s, Vector<double> values, Vector<double> derivatives, int n_threads) {
                 require(values.size() == s.n_rows() && derivatives.size() == s.n_rows(), "one value per row is needed");
                 return s.reweigh_from(values.data(), derivatives.data(), n_threads);
             })
        .def("along",
             [](MarginState& s, const std::string& loss, Vector<double> h, double eta, int n_threads) {
                 require(h.size() == s.n_rows(), "one prediction per row is needed");
                 nb::gil_scoped_release release;
                 const LineSums line = s.along(loss_named(loss), h.data(), eta, n_threads);
                 return std::vector<double>{line.loss, line.slope};
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

}  // namespace radboost
