/* SPDX-License-Identifier: MIT */
#include "core/base/near_word.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;
    return least < c ? least : c;
}

static bool is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The number of letters to change, insert, delete or swap with the next. */
static unsigned distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    unsigned rows[3][PFD_NEAR_WORD_MAX + 1];
    for (unsigned j = 0; j <= n_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *above = rows[(i + 2) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n_b; j++) {
            bool same = is_same(a[i - 1], b[j - 1]);
            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + !same);
            bool swapped = i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) &&
                           is_same(a[i - 2], b[j - 1]);
            const unsigned *first = rows[(i + 1) % 3];
            if (swapped && first[j - 2] + 1 < row[j])
                row[j] = first[j - 2] + 1;
        }
    }
    return rows[n_a % 3][n_b];
}

bool pfd_word_is_near(const char *given, const char *meant)
{
    size_t n_given = strlen(given);
    size_t n_meant = strlen(meant);
    if (n_given < 2 || n_given > PFD_NEAR_WORD_MAX ||
        n_meant > PFD_NEAR_WORD_MAX)
        return false;
    if (n_given > 2 && !strncasecmp(given, meant, n_given))
        return true;
    unsigned n = distance(given, n_given, meant, n_meant);
    return n <= (n_given < 5 ? 1 : 2);
}
