/* SPDX-License-Identifier: MIT */
#include "outputs/rotation.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "base/own_file.h"

enum {
    STAMP = 26, /* bytes of ".YYYYMMDDTHHMMSS.NNNNNNNNN" */
};

static const char zst[] = ".zst";
static const char part[] = ".zst.part";

bool pfdd_rotation_rename(const char *path, char ret[PFDD_ROTATION])
{
    struct timespec now;
    struct tm tm;
    char stamp[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", &tm);
    snprintf(ret, PFDD_ROTATION, "%.440s.%s.%09ld", path, stamp, now.tv_nsec);
    return rename(path, ret) == 0;
}

/* ---- compression ---- */

static bool compress_stream(FILE *in, FILE *out)
{
    size_t n_in = ZSTD_CStreamInSize();
    size_t n_out = ZSTD_CStreamOutSize();
    char *from = malloc(n_in);
    char *to = malloc(n_out);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    bool ok = from && to && zstd;
    bool last = false;
    while (ok && !last) {
        size_t n = fread(from, 1, n_in, in);
        ok = !ferror(in);
        last = n < n_in;
        ZSTD_inBuffer input = { from, n, 0 };
        size_t left = 1;
        while (ok && (last ? left != 0 : input.pos < input.size)) {
            ZSTD_outBuffer output = { to, n_out, 0 };
            left = ZSTD_compressStream2(zstd, &output, &input,
                                        last ? ZSTD_e_end : ZSTD_e_continue);
            ok = !ZSTD_isError(left) &&
                 fwrite(to, 1, output.pos, out) == output.pos;
        }
    }
    ZSTD_freeCCtx(zstd);
    free(from);
    free(to);
    return ok;
}

/* Opens and locks the partial file. Below 0: a negated errno value. */
static int open_part(const char *path)
{
    struct stat ours;
    struct stat there;
    int fd = pfdd_own_file_open_itself(path, O_WRONLY | O_CREAT);
    if (fd < 0)
        return -errno;
    /* The process that held the lock may have renamed the file. */
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &ours) == 0 &&
        lstat(path, &there) == 0 && ours.st_ino == there.st_ino &&
        ours.st_dev == there.st_dev && ftruncate(fd, 0) == 0)
        return fd;
    close(fd);
    return -EWOULDBLOCK;
}

/* NULL: see errno. */
static FILE *open_old(const char *path)
{
    int fd = pfdd_own_file_open_itself(path, O_RDONLY);
    FILE *in = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (fd >= 0 && !in)
        close(fd);
    return in;
}

static bool write_part(FILE *in, int fd)
{
    FILE *out = fdopen(dup(fd), "w");
    if (!out)
        return false;
    bool ok =
        compress_stream(in, out) && fflush(out) == 0 && fdatasync(fd) == 0;
    return fclose(out) == 0 && ok;
}

static int compress_into(FILE *in, const char *path, int fd)
{
    char partial[PFDD_ROTATION + sizeof part];
    char whole[PFDD_ROTATION + sizeof zst];
    snprintf(partial, sizeof partial, "%s%s", path, part);
    snprintf(whole, sizeof whole, "%s%s", path, zst);
    if (write_part(in, fd) && rename(partial, whole) == 0)
        return unlink(path) == 0 || errno == ENOENT ? 0 : errno;
    int error = errno ? errno : EIO;
    unlink(partial);
    return error;
}

/* Replaces the file by PATH.zst. 0, or an errno value; 0 also if another
 * process is compressing it. */
static int rotation_compress(const char *path)
{
    char partial[PFDD_ROTATION + sizeof part];
    snprintf(partial, sizeof partial, "%s%s", path, part);
    FILE *in = open_old(path);
    if (!in)
        return errno == ENOENT ? 0 : errno;
    int fd = open_part(partial);
    int error = fd < 0 ? -fd : compress_into(in, path, fd);
    fclose(in);
    if (fd >= 0)
        close(fd);
    return error == EWOULDBLOCK ? 0 : error;
}

/* ---- rotated files ---- */

/* Files with a name of pfdd_rotation_rename() and one of these endings, by
 * time. */
static bool find(const char *path, const char *ending, glob_t *ret)
{
    static const char stamp[] =
        ".[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]T[0-9][0-9][0-9][0-9][0-9]"
        "[0-9].[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]";
    char pattern[1024];
    size_t n = 0;
    for (const char *c = path; *c && n < 700; c++) {
        if (strchr("*?[\\", *c))
            pattern[n++] = '\\';
        pattern[n++] = *c == PFDD_ROTATION_ANY[0] ? '*' : *c;
    }
    snprintf(pattern + n, sizeof pattern - n, "%s%s", stamp, ending);
    return glob(pattern, 0, NULL, ret) == 0;
}

/* A file or its compressed form. */
static bool is_one(const char *found, size_t n_path)
{
    const char *ending = found + n_path + STAMP;
    return !*ending || !strcmp(ending, zst);
}

/* Keeps only the newest `keep` rotated files of a path. */
static void rotation_keep(const char *path, uint64_t keep)
{
    glob_t found;
    size_t n_path = strlen(path);
    uint64_t n = 0;
    if (!find(path, "*", &found))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        n += is_one(found.gl_pathv[i], n_path);
    for (size_t i = 0; n > keep && i < found.gl_pathc; i++) {
        if (!is_one(found.gl_pathv[i], n_path))
            continue;
        unlink(found.gl_pathv[i]);
        n--;
    }
    globfree(&found);
}

/* Only regular files of this user: other users may create names, also of files
 * that are this user's. */
static bool is_ours(const char *path)
{
    struct stat st;
    int fd = pfdd_own_file_open_itself(path, O_PATH);
    bool is = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid();
    if (fd >= 0)
        close(fd);
    return is;
}

static void remove_half(const char *path)
{
    int fd = is_ours(path) ? open_part(path) : -1;
    if (fd < 0)
        return;
    unlink(path);
    close(fd);
}

/* Completes an interrupted compression: removes the original if the compressed
 * file exists, else compresses it. */
static void finish(const char *path)
{
    char whole[PFDD_ROTATION + sizeof zst];
    snprintf(whole, sizeof whole, "%s%s", path, zst);
    if (!is_ours(path))
        return;
    if (is_ours(whole)) {
        unlink(path);
    } else {
        rotation_compress(path);
    }
}

/* Cleans up the rotated files of a path after a kill: removes partial files and
 * duplicates, and compresses the rest. */
static void rotation_recover(const char *path)
{
    glob_t found;
    if (find(path, part, &found)) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            remove_half(found.gl_pathv[i]);
        globfree(&found);
    }
    if (find(path, "", &found)) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            finish(found.gl_pathv[i]);
        globfree(&found);
    }
}

/* ---- the job ---- */

static void run_care(struct pfdd_job *job)
{
    struct pfdd_rotation_job *c = (struct pfdd_rotation_job *)job;
    if (c->compress && !c->old[0]) {
        rotation_recover(c->path);
    } else if (c->compress) {
        c->error = rotation_compress(c->old);
    }
    if (c->keep && c->old[0])
        rotation_keep(c->path, c->keep);
}

void pfdd_rotation_job(struct pfdd_rotation_job *ret, const char *old,
                       const char *path, bool compress, uint64_t keep)
{
    *ret = (struct pfdd_rotation_job){ .job = { .run = run_care },
                                       .compress = compress,
                                       .keep = keep };
    snprintf(ret->old, sizeof ret->old, "%s", old);
    snprintf(ret->path, sizeof ret->path, "%s", path);
}
