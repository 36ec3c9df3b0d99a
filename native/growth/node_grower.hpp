// NodeGrower: growth of trees of all kinds, frontier by frontier. A frontier is a set of nodes that are processed together:
// their statistics are computed, summed over the workers, splits are chosen, and rows are partitioned between the children.
// With one worker a frontier is one node, depth first, which keeps few histograms alive; large trees continue with a subtree
// per thread. With several workers it is a whole layer (one node with best-first growth), and every decision follows from
// sums over all workers. In a full search there is one all-reduce per layer, of histograms of one child of each node.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/collective.hpp"
#include "core/pool.hpp"
#include "data/binning.hpp"
#include "growth/growth_options.hpp"
#include "growth/growth_target.hpp"
#include "growth/tree_node.hpp"
#include "search/column_draws.hpp"
#include "search/partition.hpp"
#include "search/statistics.hpp"

namespace radboost {

// State that the growers of one tree (one per thread) share.
struct SharedRows {
    LargeArray<std::uint32_t> rows, scratch;  // row indices, of which every node has a range; buffer of partitions
    std::int32_t* leaf_of_row = nullptr;      // label of each row's leaf, shape (n_rows,)
    std::atomic<std::size_t> n_labels{0};     // labels in use
};

class NodeGrower {
public:
    // Keeps references.
    NodeGrower(const BinnedData& data, const GrowthTarget& target, const GrowthOptions& options, const RowMasses& masses,
               SharedRows& shared);

    // Grows a tree on the first `count` entries of shared.rows, or on all rows if `all`. Rows of leaves in the last layer may
    // only have their label in leaf_of_row; those of other leaves are in the ranges of their leaves.
    void grow(bool all, std::size_t count, std::uint64_t key, InterruptCheck check);
    // Result of a split: rows and sample weight that go left, and rows with missing values; of one worker or of all.
    struct Division {
        std::int64_t left_count, missing_count, left_mass;
    };
    // A node of the tree; nodes() has all, in any order.
    struct WorkNode : TreeNode {
        Node node;  // its rows are shared.rows[begin ... begin + rows.count - 1]; of the root maybe all rows
        std::size_t begin = 0;
        std::unique_ptr<NodeHistograms> histograms;  // over the rows of all workers; null if not in use
        std::unique_ptr<NodeHistograms> own;         // several workers: over the rows of this one
        std::optional<Division> division;            // over all workers' rows, if the search for the split has computed it

        std::size_t n_rows() const { return node.rows.count; }  // of this worker
    };
    const std::vector<WorkNode>& nodes() const { return nodes_; }

private:
    using Frontier = std::vector<std::size_t>;  // indices in nodes_
    // Maximum number of int64 in one all-reduce.
    static constexpr std::size_t kMostNumbers = std::size_t{1} << 24;
    // A division that is not yet summed over the workers.
    struct OwnDivision {
        std::size_t parent, left_child;  // indices in nodes_
        Division own;                    // of this worker's rows
    };
    // A child whose histograms are summed over the workers; its sibling's are the parent's minus these.
    struct SentChild {
        std::size_t parent, child, sibling;  // indices in nodes_
    };
    // A column of a node that is to be searched.
    struct AskedColumn {
        std::size_t node, column;    // index in nodes_, and the column
        std::size_t offset = 0;      // of its numbers in the array that is summed over the workers
        std::size_t first_code = 0;  // offset of its codes in codes_
        DrawnCut cut{};
    };
    // The best split of a node so far, and how it divides the rows of all workers.
    struct Choice {
        BestSplit best;
        std::optional<Division> division;
    };

    void plant(bool all, std::size_t count, std::uint64_t key);
    void open_leaves(std::size_t first, Frontier& open);
    void take_frontier(Frontier& open, bool by_threads);
    void grow_by_frontiers(Frontier& open, InterruptCheck check);
    void split_pair();

    SplitSearch search_of(const WorkNode& node) const;
    // The columns on which a node may split (interaction constraints): their number, all of them, and a random subset.
    std::size_t n_columns(const TreeNode& node) const { return node.scope ? node.scope->allowed.size() : data_.n_columns; }
    ColumnSet all_columns(const TreeNode& node) const {
        return {node.scope ? node.scope->allowed.data() : nullptr, n_columns(node)};
    }
    std::vector<std::uint32_t> draw_columns(const TreeNode& node, std::uint64_t key, std::size_t first, std::size_t last) {
        return node.scope ? draws_.draw(node.scope->allowed, key, first, last) : draws_.draw(key, first, last);
    }
    void search(WorkNode& node);
    // Runs body(k, n_threads) for k = 0 ... n - 1: many nodes with one thread each, few nodes in sequence with all threads.
    template <class Body>
    void for_each_node(std::size_t n, Body&& body) const {
        if (n_threads_ > 1 && n >= 2 * static_cast<std::size_t>(n_threads_))
            parallel_for(n_threads_, n, [&](std::size_t k) { body(k, 1); });
        else
            for (std::size_t k = 0; k < n; ++k) body(k, n_threads_);
    }
    void search_layer(const Frontier& frontier);
    void search_together(const Frontier& frontier);
    void choose_from_tables(std::vector<AskedColumn>& asked, const std::vector<std::size_t>& place_of_node,
                            std::vector<Choice>& choices);
    void choose_from_draws(std::vector<AskedColumn>& asked, const std::vector<std::size_t>& place_of_node,
                           std::vector<Choice>& choices);
    std::optional<Division> division_of(const Split& split, const ColumnTable& table) const;
    Split search_pair_together(ColumnSet columns, std::size_t excluded, const SplitSearch& search);
    template <class Choose>
    void measure_columns(std::vector<AskedColumn>& asked, std::size_t together, Choose&& choose);

    void divide(const Frontier& frontier, bool last_layer);
    void place_other_categories(const Frontier& frontier);
    Division send_rows(const WorkNode& parent, bool in_place, int n_threads) const;
    void add_children(std::size_t index, const Division& division, bool last_layer, bool in_place);
    void count_children(std::size_t index, std::size_t left, const Division& division);

    // True if all columns and thresholds are searched; only then histograms are faster than reading the rows.
    bool full_search() const {
        return options_.max_features == 0 && !options_.random_thresholds && options_.growth != Growth::stump_pair;
    }
    bool wants_histogram(const WorkNode& node) const;
    void build(const WorkNode& node, NodeHistograms& out, int n_threads);
    std::unique_ptr<NodeHistograms> lend();
    void give_back(std::unique_ptr<NodeHistograms>& histograms);
    void give_back(WorkNode& node);
    void give_children_histograms(WorkNode& parent, WorkNode& left, WorkNode& right);
    // Only with several workers:
    std::size_t add_up_children(const Frontier& frontier, std::size_t begin, std::size_t first_child, bool last_layer);
    void choose_sent(std::size_t parent, std::size_t left);
    void build_own(const SentChild& sent, int n_threads);
    void take_sums(const SentChild& sent, const std::int64_t* words);
    bool may_search(std::size_t left_child) const;
    void add_up();
    void sum_numbers();

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
    bool share_histograms_;  // nodes' histograms are summed over several workers
    int n_threads_;
    std::unique_ptr<NodeStatistics> statistics_;
    PairStatistics* pairs_;  // statistics_ if stump pairs are grown; otherwise null
    ColumnDraws draws_;
    std::vector<WorkNode> nodes_;
    std::vector<std::unique_ptr<NodeHistograms>> spare_;  // unused histograms, for reuse of their memory
    std::size_t n_lent_ = 0, most_lent_;                // histograms in use, and their maximum
    std::vector<std::unique_ptr<NodeGrower>> helpers_;  // growers of subtrees, one per thread
    std::vector<std::int64_t> tables_;                  // ColumnTables that are summed over the workers
    // Buffers of single steps, kept because small trees are grown in microseconds:
    Frontier frontier_, searched_;
    std::vector<Division> divisions_;
    std::vector<SentChild> sent_;
    std::vector<OwnDivision> pending_;
    std::vector<double> presence_;
    LargeArray<std::uint8_t> codes_;
    std::vector<std::int64_t> numbers_;
    std::size_t n_words_ = 0;  // words of a node's histograms, see histogram_words.hpp
};

}  // namespace radboost
