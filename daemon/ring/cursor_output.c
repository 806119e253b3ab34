/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "ring/cursor.h"
#include "ring/json_fields.h"
#include "stream/capture/wire.h"

bool pfdd_cursor_add_out(struct pfdd_cursor *r, const char *bytes, size_t n)
{
    size_t left = r->out.n - r->out.at;
    char *out = malloc(left + n);
    if (!out)
        return false;
    if (left)
        memcpy(out, r->out.bytes + r->out.at, left);
    memcpy(out + left, bytes, n);
    free(r->out.bytes);
    r->out.bytes = out;
    r->out.at = 0;
    r->out.n = left + n;
    return true;
}

bool pfdd_cursor_add_bytes(void *user, const void *bytes, size_t n)
{
    return pfdd_cursor_add_out(user, bytes, n);
}

/* A stream that lacks a frame is invalid: it ends. */
static void add_frame(struct pfdd_cursor *r, const struct pfd_wire_frame *frame)
{
    if (!pfdd_preamble_begin(&r->preamble, pfdd_cursor_add_bytes, r) ||
        pfd_wire_write(frame, pfdd_cursor_add_bytes, r, NULL) != PFD_OK)
        r->is_over = true;
}

/* text: "! ..." */
static void put_log_record(struct pfdd_cursor *r, const char *type,
                           const char *text)
{
    struct pfd_text out = { 0 };
    const struct pfdd_log_record log_record = {
        .type = type,
        .severity = PFDD_SEVERITY_WARNING,
        .sequence = r->seq,
        .time = pfdd_time_now(),
        .text = text + 2,
        .n = strlen(text) - 2,
        .map = r->render_choice->wants.map,
    };
    pfdd_log_record_put(&out, r->render_choice->wants.encoding, &log_record);
    if (!out.failed)
        pfdd_cursor_add_out(r, out.data, out.n);
    pfd_text_free(&out);
}

/* Writes a record in the cursor's form. json and text have the same content. */
static void put_record(struct pfdd_cursor *r, const char *event,
                       const char *json, const char *text)
{
    char line[512];
    int n = 0;
    if (r->render_choice && r->render_choice->wants.encoding) {
        put_log_record(r, event, text);
        return;
    }
    if (r->form == PFDD_RAW) /* Raw bytes have no place for records. */
        return;
    if (r->form == PFDD_SSE) {
        n = snprintf(line, sizeof line, "event: %s\ndata: %s\n\n", event, json);
    } else {
        n = snprintf(line, sizeof line, "%s\n",
                     r->form == PFDD_TEXT ? text : json);
    }
    pfdd_cursor_add_out(r, line, (size_t)n);
}

void pfdd_cursor_miss(struct pfdd_cursor *r, uint64_t missed,
                      const char *reason)
{
    char json[200];
    char text[120];
    r->missed += missed;
    r->gaps++;
    r->seq += missed;
    if (r->render_choice && r->render_choice->wants.no_findings)
        return;
    if (r->form == PFDD_ENTRIES) {
        struct pfd_wire_frame gap = { .type = PFD_WIRE_GAP,
                                      .lost_entries = missed,
                                      .sequence = r->seq,
                                      .time = pfdd_time_now(),
                                      .reason = pfd_wire_text(reason) };
        add_frame(r, &gap);
        return;
    }
    snprintf(json, sizeof json,
             "{\"type\":\"gap\",\"missed\":%" PRIu64
             ",\"next_sequence\":%" PRIu64 ",\"reason\":\"%s\"}",
             missed, r->seq, reason);
    snprintf(text, sizeof text,
             "! gap: %" PRIu64 " records missed, next is %" PRIu64, missed,
             r->seq);
    put_record(r, "gap", json, text);
}

void pfdd_cursor_cut_off(struct pfdd_cursor *r, const char *why)
{
    char json[160];
    char text[120];
    struct pfd_wire_frame error = { .type = PFD_WIRE_ERROR,
                                    .reason = pfd_wire_text(why) };
    r->is_over = true;
    if (r->form == PFDD_ENTRIES) {
        add_frame(r, &error);
        return;
    }
    snprintf(json, sizeof json, "{\"type\":\"error\",\"text\":\"%s\"}", why);
    snprintf(text, sizeof text, "! error: %s", why);
    put_record(r, "error", json, text);
}

void pfdd_cursor_charge(struct pfdd_cursor *r)
{
    if (!pfdd_cursor_hold(r, pfdd_cursor_bytes(r)) && !r->is_over)
        pfdd_cursor_cut_off(r, "this subscriber takes more memory than it may");
}

void pfdd_cursor_charge_all(struct pfdd_cursor *r)
{
    if (r->rendered_block) {
        pfdd_cursor_hold(r, pfdd_cursor_bytes(r));
    } else {
        pfdd_cursor_charge(r);
    }
}

void pfdd_cursor_flush_collapser(struct pfdd_cursor *r)
{
    struct pfdd_collapser *collapser = pfdd_cursor_collapser(r);
    size_t n = 0;
    if (!collapser)
        return;
    pfdd_collapser_end(collapser, r->seq - 1, uv_hrtime());
    char *text = pfdd_collapser_take(collapser, &n);
    bool ok = !collapser->failed && (!n || pfdd_cursor_add_out(r, text, n));
    free(text);
    if (!ok)
        pfdd_cursor_cut_off(r, "out of memory for what is collapsed");
    pfdd_cursor_charge_all(r);
}
