/* SPDX-License-Identifier: MIT */
#include "core/base/file_kind.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/base/byte_reader.h"
#include "core/base/escape.h"

static const char unpack[] = "unpack it and give the files in it";
static const char inflate[] = "decompress it and give the file in it";
static const char program[] = "a program is no dump of what a GPU wrote";
static const char data[] = "a buffer is a dump of what a GPU wrote";
static const char code[] =
    "it may hold format strings: give it beside the buffer, without --buffer";

/* Bytes at a fixed place in every file of a kind. */
struct magic {
    struct pfd_file_kind kind;
    uint16_t at;
    uint16_t n;
    const char *bytes; /* [n] */
};

#define MAGIC(name, advice, at, bytes)                 \
    {                                                  \
        { name, advice }, at, sizeof(bytes) - 1, bytes \
    }

static const struct magic magics[] = {
    MAGIC("a tar archive", unpack, 257, "ustar"),
    MAGIC("a zip archive", unpack, 0, "PK\3\4"),
    MAGIC("a zip archive", unpack, 0, "PK\5\6"),
    MAGIC("a zip archive", unpack, 0, "PK\7\10PK"),
    MAGIC("a 7z archive", unpack, 0, "7z\274\257\47\34"),
    MAGIC("a rar archive", unpack, 0, "Rar!\32\7"),
    MAGIC("a cpio archive", unpack, 0, "07070"),
    MAGIC("an rpm package", unpack, 0, "\355\253\356\333"),
    MAGIC("a cabinet archive", unpack, 0, "MSCF\0\0\0\0"),
    MAGIC("a squashfs image", unpack, 0, "hsqs"),
    MAGIC("an ar archive", code, 0, "!<arch>\n"),
    MAGIC("a thin ar archive", code, 0, "!<thin>\n"),
    MAGIC("an xz file", inflate, 0, "\3757zXZ\0"),
    MAGIC("a bzip2 file", inflate, 4, "1AY&SY"),
    MAGIC("a bzip2 file", inflate, 4, "\27\162\105\70\120\220"),
    MAGIC("an lz4 file", inflate, 0, "\4\42\115\30"),
    MAGIC("an lz4 file", inflate, 0, "\2\41\114\30"),
    MAGIC("an lzip file", inflate, 0, "LZIP\1"),
    MAGIC("an lzma file", inflate, 0, "\135\0\0\200\0"),
    MAGIC("a file of compress", inflate, 0, "\37\235\220"),
    MAGIC("a gzip file", inflate, 0, "\37\213\10"),
    MAGIC("a zstd file", inflate, 0, "\50\265\57\375"),
    MAGIC("an SQLite database", data, 0, "SQLite format 3\0"),
    MAGIC("a PNG image", data, 0, "\211PNG\r\n\32\n"),
    MAGIC("a JPEG image", data, 0, "\377\330\377"),
    MAGIC("a GIF image", data, 0, "GIF8"),
    MAGIC("a TIFF image", data, 0, "II*\0"),
    MAGIC("a TIFF image", data, 0, "MM\0*"),
    MAGIC("a DirectDraw image", data, 0, "DDS |\0\0\0"),
    MAGIC("a KTX image", data, 0, "\253KTX "),
    MAGIC("an OpenEXR image", data, 0, "v/1\1"),
    MAGIC("a RIFF file", data, 0, "RIFF"),
    MAGIC("an Ogg file", data, 0, "OggS\0"),
    MAGIC("a FLAC file", data, 0, "fLaC"),
    MAGIC("an MPEG-4 file", data, 4, "ftyp"),
    MAGIC("a Matroska file", data, 0, "\32\105\337\243"),
    MAGIC("a PDF document", data, 0, "%PDF-"),
    MAGIC("an OLE document", data, 0, "\320\317\21\340\241\261\32\341"),
    MAGIC("a font", data, 0, "OTTO\0"),
    MAGIC("a font", data, 0, "ttcf\0"),
    MAGIC("a font", data, 0, "wOFF"),
    MAGIC("a font", data, 0, "wOF2"),
    MAGIC("a NumPy array", data, 0, "\223NUMPY"),
    MAGIC("an HDF5 file", data, 0, "\211HDF\r\n\32\n"),
    MAGIC("a message catalogue", data, 0, "\336\22\4\225"),
    MAGIC("a message catalogue", data, 0, "\225\4\22\336"),
    MAGIC("a time zone file", data, 0, "TZif"),
    MAGIC("a RenderDoc capture", data, 0, "RDOC"),
    MAGIC("a perf recording", data, 0, "PERFILE2"),
    MAGIC("a git pack", data, 0, "PACK\0\0\0"),
    MAGIC("a journal of systemd", data, 0, "LPKSHHRH"),
    MAGIC("a Mach-O file", program, 0, "\376\355\372\316"),
    MAGIC("a Mach-O file", program, 0, "\376\355\372\317"),
    MAGIC("a Mach-O file", program, 0, "\316\372\355\376"),
    MAGIC("a Mach-O file", program, 0, "\317\372\355\376"),
    MAGIC("a WebAssembly module", program, 0, "\0asm"),
    MAGIC("a DEX file", program, 0, "dex\n"),
    MAGIC("a DXBC container", program, 0, "DXBC"),
    MAGIC("LLVM bitcode",
          "it is not compiled yet: give the code object that is "
          "made of it",
          0, "BC\300\336"),
    MAGIC("LLVM bitcode",
          "it is not compiled yet: give the code object that is "
          "made of it",
          0, "\336\300\27\13"),
    MAGIC("an ELF file", code, 0, "\177ELF"),
    MAGIC("a SPIR-V module", code, 0, "\3\2\43\7"),
    MAGIC("a big-endian SPIR-V module", code, 0, "\7\43\2\3"),
};

static bool has_magic(const struct pfd_byte_reader *c, const struct magic *m)
{
    return c->n >= (size_t)m->at + m->n &&
           !memcmp(c->base + m->at, m->bytes, m->n);
}

/* True: a PE header stands where the DOS header points. */
static bool is_pe(const struct pfd_byte_reader *c)
{
    enum {
        E_LFANEW = 60
    };
    if (c->n < E_LFANEW + 4 || memcmp(c->base, "MZ", 2) != 0)
        return false;
    uint32_t at = pfd_byte_reader_peek_u32(c, E_LFANEW);
    return c->n >= 4 && (at > c->n - 4 || !memcmp(c->base + at, "PE\0\0", 4));
}

/* Java class files and universal Mach-O files share their magic: class versions
 * begin with 45, and no program has that many architectures. */
static bool is_cafebabe(const struct pfd_byte_reader *c, bool is_class)
{
    return c->n >= 8 && !memcmp(c->base, "\312\376\272\276", 4) &&
           (c->base[4] || c->base[5] || c->base[6] || c->base[7] >= 45) ==
               is_class;
}

static bool is_bmp(const struct pfd_byte_reader *c)
{
    enum {
        RESERVED = 6,
        PIXELS = 10
    };
    return c->n >= 26 && !memcmp(c->base, "BM", 2) &&
           !pfd_byte_reader_peek_u32(c, RESERVED) &&
           pfd_byte_reader_peek_u32(c, PIXELS) < 1 << 16;
}

/* A version, and the number of tables. */
static bool is_font(const struct pfd_byte_reader *c)
{
    return c->n >= 12 && !memcmp(c->base, "\0\1\0\0\0", 5) && c->base[5] &&
           c->base[5] <= 64;
}

/* The third and fourth byte end a line. */
static bool is_python(const struct pfd_byte_reader *c)
{
    return c->n >= 16 && !memcmp(c->base + 2, "\r\n", 2) &&
           pfd_byte_reader_peek_u32(c, 4) <= 3;
}

static bool is_control(uint8_t c)
{
    return c == 0x7f || (c < ' ' && c != 0x1b && !(c >= '\b' && c <= '\r'));
}

/* UTF-8, or ASCII with a few letters of an older encoding. */
static bool is_text(const struct pfd_byte_reader *c)
{
    enum {
        SEEN = 4096,
        TAIL = 3 /* bytes of a letter that is cut */
    };
    size_t n = c->n < SEEN ? c->n : SEEN;
    size_t n_high = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_control(c->base[i]))
            return false;
        n_high += c->base[i] >= 0x80;
    }
    for (size_t cut = 0; cut <= TAIL && cut < n; cut++) {
        if (pfd_is_utf8((const char *)c->base, n - cut))
            return true;
    }
    return n && n_high <= n / 4;
}

static bool is_wide_text(const struct pfd_byte_reader *c)
{
    return c->n >= 4 && c->n % 2 == 0 &&
           ((!memcmp(c->base, "\377\376", 2) && c->base[2] && !c->base[3]) ||
            (!memcmp(c->base, "\376\377", 2) && !c->base[2] && c->base[3]));
}

static const struct pfd_file_kind *find_magic(const struct pfd_byte_reader *c,
                                              uint16_t n_min)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        if (magics[i].n >= n_min && has_magic(c, &magics[i]))
            return &magics[i].kind;
    }
    return NULL;
}

const struct pfd_file_kind *pfd_file_kind_sure(const void *bytes, size_t n)
{
    struct pfd_byte_reader c = pfd_byte_reader(bytes, n);
    return find_magic(&c, 4);
}

const struct pfd_file_kind *pfd_file_kind_of(const void *bytes, size_t n)
{
    static const struct pfd_file_kind pe = { "a PE file", program };
    static const struct pfd_file_kind java = { "a Java class file", program };
    static const struct pfd_file_kind mach = { "a Mach-O file", program };
    static const struct pfd_file_kind python = { "compiled Python", program };
    static const struct pfd_file_kind font = { "a font", data };
    static const struct pfd_file_kind bmp = { "a BMP image", data };
    static const struct pfd_file_kind text = { "text", data };
    struct pfd_byte_reader c = pfd_byte_reader(bytes, n);
    const struct pfd_file_kind *kind = find_magic(&c, 0);
    return kind                              ? kind
           : is_pe(&c)                       ? &pe
           : is_cafebabe(&c, true)           ? &java
           : is_cafebabe(&c, false)          ? &mach
           : is_bmp(&c)                      ? &bmp
           : is_font(&c)                     ? &font
           : is_python(&c)                   ? &python
           : is_text(&c) || is_wide_text(&c) ? &text
                                             : NULL;
}
