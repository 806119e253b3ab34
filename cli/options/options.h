/* SPDX-License-Identifier: MIT */
/*
 * The command line: what a verb and an option are, and the values of options
 * that several verbs have. A verb's struct begins with struct options; its own
 * values follow.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/printfdecode.h>

#include "analysis/plot/plot.h"
#include "analysis/problems/problems.h"
#include "net/tls.h"
#include "show/collapsed_lines.h"

struct verb;

/* Exit statuses; documented in printfdecode(1). */
enum {
    EXIT_CLEAN = 0,
    EXIT_ERROR = 1,
    EXIT_FINDINGS = 2,
    EXIT_NOTHING = 3, /* a filter was given, and no entry passed it */
    EXIT_FAILED = 4,  /* --fail-on or its like found something */
};

/* The status that says error for this command line: EXIT_ERROR, if its verb has
 * no other. */
int error_status(void);
void error_status_set(const struct verb *verb);

enum role {
    ROLE_BY_CONTENT,
    ROLE_STRINGS,
    ROLE_BUFFER,
    ROLE_SHADER,  /* ID=FILE */
    ROLE_SHADERS, /* a JSON file of them */
    ROLE_COUNTER, /* of a described ring */
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
    const char **all; /* [n], owned */
    size_t n;
};

/* How buffers and strings are read. */
struct reading_options {
    const char *format;
    struct pfd_options decoding;
    unsigned given;        /* a bit for each option of pfd_option_get() that was
                       given */
    bool keep_going;       /* continue when a file cannot be read */
    uint64_t max_inflated; /* bytes; 0: the library's limit */
};

/* The memory of a process or a core, and the buffer in it. */
struct memory_options {
    const char *core; /* core file to read memory of; NULL: none */
    uint64_t pid;     /* process to read memory of; 0: none */
    uint64_t address; /* of a buffer in that memory */
    bool has_address;
    uint64_t size;     /* of that buffer, bytes; 0: not given */
    bool code_objects; /* list its code objects */
    bool scan;         /* search it, or files, for code objects */
};

struct filter_options {
    struct words matches;
    struct words format_strings;
    struct words sources;
    struct {
        uint64_t *all; /* [n], owned */
        size_t n;
    } ids;
    const char *where; /* NULL: no condition */
    bool ignore_case;
    bool invert;
};

/* What lets a command fail that has worked. */
struct check_options {
    struct words matches;    /* messages that do */
    const char *where;       /* entries that do; NULL: no condition */
    bool errors;             /* entries of level error do */
    bool loss;               /* losses do */
    const char *report_file; /* where the report goes; NULL: standard output */
};

/* Which of the wanted entries. */
struct range_options {
    bool count; /* print the number of entries instead of entries */
    uint64_t skip;
    uint64_t limit;   /* UINT64_MAX: all */
    uint64_t tail;    /* only the last entries, this many; 0: all */
    uint64_t context; /* entries to show around each match */
};

/* How lines look. */
struct line_options {
    unsigned show; /* enum show */
    enum when links;
    enum when fields;
    bool with_filename;
    bool no_filename;
};

/* Buffers that grow, and daemons. */
struct live_options {
    uint64_t until_idle_ms;
    bool has_until_idle;
    uint64_t settle_ms;
    bool has_settle;  /* else settle_ms is the library's default */
    const char *from; /* start in a daemon's stream; NULL: now */
    bool ack;
    uint64_t spool_max;       /* bytes of a file for unread lines; 0: none */
    int ready_fd;             /* gets a byte when a daemon answers; 0: none */
    const char *spool_folder; /* NULL: that of temporary files */
    bool no_findings;         /* of a daemon: messages only */
    uint64_t *n_entries; /* gets the number of entries at the end, or NULL */
};

struct nats_options {
    const char *url;         /* servers to read entries of; NULL: none */
    const char *credentials; /* a file */
    const char *user;
    const char *password_file;
    bool has_since;
    uint64_t since; /* ns since 1970, */
    uint64_t ago;   /* or ns before now; the other one is 0 */
};

struct options {
    const struct verb *verb;
    struct file *files; /* [n_files], in the order given */
    size_t n_files;
    bool is_default_daemon; /* no file was given: read from the local daemon */
    uint64_t n_findings;    /* findings about folders among the files */
    const char *output;     /* NULL: text */
    const struct pfd_problems_form
        *report;    /* the form that `output` names; NULL:
                                             no report */
    const char *to; /* a file or folder to write */
    bool force;
    bool follows; /* buffers are polled repeatedly */
    bool verbose;
    enum when color;
    enum when progress;
    unsigned threads;
    struct reading_options reading;
    struct memory_options memory;
    struct filter_options filter;
    struct check_options checks;
    struct range_options range;
    struct line_options lines;
    struct collapse_options collapse;
    struct live_options live;
    struct tls_config tls;
    struct nats_options nats;
};

struct option_row;

/* Stores the value in the row's member; text is NULL when the option takes
 * none. False: invalid; an error was printed. */
typedef bool (*option_parse_fn)(struct options *options,
                                const struct option_row *row, const char *text);

/* The argument of an option whose value only stands behind a =. */
#define OPTION_OPTIONAL ""

struct option_row {
    const char *name;
    char letter;          /* or '\0' */
    const char *argument; /* NULL: takes none */
    const char *help;
    size_t at; /* offset of its member in the verb's struct, or a number that
                  its parser takes */
    option_parse_fn parse;
    bool owns; /* the member begins with memory to free */
};

/* Options that verbs take together. */
struct option_group {
    const struct option_row *rows; /* [n] */
    size_t n;
};

#define OPTION_GROUP(rows)                    \
    {                                         \
        (rows), sizeof(rows) / sizeof *(rows) \
    }

/* A verb and its function, which returns the exit status. */
struct verb {
    const char *name;
    const char *files; /* its operands, for the usage line */
    const char *help;
    int (*run)(const struct options *options);
    size_t size; /* bytes of its struct; 0: struct options is all of it */
    const struct option_group *const *groups; /* up to NULL */
    /* Checks the values together; NULL: nothing to check. False: an error was
     * printed. */
    bool (*check)(const struct options *options);
    int error_status;     /* its exit status for errors; 0: EXIT_ERROR */
    const char *statuses; /* what the help says of them; NULL: the usual ones */
    bool follows;         /* buffers are polled, by default those of a daemon */
    bool runs_program;    /* its operands are a program and its arguments */
    bool may_lack_files;  /* its operands can be left out */
    bool takes_cores;     /* a core file is a buffer, not code */
    bool wants_strings;   /* strings alone: not having any is worth a note, and
                           memory is not searched for buffers */
};

/* All verbs; the first one is the default. */
struct verbs {
    const struct verb *const *all; /* [n] */
    size_t n;
};

/* A place among the rows of a verb. */
struct option_cursor {
    const struct option_group *const *group;
    size_t i;
};

/* Before the first row. */
struct option_cursor option_cursor(const struct verb *verb);
/* The next row; NULL: there is none. */
const struct option_row *option_next(struct option_cursor *c);

/* NULL is allowed. */
void options_free(struct options *options);

/* Adds a file; the path is borrowed. */
struct file *options_add_file(struct options *options, const char *path,
                              enum role role);

/* Says that memory is out, and ends the program. */
_Noreturn void exit_without_memory(void);

/* array, larger by an element of `size` bytes; *n counts it. Ends the program
 * when memory is out. */
void *options_append(void *array, size_t *n, size_t size);

/* Does any option affect how buffers are decoded? With text_too: or how text is
 * printed? */
bool options_decide(const struct options *options, bool text_too);

/* Should output to fd be coloured? */
bool options_color(const struct options *options, int fd);

/* Does text name each of n buffers? */
bool options_names(const struct options *options, size_t n_buffers);

/* Are lines on standard output marked with their findings? */
bool options_finding_marks(const struct options *options);

/* The form of lines of entries on standard output; NULL: it gets something else,
 * such as a trace. */
const char *options_form(const struct options *options);

/* Does standard output get a trace of Perfetto? */
bool options_trace(const struct options *options);

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
/* False: a certificate without its key, or the reverse; an error was
 * printed. */
bool options_check_certificate(const struct options *options);
/* Was any option given that needs --nats? */
bool options_have_nats(const struct options *options);
/* Was any option given that needs a daemon? */
bool options_have_daemon(const struct options *options);

#endif
