// Trees with drawn thresholds, grown a layer at a time on masks (see masks.hpp).
//
// Three sweeps a layer: the range of the codes in the drawn columns of every node, the weights left of the thresholds drawn
// from these, and the masks of the children. When the nodes have become thin among the rows that a sweep passes, their
// rows are packed together, and each thread goes on with a subtree of its own, whose rows stay in its cache.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "data/binning.hpp"
#include "search/column_draws.hpp"
#include "growth/growth_options.hpp"
#include "search/masks.hpp"
#include "search/statistics.hpp"
#include "growth/tree_node.hpp"

namespace radboost {

// A node, and what is known of it while its layer is worked on.
struct LayerNode : TreeNode {
    std::size_t block = 0, mask = 0, count = 0;
    std::vector<std::int64_t> sums;  // by segment of the block
    bool has_missing = false;        // some of the node's rows have no value in the split's column
    std::vector<CodeRange> bounds;   // what is known of the codes in each column
};

// Codes to be read, at least, before threads are woken to pack rows or to grow subtrees.
constexpr std::size_t kCodesForThreads = 65536;

class LayerGrower {
public:
    // Keeps references. `masses`: sample weights as integers, empty where every row has 1.
    LayerGrower(const BinnedData& data, const AnswerWeighting& weighting, const GrowthOptions& options,
                const std::vector<std::int64_t>& masses);

    // Whether trees of this kind can be grown so, and faster than node by node.
    static bool fits(const BinnedData& data, const AnswerWeighting& weighting, const GrowthOptions& options);

    // Grows on the drawn rows; null: on all, and then the label of each row's leaf is written to leaf_of_row.
    void grow(const RowDraw* draw, std::uint64_t key, std::int32_t* leaf_of_row, InterruptCheck check);
    // What growing has left: every node, in any order.
    const std::vector<LayerNode>& nodes() const { return nodes_; }

private:
    // The rows of one class in a block: the indices [begin, end), and where its words begin in a mask.
    struct BlockSegment {
        std::uint32_t class_index;
        std::size_t begin, end, first_word;
    };
    // Rows that lie together, class by class, with the codes of all columns.
    struct Block {
        std::vector<BlockSegment> segments;
        const std::uint8_t* codes = nullptr;
        std::size_t stride = 0;  // between columns
        const std::uint32_t* weights = nullptr;
        const std::uint32_t* rows = nullptr;  // null: the indices are the rows
        std::size_t n_words = 0;

        const std::uint8_t* column(std::size_t c) const { return codes + c * stride; }
    };
    struct Storage {
        LargeArray<std::uint8_t> codes;
        LargeArray<std::uint32_t> weights, rows;
    };
    // What one task of a sweep looks at: some words of a segment of a node.
    struct Piece {
        std::size_t node;  // index in the list that is swept
        std::size_t segment, begin, end;
    };
    // The search of one node.
    struct Asked {
        std::size_t node = 0;  // in nodes_
        std::vector<std::uint32_t> columns;
        std::vector<CodeRange> ranges;
        std::vector<ColumnCut> cuts;  // for the columns that can be cut
        std::vector<std::uint32_t> cut_columns;
        std::vector<std::int64_t> left, missing;  // by cut and segment
    };

    void plant(const RowDraw* draw, std::uint64_t key);
    void grow_layers(std::size_t n_fresh, InterruptCheck check);
    void grow_subtrees(InterruptCheck check);
    void grow_subtree(LayerGrower& grower, std::size_t k, InterruptCheck check);
    void search_layer();
    void find_ranges(std::vector<Asked>& asked);
    void draw_cuts(Asked& asked);
    void find_sums(std::vector<Asked>& asked);
    void choose(const Asked& asked);
    void divide_layer();
    std::int64_t mass_of(const Block& block, const BlockSegment& segment, const MaskWord* mask, std::size_t begin,
                         std::size_t end) const;
    std::size_t n_asked() const { return options_.max_features == 0 ? data_.n_columns : options_.max_features; }
    bool worth_packing() const;
    void pack_layer();
    void pack_column(const LayerNode& node, const Block& from, const Block& to, std::size_t column, std::size_t offset);
    void mark_all_rows(LayerNode& node);
    void label(const std::vector<std::size_t>& leaves);
    void list_pieces(const std::vector<std::size_t>& nodes);
    template <class Body>
    void sweep(std::size_t columns, Body&& body);
    const MaskWord* words(const LayerNode& node, const BlockSegment& segment, std::size_t begin) const {
        return masks_.data() + node.mask + segment.first_word + begin;
    }

    const BinnedData& data_;
    const AnswerWeighting& weighting_;
    const GrowthOptions& options_;
    const std::vector<std::int64_t>& masses_;
    int n_threads_;
    ColumnDraws draws_;
    std::int32_t* leaf_of_row_ = nullptr;
    std::atomic<std::size_t>* n_labels_ = nullptr;  // shared by the growers of a tree
    std::atomic<std::size_t> own_labels_{0};
    std::vector<LayerNode> nodes_;
    std::vector<std::size_t> layer_;  // of the nodes_: those that are searched now
    std::vector<std::unique_ptr<LayerGrower>> helpers_;  // one per thread for the subtrees
    std::vector<Block> blocks_;
    Storage storage_[2];  // packing anew reads one and fills the other
    int newest_ = 1;
    std::vector<MaskWord> masks_, next_masks_;
    std::vector<Piece> pieces_;
};

}  // namespace radboost
