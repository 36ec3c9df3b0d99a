#include "search/histogram_words.hpp"

#include <algorithm>
#include <cstring>

namespace radboost {
namespace {

std::size_t used_slots(const BinnedData& data, std::size_t column) {
    return data.n_bins(column) + std::size_t{data.has_missing[column]};
}

// An array of shape (lines, n_slots, width), of which only the slots in use are sent.
struct Layout {
    const BinnedData& data;
    std::size_t lines, width;

    std::size_t size() const {
        std::size_t used = 0;
        for (std::size_t c = 0; c < data.n_columns; ++c) used += used_slots(data, c);
        return lines * used * width;
    }
    // Calls body(offset in the array, offset among the numbers in use, count) for every contiguous run in use.
    template <class Body>
    void runs(Body&& body) const {
        std::size_t at = 0;
        for (std::size_t line = 0; line < lines; ++line)
            for (std::size_t c = 0; c < data.n_columns; ++c) {
                const std::size_t count = used_slots(data, c) * width;
                body((line * data.n_slots() + data.slot_offsets[c]) * width, at, count);
                at += count;
            }
    }
};

// The three parts of a node's histograms.
struct Layouts {
    Layout classes, channels, masses;

    Layouts(const BinnedData& data, const NodeHistograms& shape)
        : classes{data, ratio(shape.class_weights.size(), data), 1},
          channels{data, shape.channels.empty() ? std::size_t{0} : std::size_t{1}, ratio(shape.channels.size(), data)},
          masses{data, ratio(shape.masses.size(), data), 1} {}

    std::size_t words_of_classes() const { return (classes.size() + 1) / 2; }

private:
    static std::size_t ratio(std::size_t size, const BinnedData& data) {
        return data.n_slots() == 0 ? 0 : size / data.n_slots();
    }
};

}  // namespace

std::size_t n_words(const BinnedData& data, const NodeHistograms& histograms) {
    const Layouts parts(data, histograms);
    return parts.words_of_classes() + parts.channels.size() + parts.masses.size();
}

// Class weights are copied as bytes, so that pairs of them become words.
void write_words(const BinnedData& data, const NodeHistograms& histograms, std::int64_t* words) {
    const Layouts parts(data, histograms);
    const std::size_t paired = parts.words_of_classes();
    if (paired > 0) words[paired - 1] = 0;
    auto* halves = reinterpret_cast<unsigned char*>(words);
    parts.classes.runs([&](std::size_t from, std::size_t to, std::size_t count) {
        std::memcpy(halves + to * sizeof(std::uint32_t), histograms.class_weights.data() + from,
                    count * sizeof(std::uint32_t));
    });
    words += paired;
    parts.channels.runs([&](std::size_t from, std::size_t to, std::size_t count) {
        std::copy_n(histograms.channels.data() + from, count, words + to);
    });
    words += parts.channels.size();
    parts.masses.runs([&](std::size_t from, std::size_t to, std::size_t count) {
        std::copy_n(histograms.masses.data() + from, count, words + to);
    });
}

void read_words(const BinnedData& data, const std::int64_t* words, const NodeHistograms& shape, NodeHistograms& out) {
    const Layouts parts(data, shape);
    out.class_weights.resize(shape.class_weights.size());
    out.channels.resize(shape.channels.size());
    out.masses.resize(shape.masses.size());
    const auto* halves = reinterpret_cast<const unsigned char*>(words);
    parts.classes.runs([&](std::size_t to, std::size_t from, std::size_t count) {
        std::memcpy(out.class_weights.data() + to, halves + from * sizeof(std::uint32_t), count * sizeof(std::uint32_t));
    });
    words += parts.words_of_classes();
    parts.channels.runs([&](std::size_t to, std::size_t from, std::size_t count) {
        std::copy_n(words + from, count, out.channels.data() + to);
    });
    words += parts.channels.size();
    parts.masses.runs([&](std::size_t to, std::size_t from, std::size_t count) {
        std::copy_n(words + from, count, out.masses.data() + to);
    });
}

}  // namespace radboost
