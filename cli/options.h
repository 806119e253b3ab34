/* SPDX-License-Identifier: MIT */
/*
 * The command line: the table of verbs, the table of options, and the parsed
 * values.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/printfdecode.h>
#include <printfdecode/wire.h>

#include "analysis/plot/plot.h"
#include "net/tls.h"

/* Exit statuses; documented in printfdecode(1). */
enum {
    EXIT_CLEAN = 0,
    EXIT_ERROR = 1,
    EXIT_FINDINGS = 2,
    EXIT_NOTHING = 3, /* a filter was given, and no entry passed it */
};

enum role {
    ROLE_BY_CONTENT,
    ROLE_STRINGS,
    ROLE_BUFFER,
    ROLE_SHADER,  /* ID=FILE */
    ROLE_SHADERS, /* a JSON file of them */
    ROLE_ARGUMENT /* of a program */
};

/* Bits of --show. */
enum show {
    SHOW_FINDINGS = 1,
    SHOW_UNKNOWN = 2,
    SHOW_TIME = 4,
    SHOW_SOURCE = 8,
    SHOW_LINE = 16,
    SHOW_LANE = 32,
    SHOW_ID = 64,
    SHOW_ALL = 128,
};

struct file {
    const char *path;
    enum role role;
    char *found;   /* the path, owned: it was found in a folder */
    char *beside;  /* the path, owned: it was found beside a program ... */
    bool is_split; /* ... such as this is: its code is in other files */
};

enum when {
    WHEN_AUTO,
    WHEN_ALWAYS,
    WHEN_NEVER
};

/* Values of an option that can be given several times. */
struct words {
    const char **all; /* [n] */
    size_t n;
};

/* How --collapse groups entries. */
enum collapse {
    COLLAPSE_NO,
    COLLAPSE_STRING, /* entries of one format string */
    COLLAPSE_EQUAL,  /* entries with one message */
};

struct options {
    const struct verb *verb;
    struct file *files; /* [n_files], in the order given */
    size_t n_files;
    bool is_default_daemon; /* no file was given: read from the local daemon */
    uint64_t n_findings;    /* findings about folders among the files */
    const char *output;     /* NULL: text */
    const char *format;
    struct pfd_options decoding;
    unsigned given; /* a bit for each option of pfd_option_get() that was
                       given */
    struct words matches;
    struct words format_strings;
    struct words sources;
    uint64_t *ids; /* [n_ids] */
    size_t n_ids;
    const char *where; /* NULL: no condition */
    bool ignore_case;
    bool invert;
    bool count; /* print the number of entries instead of entries */
    uint64_t skip;
    uint64_t limit;   /* UINT64_MAX: all */
    uint64_t tail;    /* only the last entries, this many; 0: all */
    uint64_t context; /* entries to show around each match */
    enum collapse collapse;
    uint64_t window; /* collapse: entries; 0: the library's default */
    unsigned threads;
    enum when color;
    enum when progress;
    enum when links;
    enum when fields;
    bool verbose;
    unsigned show;        /* enum show */
    const char *to;       /* a folder; capture, scan: the file or folder to
                             write */
    bool all;             /* table: one for each format string */
    struct words columns; /* table: columns and their types */
    const char *x;        /* plot: columns */
    const char *y;
    const char *value;
    const char *by;
    const char *x_range;
    const char *y_range;
    const char *range;
    const char *map;
    enum pfd_reducer reducer;
    bool has_reducer;
    enum pfd_plot_scale scale;
    bool has_scale;
    uint64_t cells;
    uint64_t pixel;
    bool bare;
    bool dark;
    uint64_t live; /* redraws per second at most; 0: draw once */
    struct words group_by;
    struct words aggregates;
    const char *sort;
    const char *distinct;
    uint64_t top;
    bool force;
    bool with_filename;
    bool no_filename;
    bool keep_going;               /* continue when a file cannot be read */
    uint64_t max_inflated;         /* bytes; 0: the library's limit */
    struct pfd_wire_label *labels; /* [n_labels] */
    size_t n_labels;
    bool entries; /* capture entries instead of bytes */
    uint64_t until_idle_ms;
    bool has_until_idle;
    uint64_t settle_ms;
    bool has_settle;  /* else settle_ms is the library's default */
    const char *from; /* start in a daemon's stream; NULL: now */
    bool ack;
    bool no_findings; /* of a daemon: messages only */
    uint64_t at;      /* a dword's index */
    bool has_at;
    uint64_t entry; /* an entry's index */
    bool has_entry;
    const char *core; /* core file to read memory of; NULL: none */
    uint64_t pid;     /* process to read memory of; 0: none */
    uint64_t address; /* of a buffer in that memory */
    bool has_address;
    uint64_t size;     /* of that buffer, bytes; 0: not given */
    bool code_objects; /* list its code objects */
    bool why;          /* list what is no format */
    bool scan;         /* search it for code objects */
    struct tls_config tls;
    struct {
        const char *url;         /* servers to read entries of; NULL: none */
        const char *credentials; /* a file */
        const char *user;
        const char *password_file;
        bool has_since;
        uint64_t since; /* ns since 1970, */
        uint64_t ago;   /* or ns before now; the other one is 0 */
    } nats;
    /* scan: what to write, and how. */
    const char *strings_to;
    struct words calls;
    struct words include_folders; /* -I */
    const char *language;
    uint64_t set;
    uint64_t binding;
    bool subgroups;
    bool wide_atomics;
    bool sites;
    bool commit;
    bool origin;
    bool control;
    bool vulkan_debug_printf;   /* run: with the Vulkan layers for
                                   debugPrintf */
    bool vulkan_gpu_validation; /* run: with those for GPU-assisted
                                   validation */
    uint64_t buffer_bytes;      /* run: of validation's buffer for each draw and
                                   dispatch; 0: not given */
};

/* A verb and its function, which returns the exit status. */
struct verb {
    const char *name;
    const char *files; /* its operands, for the usage line */
    const char *help;
    int (*run)(const struct options *options);
};

/*
 * Parses the command line. True: continue. False: *status is the exit status;
 * either nothing is left to do (--help), or the command line is wrong and an
 * error was printed.
 */
bool options_read(struct options *ret, int argc, char **argv, int *status);
void options_free(struct options *options);

/* Adds a file; the path is borrowed. */
struct file *options_add_file(struct options *options, const char *path,
                              enum role role);

/* Does any option affect how buffers are decoded? With text_too: or how text is
 * printed? */
bool options_decide(const struct options *options, bool text_too);

/* Should output to fd be coloured? */
bool options_color(const struct options *options, int fd);

/* Are buffers polled repeatedly? */
bool options_follow(const struct options *options);

/* Does text name each of n buffers? */
bool options_names(const struct options *options, size_t n_buffers);

/* Are lines on standard output marked with their findings? */
bool options_finding_marks(const struct options *options);

/* The prefixes of messages in text: bits of enum pfd_show. */
unsigned options_show(const struct options *options);

/* The hyperlink prefix for names of source files on this terminal; NULL: no
 * hyperlinks. */
const char *options_links(const struct options *options);

/* Does JSON have arguments by name, too? */
bool options_fields(const struct options *options);

/* Does standard output get JSON on a terminal? */
bool options_show_json(const struct options *options);

/* Are findings printed among messages? So it is when both go to one
 * terminal. */
bool options_inline_findings(const struct options *options);

/* Is a buffer read from the memory of a process or core? */
bool options_have_memory(const struct options *options);

/* Was any --tls-... option given? */
bool options_have_tls(const struct options *options);
/* Was any option given that needs --nats? */
bool options_have_nats(const struct options *options);
/* Was any option given that needs a daemon? */
bool options_have_daemon(const struct options *options);

int capture_run(const struct options *options);
int decode_run(const struct options *options);
int extract_run(const struct options *options);
int formats_run(const struct options *options);
int follow_run(const struct options *options);
int info_run(const struct options *options);
int inspect_run(const struct options *options);
int run_run(const struct options *options);
int plot_run(const struct options *options);
int recover_run(const struct options *options);
int replay_run(const struct options *options);
int scan_run(const struct options *options);
int spirv_check_run(const struct options *options);
int stats_run(const struct options *options);
int strings_run(const struct options *options);
int table_run(const struct options *options);

#endif
