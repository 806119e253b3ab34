/* SPDX-License-Identifier: MIT */
/*
 * The journal of systemd, in its native protocol: one datagram of fields for
 * each item; an item that is larger goes as sealed memory. (The protocol:
 * systemd.io/JOURNAL_NATIVE_PROTOCOL.)
 */
#include <stdlib.h>
#include <string.h>

#include "outputs/log_sender.h"

#define SOCKET "/run/systemd/journal/socket"

struct journald_config {
    struct pfdd_output_config base;
    char *identifier; /* NULL: "printfdecode" */
};

static const char *identifier_of(const struct pfdd_output_config *base)
{
    const struct journald_config *config = (const void *)base;
    return config->identifier ? config->identifier : "printfdecode";
}

/* ---- fields ---- */

/* A value that contains a newline follows its length, little-endian. */
static void put_value(struct pfd_text *out, const char *value, size_t n)
{
    bool is_long = memchr(value, '\n', n);
    char length[8];
    for (unsigned i = 0; i < sizeof length; i++)
        length[i] = (char)((uint64_t)n >> 8 * i);
    pfd_text_puts(out, is_long ? "\n" : "=");
    if (is_long)
        pfd_text_add(out, length, sizeof length);
    pfd_text_add(out, value, n);
    pfd_text_puts(out, "\n");
}

/* Fields of the daemon: their names in capitals. */
static void put_field(void *user, const struct pfdd_field *field)
{
    struct pfd_text *out = user;
    pfd_text_puts(out, "GPU_");
    char *at = pfd_text_reserve(out, field->n_name);
    if (!at)
        return;
    for (size_t i = 0; i < field->n_name; i++) {
        char c = field->name[i];
        at[i] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    }
    out->n += field->n_name;
    put_value(out, field->value, field->n);
}

static void put_code(struct pfd_text *out,
                     const struct pfdd_log_record *log_record)
{
    const struct pfd_origin *file = pfdd_log_record_origin(log_record, "file");
    const struct pfd_origin *line = pfdd_log_record_origin(log_record, "line");
    if (file && file->type == PFD_ORIGIN_TEXT) {
        pfd_text_puts(out, "CODE_FILE");
        put_value(out, file->text, file->n);
    }
    if (line && line->type == PFD_ORIGIN_NUMBER) {
        pfd_text_printf(out, "CODE_LINE=%llu\n",
                        (unsigned long long)line->value[0]);
    }
}

static void put(struct pfd_text *out, const struct pfdd_log_record *log_record)
{
    pfd_text_printf(out, "PRIORITY=%u\nMESSAGE", log_record->severity);
    put_value(out, log_record->text, log_record->n);
    put_code(out, log_record);
    pfdd_log_record_fields(log_record, put_field, out);
}

static const struct pfdd_encoding encoding = { .put = put };

/* ---- the protocol ---- */

static bool is_datagram(const struct pfdd_output_config *config)
{
    return true;
}

static void wrap(const struct pfdd_output_config *config, const char *note,
                 size_t n, struct pfdd_wrap *ret)
{
    ret->n_head =
        (size_t)snprintf(ret->head, sizeof ret->head, "SYSLOG_IDENTIFIER=%s\n",
                         identifier_of(config));
}

static const struct pfdd_protocol protocol = {
    .encoding = &encoding,
    .access = { .address = { .text = "unix:" SOCKET,
                             .is_unix = true,
                             .path = SOCKET } },
    .is_datagram = is_datagram,
    .wrap = wrap,
    .takes_memory = true,
};

static bool open_output(struct pfdd_output *output, char *err, size_t n_err)
{
    return pfdd_log_sender_open((struct pfdd_log_sender *)output, &protocol,
                                err, n_err);
}

/* ---- keys ---- */

static void check(const void *group, const struct pfdd_places *places)
{
    const struct journald_config *config = group;
    const struct pfdd_address *address = &config->base.access.address;
    if (address->text[0] && !address->is_unix)
        pfdd_diagnostics_add(places, "address", "the journal is a unix socket");
    pfdd_check_word(places, "identifier", identifier_of(&config->base));
}

static const struct pfdd_key keys[] = {
    { .name = "address",
      .kind = PFDD_KEY_ADDRESS,
      .at = offsetof(struct journald_config, base.access.address),
      .use = PFDD_USE_CONNECT },
    { .name = "identifier",
      .kind = PFDD_KEY_TEXT,
      .at = offsetof(struct journald_config, identifier) },
    PFDD_BATCH_KEYS(64 * 1024, 0),
    { 0 },
};
static const struct pfdd_group group = { keys, check };
static const struct pfdd_part parts[] = {
    { &group, 0 },
    { &pfdd_render_choice_group, 0 },
    { &pfdd_required_group, 0 },
    { 0 },
};

static void plan(const struct pfdd_block *block, FILE *out)
{
    const struct pfdd_output_config *config =
        (const struct pfdd_output_config *)block;
    const char *address = config->access.address.text;
    fprintf(out, "the journal at %s, as %s",
            *address ? address : protocol.access.address.text,
            identifier_of(config));
    pfdd_output_explain(config, out);
}

const struct pfdd_output_class pfdd_output_journald = {
    .base = { .name = "journald",
              .size = sizeof(struct journald_config),
              .parts = parts,
              .plan = plan },
    .size = sizeof(struct pfdd_log_sender),
    .open = open_output,
    .close = pfdd_log_sender_close,
    .is_drained = pfdd_log_sender_is_drained,
    .memory = pfdd_log_sender_memory,
    .sent = pfdd_log_sender_sent,
    .place = pfdd_log_sender_place,
    .checkpoint_name = pfdd_output_name,
};
