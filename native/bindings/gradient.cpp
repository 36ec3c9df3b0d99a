// Binds gradient boosting: GradientScores, GradientWeighting and RegressionTrees.
#include "growth/cut_tree.hpp"
#include "rows/gradient_scores.hpp"

#include "bindings/growth.hpp"

namespace radboost {
namespace {

// Leaf values by label, times a step.
std::vector<double> times(const CutTree& cut, double step) {
    std::vector<double> numbers(cut.by_label);
    for (double& number : numbers) number *= step;
    return numbers;
}

void require_fits(const GradientScores& state, const RegressionTrees& grower, const CutTree& cut) {
    require(state.n_rows() == grower.tree().leaf_of_row.size() &&
                cut.by_label.size() == grower.tree().nodes.size() * state.n_outputs(),
            "the tree was grown on other rows");
}

Output<double> losses_after(const GradientScores& state, const RegressionTrees& grower,
                            const std::vector<CutTree*>& cuts, Vector<double> steps, int n_threads) {
    require(cuts.size() == steps.size(), "one step per tree is needed");
    std::vector<std::vector<double>> numbers;
    std::vector<const double*> tables;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
        require_fits(state, grower, *cuts[i]);
        numbers.push_back(times(*cuts[i], steps.data()[i]));
    }
    for (const auto& own : numbers) tables.push_back(own.data());
    std::vector<double> out(cuts.size());
    {
        nb::gil_scoped_release release;
        state.losses_after(grower.tree().leaf_of_row.data(), tables.data(), tables.size(), n_threads, out.data());
    }
    return as_array(std::move(out));
}

auto cut_arrays(const RegressionTrees& grower, const CutTree& cut) {
    const std::size_t size = 2 * cut.n_splits + 1;
    require(size <= grower.tree().nodes.size(), "the tree has fewer splits");
    return number_arrays(grower.data(), grower.tree().nodes, grower.tree().category_sets, cut.values, grower.n_outputs(),
                         size, grower.mass_scale());
}

void bind_scores(nb::module_& m) {
    nb::class_<GradientScores>(m, "GradientScores")
        .def("__init__",
             [](GradientScores* self, const std::string& loss, double parameter, std::size_t n_outputs,
                Vector<double> targets, const RowWeights& weights) {
                 const LossOfTarget kernel{target_loss_named(loss), parameter, n_outputs};
                 std::vector<double> own = as_vector(targets);
                 nb::gil_scoped_release release;
                 new (self) GradientScores(kernel, std::move(own), weights);
             },
             nb::arg("loss"), nb::arg("parameter"), nb::arg("n_outputs"), nb::arg("targets"), nb::arg("weights"),
             nb::keep_alive<1, 6>())
        .def_prop_ro("n_outputs", &GradientScores::n_outputs)
        .def_prop_ro("loss", [](const GradientScores& s) { return s.sums().loss; })
        .def_prop_ro("error", [](const GradientScores& s) { return s.sums().error; })
        .def("values",
             [](const GradientScores& s) { return as_array(std::vector<double>(s.values().begin(), s.values().end())); })
        .def("set",
             [](GradientScores& s, Vector<double> scores, GradientWeighting& weighting, int n_threads) {
                 require(scores.size() == s.n_rows() * s.n_outputs(), "one score per row and output is needed");
                 nb::gil_scoped_release release;
                 s.set(scores.data(), weighting, n_threads);
             })
        .def("mean",
             [](const GradientScores& s, Vector<double> values, int n_threads) {
                 require(values.size() == s.n_rows(), "one value per row is needed");
                 nb::gil_scoped_release release;
                 return s.mean(values.data(), n_threads);
             })
        .def("losses_after", &losses_after)
        .def("along",
             [](const GradientScores& s, const RegressionTrees& grower, const CutTree& cut, double step, int n_threads) {
                 require_fits(s, grower, cut);
                 nb::gil_scoped_release release;
                 double loss = 0, slope = 0;
                 s.along({grower.tree().leaf_of_row.data(), cut.by_label.data()}, step, n_threads, &loss, &slope);
                 return std::make_pair(loss, slope);
             })
        .def("step", [](GradientScores& s, const RegressionTrees& grower, const CutTree& cut, double step,
                        GradientWeighting& weighting, int n_threads) {
            require_fits(s, grower, cut);
            const std::vector<double> numbers = times(cut, step);
            nb::gil_scoped_release release;
            s.step({grower.tree().leaf_of_row.data(), numbers.data()}, weighting, n_threads);
        });
    nb::class_<GradientWeighting, Weighting>(m, "GradientWeighting")
        .def(nb::init<const GradientScores&>(), nb::arg("scores"), nb::keep_alive<1, 2>())
        .def_prop_ro("unit", &GradientWeighting::unit)
        .def("gradients",
             [](const GradientWeighting& w) {
                 const GradientWords words = w.words();
                 std::vector<std::int64_t> out(words.words, words.words + w.n_rows() * w.n_outputs());
                 for (std::size_t i = 0; i < out.size(); i += w.n_outputs()) out[i] = words.gradient(out[i]);
                 return as_array(std::move(out));
             })
        .def("take", [](GradientWeighting& w, Vector<double> derivatives, int n_threads) {
            require(derivatives.size() == w.n_rows() * w.n_outputs(), "one derivative per row and output is needed");
            nb::gil_scoped_release release;
            w.take(derivatives.data(), n_threads);
        });
}

void bind_grower(nb::module_& m) {
    nb::class_<CutTree>(m, "CutTree")
        .def_ro("n_splits", &CutTree::n_splits)
        .def_ro("slope", &CutTree::slope)
        .def_ro("mean_square", &CutTree::mean_square);
    nb::class_<RegressionTrees>(m, "RegressionTrees")
        .def("__init__",
             [](RegressionTrees* self, const BinnedData& data, const GradientWeighting& weighting,
                std::size_t max_features, double subsample, bool random_thresholds, double minimum_leaf_weight,
                Vector<std::int8_t> directions, std::uint64_t seed, int n_threads, const Groups& groups,
                std::size_t most_columns) {
                 GrowthOptions options = growth_options("best_first", "variance", 0, 0, max_features, subsample,
                                                              random_thresholds, minimum_leaf_weight, seed, n_threads);
                 options.interactions = {groups, most_columns};
                 nb::gil_scoped_release release;
                 new (self) RegressionTrees(data, weighting, options, as_vector(directions));
             },
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::arg("data"), nb::arg("weighting"), nb::kw_only(),
             nb::arg("max_features"), nb::arg("subsample"), nb::arg("random_thresholds"),
             nb::arg("minimum_leaf_weight"), nb::arg("directions"), nb::arg("seed"), nb::arg("n_threads"),
             nb::arg("groups") = Groups(), nb::arg("most_columns") = 0)
        .def("grow",
             [](RegressionTrees& trees, std::uint64_t round, std::size_t max_splits) {
                 nb::gil_scoped_release release;
                 trees.grower().set_max_leaves(max_splits + 1);
                 trees.grower().grow(round, check_signals);
                 return trees.n_splits();
             })
        .def("cut", [](const RegressionTrees& g, std::size_t n_splits, double radius,
                       const std::string& order) { return g.cut(n_splits, radius, norm_order_named(order)); })
        .def("arrays", &cut_arrays)
        .def("answers", [](const RegressionTrees& g, const CutTree& cut) {
            // Predictions for all training rows, shape (n_rows, n_outputs), flattened.
            const std::size_t n = g.n_outputs();
            std::vector<double> out(g.data().n_rows * n);
            for (std::size_t i = 0; i < g.data().n_rows; ++i)
                for (std::size_t k = 0; k < n; ++k)
                    out[i * n + k] = cut.by_label.at(static_cast<std::size_t>(g.tree().leaf_of_row[i]) * n + k);
            return as_array(std::move(out));
        });
    m.def("project_to_unit_ball", [](Vector<double> values, Vector<double> masses, const std::string& order) {
        require(values.size() == masses.size(), "one mass per value is needed");
        for (std::size_t i = 0; i < masses.size(); ++i) require(masses.data()[i] > 0, "masses must be positive");
        std::vector<double> out = as_vector(values);
        project_to_unit_ball(out.data(), masses.data(), out.size(), norm_order_named(order));
        return as_array(std::move(out));
    });
    m.def("evaluate_target_loss", [](const std::string& loss, double parameter, Vector<double> targets,
                                     Vector<double> scores) {
        require(targets.size() > 0 && scores.size() % targets.size() == 0, "every target needs the same number of scores");
        const LossOfTarget kernel{target_loss_named(loss), parameter, scores.size() / targets.size()};
        std::vector<double> values(targets.size()), derivatives(scores.size());
        kernel.evaluate(targets.data(), scores.data(), targets.size(), values.data(), derivatives.data());
        return std::make_pair(as_array(std::move(values)), as_array(std::move(derivatives)));
    });
}

}  // namespace

void bind_gradient(nb::module_& m) {
    bind_scores(m);
    bind_grower(m);
}

}  // namespace radboost
