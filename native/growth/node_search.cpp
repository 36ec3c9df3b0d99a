// Part of NodeGrower: search for splits, node by node with one worker, otherwise for many nodes together.
#include <algorithm>
#include <utility>

#include "core/pool.hpp"
#include "growth/node_grower.hpp"
#include "search/split_search.hpp"

namespace radboost {
namespace {

constexpr std::size_t kRowsPerTask = 16384;
constexpr std::size_t kManySlots = 40000;
// Maximum number of codes that are kept from computing ranges to summing left of cuts; beyond it they are gathered twice.
constexpr std::size_t kMostCodes = std::size_t{1} << 26;

}  // namespace

SplitSearch NodeGrower::search_of(const WorkNode& node) const {
    // Histograms are scanned by several threads only if large or if the node is (otherwise waking threads takes longer).
    const bool share = node.n_rows() >= kRowsPerTask || data_.n_slots() >= kManySlots;
    return {masses_.minimum > 0 ? masses_.of_row.data() : nullptr, masses_.minimum, options_.random_thresholds, node.key,
            share || !node.histograms ? n_threads_ : 1};
}

// Sets the node's split, by histograms if it has them. While it is constant in all drawn columns, twice as many are drawn.
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

// Several workers: searches the nodes by their histograms, and those without together.
void NodeGrower::search_layer(const Frontier& frontier) {
    Frontier ready, others;
    for (const std::size_t index : frontier) (nodes_[index].histograms ? ready : others).push_back(index);
    for_each_node(ready.size(), [&](std::size_t k, int) { search(nodes_[ready[k]]); });
    if (!others.empty()) search_together(others);
}

// Several workers: sets the splits of these nodes, by sums over the workers of ColumnTables or (random cuts) DrawnSums.
void NodeGrower::search_together(const Frontier& frontier) {
    std::vector<Node*> nodes;
    for (const std::size_t index : frontier) nodes.push_back(&nodes_[index].node);
    statistics_->gather(nodes.data(), nodes.size(), n_threads_);
    const std::size_t d = data_.n_columns;
    std::size_t first = 0, last = options_.max_features == 0 ? d : options_.max_features;
    Frontier open = frontier;
    for (; first < d && !open.empty(); first = last, last = std::min(d, 2 * last)) {
        std::vector<AskedColumn> asked;
        std::vector<Choice> choices;
        std::vector<std::size_t> place_of_node(nodes_.size());
        for (const std::size_t index : open) {
            const WorkNode& node = nodes_[index];
            for (const std::uint32_t column : draw_columns(node, node.key, first, std::min(last, n_columns(node))))
                asked.push_back({index, column});
            place_of_node[index] = choices.size();
            choices.push_back({statistics_->start(node.node), std::nullopt});
        }
        if (options_.random_thresholds)
            choose_from_draws(asked, place_of_node, choices);
        else
            choose_from_tables(asked, place_of_node, choices);
        for (std::size_t k = 0; k < open.size(); ++k) {
            WorkNode& node = nodes_[open[k]];
            node.split = statistics_->finish(node.node, std::move(choices[k].best));
            node.division = choices[k].division;
        }
        const auto done = [&](std::size_t index) { return nodes_[index].split.asked || last >= n_columns(nodes_[index]); };
        open.erase(std::remove_if(open.begin(), open.end(), done), open.end());
    }
}

void NodeGrower::choose_from_tables(std::vector<AskedColumn>& asked, const std::vector<std::size_t>& place_of_node,
                                    std::vector<Choice>& choices) {
    measure_columns(asked, 1, [&](const AskedColumn& one, const std::vector<ColumnTable>& tables) {
        const WorkNode& node = nodes_[one.node];
        Choice& choice = choices[place_of_node[one.node]];
        const double before = choice.best.score;
        statistics_->choose(node.node, one.column, tables[0], search_of(node), choice.best);
        if (choice.best.score > before) choice.division = division_of(choice.best.split, tables[0]);
    });
}

// Division of the rows of all workers, from the table of the split's column; nullopt if the table has no sample weights but
// they are needed, or if the column is categorical (some categories may not be assigned yet).
std::optional<NodeGrower::Division> NodeGrower::division_of(const Split& split, const ColumnTable& table) const {
    const bool weighted = target_.row_weights().given();  // equal on all workers
    if (data_.is_categorical[split.column] || (table.masses == nullptr && weighted)) return std::nullopt;
    const SideTable sides = sides_of(data_, split);
    Division division{0, data_.has_missing[split.column] ? table.counts[table.n_entries - 1] : 0, 0};
    for (std::size_t entry = 0; entry < table.n_entries; ++entry) {
        division.left_count += sides[entry] ? table.counts[entry] : 0;
        division.left_mass += sides[entry] ? (table.masses ? table.masses : table.counts)[entry] : 0;
    }
    return division;
}

// Random cuts: a first all-reduce gives the ranges of codes, from which cuts are drawn; a second one sums their left sides.
void NodeGrower::choose_from_draws(std::vector<AskedColumn>& asked, const std::vector<std::size_t>& place_of_node,
                                   std::vector<Choice>& choices) {
    std::size_t size = 0, n_codes = 0;
    for (AskedColumn& one : asked) {
        one.offset = size;
        one.first_code = n_codes;
        size += n_presence(data_, one.column);
        n_codes += nodes_[one.node].node.rows.indices != nullptr ? nodes_[one.node].n_rows() : 0;
    }
    presence_.resize(size);
    const bool keep = n_codes <= kMostCodes;
    if (keep && codes_.size() < n_codes) codes_.resize(n_codes);
    const auto load = [&](const AskedColumn& one, bool again) -> ColumnCodes& {
        ColumnCodes& codes = thread_codes();
        const RowSet& rows = nodes_[one.node].node.rows;
        if (keep)
            codes.load(data_, one.column, rows, codes_.data() + one.first_code, again);
        else
            codes.load(data_, one.column, rows);
        return codes;
    };
    parallel_for(n_threads_, asked.size(), [&](std::size_t k) {
        find_presence(data_, load(asked[k], false), presence_.data() + asked[k].offset);
    });
    if (size > 0) collective_.maximum(presence_.data(), size);
    const auto nothing_to_ask = [&](AskedColumn& one) {
        const SplitSearch search = search_of(nodes_[one.node]);
        return !draw_cut(data_, one.column, presence_.data() + one.offset, search, one.cut);
    };
    asked.erase(std::remove_if(asked.begin(), asked.end(), nothing_to_ask), asked.end());
    size = 0;
    for (AskedColumn& one : asked) {
        one.offset = size;
        size += DrawnSums::size(nodes_[one.node].node.sums.size());
    }
    numbers_.resize(size);
    const std::int64_t* masses = masses_.of_row.empty() ? nullptr : masses_.of_row.data();
    parallel_for(n_threads_, asked.size(), [&](std::size_t k) {
        const AskedColumn& one = asked[k];
        statistics_->measure_drawn(nodes_[one.node].node, load(one, true), one.cut, masses, numbers_.data() + one.offset);
    });
    sum_numbers();
    for (const AskedColumn& one : asked) {
        const WorkNode& node = nodes_[one.node];
        Choice& choice = choices[place_of_node[one.node]];
        const DrawnSums sums(numbers_.data() + one.offset, node.node.sums.size());
        const double before = choice.best.score;
        statistics_->choose_drawn(node.node, one.column, one.cut, sums, search_of(node), choice.best);
        if (!(choice.best.score > before)) continue;
        const bool left = choice.best.split.missing_left;
        choice.division = Division{sums.left_count + (left ? sums.missing_count : 0), sums.missing_count,
                                   sums.left_mass + (left ? sums.missing_mass : 0)};
    }
}

// Best split shared by the leaves of a stump, which are nodes_[1] and nodes_[2].
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

// Computes ColumnTables, sums them over the workers, and calls choose(column, tables) for each group of `together` columns.
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
