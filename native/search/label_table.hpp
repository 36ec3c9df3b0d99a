// The Table (see split_search.hpp) of LabelStatistics: one column of a node with the weight of each class by entry.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/channel_statistics.hpp"
#include "search/label_kernels.hpp"
#include "search/label_score.hpp"
#include "search/label_statistics.hpp"

namespace radboost {

// `first_` points to the weights: into a histogram, or to an array of shape (n_segments, missing_entry_ + 1).
class LabelTable {
public:
    LabelTable(const LabelStatistics& statistics, const Node& node) : statistics_(statistics), node_(node) {}

    void read(const NodeHistograms& histograms, std::size_t column) {
        const BinnedData& data = statistics_.data_;
        column_ = column;
        first_ = histograms.class_weights.data() + data.slot_offsets[column];
        from_histogram_ = true;
        missing_entry_ = data.n_bins(column);
    }

    void read(const ColumnCodes& codes) {
        column_ = codes.column();
        missing_entry_ = codes.n_present();
        const std::size_t width = missing_entry_ + 1;
        thread_local std::vector<std::uint32_t> table;
        table.assign(node_.segments.size() * width, 0);
        first_ = table.data();
        from_histogram_ = false;
        if (codes.table() != nullptr) {
            read_table(codes, table.data());
            return;
        }
        const std::uint8_t *code = codes.codes(), *ranks = codes.ranks();
        const std::uint32_t* weights = node_.weights;
        for (std::size_t s = 0; s < node_.segments.size(); ++s) {
            std::uint32_t* row = table.data() + s * width;
            for (std::size_t i = node_.segments[s].begin; i < node_.segments[s].end; ++i)
                row[ranks[code[i]]] += weights[i];
        }
    }

    void write(std::int64_t* out) const {
        const std::size_t n = node_.segments.size();
        for (std::size_t s = 0; s < n; ++s)
            for (std::size_t entry = 0; entry <= missing_entry_; ++entry) out[entry * n + s] = sums(s)[entry];
    }

    bool has_missing() const {
        return !empty(missing_entry_);
    }

    bool empty(std::size_t entry) const {
        bool any = false;
        for (std::size_t s = 0; s < node_.segments.size(); ++s) any = any || sums(s)[entry] != 0;
        return !any;
    }

    void scores(std::size_t n, bool missing_left, double* out) const {
        if (!statistics_.directions_.empty())
            bounded_scores(n, missing_left, out);
        else if (node_.segments.size() == 2)
            scores_of_two(n, missing_left, out);
        else
            scores_of_all(n, missing_left, out);
    }

    void sum_up_to(const ColumnCodes& codes, std::uint8_t bin, std::int64_t* out) const {
        sum_segments(codes, out, [=](const std::uint8_t* code, const std::uint32_t* weights, std::size_t n) {
            return weight_up_to(code, weights, n, bin);
        });
    }
    void sum_of_code(const ColumnCodes& codes, std::uint8_t wanted, std::int64_t* out) const {
        sum_segments(codes, out, [=](const std::uint8_t* code, const std::uint32_t* weights, std::size_t n) {
            return weight_of_code(code, weights, n, wanted);
        });
    }
    void sum_sides(const ColumnCodes& codes, const SideTable& sides, std::int64_t* out) const {
        sum_segments(codes, out, [&](const std::uint8_t* code, const std::uint32_t* weights, std::size_t n) {
            std::uint32_t sum = 0;
            for (std::size_t i = 0; i < n; ++i) sum += sides[code[i]] ? weights[i] : 0;
            return sum;
        });
    }
    double score_sides(std::size_t column, const std::int64_t* left_sums) const {
        if (!statistics_.directions_.empty())
            return statistics_.bounded_score(node_, column, statistics_.weights_of_two(node_, left_sums),
                                             statistics_.weights_of_two(node_, node_.sums.data()));
        return split_score(statistics_.criterion_, node_.sums.data(), left_sums, node_.sums.size());
    }

    std::int64_t answer_gain(std::size_t entry) const {
        return 2 * std::int64_t{key_weight(key_segment(), entry)} - weight(entry);
    }

    // Ascending by the key class's fraction of the entry's weight; entries without weight are left out.
    std::size_t order(std::uint8_t* entries) const {
        std::array<std::uint64_t, kEntries> key, all;
        const std::size_t segment = key_segment();
        std::size_t n = 0;
        for (std::size_t entry = 0; entry < missing_entry_; ++entry) {
            key[entry] = key_weight(segment, entry);
            all[entry] = weight(entry);
            if (all[entry] != 0) entries[n++] = static_cast<std::uint8_t>(entry);
        }
        std::sort(entries, entries + n, [&](std::uint8_t a, std::uint8_t b) {
            const std::uint64_t share_a = key[a] * all[b], share_b = key[b] * all[a];  // products of 32-bit factors: exact
            return share_a != share_b ? share_a < share_b : a < b;
        });
        return n;
    }

    void arrange(const std::uint8_t* entries, std::size_t n, bool missing) {
        thread_local std::vector<std::uint32_t> arranged;
        arranged.resize(node_.segments.size() * (n + 1));
        for (std::size_t s = 0; s < node_.segments.size(); ++s) {
            const std::uint32_t* from = sums(s);
            std::uint32_t* to = arranged.data() + s * (n + 1);
            for (std::size_t k = 0; k < n; ++k) to[k] = from[entries[k]];
            to[n] = missing ? from[missing_entry_] : 0;
        }
        first_ = arranged.data();
        from_histogram_ = false;
        missing_entry_ = n;
    }

private:
    void read_table(const ColumnCodes& codes, std::uint32_t* to) const {
        const ColumnTable& known = *codes.table();
        const std::size_t n = node_.segments.size(), width = missing_entry_ + 1;
        for (std::size_t s = 0; s < n; ++s) {
            for (std::size_t k = 0; k < missing_entry_; ++k)
                to[s * width + k] = static_cast<std::uint32_t>(known.sums[codes.present(k) * n + s]);
            to[s * width + missing_entry_] = static_cast<std::uint32_t>(known.sums[(known.n_entries - 1) * n + s]);
        }
    }

    // out[s] = sum(codes, weights, n) of the rows of segment s.
    template <class Sum>
    void sum_segments(const ColumnCodes& codes, std::int64_t* out, Sum&& sum) const {
        for (std::size_t s = 0; s < node_.segments.size(); ++s) {
            const Segment& segment = node_.segments[s];
            out[s] = sum(codes.codes() + segment.begin, node_.weights + segment.begin, segment.end - segment.begin);
        }
    }

    void bounded_scores(std::size_t n, bool missing_left, double* out) const {
        const auto all = statistics_.weights_of_two(node_, node_.sums.data());
        std::array<std::int64_t, 2> left{0, 0};
        for (std::size_t s = 0; missing_left && s < node_.segments.size(); ++s)
            left[node_.segments[s].class_index] = sums(s)[missing_entry_];
        for (std::size_t entry = 0; entry < n; ++entry) {
            for (std::size_t s = 0; s < node_.segments.size(); ++s)
                left[node_.segments[s].class_index] += sums(s)[entry];
            out[entry] = statistics_.bounded_score(node_, column_, left, all);
        }
    }

    void scores_of_two(std::size_t n, bool missing_left, double* out) const {
        std::uint32_t prefix[2][kEntries];
        const std::uint32_t *first = sums(0), *second = sums(1);
        std::uint32_t a = missing_left ? first[missing_entry_] : 0, b = missing_left ? second[missing_entry_] : 0;
        for (std::size_t entry = 0; entry < n; ++entry) {
            prefix[0][entry] = a += first[entry];
            prefix[1][entry] = b += second[entry];
        }
        const auto kernel = statistics_.criterion_ == Criterion::gini ? gini_of_two : edges_of_two;
        kernel(prefix[0], prefix[1], n, static_cast<std::uint32_t>(node_.sums[0]),
               static_cast<std::uint32_t>(node_.sums[1]), out);
    }

    void scores_of_all(std::size_t n, bool missing_left, double* out) const {
        std::uint32_t left[kEntries], prefix[kEntries];
        std::int64_t here[kEntries], there[kEntries];
        std::fill(left, left + n, 0u);
        std::fill(here, here + n, 0);
        std::fill(there, there + n, 0);
        const bool gini = statistics_.criterion_ == Criterion::gini;
        std::uint32_t total = 0;
        for (std::size_t s = 0; s < node_.segments.size(); ++s) {
            const auto class_total = static_cast<std::uint32_t>(node_.sums[s]);
            if (class_total == 0) continue;
            const std::uint32_t* weights = sums(s);
            std::uint32_t running = missing_left ? weights[missing_entry_] : 0;
            for (std::size_t entry = 0; entry < n; ++entry) prefix[entry] = running += weights[entry];
            total += class_total;
            (gini ? add_squares : add_largest)(prefix, n, class_total, left, here, there);
        }
        (gini ? gini_scores : edge_scores)(left, here, there, n, total, out);
    }

    // Segment of the class by which categories are sorted: with two classes class 1 (absent: n_segments), else the heaviest.
    std::size_t key_segment() const {
        std::size_t best = 0;
        const bool two = statistics_.weighting_.n_classes() == 2;
        for (std::size_t s = 0; s < node_.segments.size(); ++s)
            if (two ? node_.segments[s].class_index == 1 : node_.sums[s] > node_.sums[best]) best = s;
        return two && (node_.segments.empty() || node_.segments[best].class_index != 1) ? node_.segments.size() : best;
    }
    std::uint32_t key_weight(std::size_t segment, std::size_t entry) const {
        return segment < node_.segments.size() ? sums(segment)[entry] : 0;
    }
    std::uint32_t weight(std::size_t entry) const {
        std::uint32_t sum = 0;
        for (std::size_t s = 0; s < node_.segments.size(); ++s) sum += sums(s)[entry];
        return sum;
    }

    // Weights by entry of segment s.
    const std::uint32_t* sums(std::size_t s) const {
        return from_histogram_ ? first_ + node_.segments[s].class_index * statistics_.data_.n_slots()
                               : first_ + s * (missing_entry_ + 1);
    }

    const LabelStatistics& statistics_;
    const Node& node_;
    const std::uint32_t* first_ = nullptr;
    bool from_histogram_ = false;
    std::size_t missing_entry_ = 0, column_ = 0;
};

}  // namespace radboost
