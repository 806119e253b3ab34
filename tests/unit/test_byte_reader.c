/* SPDX-License-Identifier: MIT */
#include "core/base/byte_reader.h"
#include "guard.h"
#include "suite.h"

static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 };

START_TEST(reads_little_endian)
{
    struct guard g = guard_new(bytes, sizeof bytes);
    struct pfd_byte_reader c = pfd_byte_reader(g.bytes, g.n);
    ck_assert_uint_eq(pfd_byte_reader_u8(&c), 1);
    ck_assert_uint_eq(pfd_byte_reader_u16(&c), 0x0302);
    ck_assert_uint_eq(pfd_byte_reader_u32(&c), 0x07060504);
    pfd_byte_reader_skip(&c, 2);
    ck_assert_uint_eq(pfd_byte_reader_left(&c), 4);
    ck_assert_uint_eq(pfd_byte_reader_peek_u32(&c, 9), 0x0d0c0b0a);
    ck_assert_uint_eq(pfd_byte_reader_peek_u64(&c, 5), 0x0d0c0b0a09080706);
    ck_assert_uint_eq(pfd_byte_reader_u32(&c), 0x0d0c0b0a);
    ck_assert(pfd_byte_reader_ok(&c));
    guard_free(&g);
}
END_TEST

START_TEST(first_overrun_sticks)
{
    struct guard g = guard_new(bytes, 7);
    struct pfd_byte_reader c = pfd_byte_reader(g.bytes, g.n);
    ck_assert_uint_eq(pfd_byte_reader_u64(&c), 0);
    ck_assert(!pfd_byte_reader_ok(&c));
    ck_assert_uint_eq(pfd_byte_reader_u8(&c), 0);
    ck_assert_ptr_null(pfd_byte_reader_bytes(&c, 0));
    pfd_byte_reader_seek(&c, 0);
    ck_assert(!pfd_byte_reader_ok(&c));
    guard_free(&g);
}
END_TEST

START_TEST(huge_lengths)
{
    struct pfd_byte_reader c = pfd_byte_reader(bytes, sizeof bytes);
    pfd_byte_reader_skip(&c, 3);
    ck_assert_ptr_null(pfd_byte_reader_bytes(&c, SIZE_MAX));
    ck_assert(!pfd_byte_reader_ok(&c));
    c = pfd_byte_reader(bytes, sizeof bytes);
    pfd_byte_reader_seek(&c, UINT64_MAX);
    ck_assert(!pfd_byte_reader_ok(&c));
    c = pfd_byte_reader(bytes, sizeof bytes);
    pfd_byte_reader_seek(&c, sizeof bytes);
    ck_assert(pfd_byte_reader_ok(&c));
    ck_assert_uint_eq(pfd_byte_reader_left(&c), 0);
}
END_TEST

START_TEST(sub_cursor_stays_inside)
{
    struct pfd_byte_reader c = pfd_byte_reader(bytes, sizeof bytes);
    struct pfd_byte_reader sub = pfd_byte_reader_sub(&c, 2);
    ck_assert_uint_eq(pfd_byte_reader_u16(&sub), 0x0201);
    ck_assert_uint_eq(pfd_byte_reader_u8(&sub), 0);
    ck_assert(!pfd_byte_reader_ok(&sub));
    ck_assert(pfd_byte_reader_ok(&c));
    ck_assert_uint_eq(pfd_byte_reader_u8(&c), 3);
    sub = pfd_byte_reader_sub(&c, 100);
    ck_assert(!pfd_byte_reader_ok(&sub));
    ck_assert(!pfd_byte_reader_ok(&c));
}
END_TEST

START_TEST(nothing_at_all)
{
    struct pfd_byte_reader c = pfd_byte_reader(NULL, 0);
    ck_assert_uint_eq(pfd_byte_reader_left(&c), 0);
    ck_assert_uint_eq(pfd_byte_reader_u8(&c), 0);
    ck_assert(!pfd_byte_reader_ok(&c));
}
END_TEST

int main(void)
{
    return suite_run("cursor",
                     TESTS(reads_little_endian, first_overrun_sticks,
                           huge_lengths, sub_cursor_stays_inside,
                           nothing_at_all),
                     10);
}
