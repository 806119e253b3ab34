/* SPDX-License-Identifier: MIT */
/* decode_file BUFFER ELF...: prints what a printf buffer says. */
#include <stdio.h>
#include <stdlib.h>

#include <printfdecode/printfdecode.h>

static void on_finding(void *user, const struct pfd_finding *finding)
{
    fprintf(stderr, "%s: %s: %s\n", finding->source,
            pfd_finding_name(finding->kind), finding->text);
}

static void print_entry(struct pfd_entry *entry)
{
    size_t n;
    const char *message = pfd_entry_message(entry, &n);
    if (message)
        fwrite(message, 1, n, stdout);
    else
        printf("<unknown id 0x%012llx>\n", (unsigned long long)entry->id);
}

int main(int argc, char **argv)
{
    static unsigned char bytes[1 << 20]; /* as much as this example reads */
    struct pfd_error err = { .text = "out of memory" };
    struct pfd_strings *strings = pfd_strings_new();
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    enum pfd_status status = strings ? PFD_OK : PFD_ERR_NOMEM;
    FILE *file = argc > 2 ? fopen(argv[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: decode_file BUFFER ELF...\n");
        return EXIT_FAILURE;
    }
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);

    for (int i = 2; i < argc && status == PFD_OK; i++)
        status =
            pfd_strings_load_file(strings, argv[i], on_finding, NULL, &err);
    if (status == PFD_OK)
        status = pfd_decoder_new(strings, NULL, argv[1], &decoder, &err);
    if (status == PFD_OK)
        status = pfd_decoder_view(decoder, bytes, n, 0, true, &err);
    while (status == PFD_OK) {
        status = pfd_decoder_next(decoder, &item, &err);
        if (status == PFD_OK && item->is_entry)
            print_entry(item->entry);
        else if (status == PFD_OK)
            on_finding(NULL, item->finding);
    }
    if (status < 0)
        fprintf(stderr, "decode_file: %s\n", err.text);
    pfd_decoder_free(decoder);
    pfd_strings_free(strings);
    return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
