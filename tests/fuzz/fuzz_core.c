/* SPDX-License-Identifier: MIT */
/*
 * Cores: whatever the file says, what is listed is in it, reading by address
 * ends and agrees with itself, and memory stays in proportion to the file.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "memory/space/core.h"

enum {
    INFLATED_MAX = 1 << 20
};

struct seen {
    const struct pfd_core *core;
    uint64_t n_findings;
    uint64_t at; /* where the last range ended */
};

static void hear(void *user, const struct pfd_finding *finding)
{
    struct seen *seen = user;
    seen->n_findings++;
    FUZZ_CHECK(finding->text[0] && strlen(finding->text) < 2048);
}

static bool see_range(void *user, uint64_t from, uint64_t to)
{
    struct seen *seen = user;
    uint64_t n = 0;
    FUZZ_CHECK(from < to && from >= seen->at);
    FUZZ_CHECK(pfd_core_bytes(seen->core, from, &n) && n >= to - from);
    seen->at = to;
    return true;
}

static void see_memory(struct seen *seen)
{
    struct pfd_core_segment s;
    uint64_t end = 0;
    uint64_t present = 0;
    for (size_t i = 0; pfd_core_segment(seen->core, i, &s) == PFD_OK; i++) {
        uint8_t bytes[64];
        uint64_t n = 0;
        FUZZ_CHECK(s.address >= end && s.n_memory && s.n_file <= s.n_memory);
        end = s.address + s.n_memory;
        present += s.n_file;
        const uint8_t *at = pfd_core_bytes(seen->core, s.address, &n);
        FUZZ_CHECK((at != NULL) == (s.n_file > 0));
        FUZZ_CHECK(!at || n == s.n_file);
        size_t got = pfd_core_read(seen->core, s.address, bytes, sizeof bytes);
        FUZZ_CHECK(!at || !memcmp(at, bytes, got < n ? got : (size_t)n));
        seen->at = 0;
        pfd_core_data(seen->core, s.address, s.n_memory, see_range, seen);
    }
    FUZZ_CHECK(present == pfd_core_info(seen->core)->n_present);
}

static void see_notes(const struct pfd_core *core)
{
    struct pfd_core_file f;
    struct pfd_core_agent a;
    struct pfd_core_queue q;
    uint64_t from = 0;
    for (size_t i = 0; pfd_core_file(core, i, &f) == PFD_OK; i++) {
        FUZZ_CHECK(f.from >= from && f.from < f.to && strlen(f.name) < 1 << 20);
        from = f.from;
    }
    for (size_t i = 0; pfd_core_agent(core, i, &a) == PFD_OK; i++)
        FUZZ_CHECK(strlen(a.target) < sizeof a.target);
    for (size_t i = 0; pfd_core_queue(core, i, &q) == PFD_OK; i++)
        FUZZ_CHECK(q.wave_bytes <= q.save_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static int fd = -1;
    struct seen seen = { 0 };
    struct pfd_core *core = NULL;
    struct pfd_error err = { 0 };
    char path[32];
    if (fd < 0)
        fd = memfd_create("core", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && !ftruncate(fd, 0));
    FUZZ_CHECK(pwrite(fd, data, n, 0) == (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    enum pfd_status status =
        pfd_core_open(path, INFLATED_MAX, hear, &seen, &core, &err);
    FUZZ_CHECK(status == PFD_OK || (err.code == status && err.text[0]));
    if (status != PFD_OK)
        return 0;
    seen.core = core;
    see_memory(&seen);
    see_notes(core);
    pfd_core_close(core);
    return 0;
}
