/* SPDX-License-Identifier: MIT */
#include "ingest/process_search.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"

/* "PID (NAME) STATE ...": the 22nd field is the start time. A name may contain
 * anything. */
static bool read_stat(char *text, struct pfdd_process_info *ret)
{
    enum {
        STARTED = 22
    };
    char *open = strchr(text, '(');
    char *close = strrchr(text, ')');
    if (!open || !close || close < open || close[1] != ' ')
        return false;
    char state = close[2];
    const char *field = close;
    *close = '\0';
    snprintf(ret->name, sizeof ret->name, "%s", open + 1);
    for (int i = 2; field && i < STARTED; i++) {
        field = strchr(field + 1, ' ');
    }
    ret->pid = strtoull(text, NULL, 10);
    ret->started = field ? strtoull(field, NULL, 10) : 0;
    return field && state != 'Z' && state != 'X';
}

static bool get(int folder, const char *pid, struct pfdd_process_info *ret)
{
    char path[32];
    char text[1024];
    snprintf(path, sizeof path, "%.20s/stat", pid);
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    return read_stat(text, ret);
}

bool pfdd_process_list_get(uint64_t pid, struct pfdd_process_info *ret)
{
    char name[24];
    int folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(name, sizeof name, "%" PRIu64, pid);
    bool ok = folder >= 0 && get(folder, name, ret);
    if (folder >= 0)
        close(folder);
    return ok;
}

/* True: the name of the program's file, which is not truncated, matches. */
static bool fits_file(int folder, const char *pid, const char *pattern)
{
    char path[32];
    char file[PATH_MAX];
    snprintf(path, sizeof path, "%.20s/exe", pid);
    ssize_t n = readlinkat(folder, path, file, sizeof file - 1);
    if (n <= 0)
        return false;
    file[n] = '\0';
    const char *slash = strrchr(file, '/');
    return fnmatch(pattern, slash ? slash + 1 : file, 0) == 0;
}

static bool is_own(int folder, const char *pid)
{
    struct stat st;
    return pid[strspn(pid, "0123456789")] == '\0' &&
           strtoull(pid, NULL, 10) != (unsigned long long)getpid() &&
           fstatat(folder, pid, &st, 0) == 0 && st.st_uid == geteuid();
}

void pfdd_process_list_find(const char *pattern, pfdd_process_fn call,
                            void *user)
{
    struct pfdd_process_info process;
    struct dirent *entry = NULL;
    bool more = true;
    DIR *proc = opendir("/proc");
    while (proc && more && (entry = readdir(proc))) {
        const char *pid = entry->d_name;
        if (is_own(dirfd(proc), pid) && get(dirfd(proc), pid, &process) &&
            (fnmatch(pattern, process.name, 0) == 0 ||
             fits_file(dirfd(proc), pid, pattern)))
            more = call(user, &process);
    }
    if (proc)
        closedir(proc);
}

enum {
    PART = 50,
    LEAST_NS = 1000000000,
    BYTES_LEAST = 24 << 20,
    BYTES_PART = 8,
};

size_t pfdd_process_search_bytes(const struct pfdd_memory_budget *budget)
{
    size_t n = budget->max / BYTES_PART;
    n = n > BYTES_LEAST ? n : BYTES_LEAST;
    return pfdd_memory_budget_has(budget, n) ? n : 0;
}

struct pfd_found_buffers *pfdd_process_search_run(
    struct pfdd_process_search *process_search,
    const struct pfd_buffer_search *how)
{
    struct pfd_found_buffers *found = NULL;
    uint64_t start = pfd_clock_ns(CLOCK_MONOTONIC);
    if (!how->strings || !how->n_copied_max || start < process_search->next_ns)
        return NULL;
    (void)pfd_search_buffers(how, &found, NULL);
    uint64_t end = pfd_clock_ns(CLOCK_MONOTONIC);
    uint64_t pause = (end - start) * PART;
    process_search->next_ns = end + (pause > LEAST_NS ? pause : LEAST_NS);
    return found;
}
