/* SPDX-License-Identifier: MIT */
#include "messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/job_log.h"

static bool in_color;
static bool progress_shown;

void message_color(bool color)
{
    in_color = color;
}

void message_progress_done(void)
{
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}

/* A log of a build server gets our lines: no text in them is a command for
 * it. */
static bool in_job_log;

void message_guard_commands(void)
{
    struct stat st;
    in_job_log = !fstat(STDERR_FILENO, &st) && !S_ISREG(st.st_mode);
}

static size_t guard(char **text, size_t n)
{
    struct pfd_job_log log = { .is_inside = true };
    char *guarded = in_job_log ? malloc(PFD_JOB_LOG_GROWTH * n + 1) : NULL;
    if (!guarded)
        return in_job_log ? 0 : n;
    char *end = pfd_job_log_guard(&log, guarded, *text, n);
    free(*text);
    *text = guarded;
    return (size_t)(end - guarded);
}

/* File names are foreign text as well; a newline in one begins no line. */
static void put_untrusted(const char *text)
{
    size_t n = strlen(text);
    char *shown = malloc(4 * n + 1);
    size_t n_shown = shown ? pfd_escape_for_terminal(shown, text, n) : 0;
    n_shown = shown ? guard(&shown, n_shown) : 0;
    if (!n_shown && n)
        fputs("out of memory", stderr);
    for (size_t i = 0; i < n_shown; i++) {
        if (shown[i] == '\n') {
            fputs("\\x0a", stderr);
        } else {
            fputc(shown[i], stderr);
        }
    }
    free(shown);
}

__attribute__((format(printf, 2, 0))) static void message(const char *style,
                                                          const char *text,
                                                          va_list ap)
{
    char *line = NULL;
    message_progress_done();
    fprintf(stderr, "%sprintfdecode:%s ", in_color ? style : "",
            in_color ? "\033[0m" : "");
    if (vasprintf(&line, text, ap) < 0)
        line = NULL;
    put_untrusted(line ? line : "out of memory");
    free(line);
    fputc('\n', stderr);
}

void message_error(const char *text, ...)
{
    va_list ap;
    va_start(ap, text);
    message("\033[1;31m", text, ap);
    va_end(ap);
}

void message_lines(const char *lines, size_t n)
{
    struct pfd_job_log log = { 0 };
    char guarded[PFD_JOB_LOG_GROWTH];
    for (size_t i = 0; i < n && in_job_log; i++) {
        char *end = pfd_job_log_guard(&log, guarded, &lines[i], 1);
        fwrite(guarded, 1, (size_t)(end - guarded), stderr);
    }
    if (!in_job_log)
        fwrite(lines, 1, n, stderr);
}

void message_hint(const char *text, ...)
{
    va_list ap;
    va_start(ap, text);
    message("\033[1m", text, ap);
    va_end(ap);
}

void message_finding(void *user, const struct pfd_finding *finding)
{
    unsigned long long at = finding->offset;
    (void)user;
    message_progress_done();
    fputs("printfdecode: ", stderr);
    put_untrusted(finding->source);
    if (finding->offset != PFD_NO_OFFSET && finding->in_buffer) {
        fprintf(stderr, ": dword %llu", at / 4);
    } else if (finding->offset != PFD_NO_OFFSET) {
        fprintf(stderr, ": byte %llu", at);
    }
    fprintf(stderr, ": %s%s%s: ", in_color ? "\033[33m" : "",
            pfd_finding_name(finding->kind), in_color ? "\033[0m" : "");
    put_untrusted(finding->text);
    fputc('\n', stderr);
}

void message_summary(const struct pfd_summary *s)
{
    message_progress_done();
    fprintf(stderr,
            "printfdecode: %llu %s (%llu bytes), %llu unknown; %llu bytes "
            "lost, %llu skipped; %llu %s\n",
            (unsigned long long)s->entries,
            s->entries == 1 ? "entry" : "entries", (unsigned long long)s->bytes,
            (unsigned long long)s->unknown, (unsigned long long)s->lost_bytes,
            (unsigned long long)s->skipped_bytes,
            (unsigned long long)s->findings,
            s->findings == 1 ? "finding" : "findings");
}

void message_progress_search(uint64_t n_done, uint64_t n_all)
{
    progress_shown = true;
    fprintf(stderr, "\r\033[K%3.0f %% of %.0f MiB searched",
            100.0 * (double)n_done / (double)(n_all ? n_all : 1),
            (double)n_all / 1048576.0);
    fflush(stderr);
}

void message_progress_files(size_t n_looked_at, size_t n_found)
{
    progress_shown = true;
    fprintf(stderr, "\r\033[K%zu files, %zu with code objects", n_looked_at,
            n_found);
    fflush(stderr);
}

void message_progress(const struct pfd_summary *so_far, uint64_t n_buffer)
{
    double done = (double)(so_far->bytes + so_far->skipped_bytes);
    progress_shown = true;
    if (n_buffer) {
        fprintf(stderr, "\r\033[K%3.0f %%, %llu entries",
                100.0 * done / (double)n_buffer,
                (unsigned long long)so_far->entries);
    } else {
        fprintf(stderr, "\r\033[K%.0f MiB, %llu entries", done / 1048576.0,
                (unsigned long long)so_far->entries);
    }
    fflush(stderr);
}
