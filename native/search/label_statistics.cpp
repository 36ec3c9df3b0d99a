#include "search/label_statistics.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/pool.hpp"
#include "search/channel_statistics.hpp"
#include "search/label_score.hpp"
#include "search/label_table.hpp"

namespace radboost {

LabelStatistics::LabelStatistics(const BinnedData& data, const AnswerWeighting& weighting, Criterion criterion,
                                 const std::vector<std::int8_t>& directions)
    : data_(data),
      weighting_(weighting),
      criterion_(criterion),
      directions_(directions),
      keep_classes_(!weighting.collective().alone()) {
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
    if (!directions_.empty()) inherit_bounds(parent, split, left, right);
}

// Monotone constraints: bounds all values below either child by the mean of the two children's values.
void LabelStatistics::inherit_bounds(const Node& parent, const Split& split, Node& left, Node& right) const {
    for (Node* child : {&left, &right}) {
        child->lowest = parent.lowest;
        child->highest = parent.highest;
    }
    const int towards = direction(split.column);
    if (towards == 0) return;
    const auto value_of = [&](const Node& child) {
        const auto own = weights_of_two(child, child.sums.data());
        return BoundedAnswer(criterion_, own[0], own[1], parent).value;
    };
    const double middle = 0.5 * value_of(left) + 0.5 * value_of(right);
    (towards > 0 ? left : right).highest = middle;
    (towards > 0 ? right : left).lowest = middle;
}

std::array<std::int64_t, 2> LabelStatistics::weights_of_two(const Node& node, const std::int64_t* by_segment) const {
    std::array<std::int64_t, 2> weights{0, 0};
    for (std::size_t s = 0; s < node.segments.size(); ++s) weights[node.segments[s].class_index] = by_segment[s];
    return weights;
}

double LabelStatistics::bounded_score(const Node& node, std::size_t column, std::array<std::int64_t, 2> left,
                                      std::array<std::int64_t, 2> all) const {
    const std::int64_t first = all[0] - left[0], second = all[1] - left[1];
    if (criterion_ == Criterion::gini && (left[0] + left[1] == 0 || first + second == 0)) return -1.0;
    const BoundedAnswer here(criterion_, left[0], left[1], node), there(criterion_, first, second, node);
    const bool wrong_way = direction(column) * (there.value - here.value) < 0;
    return wrong_way ? -1.0 : std::max(0.0, here.score + there.score);
}

bool LabelStatistics::cannot_improve(const Node& node) const { return one_class_only(node.sums.data(), node.sums.size()); }

std::int64_t LabelStatistics::weight(const Node& node) const {
    return std::accumulate(node.sums.begin(), node.sums.end(), std::int64_t{0});
}

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

// For few columns: threads divide the rows. Of a class that two threads divide, the later one fills its own histogram.
void LabelStatistics::share_rows(const Node& node, int n_threads, std::uint32_t* out) {
    const std::size_t slots = data_.n_slots(), parts = static_cast<std::size_t>(n_threads), n = node.rows.count;
    scratch_.resize(parts);
    std::vector<std::uint32_t> continued(parts, UINT32_MAX);  // class whose rows begin in an earlier part
    for (const Segment& segment : node.segments)
        if (segment.begin == segment.end) std::fill_n(out + segment.class_index * slots, slots, 0u);
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
    if (!directions_.empty()) {
        const auto own = weights_of_two(node, node.sums.data());
        return std::max(0.0, BoundedAnswer(criterion_, own[0], own[1], node).score);
    }
    return radboost::unsplit_score(criterion_, node.sums.data(), node.sums.size());
}

Split LabelStatistics::find(const Node& node, const NodeHistograms& histograms, ColumnSet columns,
                            const SplitSearch& search) const {
    BestSplit best = search_histograms<LabelTable>(*this, data_, node, histograms, columns, search, start(node).score);
    if (best.split.valid) count_left(node, histograms, best.split);
    return finish(node, std::move(best));
}

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

void LabelStatistics::measure_drawn(const Node& node, const ColumnCodes& codes, const DrawnCut& cut, const std::int64_t* masses,
                                    std::int64_t* numbers) const {
    measure_drawn_cut<LabelTable>(*this, data_, node, codes, cut, masses, numbers);
}

void LabelStatistics::choose_drawn(const Node& node, std::size_t column, const DrawnCut& cut, const DrawnSums& sums,
                                   const SplitSearch& search, BestSplit& best) const {
    take_drawn_cut<LabelTable>(*this, node, column, cut, sums, search, best);
}

Split LabelStatistics::find_shared(Node& first, Node& second, ColumnSet columns, std::size_t excluded,
                                   const SplitSearch& search) {
    Node* const both[] = {&first, &second};
    gather(both, 2, search.n_threads);
    return finish_shared(first, second,
                         search_shared<LabelTable>(*this, data_, first, second, columns, excluded, search,
                                                   start_shared(first, second).score));
}

// The sum of two edges, exact integers: needs no margin for rounding.
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
