/* SPDX-License-Identifier: MIT */
/*
 * What an OTLP server answers: of so many records no more are refused; and
 * whatever bytes a note has, what is said of it is JSON.
 */
#include <string.h>

#include <jansson.h>

#include "fuzz.h"
#include "outputs/otlp_answer.h"
#include "outputs/otlp_encoding.h"

static void check_body(const uint8_t *data, size_t n)
{
    struct pfd_text notes = { 0 };
    struct pfdd_otlp body = { { 0 }, NULL };
    struct pfdd_log_record_made log_record_made;
    const struct pfdd_log_record log_record = { .type = "gap",
                                                .severity =
                                                    PFDD_SEVERITY_WARNING,
                                                .sequence = n,
                                                .text = (const char *)data,
                                                .n = n };
    pfdd_log_record_put(&notes, &pfdd_otlp_encoding, &log_record);
    FUZZ_CHECK(!notes.failed);
    pfdd_log_record_at(notes.data, notes.n, &log_record_made);
    pfdd_otlp_add(&body, "a \"service\"", &log_record_made);
    pfdd_otlp_add(&body, "a \"service\"", &log_record_made);
    FUZZ_CHECK(pfdd_otlp_end(&body));
    json_t *root = json_loadb(body.text.data, body.text.n,
                              JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    const json_t *all = json_object_get(root, "resourceLogs");
    FUZZ_CHECK(json_array_size(all) == 1);
    json_decref(root);
    pfdd_otlp_free(&body);
    pfd_text_free(&notes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const types[] = { NULL, "application/x-protobuf" };
    char *exact = malloc(n ? n : 1); /* not a byte behind it */
    if (n)
        memcpy(exact, data, n);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct pfdd_otlp_answer answer;
        pfdd_otlp_answer_parse(types[i], exact, n, 5, &answer);
        FUZZ_CHECK(answer.n_rejected <= 5);
        FUZZ_CHECK(strlen(answer.why) < sizeof answer.why);
        FUZZ_CHECK(answer.is_success || (!answer.n_rejected && !*answer.why));
    }
    check_body(data, n);
    free(exact);
    return 0;
}
