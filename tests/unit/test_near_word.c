/* SPDX-License-Identifier: MIT */
/* Words that a mistyped one may stand for. */
#include <check.h>

#include "core/base/near_word.h"
#include "suite.h"

START_TEST(finds_errors_of_typing)
{
    static const struct {
        const char *given;
        const char *meant;
        bool is_near;
    } words[] = {
        { "address", "address", true },
        { "adress", "address", true },   /* one is missing, */
        { "addresss", "address", true }, /* additional, */
        { "addrses", "address", true },  /* swapped, */
        { "adrexs", "address", true },   /* or two are */
        { "axdxexs", "address", false }, /* three are not near */
        { "INFO", "info", true },        /* case is no difference */
        { "rot", "rotate_size", true },  /* its beginning */
        { "ro", "rotate_size", false },  /* too short for one */
        { "rang", "ring", true },        /* of short words one may differ */
        { "rang", "file", false },
        { "x", "y", false },
        { "", "y", false },
        { "a_word_of_more_than_thirty_two_bytes_x",
          "a_word_of_more_than_thirty_two_bytes_y", false },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        ck_assert_msg(pfd_word_is_near(words[i].given, words[i].meant) ==
                          words[i].is_near,
                      "%s, %s", words[i].given, words[i].meant);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { finds_errors_of_typing, NULL };
    return suite_run("near_word", tests, 10);
}
