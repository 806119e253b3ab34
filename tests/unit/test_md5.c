/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include <check.h>

#include "core/base/md5.h"
#include "suite.h"

/* The test suite of RFC 1321, and lengths around the edges of a block. */
static const struct {
    const char *text;
    const char *digest;
} rows[] = {
    { "", "d41d8cd98f00b204e9800998ecf8427e" },
    { "a", "0cc175b9c0f1b6a831c399e269772661" },
    { "abc", "900150983cd24fb0d6963f7d28e17f72" },
    { "message digest", "f96b697d7cb7938d525a2f31aaf161d0" },
    { "abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b" },
    { "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
      "d174ab98d277d9f5a5611c2c9f419d9f" },
    { "1234567890123456789012345678901234567890123456789012345678901234567890"
      "1234567890",
      "57edf4a22be3c955ac49da2e2107b67a" },
    { "1234567890123456789012345678901234567890123456789012345",
      "c9ccf168914a1bcfc3229f1948e67da0" },
    { "12345678901234567890123456789012345678901234567890123456",
      "49f193adce178490e34d1b3a4ec0064c" },
    { "1234567890123456789012345678901234567890123456789012345678901234",
      "eb6c4179c0a7c82cc2828c1e6338e165" },
};

START_TEST(test_rfc1321)
{
    uint8_t digest[16];
    char hex[33];
    pfd_md5(rows[_i].text, strlen(rows[_i].text), digest);
    for (int i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    ck_assert_str_eq(hex, rows[_i].digest);
}
END_TEST

/* What clang 19 wrote for this format string. */
START_TEST(test_format_string)
{
    ck_assert_uint_eq(pfd_md5_u64("n=%d %s\n", 8), 0xaa2768938052d59a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("md5");
    TCase *tcase = tcase_create("md5");
    tcase_add_loop_test(tcase, test_rfc1321, 0, sizeof rows / sizeof *rows);
    tcase_add_test(tcase, test_format_string);
    suite_add_tcase(suite, tcase);
    return suite_run_all(suite);
}
