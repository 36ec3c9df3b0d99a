// Trees grown on the weights of one round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "binning.hpp"
#include "columns.hpp"
#include "histogram.hpp"
#include "margins.hpp"
#include "partition.hpp"
#include "split.hpp"

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

// What a node knows about itself. Nodes are numbered in the order of the splits: the children of the i-th split are
// 2 i + 1 and 2 i + 2, so that the first 2 n + 1 nodes are the tree after n splits.
struct GrownNode {
    std::int32_t left = -1;  // right is left + 1; -1: a leaf
    std::uint32_t column = 0, bin = 0;
    bool missing_left = false;
    double gain = 0;
    std::int64_t sum = 0;    // of D y over all rows, scaled by kEdgeScale
    std::int64_t cover = 0;  // sample weight of all rows, see mass_scale
};

class TreeGrower {
public:
    // Keeps references to `data` and `state`.
    TreeGrower(const BinnedData& data, const MarginState& state, const GrowthOptions& options);
    ~TreeGrower();
    TreeGrower(const TreeGrower&) = delete;
    TreeGrower& operator=(const TreeGrower&) = delete;

    // Grows one tree on the current weights; round names the draws.
    void grow(std::uint64_t round, InterruptCheck check);

    // The sizes (splits) at which the tree is a candidate, ascending, and the edge of each in [0, 1].
    const std::vector<std::int32_t>& candidate_splits() const { return candidate_splits_; }
    const std::vector<double>& candidate_edges() const { return candidate_edges_; }

    const std::vector<GrownNode>& nodes() const { return nodes_; }
    // The sign (+1, -1) that each of the first 2 n + 1 nodes has as a leaf.
    std::vector<std::int8_t> signs(std::size_t n_splits) const;
    // Stores the predictions of the tree after n splits.
    void store(std::size_t n_splits, HypothesisColumns& columns, std::size_t slot) const;
    double mass_scale() const { return mass_scale_; }
    std::size_t n_rows() const { return data_.n_rows; }
    const BinnedData& data() const { return data_; }

private:
    struct Work;  // a node while the tree grows
    struct Buffers;

    void draw_rows(std::uint64_t round);
    void search(Work& work);
    bool wants_histogram(const Work& work) const;
    RowSet rows_of(const Work& work) const;
    void build(Work& work);
    std::int64_t sum_of(const std::vector<std::uint32_t>& rows) const;
    NodeRows gather(const Work& work);
    std::size_t parts_for(std::size_t n) const;
    void give_children_histograms(Work& parent, Work& left, Work& right);
    std::vector<std::uint32_t> draw_columns(std::uint64_t key, std::size_t first, std::size_t last);
    std::size_t divide(std::size_t index, bool last_layer);
    void open_leaf(std::size_t index, std::vector<std::size_t>& open);
    void split_pair();
    Work child(const Work& parent, bool is_left, std::size_t begin, std::size_t end) const;
    std::int64_t mass_of(const std::uint32_t* rows, std::size_t count) const;
    void number_nodes();
    void place_all_rows();
    void sum_leaves();
    void list_candidates();

    const BinnedData& data_;
    const MarginState& state_;
    GrowthOptions options_;
    HistogramBuilder builder_;
    const std::int64_t* weights_ = nullptr;
    std::vector<std::int64_t> masses_;  // sample weights as integers; empty: every row has 1
    double mass_scale_ = 1;
    std::int64_t minimum_mass_ = 0;
    std::uint64_t round_key_ = 0;
    std::vector<std::uint64_t> hashes_;  // of the rows, when they are sampled
    std::vector<std::uint32_t> rows_, scratch_, shuffled_columns_;
    std::vector<std::int64_t> gathered_, gathered_masses_;
    std::vector<std::int32_t> leaf_of_row_, number_of_;
    std::vector<Work> works_;
    std::unique_ptr<Buffers> buffers_;
    std::vector<GrownNode> nodes_;
    std::vector<int> depths_;
    std::vector<std::int32_t> candidate_splits_;
    std::vector<double> candidate_edges_;
};

}  // namespace radboost
