// Split search for categorical columns. Included by split_search.hpp, which describes Table; entries are categories.
#pragma once

#include "search/split_search.hpp"

namespace radboost {

// Sets scores[k] = -1 for cuts after entry k that leave a child with less sample weight than `minimum`. Rows of the node that
// are neither in an entry nor missing (categories of zero growth weight) follow the heavier child.
void forbid_light_groups(const std::int64_t* masses, std::size_t n_entries, std::int64_t missing_mass, std::size_t n,
                         bool missing_left, std::int64_t minimum, double* scores);
// Random nonempty subset of the n categories `codes`, all of them only if `missing`; a function of key and categories.
CategorySet draw_subset(std::uint64_t key, const std::uint8_t* codes, std::size_t n, bool missing);

// Scores every cut along the categories sorted by Table::order. With two classes the best of all subsets is among these cuts
// (Breiman, Friedman, Olshen and Stone, 1984, Classification and Regression Trees, theorem 4.5).
template <class Table>
void search_categories(Table& table, const Categories& categories, const SplitSearch& search, BestSplit& best) {
    std::array<std::uint8_t, kEntries> order;
    const std::size_t present = table.order(order.data());
    const std::size_t n = categories.missing ? present : (present > 0 ? present - 1 : 0);
    if (n == 0) return;
    table.arrange(order.data(), present, categories.missing);
    std::array<std::int64_t, kEntries> masses;
    for (std::size_t k = 0; search.minimum_mass > 0 && k < present; ++k) masses[k] = categories.masses[order[k]];
    EntryScores right, left;
    for (const bool to_left : {false, true}) {
        if (to_left && !categories.missing) break;
        double* scores = to_left ? left.data() : right.data();
        table.scores(n, to_left, scores);
        if (search.minimum_mass > 0)
            forbid_light_groups(masses.data(), present, categories.missing_mass, n, to_left, search.minimum_mass, scores);
    }
    if (best.take(categories.column, right.data(), categories.missing ? left.data() : nullptr, n, nullptr))
        best.place(order.data(), present, categories.codes);
}

// Adds up the scores at two nodes of cuts along one order of the categories: all, or only the one after `only` > 0 entries.
template <class Table, class Statistics>
void search_shared_order(const Statistics& statistics, std::array<const Node*, 2> nodes,
                         const std::array<ColumnCodes, 2>& codes, const std::vector<std::uint8_t>& order, std::size_t only, bool missing, std::size_t column,
                         const SplitSearch& search, BestSplit& best) {
    const std::size_t present = order.size(), n = missing ? present : (present > 0 ? present - 1 : 0);
    EntryScores totals[2], scores;
    totals[0].fill(0);
    totals[1].fill(0);
    for (std::size_t side = 0; side < 2; ++side) {
        Table table(statistics, *nodes[side]);
        table.read(codes[side]);
        table.arrange(order.data(), present, missing);
        std::array<std::int64_t, kEntries + 1> by_code{}, masses{};
        if (search.minimum_mass > 0) masses_by_entry(codes[side], *nodes[side], search.masses, by_code.data());
        for (std::size_t k = 0; k < present; ++k) masses[k] = by_code[order[k]];
        for (const bool to_left : {false, true}) {
            if (to_left && !missing) break;
            table.scores(n, to_left, scores.data());
            if (search.minimum_mass > 0)
                forbid_light_groups(masses.data(), present, by_code[codes[side].n_present()], n, to_left,
                                    search.minimum_mass, scores.data());
            for (std::size_t k = 0; k < n; ++k) {
                const bool allowed = scores[k] >= 0 && totals[to_left][k] >= 0 && (only == 0 || k + 1 == only);
                totals[to_left][k] = allowed ? totals[to_left][k] + scores[k] : -1;
            }
        }
    }
    if (best.take(column, totals[0].data(), missing ? totals[1].data() : nullptr, n, nullptr))
        best.place(order.data(), present, nullptr);
}

// The best subset for a split that two nodes share (stump pairs). With two classes a node's edge is +-(gain on the left minus
// gain on the right) or +-(gain of the whole node). So the sum of both edges is largest if categories are divided by the sign
// of their gain at one node, of the sum of gains at both, or of the difference: one of four orders has the best cut.
template <class Table, class Statistics>
void choose_shared_categories(const Statistics& statistics, const BinnedData& data, std::array<const Node*, 2> nodes,
                              std::array<ColumnCodes, 2>& codes, const SplitSearch& search, BestSplit& best) {
    bool missing = false;
    CategorySet seen, weighed;
    std::array<std::int64_t, kEntries> answer_gains[2];
    const std::size_t column = codes[0].column(), bins = data.n_bins(column);
    for (std::size_t side = 0; side < 2; ++side) {
        codes[side].list();
        missing = missing || codes[side].missing();
        for (std::size_t k = 0; k < codes[side].n_present(); ++k) seen.add(codes[side].present(k));
        codes[side].list_all(bins);
        Table table(statistics, *nodes[side]);
        table.read(codes[side]);
        for (std::size_t code = 0; code < bins; ++code) {
            answer_gains[side][code] = table.answer_gain(code);
            if (!table.empty(code)) weighed.add(code);
        }
    }
    std::vector<std::uint8_t> order;
    for (std::size_t code = 0; code < bins; ++code)
        if ((search.random_thresholds ? seen : weighed).has(code)) order.push_back(static_cast<std::uint8_t>(code));
    if (order.empty() || (order.size() == 1 && !missing)) return;
    if (search.random_thresholds) {
        const CategorySet drawn = draw_subset(mix(search.draw_key, column), order.data(), order.size(), missing);
        const auto end = std::stable_partition(order.begin(), order.end(), [&](std::uint8_t c) { return drawn.has(c); });
        search_shared_order<Table>(statistics, nodes, codes, order, static_cast<std::size_t>(end - order.begin()),
                                   missing, column, search, best);
        return;
    }
    constexpr int kSigns[4][2] = {{1, 1}, {1, -1}, {1, 0}, {0, 1}};
    for (const auto& signs : kSigns) {
        const auto answer_gain = [&](std::uint8_t code) { return signs[0] * answer_gains[0][code] + signs[1] * answer_gains[1][code]; };
        std::sort(order.begin(), order.end(),
                  [&](std::uint8_t a, std::uint8_t b) { return answer_gain(a) != answer_gain(b) ? answer_gain(a) < answer_gain(b) : a < b; });
        search_shared_order<Table>(statistics, nodes, codes, order, 0, missing, column, search, best);
    }
}

}  // namespace radboost
