#include "growth/gradient_grower.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "core/hashing.hpp"
#include "growth/node_grower.hpp"
#include "search/partition.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

constexpr int kNoDepth = 1 << 30;

}  // namespace

GradientGrower::GradientGrower(const BinnedData& data, const GradientWeighting& state, const GrowthOptions& options,
                               std::vector<std::int8_t> directions)
    : data_(data),
      state_(state),
      options_(options),
      directions_(std::move(directions)),
      masses_(std::make_unique<RowMasses>()),
      shared_(std::make_unique<SharedRows>()) {
    require(data.n_columns > 0, "at least one column is needed");
    require(data.n_rows == state.n_rows(), "data and state have different numbers of rows");
    require(options.n_threads >= 1, "n_threads must be at least 1");
    require(directions_.empty() || directions_.size() == data.n_columns, "one direction per column is needed");
    require(directions_.empty() || state.n_outputs() == 1, "only trees with one output can be monotone");
    for (std::size_t c = 0; c < directions_.size(); ++c) {
        require(directions_[c] >= -1 && directions_[c] <= 1, "a direction is -1, 0 or +1");
        require(directions_[c] == 0 || !data.is_categorical[c], "categories have no order to be monotone in");
    }
    options_.growth = Growth::best_first;
    options_.random_thresholds = false;
    options_.max_depth = kNoDepth;  // so that growth never leaves a last layer unsorted
    if (options_.max_features >= data.n_columns) options_.max_features = 0;
    masses_->of_row = state.masses();
    const double scaled = std::ceil(std::min(options_.minimum_leaf_weight * state.mass_scale(), 0x1p62));
    const auto minimum = static_cast<std::int64_t>(scaled);
    by_nodes_ = std::make_unique<NodeGrower>(
        data_, [this, minimum] { return make_variance_statistics(data_, state_, minimum, directions_); },
        options_, *masses_, *shared_);
    data_.lay_out_rows(options_.n_threads);
    shared_->rows.resize(data_.n_rows);
    shared_->scratch.resize(data_.n_rows);
    if (options_.subsample < 1) others_.resize(data_.n_rows);
    if (options_.subsample < 1) hashes_ = state_.row_hashes(data_, options_.n_threads);
    tree_.leaf_of_row.resize(data_.n_rows);
    tree_.n_channels = state_.n_outputs() + 1;
}

GradientGrower::~GradientGrower() = default;

// Lists the rows that the tree is grown on, and the others; returns the number of the former.
std::size_t GradientGrower::list_rows(std::uint64_t round) {
    if (hashes_.empty()) return data_.n_rows;
    const RowDraw draw = RowDraw::share(hashes_, options_.seed, round, options_.subsample);
    const std::size_t n = data_.n_rows, parts = row_parts(n, options_.n_threads);
    std::vector<std::size_t> counts(parts, 0);
    parallel_for(options_.n_threads, parts, [&](std::size_t part) {
        std::uint32_t* drawn = shared_->rows.data() + range_begin(n, parts, part);
        std::uint32_t* other = others_.data() + range_begin(n, parts, part);
        for (std::size_t i = range_begin(n, parts, part); i < range_begin(n, parts, part + 1); ++i) {
            // Both are written, and one moves on: no branch to mispredict.
            const bool chosen = draw(i);
            *drawn = *other = static_cast<std::uint32_t>(i);
            drawn += chosen;
            other += !chosen;
            counts[part] += chosen;
        }
    });
    std::size_t n_drawn = counts[0], n_others = range_begin(n, parts, 1) - counts[0];
    for (std::size_t part = 1; part < parts; ++part) {
        const std::size_t begin = range_begin(n, parts, part), rest = range_begin(n, parts, part + 1) - begin - counts[part];
        std::copy_n(shared_->rows.data() + begin, counts[part], shared_->rows.data() + n_drawn);
        std::copy_n(others_.data() + begin, rest, others_.data() + n_others);
        n_drawn += counts[part];
        n_others += rest;
    }
    others_of_node_.assign(1, {others_.data(), n_others});
    return n_drawn;
}

void GradientGrower::grow(std::uint64_t round, std::size_t max_splits, InterruptCheck check) {
    require(max_splits >= 1 && max_splits <= (std::size_t{1} << 30), "a tree needs at least one split");
    options_.max_leaves = max_splits + 1;
    shared_->leaf_of_row = tree_.leaf_of_row.data();
    by_nodes_->grow(hashes_.empty(), list_rows(round), mix(mix(options_.seed, round), 1), check);
    collect();
    if (!hashes_.empty()) sort_other_rows();
    sum_leaves();
}

// The nodes in the order of the splits, which is that of their labels.
void GradientGrower::collect() {
    const auto& grown = by_nodes_->nodes();
    tree_.nodes.assign(grown.size(), GrownNode{});
    tree_.category_sets.clear();
    for (const NodeGrower::WorkNode& work : grown) {
        if (work.left == TreeNode::kNone) continue;
        GrownNode& node = tree_.nodes[work.label];
        node.left = static_cast<std::int32_t>(work.left);
        node.column = work.split.column;
        node.bin = work.split.bin;
        node.missing_left = work.missing_left;
        node.gain = work.split.gain;
        if (!data_.is_categorical[node.column]) continue;
        node.by_categories = true;
        node.bin = static_cast<std::uint32_t>(tree_.category_sets.size());
        tree_.category_sets.push_back(work.split.left);
    }
}

// The rows that growth did not see take the same ways, split by split.
void GradientGrower::sort_other_rows() {
    std::vector<std::size_t> parents;  // in the order of the splits
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i)
        if (tree_.nodes[i].left >= 0) parents.push_back(i);
    std::sort(parents.begin(), parents.end(),
              [&](std::size_t a, std::size_t b) { return tree_.nodes[a].left < tree_.nodes[b].left; });
    others_of_node_.resize(tree_.nodes.size(), {nullptr, 0});
    for (const std::size_t parent : parents) {
        const GrownNode& node = tree_.nodes[parent];
        Question question{node.column, node.bin, node.missing_left, {}};
        if (node.by_categories) question = {node.column, 0, node.missing_left, tree_.category_sets[node.bin]};
        const RowSet rows = others_of_node_[parent];
        std::uint32_t* place = others_.data() + (rows.indices - others_.data());
        const Partition partition =
            partition_rows(data_, question, rows, place, shared_->scratch.data(), options_.n_threads);
        const auto left = static_cast<std::size_t>(node.left);
        others_of_node_[left] = {place, partition.left_count};
        others_of_node_[left + 1] = {place + partition.left_count, rows.count - partition.left_count};
    }
}

void GradientGrower::add_row(std::size_t row, std::int64_t* sums) const {
    const GradientWords words = state_.words();
    const std::int64_t* own = words.words + row * words.n_outputs;
    sums[0] += words.gradient(own[0]);
    for (std::size_t k = 1; k < words.n_outputs; ++k) sums[k] += own[k];
    sums[words.n_outputs] += words.weight(own[0]);
}

// Labels the rows of each leaf and sums over all of them; the sums of the other nodes are those of their children.
void GradientGrower::sum_leaves() {
    const std::size_t width = tree_.n_channels, size = tree_.nodes.size(), n = n_outputs();
    tree_.gains.assign(size * width, 0);
    const auto& grown = by_nodes_->nodes();
    parallel_for(options_.n_threads, size, [&](std::size_t place) {
        const NodeGrower::WorkNode& leaf = grown[place];
        if (leaf.left != TreeNode::kNone) return;
        std::int64_t* to = tree_.gains.data() + leaf.label * width;
        const auto label = static_cast<std::int32_t>(leaf.label);
        const GradientWords words = state_.words();
        std::copy(leaf.node.sums.begin(), leaf.node.sums.end(), to);
        to[0] = words.gradient(leaf.node.sums[0]);
        to[n] = words.weight(leaf.node.sums[0]);
        for (std::size_t k = 0; k < leaf.count(); ++k) tree_.leaf_of_row[leaf.node.rows[k]] = label;
        if (hashes_.empty()) return;
        const RowSet others = others_of_node_[leaf.label];
        for (std::size_t k = 0; k < others.count; ++k) {
            tree_.leaf_of_row[others[k]] = label;
            add_row(others[k], to);
        }
    });
    for (std::size_t i = size; i-- > 0;) {
        GrownNode& node = tree_.nodes[i];
        std::int64_t* to = tree_.gains.data() + i * width;
        if (node.left >= 0)
            for (std::size_t k = 0; k < width; ++k)
                to[k] = sums(static_cast<std::size_t>(node.left))[k] + sums(static_cast<std::size_t>(node.left) + 1)[k];
        node.cover = to[n];
    }
}

CutTree GradientGrower::cut(std::size_t n_splits, double radius, NormOrder order) const {
    require(!tree_.nodes.empty(), "no tree has been grown yet");
    require(radius > 0 && std::isfinite(radius), "the radius of a norm ball must be a positive number");
    const std::size_t n = n_outputs(), size = 2 * std::min(n_splits, this->n_splits()) + 1;
    const auto is_leaf = [&](std::size_t i) {
        return tree_.nodes[i].left < 0 || static_cast<std::size_t>(tree_.nodes[i].left) >= size;
    };
    CutTree cut;
    cut.n_splits = size / 2;
    cut.values.assign(size * n, 0.0);
    std::vector<double> fitted, masses;
    std::vector<std::size_t> places;
    const double to_value = state_.unit() * state_.mass_scale() / radius;
    for (std::size_t i = 0; i < size; ++i) {
        const std::int64_t* own = sums(i);
        if (!is_leaf(i) || own[n] == 0) continue;
        for (std::size_t k = 0; k < n; ++k) {
            fitted.push_back(-static_cast<double>(own[k]) / static_cast<double>(own[n]) * to_value);
            masses.push_back(static_cast<double>(own[n]) / static_cast<double>(state_.total_mass()));
            places.push_back(i * n + k);
        }
    }
    project_to_unit_ball(fitted.data(), masses.data(), fitted.size(), order);
    for (std::size_t j = 0; j < places.size(); ++j) cut.values[places[j]] = fitted[j];
    if (!directions_.empty()) keep_directions(size, cut.values, order);
    const double to_slope = state_.unit() / state_.total_weight();
    for (std::size_t j = 0; j < places.size(); ++j) {
        const double value = cut.values[places[j]];
        cut.slope += value * static_cast<double>(sums(places[j] / n)[places[j] % n]) * to_slope;
        cut.mean_square += masses[j] * value * value;
    }
    cut.by_label.assign(tree_.nodes.size() * n, 0.0);
    std::copy(cut.values.begin(), cut.values.end(), cut.by_label.begin());
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
        // Below the cut every node answers like the leaf above it.
        if (tree_.nodes[i].left < 0 || (i < size && !is_leaf(i))) continue;
        for (std::size_t child = 0; child < 2; ++child)
            std::copy_n(cut.by_label.data() + i * n, n,
                        cut.by_label.data() + (static_cast<std::size_t>(tree_.nodes[i].left) + child) * n);
    }
    return cut;
}

// Neither fitting on rows that growth did not see nor the ball respects the order that monotone columns ask for: what lies on
// the wrong side of the middle between two children's means moves there. Making all values smaller keeps the order.
void GradientGrower::keep_directions(std::size_t size, std::vector<double>& values, NormOrder order) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<double> means(values), lowest(size, -kInfinity), highest(size, kInfinity);
    const auto left_of = [&](std::size_t i) {
        const std::int32_t left = tree_.nodes[i].left;
        return left >= 0 && static_cast<std::size_t>(left) < size ? static_cast<std::size_t>(left) : 0;
    };
    const auto mass = [&](std::size_t i) { return static_cast<double>(sums(i)[1]); };
    for (std::size_t i = size; i-- > 0;) {
        const std::size_t left = left_of(i);
        if (left == 0 || mass(i) == 0) continue;
        means[i] = (mass(left) * means[left] + mass(left + 1) * means[left + 1]) / mass(i);
    }
    const auto bounded = [&](std::size_t i, double value) { return std::min(std::max(value, lowest[i]), highest[i]); };
    double norm = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const std::size_t left = left_of(i);
        if (left == 0) {
            values[i] = bounded(i, values[i]);
            const double length = std::fabs(values[i]);
            norm = order == NormOrder::infinity ? std::max(norm, length)
                                                : norm + (order == NormOrder::one ? length : length * length);
            continue;
        }
        for (const std::size_t child : {left, left + 1}) {
            lowest[child] = lowest[i];
            highest[child] = highest[i];
        }
        const int direction = directions_[tree_.nodes[i].column];
        if (direction == 0) continue;
        const double middle = 0.5 * bounded(i, means[left]) + 0.5 * bounded(i, means[left + 1]);
        highest[direction > 0 ? left : left + 1] = middle;
        lowest[direction > 0 ? left + 1 : left] = middle;
    }
    if (order == NormOrder::two) norm = std::sqrt(norm);
    for (std::size_t i = 0; norm > 1 && i < size; ++i) values[i] /= norm;
}

}  // namespace radboost
