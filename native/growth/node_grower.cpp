#include "growth/node_grower.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/hashing.hpp"
#include "core/pool.hpp"
#include "search/histogram_words.hpp"

namespace radboost {
namespace {

// Maximum memory of the histograms of open nodes; beyond it they are dropped and rebuilt when needed.
constexpr std::size_t kHistogramBytes = std::size_t{1} << 30;
constexpr std::size_t kCheckUpdates = 20000000;  // histogram updates between two checks for Ctrl-C
// Cells (rows times columns) from which subtrees are grown by a thread each.
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
    share_histograms_ = !alone_ && full_search();
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
    if (!pending_.empty()) add_up();
}

// Makes the root.
void NodeGrower::plant(bool all, std::size_t count, std::uint64_t key) {
    nodes_.clear();
    pending_.clear();  // left over if the last tree was interrupted
    sent_.clear();
    nodes_.emplace_back();
    WorkNode& root = nodes_.back();
    shared_.n_labels = 1;
    root.node.rows = {all ? nullptr : shared_.rows.data(), count};
    root.key = key;
    root.scope = options_.interactions.root(data_.n_columns);
    statistics_->describe(root.node, n_threads_);
    numbers_.assign({static_cast<std::int64_t>(count), masses_.sum(root.node.rows)});
    numbers_.insert(numbers_.end(), root.node.sums.begin(), root.node.sums.end());
    const std::size_t known = numbers_.size();
    if (share_histograms_) {
        root.own = lend();
        build(root, *root.own, n_threads_);
        n_words_ = n_words(data_, *root.own);
        numbers_.resize(known + n_words_);
        write_words(data_, *root.own, numbers_.data() + known);
    }
    sum_numbers();
    root.node.count = static_cast<std::size_t>(numbers_[0]);
    root.mass = root.node.mass = numbers_[1];
    std::copy(numbers_.begin() + 2, numbers_.begin() + static_cast<std::ptrdiff_t>(known), root.node.sums.begin());
    if (share_histograms_) {
        root.histograms = lend();
        read_words(data_, numbers_.data() + known, *root.own, *root.histograms);
    } else if (wants_histogram(root)) {
        root.histograms = lend();
        build(root, *root.histograms, n_threads_);
    }
}

// Searches the splits of the new leaves, nodes_[first ...], and appends those with a valid split to `open`.
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
        search_layer(searched_);
    for (std::size_t index = first; index < nodes_.size(); ++index) {
        WorkNode& node = nodes_[index];
        if (!node.split.valid || n_lent_ >= most_lent_) give_back(node);
        if (node.split.valid) open.push_back(index);
    }
}

// Moves the nodes that are divided next from `open` to frontier_.
void NodeGrower::take_frontier(Frontier& open, bool by_threads) {
    frontier_.clear();
    auto next = open.end() - 1;  // depth first keeps few histograms; the tree is the same
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

// Splits both leaves of a stump by the same test: family H_2 of Deep Boosting (Cortes, Mohri and Syed, 2014).
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

// Rows times columns of the open nodes.
std::size_t NodeGrower::n_cells(const Frontier& open) const {
    std::size_t n_rows = 0;
    for (const std::size_t index : open) n_rows += nodes_[index].n_rows();
    return n_rows * data_.n_columns;
}

// True if the largest open node is small enough for one thread not to be busy much longer than the others.
bool NodeGrower::small_enough(const Frontier& open) const {
    std::size_t largest = 0;
    for (const std::size_t index : open) largest = std::max(largest, nodes_[index].n_rows() * data_.n_columns);
    return 2 * static_cast<std::size_t>(n_threads_) * largest <= std::max(n_cells(open), kCellsForSubtrees);
}

// Grows the subtree of each open node in one thread, the largest first, so that its rows stay in the cache of one core.
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
    // One task per thread, which takes nodes from a queue, because a grower is not thread-safe.
    parallel_for(n_threads_, threads, [&](std::size_t thread) {
        for (std::size_t k = next++; k < open.size(); k = next++)
            helpers_[thread]->grow_subtree(std::move(nodes_[open[k]]));
    });
    std::size_t kept = 0;
    std::sort(open.begin(), open.end());
    for (std::size_t index = 0, k = 0; index < nodes_.size(); ++index) {
        if (k < open.size() && open[k] == index) {  // was moved to a helper
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
