/* SPDX-License-Identifier: MIT */
#include "diagnosis.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/options.h"
#include "show/messages.h"
#include "show/output.h"

void diagnosis_free(struct diagnosis *d)
{
    for (size_t i = 0; i < d->n; i++) {
        free(d->all[i].text);
        free(d->all[i].command);
    }
    free(d->all);
    *d = (struct diagnosis){ 0 };
}

__attribute__((format(printf, 1, 0))) static char *text_of(const char *text,
                                                           va_list ap)
{
    char *ret = NULL;
    if (vasprintf(&ret, text, ap) < 0)
        exit_without_memory();
    return ret;
}

struct fault *diagnosis_add(struct diagnosis *d, const char *subject,
                            const char *id, const char *text, ...)
{
    va_list ap;
    d->all = options_append(d->all, &d->n, sizeof *d->all);
    struct fault *ret = &d->all[d->n - 1];
    va_start(ap, text);
    *ret = (struct fault){ .subject = subject,
                           .id = id,
                           .text = text_of(text, ap) };
    va_end(ap);
    return ret;
}

void fault_command(struct fault *fault, const char *text, ...)
{
    va_list ap;
    va_start(ap, text);
    free(fault->command);
    fault->command = text_of(text, ap);
    va_end(ap);
}

char *command_word(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+,:@";
    static const char quote[] = "'\\''";
    size_t n = 0;
    bool is_plain = *text && strspn(text, plain) == strlen(text);
    char *ret = malloc((sizeof quote - 1) * strlen(text) + 3);
    if (!ret)
        exit_without_memory();
    if (!is_plain)
        ret[n++] = '\'';
    for (; *text; text++) {
        size_t k = *text == '\'' ? sizeof quote - 1 : 1;
        memcpy(ret + n, k > 1 ? quote : text, k);
        n += k;
    }
    if (!is_plain)
        ret[n++] = '\'';
    ret[n] = '\0';
    return ret;
}

bool diagnosis_has_faults(const struct diagnosis *d)
{
    for (size_t i = 0; i < d->n; i++) {
        if (!d->all[i].is_advice)
            return true;
    }
    return false;
}

void diagnosis_message(const struct diagnosis *d)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct fault *f = &d->all[i];
        message_hint("%s%s%s", f->text, f->command ? ": " : "",
                     f->command ? f->command : "");
    }
}

static void print_json(const struct fault *f)
{
    output_printf("{\"type\":\"%s\",\"id\":\"%s\",",
                  f->is_advice ? "advice" : "fault", f->id);
    output_json_text("subject", f->subject, strlen(f->subject));
    output_printf(",");
    output_json_text("text", f->text, strlen(f->text));
    if (f->command) {
        output_printf(",");
        output_json_text("command", f->command, strlen(f->command));
    }
    output_printf("}\n");
}

static void print_text(size_t number, const struct fault *f)
{
    output_printf("%zu. ", number);
    output_escaped(f->text, strlen(f->text));
    output_printf("%s\n", f->command ? ":" : ".");
    if (f->command) {
        output_printf("   ");
        output_escaped(f->command, strlen(f->command));
        output_printf("\n");
    }
}

void diagnosis_print(const struct diagnosis *d, bool is_json)
{
    for (size_t i = 0; i < d->n; i++) {
        if (is_json) {
            print_json(&d->all[i]);
        } else {
            print_text(i + 1, &d->all[i]);
        }
    }
    if (!d->n && !is_json)
        output_printf("Nothing is found that keeps messages from coming.\n");
}
