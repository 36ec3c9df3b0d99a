// Search for the best split of a node, as templates over the statistics that score splits. NodeStatistics call them.
//
// Template parameter Table, constructed from (statistics, node), holds one column of a node: a list of entries (bins, or only
// the codes that occur) with the sums that the score needs, and a last entry for missing values. It provides
//   void read(const NodeHistograms&, std::size_t column);
//   void read(const ColumnCodes&);                      // from the node's rows, or from the table summed over workers
//   void write(std::int64_t* out) const;                // the sums in the layout of ColumnTable::sums
//   bool has_missing() const;
//   void scores(std::size_t n, bool missing_left, double* out) const;   // of the cuts after entries 0 ... n - 1
//   bool empty(std::size_t entry) const;                // zero sums: the cut after it equals the cut before it
//   void sum_up_to(const ColumnCodes&, std::uint8_t bin, std::int64_t* sums) const;    // over rows with code <= bin
//   void sum_of_code(const ColumnCodes&, std::uint8_t code, std::int64_t* sums) const; // over rows with code == code
//   double score_sides(std::size_t column, const std::int64_t* left_sums) const;       // score, given the left child's sums
// and for categorical columns
//   std::size_t order(std::uint8_t* entries) const;     // lists the nonempty entries in the order along which cuts are tried
//   void arrange(const std::uint8_t* entries, std::size_t n, bool missing);   // keeps only these entries, in this order
//   void sum_sides(const ColumnCodes&, const SideTable&, std::int64_t* sums) const;    // over rows that go left
// and for splits shared by two nodes (stump pairs)
//   std::int64_t answer_gain(std::size_t entry) const;         // gain of the node's best class in this entry
// Scores are not negative, except that a cut that is not allowed, such as one with a side without weight, scores -1.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/hashing.hpp"
#include "core/pool.hpp"
#include "search/code_range.hpp"
#include "search/statistics.hpp"

namespace radboost {

constexpr std::size_t kEntries = 256;
using EntryScores = std::array<double, kEntries>;

// The codes of a node in one column and the list of those that occur, from the rows or from a table summed over workers.
class ColumnCodes {
public:
    // Gathers the codes of the rows; present(), ranks() and range() are undefined until `list` or `find_range` is called.
    void load(const BinnedData& data, std::size_t column, const RowSet& rows);
    // The same with a caller's buffer `room` (rows.count,), which has the codes already if `gathered`.
    void load(const BinnedData& data, std::size_t column, const RowSet& rows, std::uint8_t* room, bool gathered);
    // Keeps a reference to the table.
    void load(const BinnedData& data, std::size_t column, const ColumnTable& table);
    void list();                        // fills present(), ranks()
    void list_all(std::size_t n_bins);  // the same with an entry for every bin, whether it occurs or not
    void find_range();                  // fills range()

    const ColumnTable* table() const { return table_; }  // null if loaded from rows
    const std::uint8_t* codes() const { return codes_; }
    std::size_t count() const { return count_; }
    std::size_t column() const { return column_; }
    std::size_t n_present() const { return n_present_; }  // entries, without the one for missing values
    std::uint8_t present(std::size_t k) const { return present_[k]; }  // code of entry k; ascending
    const std::uint8_t* present() const { return present_; }
    // Entry of each code; n_present() for the code of missing values.
    const std::uint8_t* ranks() const { return ranks_; }
    bool missing() const { return missing_; }
    int missing_code() const { return missing_code_; }  // -1: the column has none
    const CodeRange& range() const { return range_; }

private:
    std::vector<std::uint8_t> gathered_;
    const std::uint8_t* codes_ = nullptr;
    const ColumnTable* table_ = nullptr;
    std::size_t count_ = 0, n_present_ = 0, column_ = 0;
    int missing_code_ = -1;
    bool missing_ = false;
    CodeRange range_;
    std::uint8_t present_[kEntries], ranks_[kEntries];
};

// Scores cuts after empty entries -1, so that a search over all bins equals one over the codes that occur.
template <class Table>
void forbid_empty_entries(const Table& table, std::size_t n, double* scores) {
    for (std::size_t entry = 0; entry < n; ++entry)
        if (table.empty(entry)) scores[entry] = -1;
}

// Sets scores[k] = -1 if a child gets less sample weight than `minimum`. masses: by entry, (n + 1,), the last one of missing.
void forbid_light_children(const std::int64_t* masses, std::size_t n, bool missing_left, const Node& node,
                           std::int64_t minimum, double* scores);
// Sample weights by entry, shape (n_present() + 1,), the last one of missing values. masses: by row.
void masses_by_entry(const ColumnCodes& codes, const Node& node, const std::int64_t* masses, std::int64_t* out);

// A categorical column in a search. Sample weights are only read if leaves have a minimum weight.
struct Categories {
    std::size_t column;
    bool missing;                // some values are missing
    const std::int64_t* masses;  // by entry
    std::int64_t missing_mass;
    const ColumnCodes* codes;    // codes of the entries; null: entry k is code k
};

// Defined in category_search.hpp.
template <class Table>
RADBOOST_NOINLINE void search_categories(Table& table, const Categories& categories, const SplitSearch& search,
                                         BestSplit& best);
template <class Table, class Statistics>
RADBOOST_NOINLINE void choose_shared_categories(const Statistics& statistics, const BinnedData& data,
                                                std::array<const Node*, 2> nodes, std::array<ColumnCodes, 2>& codes,
                                                const SplitSearch& search, BestSplit& best);

// Runs body(k, best) for k = 0 ... n_columns - 1, with a BestSplit per task, and returns the best, in a tie the first.
template <class Body>
BestSplit best_of_columns(std::size_t n_columns, double to_beat, int n_threads, Body&& body) {
    const BestSplit start{to_beat, Split{}};
    if (n_threads <= 1) {
        BestSplit best = start;
        for (std::size_t k = 0; k < n_columns; ++k) body(k, best);
        return best;
    }
    // With few columns one task per column, because their costs differ; with many a range of columns per task.
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

ColumnCodes& thread_codes();  // a thread-local buffer

// Best split of a node over all thresholds of these columns, by its histograms.
template <class Table, class Statistics>
BestSplit search_histograms(const Statistics& statistics, const BinnedData& data, const Node& node,
                            const NodeHistograms& histograms, ColumnSet columns, const SplitSearch& search,
                            double to_beat) {
    return best_of_columns(columns.count, to_beat, search.n_threads, [&](std::size_t k, BestSplit& best) {
        const std::size_t column = columns[k];
        Table table(statistics, node);
        table.read(histograms, column);
        const std::size_t bins = data.n_bins(column);
        const std::int64_t* masses =
            search.minimum_mass > 0 ? histograms.masses.data() + data.slot_offsets[column] : nullptr;
        // Rows with a growth weight of 0 still count for the minimum weight of leaves.
        const std::int64_t missing_mass = masses && data.has_missing[column] ? masses[bins] : 0;
        const bool missing = data.has_missing[column] && (missing_mass != 0 || table.has_missing());
        if (data.is_categorical[column]) {
            search_categories(table, {column, missing, masses, missing_mass, nullptr}, search, best);
            return;
        }
        // With missing values the cut after the last bin is allowed too: it separates them from all others.
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
            } else if (missing) {  // without missing values the first of equal cuts is the same in both searches
                forbid_empty_entries(table, n, scores);
            }
        }
        best.take(column, right.data(), missing ? left.data() : nullptr, n, nullptr);
    });
}

// Updates `best` with the best cut between the codes that occur in one column; `codes` must be loaded.
template <class Table, class Statistics>
void choose_cut(const Statistics& statistics, const BinnedData& data, const Node& node, ColumnCodes& codes,
                const SplitSearch& search, BestSplit& best) {
    codes.list();
    const std::size_t column = codes.column(), present = codes.n_present();
    const std::size_t n = codes.missing() ? present : (present > 0 ? present - 1 : 0);
    if (n == 0) return;
    Table table(statistics, node);
    table.read(codes);
    std::array<std::int64_t, kEntries + 1> masses;
    if (search.minimum_mass > 0) masses_by_entry(codes, node, search.masses, masses.data());
    if (data.is_categorical[column]) {
        search_categories(table, {column, codes.missing(), masses.data(), masses[present], &codes}, search, best);
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
}

// Draws a random cut between the codes that occur in a column; `codes` must be loaded. Returns false if there is none.
bool draw_cut(const BinnedData& data, ColumnCodes& codes, const SplitSearch& search, DrawnCut& cut);
// The same with several workers: each calls find_presence, which writes n_presence numbers; their maxima over the workers
// give the range of codes of all rows and whether values are missing, or which categories occur.
std::size_t n_presence(const BinnedData& data, std::size_t column);
void find_presence(const BinnedData& data, ColumnCodes& codes, double* presence);
bool draw_cut(const BinnedData& data, std::size_t column, const double* presence, const SplitSearch& search, DrawnCut& cut);
// Child of each code of the column.
SideTable sides_of(const BinnedData& data, std::size_t column, const DrawnCut& cut, bool missing_left);
// Writes the last four numbers of DrawnSums: rows and sample weights left of the cut and with missing values.
void count_drawn(const BinnedData& data, const ColumnCodes& codes, const Node& node, const DrawnCut& cut,
                 const std::int64_t* masses, std::int64_t* numbers);

// Writes the other numbers of DrawnSums, shape (2, number of sums); `codes` must be loaded.
template <class Table, class Statistics>
void sum_drawn(const Statistics& statistics, const BinnedData& data, const Node& node, const ColumnCodes& codes,
               const DrawnCut& cut, bool missing, std::int64_t* numbers) {
    const Table table(statistics, node);
    std::fill_n(numbers, 2 * node.sums.size(), 0);
    if (data.is_categorical[codes.column()])
        table.sum_sides(codes, sides_of(cut.left, -1, false), numbers);
    else
        table.sum_up_to(codes, cut.bin, numbers);
    if (missing) table.sum_of_code(codes, static_cast<std::uint8_t>(codes.missing_code()), numbers + node.sums.size());
}

// Writes all DrawnSums::size() numbers, for this worker's rows.
template <class Table, class Statistics>
void measure_drawn_cut(const Statistics& statistics, const BinnedData& data, const Node& node, const ColumnCodes& codes,
                       const DrawnCut& cut, const std::int64_t* masses, std::int64_t* numbers) {
    sum_drawn<Table>(statistics, data, node, codes, cut, codes.missing_code() >= 0, numbers);
    count_drawn(data, codes, node, cut, masses, numbers + 2 * node.sums.size());
}

// Updates `best` with a random cut, with missing values sent right or left.
template <class Table, class Statistics>
void take_drawn_cut(const Statistics& statistics, const Node& node, std::size_t column, const DrawnCut& cut,
                    const DrawnSums& sums, const SplitSearch& search, BestSplit& best) {
    best.split.asked = true;
    const Table table(statistics, node);
    const std::size_t n = node.sums.size();
    thread_local std::vector<std::int64_t> left_sums;
    left_sums.assign(sums.left, sums.left + n);
    for (const bool to_left : {false, true}) {
        if (to_left && sums.missing_count == 0) break;
        for (std::size_t k = 0; to_left && k < n; ++k) left_sums[k] += sums.missing[k];
        if (search.minimum_mass > 0) {
            const std::int64_t left = sums.left_mass + (to_left ? sums.missing_mass : 0);
            if (left < search.minimum_mass || node.mass - left < search.minimum_mass) continue;
        }
        const double score = table.score_sides(column, left_sums.data());
        if (!(score > best.score)) continue;
        best.score = score;
        best.split.valid = true;
        best.split.missing_left = to_left;
        best.split.column = static_cast<std::uint32_t>(column);
        best.split.bin = cut.bin;
        best.split.left = cut.left;
        best.split.placed = cut.placed;
        best.split.left_sums = left_sums;
    }
}

// Draws a cut in one column and updates `best` with it; `codes` must be loaded.
template <class Table, class Statistics>
void choose_drawn_cut(const Statistics& statistics, const BinnedData& data, const Node& node, ColumnCodes& codes,
                      const SplitSearch& search, BestSplit& best) {
    DrawnCut cut;
    if (!draw_cut(data, codes, search, cut)) return;
    const std::size_t n = node.sums.size();
    thread_local std::vector<std::int64_t> numbers;
    numbers.assign(DrawnSums::size(n), 0);
    sum_drawn<Table>(statistics, data, node, codes, cut, codes.missing(), numbers.data());
    if (search.minimum_mass > 0)
        count_drawn(data, codes, node, cut, search.masses, numbers.data() + 2 * n);
    else
        numbers[2 * n + 1] = codes.missing();  // only compared with 0
    take_drawn_cut<Table>(statistics, node, codes.column(), cut, DrawnSums(numbers.data(), n), search, best);
}

// Best split of a node from its rows: over all cuts of these columns between codes that occur, or one random cut per column.
template <class Table, class Statistics>
BestSplit search_rows(const Statistics& statistics, const BinnedData& data, const Node& node, ColumnSet columns,
                      const SplitSearch& search, double to_beat) {
    const bool parallel = node.rows.count * columns.count >= kParallelUpdates;
    return best_of_columns(columns.count, to_beat, parallel ? search.n_threads : 1, [&](std::size_t k, BestSplit& best) {
        ColumnCodes& codes = thread_codes();
        codes.load(data, columns[k], node.rows);
        if (search.random_thresholds)
            choose_drawn_cut<Table>(statistics, data, node, codes, search, best);
        else
            choose_cut<Table>(statistics, data, node, codes, search, best);
    });
}

// Writes the ColumnTable of one column (ColumnTable::size() numbers), for this worker's rows.
template <class Table, class Statistics>
void measure_column(const Statistics& statistics, const BinnedData& data, const Node& node, std::size_t column,
                    const SplitSearch& search, std::int64_t* out) {
    ColumnCodes& codes = thread_codes();
    const std::size_t n_bins = data.n_bins(column), n_entries = n_bins + 1;
    codes.load(data, column, node.rows);
    codes.list_all(n_bins);
    Table table(statistics, node);
    table.read(codes);
    table.write(out);
    std::int64_t* counts = out + n_entries * node.sums.size();
    std::fill(counts, counts + n_entries, 0);
    for (std::size_t i = 0; i < codes.count(); ++i) ++counts[codes.codes()[i]];
    if (search.minimum_mass > 0) masses_by_entry(codes, node, search.masses, counts + n_entries);
}

// choose_cut with a table summed over all workers instead of rows; also sets best.split.left_sums.
template <class Table, class Statistics>
void choose_from_table(const Statistics& statistics, const BinnedData& data, const Node& node, std::size_t column,
                       const ColumnTable& table, const SplitSearch& search, BestSplit& best) {
    ColumnCodes& codes = thread_codes();
    codes.load(data, column, table);
    const double before = best.score;
    choose_cut<Table>(statistics, data, node, codes, search, best);
    if (!(best.score > before)) return;
    best.split.left_sums.assign(node.sums.size(), 0);
    table.sum_left(sides_of(data, best.split), best.split.left_sums.data());
}

// Updates `best` with the best cut of one column shared by two nodes, by the sum of their scores; `codes` must be loaded.
template <class Table, class Statistics>
void choose_shared_cut(const Statistics& statistics, const BinnedData& data, std::array<const Node*, 2> nodes,
                       std::array<ColumnCodes, 2>& codes, const SplitSearch& search, BestSplit& best) {
    const std::size_t column = codes[0].column(), bins = data.n_bins(column);
    if (data.is_categorical[column]) {
        choose_shared_categories<Table>(statistics, data, nodes, codes, search, best);
        return;
    }
    CodeRange range;
    for (ColumnCodes& own : codes) {
        own.find_range();
        range.widen(own.range());
    }
    if (range.n_thresholds() == 0) return;
    const std::size_t lowest = range.low, n = lowest + range.n_thresholds();
    EntryScores scores[2][2], totals[2];  // scores[node][missing_left]
    std::array<bool, kEntries> occupied{};
    for (std::size_t side = 0; side < 2; ++side) {
        codes[side].list_all(bins);
        Table table(statistics, *nodes[side]);
        table.read(codes[side]);
        for (std::size_t entry = lowest; entry < n; ++entry) occupied[entry] |= !table.empty(entry);
        for (const bool to_left : {false, true}) {
            if (to_left && !range.missing) continue;
            table.scores(n, to_left, scores[side][to_left].data());
            if (search.minimum_mass == 0) continue;
            std::array<std::int64_t, kEntries + 1> masses;
            masses_by_entry(codes[side], *nodes[side], search.masses, masses.data());
            forbid_light_children(masses.data(), bins, to_left, *nodes[side], search.minimum_mass,
                                  scores[side][to_left].data());
        }
    }
    const std::size_t drawn = draw_threshold(range, search.draw_key, column);
    for (const bool to_left : {false, true}) {
        totals[to_left].fill(-1);
        if (to_left && !range.missing) continue;
        const double *first = scores[0][to_left].data(), *second = scores[1][to_left].data();
        for (std::size_t entry = lowest; entry < n; ++entry)
            if ((search.random_thresholds ? entry == drawn : occupied[entry] || search.minimum_mass > 0) &&
                first[entry] >= 0 && second[entry] >= 0)
                totals[to_left][entry] = first[entry] + second[entry];
    }
    best.take(column, totals[0].data(), range.missing ? totals[1].data() : nullptr, n, nullptr);
}

// Best split shared by two nodes, over these columns but `excluded`.
template <class Table, class Statistics>
BestSplit search_shared(const Statistics& statistics, const BinnedData& data, const Node& first, const Node& second,
                        ColumnSet columns, std::size_t excluded, const SplitSearch& search, double to_beat) {
    const bool parallel = (first.rows.count + second.rows.count) * columns.count >= kParallelUpdates;
    return best_of_columns(columns.count, to_beat, parallel ? search.n_threads : 1, [&](std::size_t k, BestSplit& best) {
        if (columns[k] == excluded) return;
        std::array<ColumnCodes, 2> codes;
        codes[0].load(data, columns[k], first.rows);
        codes[1].load(data, columns[k], second.rows);
        choose_shared_cut<Table>(statistics, data, {&first, &second}, codes, search, best);
    });
}

// choose_shared_cut with the tables of both nodes, summed over all workers.
template <class Table, class Statistics>
void choose_shared_from_tables(const Statistics& statistics, const BinnedData& data, const Node& first,
                               const Node& second, std::size_t column, const ColumnTable* tables,
                               const SplitSearch& search, BestSplit& best) {
    std::array<ColumnCodes, 2> codes;
    codes[0].load(data, column, tables[0]);
    codes[1].load(data, column, tables[1]);
    choose_shared_cut<Table>(statistics, data, {&first, &second}, codes, search, best);
}

}  // namespace radboost

#include "search/category_search.hpp"
