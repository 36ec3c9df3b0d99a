#include "core/packing.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "core/common.hpp"

namespace radboost {
namespace {

constexpr std::size_t kBlock = 512;        // numbers
constexpr std::size_t kCountBytes = 8;
constexpr std::uint8_t kHalves = 0x40, kBitmap = 0x80, kWidth = 0x0f;  // bits of a block's header

using Entries = std::array<std::uint64_t, 2 * kBlock>;

// Form of a block, as in its header byte.
struct Form {
    std::uint8_t flags;
    std::size_t width;  // bytes of an entry

    std::uint8_t byte() const { return static_cast<std::uint8_t>(flags | width); }
};

int bytes_of(std::uint64_t bits) {
    int bytes = 0;
    for (; bits != 0; bits >>= 8) ++bytes;
    return bytes;
}

template <std::size_t kBytes>
std::uint8_t* put_entries(const std::uint64_t* entries, std::size_t n, bool sparse, std::uint8_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
        if (sparse && entries[i] == 0) continue;
        for (std::size_t k = 0; k < kBytes; ++k) out[k] = static_cast<std::uint8_t>(entries[i] >> (8 * k));
        out += kBytes;
    }
    return out;
}

template <std::size_t kBytes>
void take_entries(const std::uint8_t* from, std::size_t n, std::uint64_t* out) {
    for (std::size_t i = 0; i < n; ++i, from += kBytes) {
        std::uint64_t entry = 0;
        for (std::size_t k = 0; k < kBytes; ++k) entry |= std::uint64_t{from[k]} << (8 * k);
        out[i] = entry;
    }
}

// Calls body(std::integral_constant of the width), so that loops over bytes are unrolled.
template <class Body>
auto with_width(std::size_t width, Body&& body) {
    switch (width) {
        case 1: return body(std::integral_constant<std::size_t, 1>());
        case 2: return body(std::integral_constant<std::size_t, 2>());
        case 3: return body(std::integral_constant<std::size_t, 3>());
        case 4: return body(std::integral_constant<std::size_t, 4>());
        case 5: return body(std::integral_constant<std::size_t, 5>());
        case 6: return body(std::integral_constant<std::size_t, 6>());
        case 7: return body(std::integral_constant<std::size_t, 7>());
        default: return body(std::integral_constant<std::size_t, 8>());
    }
}

// Writes the entries of a block, the numbers or their low and high halves in turn, and returns how many there are.
std::size_t entries_of(const std::int64_t* numbers, std::size_t count, bool halves, std::uint64_t* out) {
    for (std::size_t i = 0; i < count; ++i) {
        const auto bits = static_cast<std::uint64_t>(numbers[i]);
        if (halves) {
            out[2 * i] = bits & 0xffffffffu;
            out[2 * i + 1] = bits >> 32;
        } else {
            out[i] = bits;
        }
    }
    return halves ? 2 * count : count;
}

std::size_t bytes_of_bitmap(std::size_t n) { return (n + 7) / 8; }

// The form that takes the fewest bytes; in a tie the first of `forms`.
Form best_form(const std::int64_t* numbers, std::size_t count) {
    std::uint64_t whole = 0, half = 0;  // union of the bits used by the signed numbers, and by the halves
    std::size_t n_numbers = 0, n_halves = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const auto bits = static_cast<std::uint64_t>(numbers[i]);
        whole |= (bits ^ (std::uint64_t{0} - (bits >> 63))) << 1;  // one bit more, for the sign
        whole |= (bits ^ (std::uint64_t{0} - (bits >> 63))) & (std::uint64_t{1} << 63);
        half |= (bits & 0xffffffffu) | (bits >> 32);
        n_numbers += bits != 0;
        n_halves += (bits & 0xffffffffu) != 0;
        n_halves += (bits >> 32) != 0;
    }
    if (n_numbers == 0) return {0, 0};
    const auto width = static_cast<std::size_t>(std::max(1, bytes_of(whole)));
    const auto half_width = static_cast<std::size_t>(bytes_of(half));
    const std::array<std::size_t, 4> sizes{count * width, bytes_of_bitmap(count) + n_numbers * width,
                                           2 * count * half_width, bytes_of_bitmap(2 * count) + n_halves * half_width};
    const std::array<Form, 4> forms{Form{0, width}, Form{kBitmap, width}, Form{kHalves, half_width},
                                    Form{kHalves | kBitmap, half_width}};
    return forms[static_cast<std::size_t>(std::min_element(sizes.begin(), sizes.end()) - sizes.begin())];
}

std::uint8_t* put_block(const std::int64_t* numbers, std::size_t count, std::uint8_t* out) {
    const Form form = best_form(numbers, count);
    *out++ = form.byte();
    if (form.width == 0) return out;
    Entries entries;
    const std::size_t n = entries_of(numbers, count, form.flags & kHalves, entries.data());
    const bool sparse = form.flags & kBitmap;
    if (sparse) {
        std::fill_n(out, bytes_of_bitmap(n), std::uint8_t{0});
        for (std::size_t i = 0; i < n; ++i) out[i / 8] |= static_cast<std::uint8_t>((entries[i] != 0) << (i % 8));
        out += bytes_of_bitmap(n);
    }
    return with_width(form.width, [&](auto width) { return put_entries<width>(entries.data(), n, sparse, out); });
}

void refuse_unless(bool right) { require(right, "the bytes are not those of packed numbers"); }

// The bytes that are still to be read.
struct Reader {
    const std::uint8_t* at;
    const std::uint8_t* end;

    const std::uint8_t* take(std::size_t n) {
        refuse_unless(n <= static_cast<std::size_t>(end - at));
        at += n;
        return at - n;
    }
};

// Reads the `n` entries of a block; those that the bitmap leaves out are 0.
void read_entries(Reader& reader, std::size_t n, bool sparse, std::size_t width, std::uint64_t* entries) {
    if (!sparse) {
        const std::uint8_t* from = reader.take(n * width);
        with_width(width, [&](auto bytes) { take_entries<bytes>(from, n, entries); });
        return;
    }
    const std::uint8_t* bitmap = reader.take(bytes_of_bitmap(n));
    refuse_unless(n % 8 == 0 || bitmap[n / 8] >> (n % 8) == 0);
    const auto has = [&](std::size_t i) { return (bitmap[i / 8] >> (i % 8)) & 1; };
    std::size_t n_kept = 0;
    for (std::size_t i = 0; i < n; ++i) n_kept += static_cast<std::size_t>(has(i));
    const std::uint8_t* from = reader.take(n_kept * width);
    Entries kept;
    with_width(width, [&](auto bytes) { take_entries<bytes>(from, n_kept, kept.data()); });
    for (std::size_t i = 0, k = 0; i < n; ++i) entries[i] = has(i) ? kept[k++] : 0;
}

void add_block(Reader& reader, std::int64_t* sums, std::size_t count) {
    const std::uint8_t form = *reader.take(1);
    const std::size_t width = form & kWidth;
    const bool halves = form & kHalves, sparse = form & kBitmap;
    refuse_unless((form & ~(kHalves | kBitmap | kWidth)) == 0 && width <= (halves ? 4 : 8) && (width > 0 || form == 0));
    if (width == 0) return;
    Entries entries;
    read_entries(reader, halves ? 2 * count : count, sparse, width, entries.data());
    const std::uint64_t sign = halves ? 0 : std::uint64_t{1} << (8 * width - 1);
    for (std::size_t i = 0; i < count; ++i) {
        // (entry ^ sign) - sign extends the sign of an entry of `width` bytes to 64 bits.
        const std::uint64_t number = halves ? entries[2 * i] | (entries[2 * i + 1] << 32) : (entries[i] ^ sign) - sign;
        sums[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sums[i]) + number);
    }
}

}  // namespace

std::vector<std::uint8_t> pack(const std::int64_t* numbers, std::size_t count) {
    const std::size_t n_blocks = (count + kBlock - 1) / kBlock;
    std::vector<std::uint8_t> bytes(kCountBytes + n_blocks + 8 * count);  // no form is longer
    for (std::size_t k = 0; k < kCountBytes; ++k) bytes[k] = static_cast<std::uint8_t>(std::uint64_t{count} >> (8 * k));
    std::uint8_t* out = bytes.data() + kCountBytes;
    for (std::size_t begin = 0; begin < count; begin += kBlock)
        out = put_block(numbers + begin, std::min(kBlock, count - begin), out);
    bytes.resize(static_cast<std::size_t>(out - bytes.data()));
    return bytes;
}

void add_packed(const std::uint8_t* bytes, std::size_t size, std::int64_t* sums, std::size_t count) {
    Reader reader{bytes, bytes + size};
    const std::uint8_t* from = reader.take(kCountBytes);
    std::uint64_t packed = 0;
    for (std::size_t k = 0; k < kCountBytes; ++k) packed |= std::uint64_t{from[k]} << (8 * k);
    require(packed == count, "other workers brought another number of numbers");
    for (std::size_t begin = 0; begin < count; begin += kBlock)
        add_block(reader, sums + begin, std::min(kBlock, count - begin));
    refuse_unless(reader.at == reader.end);
}

}  // namespace radboost
