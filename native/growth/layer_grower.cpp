// The growth of a tree layer by layer, and the three passes over the rows per layer; packing is in layer_packing.cpp.
#include "growth/layer_grower.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "search/label_score.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

constexpr std::size_t kPieceWords = 256;
// Steps (mask words times columns) from which several threads are faster than one.
constexpr std::size_t kParallelSteps = 4096;
constexpr std::size_t kMoved = TreeNode::kNone;
// A node needs at least one word per class. With fewer rows than these, or fewer per class and leaf, words are mostly empty,
// and NodeGrower is faster (up to twice, on digits at depth 8).
constexpr std::size_t kFewestRows = 2048;
constexpr double kFewestRowsPerClassAndLeaf = 3.0;

}  // namespace

bool LayerGrower::fits(const BinnedData& data, const AnswerWeighting& weighting, const GrowthOptions& options) {
    const bool by_labels = options.criterion == Criterion::gini || weighting.gains_follow_classes();
    const double most_leaves = std::ldexp(1.0, options.max_depth);
    const bool dense = data.n_rows >= kFewestRows &&
                       static_cast<double>(data.n_rows) >=
                           kFewestRowsPerClassAndLeaf * static_cast<double>(weighting.n_classes()) * most_leaves;
    return dense && by_labels && options.growth == Growth::layers && options.random_thresholds &&
           options.minimum_leaf_weight <= 0 &&
           std::none_of(data.is_categorical.begin(), data.is_categorical.end(), [](auto yes) { return yes != 0; });
}

LayerGrower::LayerGrower(const BinnedData& data, const AnswerWeighting& weighting, const GrowthOptions& options,
                         const std::vector<std::int64_t>& masses)
    : data_(data),
      weighting_(weighting),
      options_(options),
      masses_(masses),
      n_threads_(options.n_threads),
      draws_(data.n_columns) {}

void LayerGrower::grow(const RowDraw* draw, std::uint64_t key, std::int32_t* leaf_of_row, InterruptCheck check) {
    leaf_of_row_ = draw == nullptr ? leaf_of_row : nullptr;
    own_labels_ = 1;
    n_labels_ = &own_labels_;
    n_threads_ = options_.n_threads;
    plant(draw, key);
    grow_layers(1, check);
}

// Grows the subtrees below the last `n_fresh` of the nodes.
void LayerGrower::grow_layers(std::size_t n_fresh, InterruptCheck check) {
    std::vector<std::size_t> leaves;
    while (n_fresh > 0) {
        if (check != nullptr) check();
        layer_.clear();
        leaves.clear();
        for (std::size_t index = nodes_.size() - n_fresh; index < nodes_.size(); ++index) {
            const LayerNode& node = nodes_[index];
            const bool searchable = node.count > 1 && node.depth < options_.max_depth &&
                                    !one_class_only(node.sums.data(), node.sums.size());
            (searchable ? layer_ : leaves).push_back(index);
        }
        label(leaves);
        if (worth_packing()) {
            pack_layer();
            if (layer_.size() > 1) return grow_subtrees(check);
        }
        search_layer();
        const auto inner = std::stable_partition(layer_.begin(), layer_.end(),
                                                 [&](std::size_t index) { return nodes_[index].split.valid; });
        leaves.assign(inner, layer_.end());
        label(leaves);
        layer_.erase(inner, layer_.end());
        n_fresh = 2 * layer_.size();
        divide_layer();
    }
}

// Grows the subtrees of the layer's nodes (packed blocks): large ones with all threads, then the others with one thread each.
void LayerGrower::grow_subtrees(InterruptCheck check) {
    std::vector<std::size_t> order(layer_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return nodes_[layer_[a]].count > nodes_[layer_[b]].count;
    });
    std::size_t total = 0;
    for (const std::size_t index : layer_) total += nodes_[index].count;
    const auto threads = static_cast<std::size_t>(n_threads_);
    while (helpers_.size() < threads + 1)
        helpers_.push_back(std::make_unique<LayerGrower>(data_, weighting_, options_, masses_));
    std::size_t first = 0;
    for (; threads > 1 && first < order.size() && 2 * threads * nodes_[layer_[order[first]]].count > total; ++first) {
        helpers_[threads]->n_threads_ = n_threads_;
        grow_subtree(*helpers_[threads], order[first], check);
    }
    std::atomic<std::size_t> next{first};
    // One task per thread, which takes nodes from a queue, because a grower is not thread-safe.
    parallel_for(n_threads_, total * n_asked() >= kCodesForThreads ? threads : 1, [&](std::size_t thread) {
        helpers_[thread]->n_threads_ = 1;
        for (std::size_t k = next++; k < order.size(); k = next++) grow_subtree(*helpers_[thread], order[k], nullptr);
    });
    // The roots of the subtrees were moved to the helpers.
    nodes_.erase(std::remove_if(nodes_.begin(), nodes_.end(), [](const LayerNode& node) { return node.label == kMoved; }),
                 nodes_.end());
    for (std::size_t k = 0; k <= threads; ++k) {
        std::move(helpers_[k]->nodes_.begin(), helpers_[k]->nodes_.end(), std::back_inserter(nodes_));
        helpers_[k]->nodes_.clear();
    }
}

// Moves the root in block k to `grower`, which grows its subtree.
void LayerGrower::grow_subtree(LayerGrower& grower, std::size_t k, InterruptCheck check) {
    grower.leaf_of_row_ = leaf_of_row_;
    grower.n_labels_ = n_labels_;
    grower.newest_ = 1;
    grower.blocks_.assign(1, blocks_[k]);
    grower.nodes_.push_back(std::move(nodes_[layer_[k]]));
    LayerNode& root = grower.nodes_.back();
    nodes_[layer_[k]].label = kMoved;
    root.block = 0;
    root.mask = 0;
    grower.masks_.resize(blocks_[k].n_words);
    grower.mark_all_rows(root);
    grower.grow_layers(1, check);
}

void LayerGrower::plant(const RowDraw* draw, std::uint64_t key) {
    newest_ = 1;
    blocks_.assign(1, Block{});
    Block& all = blocks_[0];
    all.codes = data_.by_column.data();
    all.stride = data_.n_rows;
    all.weights = weighting_.growth_weights();
    for (std::size_t c = 0; c < weighting_.n_classes(); ++c) {
        const std::size_t begin = weighting_.class_begin()[c], end = weighting_.class_begin()[c + 1];
        if (begin == end) continue;
        all.segments.push_back({static_cast<std::uint32_t>(c), begin, end, all.n_words});
        all.n_words += words_for(end - begin);
    }
    nodes_.assign(1, LayerNode{});
    LayerNode& root = nodes_[0];
    root.key = key;
    root.count = data_.n_rows;
    root.bounds.resize(data_.n_columns);
    for (std::size_t c = 0; c < data_.n_columns; ++c) {
        const std::size_t bins = data_.n_bins(c);
        root.bounds[c] = {0, static_cast<std::uint8_t>(bins > 0 ? bins - 1 : 0), data_.has_missing[c] != 0};
    }
    masks_.assign(all.n_words, 0);
    if (draw == nullptr) {
        mark_all_rows(root);
    } else {
        for (const BlockSegment& segment : all.segments)
            for (std::size_t row = segment.begin, place = 0; row < segment.end; ++row, ++place)
                masks_[segment.first_word + place / kWordRows] |= MaskWord{(*draw)(row)} << (place % kWordRows);
        root.count = count_rows(masks_.data(), masks_.size());
    }
    list_pieces({0});
    std::vector<std::uint32_t> sums(pieces_.size());
    std::vector<std::int64_t> masses(pieces_.size());
    sweep(1, [&](std::size_t p) {
        const Piece& piece = pieces_[p];
        const BlockSegment& segment = all.segments[piece.segment];
        const std::size_t first = segment.begin + kWordRows * piece.begin;
        const ColumnCut everything{all.column(0) + first, 255};
        const MaskWord* mask = words(root, segment, piece.begin);
        masked_sums(&everything, 1, all.weights + first, mask, piece.end - piece.begin, &sums[p]);
        masses[p] = mass_of(all, segment, mask, piece.begin, piece.end);
    });
    root.sums.assign(all.segments.size(), 0);
    for (std::size_t p = 0; p < pieces_.size(); ++p) root.sums[pieces_[p].segment] += sums[p];
    root.mass = std::accumulate(masses.begin(), masses.end(), std::int64_t{0});
}

// Sample weight of the selected rows in words [begin, end) of a segment; mask[0] is word `begin`.
std::int64_t LayerGrower::mass_of(const Block& block, const BlockSegment& segment, const MaskWord* mask,
                                  std::size_t begin, std::size_t end) const {
    if (masses_.empty()) return static_cast<std::int64_t>(count_rows(mask, end - begin));
    std::int64_t mass = 0;
    for (std::size_t w = begin; w < end; ++w)
        for (MaskWord word = mask[w - begin]; word != 0; word &= word - 1) {
            const std::size_t place = segment.begin + kWordRows * w + lowest_one(word);
            mass += masses_[block.rows ? block.rows[place] : place];
        }
    return mass;
}

// Divides the masks of these nodes into pieces_, in their order.
void LayerGrower::list_pieces(const std::vector<std::size_t>& nodes) {
    pieces_.clear();
    for (std::size_t place = 0; place < nodes.size(); ++place) {
        const Block& block = blocks_[nodes_[nodes[place]].block];
        for (std::size_t s = 0; s < block.segments.size(); ++s) {
            const std::size_t n = words_for(block.segments[s].end - block.segments[s].begin);
            for (std::size_t begin = 0; begin < n; begin += kPieceWords)
                pieces_.push_back({place, s, begin, std::min(n, begin + kPieceWords)});
        }
    }
}

// Runs body(index of a piece) for all pieces; `columns`: columns that it reads, which decides the number of threads.
template <class Body>
void LayerGrower::sweep(std::size_t columns, Body&& body) {
    std::size_t steps = 0;
    for (const Piece& piece : pieces_) steps += (piece.end - piece.begin) * columns;
    const int n_threads = steps >= kParallelSteps ? n_threads_ : 1;
    const std::size_t parts =
        n_threads > 1 ? std::min<std::size_t>(pieces_.size(), 16 * static_cast<std::size_t>(n_threads)) : 1;
    parallel_for(n_threads, parts, [&](std::size_t part) {
        for (std::size_t p = range_begin(pieces_.size(), parts, part); p < range_begin(pieces_.size(), parts, part + 1);
             ++p)
            body(p);
    });
}

// Finds the splits of the layer's nodes. While a node is constant in all of its drawn columns, twice as many are drawn.
void LayerGrower::search_layer() {
    const std::size_t d = data_.n_columns;
    std::size_t first = 0, last = n_asked();
    std::vector<std::size_t> open = layer_;
    while (!open.empty() && first < d) {
        std::vector<Asked> asked(open.size());
        for (std::size_t k = 0; k < open.size(); ++k) {
            asked[k].node = open[k];
            if (options_.max_features > 0) {
                asked[k].columns = draws_.draw(nodes_[open[k]].key, first, last);
            } else {
                asked[k].columns.resize(d);
                std::iota(asked[k].columns.begin(), asked[k].columns.end(), 0u);
            }
        }
        list_pieces(open);
        find_ranges(asked);
        for (Asked& one : asked) draw_cuts(one);
        find_sums(asked);
        for (const Asked& one : asked) choose(one);
        open.erase(std::remove_if(open.begin(), open.end(), [&](std::size_t index) { return nodes_[index].split.asked; }),
                   open.end());
        first = last;
        last = std::min(d, 2 * last);
    }
}

// Computes Asked::ranges. A task reads one column of one node, and stops when the range cannot become wider.
void LayerGrower::find_ranges(std::vector<Asked>& asked) {
    const std::size_t width = asked[0].columns.size();
    std::size_t n_words = 0;
    for (Asked& one : asked) {
        one.ranges.assign(width, CodeRange{});
        n_words += blocks_[nodes_[one.node].block].n_words;
    }
    parallel_for(n_words >= kParallelSteps ? n_threads_ : 1, asked.size() * width, [&](std::size_t task) {
        Asked& one = asked[task / width];
        const std::size_t k = task % width, column = one.columns[k];
        const LayerNode& node = nodes_[one.node];
        const Block& block = blocks_[node.block];
        const CodeRange& bounds = node.bounds[column];
        CodeRange& range = one.ranges[k];
        for (std::size_t s = 0; s < block.segments.size() && !range.covers(bounds); ++s) {
            const BlockSegment& segment = block.segments[s];
            range.widen(masked_range(block.column(column) + segment.begin, words(node, segment, 0),
                                     words_for(segment.end - segment.begin), data_.missing_code(column), bounds));
        }
    });
    for (const Asked& one : asked)
        for (std::size_t k = 0; k < width; ++k) nodes_[one.node].bounds[one.columns[k]] = one.ranges[k];
}

// Draws one threshold per column between the lowest and the highest code in the node.
void LayerGrower::draw_cuts(Asked& asked) {
    LayerNode& node = nodes_[asked.node];
    const Block& block = blocks_[node.block];
    for (std::size_t k = 0; k < asked.columns.size(); ++k) {
        const CodeRange& range = asked.ranges[k];
        if (range.n_thresholds() == 0) continue;
        node.split.asked = true;
        const std::uint8_t bin = draw_threshold(range, node.key, asked.columns[k]);
        asked.cuts.push_back({block.column(asked.columns[k]), bin});
        asked.cut_columns.push_back(static_cast<std::uint32_t>(k));
    }
    asked.left.assign(asked.cuts.size() * block.segments.size(), 0);
    asked.missing.assign(asked.cuts.size() * block.segments.size(), 0);
}

void LayerGrower::find_sums(std::vector<Asked>& asked) {
    const std::size_t width = asked[0].columns.size();
    std::vector<std::uint32_t> left(pieces_.size() * width), missing(pieces_.size() * width);
    sweep(width, [&](std::size_t p) {
        const Piece& piece = pieces_[p];
        const Asked& one = asked[piece.node];
        const LayerNode& node = nodes_[one.node];
        const Block& block = blocks_[node.block];
        const BlockSegment& segment = block.segments[piece.segment];
        const std::size_t first = segment.begin + kWordRows * piece.begin, n_words = piece.end - piece.begin;
        const MaskWord* mask = words(node, segment, piece.begin);
        thread_local std::vector<ColumnCut> cuts;
        cuts = one.cuts;
        for (std::size_t k = 0; k < cuts.size(); ++k) {
            cuts[k].codes += first;
            const std::size_t column = one.columns[one.cut_columns[k]];
            if (one.ranges[one.cut_columns[k]].missing)
                missing[p * width + k] =
                    masked_sum_of_code(cuts[k].codes, static_cast<std::uint8_t>(data_.missing_code(column)),
                                       block.weights + first, mask, n_words);
        }
        masked_sums(cuts.data(), cuts.size(), block.weights + first, mask, n_words, left.data() + p * width);
    });
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
        Asked& one = asked[pieces_[p].node];
        const std::size_t n_segments = blocks_[nodes_[one.node].block].segments.size();
        for (std::size_t k = 0; k < one.cuts.size(); ++k) {
            one.left[k * n_segments + pieces_[p].segment] += left[p * width + k];
            one.missing[k * n_segments + pieces_[p].segment] += missing[p * width + k];
        }
    }
}

// Sets the node's split to the best cut; in a tie the first, in the order of the columns, missing values right before left.
void LayerGrower::choose(const Asked& asked) {
    LayerNode& node = nodes_[asked.node];
    const std::size_t n = node.sums.size();
    const double unsplit = unsplit_score(options_.criterion, node.sums.data(), n);
    double best = score_to_beat(options_.criterion, unsplit);
    std::vector<std::int64_t> sums(n);
    for (std::size_t k = 0; k < asked.cuts.size(); ++k) {
        const std::size_t place = asked.cut_columns[k];
        for (const bool to_left : {false, true}) {
            if (to_left && !asked.ranges[place].missing) break;
            for (std::size_t s = 0; s < n; ++s)
                sums[s] = asked.left[k * n + s] + (to_left ? asked.missing[k * n + s] : 0);
            const double score = split_score(options_.criterion, node.sums.data(), sums.data(), n);
            if (!(score > best)) continue;
            best = score;
            node.split.valid = true;
            node.split.missing_left = to_left;
            node.split.column = asked.columns[place];
            node.split.bin = asked.cuts[k].bin;
            node.split.left_sums = sums;
            node.has_missing = asked.ranges[place].missing;
        }
    }
    node.split.gain = (best - unsplit) / kGrowthScale;
}

void LayerGrower::divide_layer() {
    list_pieces(layer_);
    std::size_t n_words = 0;
    const std::size_t first_child = nodes_.size();
    nodes_.resize(first_child + 2 * layer_.size());
    for (std::size_t k = 0; k < layer_.size(); ++k) {
        LayerNode& parent = nodes_[layer_[k]];
        parent.left = n_labels_->fetch_add(2);
        for (std::size_t side = 0; side < 2; ++side) {
            LayerNode& child = nodes_[first_child + 2 * k + side];
            child.label = parent.left + side;
            child.depth = parent.depth + 1;
            child.key = mix(parent.key, side + 1);
            child.block = parent.block;
            child.mask = n_words;
            n_words += blocks_[parent.block].n_words;
            child.bounds = parent.bounds;
            CodeRange& bounds = child.bounds[parent.split.column];
            if (side == 0)
                bounds.high = static_cast<std::uint8_t>(parent.split.bin);
            else
                bounds.low = static_cast<std::uint8_t>(std::min<std::uint32_t>(parent.split.bin + 1, 255));
            bounds.missing = bounds.missing && (side == 0) == parent.split.missing_left;
            child.sums = parent.split.left_sums;
            for (std::size_t s = 0; side == 1 && s < child.sums.size(); ++s) child.sums[s] = parent.sums[s] - child.sums[s];
        }
    }
    next_masks_.resize(n_words);
    std::vector<std::size_t> counts(pieces_.size());
    std::vector<std::int64_t> masses(pieces_.size());
    sweep(2, [&](std::size_t p) {
        const Piece& piece = pieces_[p];
        const LayerNode& node = nodes_[layer_[piece.node]];
        const Block& block = blocks_[node.block];
        const BlockSegment& segment = block.segments[piece.segment];
        const std::size_t offset = segment.first_word + piece.begin;
        const LayerNode* children = nodes_.data() + first_child + 2 * piece.node;
        MaskWord* left = next_masks_.data() + children[0].mask + offset;
        counts[p] = split_mask(block.column(node.split.column) + segment.begin + kWordRows * piece.begin,
                               static_cast<std::uint8_t>(node.split.bin),
                               node.split.missing_left ? data_.missing_code(node.split.column) : -1,
                               words(node, segment, piece.begin), piece.end - piece.begin, left,
                               next_masks_.data() + children[1].mask + offset);
        masses[p] = masses_.empty() ? static_cast<std::int64_t>(counts[p])
                                    : mass_of(block, segment, left, piece.begin, piece.end);
    });
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
        LayerNode& left = nodes_[first_child + 2 * pieces_[p].node];
        left.count += counts[p];
        left.mass += masses[p];
    }
    for (std::size_t k = 0; k < layer_.size(); ++k) {
        LayerNode& parent = nodes_[layer_[k]];
        LayerNode &left = nodes_[first_child + 2 * k], &right = nodes_[first_child + 2 * k + 1];
        right.count = parent.count - left.count;
        right.mass = parent.mass - left.mass;
        // If no value is missing in the node, missing values at prediction follow the heavier child.
        parent.missing_left = parent.has_missing ? parent.split.missing_left : 2 * left.mass >= parent.mass;
        parent.bounds = {};
    }
    masks_.swap(next_masks_);
}

void LayerGrower::label(const std::vector<std::size_t>& leaves) {
    if (leaf_of_row_ == nullptr || leaves.empty()) return;
    list_pieces(leaves);
    sweep(8, [&](std::size_t p) {
        const Piece& piece = pieces_[p];
        const LayerNode& node = nodes_[leaves[piece.node]];
        const Block& block = blocks_[node.block];
        const BlockSegment& segment = block.segments[piece.segment];
        const MaskWord* mask = words(node, segment, piece.begin);
        for (std::size_t w = piece.begin; w < piece.end; ++w)
            for (MaskWord word = mask[w - piece.begin]; word != 0; word &= word - 1) {
                const std::size_t place =
                    segment.begin + kWordRows * w + lowest_one(word);
                leaf_of_row_[block.rows ? block.rows[place] : place] = static_cast<std::int32_t>(node.label);
            }
    });
}

}  // namespace radboost
