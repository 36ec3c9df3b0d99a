// Part of LayerGrower: packing, which copies the rows of each node of a layer to its own block when masks are sparse.
#include <algorithm>
#include <cmath>

#include "growth/layer_grower.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

// Masks count as sparse when a pass reads more than this many times the mask words that packed rows would take.
constexpr std::size_t kMinimumSparsity = 6;

}  // namespace

// True if masks are sparse and packing, a read of all columns, costs less than the layers to come: each reads
// 2 n_asked() + 1 columns (ranges, weights, masks) and twice the last one's words: children keep their parent's block.
bool LayerGrower::worth_packing() const {
    if (layer_.empty()) return false;
    const std::size_t d = data_.n_columns;
    const double passes = std::ldexp(1.0, options_.max_depth - nodes_[layer_[0]].depth) - 1.0;
    constexpr std::size_t kMoreBytes = 8;  // per row: weight and index (uint32), packed besides the codes
    if (passes * static_cast<double>(2 * n_asked() + 1) <= static_cast<double>(d + kMoreBytes)) return false;
    std::size_t read_words = 0, packed_words = 0;
    for (const std::size_t index : layer_) {
        read_words += blocks_[nodes_[index].block].n_words;
        packed_words += words_for(nodes_[index].count);
    }
    return read_words > kMinimumSparsity * packed_words + 64;  // never for a few words
}

// Copies the rows of each node of the layer to a block of its own, in the storage that the old blocks do not use.
//   before, a block of both:  column 0 |a.b..ab..a|  column 1 |a.b..ab..a| ...  masks: a 1000010001, b 0010001000
//   after, block of node a:  column 0 |aaa|  column 1 |aaa| ...  mask 111;  block of node b:  |bb|  |bb| ...  mask 11
void LayerGrower::pack_layer() {
    const std::vector<Block> old = std::move(blocks_);
    std::vector<std::size_t> offsets(layer_.size() + 1, 0);
    for (std::size_t k = 0; k < layer_.size(); ++k) offsets[k + 1] = offsets[k] + nodes_[layer_[k]].count;
    newest_ = 1 - newest_;
    Storage& storage = storage_[newest_];
    if (storage.rows.size() < offsets.back()) {
        // Slightly more than needed, because later trees reuse it; the old memory is freed before new is allocated.
        const std::size_t room = std::min(data_.n_rows, offsets.back() + offsets.back() / 32);
        storage = Storage{};
        storage.codes.resize(room * data_.n_columns);
        storage.weights.resize(room);
        storage.rows.resize(room);
    }
    blocks_.assign(layer_.size(), Block{});
    for (std::size_t k = 0; k < layer_.size(); ++k) {
        LayerNode& node = nodes_[layer_[k]];
        Block& block = blocks_[k];
        block.codes = storage.codes.data() + offsets[k] * data_.n_columns;
        block.stride = node.count;
        block.weights = storage.weights.data() + offsets[k];
        block.rows = storage.rows.data() + offsets[k];
        std::size_t begin = 0;
        for (const BlockSegment& segment : old[node.block].segments) {
            const std::size_t size = count_rows(words(node, segment, 0), words_for(segment.end - segment.begin));
            block.segments.push_back({segment.class_index, begin, begin + size, block.n_words});
            begin += size;
            block.n_words += words_for(size);
        }
    }
    // Column by column over all nodes, so that the column stays in the cache.
    const std::size_t n_tasks = layer_.size() * (data_.n_columns + 2);
    parallel_for(offsets.back() * data_.n_columns >= kCodesForThreads ? n_threads_ : 1, n_tasks, [&](std::size_t task) {
        const std::size_t k = task % layer_.size();
        pack_column(nodes_[layer_[k]], old[nodes_[layer_[k]].block], blocks_[k], task / layer_.size(), offsets[k]);
    });
    std::size_t n_words = 0;
    for (const Block& block : blocks_) n_words += block.n_words;
    masks_.resize(n_words);
    n_words = 0;
    for (std::size_t k = 0; k < layer_.size(); ++k) {
        LayerNode& node = nodes_[layer_[k]];
        node.block = k;
        node.mask = n_words;
        n_words += blocks_[k].n_words;
        mark_all_rows(node);
    }
}

// Packs a column of a node: codes, weights (column n_columns) or row indices (n_columns + 1). offset: first entry.
void LayerGrower::pack_column(const LayerNode& node, const Block& from, const Block& to, std::size_t column,
                              std::size_t offset) {
    Storage& storage = storage_[newest_];
    const std::size_t d = data_.n_columns;
    for (std::size_t s = 0; s < from.segments.size(); ++s) {
        const BlockSegment &source = from.segments[s], &target = to.segments[s];
        const MaskWord* mask = words(node, source, 0);
        const std::size_t n_words = words_for(source.end - source.begin), size = target.end - target.begin;
        const std::size_t place = offset + target.begin;
        if (column < d)
            pack(from.column(column) + source.begin, mask, n_words,
                 storage.codes.data() + offset * d + column * to.stride + target.begin, size);
        else if (column == d)
            pack(from.weights + source.begin, mask, n_words, storage.weights.data() + place, size);
        else if (from.rows != nullptr)
            pack(from.rows + source.begin, mask, n_words, storage.rows.data() + place, size);
        else  // entry i is row i
            pack_numbers(static_cast<std::uint32_t>(source.begin), mask, n_words, storage.rows.data() + place, size);
    }
}

// Sets the node's mask to all rows of its block.
void LayerGrower::mark_all_rows(LayerNode& node) {
    for (const BlockSegment& segment : blocks_[node.block].segments) {
        const std::size_t size = segment.end - segment.begin;
        MaskWord* mask = masks_.data() + node.mask + segment.first_word;
        std::fill_n(mask, words_for(size), ~MaskWord{0});
        if (size % kWordRows != 0) mask[size / kWordRows] >>= kWordRows - size % kWordRows;  // clear the rest
    }
}

}  // namespace radboost
