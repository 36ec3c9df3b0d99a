#include "search/partition.hpp"

#include <algorithm>
#include <cstring>

#include "search/masks.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

constexpr std::size_t kParallelRows = 16384;
constexpr std::uint32_t kNoCode = 256;

struct NumberSides {
    const std::uint8_t* codes;
    std::uint32_t bin, missing_code, left_code;

    NumberSides(const BinnedData& data, const Question& question)
        : codes(data.column(question.column)),
          bin(question.bin),
          missing_code(data.has_missing[question.column] ? data.bin_counts[question.column] : kNoCode),
          left_code(question.missing_left ? missing_code : kNoCode) {}

    bool left(std::uint32_t code) const { return (code <= bin) | (code == left_code); }

    RowSplit split(const RowSet& rows, std::size_t begin, std::size_t end, std::uint32_t* to_left,
                   std::uint32_t* to_right) const {
        const auto code_or_none = [](std::uint32_t code) { return code == kNoCode ? -1 : static_cast<int>(code); };
        return split_rows(codes, static_cast<std::uint8_t>(bin), code_or_none(left_code), code_or_none(missing_code),
                          rows.indices ? rows.indices + begin : nullptr, static_cast<std::uint32_t>(begin), end - begin,
                          to_left, to_right);
    }
};

struct CategorySides {
    const std::uint8_t* codes;
    std::uint32_t missing_code;
    SideTable table;

    CategorySides(const BinnedData& data, const Question& question)
        : codes(data.column(question.column)),
          missing_code(data.has_missing[question.column] ? data.bin_counts[question.column] : kNoCode),
          table(sides_of(question.left, data.missing_code(question.column), question.missing_left)) {}

    bool left(std::uint32_t code) const { return table[code] != 0; }

    RowSplit split(const RowSet& rows, std::size_t begin, std::size_t end, std::uint32_t* to_left,
                   std::uint32_t* to_right) const {
        const std::uint32_t* const left_begin = to_left;
        std::size_t missing = 0;
        for (std::size_t i = begin; i < end; ++i) {
            // Both stores always happen and only one pointer advances: no branch to mispredict.
            const auto row = static_cast<std::uint32_t>(rows[i]);
            const std::uint32_t code = codes[row];
            const bool goes_left = left(code);
            missing += code == missing_code;
            *to_left = row;
            *to_right = row;
            to_left += goes_left;
            to_right += !goes_left;
        }
        return {static_cast<std::size_t>(to_left - left_begin), missing};
    }
};

std::size_t parts_for(std::size_t count, int n_threads) {
    return count >= kParallelRows ? static_cast<std::size_t>(n_threads) : 1;
}

template <class Sides>
Partition partition_by(Sides sides, RowSet rows, std::uint32_t* out, std::uint32_t* scratch, int n_threads) {
    if (rows.count == 0) return {0, 0};  // a worker without rows has null arrays
    const std::size_t count = rows.count, parts = parts_for(count, n_threads);
    std::vector<RowSplit> counts(parts);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        const std::size_t begin = range_begin(count, parts, part), end = range_begin(count, parts, part + 1);
        counts[part] = sides.split(rows, begin, end, out + begin, scratch + begin);
    });
    Partition result{counts[0].left, counts[0].missing};
    for (std::size_t part = 1; part < parts; ++part) {
        std::memmove(out + result.left_count, out + range_begin(count, parts, part), counts[part].left * sizeof *out);
        result.left_count += counts[part].left;
        result.missing_count += counts[part].missing;
    }
    parallel_for(n_threads, parts, [&](std::size_t part) {
        std::uint32_t* to = out + result.left_count;
        for (std::size_t before = 0; before < part; ++before)
            to += range_begin(count, parts, before + 1) - range_begin(count, parts, before) - counts[before].left;
        const std::size_t begin = range_begin(count, parts, part), end = range_begin(count, parts, part + 1);
        std::memcpy(to, scratch + begin, (end - begin - counts[part].left) * sizeof *out);
    });
    return result;
}

template <class Sides>
Partition assign_by(Sides sides, RowSet rows, std::int32_t left, std::int32_t right, std::int32_t* leaf_of_row,
                    int n_threads) {
    const std::size_t count = rows.count, parts = parts_for(count, n_threads);
    std::vector<RowSplit> counts(parts);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        RowSplit local;
        const auto send = [&](std::size_t row) {
            const std::uint32_t code = sides.codes[row];
            const bool goes_left = sides.left(code);
            local.left += goes_left;
            local.missing += code == sides.missing_code;
            leaf_of_row[row] = goes_left ? left : right;
        };
        const std::size_t begin = range_begin(count, parts, part), end = range_begin(count, parts, part + 1);
        if (rows.indices == nullptr)
            for (std::size_t i = begin; i < end; ++i) send(i);
        else
            for (std::size_t i = begin; i < end; ++i) send(rows.indices[i]);
        counts[part] = local;
    });
    Partition result;
    for (const RowSplit& c : counts) {
        result.left_count += c.left;
        result.missing_count += c.missing;
    }
    return result;
}

}  // namespace

Partition partition_rows(const BinnedData& data, const Question& question, RowSet rows, std::uint32_t* out,
                         std::uint32_t* scratch, int n_threads) {
    return data.is_categorical[question.column]
               ? partition_by(CategorySides(data, question), rows, out, scratch, n_threads)
               : partition_by(NumberSides(data, question), rows, out, scratch, n_threads);
}

Partition assign_children(const BinnedData& data, const Question& question, RowSet rows, std::int32_t left,
                          std::int32_t right, std::int32_t* leaf_of_row, int n_threads) {
    return data.is_categorical[question.column]
               ? assign_by(CategorySides(data, question), rows, left, right, leaf_of_row, n_threads)
               : assign_by(NumberSides(data, question), rows, left, right, leaf_of_row, n_threads);
}

}  // namespace radboost
