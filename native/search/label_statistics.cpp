#include "search/label_statistics.hpp"

#include <algorithm>
#include <utility>
#include <array>
#include <cstring>
#include <numeric>

#include "search/label_score.hpp"
#include "core/pool.hpp"
#include "search/channel_statistics.hpp"

namespace radboost {
namespace {

// One class's share in the scores of all cuts of a column: `prefix[i]` is its weight up to entry i.
RADBOOST_CLONES void add_squares(const std::uint32_t* prefix, std::size_t n, std::uint32_t total, std::uint32_t* left,
                                 std::int64_t* left_squares, std::int64_t* right_squares) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t here = prefix[i], there = total - prefix[i];
        left[i] += prefix[i];
        left_squares[i] += static_cast<std::int64_t>(here * here);
        right_squares[i] += static_cast<std::int64_t>(there * there);
    }
}

RADBOOST_CLONES void gini_scores(const std::uint32_t* left, const std::int64_t* left_squares,
                                 const std::int64_t* right_squares, std::size_t n, std::uint32_t total, double* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const auto here = static_cast<double>(left[i]), there = static_cast<double>(total - left[i]);
        const double score = static_cast<double>(left_squares[i]) / here + static_cast<double>(right_squares[i]) / there;
        out[i] = (left[i] == 0) | (left[i] == total) ? -1.0 : score;
    }
}

// The scores of two classes in one go, the commonest case: no sums in between, and the prefix sums of the classes do not
// wait for each other. Takes a tenth off a small fit.
RADBOOST_CLONES void gini_of_two(const std::uint32_t* first, const std::uint32_t* second, std::size_t n,
                                 std::uint32_t first_total, std::uint32_t second_total, double* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t a = first[i], b = second[i], c = first_total - first[i], d = second_total - second[i];
        const std::uint64_t left = a + b, right = c + d;
        const auto here = static_cast<std::int64_t>(a * a + b * b), there = static_cast<std::int64_t>(c * c + d * d);
        const double score = static_cast<double>(here) / static_cast<double>(static_cast<std::int64_t>(left)) +
                             static_cast<double>(there) / static_cast<double>(static_cast<std::int64_t>(right));
        out[i] = (left == 0) | (right == 0) ? -1.0 : score;
    }
}

// With two classes the better answer gains the difference of their weights.
RADBOOST_CLONES void edges_of_two(const std::uint32_t* first, const std::uint32_t* second, std::size_t n,
                                  std::uint32_t first_total, std::uint32_t second_total, double* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t a = first[i], b = second[i];
        const std::int64_t here = a - b, there = (first_total - a) - (second_total - b);
        out[i] = static_cast<double>((here < 0 ? -here : here) + (there < 0 ? -there : there));
    }
}

RADBOOST_CLONES void add_largest(const std::uint32_t* prefix, std::size_t n, std::uint32_t total, std::uint32_t* left,
                                 std::int64_t* left_largest, std::int64_t* right_largest) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t here = prefix[i], there = total - prefix[i];
        left[i] += prefix[i];
        left_largest[i] = left_largest[i] < here ? here : left_largest[i];
        right_largest[i] = right_largest[i] < there ? there : right_largest[i];
    }
}

// The best class has weight M of W: as an answer it gains M and loses the others' W - M; abstaining gains 0.
RADBOOST_CLONES void edge_scores(const std::uint32_t* left, const std::int64_t* left_largest,
                                 const std::int64_t* right_largest, std::size_t n, std::uint32_t total, double* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t here = 2 * left_largest[i] - left[i];
        const std::int64_t there = 2 * right_largest[i] - (total - left[i]);
        out[i] = static_cast<double>((here > 0 ? here : 0) + (there > 0 ? there : 0));
    }
}

RADBOOST_CLONES std::uint32_t weight_up_to(const std::uint8_t* codes, const std::uint32_t* weights, std::size_t n,
                                           std::uint8_t bin) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += codes[i] <= bin ? weights[i] : 0;
    return sum;
}

RADBOOST_CLONES std::uint32_t weight_of_code(const std::uint8_t* codes, const std::uint32_t* weights, std::size_t n,
                                             std::uint8_t code) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += codes[i] == code ? weights[i] : 0;
    return sum;
}

}  // namespace

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
        if (node_.segments.size() == 2)
            scores_of_two(n, missing_left, out);
        else
            scores_of_all(n, missing_left, out);
    }

    void sum_up_to(const ColumnCodes& codes, std::uint8_t bin, std::int64_t* out) const {
        sum_where(codes, out, [=](std::size_t code) { return code <= bin; },
                  [=](const std::uint8_t* code, const std::uint32_t* weights, std::size_t n) {
                      return weight_up_to(code, weights, n, bin);
                  });
    }
    void sum_of_code(const ColumnCodes& codes, std::uint8_t wanted, std::int64_t* out) const {
        sum_where(codes, out, [=](std::size_t code) { return code == wanted; },
                  [=](const std::uint8_t* code, const std::uint32_t* weights, std::size_t n) {
                      return weight_of_code(code, weights, n, wanted);
                  });
    }
    void sum_sides(const ColumnCodes& codes, const SideTable& sides, std::int64_t* out) const {
        sum_where(codes, out, [&](std::size_t code) { return sides[code] != 0; },
                  [&](const std::uint8_t* code, const std::uint32_t* weights, std::size_t n) {
                      std::uint32_t sum = 0;
                      for (std::size_t i = 0; i < n; ++i) sum += sides[code[i]] ? weights[i] : 0;
                      return sum;
                  });
    }
    double score_sides(const ColumnCodes&, const std::int64_t* left_sums) const {
        return split_score(statistics_.criterion_, node_.sums.data(), left_sums, node_.sums.size());
    }

    std::int64_t answer_gain(std::size_t entry) const {
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
    void read_table(const ColumnCodes& codes, std::uint32_t* to) const {
        const ColumnTable& known = *codes.table();
        const std::size_t n = node_.segments.size(), width = missing_entry_ + 1;
        for (std::size_t s = 0; s < n; ++s) {
            for (std::size_t k = 0; k < missing_entry_; ++k)
                to[s * width + k] = static_cast<std::uint32_t>(known.sums[codes.present(k) * n + s]);
            to[s * width + missing_entry_] = static_cast<std::uint32_t>(known.sums[(known.n_entries - 1) * n + s]);
        }
    }

    // By segment: the sum of the entries that are wanted, or what `sum` finds in the segment's rows.
    template <class Wanted, class Sum>
    void sum_where(const ColumnCodes& codes, std::int64_t* out, Wanted&& wanted, Sum&& sum) const {
        const std::size_t n = node_.segments.size();
        for (std::size_t s = 0; s < n; ++s) {
            out[s] = 0;
            if (const ColumnTable* known = codes.table()) {
                for (std::size_t code = 0; code < known->n_entries; ++code)
                    out[s] += wanted(code) ? known->sums[code * n + s] : 0;
                continue;
            }
            const Segment& segment = node_.segments[s];
            out[s] = sum(codes.codes() + segment.begin, node_.weights + segment.begin, segment.end - segment.begin);
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

    // The class whose share orders the categories: the second of two (past the end where it does not occur), otherwise the
    // heaviest.
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

LabelStatistics::LabelStatistics(const BinnedData& data, const AnswerWeighting& weighting, Criterion criterion)
    : data_(data), weighting_(weighting), criterion_(criterion), keep_classes_(!weighting.collective().alone()) {
    require(!weighting.class_begin().empty(), "the rows must be sorted by class");
}

void LabelStatistics::describe(Node& node, int n_threads) const {
    node.segments.clear();
    const std::uint32_t* rows = node.rows.indices;
    std::size_t begin = 0;
    for (std::size_t c = 0; c < weighting_.n_classes(); ++c) {
        const std::size_t limit = weighting_.class_begin()[c + 1];
        const std::size_t end =
            rows ? static_cast<std::size_t>(std::lower_bound(rows + begin, rows + node.rows.count, limit) - rows) : limit;
        if (end > begin || keep_classes_) node.segments.push_back({static_cast<std::uint32_t>(c), begin, end});
        begin = end;
    }
    node.sums.assign(node.segments.size(), 0);
    const std::uint32_t* weights = weighting_.growth_weights();
    for (std::size_t s = 0; s < node.segments.size(); ++s) {
        const std::size_t first = node.segments[s].begin, count = node.segments[s].end - first;
        const std::size_t parts = row_parts(count, n_threads);
        std::vector<std::int64_t> sums(parts, 0);
        parallel_for(n_threads, parts, [&](std::size_t part) {
            std::int64_t sum = 0;
            for (std::size_t i = range_begin(count, parts, part); i < range_begin(count, parts, part + 1); ++i)
                sum += weights[node.rows[first + i]];
            sums[part] = sum;
        });
        node.sums[s] = std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
    }
}

void LabelStatistics::describe_children(const Node& parent, const Split& split, Node& left, Node& right) const {
    for (Node* child : {&left, &right}) {
        child->segments.clear();
        child->sums.clear();
        const std::uint32_t* rows = child->rows.indices;
        std::size_t begin = 0;
        for (std::size_t s = 0; s < parent.segments.size(); ++s) {
            const std::uint32_t c = parent.segments[s].class_index;
            const std::int64_t sum = child == &left ? split.left_sums[s] : parent.sums[s] - split.left_sums[s];
            const auto end = static_cast<std::size_t>(
                std::lower_bound(rows + begin, rows + child->rows.count, weighting_.class_begin()[c + 1]) - rows);
            if (end > begin || keep_classes_) {
                child->segments.push_back({c, begin, end});
                child->sums.push_back(sum);
            }
            begin = end;
        }
    }
}

bool LabelStatistics::cannot_improve(const Node& node) const { return one_class_only(node.sums.data(), node.sums.size()); }

std::size_t LabelStatistics::histogram_bytes(bool with_masses) const {
    return data_.n_slots() * (weighting_.n_classes() * sizeof(std::uint32_t) + (with_masses ? sizeof(std::int64_t) : 0));
}

void LabelStatistics::build(const Node& node, const SplitSearch& search, NodeHistograms& out) {
    const std::size_t slots = data_.n_slots();
    out.class_weights.resize(weighting_.n_classes() * slots);
    const bool parallel = search.n_threads > 1 && node.rows.count * data_.n_columns >= kParallelUpdates;
    const std::size_t tiles = (data_.n_columns + kTileColumns - 1) / kTileColumns;
    if (search.minimum_mass > 0) build_masses(data_, node, search, out.masses);
    if (parallel && tiles < static_cast<std::size_t>(search.n_threads)) {
        share_rows(node, search.n_threads, out.class_weights.data());
        return;
    }
    parallel_for(parallel ? search.n_threads : 1, tiles, [&](std::size_t tile) {
        const std::size_t first = tile * kTileColumns, last = std::min(first + kTileColumns, data_.n_columns);
        for (const Segment& segment : node.segments) {
            std::uint32_t* histogram = out.class_weights.data() + segment.class_index * slots;
            std::fill(histogram + data_.slot_offsets[first], histogram + data_.slot_offsets[last], 0u);
            add_to_histogram(data_, node.rows, segment.begin, segment.end, first, last, weighting_.growth_weights(),
                             histogram);
        }
    });
}

// Narrow data: the threads share the rows. Where the border between two threads cuts a class, the later one sums its part
// into a histogram of its own.
void LabelStatistics::share_rows(const Node& node, int n_threads, std::uint32_t* out) {
    const std::size_t slots = data_.n_slots(), parts = static_cast<std::size_t>(n_threads), n = node.rows.count;
    scratch_.resize(parts);
    std::vector<std::uint32_t> continued(parts, UINT32_MAX);  // the class that a part found begun
    parallel_for(n_threads, parts, [&](std::size_t part) {
        const std::size_t begin = range_begin(n, parts, part), end = range_begin(n, parts, part + 1);
        for (const Segment& segment : node.segments) {
            const std::size_t from = std::max(begin, segment.begin), to = std::min(end, segment.end);
            if (from >= to) continue;
            std::uint32_t* histogram = out + segment.class_index * slots;
            if (from > segment.begin) {
                scratch_[part].resize(slots);
                histogram = scratch_[part].data();
                continued[part] = segment.class_index;
            }
            std::fill(histogram, histogram + slots, 0u);
            for (std::size_t first = 0; first < data_.n_columns; first += kTileColumns)
                add_to_histogram(data_, node.rows, from, to, first, std::min(first + kTileColumns, data_.n_columns),
                                 weighting_.growth_weights(), histogram);
        }
    });
    for (std::size_t part = 0; part < parts; ++part) {
        if (continued[part] == UINT32_MAX) continue;
        std::uint32_t* histogram = out + continued[part] * slots;
        const std::uint32_t* own = scratch_[part].data();
        for (std::size_t slot = 0; slot < slots; ++slot) histogram[slot] += own[slot];
    }
}

void LabelStatistics::subtract(const Node& part, const NodeHistograms* known, const SplitSearch& search,
                               NodeHistograms& whole) const {
    const std::size_t slots = data_.n_slots();
    if (search.minimum_mass > 0) subtract_masses(data_, part, known, search, whole.masses);
    for (const Segment& segment : part.segments) {
        std::uint32_t* histogram = whole.class_weights.data() + segment.class_index * slots;
        if (known == nullptr) {
            remove_from_histogram(data_, part.rows, segment.begin, segment.end, weighting_.growth_weights(), histogram);
            continue;
        }
        const std::uint32_t* own = known->class_weights.data() + segment.class_index * slots;
        for (std::size_t slot = 0; slot < slots; ++slot) histogram[slot] -= own[slot];
    }
}

double LabelStatistics::unsplit_score(const Node& node) const {
    return radboost::unsplit_score(criterion_, node.sums.data(), node.sums.size());
}

Split LabelStatistics::find(const Node& node, const NodeHistograms& histograms, const SplitSearch& search) const {
    BestSplit best = search_histograms<LabelTable>(*this, data_, node, histograms, search, start(node).score);
    if (best.split.valid) count_left(node, histograms, best.split);
    return finish(node, std::move(best));
}

// What goes left at a node, read off its histograms.
void LabelStatistics::count_left(const Node& node, const NodeHistograms& histograms, Split& split) const {
    const std::size_t slots = data_.n_slots(), offset = data_.slot_offsets[split.column];
    const std::size_t n_bins = data_.n_bins(split.column);
    const bool categorical = data_.is_categorical[split.column];
    split.left_sums.assign(node.segments.size(), 0);
    for (std::size_t s = 0; s < node.segments.size(); ++s) {
        const std::uint32_t* weights = histograms.class_weights.data() + node.segments[s].class_index * slots + offset;
        std::int64_t sum = split.missing_left ? weights[n_bins] : 0;
        if (categorical)
            for (std::size_t code = 0; code < n_bins; ++code) sum += split.left.has(code) ? weights[code] : 0;
        else
            for (std::size_t bin = 0; bin <= split.bin; ++bin) sum += weights[bin];
        split.left_sums[s] = sum;
    }
}

void LabelStatistics::count_left(const Node& node, Split& split) const {
    const std::uint8_t* codes = data_.column(split.column);
    const SideTable sides = sides_of(data_, split);
    split.left_sums.assign(node.segments.size(), 0);
    for (std::size_t s = 0; s < node.segments.size(); ++s)
        for (std::size_t i = node.segments[s].begin; i < node.segments[s].end; ++i) {
            const std::size_t row = node.rows[i];
            split.left_sums[s] += sides[codes[row]] ? weighting_.growth_weights()[row] : 0;
        }
}

void LabelStatistics::gather(Node* const* nodes, std::size_t n_nodes, int n_threads) {
    std::size_t total = 0;
    for (std::size_t k = 0; k < n_nodes; ++k) total += nodes[k]->rows.indices ? nodes[k]->rows.count : 0;
    if (gathered_.size() < total) gathered_.resize(total);
    const std::uint32_t* weights = weighting_.growth_weights();
    std::uint32_t* to = gathered_.data();
    for (std::size_t k = 0; k < n_nodes; ++k) {
        Node* const node = nodes[k];
        const std::uint32_t* rows = node->rows.indices;
        node->weights = rows ? to : weights;
        if (rows == nullptr) continue;
        const std::size_t count = node->rows.count, parts = row_parts(count, n_threads);
        parallel_for(n_threads, parts, [&](std::size_t part) {
            for (std::size_t i = range_begin(count, parts, part); i < range_begin(count, parts, part + 1); ++i)
                to[i] = weights[rows[i]];
        });
        to += count;
    }
}

Split LabelStatistics::find_in_rows(Node& node, ColumnSet columns, const SplitSearch& search) {
    Node* const alone = &node;
    gather(&alone, 1, search.n_threads);
    BestSplit best = search_rows<LabelTable>(*this, data_, node, columns, search, start(node).score);
    if (best.split.valid && best.split.left_sums.empty()) count_left(node, best.split);
    return finish(node, std::move(best));
}

void LabelStatistics::measure(const Node& node, std::size_t column, const SplitSearch& search, std::int64_t* table) const {
    measure_column<LabelTable>(*this, data_, node, column, search, table);
}

BestSplit LabelStatistics::start(const Node& node) const {
    return {score_to_beat(criterion_, unsplit_score(node)), Split{}};
}

void LabelStatistics::choose(const Node& node, std::size_t column, const ColumnTable& table, const SplitSearch& search,
                             BestSplit& best) const {
    choose_from_table<LabelTable>(*this, data_, node, column, table, search, best);
}

Split LabelStatistics::finish(const Node& node, BestSplit&& best) const {
    best.split.gain = (best.score - unsplit_score(node)) / kGrowthScale;
    return std::move(best.split);
}

Split LabelStatistics::find_shared(Node& first, Node& second, ColumnSet columns, std::size_t excluded,
                                   const SplitSearch& search) {
    Node* const both[] = {&first, &second};
    gather(both, 2, search.n_threads);
    return finish_shared(first, second,
                         search_shared<LabelTable>(*this, data_, first, second, columns, excluded, search,
                                                   start_shared(first, second).score));
}

// The sum of two edges, which are whole numbers: nothing to add against rounding.
BestSplit LabelStatistics::start_shared(const Node& first, const Node& second) const {
    return {unsplit_score(first) + unsplit_score(second), Split{}};
}

void LabelStatistics::choose_shared(const Node& first, const Node& second, std::size_t column, const ColumnTable* tables,
                                    const SplitSearch& search, BestSplit& best) const {
    choose_shared_from_tables<LabelTable>(*this, data_, first, second, column, tables, search, best);
}

Split LabelStatistics::finish_shared(const Node& first, const Node& second, const BestSplit& best) const {
    Split split = best.split;
    split.gain = (best.score - start_shared(first, second).score) / kGrowthScale;
    return split;
}

void build_masses(const BinnedData& data, const Node& node, const SplitSearch& search, std::vector<std::int64_t>& out) {
    out.assign(data.n_slots(), 0);
    for (std::size_t first = 0; first < data.n_columns; first += kTileColumns)
        add_to_histogram(data, node.rows, 0, node.rows.count, first, std::min(first + kTileColumns, data.n_columns),
                         search.masses, out.data());
}

void subtract_masses(const BinnedData& data, const Node& part, const NodeHistograms* known, const SplitSearch& search,
                     std::vector<std::int64_t>& whole) {
    if (known == nullptr) {
        remove_from_histogram(data, part.rows, 0, part.rows.count, search.masses, whole.data());
        return;
    }
    for (std::size_t slot = 0; slot < whole.size(); ++slot) whole[slot] -= known->masses[slot];
}

}  // namespace radboost
