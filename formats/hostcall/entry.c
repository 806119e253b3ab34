/* SPDX-License-Identifier: MIT */
/* Decodes a message that was put together. */
#include "core/decode/rocm_layout.h"
#include "layout.h"

/* A message has a control word and a format string; other records are mere
 * bytes. */
bool hostcall_is_record(const struct pfd_record_view *record_view)
{
    const struct pfd_record *r = record_view->record;
    unsigned stream = r->flags & (PFD_RECORD_STDOUT | PFD_RECORD_STDERR);
    bool is_made = r->flags & PFD_RECORD_SYNTHESIZED;
    return !r->string && !r->layout && r->n_header == HOSTCALL_RECORD_HEADER &&
           !(r->flags & (PFD_RECORD_OWN | PFD_RECORD_OWN2)) &&
           is_made == (stream != 0) &&
           (!is_made ||
            pfd_byte_reader_left(&record_view->bytes) > HOSTCALL_QWORD);
}

/* A null string is sent as an empty one. */
size_t hostcall_slots(const struct pfd_record_view *record_view,
                      struct pfd_slot *ret, uint64_t *findings)
{
    struct pfd_rocm_arguments arguments;
    uint32_t n_text;
    uint32_t n_used;
    pfd_rocm_text(&record_view->bytes, HOSTCALL_QWORD, &n_text, &n_used);
    pfd_rocm_lay_out(record_view->string->steps, &record_view->bytes,
                     HOSTCALL_QWORD + n_used, false, ret, &arguments);
    *findings |= arguments.findings;
    return arguments.n_slots;
}

void hostcall_make(const struct pfd_record_view *record_view,
                   struct pfd_synthesized *ret)
{
    uint32_t n_text;
    uint32_t n_used;
    const char *text =
        pfd_rocm_text(&record_view->bytes, HOSTCALL_QWORD, &n_text, &n_used);
    bool is_long = n_text > PFD_ROCM_FORMAT_MAX;
    pfd_text_add(ret->text, text, is_long ? PFD_ROCM_FORMAT_MAX : n_text);
    if (n_text == n_used || is_long)
        ret->findings |= PFD_FINDING_BIT(clipped_string);
    ret->lay_out = true;
}

size_t hostcall_origin(const struct pfd_record_view *record_view,
                       struct pfd_origin *ret)
{
    struct pfd_byte_reader header = record_view->bytes;
    header.at = 0;
    uint64_t id = pfd_byte_reader_u64(&header);
    uint32_t packet = pfd_byte_reader_u32(&header);
    uint32_t lane = pfd_byte_reader_u32(&header);
    ret[0] = (struct pfd_origin){ .name = "lane", .value = { lane } };
    ret[1] = (struct pfd_origin){ .name = "packet", .value = { packet } };
    ret[2] = (struct pfd_origin){ .name = "message", .value = { id } };
    return id ? 3 : 2;
}
