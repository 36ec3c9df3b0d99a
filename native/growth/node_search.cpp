// How NodeGrower finds splits: a node at a time where this process has all rows, otherwise many nodes together.
#include <algorithm>
#include <utility>

#include "core/pool.hpp"
#include "growth/node_grower.hpp"

namespace radboost {
namespace {

constexpr std::size_t kRowsPerTask = 16384;
constexpr std::size_t kManySlots = 40000;

}  // namespace

SplitSearch NodeGrower::search_of(const WorkNode& node) const {
    // Threads scan the slots of histograms only where there are many of them, or many rows: otherwise the threads, idle
    // since the node's rows were summed, would take longer to wake up.
    const bool share = node.n_rows() >= kRowsPerTask || data_.n_slots() >= kManySlots;
    return {masses_.minimum > 0 ? masses_.of_row.data() : nullptr, masses_.minimum, options_.random_thresholds, node.key,
            share || !node.histograms ? n_threads_ : 1};
}

// From the node's histograms where it has them, otherwise from its rows. With a few drawn columns, twice as many are drawn as
// long as the node's rows are alike in all of them.
void NodeGrower::search(WorkNode& node) {
    const SplitSearch search = search_of(node);
    if (node.histograms) {
        node.split = statistics_->find(node.node, *node.histograms, all_columns(node), search);
        return;
    }
    if (options_.max_features == 0) {
        node.split = statistics_->find_in_rows(node.node, all_columns(node), search);
        return;
    }
    const std::size_t d = n_columns(node);
    std::size_t first = 0, last = std::min(d, options_.max_features);
    for (; first < d && !node.split.asked; first = last, last = std::min(d, 2 * last)) {
        const std::vector<std::uint32_t> columns = draw_columns(node, node.key, first, last);
        node.split = statistics_->find_in_rows(node.node, {columns.data(), columns.size()}, search);
    }
}

// Several workers: from the histograms of all of them, or otherwise together.
void NodeGrower::search_layer(const Frontier& frontier) {
    Frontier ready, others;
    for (const std::size_t index : frontier) (nodes_[index].histograms ? ready : others).push_back(index);
    for_each_node(ready.size(), [&](std::size_t k, int) { search(nodes_[ready[k]]); });
    if (!others.empty()) search_together(others);
}

// Finds the splits of a frontier's nodes from tables of their columns.
void NodeGrower::search_together(const Frontier& frontier) {
    std::vector<Node*> nodes;
    for (const std::size_t index : frontier) nodes.push_back(&nodes_[index].node);
    statistics_->gather(nodes.data(), nodes.size(), n_threads_);
    const std::size_t d = data_.n_columns;
    std::size_t first = 0, last = options_.max_features == 0 ? d : options_.max_features;
    Frontier open = frontier;
    for (; first < d && !open.empty(); first = last, last = std::min(d, 2 * last)) {
        std::vector<AskedColumn> asked;
        std::vector<BestSplit> bests;
        std::vector<std::size_t> place_of_node(nodes_.size());
        for (const std::size_t index : open) {
            const WorkNode& node = nodes_[index];
            for (const std::uint32_t column : draw_columns(node, node.key, first, std::min(last, n_columns(node))))
                asked.push_back({index, column});
            place_of_node[index] = bests.size();
            bests.push_back(statistics_->start(nodes_[index].node));
        }
        measure_columns(asked, 1, [&](const AskedColumn& one, const std::vector<ColumnTable>& tables) {
            const WorkNode& node = nodes_[one.node];
            statistics_->choose(node.node, one.column, tables[0], search_of(node), bests[place_of_node[one.node]]);
        });
        for (std::size_t k = 0; k < open.size(); ++k)
            nodes_[open[k]].split = statistics_->finish(nodes_[open[k]].node, std::move(bests[k]));
        const auto done = [&](std::size_t index) { return nodes_[index].split.asked || last >= n_columns(nodes_[index]); };
        open.erase(std::remove_if(open.begin(), open.end(), done), open.end());
    }
}

// The question asked at both leaves of a stump, which are nodes_[1] and nodes_[2].
Split NodeGrower::search_pair_together(ColumnSet columns, std::size_t excluded, const SplitSearch& search) {
    Node &first = nodes_[1].node, &second = nodes_[2].node;
    Node* const both[] = {&first, &second};
    statistics_->gather(both, 2, n_threads_);
    std::vector<AskedColumn> asked;
    for (std::size_t k = 0; k < columns.count; ++k) {
        if (columns[k] == excluded) continue;
        asked.push_back({1, columns[k]});
        asked.push_back({2, columns[k]});
    }
    BestSplit best = pairs_->start_shared(first, second);
    measure_columns(asked, 2, [&](const AskedColumn& one, const std::vector<ColumnTable>& tables) {
        pairs_->choose_shared(first, second, one.column, tables.data(), search, best);
    });
    return pairs_->finish_shared(first, second, best);
}

// Measures the columns on this worker's rows, adds up what all workers have, and hands the tables to `choose`, in the order
// of the list: those of `together` columns at a time.
template <class Choose>
void NodeGrower::measure_columns(std::vector<AskedColumn>& asked, std::size_t together, Choose&& choose) {
    const bool with_masses = masses_.minimum > 0;
    const auto n_entries = [&](const AskedColumn& one) { return data_.n_bins(one.column) + 1; };
    const auto width = [&](const AskedColumn& one) { return nodes_[one.node].node.sums.size(); };
    std::vector<ColumnTable> tables;
    for (std::size_t begin = 0, end; begin < asked.size(); begin = end) {
        std::size_t size = 0;
        for (end = begin; end < asked.size() && (end % together != 0 || size < kMostNumbers); ++end) {
            asked[end].offset = size;
            size += ColumnTable::size(n_entries(asked[end]), width(asked[end]), with_masses);
        }
        tables_.resize(size);
        parallel_for(n_threads_, end - begin, [&](std::size_t k) {
            const AskedColumn& one = asked[begin + k];
            const WorkNode& node = nodes_[one.node];
            statistics_->measure(node.node, one.column, search_of(node), tables_.data() + one.offset);
        });
        collective_.sum(tables_.data(), size);
        for (std::size_t k = begin; k < end; k += together) {
            tables.clear();
            for (std::size_t i = k; i < k + together; ++i)
                tables.emplace_back(tables_.data() + asked[i].offset, n_entries(asked[i]), width(asked[i]), with_masses);
            choose(asked[k], tables);
        }
    }
}

}  // namespace radboost
