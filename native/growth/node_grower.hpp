// Trees grown one node after the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "data/binning.hpp"
#include "search/column_draws.hpp"
#include "growth/grower.hpp"
#include "search/statistics.hpp"
#include "growth/tree_node.hpp"

namespace radboost {

// Sample weights as integers: empty where every row has 1. `minimum` is asked of both children.
struct RowMasses {
    std::vector<std::int64_t> of_row;
    std::int64_t minimum = 0;

    std::int64_t sum(const RowSet& rows) const;
};

// What the growers of one tree share: the rows, of which every node has a range, and the labels of the leaves.
struct SharedRows {
    LargeArray<std::uint32_t> rows, scratch;
    std::int32_t* leaf_of_row = nullptr;
    std::atomic<std::size_t> n_labels{0};
};

class NodeGrower {
public:
    // Keeps references.
    NodeGrower(const BinnedData& data, StatisticsMaker make_statistics, const GrowthOptions& options,
               const RowMasses& masses, SharedRows& shared);

    // Grows a tree on `count` rows, the first of shared.rows, or all rows when `all`. Rows of the last layer get the label
    // of their leaf at once, where that is possible; the others lie in the ranges of their leaves.
    void grow(bool all, std::size_t count, std::uint64_t key, InterruptCheck check);
    // What growing has left: every node, in any order.
    struct WorkNode : TreeNode {
        Node node;  // its rows are shared.rows[begin, begin + count), or all rows before the first split
        std::size_t begin = 0;
        std::unique_ptr<NodeHistograms> histograms;

        std::size_t count() const { return node.rows.count; }
    };
    const std::vector<WorkNode>& nodes() const { return nodes_; }

private:
    void plant(bool all, std::size_t count, std::uint64_t key);
    SplitSearch search_of(const WorkNode& node, std::size_t n_rows) const;
    bool wants_histogram(const WorkNode& node) const;
    void build(WorkNode& node);
    std::unique_ptr<NodeHistograms> lend();
    void give_back(WorkNode& node);
    void search(WorkNode& node);
    void give_children_histograms(WorkNode& parent, WorkNode& left, WorkNode& right);
    void place_other_categories(const Node& node, Split& split) const;
    std::size_t divide(std::size_t index, bool last_layer);
    void open_leaf(std::size_t index, std::vector<std::size_t>& open);
    void split_pair();
    void grow_leaf_by_leaf(std::vector<std::size_t>& open, InterruptCheck check);
    std::size_t n_cells(const std::vector<std::size_t>& open) const;
    bool small_enough(const std::vector<std::size_t>& open) const;
    void grow_subtrees(std::vector<std::size_t>& open);
    void grow_subtree(WorkNode&& root);

    const BinnedData& data_;
    StatisticsMaker make_statistics_;
    const GrowthOptions& options_;
    const RowMasses& masses_;
    SharedRows& shared_;
    int n_threads_;
    std::unique_ptr<NodeStatistics> statistics_;
    ColumnDraws draws_;
    std::vector<WorkNode> nodes_;
    std::vector<std::unique_ptr<NodeHistograms>> spare_;  // histograms to use again
    std::size_t n_lent_ = 0, most_lent_;
    std::vector<std::unique_ptr<NodeGrower>> helpers_;  // one per thread for the subtrees
};

}  // namespace radboost
