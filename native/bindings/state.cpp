// The states of boosting and the columns of its hypotheses.
#include "bindings/arrays.hpp"

#include <optional>

#include "rows/class_state.hpp"
#include "members/columns.hpp"

namespace radboost {
namespace {

void bind_base(nb::module_& m) {
    nb::class_<BoostingState>(m, "BoostingState")
        .def_prop_ro("total_weight", &BoostingState::total_weight)
        .def_prop_ro("n_classes", &BoostingState::n_classes)
        .def_prop_ro("n_channels", &BoostingState::n_channels)
        .def_prop_ro("edge_unit", &BoostingState::edge_unit)
        .def("leaf_sums",
             [](const BoostingState& s, Vector<std::int32_t> labels, std::size_t n_labels, int n_threads) {
                 require(labels.size() == s.n_rows(), "one label per row is needed");
                 for (std::size_t i = 0; i < labels.size(); ++i)
                     require(labels.data()[i] >= 0 && static_cast<std::size_t>(labels.data()[i]) < n_labels,
                             "a label is out of range");
                 std::vector<std::int64_t> out(n_labels * s.n_channels());
                 s.leaf_sums(labels.data(), n_labels, n_threads, out.data());
                 return as_array(std::move(out));
             })
        .def("growth_weights",
             [](const BoostingState& s) {
                 return as_array(std::vector<std::uint32_t>(s.growth_weights(), s.growth_weights() + s.n_rows()));
             })
        .def("weighted_sum", [](const BoostingState& s, Vector<double> values, int n_threads) {
            require(values.size() == s.n_rows(), "one value per row is needed");
            return s.weighted_sum(values.data(), n_threads);
        });
    nb::class_<LossSums>(m, "LossSums")
        .def_ro("loss", &LossSums::loss)
        .def_ro("slope", &LossSums::slope)
        .def_ro("error", &LossSums::error);
}

void bind_margin_state(nb::module_& m) {
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
}

ClassObjective objective_named(const std::string& name) {
    require(name == "sum" || name == "compsum" || name == "maxsum" || name == "max",
            "the objectives are 'sum', 'compsum', 'maxsum' and 'max'");
    return name == "sum"       ? ClassObjective::sum
           : name == "compsum" ? ClassObjective::compsum
           : name == "maxsum"  ? ClassObjective::maxsum
                               : ClassObjective::max;
}

Output<double> in_units(const std::int32_t* scores, std::size_t size) {
    std::vector<double> out(size);
    for (std::size_t k = 0; k < size; ++k) out[k] = static_cast<double>(scores[k]) / kScoreGrid;
    return as_array(std::move(out));
}

void bind_class_state(nb::module_& m) {
    nb::class_<ClassState, BoostingState>(m, "ClassState")
        .def("__init__",
             [](ClassState* self, const std::string& objective, const std::string& loss, Vector<std::uint16_t> classes,
                std::size_t n_classes, Vector<double> weights) {
                 std::optional<MarginLoss> native;
                 if (!loss.empty()) native = loss_named(loss);
                 new (self) ClassState(objective_named(objective), native, as_vector(classes), n_classes,
                                       as_vector(weights));
             },
             nb::arg("objective"), nb::arg("loss"), nb::arg("classes"), nb::arg("n_classes"), nb::arg("weights"))
        .def("scores", [](const ClassState& s) { return in_units(s.scores(), s.n_rows() * s.n_classes()); })
        .def("margins", [](const ClassState& s) { return in_units(s.margins().data(), s.margins().size()); })
        .def("gains",
             [](const ClassState& s, bool shrinking) {
                 std::vector<std::int64_t> out(s.n_rows() * (s.n_classes() + 1));
                 s.gains(0, s.n_rows(), shrinking, out.data());
                 return as_array(std::move(out));
             })
        .def("reweigh", &ClassState::reweigh, nb::call_guard<nb::gil_scoped_release>())
        .def("reweigh_from",
             [](ClassState& s, Vector<double> values, Vector<double> derivatives, int n_threads) {
                 require(values.size() == s.n_arguments() && derivatives.size() == s.n_arguments(),
                         "one value and one derivative per argument are needed");
                 nb::gil_scoped_release release;
                 return s.reweigh_from(values.data(), derivatives.data(), n_threads);
             })
        .def("along",
             [](ClassState& s, const HypothesisColumns& columns, std::size_t slot, double eta, int n_threads) {
                 nb::gil_scoped_release release;
                 const LineSums line = s.along(columns, slot, eta, true, n_threads);
                 return std::make_pair(line.loss, line.slope);
             })
        .def("slope_along",
             [](ClassState& s, const HypothesisColumns& columns, std::size_t slot, double eta, int n_threads) {
                 nb::gil_scoped_release release;
                 return s.along(columns, slot, eta, false, n_threads).slope;
             });
}

void bind_columns(nb::module_& m) {
    nb::class_<HypothesisColumns>(m, "HypothesisColumns")
        .def(nb::init<std::size_t, std::size_t>(), nb::arg("n_rows"), nb::arg("n_classes") = 2)
        .def_prop_ro("n_slots", &HypothesisColumns::n_slots)
        .def_prop_ro("n_classes", &HypothesisColumns::n_classes)
        .def("take_slot", &HypothesisColumns::take_slot)
        .def("release", &HypothesisColumns::release)
        .def("stamp", &HypothesisColumns::stamp)
        .def("set_answers",
             [](HypothesisColumns& c, std::size_t slot, Vector<std::int32_t> group, Vector<std::int32_t> classes,
                int n_threads) {
                 require(group.size() == c.n_rows(), "one group per row is needed");
                 for (std::size_t i = 0; i < group.size(); ++i)
                     require(group.data()[i] >= 0 && static_cast<std::size_t>(group.data()[i]) < classes.size(),
                             "a group is out of range");
                 c.set_answers(slot, group.data(), classes.data(), classes.size(), n_threads);
             })
        .def("add_values",
             [](HypothesisColumns& c, Vector<float> values, std::size_t class_index) {
                 require(values.size() == c.n_rows(), "one prediction per row is needed");
                 return c.add_values(values.data(), class_index);
             },
             nb::arg("values"), nb::arg("class_index") = 1)
        .def("edges",
             [](const HypothesisColumns& c, const MarginState& s, int n_threads) {
                 std::vector<double> out(c.n_slots());
                 {
                     nb::gil_scoped_release release;
                     c.edges(s, n_threads, out.data());
                 }
                 return as_array(std::move(out));
             })
        .def("edges",
             [](const HypothesisColumns& c, const ClassState& s, bool shrinking, int n_threads) {
                 std::vector<double> out(c.n_slots());
                 {
                     nb::gil_scoped_release release;
                     c.edges(s, shrinking, n_threads, out.data());
                 }
                 return as_array(std::move(out));
             })
        .def("predictions",
             [](const HypothesisColumns& c, std::size_t slot) {
                 std::vector<double> out(c.n_rows() * (c.n_classes() == 2 ? 1 : c.n_classes()));
                 c.predictions(slot, out.data());
                 return as_array(std::move(out));
             })
        .def("step", &HypothesisColumns::step, nb::call_guard<nb::gil_scoped_release>())
        .def("step", [](const HypothesisColumns& c, std::size_t slot, double eta, ClassState& s, int n_threads) {
            nb::gil_scoped_release release;
            s.step(c, slot, eta, n_threads);
        });
}

}  // namespace

void bind_state(nb::module_& m) {
    bind_base(m);
    bind_margin_state(m);
    bind_class_state(m);
    bind_columns(m);
}

}  // namespace radboost
