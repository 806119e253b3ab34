/* SPDX-License-Identifier: MIT */
#include "analysis/table/zip.h"

#include <stdio.h>
#include <string.h>

/* PKWARE's APPNOTE 6.3.9: 4.3.7, 4.3.12, 4.3.14 to 4.3.16, 4.5.3. */
enum {
    LOCAL = 0x04034b50,
    CENTRAL = 0x02014b50,
    END64 = 0x06064b50,
    LOCATOR64 = 0x07064b50,
    END = 0x06054b50,
    VERSION = 45,      /* needed for ZIP64 */
    UTF8 = 1 << 11,    /* flag: the name is UTF-8 */
    DATE = 0x21,       /* 1980-01-01, so that equal contents give equal files */
    EXTRA64 = 1,       /* id of the extra field */
    AT_CRC = 14,       /* in a local header */
    AT_EXTRA = 30 + 4, /* likewise, behind the name: the two sizes */
};

static void put16(struct pfd_text *out, unsigned v)
{
    uint8_t bytes[2] = { (uint8_t)v, (uint8_t)(v >> 8) };
    pfd_text_add(out, bytes, sizeof bytes);
}

static void put32(struct pfd_text *out, uint32_t v)
{
    put16(out, v & 0xffff);
    put16(out, v >> 16);
}

static void put64(struct pfd_text *out, uint64_t v)
{
    put32(out, (uint32_t)v);
    put32(out, (uint32_t)(v >> 32));
}

static void write_out(struct pfd_zip *zip, const struct pfd_text *bytes)
{
    zip->table_target->pending.failed |= bytes->failed;
    pfd_table_target_put(zip->table_target, bytes->data, bytes->n);
    zip->at += bytes->n;
}

static uint32_t crc32_of(uint32_t crc, const uint8_t *bytes, size_t n)
{
    static uint32_t table[256];
    if (!table[1]) {
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = i;
            for (int k = 0; k < 8; k++)
                c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
            table[i] = c;
        }
    }
    crc = ~crc;
    for (size_t i = 0; i < n; i++)
        crc = table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
    return ~crc;
}

/* The fields that local and central headers share, from the required version
 * on. Sizes are in the extra field. */
static void put_common(struct pfd_text *out, const struct pfd_zip *zip,
                       unsigned n_extra)
{
    put16(out, VERSION);
    put16(out, UTF8);
    put16(out, 0); /* stored */
    put16(out, 0);
    put16(out, DATE);
    put32(out, zip->crc);
    put32(out, UINT32_MAX);
    put32(out, UINT32_MAX);
    put16(out, (unsigned)strlen(zip->name));
    put16(out, n_extra);
}

void pfd_zip_begin(struct pfd_zip *zip, const char *name)
{
    struct pfd_text out = { 0 };
    zip->member = zip->at;
    zip->n = 0;
    zip->crc = 0;
    snprintf(zip->name, sizeof zip->name, "%s", name);
    put32(&out, LOCAL);
    put_common(&out, zip, 20);
    pfd_text_puts(&out, zip->name);
    put16(&out, EXTRA64);
    put16(&out, 16);
    put64(&out, 0);
    put64(&out, 0);
    write_out(zip, &out);
    pfd_text_free(&out);
}

void pfd_zip_put(struct pfd_zip *zip, const void *bytes, size_t n)
{
    zip->crc = crc32_of(zip->crc, bytes, n);
    zip->n += n;
    zip->at += n;
    pfd_table_target_put(zip->table_target, bytes, n);
}

void pfd_zip_end(struct pfd_zip *zip)
{
    uint64_t sizes[2] = { zip->n, zip->n };
    size_t n_name = strlen(zip->name);
    pfd_table_target_patch(zip->table_target, zip->member + AT_CRC, &zip->crc,
                           sizeof zip->crc);
    pfd_table_target_patch(zip->table_target, zip->member + AT_EXTRA + n_name,
                           sizes, sizeof sizes);
    struct pfd_text *out = &zip->directory;
    put32(out, CENTRAL);
    put16(out, VERSION | 3 << 8); /* made on Unix */
    put_common(out, zip, 28);
    put16(out, 0); /* comment */
    put16(out, 0); /* disk */
    put16(out, 0);
    put32(out, 0644u << 16);
    put32(out, UINT32_MAX);
    pfd_text_puts(out, zip->name);
    put16(out, EXTRA64);
    put16(out, 24);
    put64(out, zip->n);
    put64(out, zip->n);
    put64(out, zip->member);
    zip->n_members++;
}

void pfd_zip_close(struct pfd_zip *zip)
{
    struct pfd_text out = { 0 };
    uint64_t directory = zip->at;
    uint64_t n = zip->directory.n;
    write_out(zip, &zip->directory);
    uint64_t end64 = zip->at;
    put32(&out, END64);
    put64(&out, 44);
    put16(&out, VERSION | 3 << 8);
    put16(&out, VERSION);
    put32(&out, 0);
    put32(&out, 0);
    put64(&out, zip->n_members);
    put64(&out, zip->n_members);
    put64(&out, n);
    put64(&out, directory);
    put32(&out, LOCATOR64);
    put32(&out, 0);
    put64(&out, end64);
    put32(&out, 1);
    put32(&out, END);
    put16(&out, 0);
    put16(&out, 0);
    put16(&out, UINT16_MAX);
    put16(&out, UINT16_MAX);
    put32(&out, UINT32_MAX);
    put32(&out, UINT32_MAX);
    put16(&out, 0);
    write_out(zip, &out);
    pfd_text_free(&out);
    pfd_text_free(&zip->directory);
}
