/* SPDX-License-Identifier: MIT */
#include "analysis/table/column.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/print/number_fast.h"

bool pfd_columns_init(struct pfd_columns *ret,
                      const struct pfd_table_column *columns, size_t n)
{
    *ret = (struct pfd_columns){ 0 };
    struct pfd_vector *vectors = calloc(n ? n : 1, sizeof *vectors);
    if (!vectors)
        return false;
    *ret = (struct pfd_columns){ .columns = columns,
                                 .n_columns = n,
                                 .vectors = vectors };
    pfd_columns_clear(ret);
    return true;
}

void pfd_columns_deinit(struct pfd_columns *batch)
{
    for (size_t i = 0; batch->vectors && i < batch->n_columns; i++) {
        pfd_text_free(&batch->vectors[i].values);
        pfd_text_free(&batch->vectors[i].bytes);
        pfd_text_free(&batch->vectors[i].nulls);
    }
    free(batch->vectors);
    *batch = (struct pfd_columns){ 0 };
}

void pfd_columns_clear(struct pfd_columns *batch)
{
    static const uint32_t first = 0;
    batch->n_rows = 0;
    for (size_t i = 0; i < batch->n_columns; i++) {
        struct pfd_vector *v = &batch->vectors[i];
        v->values.n = v->bytes.n = v->nulls.n = 0;
        v->n_nulls = 0;
        if (batch->columns[i].type == PFD_VALUE_TEXT)
            pfd_text_add(&v->values, &first, sizeof first);
    }
}

bool pfd_columns_failed(const struct pfd_columns *batch)
{
    bool failed = false;
    for (size_t i = 0; i < batch->n_columns; i++) {
        const struct pfd_vector *v = &batch->vectors[i];
        failed |= v->values.failed || v->bytes.failed || v->nulls.failed;
    }
    return failed;
}

static inline void put(struct pfd_text *text, const void *bytes, size_t n)
{
    char *to = pfd_text_reserve(text, 8);
    if (to) {
        memcpy(to, bytes, 8); /* a store of fixed size; the surplus is in
                                 reserved space */
        text->n += n;
    }
}

static inline void put_null(struct pfd_vector *v, bool is_null)
{
    char *to = pfd_text_reserve(&v->nulls, 1);
    if (to) {
        *to = is_null;
        v->nulls.n++;
    }
}

void pfd_columns_add(struct pfd_columns *batch, size_t i, uint64_t bits)
{
    struct pfd_vector *v = &batch->vectors[i];
    put(&v->values, &bits, batch->columns[i].n_bytes);
    put_null(v, false);
}

void pfd_columns_add_text(struct pfd_columns *batch, size_t i, const char *text,
                          size_t n)
{
    struct pfd_vector *v = &batch->vectors[i];
    if (v->bytes.n + n > INT32_MAX) { /* no usual batch comes near it */
        v->bytes.failed = true;
        return;
    }
    pfd_text_add(&v->bytes, text, n);
    uint64_t end = v->bytes.n;
    put(&v->values, &end, sizeof(uint32_t));
    put_null(v, false);
}

void pfd_columns_add_null(struct pfd_columns *batch, size_t i)
{
    struct pfd_vector *v = &batch->vectors[i];
    bool is_text = batch->columns[i].type == PFD_VALUE_TEXT;
    uint64_t bits = is_text ? v->bytes.n : 0;
    put(&v->values, &bits,
        is_text ? sizeof(uint32_t) : batch->columns[i].n_bytes);
    put_null(v, true);
    v->n_nulls++;
}

uint64_t pfd_columns_bits(const struct pfd_columns *batch, size_t i, size_t row)
{
    uint64_t bits = 0;
    size_t n = batch->columns[i].n_bytes;
    memcpy(&bits, batch->vectors[i].values.data + row * n, n);
    return bits;
}

const char *pfd_columns_text(const struct pfd_columns *batch, size_t i,
                             size_t row, size_t *n)
{
    const struct pfd_vector *v = &batch->vectors[i];
    const uint32_t *ends = (const void *)v->values.data;
    *n = ends[row + 1] - ends[row];
    return v->bytes.data ? v->bytes.data + ends[row] : "";
}

void pfd_columns_copy(struct pfd_columns *to, const struct pfd_columns *from,
                      size_t row)
{
    for (size_t i = 0; i < to->n_columns; i++) {
        if (pfd_columns_is_null(from, i, row)) {
            pfd_columns_add_null(to, i);
        } else if (to->columns[i].type == PFD_VALUE_TEXT) {
            size_t n;
            const char *text = pfd_columns_text(from, i, row, &n);
            pfd_columns_add_text(to, i, text, n);
        } else {
            pfd_columns_add(to, i, pfd_columns_bits(from, i, row));
        }
    }
    to->n_rows++;
}

/* ---- values ---- */

/* Widens binary16 and binary32 to binary64, with the payload of NaN. */
uint64_t pfd_widen_float(uint64_t bits, unsigned n_bytes)
{
    if (n_bytes == 8)
        return bits;
    unsigned n_fraction = n_bytes == 4 ? 23 : 10;
    unsigned n_exponent = n_bytes == 4 ? 8 : 5;
    uint64_t top = (UINT64_C(1) << n_exponent) - 1;
    uint64_t sign = bits >> (n_fraction + n_exponent) & 1;
    uint64_t exponent = bits >> n_fraction & top;
    uint64_t fraction = bits & ((UINT64_C(1) << n_fraction) - 1);
    if (exponent == top) {
        exponent = 0x7ff;
    } else if (exponent) {
        exponent += 1023 - (top >> 1);
    } else if (fraction) {
        exponent = 1024 - (top >> 1);
        for (; !(fraction >> n_fraction & 1); fraction <<= 1)
            exponent--;
        fraction &= (UINT64_C(1) << n_fraction) - 1;
    }
    return sign << 63 | exponent << 52 | fraction << (52 - n_fraction);
}

uint16_t pfd_half_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000;
    uint32_t exponent = bits >> 23 & 0xff;
    uint32_t fraction = bits >> 13 & 0x3ff;
    if (exponent == 0xff)
        return (uint16_t)(sign | 0x7c00 | fraction);
    if (exponent >= 113)
        return (uint16_t)(sign | (exponent - 112) << 10 | fraction);
    return (uint16_t)(sign | (uint32_t)(fabsf(f) * 16777216.0f));
}

double pfd_float_value(uint64_t bits, unsigned n_bytes)
{
    uint64_t wide = pfd_widen_float(bits, n_bytes);
    double d;
    memcpy(&d, &wide, sizeof d);
    return d;
}

static uint64_t extend(uint64_t bits, unsigned n_bytes)
{
    unsigned shift = 64 - 8 * n_bytes;
    return (uint64_t)((int64_t)(bits << shift) >> shift);
}

uint64_t pfd_columns_wide(const struct pfd_columns *batch, size_t i, size_t row)
{
    const struct pfd_table_column *c = &batch->columns[i];
    uint64_t bits = pfd_columns_bits(batch, i, row);
    return c->type == PFD_VALUE_FLOAT ? pfd_widen_float(bits, c->n_bytes)
           : c->type == PFD_VALUE_INT ? extend(bits, c->n_bytes)
                                      : bits;
}

/* In the form of JSON lines: 2026-01-02T03:04:05.000000006Z. */
static char *print_time(char *ret, uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm tm;
    if (!gmtime_r(&seconds, &tm))
        return pfd_put_u64(ret, ns);
    size_t n = strftime(ret, PFD_CELL_ROOM, "%Y-%m-%dT%H:%M:%S", &tm);
    return ret + n +
           snprintf(ret + n, PFD_CELL_ROOM - n, ".%09uZ",
                    (unsigned)(ns % 1000000000));
}

static char *print_float(char *ret, unsigned n_bytes, uint64_t bits)
{
    double d = pfd_float_value(bits, n_bytes);
    if (!isfinite(d)) {
        const char *text = isnan(d) ? "nan" : d < 0 ? "-inf" : "inf";
        size_t n = strlen(text);
        memcpy(ret, text, n);
        return ret + n;
    }
    if (n_bytes == 8)
        return pfd_put_shortest64(ret, bits);
    float f = (float)d;
    uint32_t half;
    memcpy(&half, &f, sizeof half);
    return pfd_put_shortest32(ret, half);
}

char *pfd_cell_print(char *ret, const struct pfd_table_column *column,
                     uint64_t bits)
{
    switch (column->type) {
    case PFD_VALUE_INT:
        return pfd_put_i64(ret, (int64_t)extend(bits, column->n_bytes));
    case PFD_VALUE_FLOAT:
        return print_float(ret, column->n_bytes, bits);
    case PFD_VALUE_TIME:
        return print_time(ret, bits);
    case PFD_VALUE_UNSIGNED:
    case PFD_VALUE_TEXT:
        break;
    }
    return pfd_put_u64(ret, bits);
}

void pfd_columns_list(const struct pfd_table_column *columns, size_t n,
                      char ret[PFD_COLUMN_LIST])
{
    size_t at = 0;
    *ret = '\0';
    for (size_t i = 0; i < n; i++) {
        if (at + strlen(columns[i].name) + 8 > PFD_COLUMN_LIST) {
            snprintf(ret + at, PFD_COLUMN_LIST - at, ", ...");
            return;
        }
        at += (size_t)snprintf(ret + at, PFD_COLUMN_LIST - at, "%s%s",
                               i ? ", " : "", columns[i].name);
    }
}

void pfd_columns_fail(struct pfd_error *err, const char *name, size_t n_name,
                      const char *list)
{
    pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
             "no column is called '%.*s'; there are: %s",
             n_name < 64 ? (int)n_name : 64, name, list);
}
