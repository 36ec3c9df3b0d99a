// Binds WeightedTrees (growth/given_weights.hpp).
#include "growth/given_weights.hpp"

#include <memory>

#include <nanobind/stl/shared_ptr.h>

#include "bindings/growth.hpp"
#include "core/hashing.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

// A problem without its rows of zero weight. Arguments: arrays of shape (n,) over all rows; all_counts may be null.
struct Listed {
    std::vector<std::uint32_t> rows, weights;
    std::vector<std::uint16_t> classes;
    std::vector<double> counts;

    Listed(const std::uint16_t* all_classes, const std::uint32_t* all_weights, const double* all_counts, std::size_t n) {
        counts.reserve(1);  // data() must not be null, even without rows
        for (std::size_t i = 0; i < n; ++i) {
            if (all_weights[i] == 0) continue;
            rows.push_back(static_cast<std::uint32_t>(i));
            classes.push_back(all_classes[i]);
            weights.push_back(all_weights[i]);
            if (all_counts) counts.push_back(all_counts[i]);
        }
    }
    GivenRows view(bool with_counts) const {
        return {rows.data(), classes.data(), weights.data(), with_counts ? counts.data() : nullptr, rows.size()};
    }
};

using Trees = std::vector<std::shared_ptr<AnsweringTree>>;

// Grows one tree per problem. classes, weights: shape (n_problems, n_rows). counts: sample weights (n_rows,), or empty if all
// are 1; on a worker without rows one dummy entry if the other workers have counts.
Trees grow_trees(WeightedTrees& trees, CMatrix<std::uint16_t> classes, CMatrix<std::uint32_t> weights,
                 Vector<double> counts, std::uint64_t round, int n_threads) {
    const std::size_t n = trees.data().n_rows, n_problems = classes.shape(0);
    require(classes.shape(1) == n && weights.shape(1) == n && weights.shape(0) == n_problems,
            "every problem needs one class and one weight per row");
    require(counts.size() == 0 || counts.size() == n || n == 0, "one count per row is needed");
    Trees grown(n_problems);
    nb::gil_scoped_release release;
    const auto grow = [&](std::size_t k) {
        const Listed listed(classes.data() + k * n, weights.data() + k * n, counts.size() ? counts.data() : nullptr, n);
        grown[k] = std::make_shared<AnsweringTree>(
            trees.grow(listed.view(counts.size() > 0), mix(round, k), check_signals));
    };
    // Growth is a collective operation, so that several workers must grow the trees in the same order.
    if (trees.collective().alone())
        parallel_for(n_threads, n_problems, grow);
    else
        for (std::size_t k = 0; k < n_problems; ++k) grow(k);
    return grown;
}

Output<std::uint16_t> answers_of(const WeightedTrees& trees, const AnsweringTree& tree, int n_threads) {
    const std::size_t n = trees.data().n_rows, parts = row_parts(n, n_threads);
    std::vector<std::uint16_t> out(n);
    {
        nb::gil_scoped_release release;
        parallel_for(n_threads, parts, [&](std::size_t part) {
            const std::size_t begin = range_begin(n, parts, part), end = range_begin(n, parts, part + 1);
            tree.answers(trees.data(), begin, end - begin, out.data() + begin);
        });
    }
    return as_array(std::move(out));
}

}  // namespace

void bind_given_weights(nb::module_& m) {
    nb::class_<AnsweringTree>(m, "AnsweringTree").def_prop_ro("n_splits", &AnsweringTree::n_splits);
    nb::class_<WeightedTrees>(m, "WeightedTrees")
        .def("__init__",
             [](WeightedTrees* self, const BinnedData& data, std::size_t n_classes, const std::string& growth,
                const std::string& criterion, int max_depth, std::size_t max_leaves, std::size_t max_features,
                bool random_thresholds, double minimum_leaf_weight, std::uint64_t seed, int n_threads,
                const Collective* collective) {
                 new (self) WeightedTrees(data, n_classes,
                                          growth_options(growth, criterion, max_depth, max_leaves, max_features, 1.0,
                                                         random_thresholds, minimum_leaf_weight, seed, n_threads),
                                          collective ? *collective : one_worker());
             },
             nb::keep_alive<1, 2>(), nb::arg("data"), nb::arg("n_classes"), nb::kw_only(), nb::arg("growth"),
             nb::arg("criterion"), nb::arg("max_depth"), nb::arg("max_leaves"), nb::arg("max_features"),
             nb::arg("random_thresholds"), nb::arg("minimum_leaf_weight"), nb::arg("seed"), nb::arg("n_threads"),
             nb::arg("collective").none() = nb::none(), nb::keep_alive<1, 13>())
        .def("grow", &grow_trees, nb::arg("classes"), nb::arg("weights"), nb::arg("counts"), nb::arg("round"),
             nb::arg("n_threads"))
        .def("arrays",
             [](const WeightedTrees& trees, const AnsweringTree& tree) {
                 return tree_arrays(trees.data(), tree.nodes(), tree.category_sets(), tree.node_answers(),
                                    tree.n_classes() == 2, tree.mass_scale());
             })
        .def("answers", &answers_of);
}

}  // namespace radboost
