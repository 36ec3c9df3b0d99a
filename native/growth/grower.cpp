#include "growth/grower.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/hashing.hpp"
#include "growth/layer_grower.hpp"
#include "growth/node_grower.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

constexpr std::size_t kParallelRows = 16384;

}  // namespace

TreeGrower::TreeGrower(const BinnedData& data, const AnswerWeighting& state, const GrowthOptions& options)
    : data_(data),
      state_(state),
      options_(options),
      masses_(std::make_unique<RowMasses>()),
      shared_(std::make_unique<SharedRows>()) {
    require(data.n_columns > 0, "at least one column is needed");
    require(options.max_depth >= 1 && options.max_depth <= 60, "max_depth must lie between 1 and 60");
    require(options.n_threads >= 1, "n_threads must be at least 1");
    require(options.growth != Growth::stump_pair || options.criterion == Criterion::edge,
            "stump pairs are found by the edge criterion");
    if (options_.max_features >= data.n_columns) options_.max_features = 0;
    retarget();
}

void TreeGrower::retarget() {
    require(data_.n_rows == state_.n_rows(), "data and state have different numbers of rows");
    require(data_.n_rows > 0 && data_.n_rows < (std::size_t{1} << 32), "the number of rows must lie in [1, 2^32)");
    require(!state_.class_begin().empty(), "the rows must be sorted by class");
    // Weights that are not integers become integers whose sum stays below 2^61.
    mass_scale_ = state_.row_weights().whole() ? 1.0 : std::ldexp(1.0, 60 - std::ilogb(state_.total_weight()));
    std::vector<std::int64_t>& masses = masses_->of_row;
    masses = state_.row_weights().masses(mass_scale_);
    masses_->minimum = static_cast<std::int64_t>(std::ceil(std::min(options_.minimum_leaf_weight * mass_scale_, 0x1p62)));
    if (masses_->minimum > 0 && masses.empty()) masses.assign(data_.n_rows, 1);
    if (options_.subsample < 1) hashes_ = state_.row_hashes(data_, options_.n_threads);
    if (!layers_ && !by_nodes_) {
        if (LayerGrower::fits(data_, state_, options_))
            layers_ = std::make_unique<LayerGrower>(data_, state_, options_, masses);
        else
            by_nodes_ = std::make_unique<NodeGrower>(
                data_, [this] { return make_statistics(data_, state_, options_.criterion); }, options_, *masses_, *shared_);
    }
    if (by_nodes_) {
        data_.lay_out_rows(options_.n_threads);
        shared_->rows.resize(data_.n_rows);
        shared_->scratch.resize(data_.n_rows);
    }
    tree_.leaf_of_row.resize(data_.n_rows);
    tree_.n_channels = state_.n_channels();
}

TreeGrower::~TreeGrower() = default;

RowDraw TreeGrower::row_draw(std::uint64_t round) const {
    return RowDraw::share(hashes_, options_.seed, round, options_.subsample);
}

// Lists the drawn rows for growth by nodes; returns their number.
std::size_t TreeGrower::list_rows(std::uint64_t round) {
    if (hashes_.empty()) return data_.n_rows;
    const RowDraw draw = row_draw(round);
    std::size_t count = 0;
    for (std::size_t i = 0; i < data_.n_rows; ++i) {
        shared_->rows[count] = static_cast<std::uint32_t>(i);
        count += draw(i);
    }
    return count;
}

std::uint64_t TreeGrower::root_key(std::uint64_t round) const { return mix(mix(options_.seed, round), 1); }

// Trees of the kind that LayerGrower grows come from it, all others from NodeGrower.
void TreeGrower::grow_nodes(std::uint64_t round, InterruptCheck check) {
    const bool all = hashes_.empty();
    shared_->leaf_of_row = tree_.leaf_of_row.data();
    if (layers_) {
        const RowDraw draw = row_draw(round);
        layers_->grow(all ? nullptr : &draw, root_key(round), shared_->leaf_of_row, check);
        collect(layers_->nodes());
        return;
    }
    by_nodes_->grow(all, list_rows(round), root_key(round), check);
    collect(by_nodes_->nodes());
    // Grown on all rows, the tree has sorted them already: those of the last layer carry their label, the others lie in
    // their leaf's range.
    for (const NodeGrower::WorkNode& node : by_nodes_->nodes()) {
        if (!all || node.left != TreeNode::kNone) continue;
        for (std::size_t i = 0; i < node.count(); ++i)
            tree_.leaf_of_row[node.node.rows[i]] = static_cast<std::int32_t>(node.label);
    }
}

template <class Nodes>
void TreeGrower::collect(const Nodes& nodes) {
    nodes_.assign(nodes.size(), TreeNode{});
    for (const TreeNode& node : nodes) nodes_[node.label] = node;
}

void TreeGrower::grow(std::uint64_t round, InterruptCheck check) {
    grow_nodes(round, check);
    number_nodes();
    place_all_rows();
    sum_leaves();
    tree_.list_candidates(options_.growth == Growth::best_first, state_.edge_unit());
}

// Renumbers the nodes in the order of the splits: by layers, or as best-first growth chose them.
void TreeGrower::number_nodes() {
    tree_.node_of_label.assign(nodes_.size(), 0);
    tree_.nodes.assign(nodes_.size(), GrownNode{});
    tree_.category_sets.clear();
    tree_.depths.assign(nodes_.size(), 0);
    std::vector<std::size_t> order{0};
    if (options_.growth == Growth::best_first) {
        order.resize(nodes_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
    }
    std::int32_t next = 1;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const std::size_t index = order[i];
        const TreeNode& work = nodes_[index];
        const std::int32_t number = options_.growth == Growth::best_first ? static_cast<std::int32_t>(index)
                                                                           : tree_.node_of_label[index];
        tree_.node_of_label[index] = number;
        GrownNode& node = tree_.nodes[static_cast<std::size_t>(number)];
        tree_.depths[static_cast<std::size_t>(number)] = work.depth;
        if (work.left == TreeNode::kNone) continue;
        node.column = work.split.column;
        node.bin = work.split.bin;
        node.missing_left = work.missing_left;
        if (data_.is_categorical[node.column]) {
            node.by_categories = true;
            node.bin = static_cast<std::uint32_t>(tree_.category_sets.size());
            tree_.category_sets.push_back(work.split.left);
        }
        node.gain = work.split.gain;
        if (options_.growth == Growth::best_first) {
            node.left = static_cast<std::int32_t>(work.left);
            continue;
        }
        node.left = next;
        tree_.node_of_label[work.left] = next;
        tree_.node_of_label[work.left + 1] = next + 1;
        next += 2;
        order.push_back(work.left);
        order.push_back(work.left + 1);
    }
}

// The leaf that a row with these codes reaches.
template <bool kCategories>
std::int32_t TreeGrower::leaf_of(const std::uint8_t* codes) const {
    std::int32_t at = 0;
    while (tree_.nodes[static_cast<std::size_t>(at)].left >= 0) {
        const GrownNode& node = tree_.nodes[static_cast<std::size_t>(at)];
        const std::uint32_t code = codes[node.column];
        const bool missing = data_.has_missing[node.column] && code == data_.bin_counts[node.column];
        bool goes_left = missing ? node.missing_left : code <= node.bin;
        if (kCategories && node.by_categories && !missing) goes_left = tree_.category_sets[node.bin].has(code);
        at = node.left + (goes_left ? 0 : 1);
    }
    return at;
}

// Rows that the tree was not grown on go down it now.
void TreeGrower::place_all_rows() {
    if (hashes_.empty()) return;
    std::iota(tree_.node_of_label.begin(), tree_.node_of_label.end(), 0);
    const std::size_t n = data_.n_rows, d = data_.n_columns;
    const bool by_categories = !tree_.category_sets.empty();
    constexpr std::size_t kTogether = 1024;
    const std::size_t parts = (n + kTogether - 1) / kTogether;
    parallel_for(n >= kParallelRows ? options_.n_threads : 1, parts, [&](std::size_t part) {
        const std::size_t begin = part * kTogether, end = std::min(n, begin + kTogether);
        thread_local std::vector<std::uint8_t> rows;
        rows.resize(kTogether * d);
        data_.copy_rows(begin, end, rows.data());
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint8_t* codes = rows.data() + (i - begin) * d;
            tree_.leaf_of_row[i] = by_categories ? leaf_of<true>(codes) : leaf_of<false>(codes);
        }
    });
}

// What every answer gains, and the sample weight, at every node over all rows: leaves from their rows, the others from
// their children.
void TreeGrower::sum_leaves() {
    const std::size_t size = nodes_.size(), width = tree_.n_channels, n = data_.n_rows;
    std::vector<std::int64_t> by_label(size * width);
    state_.leaf_sums(tree_.leaf_of_row.data(), size, options_.n_threads, by_label.data());
    tree_.gains.assign(size * width, 0);
    std::vector<std::int64_t> covers(size, 0);
    if (hashes_.empty())  // then the growth counted the rows already
        for (std::size_t index = 0; index < size; ++index) covers[index] = nodes_[index].mass;
    else
        for (std::size_t i = 0; i < n; ++i)
            covers[static_cast<std::size_t>(tree_.leaf_of_row[i])] += masses_->of_row.empty() ? 1 : masses_->of_row[i];
    for (std::size_t index = 0; index < size; ++index) {
        const auto number = static_cast<std::size_t>(tree_.node_of_label[index]);
        tree_.nodes[number].cover = covers[index];
        std::copy_n(by_label.data() + index * width, width, tree_.gains.data() + number * width);
    }
    for (std::size_t i = size; i-- > 0;) {
        GrownNode& node = tree_.nodes[i];
        if (node.left < 0) continue;
        const auto left = static_cast<std::size_t>(node.left);
        node.cover = tree_.nodes[left].cover + tree_.nodes[left + 1].cover;
        for (std::size_t k = 0; k < width; ++k)
            tree_.gains[i * width + k] = tree_.gains[left * width + k] + tree_.gains[(left + 1) * width + k];
    }
}

}  // namespace radboost
