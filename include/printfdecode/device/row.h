/* SPDX-License-Identifier: MIT */
/*
 * Compile-time work for one PFD_PRINTF: checks its arguments against its
 * conversions, builds its row (control.h), and computes the row's id. C++17;
 * nothing here runs on the device.
 *
 * The id is an opaque key, as LLPC's is: LLPC has 48 bits of a hash of the
 * string there, which may differ from build to build, and readers look it up.
 * Here it is a hash of the whole row, so that one text with other types, or at
 * another line, is another string.
 */
#ifndef PRINTFDECODE_DEVICE_ROW_H
#define PRINTFDECODE_DEVICE_ROW_H

#include <stddef.h>
#include <type_traits>

#include <printfdecode/device/control.h>
#include <printfdecode/device/platform.h>

namespace pfd
{

/* Text that %s prints: its row's id. Made by PFD_TEXT(). */
struct text {
    uint64_t id;
};

/* ---- types ---- */

template <class T> PFD_BOTH constexpr char integer_letter()
{
    if (sizeof(T) > 8)
        return 0;
    if (sizeof(T) > 4)
        return std::is_signed<T>::value ? 'I' : 'U';
    return std::is_signed<T>::value ? 'i' : 'u';
}

/* i u I U: integers of 32 and 64 bits; f d: float, double; p: a pointer; s: a
 * text; a: an array of char, which has to be a literal; 0: none of them.
 * Narrower types are widened as C does it; a type that converts to a float,
 * such as a half, counts as a float. */
template <class A> PFD_BOTH constexpr char letter_of()
{
    using whole = std::remove_reference_t<A>;
    using T = std::remove_cv_t<std::decay_t<A>>;
    if constexpr (std::is_array<whole>::value &&
                  std::is_same<T, const char *>::value) {
        return 'a';
    } else if constexpr (std::is_same<T, text>::value) {
        return 's';
    } else if constexpr (std::is_enum<T>::value) {
        return integer_letter<std::underlying_type_t<T>>();
    } else if constexpr (std::is_integral<T>::value) {
        return integer_letter<T>();
    } else if constexpr (std::is_same<T, float>::value) {
        return 'f';
    } else if constexpr (std::is_same<T, double>::value) {
        return 'd';
    } else if constexpr (std::is_pointer<T>::value ||
                         std::is_same<T, std::nullptr_t>::value) {
        return 'p';
    } else if constexpr (!std::is_arithmetic<T>::value &&
                         std::is_convertible<T, float>::value) {
        return 'f';
    } else {
        return 0;
    }
}

PFD_BOTH constexpr uint32_t dwords_of(char letter)
{
    return letter == 'i' || letter == 'u' || letter == 'f' ? 1 : 2;
}

/* ---- conversions ---- */

/* A consumer of an argument in a format string: a conversion, or one of its
 * stars. */
struct taker {
    size_t next; /* where the text goes on; of a star, the same conversion */
    char conv;   /* 0: none is left; '?': it cannot be printed */
    char length; /* 0; h: hh or h; l: 64 bits; L */
    bool is_star;
};

PFD_BOTH constexpr bool is_one_of(char c, const char *set)
{
    for (; *set; set++) {
        if (c == *set)
            return true;
    }
    return false;
}

/* The conversion whose % is before `at`; stars: how many of its stars have
 * been taken. */
PFD_BOTH constexpr taker read_conversion(const char *f, size_t at,
                                         unsigned stars)
{
    unsigned n_stars = 0;
    char length = 0;
    while (is_one_of(f[at], "-+ #0'123456789.*")) {
        if (f[at] == '*' && n_stars++ == stars)
            return taker{ at, '*', 0, true };
        at++;
    }
    while (is_one_of(f[at], "hljztqL")) {
        length = f[at] == 'h' || f[at] == 'L' ? f[at] : 'l';
        at++;
    }
    if (!is_one_of(f[at], "diuoxXcfFeEgGaAps"))
        return taker{ at, '?', length, false };
    return taker{ at + 1, f[at], length, false };
}

/* The consumer of argument i. */
PFD_BOTH constexpr taker taker_of(const char *f, unsigned i)
{
    size_t at = 0;
    while (f[at]) {
        if (f[at++] != '%')
            continue;
        if (f[at] == '%') {
            at++;
            continue;
        }
        taker t{ at, 0, 0, true };
        for (unsigned stars = 0; t.is_star; stars++) {
            t = read_conversion(f, at, stars);
            if (t.conv == '?' || i-- == 0)
                return t;
        }
        at = t.next;
    }
    return taker{ at, 0, 0, false };
}

PFD_BOTH constexpr bool fits(const taker &t, char letter)
{
    if (t.conv == '*' || t.conv == 'c')
        return is_one_of(letter, "iu") && (t.conv == '*' || t.length != 'l');
    if (is_one_of(t.conv, "diuoxX"))
        return is_one_of(letter, t.length == 'l' ? "IU" : "iu");
    if (is_one_of(t.conv, "fFeEgGaA"))
        return is_one_of(letter, "fd") && t.length != 'h';
    if (t.conv == 's')
        return is_one_of(letter, "sa");
    return t.conv == 'p' && letter == 'p';
}

/* ---- the arguments, as written ---- */

/* Where piece i of a list of arguments begins and ends. */
struct piece {
    size_t from;
    size_t to;
};

PFD_BOTH constexpr size_t behind_quotes(const char *s, size_t at)
{
    char quote = s[at++];
    while (s[at] && s[at] != quote)
        at += s[at] == '\\' && s[at + 1] ? 2 : 1;
    return s[at] ? at + 1 : at;
}

PFD_BOTH constexpr piece piece_of(const char *s, unsigned i)
{
    size_t at = 0;
    size_t from = 0;
    unsigned depth = 0;
    while (s[at]) {
        if (s[at] == '"' || s[at] == '\'') {
            at = behind_quotes(s, at);
            continue;
        }
        depth += is_one_of(s[at], "([{");
        depth -= is_one_of(s[at], ")]}") && depth;
        if (s[at] == ',' && !depth) {
            if (i-- == 0)
                return piece{ from, at };
            from = at + 1;
        }
        at++;
    }
    return i == 0 ? piece{ from, at } : piece{ at, at };
}

/* One character of a literal, behind a backslash or not. */
struct character {
    char c;
    size_t next;
};

PFD_BOTH constexpr int digit(char c, int base)
{
    int value = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : 99;
    return value < base ? value : -1;
}

PFD_BOTH constexpr character read_character(const char *s, size_t at)
{
    constexpr char names[] = "abfnrtv";
    constexpr char means[] = "\a\b\f\n\r\t\v";
    if (s[at] != '\\')
        return character{ s[at], at + 1 };
    at++;
    int base = s[at] == 'x' ? 16 : 8;
    if (base == 8 && digit(s[at], 8) < 0) {
        for (size_t i = 0; names[i]; i++) {
            if (s[at] == names[i])
                return character{ means[i], at + 1 };
        }
        return character{ s[at], at + 1 };
    }
    unsigned value = 0;
    size_t most = base == 16 ? (size_t)-1 : at + 3;
    at += base == 16;
    for (; at < most && digit(s[at], base) >= 0; at++)
        value = value * (unsigned)base + (unsigned)digit(s[at], base);
    return character{ (char)value, at };
}

/* The characters of the literals in a piece, into ret unless that is NULL.
 * Returns their number; (size_t)-1: it is not made of plain literals. */
PFD_BOTH constexpr size_t read_literal(const char *s, piece p, char *ret)
{
    size_t n = 0;
    bool any = false;
    for (size_t at = p.from; at < p.to;) {
        if (is_one_of(s[at], " \t\n")) {
            at++;
            continue;
        }
        if (s[at++] != '"')
            return (size_t)-1;
        any = true;
        while (at < p.to && s[at] != '"') {
            character c = read_character(s, at);
            if (ret)
                ret[n] = c.c;
            n++;
            at = c.next;
        }
        at++;
    }
    return any ? n : (size_t)-1;
}

/* ---- rows ---- */

PFD_BOTH constexpr size_t length_of(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

/* FNV-1a, and the last steps of MurmurHash3, so that each bit counts. */
struct hash {
    uint64_t state = UINT64_C(0xcbf29ce484222325);

    PFD_BOTH constexpr void add(uint64_t value, unsigned n_bytes)
    {
        for (; n_bytes--; value >>= 8)
            state = (state ^ (value & 0xff)) * UINT64_C(0x100000001b3);
    }

    /* 48 bits, the highest one set: never small. */
    PFD_BOTH constexpr uint64_t id() const
    {
        uint64_t h = (state ^ state >> 33) * UINT64_C(0xff51afd7ed558ccd);
        h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
        return (h ^ h >> 33) >> 16 | UINT64_C(1) << 47;
    }
};

/* The gate of a site: by its text and place, whatever its arguments are. */
template <class Site> PFD_BOTH constexpr uint32_t gate_of()
{
    hash h;
    h.add(Site::line(), 4);
    for (const char *at = Site::text(); *at; at++)
        h.add((unsigned char)*at, 1);
    for (const char *at = Site::file(); *at; at++)
        h.add((unsigned char)*at, 1);
    return (uint32_t)(h.id() % PFD_GATES);
}

/* A row in memory, with room for N bytes behind its header. */
template <size_t N> struct row {
    pfd_row_header header;
    char bytes[N];

    /* Call it last. */
    PFD_BOTH constexpr void set_id()
    {
        hash h;
        h.add(header.n_bytes, 4);
        h.add(header.kind, 1);
        h.add(header.level, 1);
        h.add(header.flags, 1);
        h.add(header.n_types, 1);
        h.add(header.line, 4);
        h.add(header.n_text, 2);
        h.add(header.n_file, 2);
        for (size_t i = 0; i < N; i++)
            h.add((unsigned char)bytes[i], 1);
        header.id = h.id();
    }
};

PFD_BOTH constexpr size_t padded(size_t n)
{
    return n ? (n + 7) / 8 * 8 : 8;
}

/* A text's row. Text::size() bytes, written by Text::fill(). */
template <class Text> struct text_row {
    using type = row<padded(Text::size())>;

    PFD_BOTH static constexpr type make()
    {
        type ret{};
        ret.header.magic = PFD_ROW_MAGIC;
        ret.header.n_bytes = (uint32_t)sizeof ret;
        ret.header.kind = PFD_ROW_TEXT;
        ret.header.n_text = (uint16_t)Text::size();
        Text::fill(ret.bytes);
        ret.set_id();
        return ret;
    }
};

/* Argument I of a site, a literal. */
template <class Site, unsigned I> struct literal {
    static constexpr piece place = piece_of(Site::arguments(), I + 1);

    PFD_BOTH static constexpr size_t size()
    {
        return read_literal(Site::arguments(), place, nullptr);
    }
    PFD_BOTH static constexpr void fill(char *ret)
    {
        read_literal(Site::arguments(), place, ret);
    }
};

/* The text of a PFD_TEXT(). */
template <class Site> struct named_text {
    PFD_BOTH static constexpr size_t size()
    {
        return length_of(Site::text());
    }
    PFD_BOTH static constexpr void fill(char *ret)
    {
        for (size_t i = 0; i < size(); i++)
            ret[i] = Site::text()[i];
    }
};

/* A format string's row, for arguments A. */
template <class Site, class... A> struct format_row {
    static constexpr int n_types = (int)sizeof...(A);
    static constexpr size_t n_text = length_of(Site::text());
    static constexpr size_t n_file = length_of(Site::file());
    using type = row<padded((size_t)n_types + n_text + n_file)>;

    PFD_BOTH static constexpr type make()
    {
        const char letters[] = { letter_of<A>()..., 0 };
        type ret{};
        size_t at = 0;
        ret.header.magic = PFD_ROW_MAGIC;
        ret.header.n_bytes = (uint32_t)sizeof ret;
        ret.header.kind = PFD_ROW_FORMAT;
        ret.header.level = (uint8_t)Site::level();
        ret.header.flags = (uint8_t)Site::flags();
        ret.header.n_types = (uint8_t)n_types;
        ret.header.line = Site::line();
        ret.header.n_text = (uint16_t)n_text;
        ret.header.n_file = (uint16_t)n_file;
        for (int i = 0; i < n_types; i++)
            ret.bytes[at++] = letters[i] == 'a' ? 's' : letters[i];
        for (size_t i = 0; i < n_text; i++)
            ret.bytes[at++] = Site::text()[i];
        for (size_t i = 0; i < n_file; i++)
            ret.bytes[at++] = Site::file()[i];
        ret.set_id();
        return ret;
    }
};

/* Rows lie in the device's part of the program's file, where a reader finds
 * them by their magic and checks them by their id; no code reads them. */
template <class Maker>
PFD_DEVICE __attribute__((used)) typename Maker::type row_of = Maker::make();

/* ---- checks, one for each argument, so that the message names it ---- */

template <class Site, class... A> struct checks {
    static constexpr int n = (int)sizeof...(A);

    PFD_BOTH static constexpr char letter(int i)
    {
        const char letters[] = { letter_of<A>()..., 0 };
        return i < n ? letters[i] : 0;
    }
    PFD_BOTH static constexpr bool has_type(int i)
    {
        return i >= n || letter(i);
    }
    PFD_BOTH static constexpr bool is_taken(int i)
    {
        return i >= n || taker_of(Site::text(), (unsigned)i).conv;
    }
    PFD_BOTH static constexpr bool is_right(int i)
    {
        taker t = taker_of(Site::text(), (unsigned)i);
        return i >= n || !t.conv || t.conv == '?' || !letter(i) ||
               fits(t, letter(i));
    }
    PFD_BOTH static constexpr size_t array_size(int i)
    {
        const size_t sizes[] = {
            std::extent<std::remove_reference_t<A>>::value..., 0
        };
        return sizes[i];
    }
    PFD_BOTH static constexpr bool is_literal(int i)
    {
        return letter(i) != 'a' ||
               read_literal(Site::arguments(),
                            piece_of(Site::arguments(), (unsigned)i + 1),
                            nullptr) == array_size(i) - 1;
    }
    PFD_BOTH static constexpr bool is_known()
    {
        for (int i = 0; i <= n; i++) {
            if (taker_of(Site::text(), (unsigned)i).conv == '?')
                return false;
        }
        return true;
    }

#define PFD_CHECK(i)                                                           \
    static_assert(has_type(i - 1), "PFD_PRINTF: argument " #i                  \
                                   " has a type that cannot be printed");      \
    static_assert(is_taken(i - 1),                                             \
                  "PFD_PRINTF: argument " #i " has no conversion");            \
    static_assert(is_right(i - 1), "PFD_PRINTF: argument " #i                  \
                                   " is of another type than its conversion"); \
    static_assert(is_literal(i - 1),                                           \
                  "PFD_PRINTF: argument " #i                                   \
                  " of %s is no plain literal; see PFD_TEXT()");
#define PFD_CHECK4(a, b, c, d) \
    PFD_CHECK(a) PFD_CHECK(b) PFD_CHECK(c) PFD_CHECK(d)
    PFD_CHECK4(1, 2, 3, 4)
    PFD_CHECK4(5, 6, 7, 8)
    PFD_CHECK4(9, 10, 11, 12)
    PFD_CHECK4(13, 14, 15, 16)
    PFD_CHECK4(17, 18, 19, 20)
    PFD_CHECK4(21, 22, 23, 24)
    PFD_CHECK4(25, 26, 27, 28)
    PFD_CHECK4(29, 30, 31, 32)
#undef PFD_CHECK4
#undef PFD_CHECK
    static_assert(n <= PFD_ROW_TYPES_MAX, "PFD_PRINTF: more than 32 arguments");
    static_assert(is_known(), "PFD_PRINTF: a conversion that is not known");
    static_assert(!is_known() || !taker_of(Site::text(), (unsigned)n).conv,
                  "PFD_PRINTF: a conversion has no argument");
};

} /* namespace pfd */

#endif
