// LayerGrower: trees with random thresholds, grown layer by layer on bit masks (masks.hpp); for many rows, one worker.
// A layer takes three passes over the rows: the range of the codes in the drawn columns of every node, the weights left of
// the thresholds drawn from these ranges, and the masks of the children. When the nodes' masks have become sparse, the rows
// of each node are copied into a block of its own (packing), and each thread continues with subtrees that fit its cache.
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

// A node with the state that its layer needs.
struct LayerNode : TreeNode {
    std::size_t block = 0, mask = 0, count = 0;  // index of its Block, offset of its mask in masks_, number of rows
    std::vector<std::int64_t> sums;  // growth weight by segment of the block
    bool has_missing = false;        // some rows of the node have a missing value in the split's column
    std::vector<CodeRange> bounds;   // per column: a range that contains all codes of the node
};

// Minimum number of codes to be read for which several threads pack rows or grow subtrees.
constexpr std::size_t kCodesForThreads = 65536;

class LayerGrower {
public:
    // Keeps references. masses: sample weights as integers; empty: all 1.
    LayerGrower(const BinnedData& data, const AnswerWeighting& weighting, const GrowthOptions& options,
                const std::vector<std::int64_t>& masses);

    // True if LayerGrower supports these options and is faster than NodeGrower.
    static bool fits(const BinnedData& data, const AnswerWeighting& weighting, const GrowthOptions& options);

    // Grows on the drawn rows. draw null: on all rows; only then leaf_of_row (n_rows,) gets the label of each row's leaf.
    void grow(const RowDraw* draw, std::uint64_t key, std::int32_t* leaf_of_row, InterruptCheck check);
    // All nodes of the tree, in any order.
    const std::vector<LayerNode>& nodes() const { return nodes_; }

private:
    // The rows of one class in a block: entries [begin, end) of its arrays, and words from first_word on of its masks.
    struct BlockSegment {
        std::uint32_t class_index;
        std::size_t begin, end, first_word;
    };
    // A set of rows stored contiguously, class by class, with the codes of all columns. Initially one block has all rows.
    struct Block {
        std::vector<BlockSegment> segments;
        const std::uint8_t* codes = nullptr;
        std::size_t stride = 0;  // distance between columns in `codes`
        const std::uint32_t* weights = nullptr;
        const std::uint32_t* rows = nullptr;  // row of each entry; null: entry i is row i
        std::size_t n_words = 0;  // of a mask of the block

        const std::uint8_t* column(std::size_t c) const { return codes + c * stride; }
    };
    struct Storage {
        LargeArray<std::uint8_t> codes;
        LargeArray<std::uint32_t> weights, rows;
    };
    // Task of a pass: words [begin, end) of a segment of a node.
    struct Piece {
        std::size_t node;  // index in the list of nodes of the pass
        std::size_t segment, begin, end;
    };
    // State of the search of one node.
    struct Asked {
        std::size_t node = 0;  // index in nodes_
        std::vector<std::uint32_t> columns;
        std::vector<CodeRange> ranges;  // of the node's codes, per column
        std::vector<ColumnCut> cuts;  // random cuts, for the columns that are not constant
        std::vector<std::uint32_t> cut_columns;  // index in `columns` of each cut
        std::vector<std::int64_t> left, missing;  // growth weights, shape (n_cuts, n_segments)
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
    std::atomic<std::size_t>* n_labels_ = nullptr;  // number of labels in use; shared by the growers of a tree
    std::atomic<std::size_t> own_labels_{0};
    std::vector<LayerNode> nodes_;
    std::vector<std::size_t> layer_;  // indices in nodes_ of the layer
    std::vector<std::unique_ptr<LayerGrower>> helpers_;  // growers of subtrees, one per thread
    std::vector<Block> blocks_;
    Storage storage_[2];  // packing reads one and fills the other
    int newest_ = 1;      // index of the storage filled last
    std::vector<MaskWord> masks_, next_masks_;
    std::vector<Piece> pieces_;
};

}  // namespace radboost
