// Trees grown on the weights of one round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "data/binning.hpp"
#include "growth/grown_tree.hpp"
#include "search/histogram.hpp"
#include "rows/weighting.hpp"
#include "search/statistics.hpp"

namespace radboost {

enum class Growth {
    layers,      // every leaf with a useful split is split, one layer after the other
    best_first,  // the leaf with the largest gain is split next
    stump_pair   // a stump, then one question asked at both of its leaves
};

struct GrowthOptions {
    Growth growth = Growth::layers;
    Criterion criterion = Criterion::edge;
    int max_depth = 1;
    std::size_t max_leaves = 0;    // best_first only; 0: no limit but the depth
    std::size_t max_features = 0;  // columns looked at per node; 0: all
    double subsample = 1.0;        // share of the rows (drawn by content) that a tree is grown on
    bool random_thresholds = false;
    double minimum_leaf_weight = 0.0;
    std::uint64_t seed = 0;
    int n_threads = 1;
};

class LayerGrower;
class NodeGrower;
struct RowDraw;
struct RowMasses;
struct SharedRows;
struct TreeNode;

class TreeGrower {
public:
    // Keeps references to `data` and `state`, whose rows must be sorted by class.
    TreeGrower(const BinnedData& data, const AnswerWeighting& state, const GrowthOptions& options);
    ~TreeGrower();
    TreeGrower(const TreeGrower&) = delete;
    TreeGrower& operator=(const TreeGrower&) = delete;

    // Adapts to other rows: `data` and `state` hold another problem with the same columns and classes by now.
    void retarget();
    // Grows one tree on the current weights; round names the draws.
    void grow(std::uint64_t round, InterruptCheck check);

    const GrownTree& tree() const { return tree_; }
    double mass_scale() const { return mass_scale_; }
    int n_threads() const { return options_.n_threads; }
    const BinnedData& data() const { return data_; }

private:
    RowDraw row_draw(std::uint64_t round) const;
    std::size_t list_rows(std::uint64_t round);
    std::uint64_t root_key(std::uint64_t round) const;
    void grow_nodes(std::uint64_t round, InterruptCheck check);
    template <class Nodes>
    void collect(const Nodes& nodes);
    void number_nodes();
    template <bool kCategories>
    std::int32_t leaf_of(const std::uint8_t* codes) const;
    void place_all_rows();
    void sum_leaves();

    const BinnedData& data_;
    const AnswerWeighting& state_;
    GrowthOptions options_;
    std::unique_ptr<RowMasses> masses_;
    double mass_scale_ = 1;
    std::vector<std::uint64_t> hashes_;  // of the rows, when they are sampled
    std::unique_ptr<SharedRows> shared_;
    std::unique_ptr<LayerGrower> layers_;   // where it can grow such trees,
    std::unique_ptr<NodeGrower> by_nodes_;  // or this one
    std::vector<TreeNode> nodes_;           // by label
    GrownTree tree_;
};

}  // namespace radboost
