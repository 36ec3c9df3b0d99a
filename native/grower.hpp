// Trees grown on the weights of one round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "binning.hpp"
#include "grown_tree.hpp"
#include "histogram.hpp"
#include "partition.hpp"
#include "state.hpp"
#include "statistics.hpp"

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

class TreeGrower {
public:
    // Keeps references to `data` and `state`, whose rows must be sorted by class.
    TreeGrower(const BinnedData& data, const BoostingState& state, const GrowthOptions& options);
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
    struct Work;  // a node while the tree grows
    struct Buffers;

    void draw_rows(std::uint64_t round);
    void plant_root(std::uint64_t round);
    SplitSearch search_of(const Work& work, std::size_t n_rows) const;
    void search(Work& work);
    bool wants_histogram(const Work& work) const;
    std::size_t parts_for(std::size_t n) const;
    void build(Work& work);
    void give_children_histograms(Work& parent, Work& left, Work& right);
    std::vector<std::uint32_t> draw_columns(std::uint64_t key, std::size_t first, std::size_t last);
    std::size_t divide(std::size_t index, bool last_layer);
    void place_other_categories(const Node& node, Split& split) const;
    void open_leaf(std::size_t index, std::vector<std::size_t>& open);
    void split_pair();
    void grow_leaf_by_leaf(std::vector<std::size_t>& open, InterruptCheck check);
    std::int64_t mass_of(const std::uint32_t* rows, std::size_t count) const;
    void number_nodes();
    template <bool kCategories>
    std::int32_t leaf_of(const std::uint8_t* codes) const;
    void place_all_rows();
    void sum_leaves();

    const BinnedData& data_;
    const BoostingState& state_;
    GrowthOptions options_;
    std::unique_ptr<NodeStatistics> statistics_;
    std::vector<std::int64_t> masses_;  // sample weights as integers; empty: every row has 1
    double mass_scale_ = 1;
    std::int64_t minimum_mass_ = 0;
    std::vector<std::uint64_t> hashes_;  // of the rows, when they are sampled
    LargeArray<std::uint32_t> rows_, scratch_;
    std::size_t n_rows_drawn_ = 0;
    std::vector<std::uint32_t> shuffled_columns_;
    std::vector<Work> works_;
    std::unique_ptr<Buffers> buffers_;
    GrownTree tree_;
};

}  // namespace radboost
