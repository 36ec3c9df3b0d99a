// Binds rows/ and members/: RowWeights, scores, weightings, and HypothesisColumns.
#include "bindings/arrays.hpp"

#include <nanobind/stl/optional.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "losses/margin_losses.hpp"
#include "members/columns.hpp"
#include "rows/class_scores.hpp"
#include "rows/margin_scores.hpp"

namespace radboost {
namespace {

using Release = nb::call_guard<nb::gil_scoped_release>;

std::vector<double> given_or_none(const std::optional<Vector<double>>& numbers) {
    return numbers ? as_vector(*numbers) : std::vector<double>();
}

// 128-bit integers as Python integers.
nb::typed<nb::list, nb::int_> as_integers(const std::vector<int128>& sums) {
    nb::list out;
    for (const int128 sum : sums)
        out.append((nb::int_(static_cast<std::int64_t>(sum >> 64)) * nb::int_(std::uint64_t{1} << 32) *
                    nb::int_(std::uint64_t{1} << 32)) +
                   nb::int_(static_cast<std::uint64_t>(sum)));
    return nb::typed<nb::list, nb::int_>(std::move(out));
}

std::vector<int128> edge_sums(const AnswerWeighting& weighting, const HypothesisColumns& columns, bool shrinking,
                              int n_threads) {
    std::vector<int128> sums(columns.n_slots());
    nb::gil_scoped_release release;
    weighting.edge_sums(columns, shrinking, n_threads, sums.data());
    return sums;
}

Output<double> edges(const AnswerWeighting& weighting, const HypothesisColumns& columns, bool shrinking, int n_threads) {
    const std::vector<int128> sums = edge_sums(weighting, columns, shrinking, n_threads);
    std::vector<double> out(sums.size());
    for (std::size_t slot = 0; slot < sums.size(); ++slot)
        out[slot] = static_cast<double>(sums[slot]) * weighting.edge_unit() /
                    (columns.is_real(slot) || columns.has_leaves(slot) ? kValueGrid : 1.0);
    return as_array(std::move(out));
}

Output<double> value_edges(const AnswerWeighting& weighting, CMatrix<float> values, int n_threads) {
    require(values.shape(1) == weighting.n_rows(), "one prediction per row is needed");
    std::vector<int128> sums;
    {
        nb::gil_scoped_release release;
        sums = weighting.value_edge_sums(values.data(), values.shape(0), n_threads);
    }
    std::vector<double> out(sums.size());
    for (std::size_t k = 0; k < sums.size(); ++k)
        out[k] = static_cast<double>(sums[k]) * weighting.edge_unit() / kValueGrid;
    return as_array(std::move(out));
}

Output<double> group_edges(const AnswerWeighting& weighting, const HypothesisColumns& columns, std::size_t slot,
                           Vector<double> factors, const RowGroups& groups, int n_threads) {
    require(factors.size() == weighting.n_rows(), "one factor per row is needed");
    std::vector<int128> sums(2 * groups.n_groups());
    {
        nb::gil_scoped_release release;
        weighting.group_edge_sums(columns, slot, factors.data(), groups, n_threads, sums.data());
    }
    std::vector<double> out;
    for (const int128 sum : sums) out.push_back(static_cast<double>(sum) * weighting.edge_unit() / kValueGrid);
    return as_array(std::move(out));
}

template <class OneWeighting>
void set_factors(OneWeighting& weighting, Vector<double> shares, const RowGroups& groups, Vector<double> of_group,
                 int n_threads) {
    require(shares.size() == groups.n_rows() && of_group.size() == groups.n_groups(),
            "one share per row and one number per group are needed");
    nb::gil_scoped_release release;
    weighting.set_factors(shares.data(), groups, of_group.data(), n_threads);
}

// Loss, slope and error of each group, shape (n_groups, 3), flattened.
Output<double> in_lines(const std::vector<LossSums>& of_groups) {
    std::vector<double> out;
    for (const LossSums& sums : of_groups) out.insert(out.end(), {sums.loss, sums.slope, sums.error});
    return as_array(std::move(out));
}

void bind_weights(nb::module_& m) {
    nb::class_<RowGroups>(m, "RowGroups")
        .def("__init__",
             [](RowGroups* self, Vector<std::uint16_t> of_row, std::size_t n_groups) {
                 new (self) RowGroups(as_vector(of_row), n_groups);
             },
             nb::arg("of_row"), nb::arg("n_groups"))
        .def_prop_ro("n_groups", &RowGroups::n_groups);
    nb::class_<RowWeights>(m, "RowWeights")
        .def("__init__",
             [](RowWeights* self, std::size_t n_rows, std::optional<Vector<double>> weights, bool folds_large,
                const Collective* collective) {
                 std::vector<double> given = given_or_none(weights);
                 nb::gil_scoped_release release;
                 new (self) RowWeights(n_rows, std::move(given),
                                       folds_large ? RowWeights::kLargeTotal : std::numeric_limits<double>::infinity(),
                                       collective ? *collective : one_worker());
             },
             nb::arg("n_rows"), nb::arg("weights").none(), nb::kw_only(), nb::arg("folds_large"),
             nb::arg("collective").none(), nb::keep_alive<1, 5>())
        .def_prop_ro("n_rows", &RowWeights::n_rows_of_all)
        .def_prop_ro("n_own_rows", &RowWeights::n_rows)
        .def_prop_ro("total", &RowWeights::total)
        .def_prop_ro("given", &RowWeights::given)
        .def_prop_ro("whole", &RowWeights::whole)
        .def_prop_ro("alone", [](const RowWeights& w) { return w.collective().alone(); }, Release())
        .def("sum",
             [](const RowWeights& w, Vector<double> values, int n_threads) {
                 require(values.size() == w.n_rows(), "one value per row is needed");
                 nb::gil_scoped_release release;
                 return w.sum(values.data(), n_threads);
             })
        .def("mean",
             [](const RowWeights& w, Vector<double> values, int n_threads) {
                 require(values.size() == w.n_rows(), "one value per row is needed");
                 nb::gil_scoped_release release;
                 return w.mean(values.data(), n_threads);
             })
        .def("group_sums",
             [](const RowWeights& w, Vector<double> values, const RowGroups& groups, int n_threads) {
                 require(values.size() == w.n_rows(), "one value per row is needed");
                 std::vector<double> out;
                 {
                     nb::gil_scoped_release release;
                     out = w.group_sums(values.data(), groups, n_threads);
                 }
                 return as_array(std::move(out));
             },
             "Sum of w v over the rows of each group, shape (n_groups,).")
        .def("maximum",
             [](const RowWeights& w, Vector<double> values, int n_threads) {
                 require(values.size() == w.n_rows(), "one value per row is needed");
                 nb::gil_scoped_release release;
                 return w.maximum(values.data(), n_threads);
             })
        .def("add_integers",
             [](const RowWeights& w, Vector<std::int64_t> integers) {
                 std::vector<std::int64_t> sums = as_vector(integers);
                 {
                     nb::gil_scoped_release release;
                     w.collective().sum(sums.data(), sums.size());
                 }
                 return as_array(std::move(sums));
             },
             "Sum of each int64 over the workers.")
        .def("largest",
             [](const RowWeights& w, Vector<double> numbers) {
                 std::vector<double> found = as_vector(numbers);
                 {
                     nb::gil_scoped_release release;
                     w.collective().maximum(found.data(), found.size());
                 }
                 return as_array(std::move(found));
             },
             "Maximum of each float64 over the workers.")
        .def("gather",
             [](const RowWeights& w, nb::bytes own) -> nb::typed<nb::list, nb::bytes> {
                 const auto* first = reinterpret_cast<const std::uint8_t*>(own.c_str());
                 const std::size_t size = own.size();
                 std::vector<std::vector<std::uint8_t>> all;
                 {
                     nb::gil_scoped_release release;
                     all = w.collective().gather(first, size);
                 }
                 nb::list out;
                 for (const auto& part : all) out.append(nb::bytes(part.data(), part.size()));
                 return nb::typed<nb::list, nb::bytes>(std::move(out));
             },
             "List of the bytes of every worker, in the order of their ranks.");
    nb::class_<LossSums>(m, "LossSums")
        .def_ro("loss", &LossSums::loss)
        .def_ro("slope", &LossSums::slope)
        .def_ro("error", &LossSums::error);
}

void bind_weighting(nb::module_& m) {
    nb::class_<Weighting>(m, "Weighting").def_prop_ro("total_weight", &Weighting::total_weight);
    nb::class_<AnswerWeighting, Weighting>(m, "AnswerWeighting")
        .def_prop_ro("n_classes", &AnswerWeighting::n_classes)
        .def_prop_ro("edge_unit", &AnswerWeighting::edge_unit)
        .def("leaf_sums",
             [](const AnswerWeighting& w, Vector<std::int32_t> labels, std::size_t n_labels, int n_threads) {
                 require(labels.size() == w.n_rows(), "one label per row is needed");
                 for (std::size_t i = 0; i < labels.size(); ++i)
                     require(labels.data()[i] >= 0 && static_cast<std::size_t>(labels.data()[i]) < n_labels,
                             "a label is out of range");
                 std::vector<std::int64_t> out(n_labels * w.n_channels());
                 {
                     nb::gil_scoped_release release;
                     w.leaf_sums(labels.data(), n_labels, n_threads, out.data());
                 }
                 return as_array(std::move(out));
             })
        .def("growth_weights",
             [](const AnswerWeighting& w) {
                 return as_array(std::vector<std::uint32_t>(w.growth_weights(), w.growth_weights() + w.n_rows()));
             })
        .def("gains",
             [](const AnswerWeighting& w, bool shrinking) {
                 std::vector<std::int64_t> out(w.n_rows() * (w.n_classes() + 1));
                 w.gains(0, w.n_rows(), shrinking, out.data());
                 return as_array(std::move(out));
             })
        .def("edges", &edges, nb::arg("columns"), nb::arg("shrinking"), nb::arg("n_threads"))
        .def("edge_sums",
             [](const AnswerWeighting& w, const HypothesisColumns& columns, bool shrinking, int n_threads) {
                 return as_integers(edge_sums(w, columns, shrinking, n_threads));
             },
             nb::arg("columns"), nb::arg("shrinking"), nb::arg("n_threads"))
        .def("value_edges", &value_edges, nb::arg("values"), nb::arg("n_threads"))
        .def("group_edges", &group_edges, nb::arg("columns"), nb::arg("slot"), nb::arg("factors"), nb::arg("groups"),
             nb::arg("n_threads"), "Edge of a hypothesis with a factor on each row, and sum of the absolute terms, for each group; (n_groups, 2), flattened.");
    nb::class_<MarginWeighting, AnswerWeighting>(m, "MarginWeighting")
        .def("__init__",
             [](MarginWeighting* self, const MarginScores& scores, std::optional<Vector<double>> factors) {
                 new (self) MarginWeighting(scores, factors ? std::make_optional(as_vector(*factors)) : std::nullopt);
             },
             nb::arg("scores"), nb::arg("factors") = nb::none(), nb::keep_alive<1, 2>())
        .def_prop_ro("slope", &MarginWeighting::slope)
        .def("set_factors", &set_factors<MarginWeighting>, nb::arg("shares"), nb::arg("groups"), nb::arg("of_group"),
             nb::arg("n_threads"), "Set the factor of row i to shares[i] * of_group[group of i], from the next reweighing on.")
        .def("edge_weights", [](const MarginWeighting& w) {
            return as_array(std::vector<std::int64_t>(w.edge_weights(), w.edge_weights() + w.n_rows()));
        });
    nb::class_<ClassWeighting, AnswerWeighting>(m, "ClassWeighting")
        .def("__init__",
             [](ClassWeighting* self, const ClassScores& scores, std::optional<Vector<double>> factors) {
                 new (self) ClassWeighting(scores, factors ? std::make_optional(as_vector(*factors)) : std::nullopt);
             },
             nb::arg("scores"), nb::arg("factors") = nb::none(), nb::keep_alive<1, 2>())
        .def("set_factors", &set_factors<ClassWeighting>, nb::arg("shares"), nb::arg("groups"), nb::arg("of_group"),
             nb::arg("n_threads"), "Set the factor of row i to shares[i] * of_group[group of i], from the next reweighing on.")
        .def_prop_ro("slope", &ClassWeighting::slope);
}

// Methods that MarginScores and ClassScores have in common.
template <class Scores, class OneWeighting>
void bind_scores(nb::class_<Scores>& binding) {
    binding.def_prop_ro("n_classes", &Scores::n_classes)
        .def("reweigh",
             [](Scores& s, const std::vector<OneWeighting*>& weightings, int n_threads) {
                 nb::gil_scoped_release release;
                 return s.reweigh(weightings, n_threads);
             })
        .def("reweigh_groups",
             [](Scores& s, const std::vector<OneWeighting*>& weightings, const RowGroups& groups, int n_threads) {
                 std::vector<LossSums> of_groups(groups.n_groups());
                 {
                     nb::gil_scoped_release release;
                     s.reweigh(weightings, n_threads, &groups, of_groups.data());
                 }
                 return in_lines(of_groups);
             })
        .def("reweigh_groups_from",
             [](Scores& s, Vector<double> values, Vector<double> derivatives, const std::vector<OneWeighting*>& weightings,
                const RowGroups& groups, int n_threads) {
                 require(values.size() == s.n_arguments() && derivatives.size() == s.n_arguments(),
                         "one value and one derivative per argument are needed");
                 std::vector<LossSums> of_groups(groups.n_groups());
                 {
                     nb::gil_scoped_release release;
                     s.reweigh_from(values.data(), derivatives.data(), weightings, n_threads, &groups, of_groups.data());
                 }
                 return in_lines(of_groups);
             })
        .def("reweigh_from",
             [](Scores& s, Vector<double> values, Vector<double> derivatives, const std::vector<OneWeighting*>& weightings,
                int n_threads) {
                 require(values.size() == s.n_arguments() && derivatives.size() == s.n_arguments(),
                         "one value and one derivative per argument are needed");
                 nb::gil_scoped_release release;
                 return s.reweigh_from(values.data(), derivatives.data(), weightings, n_threads);
             })
        .def("along",
             [](Scores& s, const HypothesisColumns& columns, std::size_t slot, double eta, int n_threads) {
                 nb::gil_scoped_release release;
                 const LineSums line = s.along(columns, slot, eta, true, n_threads);
                 return std::make_pair(line.loss, line.slope);
             })
        .def("slope_along",
             [](Scores& s, const HypothesisColumns& columns, std::size_t slot, double eta, int n_threads) {
                 nb::gil_scoped_release release;
                 return s.along(columns, slot, eta, false, n_threads).slope;
             })
        .def("step",
             [](Scores& s, const HypothesisColumns& columns, std::size_t slot, double eta, int n_threads,
                std::optional<Vector<double>> factors) {
                 require(!factors || factors->size() == s.n_rows(), "one factor per row is needed");
                 nb::gil_scoped_release release;
                 s.step(columns, slot, eta, n_threads, factors ? factors->data() : nullptr);
             },
             nb::arg("columns"), nb::arg("slot"), nb::arg("eta"), nb::arg("n_threads"), nb::arg("factors") = nb::none());
}

Output<double> in_units(const std::int32_t* scores, std::size_t size) {
    std::vector<double> out(size);
    for (std::size_t k = 0; k < size; ++k) out[k] = static_cast<double>(scores[k]) / kScoreGrid;
    return as_array(std::move(out));
}

// The native loss with this name; nullopt for an empty name, which means that Python evaluates the loss.
std::optional<MarginLoss> loss_or_none(const std::string& name) {
    return name.empty() ? std::nullopt : std::optional<MarginLoss>(margin_loss_named(name));
}

void bind_margin_scores(nb::module_& m) {
    nb::class_<MarginScores> binding(m, "MarginScores");
    binding
        .def("__init__",
             [](MarginScores* self, const std::string& loss, Vector<std::uint16_t> classes, const RowWeights& weights) {
                 new (self) MarginScores(loss_or_none(loss), as_vector(classes), weights);
             },
             nb::arg("loss"), nb::arg("classes"), nb::arg("weights"), nb::keep_alive<1, 4>())
        .def("values", [](const MarginScores& s) {
            return as_array(std::vector<double>(s.values().begin(), s.values().end()));
        })
        .def("set", [](MarginScores& s, Vector<double> scores) {
            require(scores.size() == s.n_rows(), "one score per row is needed");
            s.set(scores.data());
        });
    bind_scores<MarginScores, MarginWeighting>(binding);
}

void bind_class_scores(nb::module_& m) {
    nb::class_<ClassScores> binding(m, "ClassScores");
    binding
        .def("__init__",
             [](ClassScores* self, const std::string& objective, const std::string& loss, Vector<std::uint16_t> classes,
                std::size_t n_classes, const RowWeights& weights) {
                 new (self) ClassScores(class_objective_named(objective), loss_or_none(loss), as_vector(classes), n_classes,
                                        weights);
             },
             nb::arg("objective"), nb::arg("loss"), nb::arg("classes"), nb::arg("n_classes"), nb::arg("weights"),
             nb::keep_alive<1, 6>())
        .def("values", [](const ClassScores& s) { return in_units(s.values(), s.n_rows() * s.n_classes()); })
        .def("margins", [](const ClassScores& s) { return in_units(s.margins().data(), s.margins().size()); })
        .def("set", [](ClassScores& s, Vector<double> scores, Vector<double> margins) {
            require(scores.size() == s.n_rows() * s.n_classes() && margins.size() == s.margins().size(),
                    "one score per row and class is needed, and with maxsum one margin per row");
            s.set(scores.data(), margins.data());
        });
    bind_scores<ClassScores, ClassWeighting>(binding);
}

void bind_columns(nb::module_& m) {
    nb::class_<HypothesisColumns>(m, "HypothesisColumns")
        .def(nb::init<std::size_t, std::size_t>(), nb::arg("n_rows"), nb::arg("n_classes") = 2)
        .def_prop_ro("n_slots", &HypothesisColumns::n_slots)
        .def_prop_ro("n_classes", &HypothesisColumns::n_classes)
        .def("take_slot", &HypothesisColumns::take_slot)
        .def("release", &HypothesisColumns::release)
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
        .def("add_leaves",
             [](HypothesisColumns& c, Vector<std::int32_t> leaf, Vector<double> numbers, int n_threads) {
                 require(leaf.size() == c.n_rows(), "one leaf per row is needed");
                 const std::size_t n_leaves = numbers.size() / c.width();
                 for (std::size_t i = 0; i < leaf.size(); ++i)
                     require(leaf.data()[i] >= 0 && static_cast<std::size_t>(leaf.data()[i]) < n_leaves,
                             "a leaf is out of range");
                 std::vector<std::int32_t> table(numbers.size()), same(n_leaves);
                 for (std::size_t k = 0; k < table.size(); ++k) {
                     require(std::fabs(numbers.data()[k]) <= 1.0, "the numbers of leaves must lie in [-1, 1]");
                     table[k] = static_cast<std::int32_t>(std::llrint(numbers.data()[k] * kValueGrid));
                 }
                 std::iota(same.begin(), same.end(), 0);
                 return c.add_leaves(leaf.data(), same.data(), table, n_threads);
             },
             nb::arg("leaf_of_row"), nb::arg("numbers"), nb::arg("n_threads"))
        .def("predictions", [](const HypothesisColumns& c, std::size_t slot) {
            std::vector<double> out(c.n_rows() * (c.n_classes() == 2 ? 1 : c.n_classes()));
            c.predictions(slot, out.data());
            return as_array(std::move(out));
        });
}

}  // namespace

void bind_rows(nb::module_& m) {
    bind_weights(m);
    bind_margin_scores(m);
    bind_class_scores(m);
    bind_weighting(m);
    bind_columns(m);
}

}  // namespace radboost
