/* SPDX-License-Identifier: MIT */
/* Arguments whose types an entry states, in a tag before each. */
#include "arguments.h"

struct tag {
    struct described_type type;
    uint64_t size; /* bytes, tag included; 0: as the type says */
};

/* The type that a value of a tag means. */
static bool find_type(const struct pfd_string *ring, uint64_t value,
                      struct described_type *ret)
{
    const uint64_t *words = pfd_string_layout(ring);
    for (size_t i = RING_TAGS; i + 1 < ring->n_layout; i += 2) {
        if (words[i] == value) {
            *ret = described_unpack(words[i + 1]);
            return true;
        }
    }
    return false;
}

static bool read_tag(const struct pfd_string *ring, const uint8_t *bytes,
                     struct tag *ret)
{
    const uint64_t *v = pfd_string_layout(ring);
    uint64_t rows = described_field(bytes, v + RING_TAG_ROWS);
    uint64_t columns = described_field(bytes, v + RING_TAG_COLUMNS);
    if (!find_type(ring, described_field(bytes, v + RING_TAG_TYPE), &ret->type))
        return false;
    ret->size = described_field(bytes, v + RING_TAG_SIZE);
    if (!rows && !columns)
        return true;
    rows = rows ? rows : 1;
    columns = columns ? columns : 1;
    if (rows > UINT8_MAX || columns > UINT8_MAX || rows * columns > UINT8_MAX)
        return false;
    ret->type.n = (uint32_t)(rows * columns);
    ret->type.run =
        (uint32_t)(rows > 1 && columns > 1 ? columns : rows * columns);
    return true;
}

static bool take_argument(struct arguments *a, const struct pfd_string *ring,
                          struct described_tags *ret)
{
    const uint64_t *v = pfd_string_layout(ring);
    uint32_t n_tag = (uint32_t)v[RING_TAG_BYTES];
    struct tag tag;
    uint32_t to = a->align ? a->align : 1;
    uint32_t from = (a->at + to - 1) / to * to;
    if (from > a->n_payload || n_tag > a->n_payload - from ||
        !read_tag(ring, a->payload + from, &tag))
        return false;
    a->at = from + n_tag;
    uint32_t n = a->n_payload;
    if (tag.size && (tag.size < n_tag || tag.size > n - from))
        return false;
    if (tag.size)
        a->n_payload = from + (uint32_t)tag.size;
    bool ok = arguments_add(a, &tag.type);
    a->n_payload = n;
    a->solid_to = a->solid_from; /* what was known ended with the argument */
    if (tag.size)
        a->at = from + (uint32_t)tag.size;
    if (ok && ret && ret->n < TYPES_MAX)
        ret->words[ret->n++] = described_pack(&tag.type);
    return ok;
}

/* Values that a text without placeholders would leave out without a word. */
static uint64_t left_out(const struct arguments *a, const uint64_t *v,
                         uint64_t n_stated, uint64_t n)
{
    uint32_t rest = a->at < a->n_payload ? a->n_payload - a->at : 0;
    if (n == n_stated)
        return 0;
    if (v[RING_COUNT_BITS]) {
        return rest < v[RING_TAG_BYTES] ? PFD_FINDING_BIT(payload_short)
                                        : PFD_FINDING_BIT(payload_long);
    }
    if (v[RING_SLOT_BYTES] || rest < v[RING_TAG_BYTES])
        return 0; /* behind the entry's values */
    for (uint32_t i = 0; i < rest; i++) {
        if (a->payload[a->at + i])
            return PFD_FINDING_BIT(payload_long);
    }
    return 0;
}

bool tags_lay_out(struct arguments *a, const struct pfd_string *ring,
                  struct described_tags *ret)
{
    const uint64_t *v = pfd_string_layout(ring);
    const uint8_t *header = a->payload ? a->payload - a->n_header : NULL;
    a->align = (uint32_t)v[RING_ARGUMENT_ALIGN];
    if (!header || a->n_header < v[RING_HEADER])
        return false;
    uint64_t n_text = described_field(header, v + RING_TEXT);
    if (n_text > a->n_payload)
        return false;
    a->at = (uint32_t)n_text;
    if (ret)
        ret->n_text = (uint32_t)n_text;
    if (!v[RING_TAG_BYTES])
        return true; /* its text says the types */
    uint64_t n_stated = v[RING_COUNT_BITS]
                            ? described_field(header, v + RING_COUNT)
                            : UINT64_MAX;
    uint64_t n = 0;
    uint32_t end = a->at;
    while (n < n_stated && n < TYPES_MAX && take_argument(a, ring, ret)) {
        end = a->at;
        n++;
    }
    a->at = end; /* not behind the tag of a value that is none */
    if (ret)
        ret->findings = left_out(a, v, n_stated, n);
    return !v[RING_COUNT_BITS] || n == n_stated;
}
