#include "growth/node_grower.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "core/hashing.hpp"
#include "search/partition.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

constexpr std::size_t kRowsPerTask = 16384;
// Histograms of open nodes beyond this are dropped and built anew when their turn comes.
constexpr std::size_t kHistogramBytes = std::size_t{1} << 30;
constexpr std::size_t kCheckUpdates = 20000000;  // histogram updates between two looks for Ctrl-C
// A node of at most this many rows is searched straight from them: cheaper than clearing and scanning histograms.
constexpr std::size_t kFewRows = 128;
constexpr std::size_t kManySlots = 40000;
// Row times column cells from which on subtrees are worth a thread each.
constexpr std::size_t kCellsForSubtrees = 200000;

}  // namespace

std::int64_t RowMasses::sum(const RowSet& rows) const {
    if (of_row.empty()) return static_cast<std::int64_t>(rows.count);
    std::int64_t mass = 0;
    for (std::size_t i = 0; i < rows.count; ++i) mass += of_row[rows[i]];
    return mass;
}

NodeGrower::NodeGrower(const BinnedData& data, StatisticsMaker make_statistics, const GrowthOptions& options,
                       const RowMasses& masses, SharedRows& shared)
    : data_(data),
      make_statistics_(std::move(make_statistics)),
      options_(options),
      masses_(masses),
      shared_(shared),
      n_threads_(options.n_threads),
      statistics_(make_statistics_()),
      draws_(data.n_columns) {
    const std::size_t bytes = std::max<std::size_t>(1, statistics_->histogram_bytes(masses.minimum > 0));
    most_lent_ = std::max<std::size_t>(4, kHistogramBytes / bytes);
}

// Whether a node is searched through histograms of all columns: they pay when all columns and thresholds are wanted.
bool NodeGrower::wants_histogram(const WorkNode& node) const {
    return options_.max_features == 0 && !options_.random_thresholds && options_.growth != Growth::stump_pair &&
           node.count() > kFewRows && node.depth < options_.max_depth && !statistics_->hopeless(node.node);
}

SplitSearch NodeGrower::search_of(const WorkNode& node, std::size_t n_rows) const {
    // Scanning the slots is worth waking threads only where the rows before kept them awake, or for many columns.
    const bool share = n_rows >= kRowsPerTask || data_.n_slots() >= kManySlots;
    return {masses_.minimum > 0 ? masses_.of_row.data() : nullptr, masses_.minimum, options_.random_thresholds, node.key,
            share || !node.histograms ? n_threads_ : 1};
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
    node.histograms = lend();
    SplitSearch search = search_of(node, node.count());
    search.n_threads = n_threads_;
    statistics_->build(node.node, search, *node.histograms);
}

// Finds the node's split: from its histograms where it has them, otherwise from its rows. With a few drawn columns,
// twice as many are drawn as long as the node's rows are alike in all of them.
void NodeGrower::search(WorkNode& node) {
    const SplitSearch search = search_of(node, node.count());
    if (node.histograms) {
        node.split = statistics_->find(node.node, *node.histograms, search);
        return;
    }
    const std::size_t d = data_.n_columns;
    if (options_.max_features == 0) {
        node.split = statistics_->find_in_rows(node.node, {nullptr, d}, search);
        return;
    }
    std::size_t first = 0, last = options_.max_features;
    for (; first < d && !node.split.asked; first = last, last = std::min(d, 2 * last)) {
        const std::vector<std::uint32_t> columns = draws_.draw(node.key, first, last);
        node.split = statistics_->find_in_rows(node.node, {columns.data(), columns.size()}, search);
    }
}

// Builds the smaller child's histograms and takes them from the parent's, which become the larger child's.
void NodeGrower::give_children_histograms(WorkNode& parent, WorkNode& left, WorkNode& right) {
    WorkNode& smaller = left.count() <= right.count() ? left : right;
    WorkNode& larger = &smaller == &left ? right : left;
    if (wants_histogram(smaller)) build(smaller);
    if (!wants_histogram(larger)) return;
    if (!parent.histograms) {
        build(larger);
        return;
    }
    larger.histograms = std::move(parent.histograms);
    statistics_->take_out(smaller.node, smaller.histograms.get(), search_of(larger, larger.count()), *larger.histograms);
}

// Categories that the search did not place, because they have no weight in the node, follow the heavier child.
void NodeGrower::place_other_categories(const Node& node, Split& split) const {
    const std::size_t n_categories = data_.n_bins(split.column);
    std::vector<std::size_t> others;
    for (std::size_t code = 0; code < n_categories; ++code)
        if (!split.placed.has(code)) others.push_back(code);
    if (others.empty()) return;
    const std::uint8_t* codes = data_.column(split.column);
    std::array<std::int64_t, 256> masses{};
    for (std::size_t i = 0; i < node.rows.count; ++i) {
        const std::size_t row = node.rows[i];
        masses[codes[row]] += masses_.of_row.empty() ? 1 : masses_.of_row[row];
    }
    const SideTable sides = sides_of(data_, split);
    std::int64_t left = 0, right = 0;
    for (std::size_t code = 0; code < masses.size(); ++code) {
        const bool placed = code >= n_categories || split.placed.has(code);
        if (placed) (sides[code] ? left : right) += masses[code];
    }
    for (const std::size_t code : others)
        if (left >= right) split.left.add(code);
}

// Sends the rows of nodes_[index] to two children, appended to nodes_, and gives these their histograms. Returns the place
// of the left one.
std::size_t NodeGrower::divide(std::size_t index, bool last_layer) {
    const std::size_t left_index = nodes_.size();
    WorkNode parent = std::move(nodes_[index]);
    parent.left = shared_.n_labels.fetch_add(2);
    if (data_.is_categorical[parent.split.column]) place_other_categories(parent.node, parent.split);
    const Question question{parent.split.column, parent.split.bin, parent.split.missing_left, parent.split.left};
    std::uint32_t* rows = shared_.rows.data() + parent.begin;
    const bool in_place = last_layer && masses_.of_row.empty();
    Partition partition;
    std::int64_t left_mass = 0;
    if (in_place) {
        partition = assign_children(data_, question, parent.node.rows, static_cast<std::int32_t>(parent.left),
                                    static_cast<std::int32_t>(parent.left + 1), shared_.leaf_of_row, n_threads_);
        left_mass = static_cast<std::int64_t>(partition.left_count);
    } else {
        partition = partition_rows(data_, question, parent.node.rows, rows, shared_.scratch.data() + parent.begin,
                                   n_threads_);
        left_mass = masses_.sum({rows, partition.left_count});
    }
    // Missing values that the node's rows did not have go where most of the weight goes.
    parent.missing_left = partition.missing_count > 0 ? parent.split.missing_left : 2 * left_mass >= parent.mass;
    WorkNode children[2];
    for (std::size_t side = 0; side < 2; ++side) {
        WorkNode& child = children[side];
        child.label = parent.left + side;
        child.depth = parent.depth + 1;
        child.key = mix(parent.key, side + 1);
        child.begin = parent.begin + (side == 0 ? 0 : partition.left_count);
        child.mass = child.node.mass = side == 0 ? left_mass : parent.mass - left_mass;
        if (in_place) continue;
        child.node.rows = {shared_.rows.data() + child.begin,
                           side == 0 ? partition.left_count : parent.count() - partition.left_count};
    }
    if (!last_layer) {
        statistics_->describe_children(parent.node, parent.split, children[0].node, children[1].node);
        give_children_histograms(parent, children[0], children[1]);
    }
    give_back(parent);
    nodes_[index] = std::move(parent);
    nodes_.push_back(std::move(children[0]));
    nodes_.push_back(std::move(children[1]));
    return left_index;
}

// Looks for the split of a new leaf and puts the leaf on the list when there is one.
void NodeGrower::open_leaf(std::size_t index, std::vector<std::size_t>& open) {
    WorkNode& node = nodes_[index];
    const bool searchable = node.count() > 1 && node.depth < options_.max_depth && !statistics_->hopeless(node.node);
    if (searchable) search(node);
    if (!node.split.valid || n_lent_ >= most_lent_) give_back(node);
    if (node.split.valid) open.push_back(index);
}

// Family H_2 of Deep Boosting: the second question is the same at both leaves of the stump.
void NodeGrower::split_pair() {
    const std::size_t excluded = data_.n_columns > 1 ? nodes_[0].split.column : data_.n_columns;
    const std::uint64_t key = mix(nodes_[0].key, 3);
    const std::size_t n_rows = nodes_[0].count();
    divide(0, false);
    std::vector<std::uint32_t> columns = draws_.draw(key, 0, options_.max_features);
    const ColumnSet set{options_.max_features > 0 ? columns.data() : nullptr,
                        options_.max_features > 0 ? columns.size() : data_.n_columns};
    SplitSearch search = search_of(nodes_[0], n_rows);
    search.draw_key = key;
    const Split shared = dynamic_cast<PairStatistics&>(*statistics_).find_shared(nodes_[1].node, nodes_[2].node, set, excluded, search);
    if (!shared.valid) return;
    for (const std::size_t index : {std::size_t{1}, std::size_t{2}}) {
        nodes_[index].split = shared;
        nodes_[index].split.gain = shared.gain / 2;
        divide(index, true);
    }
}

void NodeGrower::plant(bool all, std::size_t count, std::uint64_t key) {
    nodes_.clear();
    nodes_.emplace_back();
    WorkNode& root = nodes_.back();
    shared_.n_labels = 1;
    root.node.rows = {all ? nullptr : shared_.rows.data(), count};
    root.key = key;
    root.mass = root.node.mass = masses_.sum(root.node.rows);
    statistics_->describe(root.node, n_threads_);
    if (wants_histogram(root)) build(root);
}

void NodeGrower::grow(bool all, std::size_t count, std::uint64_t key, InterruptCheck check) {
    plant(all, count, key);
    check();
    std::vector<std::size_t> open;
    open_leaf(0, open);
    if (options_.growth != Growth::stump_pair)
        grow_leaf_by_leaf(open, check);
    else if (!open.empty())
        split_pair();
}

void NodeGrower::grow_leaf_by_leaf(std::vector<std::size_t>& open, InterruptCheck check) {
    std::size_t n_leaves = 1, updates = 0;
    const bool best_first = options_.growth == Growth::best_first;
    const std::size_t width = options_.max_features ? options_.max_features : data_.n_columns;
    const bool shared = n_threads_ > 1 && !best_first && n_cells(open) >= kCellsForSubtrees;
    while (!open.empty() && (options_.max_leaves == 0 || n_leaves < options_.max_leaves)) {
        if (shared && small_enough(open)) return grow_subtrees(open);
        auto next = open.end() - 1;  // depth first keeps few histograms; the layers come out the same
        if (best_first)
            next = std::max_element(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
                const double ga = nodes_[a].split.gain, gb = nodes_[b].split.gain;
                return ga < gb || (ga == gb && a > b);
            });
        else if (shared)  // the largest, until all are small enough for one thread
            next = std::max_element(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
                return nodes_[a].count() < nodes_[b].count();
            });
        const std::size_t index = *next;
        open.erase(next);
        updates += nodes_[index].count() * width;
        if (updates >= kCheckUpdates && check != nullptr) {
            updates = 0;
            check();
        }
        const std::size_t left = divide(index, nodes_[index].depth + 1 >= options_.max_depth);
        open_leaf(left, open);
        open_leaf(left + 1, open);
        ++n_leaves;
    }
    for (const std::size_t index : open) give_back(nodes_[index]);
}

std::size_t NodeGrower::n_cells(const std::vector<std::size_t>& open) const {
    std::size_t n_rows = 0;
    for (const std::size_t index : open) n_rows += nodes_[index].count();
    return n_rows * data_.n_columns;
}

// Whether no open node would keep one thread busy much longer than the others.
bool NodeGrower::small_enough(const std::vector<std::size_t>& open) const {
    std::size_t largest = 0;
    for (const std::size_t index : open) largest = std::max(largest, nodes_[index].count() * data_.n_columns);
    return 2 * static_cast<std::size_t>(n_threads_) * largest <= std::max(n_cells(open), kCellsForSubtrees);
}

// Every open node with what becomes of it goes to one thread, the largest first: no thread waits for another between
// nodes, and the rows of a subtree stay in the cache of one core.
void NodeGrower::grow_subtrees(std::vector<std::size_t>& open) {
    std::sort(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
        return nodes_[a].count() != nodes_[b].count() ? nodes_[a].count() > nodes_[b].count() : a < b;
    });
    const auto threads = static_cast<std::size_t>(n_threads_);
    while (helpers_.size() < threads) {
        helpers_.push_back(std::make_unique<NodeGrower>(data_, make_statistics_, options_, masses_, shared_));
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
    std::vector<std::size_t> open{nodes_.size() - 1};
    grow_leaf_by_leaf(open, nullptr);
}

}  // namespace radboost
