/* SPDX-License-Identifier: MIT */
#include "base/change_probe.h"

#include <linux/magic.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    XFS_MAGIC = 0x58465342, /* linux/fs/xfs/libxfs/xfs_format.h */
};

/* True: a mapping shows the same bytes as a read. A network file system may
 * fetch new bytes for a read only. */
static bool is_coherent(int fd)
{
    static const unsigned long magics[] = { TMPFS_MAGIC, RAMFS_MAGIC,
                                            EXT4_SUPER_MAGIC, XFS_MAGIC,
                                            BTRFS_SUPER_MAGIC };
    struct statfs st;
    if (fstatfs(fd, &st) != 0)
        return false;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        if ((unsigned long)st.f_type == magics[i])
            return true;
    }
    return false;
}

/* ---- loads from pages that others may truncate ---- */

static sigjmp_buf back;
/* Thread-local: another thread that gets the signal has a fault of its own. */
static _Thread_local volatile sig_atomic_t is_loading;

static void on_bus_error(int signal_number)
{
    if (is_loading)
        siglongjmp(back, 1);
    /* The load is repeated, and then ends the process. */
    signal(signal_number, SIG_DFL);
}

static sigset_t signals; /* blocked signals outside of the handler */

static bool catch_bus_errors(void)
{
    static bool is_caught;
    struct sigaction action = { .sa_handler = on_bus_error };
    if (!is_caught) {
        is_caught = pthread_sigmask(SIG_SETMASK, NULL, &signals) == 0 &&
                    sigaction(SIGBUS, &action, NULL) == 0;
    }
    return is_caught;
}

/* False: the file does not have the page any more. */
static bool load(char bytes[PFDD_CHANGE_PROBE], const void *page)
{
    /* A jump that restores the mask would cost each load a system call. */
    if (sigsetjmp(back, 0) != 0) {
        pthread_sigmask(SIG_SETMASK, &signals, NULL);
        is_loading = 0;
        return false;
    }
    is_loading = 1;
    atomic_signal_fence(memory_order_seq_cst);
    memcpy(bytes, page, PFDD_CHANGE_PROBE);
    atomic_signal_fence(memory_order_seq_cst);
    is_loading = 0;
    return true;
}

static void map_page(struct pfdd_change_probe *change_probe)
{
    void *page = mmap(NULL, PFDD_CHANGE_PROBE, PROT_READ, MAP_SHARED,
                      change_probe->fd, 0);
    change_probe->page = page == MAP_FAILED ? NULL : page;
}

void pfdd_change_probe_init(struct pfdd_change_probe *change_probe, int fd)
{
    *change_probe = (struct pfdd_change_probe){ .fd = fd, .n = -1 };
    change_probe->is_coherent = is_coherent(fd) && catch_bus_errors();
    if (change_probe->is_coherent)
        map_page(change_probe);
}

void pfdd_change_probe_deinit(struct pfdd_change_probe *change_probe)
{
    if (change_probe->page)
        munmap(change_probe->page, PFDD_CHANGE_PROBE);
    change_probe->page = NULL;
}

/* A fault takes ten times as long as a read: a file without a page is read
 * until it has one. */
static ssize_t read_bytes(struct pfdd_change_probe *change_probe,
                          char bytes[PFDD_CHANGE_PROBE])
{
    if (change_probe->page && load(bytes, change_probe->page))
        return PFDD_CHANGE_PROBE;
    pfdd_change_probe_deinit(change_probe);
    ssize_t n = pread(change_probe->fd, bytes, PFDD_CHANGE_PROBE, 0);
    if (n == PFDD_CHANGE_PROBE && change_probe->is_coherent)
        map_page(change_probe);
    return n;
}

bool pfdd_change_probe_has_changed(struct pfdd_change_probe *change_probe)
{
    char bytes[PFDD_CHANGE_PROBE];
    ssize_t n = read_bytes(change_probe, bytes);
    bool same = n >= 0 && n == change_probe->n &&
                !memcmp(bytes, change_probe->bytes, (size_t)n);
    if (n > 0)
        memcpy(change_probe->bytes, bytes, (size_t)n);
    change_probe->n = n;
    return !same;
}

void pfdd_change_probe_forget(struct pfdd_change_probe *change_probe)
{
    change_probe->n = -1;
}
