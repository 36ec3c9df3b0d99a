#include "grower.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "hashing.hpp"
#include "pool.hpp"

namespace radboost {
namespace {

constexpr std::size_t kRowsPerTask = 16384;
// Histograms of open nodes beyond this are dropped and built anew when their turn comes.
constexpr std::size_t kHistogramBytes = std::size_t{1} << 30;
constexpr std::size_t kCheckUpdates = 20000000;  // histogram updates between two looks for Ctrl-C
// A node of at most this many rows is searched straight from them: cheaper than clearing and scanning histograms.
constexpr std::size_t kFewRows = 128;
constexpr std::size_t kManySlots = 40000;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

}  // namespace

struct TreeGrower::Work {
    Node node;              // its rows are rows_[begin, begin + count), or all rows before the first split
    std::size_t begin = 0;
    int depth = 0;
    std::uint64_t key = 0;  // names the node's place in the tree for the draws
    std::size_t buffer = kNone;
    Split split;
    bool missing_left = false;
    std::size_t left = kNone;

    std::size_t count() const { return node.rows.count; }
};

// Histograms lent to open nodes.
struct TreeGrower::Buffers {
    std::vector<std::unique_ptr<NodeHistograms>> all;
    std::vector<std::size_t> free;
    std::size_t limit;

    explicit Buffers(std::size_t bytes_each)
        : limit(std::max<std::size_t>(4, kHistogramBytes / std::max<std::size_t>(1, bytes_each))) {}

    std::size_t take() {
        if (free.empty()) {
            all.push_back(std::make_unique<NodeHistograms>());
            free.push_back(all.size() - 1);
        }
        const std::size_t index = free.back();
        free.pop_back();
        return index;
    }
    void give_back(std::size_t& index) {
        if (index != kNone) free.push_back(index);
        index = kNone;
    }
    bool crowded() const { return all.size() - free.size() >= limit; }
    NodeHistograms& operator[](std::size_t index) { return *all[index]; }
};

TreeGrower::TreeGrower(const BinnedData& data, const BoostingState& state, const GrowthOptions& options)
    : data_(data), state_(state), options_(options), statistics_(make_statistics(data, state, options.criterion)) {
    require(data.n_columns > 0, "at least one column is needed");
    require(options.max_depth >= 1 && options.max_depth <= 60, "max_depth must lie between 1 and 60");
    require(options.n_threads >= 1, "n_threads must be at least 1");
    require(options.growth != Growth::stump_pair || options.criterion == Criterion::edge,
            "stump pairs are found by the edge criterion");
    if (options_.max_features >= data.n_columns) options_.max_features = 0;
    shuffled_columns_.resize(data.n_columns);
    std::iota(shuffled_columns_.begin(), shuffled_columns_.end(), 0u);
    retarget();
    buffers_ = std::make_unique<Buffers>(statistics_->histogram_bytes(minimum_mass_ > 0));
}

void TreeGrower::retarget() {
    require(data_.n_rows == state_.n_rows(), "data and state have different numbers of rows");
    require(data_.n_rows > 0 && data_.n_rows < (std::size_t{1} << 32), "the number of rows must lie in [1, 2^32)");
    require(!state_.class_begin().empty(), "the rows must be sorted by class");
    const bool integers = state_.integer_weights();
    // Weights that are not integers become integers whose sum stays below 2^61.
    mass_scale_ = integers ? 1.0 : std::ldexp(1.0, 60 - std::ilogb(state_.total_weight()));
    masses_.clear();
    masses_.reserve(state_.weights().size());
    for (const double w : state_.weights()) masses_.push_back(std::llrint(w * mass_scale_));
    minimum_mass_ = static_cast<std::int64_t>(std::ceil(std::min(options_.minimum_leaf_weight * mass_scale_, 0x1p62)));
    if (minimum_mass_ > 0 && masses_.empty()) masses_.assign(data_.n_rows, 1);
    if (options_.subsample < 1) hashes_ = data_.row_hashes(state_.classes().data(), options_.n_threads);
    rows_.resize(data_.n_rows);
    scratch_.resize(data_.n_rows);
    tree_.leaf_of_row.resize(data_.n_rows);
    tree_.n_channels = state_.n_channels();
}

TreeGrower::~TreeGrower() = default;

// Rows enter by a hash of their content, so that copies of a row enter together.
void TreeGrower::draw_rows(std::uint64_t round) {
    n_rows_drawn_ = data_.n_rows;
    if (hashes_.empty()) return;
    const std::uint64_t key = mix(mix(options_.seed, round), 0x726f7773);
    const auto limit = static_cast<std::uint64_t>(options_.subsample * 18446744073709551616.0);
    std::size_t count = 0;
    for (std::size_t i = 0; i < data_.n_rows; ++i) {
        rows_[count] = static_cast<std::uint32_t>(i);
        count += mix(key, hashes_[i]) < limit;
    }
    n_rows_drawn_ = count;
}

std::int64_t TreeGrower::mass_of(const std::uint32_t* rows, std::size_t count) const {
    if (masses_.empty()) return static_cast<std::int64_t>(count);
    std::int64_t mass = 0;
    for (std::size_t i = 0; i < count; ++i) mass += masses_[rows ? rows[i] : i];
    return mass;
}

// Whether a node is searched through histograms of all columns: they pay when all columns and thresholds are wanted.
bool TreeGrower::wants_histogram(const Work& work) const {
    return options_.max_features == 0 && !options_.random_thresholds && options_.growth != Growth::stump_pair &&
           work.count() > kFewRows && work.depth < options_.max_depth && !statistics_->hopeless(work.node);
}

SplitSearch TreeGrower::search_of(const Work& work, std::size_t n_rows) const {
    // Scanning the slots is worth waking threads only where the rows before kept them awake, or for many columns.
    const bool share = n_rows >= kRowsPerTask || data_.n_slots() >= kManySlots;
    return {minimum_mass_ > 0 ? masses_.data() : nullptr, minimum_mass_, options_.random_thresholds, work.key,
            share || work.buffer == kNone ? options_.n_threads : 1};
}

void TreeGrower::build(Work& work) {
    work.buffer = buffers_->take();
    SplitSearch search = search_of(work, work.count());
    search.n_threads = options_.n_threads;
    statistics_->build(work.node, search, (*buffers_)[work.buffer]);
}

std::size_t TreeGrower::parts_for(std::size_t n) const { return row_parts(n, options_.n_threads); }

// The columns at the places [first, last) of a shuffle named by the key, ascending.
std::vector<std::uint32_t> TreeGrower::draw_columns(std::uint64_t key, std::size_t first, std::size_t last) {
    const std::size_t d = data_.n_columns;
    std::vector<std::size_t> swapped;
    for (std::size_t k = 0; k < last; ++k) {
        const std::uint64_t word = mix(key, 0x636f6c75 + (static_cast<std::uint64_t>(k) << 32));
        const std::size_t other = k + draw_below(word, static_cast<std::uint32_t>(d - k));
        std::swap(shuffled_columns_[k], shuffled_columns_[other]);
        swapped.push_back(other);
    }
    std::vector<std::uint32_t> drawn(shuffled_columns_.begin() + static_cast<std::ptrdiff_t>(first),
                                     shuffled_columns_.begin() + static_cast<std::ptrdiff_t>(last));
    for (std::size_t k = swapped.size(); k-- > 0;) std::swap(shuffled_columns_[k], shuffled_columns_[swapped[k]]);
    std::sort(drawn.begin(), drawn.end());
    return drawn;
}

// Finds the node's split: from its histograms where it has them, otherwise from its rows. With a few drawn columns,
// twice as many are drawn as long as the node's rows are alike in all of them.
void TreeGrower::search(Work& work) {
    const SplitSearch search = search_of(work, work.count());
    if (work.buffer != kNone) {
        work.split = statistics_->find(work.node, (*buffers_)[work.buffer], search);
        return;
    }
    const std::size_t d = data_.n_columns;
    if (options_.max_features == 0) {
        work.split = statistics_->find_in_rows(work.node, {nullptr, d}, search);
        return;
    }
    std::size_t first = 0, last = options_.max_features;
    for (; first < d && !work.split.asked; first = last, last = std::min(d, 2 * last)) {
        const std::vector<std::uint32_t> columns = draw_columns(work.key, first, last);
        work.split = statistics_->find_in_rows(work.node, {columns.data(), columns.size()}, search);
    }
}

// Builds the smaller child's histograms and takes them from the parent's, which become the larger child's.
void TreeGrower::give_children_histograms(Work& parent, Work& left, Work& right) {
    Work& smaller = left.count() <= right.count() ? left : right;
    Work& larger = &smaller == &left ? right : left;
    if (wants_histogram(smaller)) build(smaller);
    if (!wants_histogram(larger)) return;
    if (parent.buffer == kNone) {
        build(larger);
        return;
    }
    std::swap(larger.buffer, parent.buffer);
    const NodeHistograms* known = smaller.buffer != kNone ? &(*buffers_)[smaller.buffer] : nullptr;
    statistics_->take_out(smaller.node, known, search_of(larger, larger.count()), (*buffers_)[larger.buffer]);
}

// Categories that the search did not place, because they have no weight in the node, follow the heavier child.
void TreeGrower::place_other_categories(const Node& node, Split& split) const {
    const std::size_t n_categories = data_.n_bins(split.column);
    std::vector<std::size_t> others;
    for (std::size_t code = 0; code < n_categories; ++code)
        if (!split.placed.has(code)) others.push_back(code);
    if (others.empty()) return;
    const std::uint8_t* codes = data_.column(split.column);
    std::array<std::int64_t, 256> masses{};
    for (std::size_t i = 0; i < node.rows.count; ++i) {
        const std::size_t row = node.rows[i];
        masses[codes[row]] += masses_.empty() ? 1 : masses_[row];
    }
    const SideTable sides = sides_of(data_, split);
    std::int64_t left = 0, right = 0;
    for (std::size_t code = 0; code < masses.size(); ++code) {
        const bool placed = code >= n_categories || split.placed.has(code);
        if (placed) (sides[code] ? left : right) += masses[code];
    }
    for (const std::size_t code : others)
        if (left >= right) split.left.add(code);
}

// Sends the rows of works_[index] to two children, appended to works_, and gives these their histograms.
std::size_t TreeGrower::divide(std::size_t index, bool last_layer) {
    const std::size_t left_index = works_.size();
    Work parent = std::move(works_[index]);
    if (data_.is_categorical[parent.split.column]) place_other_categories(parent.node, parent.split);
    const Question question{parent.split.column, parent.split.bin, parent.split.missing_left, parent.split.left};
    std::uint32_t* rows = rows_.data() + parent.begin;
    const bool in_place = last_layer && masses_.empty();
    Partition partition;
    std::int64_t left_mass = 0;
    if (in_place) {
        partition = assign_children(data_, question, parent.node.rows, static_cast<std::int32_t>(left_index),
                                    static_cast<std::int32_t>(left_index + 1), tree_.leaf_of_row.data(),
                                    options_.n_threads);
        left_mass = static_cast<std::int64_t>(partition.left_count);
    } else {
        partition = partition_rows(data_, question, parent.node.rows, rows, scratch_.data() + parent.begin,
                                   options_.n_threads);
        left_mass = mass_of(rows, partition.left_count);
    }
    // Missing values that the node's rows did not have go where most of the weight goes.
    parent.missing_left =
        partition.missing_count > 0 ? parent.split.missing_left : 2 * left_mass >= parent.node.mass;
    Work children[2];
    for (int side = 0; side < 2; ++side) {
        Work& child = children[side];
        child.depth = parent.depth + 1;
        child.key = mix(parent.key, side == 0 ? 1 : 2);
        child.begin = parent.begin + (side == 0 ? 0 : partition.left_count);
        child.node.mass = side == 0 ? left_mass : parent.node.mass - left_mass;
        if (in_place) continue;
        child.node.rows = {rows_.data() + child.begin,
                           side == 0 ? partition.left_count : parent.count() - partition.left_count};
    }
    if (!last_layer) {
        statistics_->describe_children(parent.node, parent.split, children[0].node, children[1].node);
        give_children_histograms(parent, children[0], children[1]);
    }
    buffers_->give_back(parent.buffer);
    parent.left = left_index;
    works_[index] = std::move(parent);
    works_.push_back(std::move(children[0]));
    works_.push_back(std::move(children[1]));
    return left_index;
}

// Looks for the split of a new leaf and puts the leaf on the list when there is one.
void TreeGrower::open_leaf(std::size_t index, std::vector<std::size_t>& open) {
    Work& work = works_[index];
    const bool searchable =
        work.count() > 1 && work.depth < options_.max_depth && !statistics_->hopeless(work.node);
    if (searchable) search(work);
    if (!work.split.valid || buffers_->crowded()) buffers_->give_back(work.buffer);
    if (work.split.valid) open.push_back(index);
}

// Family H_2 of Deep Boosting: the second question is the same at both leaves of the stump.
void TreeGrower::split_pair() {
    const std::size_t excluded = data_.n_columns > 1 ? works_[0].split.column : data_.n_columns;
    const std::uint64_t key = mix(works_[0].key, 3);
    divide(0, false);
    std::vector<std::uint32_t> columns = draw_columns(key, 0, options_.max_features);
    const ColumnSet set{options_.max_features > 0 ? columns.data() : nullptr,
                        options_.max_features > 0 ? columns.size() : data_.n_columns};
    SplitSearch search = search_of(works_[0], n_rows_drawn_);
    search.draw_key = key;
    const Split shared = statistics_->find_shared(works_[1].node, works_[2].node, set, excluded, search);
    if (!shared.valid) return;
    for (const std::size_t index : {std::size_t{1}, std::size_t{2}}) {
        works_[index].split = shared;
        works_[index].split.gain = shared.gain / 2;
        divide(index, true);
    }
}

void TreeGrower::plant_root(std::uint64_t round) {
    works_.clear();
    Work root;
    root.node.rows = {hashes_.empty() ? nullptr : rows_.data(), n_rows_drawn_};
    root.key = mix(mix(options_.seed, round), 1);
    root.node.mass = mass_of(root.node.rows.indices, n_rows_drawn_);
    statistics_->describe(root.node, options_.n_threads);
    if (wants_histogram(root)) build(root);
    works_.push_back(std::move(root));
}

void TreeGrower::grow_leaf_by_leaf(std::vector<std::size_t>& open, InterruptCheck check) {
    std::size_t n_leaves = 1, updates = 0;
    const std::size_t width = options_.max_features ? options_.max_features : data_.n_columns;
    while (!open.empty() && (options_.max_leaves == 0 || n_leaves < options_.max_leaves)) {
        auto next = open.end() - 1;  // depth first keeps few histograms; the layers come out the same
        if (options_.growth == Growth::best_first)
            next = std::max_element(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
                const double ga = works_[a].split.gain, gb = works_[b].split.gain;
                return ga < gb || (ga == gb && a > b);
            });
        const std::size_t index = *next;
        open.erase(next);
        updates += works_[index].count() * width;
        if (updates >= kCheckUpdates) {
            updates = 0;
            check();
        }
        const std::size_t left = divide(index, works_[index].depth + 1 >= options_.max_depth);
        open_leaf(left, open);
        open_leaf(left + 1, open);
        ++n_leaves;
    }
    for (const std::size_t index : open) buffers_->give_back(works_[index].buffer);
}

void TreeGrower::grow(std::uint64_t round, InterruptCheck check) {
    draw_rows(round);
    plant_root(round);
    check();
    std::vector<std::size_t> open;
    open_leaf(0, open);
    if (options_.growth != Growth::stump_pair)
        grow_leaf_by_leaf(open, check);
    else if (!open.empty())
        split_pair();
    number_nodes();
    place_all_rows();
    sum_leaves();
    tree_.list_candidates(options_.growth == Growth::best_first, state_.edge_unit());
}

// Renumbers the nodes in the order of the splits: by layers, or as best-first growth chose them.
void TreeGrower::number_nodes() {
    tree_.node_of_label.assign(works_.size(), 0);
    tree_.nodes.assign(works_.size(), GrownNode{});
    tree_.category_sets.clear();
    tree_.depths.assign(works_.size(), 0);
    std::vector<std::size_t> order{0};
    if (options_.growth == Growth::best_first) {
        order.resize(works_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
    }
    std::int32_t next = 1;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const std::size_t index = order[i];
        const Work& work = works_[index];
        const std::int32_t number = options_.growth == Growth::best_first ? static_cast<std::int32_t>(index)
                                                                           : tree_.node_of_label[index];
        tree_.node_of_label[index] = number;
        GrownNode& node = tree_.nodes[static_cast<std::size_t>(number)];
        tree_.depths[static_cast<std::size_t>(number)] = work.depth;
        if (work.left == kNone) continue;
        node.column = work.split.column;
        node.bin = work.split.bin;
        node.missing_left = work.missing_left;
        if (data_.is_categorical[node.column]) {
            node.by_categories = true;
            node.bin = static_cast<std::uint32_t>(tree_.category_sets.size());
            tree_.category_sets.push_back(work.split.left);
        }
        node.gain = work.split.gain;
        if (options_.growth == Growth::best_first) {
            node.left = static_cast<std::int32_t>(work.left);
            continue;
        }
        node.left = next;
        tree_.node_of_label[work.left] = next;
        tree_.node_of_label[work.left + 1] = next + 1;
        next += 2;
        order.push_back(work.left);
        order.push_back(work.left + 1);
    }
}

// The leaf that a row with these codes reaches.
template <bool kCategories>
std::int32_t TreeGrower::leaf_of(const std::uint8_t* codes) const {
    std::int32_t at = 0;
    while (tree_.nodes[static_cast<std::size_t>(at)].left >= 0) {
        const GrownNode& node = tree_.nodes[static_cast<std::size_t>(at)];
        const std::uint32_t code = codes[node.column];
        const bool missing = data_.has_missing[node.column] && code == data_.bin_counts[node.column];
        bool goes_left = missing ? node.missing_left : code <= node.bin;
        if (kCategories && node.by_categories && !missing) goes_left = tree_.category_sets[node.bin].has(code);
        at = node.left + (goes_left ? 0 : 1);
    }
    return at;
}

// The leaf of every row. Grown on all rows, the tree has sorted them already; rows that it did not see go down it now.
void TreeGrower::place_all_rows() {
    if (hashes_.empty()) {
        // Rows of the last layer carry the index of their leaf in works_; the others lie in their leaf's range.
        for (std::size_t index = 0; index < works_.size(); ++index) {
            const Work& work = works_[index];
            if (work.left != kNone) continue;
            for (std::size_t i = 0; i < work.count(); ++i)
                tree_.leaf_of_row[work.node.rows[i]] = static_cast<std::int32_t>(index);
        }
        return;
    }
    std::iota(tree_.node_of_label.begin(), tree_.node_of_label.end(), 0);
    const std::size_t n = data_.n_rows, d = data_.n_columns;
    const bool by_categories = !tree_.category_sets.empty();
    const std::size_t parts = parts_for(n);
    parallel_for(options_.n_threads, parts, [&](std::size_t part) {
        for (std::size_t i = range_begin(n, parts, part); i < range_begin(n, parts, part + 1); ++i) {
            const std::uint8_t* codes = data_.by_row.data() + i * d;
            tree_.leaf_of_row[i] = by_categories ? leaf_of<true>(codes) : leaf_of<false>(codes);
        }
    });
}

// What every answer gains, and the sample weight, at every node over all rows: leaves from their rows, the others from
// their children.
void TreeGrower::sum_leaves() {
    const std::size_t size = works_.size(), width = tree_.n_channels, n = data_.n_rows;
    std::vector<std::int64_t> by_label(size * width);
    state_.leaf_sums(tree_.leaf_of_row.data(), size, options_.n_threads, by_label.data());
    tree_.gains.assign(size * width, 0);
    std::vector<std::int64_t> covers(size, 0);
    if (hashes_.empty())  // then the growth counted the rows already
        for (std::size_t index = 0; index < size; ++index) covers[index] = works_[index].node.mass;
    else
        for (std::size_t i = 0; i < n; ++i)
            covers[static_cast<std::size_t>(tree_.leaf_of_row[i])] += masses_.empty() ? 1 : masses_[i];
    for (std::size_t index = 0; index < size; ++index) {
        const auto number = static_cast<std::size_t>(tree_.node_of_label[index]);
        tree_.nodes[number].cover = covers[index];
        std::copy_n(by_label.data() + index * width, width, tree_.gains.data() + number * width);
    }
    for (std::size_t i = size; i-- > 0;) {
        GrownNode& node = tree_.nodes[i];
        if (node.left < 0) continue;
        const auto left = static_cast<std::size_t>(node.left);
        node.cover = tree_.nodes[left].cover + tree_.nodes[left + 1].cover;
        for (std::size_t k = 0; k < width; ++k)
            tree_.gains[i * width + k] = tree_.gains[left * width + k] + tree_.gains[(left + 1) * width + k];
    }
}

}  // namespace radboost
