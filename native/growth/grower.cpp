// Grows one tree: samples rows, grows nodes, numbers them in the order of the splits, routes all rows, and sums the leaves.
#include "growth/grower.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/hashing.hpp"
#include "core/pool.hpp"
#include "growth/layer_grower.hpp"
#include "growth/node_grower.hpp"
#include "growth/routing.hpp"

namespace radboost {
namespace {

constexpr std::size_t kParallelRows = 16384;

}  // namespace

Grower::Grower(const BinnedData& data, std::unique_ptr<GrowthTarget> target, const GrowthOptions& options)
    : data_(data),
      target_(std::move(target)),
      options_(options),
      sampled_(options.subsample < 1),
      shared_(std::make_unique<SharedRows>()) {
    require(data.n_columns > 0, "at least one column is needed");
    require(options.max_depth >= 1 || (options.max_depth == 0 && options.growth == Growth::best_first),
            "max_depth must be at least 1, or 0 for no limit with best_first");
    require(options.max_depth <= kMostDepth, "max_depth must lie between 1 and 60");
    require(options.n_threads >= 1, "n_threads must be at least 1");
    require(options.growth != Growth::stump_pair || options.criterion == Criterion::edge,
            "stump pairs are found by the edge criterion");
    options.interactions.check(data.n_columns);
    if (options_.max_features >= data.n_columns) options_.max_features = 0;
    retarget();
}

Grower::~Grower() = default;

// With several workers no decision may depend on the number of rows of this one.
void Grower::retarget() {
    const bool alone = target_->row_weights().collective().alone();
    require(data_.n_rows == target_->n_rows(), "data and target have different numbers of rows");
    require((data_.n_rows > 0 || !alone) && data_.n_rows < (std::size_t{1} << 32),
            "the number of rows must lie in [1, 2^32)");
    mass_scale_ = target_->read_masses(options_.minimum_leaf_weight, masses_);
    if (sampled_) hashes_ = target_->row_hashes(data_, options_.n_threads);
    if (!layers_ && !by_nodes_) {
        const bool constrained = target_->monotone() || options_.interactions.any();
        if (alone && !constrained && target_->classes() != nullptr &&
            LayerGrower::fits(data_, *target_->classes(), options_))
            layers_ = std::make_unique<LayerGrower>(data_, *target_->classes(), options_, masses_.of_row);
        else
            by_nodes_ = std::make_unique<NodeGrower>(data_, *target_, options_, masses_, *shared_);
    }
    if (by_nodes_) {
        data_.lay_out_rows(options_.n_threads);
        shared_->rows.resize(data_.n_rows);
        shared_->scratch.resize(data_.n_rows);
    }
    tree_.leaf_of_row.resize(data_.n_rows);
    tree_.n_channels = target_->n_channels();
}

void Grower::set_max_leaves(std::size_t max_leaves) {
    require(options_.growth == Growth::best_first, "only growth best_first has a limit of leaves");
    require(max_leaves >= 2 && max_leaves <= (std::size_t{1} << 30), "a tree needs at least one split");
    options_.max_leaves = max_leaves;
}

RowDraw Grower::row_draw(std::uint64_t round) const {
    return RowDraw::share(hashes_, options_.seed, round, options_.subsample);
}

// Writes the indices of the sampled rows to shared_->rows (for NodeGrower) and returns their number.
std::size_t Grower::list_rows(std::uint64_t round) {
    if (!sampled_) return data_.n_rows;
    const RowDraw draw = row_draw(round);
    const std::size_t n = data_.n_rows, parts = row_parts(n, options_.n_threads);
    std::vector<std::size_t> counts(parts, 0);
    parallel_for(options_.n_threads, parts, [&](std::size_t part) {
        const std::size_t begin = range_begin(n, parts, part), end = range_begin(n, parts, part + 1);
        std::uint32_t* drawn = shared_->rows.data() + begin;
        std::size_t count = 0;
        for (std::size_t i = begin; i < end; ++i) {
            // Always written, and overwritten next unless the row is drawn: no branch to mispredict.
            drawn[count] = static_cast<std::uint32_t>(i);
            count += draw(i);
        }
        counts[part] = count;
    });
    std::size_t n_drawn = counts[0];
    for (std::size_t part = 1; part < parts; ++part) {
        const std::uint32_t* from = shared_->rows.data() + range_begin(n, parts, part);
        std::copy_n(from, counts[part], shared_->rows.data() + n_drawn);
        n_drawn += counts[part];
    }
    return n_drawn;
}

void Grower::grow_nodes(std::uint64_t round, InterruptCheck check) {
    const std::uint64_t root_key = mix(mix(options_.seed, round), 1);
    shared_->leaf_of_row = tree_.leaf_of_row.data();
    if (layers_) {
        const RowDraw draw = row_draw(round);
        layers_->grow(sampled_ ? &draw : nullptr, root_key, shared_->leaf_of_row, check);
        collect(layers_->nodes());
        return;
    }
    by_nodes_->grow(!sampled_, list_rows(round), root_key, check);
    collect(by_nodes_->nodes());
    if (!sampled_) label_rows();
}

template <class Nodes>
void Grower::collect(const Nodes& nodes) {
    nodes_.assign(nodes.size(), TreeNode{});
    for (const TreeNode& node : nodes) nodes_[node.label] = node;
}

// For trees grown on all rows: sets leaf_of_row of the rows in each leaf's range. (Rows of the last layer already have it.)
void Grower::label_rows() {
    const auto& grown = by_nodes_->nodes();
    parallel_for(data_.n_rows >= kParallelRows ? options_.n_threads : 1, grown.size(), [&](std::size_t place) {
        const NodeGrower::WorkNode& leaf = grown[place];
        if (leaf.left != TreeNode::kNone) return;
        for (std::size_t i = 0; i < leaf.n_rows(); ++i)
            tree_.leaf_of_row[leaf.node.rows[i]] = static_cast<std::int32_t>(leaf.label);
    });
}

void Grower::grow(std::uint64_t round, InterruptCheck check) {
    grow_nodes(round, check);
    number_nodes();
    if (sampled_) place_all_rows();
    sum_leaves();
    target_->list_candidates(options_.growth == Growth::best_first, options_.n_threads, tree_);
}

// Numbers the nodes in the order of the splits (see GrownNode): layer by layer, with best-first growth by label.
void Grower::number_nodes() {
    const bool by_labels = options_.growth == Growth::best_first;
    tree_.node_of_label.assign(nodes_.size(), 0);
    tree_.nodes.assign(nodes_.size(), GrownNode{});
    tree_.category_sets.clear();
    tree_.depths.assign(nodes_.size(), 0);
    std::vector<std::size_t> order{0};
    if (by_labels) {
        order.resize(nodes_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::iota(tree_.node_of_label.begin(), tree_.node_of_label.end(), 0);
    }
    std::int32_t next = 1;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const TreeNode& work = nodes_[order[i]];
        const auto number = static_cast<std::size_t>(tree_.node_of_label[order[i]]);
        GrownNode& node = tree_.nodes[number];
        tree_.depths[number] = work.depth;
        if (work.left == TreeNode::kNone) continue;
        node.column = work.split.column;
        node.bin = work.split.bin;
        node.missing_left = work.missing_left;
        node.gain = work.split.gain;
        if (data_.is_categorical[node.column]) {
            node.by_categories = true;
            node.bin = static_cast<std::uint32_t>(tree_.category_sets.size());
            tree_.category_sets.push_back(work.split.left);
        }
        if (!by_labels) {
            for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
                tree_.node_of_label[work.left + side] = next + static_cast<std::int32_t>(side);
                order.push_back(work.left + side);
            }
            next += 2;
        }
        node.left = tree_.node_of_label[work.left];
    }
}

// If the tree was grown on sampled rows: routes all rows through it, and sets leaf_of_row to node numbers (labels = numbers).
void Grower::place_all_rows() {
    std::iota(tree_.node_of_label.begin(), tree_.node_of_label.end(), 0);
    const CodeTree routes(tree_.nodes, tree_.category_sets, data_);
    constexpr std::size_t kTogether = 1024;
    const std::size_t n = data_.n_rows, parts = (n + kTogether - 1) / kTogether;
    parallel_for(n >= kParallelRows ? options_.n_threads : 1, parts, [&](std::size_t part) {
        const std::size_t begin = part * kTogether, end = std::min(n, begin + kTogether);
        routes.leaves(data_, begin, end - begin, tree_.leaf_of_row.data() + begin);
    });
}

// Reads the sums of the leaves from the nodes, if growth has computed them. Returns false if it has not.
bool Grower::read_leaf_sums(std::vector<std::int64_t>& by_label) const {
    if (sampled_ || !by_nodes_) return false;
    for (const NodeGrower::WorkNode& work : by_nodes_->nodes())
        if (work.left == TreeNode::kNone &&
            (work.node.sums.empty() ||
             !target_->read_sums(work.node, by_label.data() + work.label * tree_.n_channels)))
            return false;
    return true;
}

// Sample weight of the rows of all workers by label of their leaf, shape (n_labels,). `sums`: the leaves' other sums.
void Grower::sum_masses(const std::vector<std::int64_t>& sums, std::vector<std::int64_t>& by_label) const {
    if (!sampled_) {  // then growth has summed them
        for (std::size_t label = 0; label < nodes_.size(); ++label) by_label[label] = nodes_[label].mass;
        return;
    }
    if (target_->sums_end_with_mass()) {
        const std::size_t width = tree_.n_channels;
        for (std::size_t label = 0; label < by_label.size(); ++label) by_label[label] = sums[(label + 1) * width - 1];
        return;
    }
    by_label = target_->row_weights().add<std::int64_t>(
        by_label.size(), data_.n_rows, options_.n_threads,
        [&](std::size_t begin, std::size_t end, std::int64_t* own) {
            for (std::size_t i = begin; i < end; ++i) own[tree_.leaf_of_row[i]] += masses_.of(i);
        });
}

// Sets sums and cover of every node over all rows (not only sampled ones): of leaves from rows, of inner nodes from children.
void Grower::sum_leaves() {
    const std::size_t size = nodes_.size(), width = tree_.n_channels;
    std::vector<std::int64_t> sums(size * width), masses(size, 0);
    if (!read_leaf_sums(sums)) target_->leaf_sums(tree_.leaf_of_row.data(), size, options_.n_threads, sums.data());
    sum_masses(sums, masses);
    tree_.sums.assign(size * width, 0);
    for (std::size_t label = 0; label < size; ++label) {
        const auto number = static_cast<std::size_t>(tree_.node_of_label[label]);
        tree_.nodes[number].cover = masses[label];
        std::copy_n(sums.data() + label * width, width, tree_.sums.data() + number * width);
    }
    for (std::size_t i = size; i-- > 0;) {
        GrownNode& node = tree_.nodes[i];
        if (node.left < 0) continue;
        const auto left = static_cast<std::size_t>(node.left);
        node.cover = tree_.nodes[left].cover + tree_.nodes[left + 1].cover;
        for (std::size_t k = 0; k < width; ++k)
            tree_.sums[i * width + k] = tree_.sums[left * width + k] + tree_.sums[(left + 1) * width + k];
    }
}

}  // namespace radboost
