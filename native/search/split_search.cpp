// The parts of split search that do not depend on how splits are scored; the others are templates in split_search.hpp.
#include "search/split_search.hpp"

#include "core/largest.hpp"

namespace radboost {
namespace {

RADBOOST_CLONES void code_range(const std::uint8_t* codes, std::size_t n, std::uint8_t* low, std::uint8_t* high) {
    std::uint8_t lowest = 255, highest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        lowest = codes[i] < lowest ? codes[i] : lowest;
        highest = codes[i] > highest ? codes[i] : highest;
    }
    *low = lowest;
    *high = highest;
}

RADBOOST_CLONES std::uint8_t highest_but(const std::uint8_t* codes, std::size_t n, std::uint8_t other) {
    std::uint8_t highest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint8_t code = codes[i] == other ? std::uint8_t{0} : codes[i];
        highest = code > highest ? code : highest;
    }
    return highest;
}

RADBOOST_CLONES std::uint32_t count_between(const std::uint8_t* codes, std::size_t n, std::uint8_t low, std::uint8_t high) {
    std::uint32_t count = 0;  // there are fewer than 2^32 rows
    for (std::size_t i = 0; i < n; ++i) count += (codes[i] >= low) & (codes[i] <= high);
    return count;
}

}  // namespace

SideTable sides_of(const BinnedData& data, const Split& split) {
    const int missing_code = data.missing_code(split.column);
    if (data.is_categorical[split.column]) return sides_of(split.left, missing_code, split.missing_left);
    SideTable sides{};
    std::fill_n(sides.begin(), std::size_t{split.bin} + 1, std::uint8_t{1});
    if (missing_code >= 0) sides[static_cast<std::size_t>(missing_code)] = split.missing_left;
    return sides;
}

ColumnCodes& thread_codes() {
    thread_local ColumnCodes codes;
    return codes;
}

void ColumnTable::sum_left(const SideTable& sides, std::int64_t* out) const {
    for (std::size_t entry = 0; entry < n_entries; ++entry)
        for (std::size_t k = 0; sides[entry] && k < width; ++k) out[k] += sums[entry * width + k];
}

void ColumnCodes::load(const BinnedData& data, std::size_t column, const RowSet& rows) {
    if (rows.indices != nullptr && gathered_.size() < rows.count) gathered_.resize(rows.count);
    load(data, column, rows, gathered_.data(), false);
}

void ColumnCodes::load(const BinnedData& data, std::size_t column, const RowSet& rows, std::uint8_t* room, bool gathered) {
    count_ = rows.count;
    column_ = column;
    missing_code_ = data.missing_code(column);
    table_ = nullptr;
    const std::uint8_t* from = data.column(column);
    codes_ = rows.indices == nullptr ? from : room;
    if (rows.indices == nullptr || gathered) return;
    // Eight at a time and via local variables, because the compiler must assume that a store of bytes may alias any member.
    const std::uint32_t* indices = rows.indices;
    const std::size_t n = rows.count;
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        std::uint8_t some[8];
        for (std::size_t k = 0; k < 8; ++k) some[k] = from[indices[i + k]];
        std::memcpy(room + i, some, sizeof some);
    }
    for (; i < n; ++i) room[i] = from[indices[i]];
}

void ColumnCodes::load(const BinnedData& data, std::size_t column, const ColumnTable& table) {
    count_ = 0;
    column_ = column;
    missing_code_ = data.missing_code(column);
    codes_ = nullptr;
    table_ = &table;
}

void ColumnCodes::list() {
    std::uint8_t seen[kEntries] = {};
    if (table_ != nullptr)
        for (std::size_t code = 0; code < table_->n_entries; ++code) seen[code] = table_->counts[code] > 0;
    for (std::size_t i = 0; i < count_; ++i) seen[codes_[i]] = 1;
    n_present_ = 0;
    missing_ = missing_code_ >= 0 && seen[missing_code_];
    for (std::size_t word = 0; word < kEntries; word += 8) {
        std::uint64_t any;
        std::memcpy(&any, seen + word, sizeof any);
        if (any == 0) continue;
        for (std::size_t code = word; code < word + 8; ++code) {
            if (!seen[code] || static_cast<int>(code) == missing_code_) continue;
            present_[n_present_] = static_cast<std::uint8_t>(code);
            ranks_[code] = static_cast<std::uint8_t>(n_present_++);
        }
    }
    if (missing_) ranks_[missing_code_] = static_cast<std::uint8_t>(n_present_);
}

void ColumnCodes::list_all(std::size_t n_bins) {
    n_present_ = n_bins;
    for (std::size_t code = 0; code < n_bins; ++code) present_[code] = ranks_[code] = static_cast<std::uint8_t>(code);
    if (missing_code_ >= 0) ranks_[missing_code_] = static_cast<std::uint8_t>(n_bins);
}

void ColumnCodes::find_range() {
    range_ = CodeRange{};
    if (table_ != nullptr) {
        for (std::size_t code = 0; code < table_->n_entries; ++code) {
            if (table_->counts[code] == 0) continue;
            const auto here = static_cast<std::uint8_t>(code);
            const bool missing = static_cast<int>(code) == missing_code_;
            range_.widen(missing ? CodeRange{255, 0, true} : CodeRange{here, here, false});
        }
    } else {
        code_range(codes_, count_, &range_.low, &range_.high);
        range_.missing = missing_code_ >= 0 && range_.high == missing_code_;
        if (range_.missing) range_.high = highest_but(codes_, count_, static_cast<std::uint8_t>(missing_code_));
        if (range_.low == missing_code_) range_ = {255, 0, true};
    }
    missing_ = range_.missing;
    // All values are missing. If the other node of a pair has values, thresholds of the shared range then start at 1 at most.
    if (missing_ && range_.low > range_.high) range_.low = 1;
}

bool BestSplit::take(std::size_t column, const double* right, const double* left, std::size_t n,
                     const ColumnCodes* codes) {
    split.asked = split.asked || n > 0;
    // Most columns have no better score, which the maximum shows quickly.
    double top = largest_of(right, n, score);
    if (left != nullptr) top = largest_of(left, n, top);
    if (top == score) return false;
    top = score;
    std::size_t at = n;
    bool to_left = false;
    for (std::size_t entry = 0; entry < n; ++entry)
        if (right[entry] > top) {
            top = right[entry];
            at = entry;
        }
    for (std::size_t entry = 0; left != nullptr && entry < n; ++entry)
        // In a tie the earlier entry wins.
        if (left[entry] > top || (left[entry] == top && at < n && entry < at && !to_left)) {
            top = left[entry];
            at = entry;
            to_left = true;
        }
    if (at == n) return false;
    score = top;
    split.valid = true;
    split.missing_left = to_left;
    split.column = static_cast<std::uint32_t>(column);
    split.bin = codes ? codes->present(at) : static_cast<std::uint32_t>(at);
    return true;
}

void BestSplit::place(const std::uint8_t* order, std::size_t n_entries, const ColumnCodes* codes) {
    split.placed = split.left = CategorySet{};
    for (std::size_t k = 0; k < n_entries; ++k) {
        const std::uint8_t code = codes ? codes->present(order[k]) : order[k];
        split.placed.add(code);
        if (k <= split.bin) split.left.add(code);
    }
    split.bin = 0;
}

void forbid_light_children(const std::int64_t* masses, std::size_t n, bool missing_left, const Node& node,
                           std::int64_t minimum, double* scores) {
    std::int64_t left = missing_left ? masses[n] : 0;
    for (std::size_t entry = 0; entry < n; ++entry) {
        left += masses[entry];
        if (left < minimum || node.mass - left < minimum) scores[entry] = -1;
    }
}

bool draw_cut(const BinnedData& data, ColumnCodes& codes, const SplitSearch& search, DrawnCut& cut) {
    const std::size_t column = codes.column();
    if (!data.is_categorical[column]) {
        codes.find_range();
        if (codes.range().n_thresholds() == 0) return false;
        cut.bin = draw_threshold(codes.range(), search.draw_key, column);
        return true;
    }
    codes.list();
    const std::size_t n = codes.n_present();
    if (n == 0 || (n == 1 && !codes.missing())) return false;
    cut.left = draw_subset(mix(search.draw_key, column), codes.present(), n, codes.missing());
    for (std::size_t k = 0; k < n; ++k) cut.placed.add(codes.present(k));
    return true;
}

SideTable sides_of(const BinnedData& data, std::size_t column, const DrawnCut& cut, bool missing_left) {
    Split split;
    split.column = static_cast<std::uint32_t>(column);
    split.bin = cut.bin;
    split.left = cut.left;
    split.missing_left = missing_left;
    return sides_of(data, split);
}

void count_drawn(const BinnedData& data, const ColumnCodes& codes, const Node& node, const DrawnCut& cut,
                 const std::int64_t* masses, std::int64_t* numbers) {
    const SideTable left = sides_of(data, codes.column(), cut, false);
    const std::uint8_t* code = codes.codes();
    const std::size_t n = codes.count();
    const int missing = codes.missing_code();
    std::fill_n(numbers, 4, 0);
    if (data.is_categorical[codes.column()])
        for (std::size_t i = 0; i < n; ++i) numbers[0] += left[code[i]];
    else
        numbers[0] = static_cast<std::int64_t>(count_between(code, n, 0, cut.bin));
    if (missing >= 0) {
        const auto wanted = static_cast<std::uint8_t>(missing);
        numbers[1] = static_cast<std::int64_t>(count_between(code, n, wanted, wanted));
    }
    numbers[2] = numbers[0];
    numbers[3] = numbers[1];
    if (masses == nullptr) return;
    numbers[2] = numbers[3] = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t mass = masses[node.rows[i]];
        numbers[2] += left[code[i]] ? mass : 0;
        numbers[3] += code[i] == missing ? mass : 0;
    }
}

std::size_t n_presence(const BinnedData& data, std::size_t column) {
    return data.is_categorical[column] ? data.n_bins(column) + 1 : 3;
}

void find_presence(const BinnedData& data, ColumnCodes& codes, double* presence) {
    const std::size_t column = codes.column();
    std::fill_n(presence, n_presence(data, column), 0.0);
    if (codes.count() == 0) return;
    if (data.is_categorical[column]) {
        codes.list();
        for (std::size_t k = 0; k < codes.n_present(); ++k) presence[codes.present(k)] = 1.0;
        presence[data.n_bins(column)] = codes.missing() ? 1.0 : 0.0;
        return;
    }
    codes.find_range();
    const CodeRange& range = codes.range();
    if (range.low <= range.high) {
        presence[0] = static_cast<double>(kEntries - range.low);
        presence[1] = static_cast<double>(range.high + 1);
    }
    presence[2] = range.missing ? 1.0 : 0.0;
}

bool draw_cut(const BinnedData& data, std::size_t column, const double* presence, const SplitSearch& search, DrawnCut& cut) {
    std::array<std::int64_t, kEntries> counts{};
    const std::size_t n_bins = data.n_bins(column);
    if (data.is_categorical[column]) {
        for (std::size_t code = 0; code <= n_bins; ++code) counts[code] = presence[code] > 0;
    } else {
        if (presence[1] > 0) counts[kEntries - static_cast<std::size_t>(presence[0])] = 1;
        if (presence[1] > 0) counts[static_cast<std::size_t>(presence[1]) - 1] = 1;
        if (presence[2] > 0) counts[n_bins] = 1;
    }
    const ColumnTable table(counts.data(), n_bins + 1);
    ColumnCodes& codes = thread_codes();
    codes.load(data, column, table);
    return draw_cut(data, codes, search, cut);
}

void forbid_light_groups(const std::int64_t* masses, std::size_t n_entries, std::int64_t missing_mass, std::size_t n,
                         bool missing_left, std::int64_t minimum, double* scores) {
    std::int64_t placed = missing_mass, left = missing_left ? missing_mass : 0;
    for (std::size_t entry = 0; entry < n_entries; ++entry) placed += masses[entry];
    for (std::size_t entry = 0; entry < n; ++entry) {
        left += masses[entry];
        if (std::min(left, placed - left) < minimum) scores[entry] = -1;
    }
}

CategorySet draw_subset(std::uint64_t key, const std::uint8_t* codes, std::size_t n, bool missing) {
    // Every category has 64 random bits; the lowest in which they differ (with missing values: bit 0) decides which go left.
    std::uint64_t some = 0, all = ~std::uint64_t{0};
    for (std::size_t k = 0; k < n; ++k) {
        const std::uint64_t word = mix(key, codes[k]);
        some |= word;
        all &= word;
    }
    const std::uint64_t telling = missing ? 1 : some & ~all;
    CategorySet left;
    for (std::size_t k = 0; k < n; ++k)
        if ((mix(key, codes[k]) & telling & (~telling + 1)) != 0) left.add(codes[k]);
    const bool alike = (some & ~all & telling) == 0;
    // All bits equal: with missing values, which form the other side, all go left; without (probability 2^-64) the first.
    for (std::size_t k = 0; alike && k < (missing ? n : 1); ++k) left.add(codes[k]);
    return left;
}

void masses_by_entry(const ColumnCodes& codes, const Node& node, const std::int64_t* masses, std::int64_t* out) {
    const std::size_t n = codes.n_present();
    std::fill(out, out + n + 1, 0);
    if (codes.table() != nullptr) {
        for (std::size_t k = 0; k < n; ++k) out[k] = codes.table()->masses[codes.present(k)];
        out[n] = codes.table()->masses[codes.table()->n_entries - 1];
    }
    for (std::size_t i = 0; i < codes.count(); ++i) out[codes.ranks()[codes.codes()[i]]] += masses[node.rows[i]];
}

}  // namespace radboost
