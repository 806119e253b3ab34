/* SPDX-License-Identifier: MIT */
/*
 * The format compiler: the first byte says how many bytes are payload, the
 * rest is a format string. Compiled, bound to slots of random widths and
 * printed, it stays inside the room that was asked for, and what is printed
 * escaped is what is printed, then escaped.
 */
#include <string.h>

#include "core/base/escape.h"
#include "core/print/braces.h"
#include "core/print/program.h"
#include "fuzz.h"

enum {
    SLACK = 32,
    SLOTS_MAX = 64,
    GUARD = 64
};

struct input {
    const uint8_t *payload;
    size_t n_payload;
    char *text; /* [n_text] and SLACK bytes */
    size_t n_text;
};

static size_t make_slots(const struct input *in, struct pfd_slot *ret)
{
    size_t n = 0;
    uint32_t at = 0;
    for (; n < SLOTS_MAX && at + 8 <= in->n_payload; n++) {
        bool wide = in->payload[at] & 1;
        bool is_text = in->payload[at] % 8 == 2;
        ret[n] = (struct pfd_slot){
            .at = at,
            .store = is_text ? PFD_STORE_STRING
                     : wide  ? PFD_STORE_QWORD
                             : PFD_STORE_DWORD,
            .n_bytes = is_text ? 8 : 0,
        };
        at += is_text || wide ? 8 : 4;
    }
    return n;
}

static size_t print(const struct input *in, const struct pfd_step *steps,
                    const char *text, unsigned mode, size_t room, char *out)
{
    uint64_t findings = 0;
    memset(out + room, 0x5a, GUARD);
    char *end =
        pfd_program_print(out, steps, text, mode, in->payload, &findings);
    size_t n = (size_t)(end - out);
    FUZZ_CHECK(n <= room);
    for (size_t i = 0; i < GUARD; i++)
        FUZZ_CHECK(out[room + i] == 0x5a);
    return n;
}

static void check(const struct input *in, struct pfd_step *steps,
                  size_t n_steps, bool cut)
{
    struct pfd_slot slots[SLOTS_MAX];
    size_t room = 0;
    size_t n_slots = make_slots(in, slots);
    size_t n_escaped = pfd_escape_json_length(in->text, in->n_text);
    pfd_program_bind(steps, n_steps, slots, n_slots, cut, &room);
    FUZZ_CHECK(room < (size_t)1 << 30);
    char *out = malloc(room + in->n_text + GUARD);
    char *escaped = calloc(1, n_escaped + SLACK);
    char *twice = malloc(room + n_escaped + GUARD);
    FUZZ_CHECK(out && escaped && twice);
    size_t n = print(in, steps, in->text, PFD_RAW, room + in->n_text, out);
    pfd_escape_json(escaped, in->text, in->n_text);
    /* Literals that end in half a character are escaped by halves. */
    bool whole = pfd_is_utf8(in->text, in->n_text);
    if (whole && !pfd_program_has_char(steps, n_steps)) {
        char *want = malloc(6 * n + 1);
        FUZZ_CHECK(want);
        size_t n_twice =
            print(in, steps, escaped, PFD_ESCAPED, room + n_escaped, twice);
        size_t n_want = (size_t)(pfd_escape_json(want, out, n) - want);
        FUZZ_CHECK(n_twice == n_want && !memcmp(twice, want, n_want));
        free(want);
    }
    free(out);
    free(escaped);
    free(twice);
}

/* The same bytes as a text with {}, whose arguments are of any types. */
static void check_braces(const struct input *in)
{
    struct pfd_brace_type types[SLOTS_MAX];
    struct pfd_program_facts facts;
    size_t n_types = in->n_payload < SLOTS_MAX ? in->n_payload : SLOTS_MAX;
    for (size_t i = 0; i < n_types; i++) {
        uint8_t drawn = in->payload[i];
        types[i] = (struct pfd_brace_type){
            .conv = "dufps?"[drawn % 6],
            .n = drawn < 200 ? 1 : drawn & 31,
            .row = drawn >= 200 ? drawn % 5 : 0,
            .is_braced = drawn % 7 == 0,
        };
    }
    size_t max = pfd_braces_steps_max(in->text, in->n_text, types, n_types);
    struct pfd_step *steps = calloc(max, sizeof *steps);
    FUZZ_CHECK(steps);
    size_t n_steps =
        pfd_braces_compile(in->text, in->n_text, types, n_types, steps, &facts);
    FUZZ_CHECK(n_steps >= 1 && n_steps <= max);
    check(in, steps, n_steps, false);
    check(in, steps, n_steps, true);
    free(steps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct pfd_program_facts facts;
    struct input in = { 0 };
    if (n == 0 || n > 4096)
        return 0;
    in.n_payload = data[0] < n - 1 ? data[0] : n - 1;
    in.n_text = n - 1 - in.n_payload;
    uint8_t *payload = malloc(in.n_payload + 1);
    in.text = calloc(1, in.n_text + SLACK);
    FUZZ_CHECK(payload && in.text);
    memcpy(payload, data + 1, in.n_payload);
    memcpy(in.text, data + 1 + in.n_payload, in.n_text);
    in.payload = payload;
    size_t max = pfd_program_steps_max(in.text, in.n_text);
    struct pfd_step *steps = calloc(max, sizeof *steps);
    FUZZ_CHECK(steps);
    size_t n_steps = pfd_program_compile(in.text, in.n_text, steps, &facts);
    FUZZ_CHECK(n_steps >= 1 && n_steps <= max);
    check(&in, steps, n_steps, false);
    check(&in, steps, n_steps, true);
    check_braces(&in);
    free(steps);
    free(payload);
    free(in.text);
    return 0;
}
