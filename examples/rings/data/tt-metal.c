/* SPDX-License-Identifier: MIT */
/*
 * The strings of a kernel of tt-metal, as its compiler leaves them in the ELF
 * file: DEVICE_PRINT puts the number in memory and the type of each argument into
 * its text, and a record of text, file and line into a section of its own.
 *
 * riscv64-unknown-elf-gcc -march=rv32im -mabi=ilp32 -nostdlib -Os -fno-toplevel-reorder
 *     -Wl,--build-id=none -Wl,--section-start=.device_print_strings=0x6000000
 *     tt-metal.c -o tt-metal.elf
 * riscv64-unknown-elf-strip -R .comment -R .riscv.attributes tt-metal.elf
 */
struct info {
    const char *text;
    const char *file;
    unsigned line;
} __attribute__((packed));

#define STRING \
    __attribute__((section(".device_print_strings"), used)) static const char
#define INFO                                              \
    __attribute__((section(".device_print_strings_info"), \
                   used)) static const struct info

STRING file[] = "kernel.cpp";
STRING tile[] = "tile {1,I} of {2,I}: {0,d:.3f}\n";
STRING waits[] = "{0,s:>6} waits for {1,H:#06x}\n";
STRING mode[] = "mode {0,/e_I_ns::Mode} {1,?} {2,b:+}\n";
STRING who[] = "packer";

INFO tile_info = { tile, file, 10 };
INFO waits_info = { waits, file, 11 };
INFO mode_info = { mode, file, 12 };

/* NOLINTNEXTLINE(bugprone-reserved-identifier): the linker's entry */
void _start(void)
{
}
