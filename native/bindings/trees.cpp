// Binds Grower (growth/) and Forest (predict/).
#include "bindings/arrays.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings/growth.hpp"
#include "growth/rated_rounds.hpp"
#include "predict/contributions.hpp"
#include "predict/predict.hpp"

namespace radboost {
namespace {

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

template <class T>
Output<std::int32_t> forest_leaves(const Forest& forest, Matrix<T> X, int n_threads) {
    std::vector<std::int32_t> out(X.shape(0) * forest.n_trees());
    {
        nb::gil_scoped_release release;
        forest.leaves(view(X), n_threads, out.data(), check_signals);
    }
    return as_array(std::move(out));
}

template <class T>
Output<double> forest_contributions(const Forest& forest, Matrix<T> X, Vector<double> weights, Vector<double> cover,
                                    bool pairs, int n_threads) {
    require(weights.size() == forest.n_trees(), "one weight per tree is needed");
    require(cover.size() == forest.n_nodes(), "one cover per node is needed");
    const std::size_t size = forest.n_features() + 1, block = pairs ? size * size : size;
    require(X.shape(0) <= (std::size_t{1} << 60) / forest.n_outputs() / block, "more numbers than memory can hold");
    std::vector<double> out(X.shape(0) * forest.n_outputs() * block);
    {
        nb::gil_scoped_release release;
        contributions(forest, view(X), weights.data(), cover.data(), pairs, n_threads, out.data(), check_signals);
    }
    return as_array(std::move(out));
}

// Arrays of the tree after n_splits splits, see tree_arrays.
auto grown_arrays(const Grower& g, std::size_t n_splits) {
    const GrownTree& tree = g.tree();
    return tree_arrays(g.data(), tree.nodes, tree.category_sets, tree.answers(n_splits), tree.n_channels == 1,
                       g.mass_scale());
}

// The same for a rated tree (GrownTree::rated), see number_arrays.
auto rated_arrays(const Grower& g, const std::vector<GrownNode>& nodes, const std::vector<CategorySet>& category_sets,
                  const std::vector<std::int32_t>& ratings, std::size_t n_splits) {
    std::vector<double> values(ratings.size());
    for (std::size_t k = 0; k < ratings.size(); ++k) values[k] = static_cast<double>(ratings[k]) / kValueGrid;
    return number_arrays(g.data(), nodes, category_sets, values, g.tree().n_answers(), 2 * n_splits + 1, g.mass_scale());
}

using Price = nb::typed<nb::callable, double(std::size_t, std::int64_t)>;

// Rounds as tuples: splits and their bits, the step, sums of loss, slope and error after it, and the arrays of the tree; None
// for one without a step.
template <class Scores, class Weighting>
void bind_making(nb::class_<RatedRounds>& binding) {
    binding.def("__init__",
                [](RatedRounds* self, Grower& grower, Scores& scores, Weighting& weighting, Vector<std::int64_t> bits,
                   Price price, double learning_rate, double grid, bool is_signed) {
                    const auto its = [price](std::size_t n_splits, std::int64_t of_splits) {
                        nb::gil_scoped_acquire gil;
                        return nb::cast<double>(price(n_splits, of_splits));
                    };
                    require(scores.n_rows() == grower.data().n_rows && bits.size() == grower.data().n_columns,
                            "the grower has other rows or columns");
                    new (self) RatedRounds(grower, scores, weighting, as_vector(bits), its,
                                           {learning_rate, grid, is_signed, grower.n_threads()});
                },
                nb::arg("grower"), nb::arg("scores"), nb::arg("weighting"), nb::arg("bits"), nb::arg("price"), nb::kw_only(),
                nb::arg("learning_rate"), nb::arg("grid"), nb::arg("is_signed"), nb::keep_alive<1, 2>(),
                nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
}

nb::typed<nb::list, nb::object> make_rounds(RatedRounds& rounds, std::uint64_t first, std::size_t most, double slope, double last_step) {
    std::vector<RatedRound> made;
    {
        nb::gil_scoped_release release;
        made = rounds.make(first, most, slope, last_step, check_signals);
    }
    nb::list out;
    for (const RatedRound& one : made) {
        if (one.eta == 0)
            out.append(nb::none());
        else
            out.append(nb::make_tuple(
                one.n_splits, one.bits, one.eta, one.sums.loss, one.sums.slope, one.sums.error,
                rated_arrays(rounds.grower(), one.nodes, one.category_sets, one.ratings, one.n_splits)));
    }
    return nb::typed<nb::list, nb::object>(std::move(out));
}

std::vector<CategorySet> as_sets(Vector<std::uint64_t> words) {
    require(words.size() % 4 == 0, "a set of categories has four words");
    std::vector<CategorySet> sets(words.size() / 4);
    for (std::size_t i = 0; i < words.size(); ++i) sets[i / 4].words[i % 4] = words.data()[i];
    return sets;
}

}  // namespace

void bind_trees(nb::module_& m) {
    nb::class_<Grower>(m, "Grower")
        .def("__init__",
             [](Grower* self, const BinnedData& data, const AnswerWeighting& weighting, const std::string& growth,
                const std::string& criterion, int max_depth, std::size_t max_leaves, std::size_t max_features,
                double subsample, bool random_thresholds, double minimum_leaf_weight, std::uint64_t seed,
                int n_threads, bool rated, std::optional<Vector<std::int8_t>> directions, const Groups& groups,
                std::size_t most_columns) {
                 GrowthOptions options =
                     growth_options(growth, criterion, max_depth, max_leaves, max_features, subsample, random_thresholds,
                                    minimum_leaf_weight, seed, n_threads);
                 options.interactions = {groups, most_columns};
                 nb::gil_scoped_release release;
                 new (self) Grower(data,
                                   class_target(weighting, options.criterion, rated,
                                                directions ? as_vector(*directions) : std::vector<std::int8_t>()),
                                   options);
             },
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::arg("data"), nb::arg("weighting"), nb::kw_only(),
             nb::arg("growth"), nb::arg("criterion"), nb::arg("max_depth"), nb::arg("max_leaves"),
             nb::arg("max_features"), nb::arg("subsample"), nb::arg("random_thresholds"),
             nb::arg("minimum_leaf_weight"), nb::arg("seed"), nb::arg("n_threads"), nb::arg("rated") = false,
             nb::arg("directions") = nb::none(), nb::arg("groups") = Groups(), nb::arg("most_columns") = 0)
        .def("grow",
             [](Grower& g, std::uint64_t round) {
                 {
                     nb::gil_scoped_release release;
                     g.grow(round, check_signals);
                 }
                 return std::make_pair(g.tree().candidate_splits, g.tree().candidate_edges);
             })
        .def("split_columns", [](const Grower& g) { return g.tree().split_columns(); })
        .def("tree", &grown_arrays)
        .def("rated_tree",
             [](const Grower& g, std::size_t n_splits) {
                 const GrownTree& tree = g.tree();
                 return rated_arrays(g, tree.nodes, tree.category_sets, tree.ratings(n_splits), n_splits);
             })
        .def("store_rated",
             [](const Grower& g, std::size_t n_splits, HypothesisColumns& columns) {
                 nb::gil_scoped_release release;
                 return g.tree().store_rated(n_splits, columns, g.n_threads());
             })
        .def("store", [](const Grower& g, std::size_t n_splits, HypothesisColumns& columns, std::size_t slot) {
            nb::gil_scoped_release release;
            g.tree().store(n_splits, columns, slot, g.n_threads());
        });
    nb::class_<RatedRounds> rounds(m, "RatedRounds");
    bind_making<MarginScores, MarginWeighting>(rounds);
    bind_making<ClassScores, ClassWeighting>(rounds);
    rounds.def("make", &make_rounds, nb::arg("first"), nb::arg("most"), nb::arg("slope"), nb::arg("last_step"));
    nb::class_<Forest>(m, "Forest")
        .def("__init__",
             [](Forest* self, Vector<std::int64_t> offsets, Vector<std::int32_t> features, Vector<double> thresholds,
                Vector<std::int32_t> left, Vector<std::uint8_t> missing_left, Vector<double> values,
                std::size_t n_features, std::size_t n_outputs, std::optional<Vector<std::int64_t>> category_nodes,
                std::optional<Vector<std::uint64_t>> category_sets, std::optional<Vector<double>> vectors) {
                 new (self) Forest(as_vector(offsets), as_vector(features), as_vector(thresholds), as_vector(left),
                                   as_vector(missing_left), as_vector(values), n_features, n_outputs,
                                   category_nodes ? as_vector(*category_nodes) : std::vector<std::int64_t>(),
                                   category_sets ? as_sets(*category_sets) : std::vector<CategorySet>(),
                                   vectors ? as_vector(*vectors) : std::vector<double>());
             },
             nb::arg("tree_offsets"), nb::arg("features"), nb::arg("thresholds"), nb::arg("left"),
             nb::arg("missing_left"), nb::arg("values"), nb::arg("n_features"), nb::arg("n_outputs") = 1,
             nb::arg("category_nodes") = nb::none(), nb::arg("category_sets") = nb::none(),
             nb::arg("vectors") = nb::none())
        .def_prop_ro("n_outputs", &Forest::n_outputs)
        .def("scores", &forest_scores<float>)
        .def("scores", &forest_scores<double>)
        .def("tree_values", &forest_values<float>)
        .def("tree_values", &forest_values<double>)
        .def("leaves", &forest_leaves<float>)
        .def("leaves", &forest_leaves<double>)
        .def("contributions", &forest_contributions<float>)
        .def("contributions", &forest_contributions<double>);
}

}  // namespace radboost
