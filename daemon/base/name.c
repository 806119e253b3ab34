/* SPDX-License-Identifier: MIT */
#include "base/name.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NUMBER_ROOM = 25, /* "/18446744073709551615" after a name */
};

/* Control characters, and invisible ones that reorder or hide others. */
static bool is_unseen(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        { 0x00, 0x1f },     { 0x7f, 0x9f },     { 0x200b, 0x200f },
        { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfeff, 0xfeff },
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    }
    return false;
}

/* Length of the UTF-8 character that bytes [n] begin with; 0: it is invalid,
 * overlong or a surrogate. */
static size_t read_character(const char *bytes, size_t n, uint32_t *ret)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *in = (const unsigned char *)bytes;
    size_t length = in[0] < 0x80             ? 1
                    : (in[0] & 0xe0) == 0xc0 ? 2
                    : (in[0] & 0xf0) == 0xe0 ? 3
                    : (in[0] & 0xf8) == 0xf0 ? 4
                                             : 0;
    if (length == 0 || length > n)
        return 0;
    uint32_t c = length == 1 ? in[0] : in[0] & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((in[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (in[i] & 0x3fU);
    }
    if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *ret = c;
    return length;
}

/* Length of the first character; 0: its first byte has to be escaped. */
static size_t plain_bytes(const char *bytes, size_t n)
{
    uint32_t c = 0;
    size_t length = read_character(bytes, n, &c);
    bool is_escape = n > 1 && bytes[0] == '\\' && bytes[1] == 'x';
    return is_escape || is_unseen(c) ? 0 : length;
}

bool pfdd_name_put(char ret[PFDD_NAME_ROOM], const char *bytes, size_t n)
{
    size_t at = 0;
    size_t i = 0;
    while (i < n) {
        char escaped[8];
        size_t n_plain = plain_bytes(bytes + i, n - i);
        if (!n_plain)
            snprintf(escaped, sizeof escaped, "\\x%02x", (uint8_t)bytes[i]);
        size_t n_out = n_plain ? n_plain : 4;
        if (at + n_out > PFDD_NAME_MAX)
            break;
        memcpy(ret + at, n_plain ? bytes + i : escaped, n_out);
        at += n_out;
        i += n_plain ? n_plain : 1;
    }
    ret[at] = '\0';
    return n > 0 && i == n;
}

void pfdd_name_of_file(char ret[PFDD_NAME_ROOM], const char *path, int fd)
{
    struct stat st = { 0 };
    if (pfdd_name_put(ret, path, strlen(path)) &&
        strlen(ret) < PFDD_NAME_ROOM - NUMBER_ROOM)
        return;
    fstat(fd, &st);
    snprintf(ret, PFDD_NAME_ROOM, "file %llu of device %llu",
             (unsigned long long)st.st_ino, (unsigned long long)st.st_dev);
}

/* A dot in front would hide a file. A dot before a digit would look like
 * rotation. */
static bool is_plain(const char *name, const char *c)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    if (*c == '.')
        return c > name && !(c[1] >= '0' && c[1] <= '9');
    return strchr(plain, *c) != NULL;
}

bool pfdd_name_put_path(char *ret, size_t n_ret, const char *name)
{
    size_t at = 0;
    for (const char *c = name; *c; c++) {
        size_t n = is_plain(name, c) ? 1 : 3;
        if (at + n >= n_ret) {
            ret[at] = '\0';
            return false;
        }
        if (n == 1) {
            ret[at] = *c;
        } else {
            snprintf(ret + at, n_ret - at, "%%%02X", (uint8_t)*c);
        }
        at += n;
    }
    ret[at] = '\0';
    return true;
}

static pthread_once_t host_name_asked = PTHREAD_ONCE_INIT;

static char host_name[256];

static void ask_host_name(void)
{
    static const char none[] = "localhost";
    if (gethostname(host_name, sizeof host_name - 1) != 0 || !*host_name)
        memcpy(host_name, none, sizeof none);
}

const char *pfdd_host_name(void)
{
    pthread_once(&host_name_asked, ask_host_name);
    return host_name;
}
