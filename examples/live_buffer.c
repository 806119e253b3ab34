/* SPDX-License-Identifier: MIT */
/*
 * A program whose messages a service shows while it runs: it shares a buffer,
 * hands over the code object with its format strings, and writes entries as
 * the shaders of AMD's Vulkan driver do. Nothing here ever waits for the
 * service.
 *
 *   live_buffer [SOCKET] CODE_OBJECT
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <printfdecode/client.h>

/* "workgroup size:%f,%f\n" in data/app.elf; a payload of two doubles. */
#define ID UINT64_C(0xa1af6b83f3e4)

/* One message: reserve its 6 dwords, fill them, the header last. */
static void print(uint64_t *buffer, double x, double y)
{
    uint64_t at = atomic_fetch_add((_Atomic uint64_t *)buffer, 6);
    double payload[] = { x, y };
    uint64_t *entry = buffer + 2 + at / 2;
    memcpy(entry + 1, payload, sizeof payload);
    atomic_store((_Atomic uint64_t *)entry, ID << 16 | 6);
}

int main(int argc, char **argv)
{
    static char elf[1 << 20];
    struct pfd_client *client = NULL;
    struct pfd_client_buffer *buffer = NULL;
    struct pfd_error err = { .text =
                                 "usage: live_buffer [SOCKET] CODE_OBJECT" };
    const char *path = argc > 1 ? argv[argc - 1] : NULL;
    const char *where = argc > 2 ? argv[1] : NULL; /* NULL: printfdecoded's */
    struct pfd_wire_frame origin = { .size = 65536,
                                     .name = pfd_wire_text("live"),
                                     .format = pfd_wire_text("llpc") };
    FILE *f = path && argc < 4 ? fopen(path, "rb") : NULL;
    size_t n = f ? fread(elf, 1, sizeof elf, f) : 0;
    if (!n || pfd_client_new(where, NULL, 0, &client, &err) < 0 ||
        pfd_client_code_object(client, path, elf, n, NULL, &err) < 0 ||
        pfd_client_buffer_new(client, &origin, true, &buffer, &err) < 0) {
        fprintf(stderr, "live_buffer: %s\n", err.text);
        return 1;
    }
    fclose(f);
    for (uint32_t i = 0; i < 10; i++) {
        print(pfd_client_buffer_memory(buffer, NULL), i, 0.5 * i);
        pfd_client_buffer_ring(buffer);
        pfd_client_poll(client); /* connects as soon as a service is there */
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    }
    pfd_client_buffer_free(buffer);
    pfd_client_free(client);
    return 0;
}
