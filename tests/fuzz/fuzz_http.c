/* SPDX-License-Identifier: MIT */
/*
 * The head of a request of HTTP: what is taken says one thing only, and what is
 * not has a status and a reason. The head is as long as it is said to be, cut or
 * not.
 */
#include <string.h>

#include "base/http_head.h"
#include "fuzz.h"

static void check_taken(const struct pfdd_http_request *q)
{
    FUZZ_CHECK(q->path[0] == '/' && !strpbrk(q->path, "?# \r\n"));
    FUZZ_CHECK(q->n_args <= PFDD_HTTP_ARGS);
    for (size_t i = 0; i < q->n_args; i++) {
        size_t n = strlen(q->args[i].name) + strlen(q->args[i].value);
        FUZZ_CHECK(n < PFDD_HTTP_HEAD);
    }
    for (int i = 0; i < PFDD_HTTP_N_FIELDS; i++)
        FUZZ_CHECK(!q->fields[i] || !strpbrk(q->fields[i], "\r\n"));
    FUZZ_CHECK(!q->fields[PFDD_HTTP_TRANSFER_ENCODING]);
    pfdd_http_is_same_origin(q);
    pfdd_http_is_local(q);
}

/* The head of an answer, in so much room: all of it, or none. */
static void check_answer(size_t room)
{
    char *ret = malloc(room + 1);
    ret[room] = 'x';
    size_t n = pfdd_http_put_head(ret, room, 405, "text/plain", "default-src",
                                  9, true);
    FUZZ_CHECK(ret[room] == 'x');
    FUZZ_CHECK(n == 0 || (n < room && !memcmp(ret + n - 4, "\r\n\r\n", 4)));
    FUZZ_CHECK(n > 0 || room < 400);
    free(ret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct pfdd_http_request q;
    const char *why = NULL;
    check_answer(n);
    size_t n_head = pfdd_http_head((const char *)data, n);
    FUZZ_CHECK(n_head <= n);
    if (n_head == 0 || n_head > PFDD_HTTP_HEAD)
        return 0;
    char *head = malloc(n_head); /* not a byte behind it */
    memcpy(head, data, n_head);
    unsigned status = pfdd_http_read(&q, head, n_head, &why);
    if (status == 0) {
        check_taken(&q);
    } else {
        FUZZ_CHECK(why && strlen(why) > 0);
        FUZZ_CHECK(strcmp(pfdd_http_phrase(status), "Internal Server Error"));
    }
    free(head);
    return 0;
}
