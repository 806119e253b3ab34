/* SPDX-License-Identifier: MIT */
/*
 * What a driver does with the library, built against installed files only:
 *
 *   driver            its own format strings, a whole buffer, a live buffer
 *   driver SOCKET     and shares a buffer with the service that listens there
 *
 * The "device" is a function here that writes entries as LLPC's shaders do.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <printfdecode/client.h>
#include <printfdecode/printfdecode.h>
#include <printfdecode/tail.h>

enum {
    BUFFER = 4096, /* bytes */
    ID = 0x1234,
};

/* ---- the device ---- */

/* One entry: "lane %u of %u\n". The first dword counts the dwords behind the
 * header of 16 bytes. */
static void device_print(uint32_t *buffer, uint32_t lane, uint32_t of)
{
    uint64_t header = (uint64_t)ID << 16 | 4; /* its id, and its dwords */
    uint32_t *entry = buffer + 4 + buffer[0];
    memcpy(entry, &header, sizeof header);
    entry[2] = lane;
    entry[3] = of;
    buffer[0] += 4;
}

/* ---- strings without an ELF ---- */

static struct pfd_strings *make_strings(struct pfd_error *err)
{
    static const char text[] = "lane %u of %u\n";
    const struct pfd_string_info info = {
        .struct_size = sizeof info,
        .id = ID,
        .text = text,
        .n_text = sizeof text - 1,
        .argument_count = 2,
        .source = "driver",
    };
    const uint64_t mask = 0; /* each argument takes one dword */
    struct pfd_strings *ret = pfd_strings_new();
    if (ret &&
        pfd_strings_add(ret, &info, &mask, 1, NULL, NULL, err) != PFD_OK) {
        pfd_strings_free(ret);
        ret = NULL;
    }
    return ret;
}

/* ---- a whole buffer, on this thread ---- */

static void print_entry(const char *how, struct pfd_entry *entry)
{
    size_t n = 0;
    const char *message = pfd_entry_message(entry, &n);
    printf("%s %" PRIu64 ": %.*s", how, entry->index, (int)n,
           message ? message : "");
}

static void print_finding(const struct pfd_finding *finding)
{
    printf("%s: %s\n", pfd_finding_name(finding->kind), finding->text);
}

static enum pfd_status decode(const struct pfd_strings *strings,
                              const uint32_t *buffer, struct pfd_error *err)
{
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    enum pfd_status status =
        pfd_decoder_new(strings, "llpc", "whole", &decoder, err);
    if (status == PFD_OK)
        status = pfd_decoder_view(decoder, buffer, BUFFER, 0, true, err);
    while (status == PFD_OK) {
        status = pfd_decoder_next(decoder, &item, err);
        if (status == PFD_OK && item->is_entry)
            print_entry("whole", item->entry);
        else if (status == PFD_OK)
            print_finding(item->finding);
    }
    pfd_decoder_free(decoder);
    return status == PFD_END ? PFD_OK : status;
}

/* ---- a buffer that the device writes meanwhile ---- */

static long read_buffer(void *user, uint64_t offset, void *bytes, size_t n)
{
    if (offset >= BUFFER)
        return 0;
    n = n < BUFFER - offset ? n : (size_t)(BUFFER - offset);
    memcpy(bytes, (const char *)user + offset, n);
    return (long)n;
}

static void take(void *user, const struct pfd_tail_item *item)
{
    unsigned *n_taken = user;
    if (item->is_entry)
        print_entry("live", item->entry);
    else
        print_finding(item->finding);
    *n_taken += item->is_entry;
}

static enum pfd_status follow(const struct pfd_strings *strings,
                              uint32_t *buffer, struct pfd_error *err)
{
    unsigned n_taken = 0;
    const struct pfd_tail_options options = {
        .struct_size = sizeof options,
        .strings = strings,
        .format = "llpc",
        .source = "live",
        .read = read_buffer,
        .read_user = buffer,
        .item = take,
        .item_user = &n_taken,
    };
    struct pfd_tail *tail = NULL;
    enum pfd_status status = pfd_tail_new(&options, &tail, err);
    /* The clock is the caller's: here a poll each 2 ms. */
    for (uint64_t now = 0; status >= 0 && n_taken < 3; now += 2000000) {
        if (now < 6000000)
            device_print(buffer, (uint32_t)(now / 2000000), 3);
        status = pfd_tail_poll(tail, BUFFER, now, err);
    }
    if (status >= 0)
        status = pfd_tail_finish(tail, BUFFER, err);
    pfd_tail_free(tail);
    return status < 0 ? status : PFD_OK;
}

/* ---- a buffer that a service reads ---- */

static enum pfd_status share(const char *socket, struct pfd_error *err)
{
    const struct pfd_wire_frame origin = {
        .struct_size = sizeof origin,
        .size = BUFFER,
        .name = pfd_wire_text("shared"),
        .format = pfd_wire_text("llpc"),
    };
    struct pfd_client *client = NULL;
    struct pfd_client_buffer *buffer = NULL;
    enum pfd_status status = pfd_client_new(socket, "driver", 0, &client, err);
    if (status == PFD_OK)
        status = pfd_client_buffer_new(client, &origin, true, &buffer, err);
    if (status == PFD_OK) {
        device_print(pfd_client_buffer_memory(buffer, NULL), 0, 1);
        pfd_client_buffer_ring(buffer);
        printf("shared: %s\n", pfd_client_poll(client) == PFD_OK
                                   ? "the service has it"
                                   : "nobody listens yet");
    }
    pfd_client_buffer_free(buffer);
    pfd_client_free(client);
    return status;
}

int main(int argc, char **argv)
{
    static uint32_t whole[BUFFER / 4], live[BUFFER / 4];
    struct pfd_error err = { .text = "out of memory" };
    struct pfd_strings *strings = make_strings(&err);
    bool ok = strings;
    device_print(whole, 0, 2);
    device_print(whole, 1, 2);
    ok = ok && decode(strings, whole, &err) == PFD_OK;
    ok = ok && follow(strings, live, &err) == PFD_OK;
    ok = ok && (argc < 2 || share(argv[1], &err) == PFD_OK);
    if (!ok)
        fprintf(stderr, "driver: %s\n", err.text);
    pfd_strings_free(strings);
    return !ok;
}
