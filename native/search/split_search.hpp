// How the best question is found, whatever it is scored by.
//
// A Table holds one column of a node: entries (bins, or the codes that occur), each with what the score needs, and one
// more for the missing values. It provides
//   void read(const NodeHistograms&, std::size_t column);
//   void read(const ColumnCodes&);                      // from the node's rows
//   bool has_missing() const;
//   void scores(std::size_t n, bool missing_left, double* out) const;   // cut after entry 0, 1, ..., n - 1
//   bool empty(std::size_t entry) const;                // nothing there: the cut after it is the one before it again
//   double score_cut(const ColumnCodes&, std::uint8_t bin, bool missing_left, std::int64_t* left_sums) const;
// and for categorical columns
//   std::size_t order(std::uint8_t* entries) const;     // those that are not empty, as the cuts are tried
//   void arrange(const std::uint8_t* entries, std::size_t n, bool missing);   // keeps these alone, in this order
//   std::int64_t lean(std::size_t entry) const;         // what the node's best answer gains there
//   double score_sides(const ColumnCodes&, const SideTable&, std::int64_t* left_sums) const;
// and is made from (statistics, node). Scores are not negative; a cut that leaves a side without weight scores -1.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/hashing.hpp"
#include "core/pool.hpp"
#include "search/statistics.hpp"

namespace radboost {

constexpr std::size_t kEntries = 256;
using EntryScores = std::array<double, kEntries>;

// The codes of some rows in one column, gathered, and the list of those that occur.
class ColumnCodes {
public:
    // Gathers; `list` and `range` say more about the codes.
    void load(const BinnedData& data, std::size_t column, const RowSet& rows);
    void list();                       // fills present(), ranks()
    void list_all(std::size_t n_bins);  // the same with an entry for every bin, seen or not
    void range();                      // fills low(), high()

    const std::uint8_t* codes() const { return codes_; }
    std::size_t count() const { return count_; }
    std::size_t column() const { return column_; }
    std::size_t n_present() const { return n_present_; }  // without the missing value
    std::uint8_t present(std::size_t k) const { return present_[k]; }
    const std::uint8_t* present() const { return present_; }
    // The entry of a code; that of the missing value is n_present().
    const std::uint8_t* ranks() const { return ranks_; }
    bool missing() const { return missing_; }
    int missing_code() const { return missing_code_; }  // -1: the column has none
    std::uint8_t low() const { return low_; }
    std::uint8_t high() const { return high_; }

private:
    std::vector<std::uint8_t> gathered_;
    const std::uint8_t* codes_ = nullptr;
    std::size_t count_ = 0, n_present_ = 0, column_ = 0;
    int missing_code_ = -1;
    bool missing_ = false;
    std::uint8_t low_ = 0, high_ = 0;
    std::uint8_t present_[kEntries], ranks_[kEntries];
};

struct BestSplit {
    double score;
    Split split;

    // Takes the first of the best cuts after the entries 0 .. n - 1; `left` holds the scores with the missing values on
    // the left, or is null. Says whether there was a better one.
    bool take(std::size_t column, const double* right, const double* left, std::size_t n, const ColumnCodes* codes);
    // After a cut along an order of categories was taken: which categories that puts left.
    void place(const std::uint8_t* order, std::size_t n_entries, const ColumnCodes* codes);
};

// Passes over empty entries, so that a search which sees them asks the same questions as one which does not.
template <class Table>
void forbid_empty_entries(const Table& table, std::size_t n, double* scores) {
    for (std::size_t entry = 0; entry < n; ++entry)
        if (table.empty(entry)) scores[entry] = -1;
}

// Marks the cuts that leave a child with too little sample weight. `masses` has an entry each, and then the missing
// values'.
void forbid_light_children(const std::int64_t* masses, std::size_t n, bool missing_left, const Node& node,
                           std::int64_t minimum, double* scores);
// The same for a single cut: whether both children have enough.
bool heavy_enough(const ColumnCodes& codes, const Node& node, const SplitSearch& search, std::uint8_t bin,
                  bool missing_left);
// Sample weights by entry, the missing values' last.
void masses_by_entry(const ColumnCodes& codes, const Node& node, const std::int64_t* masses, std::int64_t* out);

// One column's categories in a search: whether values are missing, sample weights by entry and of the missing values (with
// a leaf minimum), and the codes of the entries (null: an entry is a code).
struct Categories {
    std::size_t column;
    bool missing;
    const std::int64_t* masses;
    std::int64_t missing_mass;
    const ColumnCodes* codes;
};

// What the searches below do with a categorical column; see category_search.hpp.
template <class Table>
RADBOOST_NOINLINE void search_categories(Table& table, const Categories& categories, const Node& node,
                                         const SplitSearch& search, BestSplit& best);
template <class Table>
RADBOOST_NOINLINE void try_subset(const Table& table, ColumnCodes& codes, std::size_t column, const Node& node,
                                  const SplitSearch& search, BestSplit& best);
template <class Table, class Statistics>
RADBOOST_NOINLINE void search_shared_categories(const Statistics& statistics, const BinnedData& data,
                                                std::array<const Node*, 2> nodes, std::size_t column,
                                                const SplitSearch& search, BestSplit& best);

// Runs body(k, best, thread's own scratch) for k = 0 .. n - 1, in parts, one after the other or on several threads, and
// returns the first of the best.
template <class Body>
BestSplit best_of_columns(std::size_t n_columns, double to_beat, int n_threads, Body&& body) {
    const BestSplit start{to_beat, Split{}};
    if (n_threads <= 1) {
        BestSplit best = start;
        for (std::size_t k = 0; k < n_columns; ++k) body(k, best);
        return best;
    }
    // One task per column for few columns, which differ in cost; a range of columns each for many.
    const std::size_t parts = std::min<std::size_t>(n_columns, 8 * static_cast<std::size_t>(n_threads));
    std::vector<BestSplit> bests(parts, start);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        for (std::size_t k = range_begin(n_columns, parts, part); k < range_begin(n_columns, parts, part + 1); ++k)
            body(k, bests[part]);
    });
    BestSplit best = bests[0];
    for (const BestSplit& other : bests) {
        const bool asked = best.split.asked || other.split.asked;
        if (other.score > best.score) best = other;
        best.split.asked = asked;
    }
    return best;
}

ColumnCodes& thread_codes();

template <class Table, class Statistics>
BestSplit search_histograms(const Statistics& statistics, const BinnedData& data, const Node& node,
                            const NodeHistograms& histograms, const SplitSearch& search, double to_beat) {
    return best_of_columns(data.n_columns, to_beat, search.n_threads, [&](std::size_t column, BestSplit& best) {
        Table table(statistics, node);
        table.read(histograms, column);
        const std::size_t bins = data.n_bins(column);
        const std::int64_t* masses =
            search.minimum_mass > 0 ? histograms.masses.data() + data.slot_offsets[column] : nullptr;
        // Rows without weight still count for a leaf minimum.
        const std::int64_t missing_mass = masses && data.has_missing[column] ? masses[bins] : 0;
        const bool missing = data.has_missing[column] && (missing_mass != 0 || table.has_missing());
        if (data.is_categorical[column]) {
            search_categories(table, {column, missing, masses, missing_mass, nullptr}, node, search, best);
            return;
        }
        // With missing values in the node the last bin is a question too: is the value there at all?
        const std::size_t n = missing ? bins : (bins > 0 ? bins - 1 : 0);
        EntryScores right, left;
        for (const bool to_left : {false, true}) {
            if (to_left && !missing) break;
            double* scores = to_left ? left.data() : right.data();
            table.scores(n, to_left, scores);
            if (search.minimum_mass > 0) {
                forbid_light_children(masses, bins, to_left, node, search.minimum_mass, scores);
                for (std::size_t entry = 0; entry < n; ++entry)
                    if (masses[entry] == 0) scores[entry] = -1;  // no row there
            } else if (missing) {  // without, the first of equal cuts is the same in both searches anyway
                forbid_empty_entries(table, n, scores);
            }
        }
        best.take(column, right.data(), missing ? left.data() : nullptr, n, nullptr);
    });
}

// All cuts between the codes that occur in the rows.
template <class Table, class Statistics>
BestSplit search_rows(const Statistics& statistics, const BinnedData& data, const Node& node, ColumnSet columns,
                      const SplitSearch& search, double to_beat) {
    const bool parallel = node.rows.count * columns.count >= kParallelUpdates;
    return best_of_columns(columns.count, to_beat, parallel ? search.n_threads : 1, [&](std::size_t k, BestSplit& best) {
        const std::size_t column = columns[k];
        ColumnCodes& codes = thread_codes();
        codes.load(data, column, node.rows);
        codes.list();
        const std::size_t present = codes.n_present();
        const std::size_t n = codes.missing() ? present : (present > 0 ? present - 1 : 0);
        if (n == 0) return;
        Table table(statistics, node);
        table.read(codes);
        std::array<std::int64_t, kEntries + 1> masses;
        if (search.minimum_mass > 0) masses_by_entry(codes, node, search.masses, masses.data());
        if (data.is_categorical[column]) {
            search_categories(table, {column, codes.missing(), masses.data(), masses[present], &codes}, node, search, best);
            return;
        }
        EntryScores right, left;
        for (const bool to_left : {false, true}) {
            if (to_left && !codes.missing()) break;
            double* scores = to_left ? left.data() : right.data();
            table.scores(n, to_left, scores);
            if (search.minimum_mass > 0)
                forbid_light_children(masses.data(), present, to_left, node, search.minimum_mass, scores);
            else if (codes.missing())
                forbid_empty_entries(table, n, scores);
        }
        best.take(column, right.data(), codes.missing() ? left.data() : nullptr, n, &codes);
    });
}

// One cut per column, drawn between the lowest and the highest code in the node: needs no table.
template <class Table, class Statistics>
BestSplit search_random(const Statistics& statistics, const BinnedData& data, const Node& node, ColumnSet columns,
                        const SplitSearch& search, double to_beat) {
    const bool parallel = node.rows.count * columns.count >= kParallelUpdates;
    return best_of_columns(columns.count, to_beat, parallel ? search.n_threads : 1, [&](std::size_t k, BestSplit& best) {
        const std::size_t column = columns[k];
        ColumnCodes& codes = thread_codes();
        codes.load(data, column, node.rows);
        if (data.is_categorical[column]) {
            try_subset(Table(statistics, node), codes, column, node, search, best);
            return;
        }
        codes.range();
        // With missing values the highest code is a question as well.
        if (codes.low() > codes.high()) return;
        const std::uint32_t choices = std::uint32_t{codes.high()} - codes.low() + (codes.missing() ? 1 : 0);
        if (choices == 0) return;
        best.split.asked = true;
        const auto bin = static_cast<std::uint8_t>(codes.low() + draw_below(mix(search.draw_key, column), choices));
        const Table table(statistics, node);
        std::vector<std::int64_t> left_sums(node.sums.size());
        for (const bool to_left : {false, true}) {
            if (to_left && !codes.missing()) break;
            if (search.minimum_mass > 0 && !heavy_enough(codes, node, search, bin, to_left)) continue;
            const double score = table.score_cut(codes, bin, to_left, left_sums.data());
            if (!(score > best.score)) continue;
            best.score = score;
            best.split.valid = true;
            best.split.missing_left = to_left;
            best.split.column = static_cast<std::uint32_t>(column);
            best.split.bin = bin;
            best.split.left_sums = left_sums;
        }
    });
}

// The best cut of two nodes at once: the scores at both are added.
template <class Table, class Statistics>
BestSplit search_shared(const Statistics& statistics, const BinnedData& data, const Node& first, const Node& second,
                        ColumnSet columns, std::size_t excluded, const SplitSearch& search, double to_beat) {
    const bool parallel = (first.rows.count + second.rows.count) * columns.count >= kParallelUpdates;
    return best_of_columns(columns.count, to_beat, parallel ? search.n_threads : 1, [&](std::size_t k, BestSplit& best) {
        const std::size_t column = columns[k];
        if (column == excluded) return;
        if (data.is_categorical[column]) {
            search_shared_categories<Table>(statistics, data, {&first, &second}, column, search, best);
            return;
        }
        ColumnCodes codes[2];
        const Node* nodes[2] = {&first, &second};
        const std::size_t bins = data.n_bins(column);
        bool missing = false;
        for (int side = 0; side < 2; ++side) {
            codes[side].load(data, column, nodes[side]->rows);
            codes[side].range();
            missing = missing || codes[side].missing();
        }
        const std::size_t lowest = std::min(codes[0].low(), codes[1].low());
        const std::size_t highest = std::max(codes[0].high(), codes[1].high());
        const std::size_t n = highest + (missing ? 1 : 0);
        if (lowest >= n) return;
        EntryScores totals[2];
        for (const bool to_left : {false, true}) {
            totals[to_left].fill(-1);
            if (to_left && !missing) continue;
            EntryScores scores[2];
            std::array<bool, kEntries> occupied{};
            for (int side = 0; side < 2; ++side) {
                codes[side].list_all(bins);
                Table table(statistics, *nodes[side]);
                table.read(codes[side]);
                table.scores(n, to_left, scores[side].data());
                for (std::size_t entry = lowest; entry < n; ++entry) occupied[entry] |= !table.empty(entry);
                if (search.minimum_mass == 0) continue;
                std::array<std::int64_t, kEntries + 1> masses;
                masses_by_entry(codes[side], *nodes[side], search.masses, masses.data());
                forbid_light_children(masses.data(), bins, to_left, *nodes[side], search.minimum_mass,
                                      scores[side].data());
            }
            const std::size_t drawn =
                lowest + draw_below(mix(search.draw_key, column), static_cast<std::uint32_t>(n - lowest));
            for (std::size_t entry = lowest; entry < n; ++entry)
                if ((search.random_thresholds ? entry == drawn : occupied[entry] || search.minimum_mass > 0) &&
                    scores[0][entry] >= 0 && scores[1][entry] >= 0)
                    totals[to_left][entry] = scores[0][entry] + scores[1][entry];
        }
        for (std::size_t entry = 0; entry < lowest; ++entry) totals[0][entry] = totals[1][entry] = -1;
        best.take(column, totals[0].data(), missing ? totals[1].data() : nullptr, n, nullptr);
    });
}

}  // namespace radboost

#include "search/category_search.hpp"
