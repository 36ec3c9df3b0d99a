// Node statistics for splits that are scored by sums of a few int64 numbers per row, the channels (edge_statistics.cpp: gains
// by class; variance_statistics.cpp: gradients and weights). Template parameter Score: the channels and their score.
//
// Channels, a view of the rows' present numbers, provides
//   std::size_t width() const;                                                     // channels per row
//   void add(std::size_t row, std::int64_t sign, std::int64_t* sums) const;        // sums += sign * channels of the row
//   void add_rows(const BinnedData&, RowSet, begin, end, first, last, std::int64_t* histogram) const;   // adds rows
//                          // [begin, end) of the RowSet, columns [first, last), to a histogram of shape (n_slots, width)
//   std::size_t tile_columns(std::size_t n_columns, int n_threads) const;          // columns per pass over the rows
// and Score, a function of sums of channels,
//   using Interface;                                                               // NodeStatistics or PairStatistics
//   Channels channels() const;
//   double unsplit(const Node&) const;   double to_beat(double unsplit) const;   double gain(double score) const;
//   bool cannot_improve(const Node&) const;   std::int64_t weight(const Node&) const;
//   void inherit(const Node& parent, const Split&, Node& left, Node& right) const; // sets the children's monotone bounds
//   void scores(const std::int64_t* entries, std::size_t n, std::int64_t* left, const Node&, std::size_t column,
//               double* out) const;        // scores of the cuts after entries 0 ... n - 1, -1 if not allowed; `left`: sums
//                                          // of the rows left of all entries (missing values), may be overwritten
//   void order(const std::int64_t* entries, std::uint8_t* kept, std::size_t n, const Node&) const;
//                                          // sorts the n categories in `kept` into the order along which cuts are tried
// For stump pairs (Interface = PairStatistics) also
//   std::int64_t answer_gain(const std::int64_t* sums, const Node&) const;         // gain of the node's best class
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/large_array.hpp"
#include "core/pool.hpp"
#include "search/split_search.hpp"

namespace radboost {

// Histograms of sample weights, shape (n_slots,), for a minimum weight of leaves; subtract_masses removes the rows of `part`.
void build_masses(const BinnedData& data, const Node& node, const SplitSearch& search, std::vector<std::int64_t>& out);
void subtract_masses(const BinnedData& data, const Node& part, const NodeHistograms* known, const SplitSearch& search,
                     std::vector<std::int64_t>& whole);

// The Table (see split_search.hpp) of these statistics: one column of a node, sums of shape (n_entries, width).
template <class Score>
class ChannelTable;

template <class Score>
class ChannelStatistics : public Score::Interface {
public:
    ChannelStatistics(const BinnedData& data, Score score) : data_(data), score_(std::move(score)) {}

    void describe(Node& root, int n_threads) const override {
        const std::size_t n = width(), count = root.rows.count, parts = row_parts(count, n_threads);
        std::vector<std::vector<std::int64_t>> partial(parts, std::vector<std::int64_t>(n, 0));
        parallel_for(n_threads, parts, [&, rows = channels()](std::size_t part) {
            for (std::size_t i = range_begin(count, parts, part); i < range_begin(count, parts, part + 1); ++i)
                rows.add(root.rows[i], 1, partial[part].data());
        });
        root.sums.assign(n, 0);
        for (const auto& own : partial)
            for (std::size_t k = 0; k < n; ++k) root.sums[k] += own[k];
    }

    void describe_children(const Node& parent, const Split& split, Node& left, Node& right) const override {
        left.sums = split.left_sums;
        right.sums = parent.sums;
        for (std::size_t k = 0; k < right.sums.size(); ++k) right.sums[k] -= split.left_sums[k];
        score_.inherit(parent, split, left, right);
    }

    bool cannot_improve(const Node& node) const override { return score_.cannot_improve(node); }
    std::int64_t weight(const Node& node) const override { return score_.weight(node); }

    std::size_t histogram_bytes(bool with_masses) const override {
        return data_.n_slots() * (width() + (with_masses ? 1 : 0)) * sizeof(std::int64_t);
    }

    void build(const Node& node, const SplitSearch& search, NodeHistograms& out) override {
        const std::size_t n = width(), d = data_.n_columns;
        if (search.minimum_mass > 0) build_masses(data_, node, search, out.masses);
        out.channels.resize(data_.n_slots() * n);
        const bool parallel = search.n_threads > 1 && node.rows.count * d * n >= kParallelUpdates;
        const int n_threads = parallel ? search.n_threads : 1;
        const std::size_t width = channels().tile_columns(d, n_threads), tiles = (d + width - 1) / width;
        if (tiles < static_cast<std::size_t>(n_threads)) {
            share_rows(node, n_threads, out.channels.data());
            return;
        }
        parallel_for(n_threads, tiles, [&](std::size_t tile) {
            const std::size_t first = tile * width, last = std::min(first + width, d);
            std::int64_t* sums = out.channels.data();
            std::fill(sums + data_.slot_offsets[first] * n, sums + data_.slot_offsets[last] * n, 0);
            channels().add_rows(data_, node.rows, 0, node.rows.count, first, last, sums);
        });
    }

    void subtract(const Node& part, const NodeHistograms* known, const SplitSearch& search,
                  NodeHistograms& whole) const override {
        if (search.minimum_mass > 0) subtract_masses(data_, part, known, search, whole.masses);
        if (known != nullptr) {
            for (std::size_t i = 0; i < whole.channels.size(); ++i) whole.channels[i] -= known->channels[i];
            return;
        }
        const auto rows = channels();
        for (std::size_t i = 0; i < part.rows.count; ++i) {
            const std::size_t row = part.rows[i];
            for (std::size_t c = 0; c < data_.n_columns; ++c)
                rows.add(row, -1, whole.channels.data() + (data_.slot_offsets[c] + data_.row(row)[c]) * rows.width());
        }
    }

    Split find(const Node& node, const NodeHistograms& histograms, ColumnSet columns,
               const SplitSearch& search) const override {
        BestSplit best = search_histograms<Table>(*this, data_, node, histograms, columns, search,
                                                  score_.to_beat(score_.unsplit(node)));
        if (best.split.valid) {
            const std::size_t n = width(), column = best.split.column;
            const SideTable sides = sides_of(data_, best.split);
            const std::int64_t* sums = histograms.channels.data() + data_.slot_offsets[column] * n;
            const std::size_t n_entries = data_.n_bins(column) + (data_.has_missing[column] ? 1 : 0);
            best.split.left_sums.assign(n, 0);
            for (std::size_t entry = 0; entry < n_entries; ++entry)
                for (std::size_t k = 0; sides[entry] && k < n; ++k) best.split.left_sums[k] += sums[entry * n + k];
        }
        return finish(node, std::move(best));
    }

    Split find_in_rows(Node& node, ColumnSet columns, const SplitSearch& search) override {
        BestSplit best = search_rows<Table>(*this, data_, node, columns, search, score_.to_beat(score_.unsplit(node)));
        if (best.split.valid && best.split.left_sums.empty()) count_left(node, best.split);
        return finish(node, std::move(best));
    }

    void gather(Node* const*, std::size_t, int) override {}
    void measure(const Node& node, std::size_t column, const SplitSearch& search, std::int64_t* table) const override {
        measure_column<Table>(*this, data_, node, column, search, table);
    }
    BestSplit start(const Node& node) const override { return {score_.to_beat(score_.unsplit(node)), Split{}}; }
    void choose(const Node& node, std::size_t column, const ColumnTable& table, const SplitSearch& search,
                BestSplit& best) const override {
        choose_from_table<Table>(*this, data_, node, column, table, search, best);
    }
    void measure_drawn(const Node& node, const ColumnCodes& codes, const DrawnCut& cut, const std::int64_t* masses,
                       std::int64_t* numbers) const override {
        measure_drawn_cut<Table>(*this, data_, node, codes, cut, masses, numbers);
    }
    void choose_drawn(const Node& node, std::size_t column, const DrawnCut& cut, const DrawnSums& sums,
                      const SplitSearch& search, BestSplit& best) const override {
        take_drawn_cut<Table>(*this, node, column, cut, sums, search, best);
    }
    Split finish(const Node& node, BestSplit&& best) const override {
        if (best.split.valid) best.split.gain = score_.gain(best.score - score_.unsplit(node));
        return std::move(best.split);
    }

protected:
    using Table = ChannelTable<Score>;
    friend Table;

    auto channels() const { return score_.channels(); }
    std::size_t width() const { return channels().width(); }

    const BinnedData& data_;
    Score score_;

private:
    // For few columns: threads divide the rows and sum into separate histograms, which are added up at the end.
    void share_rows(const Node& node, int n_threads, std::int64_t* out) {
        const std::size_t size = data_.n_slots() * width(), parts = static_cast<std::size_t>(n_threads);
        const std::size_t count = node.rows.count;
        scratch_.resize(parts);
        parallel_for(n_threads, parts, [&](std::size_t part) {
            if (part > 0) scratch_[part].resize(size);
            std::int64_t* sums = part > 0 ? scratch_[part].data() : out;
            std::fill(sums, sums + size, 0);
            channels().add_rows(data_, node.rows, range_begin(count, parts, part), range_begin(count, parts, part + 1), 0,
                                data_.n_columns, sums);
        });
        for (std::size_t part = 1; part < parts; ++part)
            for (std::size_t slot = 0; slot < size; ++slot) out[slot] += scratch_[part][slot];
    }

    // Computes split.left_sums from the rows.
    void count_left(const Node& node, Split& split) const {
        const std::uint8_t* codes = data_.column(split.column);
        const SideTable sides = sides_of(data_, split);
        const auto rows = channels();
        split.left_sums.assign(rows.width(), 0);
        for (std::size_t i = 0; i < node.rows.count; ++i)
            if (sides[codes[node.rows[i]]]) rows.add(node.rows[i], 1, split.left_sums.data());
    }

    std::vector<LargeArray<std::int64_t>> scratch_;  // one histogram per thread
};

template <class Score>
class ChannelTable {
public:
    ChannelTable(const ChannelStatistics<Score>& statistics, const Node& node)
        : statistics_(statistics), node_(node), rows_(statistics.channels()), n_(rows_.width()) {}

    void read(const NodeHistograms& histograms, std::size_t column) {
        column_ = column;
        missing_entry_ = statistics_.data_.n_bins(column);
        first_ = histograms.channels.data() + statistics_.data_.slot_offsets[column] * n_;
    }

    void read(const ColumnCodes& codes) {
        column_ = codes.column();
        missing_entry_ = codes.n_present();
        thread_local std::vector<std::int64_t> table;
        table.assign((missing_entry_ + 1) * n_, 0);
        if (const ColumnTable* known = codes.table()) {
            for (std::size_t k = 0; k < missing_entry_; ++k)
                std::copy_n(known->sums + codes.present(k) * n_, n_, table.data() + k * n_);
            std::copy_n(known->sums + (known->n_entries - 1) * n_, n_, table.data() + missing_entry_ * n_);
        }
        for (std::size_t i = 0; i < codes.count(); ++i)
            rows_.add(node_.rows[i], 1, table.data() + codes.ranks()[codes.codes()[i]] * n_);
        first_ = table.data();
    }

    void write(std::int64_t* out) const { std::copy_n(first_, (missing_entry_ + 1) * n_, out); }

    bool has_missing() const { return !empty(missing_entry_); }
    bool empty(std::size_t entry) const {
        const std::int64_t* sums = first_ + entry * n_;
        return std::all_of(sums, sums + n_, [](std::int64_t sum) { return sum == 0; });
    }

    void scores(std::size_t n, bool missing_left, double* out) const {
        thread_local std::vector<std::int64_t> left;
        left.assign(n_, 0);
        if (missing_left) std::copy_n(first_ + missing_entry_ * n_, n_, left.data());
        statistics_.score_.scores(first_, n, left.data(), node_, column_, out);
    }

    std::size_t order(std::uint8_t* entries) const {
        std::size_t n = 0;
        for (std::size_t entry = 0; entry < missing_entry_; ++entry)
            if (!empty(entry)) entries[n++] = static_cast<std::uint8_t>(entry);
        statistics_.score_.order(first_, entries, n, node_);
        return n;
    }

    void arrange(const std::uint8_t* entries, std::size_t n, bool missing) {
        thread_local std::vector<std::int64_t> arranged;
        arranged.assign((n + 1) * n_, 0);
        for (std::size_t k = 0; k < n; ++k) std::copy_n(first_ + entries[k] * n_, n_, arranged.data() + k * n_);
        if (missing) std::copy_n(first_ + missing_entry_ * n_, n_, arranged.data() + n * n_);
        first_ = arranged.data();
        missing_entry_ = n;
    }

    std::int64_t answer_gain(std::size_t entry) const { return statistics_.score_.answer_gain(first_ + entry * n_, node_); }

    void sum_up_to(const ColumnCodes& codes, std::uint8_t bin, std::int64_t* sums) const {
        sum_where(codes, sums, [&](std::uint8_t code) { return code <= bin; });
    }
    void sum_of_code(const ColumnCodes& codes, std::uint8_t code, std::int64_t* sums) const {
        sum_where(codes, sums, [&](std::uint8_t here) { return here == code; });
    }
    void sum_sides(const ColumnCodes& codes, const SideTable& sides, std::int64_t* sums) const {
        sum_where(codes, sums, [&](std::uint8_t code) { return sides[code] != 0; });
    }

    double score_sides(std::size_t column, const std::int64_t* left_sums) const {
        thread_local std::vector<std::int64_t> left;
        left.assign(n_, 0);
        double score;
        statistics_.score_.scores(left_sums, 1, left.data(), node_, column, &score);
        return score;
    }

private:
    template <class Wanted>
    void sum_where(const ColumnCodes& codes, std::int64_t* sums, Wanted&& wanted) const {
        std::fill(sums, sums + n_, 0);
        for (std::size_t i = 0; i < codes.count(); ++i)
            if (wanted(codes.codes()[i])) rows_.add(node_.rows[i], 1, sums);
    }

    const ChannelStatistics<Score>& statistics_;
    const Node& node_;
    decltype(std::declval<const Score&>().channels()) rows_;
    std::size_t n_;
    const std::int64_t* first_ = nullptr;
    std::size_t missing_entry_ = 0, column_ = 0;
};

}  // namespace radboost
