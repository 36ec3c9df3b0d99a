// What LabelStatistics knows of one column of a node while it searches it.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "label_scores.hpp"
#include "label_statistics.hpp"
#include "split_search.hpp"

namespace radboost {

// Classes of one side together: what the score of a child is computed from.
struct LabelSide {
    std::int64_t weight = 0, squares = 0, largest = 0;

    void add(std::int64_t class_weight) {
        weight += class_weight;
        squares += class_weight * class_weight;
        largest = std::max(largest, class_weight);
    }
    double gini() const { return static_cast<double>(squares) / static_cast<double>(weight); }
    std::int64_t edge() const { return std::max<std::int64_t>(0, 2 * largest - weight); }
};

// One column of a node: the weight of every class that occurs there, by entry.
class LabelTable {
public:
    LabelTable(const LabelStatistics& statistics, const Node& node) : statistics_(statistics), node_(node) {}

    void read(const NodeHistograms& histograms, std::size_t column) {
        const BinnedData& data = statistics_.data_;
        first_ = histograms.class_weights.data() + data.slot_offsets[column];
        from_histogram_ = true;
        missing_entry_ = data.n_bins(column);
    }

    void read(const ColumnCodes& codes) {
        missing_entry_ = codes.n_present();
        const std::size_t width = missing_entry_ + 1;
        thread_local std::vector<std::uint32_t> table;
        table.assign(node_.segments.size() * width, 0);
        const std::uint8_t *code = codes.codes(), *ranks = codes.ranks();
        const std::uint32_t* weights = node_.weights;
        for (std::size_t s = 0; s < node_.segments.size(); ++s) {
            std::uint32_t* row = table.data() + s * width;
            for (std::size_t i = node_.segments[s].begin; i < node_.segments[s].end; ++i)
                row[ranks[code[i]]] += weights[i];
        }
        first_ = table.data();
        from_histogram_ = false;
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

    double score_cut(const ColumnCodes& codes, std::uint8_t bin, bool missing_left, std::int64_t* left_sums) const {
        for (std::size_t s = 0; s < node_.segments.size(); ++s) {
            const Segment& segment = node_.segments[s];
            const std::uint8_t* code = codes.codes() + segment.begin;
            const std::uint32_t* weights = node_.weights + segment.begin;
            const std::size_t count = segment.end - segment.begin;
            left_sums[s] = sum_up_to(code, weights, count, bin);
            if (missing_left)
                left_sums[s] += sum_of_code(code, weights, count, static_cast<std::uint8_t>(codes.missing_code()));
        }
        return split_score(left_sums);
    }

    double score_sides(const ColumnCodes& codes, const SideTable& sides, std::int64_t* left_sums) const {
        for (std::size_t s = 0; s < node_.segments.size(); ++s) {
            std::uint32_t sum = 0;
            for (std::size_t i = node_.segments[s].begin; i < node_.segments[s].end; ++i)
                sum += sides[codes.codes()[i]] ? node_.weights[i] : 0;
            left_sums[s] = sum;
        }
        return split_score(left_sums);
    }

    std::int64_t lean(std::size_t entry) const {
        return 2 * std::int64_t{key_weight(key_segment(), entry)} - weight(entry);
    }

    // By the share of the key class, the smallest first.
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
            const std::uint64_t share_a = key[a] * all[b], share_b = key[b] * all[a];  // factors of 32 bits: exact
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
    double split_score(const std::int64_t* left_sums) const {
        LabelSide left, right;
        for (std::size_t s = 0; s < node_.segments.size(); ++s) {
            left.add(left_sums[s]);
            right.add(node_.sums[s] - left_sums[s]);
        }
        if (statistics_.criterion_ == Criterion::edge) return static_cast<double>(left.edge() + right.edge());
        return left.weight == 0 || right.weight == 0 ? -1.0 : left.gini() + right.gini();
    }

    // The class whose share orders the categories: the second of two (past the end where it does not occur), otherwise the
    // heaviest.
    std::size_t key_segment() const {
        std::size_t best = 0;
        const bool two = statistics_.state_.n_classes() == 2;
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

    const std::uint32_t* sums(std::size_t s) const {
        return from_histogram_ ? first_ + node_.segments[s].class_index * statistics_.data_.n_slots()
                               : first_ + s * (missing_entry_ + 1);
    }

    const LabelStatistics& statistics_;
    const Node& node_;
    const std::uint32_t* first_ = nullptr;
    bool from_histogram_ = false;
    std::size_t missing_entry_ = 0;
};

}  // namespace radboost
