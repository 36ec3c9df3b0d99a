// Trees grown by frontiers: some nodes at a time are measured, what all workers have measured is added up, the splits are
// chosen, and the nodes' rows divided.
//
// Where this process has all rows, a frontier is one node or the two children of one: depth first keeps few histograms,
// subtrees go to a thread each, and the columns of a node are measured and chosen from one after the other. With several
// workers a frontier is a whole layer (best first: two children), so that the workers meet a few times per layer; every
// decision follows from sums over all workers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/collective.hpp"
#include "data/binning.hpp"
#include "growth/growth_options.hpp"
#include "growth/growth_target.hpp"
#include "growth/tree_node.hpp"
#include "search/column_draws.hpp"
#include "search/partition.hpp"
#include "search/statistics.hpp"

namespace radboost {

// What the growers of one tree share: the rows, of which every node has a range, and the labels of the leaves.
struct SharedRows {
    LargeArray<std::uint32_t> rows, scratch;
    std::int32_t* leaf_of_row = nullptr;
    std::atomic<std::size_t> n_labels{0};
};

class NodeGrower {
public:
    // Keeps references.
    NodeGrower(const BinnedData& data, const GrowthTarget& target, const GrowthOptions& options, const RowMasses& masses,
               SharedRows& shared);

    // Grows a tree on `count` rows, the first of shared.rows, or all rows when `all`. Rows of the last layer get the label
    // of their leaf at once, where that is possible; the others lie in the ranges of their leaves.
    void grow(bool all, std::size_t count, std::uint64_t key, InterruptCheck check);
    // What growing has left: every node, in any order.
    struct WorkNode : TreeNode {
        Node node;  // its rows are shared.rows[begin, begin + rows.count), or all rows before the first split
        std::size_t begin = 0;
        std::unique_ptr<NodeHistograms> histograms;

        std::size_t n_rows() const { return node.rows.count; }  // of this worker
    };
    const std::vector<WorkNode>& nodes() const { return nodes_; }

private:
    using Frontier = std::vector<std::size_t>;  // places in nodes_
    // What a worker brings to the division of a node.
    struct Division {
        std::size_t left_rows;  // of this worker
        std::int64_t left_count, missing_count, left_mass;
    };
    // One column of one node, and where its table begins.
    struct AskedColumn {
        std::size_t node, column;  // place in nodes_
        std::size_t offset = 0;
    };

    void plant(bool all, std::size_t count, std::uint64_t key);
    void open_leaves(std::size_t first, Frontier& open);
    void take_frontier(Frontier& open, bool by_threads);
    void grow_by_frontiers(Frontier& open, InterruptCheck check);
    void split_pair();

    SplitSearch search_of(const WorkNode& node) const;
    // The columns that a node may ask about: how many, all of them, and some that are drawn.
    std::size_t n_columns(const TreeNode& node) const { return node.scope ? node.scope->allowed.size() : data_.n_columns; }
    ColumnSet all_columns(const TreeNode& node) const {
        return {node.scope ? node.scope->allowed.data() : nullptr, n_columns(node)};
    }
    std::vector<std::uint32_t> draw_columns(const TreeNode& node, std::uint64_t key, std::size_t first, std::size_t last) {
        return node.scope ? draws_.draw(node.scope->allowed, key, first, last) : draws_.draw(key, first, last);
    }
    void search(WorkNode& node);
    void search_together(const Frontier& frontier);
    Split search_pair_together(ColumnSet columns, std::size_t excluded, const SplitSearch& search);
    template <class Choose>
    void measure_columns(std::vector<AskedColumn>& asked, std::size_t together, Choose&& choose);

    void divide(const Frontier& frontier, bool last_layer);
    void place_other_categories(const Frontier& frontier);
    Division send_rows(const WorkNode& parent, bool in_place);
    void add_children(std::size_t index, const Division& division, bool last_layer, bool in_place);

    bool wants_histogram(const WorkNode& node) const;
    void build(WorkNode& node);
    std::unique_ptr<NodeHistograms> lend();
    void give_back(WorkNode& node);
    void give_children_histograms(WorkNode& parent, WorkNode& left, WorkNode& right);

    std::size_t n_cells(const Frontier& open) const;
    bool small_enough(const Frontier& open) const;
    void grow_subtrees(Frontier& open);
    void grow_subtree(WorkNode&& root);

    const BinnedData& data_;
    const GrowthTarget& target_;
    const GrowthOptions& options_;
    const RowMasses& masses_;
    SharedRows& shared_;
    const Collective& collective_;
    bool alone_;
    int n_threads_;
    std::unique_ptr<NodeStatistics> statistics_;
    PairStatistics* pairs_;  // the same, where stump pairs are grown; otherwise null
    ColumnDraws draws_;
    std::vector<WorkNode> nodes_;
    std::vector<std::unique_ptr<NodeHistograms>> spare_;  // histograms to use again
    std::size_t n_lent_ = 0, most_lent_;
    std::vector<std::unique_ptr<NodeGrower>> helpers_;  // one per thread for the subtrees
    std::vector<std::int64_t> tables_;                  // of the columns that are measured together
    // Of one step, kept for their memory: trees of small data are grown in microseconds.
    Frontier frontier_, searched_;
    std::vector<Division> divisions_;
    std::vector<std::int64_t> numbers_;
};

}  // namespace radboost
