#include "growth/node_grower.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "core/hashing.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

// Histograms of open nodes beyond this are dropped and built anew when their turn comes.
constexpr std::size_t kHistogramBytes = std::size_t{1} << 30;
constexpr std::size_t kCheckUpdates = 20000000;  // histogram updates between two looks for Ctrl-C
// A node of at most this many rows is searched straight from them: cheaper than clearing and scanning histograms.
constexpr std::size_t kFewRows = 128;
// Row times column cells from which on subtrees are worth a thread each.
constexpr std::size_t kCellsForSubtrees = 200000;

}  // namespace

NodeGrower::NodeGrower(const BinnedData& data, const GrowthTarget& target, const GrowthOptions& options,
                       const RowMasses& masses, SharedRows& shared)
    : data_(data),
      target_(target),
      options_(options),
      masses_(masses),
      shared_(shared),
      collective_(target.row_weights().collective()),
      alone_(collective_.alone()),
      n_threads_(options.n_threads),
      statistics_(target.make_statistics(data)),
      pairs_(options.growth == Growth::stump_pair ? dynamic_cast<PairStatistics*>(statistics_.get()) : nullptr),
      draws_(data.n_columns) {
    require(options.growth != Growth::stump_pair || pairs_ != nullptr, "regression trees have no stump pairs");
    const std::size_t bytes = std::max<std::size_t>(1, statistics_->histogram_bytes(masses.minimum > 0));
    most_lent_ = std::max<std::size_t>(4, kHistogramBytes / bytes);
}

void NodeGrower::grow(bool all, std::size_t count, std::uint64_t key, InterruptCheck check) {
    plant(all, count, key);
    check();
    Frontier open;
    open_leaves(0, open);
    if (options_.growth != Growth::stump_pair)
        grow_by_frontiers(open, check);
    else if (!open.empty())
        split_pair();
}

void NodeGrower::plant(bool all, std::size_t count, std::uint64_t key) {
    nodes_.clear();
    nodes_.emplace_back();
    WorkNode& root = nodes_.back();
    shared_.n_labels = 1;
    root.node.rows = {all ? nullptr : shared_.rows.data(), count};
    root.key = key;
    root.scope = options_.interactions.root(data_.n_columns);
    statistics_->describe(root.node, n_threads_);
    std::vector<std::int64_t> numbers{static_cast<std::int64_t>(count), masses_.sum(root.node.rows)};
    numbers.insert(numbers.end(), root.node.sums.begin(), root.node.sums.end());
    collective_.sum(numbers.data(), numbers.size());
    root.node.count = static_cast<std::size_t>(numbers[0]);
    root.mass = root.node.mass = numbers[1];
    root.node.sums.assign(numbers.begin() + 2, numbers.end());
    if (wants_histogram(root)) build(root);
}

// Finds the splits of the new leaves, which are the nodes from `first` on, and puts those that have one on the list.
void NodeGrower::open_leaves(std::size_t first, Frontier& open) {
    searched_.clear();
    for (std::size_t index = first; index < nodes_.size(); ++index) {
        const WorkNode& node = nodes_[index];
        if (node.node.count > 1 && !options_.deepest(node.depth) && !statistics_->cannot_improve(node.node))
            searched_.push_back(index);
    }
    if (alone_)
        for (const std::size_t index : searched_) search(nodes_[index]);
    else
        search_together(searched_);
    for (std::size_t index = first; index < nodes_.size(); ++index) {
        WorkNode& node = nodes_[index];
        if (!node.split.valid || n_lent_ >= most_lent_) give_back(node);
        if (node.split.valid) open.push_back(index);
    }
}

// Takes the nodes that are divided next off the list of open ones, into frontier_.
void NodeGrower::take_frontier(Frontier& open, bool by_threads) {
    frontier_.clear();
    auto next = open.end() - 1;  // depth first keeps few histograms; the layers come out the same
    if (options_.growth == Growth::best_first)
        next = std::max_element(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
            const double ga = nodes_[a].split.gain, gb = nodes_[b].split.gain;
            return ga < gb || (ga == gb && a > b);
        });
    else if (!alone_)
        return frontier_.swap(open);
    else if (by_threads)  // the largest, until all are small enough for one thread
        next = std::max_element(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
            return nodes_[a].n_rows() < nodes_[b].n_rows();
        });
    frontier_.push_back(*next);
    open.erase(next);
}

void NodeGrower::grow_by_frontiers(Frontier& open, InterruptCheck check) {
    std::size_t n_leaves = 1, updates = 0;
    const std::size_t width = options_.max_features ? options_.max_features : data_.n_columns;
    const bool by_threads = alone_ && n_threads_ > 1 && options_.growth != Growth::best_first &&
                            n_cells(open) >= kCellsForSubtrees;
    while (!open.empty() && (options_.max_leaves == 0 || n_leaves < options_.max_leaves)) {
        if (by_threads && small_enough(open)) return grow_subtrees(open);
        take_frontier(open, by_threads);
        for (const std::size_t index : frontier_) updates += nodes_[index].n_rows() * width;
        if (updates >= kCheckUpdates && check != nullptr) {
            updates = 0;
            check();
        }
        const bool last_layer = options_.deepest(nodes_[frontier_[0]].depth + 1);
        const std::size_t first_child = nodes_.size();
        n_leaves += frontier_.size();
        divide(frontier_, last_layer);
        open_leaves(first_child, open);
    }
    for (const std::size_t index : open) give_back(nodes_[index]);
}

// Family H_2 of Deep Boosting: the second question is the same at both leaves of the stump.
void NodeGrower::split_pair() {
    const std::size_t excluded = data_.n_columns > 1 ? nodes_[0].split.column : data_.n_columns;
    const std::uint64_t key = mix(nodes_[0].key, 3);
    SplitSearch search = search_of(nodes_[0]);
    search.draw_key = key;
    divide({0}, false);
    std::vector<std::uint32_t> columns;
    ColumnSet set = all_columns(nodes_[1]);
    if (options_.max_features > 0) {
        columns = draw_columns(nodes_[1], key, 0, std::min(options_.max_features, n_columns(nodes_[1])));
        set = {columns.data(), columns.size()};
    }
    const Split shared = alone_ ? pairs_->find_shared(nodes_[1].node, nodes_[2].node, set, excluded, search)
                                : search_pair_together(set, excluded, search);
    if (!shared.valid) return;
    for (const std::size_t index : {std::size_t{1}, std::size_t{2}}) {
        nodes_[index].split = shared;
        nodes_[index].split.gain = shared.gain / 2;
    }
    divide({1, 2}, true);
}

// Categories that the search did not place, because they have no weight in the node, follow the heavier child.
void NodeGrower::place_other_categories(const Frontier& frontier) {
    constexpr std::size_t kCodes = 256;
    Frontier unplaced;
    for (const std::size_t index : frontier) {
        const Split& split = nodes_[index].split;
        const std::size_t n_categories = data_.is_categorical[split.column] ? data_.n_bins(split.column) : 0;
        for (std::size_t code = 0; code < n_categories; ++code)
            if (!split.placed.has(code)) {
                unplaced.push_back(index);
                break;
            }
    }
    if (unplaced.empty()) return;
    std::vector<std::int64_t> masses(unplaced.size() * kCodes, 0);  // of each node by code
    for (std::size_t k = 0; k < unplaced.size(); ++k) {
        const WorkNode& node = nodes_[unplaced[k]];
        const std::uint8_t* codes = data_.column(node.split.column);
        for (std::size_t i = 0; i < node.n_rows(); ++i) {
            const std::size_t row = node.node.rows[i];
            masses[k * kCodes + codes[row]] += masses_.of(row);
        }
    }
    collective_.sum(masses.data(), masses.size());
    for (std::size_t k = 0; k < unplaced.size(); ++k) {
        Split& split = nodes_[unplaced[k]].split;
        const std::size_t n_categories = data_.n_bins(split.column);
        const SideTable sides = sides_of(data_, split);
        std::int64_t left = 0, right = 0;
        for (std::size_t code = 0; code < kCodes; ++code) {
            const bool placed = code >= n_categories || split.placed.has(code);
            if (placed) (sides[code] ? left : right) += masses[k * kCodes + code];
        }
        for (std::size_t code = 0; left >= right && code < n_categories; ++code)
            if (!split.placed.has(code)) split.left.add(code);
    }
}

// Sends the rows of the frontier's nodes to two children each, appended to nodes_, and gives these what they need to be
// searched, unless they are the last layer.
void NodeGrower::divide(const Frontier& frontier, bool last_layer) {
    place_other_categories(frontier);
    const bool in_place = last_layer && masses_.of_row.empty();
    for (const std::size_t index : frontier) nodes_[index].left = shared_.n_labels.fetch_add(2);
    divisions_.clear();
    numbers_.clear();
    for (const std::size_t index : frontier) {
        divisions_.push_back(send_rows(nodes_[index], in_place));
        const Division& own = divisions_.back();
        numbers_.insert(numbers_.end(), {own.left_count, own.missing_count, own.left_mass});
    }
    collective_.sum(numbers_.data(), numbers_.size());
    for (std::size_t k = 0; k < frontier.size(); ++k) {
        Division& division = divisions_[k];
        division.left_count = numbers_[3 * k];
        division.missing_count = numbers_[3 * k + 1];
        division.left_mass = numbers_[3 * k + 2];
        add_children(frontier[k], division, last_layer, in_place);
    }
}

// In place: the rows stay where they are and get the labels of the children.
NodeGrower::Division NodeGrower::send_rows(const WorkNode& parent, bool in_place) {
    const Question question{parent.split.column, parent.split.bin, parent.split.missing_left, parent.split.left};
    Partition partition;
    std::int64_t left_mass;
    if (in_place) {
        partition = assign_children(data_, question, parent.node.rows, static_cast<std::int32_t>(parent.left),
                                    static_cast<std::int32_t>(parent.left + 1), shared_.leaf_of_row, n_threads_);
        left_mass = static_cast<std::int64_t>(partition.left_count);
    } else {
        std::uint32_t* rows = shared_.rows.data() + parent.begin;
        partition = partition_rows(data_, question, parent.node.rows, rows, shared_.scratch.data() + parent.begin,
                                   n_threads_);
        left_mass = masses_.sum({rows, partition.left_count});
    }
    return {partition.left_count, static_cast<std::int64_t>(partition.left_count),
            static_cast<std::int64_t>(partition.missing_count), left_mass};
}

void NodeGrower::add_children(std::size_t index, const Division& division, bool last_layer, bool in_place) {
    WorkNode parent = std::move(nodes_[index]);
    // Missing values that the node's rows did not have go where most of the weight goes.
    parent.missing_left = division.missing_count > 0 ? parent.split.missing_left : 2 * division.left_mass >= parent.mass;
    WorkNode children[2];
    for (std::size_t side = 0; side < 2; ++side) {
        WorkNode& child = children[side];
        child.label = parent.left + side;
        child.depth = parent.depth + 1;
        child.key = mix(parent.key, side + 1);
        child.scope = options_.interactions.below(parent.scope, parent.split.column);
        child.begin = parent.begin + (side == 0 ? 0 : division.left_rows);
        child.mass = child.node.mass = side == 0 ? division.left_mass : parent.mass - division.left_mass;
        const auto left_count = static_cast<std::size_t>(division.left_count);
        child.node.count = side == 0 ? left_count : parent.node.count - left_count;
        if (in_place) continue;
        child.node.rows = {shared_.rows.data() + child.begin,
                           side == 0 ? division.left_rows : parent.n_rows() - division.left_rows};
    }
    if (!last_layer) {
        statistics_->describe_children(parent.node, parent.split, children[0].node, children[1].node);
        give_children_histograms(parent, children[0], children[1]);
    }
    give_back(parent);
    nodes_[index] = std::move(parent);
    nodes_.push_back(std::move(children[0]));
    nodes_.push_back(std::move(children[1]));
}

// Whether a node is searched through histograms of all columns: they pay when all columns and thresholds are wanted.
bool NodeGrower::wants_histogram(const WorkNode& node) const {
    return alone_ && options_.max_features == 0 && !options_.random_thresholds &&
           options_.growth != Growth::stump_pair && node.n_rows() > kFewRows && !options_.deepest(node.depth) &&
           !statistics_->cannot_improve(node.node);
}

std::unique_ptr<NodeHistograms> NodeGrower::lend() {
    ++n_lent_;
    if (spare_.empty()) return std::make_unique<NodeHistograms>();
    auto histograms = std::move(spare_.back());
    spare_.pop_back();
    return histograms;
}

void NodeGrower::give_back(WorkNode& node) {
    if (!node.histograms) return;
    --n_lent_;
    spare_.push_back(std::move(node.histograms));
}

void NodeGrower::build(WorkNode& node) {
    SplitSearch search = search_of(node);
    search.n_threads = n_threads_;
    node.histograms = lend();
    statistics_->build(node.node, search, *node.histograms);
}

// Builds the smaller child's histograms and takes them from the parent's, which become the larger child's.
void NodeGrower::give_children_histograms(WorkNode& parent, WorkNode& left, WorkNode& right) {
    WorkNode& smaller = left.n_rows() <= right.n_rows() ? left : right;
    WorkNode& larger = &smaller == &left ? right : left;
    if (wants_histogram(smaller)) build(smaller);
    if (!wants_histogram(larger)) return;
    if (!parent.histograms) {
        build(larger);
        return;
    }
    larger.histograms = std::move(parent.histograms);
    statistics_->subtract(smaller.node, smaller.histograms.get(), search_of(larger), *larger.histograms);
}

std::size_t NodeGrower::n_cells(const Frontier& open) const {
    std::size_t n_rows = 0;
    for (const std::size_t index : open) n_rows += nodes_[index].n_rows();
    return n_rows * data_.n_columns;
}

// Whether no open node would keep one thread busy much longer than the others.
bool NodeGrower::small_enough(const Frontier& open) const {
    std::size_t largest = 0;
    for (const std::size_t index : open) largest = std::max(largest, nodes_[index].n_rows() * data_.n_columns);
    return 2 * static_cast<std::size_t>(n_threads_) * largest <= std::max(n_cells(open), kCellsForSubtrees);
}

// Every open node with what becomes of it goes to one thread, the largest first: no thread waits for another between
// nodes, and the rows of a subtree stay in the cache of one core.
void NodeGrower::grow_subtrees(Frontier& open) {
    std::sort(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
        return nodes_[a].n_rows() != nodes_[b].n_rows() ? nodes_[a].n_rows() > nodes_[b].n_rows() : a < b;
    });
    const auto threads = static_cast<std::size_t>(n_threads_);
    while (helpers_.size() < threads) {
        helpers_.push_back(std::make_unique<NodeGrower>(data_, target_, options_, masses_, shared_));
        helpers_.back()->n_threads_ = 1;
    }
    std::atomic<std::size_t> next{0};
    // A task is a thread's turn at the queue, so that it keeps its grower.
    parallel_for(n_threads_, threads, [&](std::size_t thread) {
        for (std::size_t k = next++; k < open.size(); k = next++)
            helpers_[thread]->grow_subtree(std::move(nodes_[open[k]]));
    });
    std::size_t kept = 0;
    std::sort(open.begin(), open.end());
    for (std::size_t index = 0, k = 0; index < nodes_.size(); ++index) {
        if (k < open.size() && open[k] == index) {  // has moved
            ++k;
            continue;
        }
        if (kept != index) nodes_[kept] = std::move(nodes_[index]);
        ++kept;
    }
    nodes_.resize(kept);
    for (std::size_t thread = 0; thread < threads; ++thread) {
        NodeGrower& helper = *helpers_[thread];
        std::move(helper.nodes_.begin(), helper.nodes_.end(), std::back_inserter(nodes_));
        helper.nodes_.clear();
        std::move(helper.spare_.begin(), helper.spare_.end(), std::back_inserter(spare_));
        helper.spare_.clear();
        helper.n_lent_ = 0;
    }
    n_lent_ = 0;
}

void NodeGrower::grow_subtree(WorkNode&& root) {
    if (root.histograms) ++n_lent_;
    nodes_.push_back(std::move(root));
    Frontier open{nodes_.size() - 1};
    grow_by_frontiers(open, nullptr);
}

}  // namespace radboost
