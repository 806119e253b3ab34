// SPDX-License-Identifier: MIT
#include "fmt_oracle.h"

#include <cstring>
#include <exception>
#include <fmt/args.h>
#include <fmt/format.h>
#include <string>

template <typename T> static T value_of(std::uint64_t bits)
{
    T ret;
    std::memcpy(&ret, &bits, sizeof ret);
    return ret;
}

static void add(fmt::dynamic_format_arg_store<fmt::format_context> &to,
                const struct fmt_value &v)
{
    switch (v.kind) {
    case 'i':
        to.push_back(value_of<std::int32_t>(v.bits));
        break;
    case 'u':
        to.push_back(value_of<std::uint32_t>(v.bits));
        break;
    case 'I':
        to.push_back(value_of<std::int64_t>(v.bits));
        break;
    case 'U':
        to.push_back(v.bits);
        break;
    case 'f':
        to.push_back(value_of<float>(v.bits));
        break;
    case 'd':
        to.push_back(value_of<double>(v.bits));
        break;
    default:
        to.push_back(std::string(v.text, v.n));
        break;
    }
}

static long give(char *ret, std::size_t max, const std::string &text)
{
    std::memcpy(ret, text.data(), text.size() < max ? text.size() : max);
    return static_cast<long>(text.size());
}

extern "C" long fmt_oracle(char *ret, std::size_t max, const char *format,
                           std::size_t n_format, const struct fmt_value *values,
                           std::size_t n)
{
    fmt::dynamic_format_arg_store<fmt::format_context> store;
    for (std::size_t i = 0; i < n; i++)
        add(store, values[i]);
    try {
        return give(ret, max,
                    fmt::vformat(fmt::string_view(format, n_format), store));
    } catch (const std::exception &e) {
        give(ret, max, std::string(e.what()) + '\0');
        return -1;
    }
}
