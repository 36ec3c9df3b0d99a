#include "label_statistics.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "label_table.hpp"
#include "pool.hpp"
#include "split_search.hpp"

namespace radboost {

LabelStatistics::LabelStatistics(const BinnedData& data, const BoostingState& state, Criterion criterion)
    : data_(data), state_(state), criterion_(criterion) {
    require(!state.class_begin().empty(), "the rows must be sorted by class");
}

void LabelStatistics::describe(Node& node, int n_threads) const {
    node.segments.clear();
    const std::uint32_t* rows = node.rows.indices;
    std::size_t begin = 0;
    for (std::size_t c = 0; c < state_.n_classes(); ++c) {
        const std::size_t limit = state_.class_begin()[c + 1];
        const std::size_t end =
            rows ? static_cast<std::size_t>(std::lower_bound(rows + begin, rows + node.rows.count, limit) - rows) : limit;
        if (end > begin) node.segments.push_back({static_cast<std::uint32_t>(c), begin, end});
        begin = end;
    }
    node.sums.assign(node.segments.size(), 0);
    const std::uint32_t* weights = state_.growth_weights();
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
            if (rows == nullptr) {
                child->segments.push_back({c, 0, 0});
                child->sums.push_back(sum);
                continue;
            }
            const auto end = static_cast<std::size_t>(
                std::lower_bound(rows + begin, rows + child->rows.count, state_.class_begin()[c + 1]) - rows);
            if (end > begin) {
                child->segments.push_back({c, begin, end});
                child->sums.push_back(sum);
            }
            begin = end;
        }
    }
}

bool LabelStatistics::hopeless(const Node& node) const {
    std::size_t classes = 0;
    for (const std::int64_t sum : node.sums) classes += sum != 0;
    return classes <= 1;
}

std::size_t LabelStatistics::histogram_bytes(bool with_masses) const {
    return data_.n_slots() * (state_.n_classes() * sizeof(std::uint32_t) + (with_masses ? sizeof(std::int64_t) : 0));
}

void LabelStatistics::build(const Node& node, const SplitSearch& search, NodeHistograms& out) {
    const std::size_t slots = data_.n_slots();
    out.class_weights.resize(state_.n_classes() * slots);
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
            add_to_histogram(data_, node.rows, segment.begin, segment.end, first, last, state_.growth_weights(),
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
                                 state_.growth_weights(), histogram);
        }
    });
    for (std::size_t part = 0; part < parts; ++part) {
        if (continued[part] == UINT32_MAX) continue;
        std::uint32_t* histogram = out + continued[part] * slots;
        const std::uint32_t* own = scratch_[part].data();
        for (std::size_t slot = 0; slot < slots; ++slot) histogram[slot] += own[slot];
    }
}

void LabelStatistics::take_out(const Node& part, const NodeHistograms* known, const SplitSearch& search,
                               NodeHistograms& whole) const {
    const std::size_t slots = data_.n_slots();
    if (search.minimum_mass > 0) take_out_masses(data_, part, known, search, whole.masses);
    for (const Segment& segment : part.segments) {
        std::uint32_t* histogram = whole.class_weights.data() + segment.class_index * slots;
        if (known == nullptr) {
            remove_from_histogram(data_, part.rows, segment.begin, segment.end, state_.growth_weights(), histogram);
            continue;
        }
        const std::uint32_t* own = known->class_weights.data() + segment.class_index * slots;
        for (std::size_t slot = 0; slot < slots; ++slot) histogram[slot] -= own[slot];
    }
}

double LabelStatistics::unsplit_score(const Node& node) const {
    LabelSide all;
    for (const std::int64_t sum : node.sums) all.add(sum);
    if (criterion_ == Criterion::edge) return static_cast<double>(all.edge());
    return all.weight == 0 ? 0.0 : all.gini();
}

double LabelStatistics::to_beat(double unsplit) const {
    // Rounding must not make a useless split look useful; edges are whole numbers.
    return criterion_ == Criterion::edge ? unsplit : unsplit * (1 + 1e-12) + 1e-12;
}

Split LabelStatistics::find(const Node& node, const NodeHistograms& histograms, const SplitSearch& search) const {
    const double unsplit = unsplit_score(node);
    BestSplit best = search_histograms<LabelTable>(*this, data_, node, histograms, search, to_beat(unsplit));
    best.split.gain = (best.score - unsplit) / kGrowthScale;
    if (best.split.valid) count_left(node, histograms, best.split);
    return best.split;
}

// What goes left at a node, read off its histograms.
void LabelStatistics::count_left(const Node& node, const NodeHistograms& histograms, Split& split) const {
    const std::size_t slots = data_.n_slots(), offset = data_.slot_offsets[split.column];
    const std::size_t n_codes = data_.n_bins(split.column) + (data_.has_missing[split.column] ? 1 : 0);
    const SideTable sides = sides_of(data_, split);
    split.left_sums.assign(node.segments.size(), 0);
    for (std::size_t s = 0; s < node.segments.size(); ++s) {
        const std::uint32_t* weights = histograms.class_weights.data() + node.segments[s].class_index * slots + offset;
        std::int64_t sum = 0;
        for (std::size_t code = 0; code < n_codes; ++code) sum += sides[code] ? weights[code] : 0;
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
            split.left_sums[s] += sides[codes[row]] ? state_.growth_weights()[row] : 0;
        }
}

void LabelStatistics::gather_weights(Node& node, std::size_t offset, int n_threads) {
    const std::uint32_t *rows = node.rows.indices, *weights = state_.growth_weights();
    if (rows == nullptr) {
        node.weights = weights;
        return;
    }
    const std::size_t count = node.rows.count, parts = row_parts(count, n_threads);
    std::uint32_t* to = gathered_.data() + offset;
    parallel_for(n_threads, parts, [&](std::size_t part) {
        for (std::size_t i = range_begin(count, parts, part); i < range_begin(count, parts, part + 1); ++i)
            to[i] = weights[rows[i]];
    });
    node.weights = to;
}

Split LabelStatistics::find_in_rows(Node& node, ColumnSet columns, const SplitSearch& search) {
    gathered_.resize(std::max(gathered_.size(), node.rows.count));
    gather_weights(node, 0, search.n_threads);
    const double unsplit = unsplit_score(node);
    BestSplit best = search.random_thresholds
                         ? search_random<LabelTable>(*this, data_, node, columns, search, to_beat(unsplit))
                         : search_rows<LabelTable>(*this, data_, node, columns, search, to_beat(unsplit));
    best.split.gain = (best.score - unsplit) / kGrowthScale;
    if (best.split.valid && best.split.left_sums.empty()) count_left(node, best.split);
    return best.split;
}

Split LabelStatistics::find_shared(Node& first, Node& second, ColumnSet columns, std::size_t excluded,
                                   const SplitSearch& search) {
    gathered_.resize(std::max(gathered_.size(), first.rows.count + second.rows.count));
    gather_weights(first, 0, search.n_threads);
    gather_weights(second, first.rows.count, search.n_threads);
    const double unsplit = unsplit_score(first) + unsplit_score(second);
    BestSplit best = search_shared<LabelTable>(*this, data_, first, second, columns, excluded, search, unsplit);
    best.split.gain = (best.score - unsplit) / kGrowthScale;
    return best.split;
}

void build_masses(const BinnedData& data, const Node& node, const SplitSearch& search, std::vector<std::int64_t>& out) {
    out.assign(data.n_slots(), 0);
    for (std::size_t first = 0; first < data.n_columns; first += kTileColumns)
        add_to_histogram(data, node.rows, 0, node.rows.count, first, std::min(first + kTileColumns, data.n_columns),
                         search.masses, out.data());
}

void take_out_masses(const BinnedData& data, const Node& part, const NodeHistograms* known, const SplitSearch& search,
                     std::vector<std::int64_t>& whole) {
    if (known == nullptr) {
        remove_from_histogram(data, part.rows, 0, part.rows.count, search.masses, whole.data());
        return;
    }
    for (std::size_t slot = 0; slot < whole.size(); ++slot) whole[slot] -= known->masses[slot];
}

}  // namespace radboost
