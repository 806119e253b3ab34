/* SPDX-License-Identifier: MIT */
/*
 * Syslog, RFC 5424: to a unix socket, by datagrams or as a stream, or over TCP
 * and TLS, with the framing of RFC 6587. Timestamps have microseconds, since
 * some receivers corrupt longer ones; the structured data contains nanoseconds
 * and all other fields.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/name.h"
#include "base/timestamp.h"
#include "outputs/log_sender.h"

enum framing {
    OCTET_COUNTING,
    NEWLINE,
};

enum {
    HOST_MAX = 255, /* bytes of names in the header, by the RFC */
    PROCESS_MAX = 128,
    AROUND = 64,      /* bytes of the rest of a header, more than there are */
    EXAMPLES = 32473, /* the enterprise number for examples */
};

struct syslog_config {
    struct pfdd_output_config base;
    char *identifier; /* NULL: "printfdecode" */
    unsigned facility;
    unsigned framing; /* enum framing */
    bool is_stream;   /* also on a unix socket */
    uint64_t enterprise;
};

static const struct syslog_config *config_of(
    const struct pfdd_output_config *base)
{
    return (const struct syslog_config *)(const void *)base;
}

static const char *identifier_of(const struct syslog_config *config)
{
    return config->identifier ? config->identifier : "printfdecode";
}

/* ---- records ---- */

/*
 * A log record without the parts that depend on the configuration: the
 * severity's digit, "TIME HOST", NUL, "PROCID MSGID", NUL, then the text after
 * the name of the structured data.
 */

/* True: no control character, and none that must be escaped with '\\'. */
static bool is_plain(const char *text, size_t n)
{
    unsigned n_odd = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        n_odd += c < ' ' || c == 0x7f || c == '"' || c == '\\' || c == ']';
    }
    return !n_odd;
}

/* Writes control characters as "#012", as syslog servers do. is_value: of
 * structured data, where '"', '\\' and ']' are escaped with '\'. */
static void put_safe(struct pfd_text *out, const char *text, size_t n,
                     bool is_value)
{
    char *at = pfd_text_reserve(out, 4 * n);
    if (!at)
        return;
    if (is_plain(text, n)) {
        memcpy(at, text, n);
        out->n += n;
        return;
    }
    char *end = at;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c == 0x7f) {
            *end++ = '#';
            *end++ = (char)('0' + (c >> 6));
            *end++ = (char)('0' + (c >> 3 & 7));
            *end++ = (char)('0' + (c & 7));
            continue;
        }
        if (is_value && (c == '"' || c == '\\' || c == ']'))
            *end++ = '\\';
        *end++ = (char)c;
    }
    out->n += (size_t)(end - at);
}

/* A word of the header; characters that are not allowed become '?'. */
static void put_word(struct pfd_text *out, const char *text, size_t n,
                     size_t max)
{
    char *at = pfd_text_reserve(out, max + 1);
    if (!at)
        return;
    n = n < max ? n : max;
    for (size_t i = 0; i < n; i++)
        at[i] = text[i] > ' ' && text[i] <= '~' ? text[i] : '?';
    if (!n)
        at[n++] = '-';
    out->n += n;
}

static void put_time(struct pfd_text *out, uint64_t ns)
{
    char *at = pfd_text_reserve(out, PFDD_TIMESTAMP);
    if (at)
        out->n += pfdd_timestamp(at, ns, 6);
    pfd_text_puts(out, " ");
}

static void put_host(struct pfd_text *out,
                     const struct pfdd_log_record *log_record)
{
    if (log_record->buffer && log_record->buffer->frame->host.n) {
        put_word(out, log_record->buffer->frame->host.at,
                 log_record->buffer->frame->host.n, HOST_MAX);
        return;
    }
    put_word(out, pfdd_host_name(), strlen(pfdd_host_name()), HOST_MAX);
}

static void put_process(struct pfd_text *out,
                        const struct pfdd_log_record *log_record)
{
    uint64_t pid = log_record->buffer ? log_record->buffer->frame->pid : 0;
    if (pid) {
        pfdd_text_number(out, pid);
        pfd_text_puts(out, " ");
    } else {
        pfd_text_puts(out, "- ");
    }
}

static void put_field(void *user, const struct pfdd_field *field)
{
    struct pfd_text *out = user;
    pfd_text_puts(out, " ");
    pfd_text_add(out, field->name, field->n_name);
    pfd_text_puts(out, "=\"");
    put_safe(out, field->value, field->n, true);
    pfd_text_puts(out, "\"");
}

static void put(struct pfd_text *out, const struct pfdd_log_record *log_record)
{
    pfdd_text_number(out, log_record->severity);
    put_time(out, log_record->time);
    put_host(out, log_record);
    pfd_text_add(out, "", 1);
    put_process(out, log_record);
    pfd_text_puts(out, log_record->type);
    pfd_text_add(out, "", 1);
    pfdd_log_record_fields(log_record, put_field, out);
    pfd_text_puts(out, "] ");
    put_safe(out, log_record->text, log_record->n, false);
}

static const struct pfdd_encoding encoding = { .put = put };

/* ---- the protocol ---- */

static bool is_datagram(const struct pfdd_output_config *base)
{
    return base->access.address.is_unix && !config_of(base)->is_stream;
}

/* The pieces' sizes are bounded: by put(), and by check(). */
static void wrap(const struct pfdd_output_config *base, const char *note,
                 size_t n, struct pfdd_wrap *ret)
{
    const struct syslog_config *config = config_of(base);
    const char *place = note + 1;
    const char *process = place + strlen(place) + 1;
    const char *rest = process + strlen(process) + 1;
    char head[PFDD_WRAP - PFDD_DIGITS];
    if ((size_t)(rest - place) + strlen(identifier_of(config)) + AROUND >
        sizeof head)
        place = process = "-"; /* which cannot be: put() bounds both */
    char *at = stpcpy(head, "<");
    at += pfdd_decimal(at, config->facility * 8 + (unsigned)(*note - '0'));
    at = stpcpy(stpcpy(stpcpy(at, ">1 "), place), " ");
    at = stpcpy(stpcpy(stpcpy(at, identifier_of(config)), " "), process);
    at = stpcpy(at, " [gpu@");
    at += pfdd_decimal(at, config->enterprise);
    size_t n_head = (size_t)(at - head);
    size_t n_count = 0;
    if (!is_datagram(base) && config->framing == OCTET_COUNTING) {
        n_count = pfdd_decimal(ret->head, n_head + n - (size_t)(rest - note));
        ret->head[n_count++] = ' ';
    }
    memcpy(ret->head + n_count, head, n_head);
    ret->n_head = n_count + n_head;
    ret->n_skip = (size_t)(rest - note);
    if (!is_datagram(base) && config->framing == NEWLINE) {
        ret->tail = "\n";
        ret->n_tail = 1;
    }
}

static const struct pfdd_protocol protocol = {
    .encoding = &encoding,
    .is_datagram = is_datagram,
    .wrap = wrap,
};

static bool open_output(struct pfdd_output *output, char *err, size_t n_err)
{
    return pfdd_log_sender_open((struct pfdd_log_sender *)output, &protocol,
                                err, n_err);
}

/* ---- keys ---- */

static const char *const facilities[] = {
    "kern",   "user",   "mail",   "daemon",   "auth",   "syslog", "lpr",
    "news",   "uucp",   "cron",   "authpriv", "ftp",    "ntp",    "audit",
    "alert",  "clock",  "local0", "local1",   "local2", "local3", "local4",
    "local5", "local6", "local7", NULL,
};
static const char *const framings[] = { "octet_counting", "newline", NULL };

static void check(const void *group, const struct pfdd_places *places)
{
    const struct syslog_config *config = group;
    const struct pfdd_address *address = &config->base.access.address;
    pfdd_check_word(places, "identifier", identifier_of(config));
    if (!address->text[0])
        return;
    if (!address->is_unix && pfdd_is_given(places, "stream"))
        pfdd_diagnostics_add(places, "stream", "'stream' is for unix sockets");
    if (is_datagram(&config->base) && pfdd_is_given(places, "framing")) {
        pfdd_diagnostics_add(
            places, "framing",
            "'framing' is for TCP, or with 'stream: yes': each "
            "datagram is one message");
    }
}

#define AT(member) offsetof(struct syslog_config, member)

static const struct pfdd_key keys[] = {
    { .name = "identifier", .kind = PFDD_KEY_TEXT, .at = AT(identifier) },
    { .name = "facility",
      .kind = PFDD_KEY_WORD,
      .at = AT(facility),
      .initial = 1,
      .words = facilities },
    { .name = "framing",
      .kind = PFDD_KEY_WORD,
      .at = AT(framing),
      .words = framings },
    { .name = "stream", .kind = PFDD_KEY_BOOL, .at = AT(is_stream) },
    { .name = "enterprise",
      .kind = PFDD_KEY_NUMBER,
      .at = AT(enterprise),
      .min = 1,
      .max = UINT32_MAX,
      .initial = EXAMPLES },
    PFDD_BATCH_KEYS(64 * 1024, 0),
    { 0 },
};
static const struct pfdd_group group = { keys, check };
static const struct pfdd_part parts[] = {
    { &pfdd_connect_group, offsetof(struct pfdd_output_config, access) },
    { &pfdd_tls_group, offsetof(struct pfdd_output_config, access) },
    { &group, 0 },
    { &pfdd_render_choice_group, 0 },
    { &pfdd_required_group, 0 },
    { 0 },
};

static void plan(const struct pfdd_block *block, FILE *out)
{
    const struct pfdd_output_config *base =
        (const struct pfdd_output_config *)block;
    const struct syslog_config *config = config_of(base);
    fprintf(out, "syslog to %s, as %s.%s, %s", base->access.address.text,
            facilities[config->facility], identifier_of(config),
            is_datagram(base)            ? "datagrams"
            : config->framing == NEWLINE ? "a line each"
                                         : "each with its length");
    if (base->access.tls.certificate)
        fputs(", with TLS", out);
    pfdd_output_explain(base, out);
}

const struct pfdd_output_class pfdd_output_syslog = {
    .base = { .name = "syslog",
              .size = sizeof(struct syslog_config),
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
