// Search for the best split, whatever it is scored by.
//
// A Table holds one column of a node: entries (bins, or the codes that occur), each with what the score needs, and one
// more for the missing values. It provides
//   void read(const NodeHistograms&, std::size_t column);
//   void read(const ColumnCodes&);                      // from the node's rows, or from what all workers have there
//   void write(std::int64_t* out) const;                // entry x number of sums, as a ColumnTable has them
//   bool has_missing() const;
//   void scores(std::size_t n, bool missing_left, double* out) const;   // cut after entry 0, 1, ..., n - 1
//   bool empty(std::size_t entry) const;                // nothing there: the cut after it is the one before it again
//   void sum_up_to(const ColumnCodes&, std::uint8_t bin, std::int64_t* sums) const;    // of the rows with such codes
//   void sum_of_code(const ColumnCodes&, std::uint8_t code, std::int64_t* sums) const;
//   double score_sides(std::size_t column, const std::int64_t* left_sums) const;
// and for categorical columns
//   std::size_t order(std::uint8_t* entries) const;     // those that are not empty, as the cuts are tried
//   void arrange(const std::uint8_t* entries, std::size_t n, bool missing);   // keeps these alone, in this order
//   void sum_sides(const ColumnCodes&, const SideTable&, std::int64_t* sums) const;
// and where two nodes are asked at once
//   std::int64_t answer_gain(std::size_t entry) const;         // what the node's best answer gains there
// and is made from (statistics, node). Scores are not negative; a cut that leaves a side without weight scores -1.
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

// The codes of a node in one column and the list of those that occur: of this process's rows, gathered, or of the rows of
// all workers, of which a table is known.
class ColumnCodes {
public:
    // Gathers; `list` and `find_range` say more about the codes.
    void load(const BinnedData& data, std::size_t column, const RowSet& rows);
    // The codes are gathered in `room`, which has a place for each row, or lie there already.
    void load(const BinnedData& data, std::size_t column, const RowSet& rows, std::uint8_t* room, bool gathered);
    // Refers to the table.
    void load(const BinnedData& data, std::size_t column, const ColumnTable& table);
    void list();                        // fills present(), ranks()
    void list_all(std::size_t n_bins);  // the same with an entry for every bin, seen or not
    void find_range();                  // fills range()

    const ColumnTable* table() const { return table_; }  // null: the codes are those of rows
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
template <class Table, class Statistics>
RADBOOST_NOINLINE void choose_shared_categories(const Statistics& statistics, const BinnedData& data,
                                                std::array<const Node*, 2> nodes, std::array<ColumnCodes, 2>& codes,
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
                            const NodeHistograms& histograms, ColumnSet columns, const SplitSearch& search,
                            double to_beat) {
    return best_of_columns(columns.count, to_beat, search.n_threads, [&](std::size_t k, BestSplit& best) {
        const std::size_t column = columns[k];
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

// The best of all cuts between the codes that occur. `codes` is loaded.
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
}

// Draws between what occurs in the column, whose `codes` are loaded. Says whether there is anything to ask.
bool draw_cut(const BinnedData& data, ColumnCodes& codes, const SplitSearch& search, DrawnCut& cut);
// The same for several workers: the largest of their numbers say where the codes of all rows begin and end and whether values
// are missing, or which categories there are.
std::size_t n_presence(const BinnedData& data, std::size_t column);
void find_presence(const BinnedData& data, ColumnCodes& codes, double* presence);
bool draw_cut(const BinnedData& data, std::size_t column, const double* presence, const SplitSearch& search, DrawnCut& cut);
// Where it sends the codes of its column.
SideTable sides_of(const BinnedData& data, std::size_t column, const DrawnCut& cut, bool missing_left);
// Rows and sample weights on the left of a cut and among the missing values: the last four numbers of DrawnSums.
void count_drawn(const BinnedData& data, const ColumnCodes& codes, const Node& node, const DrawnCut& cut,
                 const std::int64_t* masses, std::int64_t* numbers);

// The others, of loaded `codes`.
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

// All of them, of this worker's rows. Takes DrawnSums::size() numbers.
template <class Table, class Statistics>
void measure_drawn_cut(const Statistics& statistics, const BinnedData& data, const Node& node, const ColumnCodes& codes,
                       const DrawnCut& cut, const std::int64_t* masses, std::int64_t* numbers) {
    sum_drawn<Table>(statistics, data, node, codes, cut, codes.missing_code() >= 0, numbers);
    count_drawn(data, codes, node, cut, masses, numbers + 2 * node.sums.size());
}

// The cut that is drawn, with the missing values right and left.
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

// Draws a cut and scores it. `codes` is loaded.
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
        numbers[2 * n + 1] = codes.missing();  // no more is asked than whether there are any
    take_drawn_cut<Table>(statistics, node, codes.column(), cut, DrawnSums(numbers.data(), n), search, best);
}

// The best cut of the columns: all cuts between the codes that occur in the rows, or one drawn in each column.
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

// One column of this worker's rows as a table. Takes ColumnTable::size() numbers.
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

// What search_rows does with all cuts of one column, from the table of all workers. The sums of what goes left are read off it.
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

// The best cut of one column at two nodes at once: the scores at both are added. Both `codes` are loaded.
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
    EntryScores scores[2][2], totals[2];  // of a side with the missing values right and left
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

// What search_shared does with one column, from the tables of all workers.
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
