/* SPDX-License-Identifier: MIT */
#include "outputs/database.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/table/sqlite.h"
#include "base/own_file.h"
#include "core/base/clock.h"
#include "outputs/database_rows.h"

enum {
    OURS = 0x70666464,   /* application_id of the file: "pfdd" */
    VERSION = 1,         /* of the tables */
    BUSY_MS = 1000,      /* that others may take */
    LOG_MAX = 16 << 20,  /* bytes of the write-ahead log, or: */
    LOG_PART = 8,        /* this part of the file's largest size */
    REMOVE = 256,        /* rows at a time, at least */
    ROUNDS = 64,         /* of removing, in one transaction */
    PAGES = 16,          /* that a transaction may take beside its rows' */
    STEP = 1 << 16,      /* instructions of SQLite, after which they count: */
    STEPS_MAX = 1 << 12, /* that a statement may take */
    OPEN_STEPS_MAX = 1 << 6,  /* likewise, until it is set up */
    VALUE_MAX = 64 << 20,     /* bytes of a text that an expression makes */
    HEAP_MAX = 4 * VALUE_MAX, /* that SQLite takes for all databases */
};

/* SQLite's way to files, where it writes only our files. */
#define FILES "printfdecoded"

enum statement {
    APPEND,   /* rows after the last one, which SQLite numbers */
    INSERT,   /* rows with their numbers */
    OLDEST,   /* removes rows */
    POSITION, /* sets the position */
    LAST_ROW,
    PAGE_COUNT,
    FREE_COUNT,
    N_STATEMENTS
};

/* ---- failures ---- */

static void close_all(struct pfdd_database *db)
{
    for (size_t i = 0; i < N_STATEMENTS; i++) {
        sqlite3_finalize(db->statements[i]);
        db->statements[i] = NULL;
    }
    sqlite3_close_v2(db->db);
    db->db = NULL;
}

/* Stores SQLite's error, and the system's behind it, and closes the file. */
static bool fail(struct pfdd_database *db)
{
    int error = db->db ? sqlite3_system_errno(db->db) : 0;
    int code = db->db ? sqlite3_errcode(db->db) : SQLITE_NOMEM;
    bool is_system = error && (code == SQLITE_CANTOPEN || code == SQLITE_IOERR);
    snprintf(db->why, sizeof db->why, "%s%s%s%s",
             code == SQLITE_BUSY        ? "others write to it: "
             : code == SQLITE_INTERRUPT ? "its tables take too much work: "
                                        : "",
             db->db ? sqlite3_errmsg(db->db) : "out of memory",
             is_system ? ": " : "", is_system ? strerror(error) : "");
    close_all(db);
    return false;
}

static bool fail_with(struct pfdd_database *db, const char *why)
{
    snprintf(db->why, sizeof db->why, "%s", why);
    close_all(db);
    return false;
}

/* ---- untrusted files ---- */

static struct sqlite3_vfs *system_files;

/* A journal may name one of several databases that were written together, which
 * SQLite takes away after it. We write one at a time: others wrote that name. */
static int open_file(struct sqlite3_vfs *vfs, const char *path,
                     struct sqlite3_file *file, int flags, int *ret)
{
    file->pMethods = NULL;
    return flags & SQLITE_OPEN_SUPER_JOURNAL
               ? SQLITE_CANTOPEN
               : system_files->xOpen(vfs, path, file, flags, ret);
}

static void register_files(void)
{
    static struct sqlite3_vfs files;
    system_files = sqlite3_vfs_find(NULL);
    if (!system_files)
        return;
    files = *system_files;
    files.zName = FILES;
    files.pNext = NULL;
    files.xOpen = open_file;
    sqlite3_hard_heap_limit64(HEAP_MAX);
    sqlite3_vfs_register(&files, 0);
}

/* A sqlite3_progress_handler(): ends what takes too long. */
static int count_step(void *user)
{
    struct pfdd_database *db = user;
    return ++db->n_steps > (db->is_set_up ? STEPS_MAX : OPEN_STEPS_MAX);
}

/*
 * Another process that can write the file may have put SQL into it. SQLite runs
 * none of it except what a table itself needs (indexes, checks), and that
 * within a limit of steps.
 */
static bool distrust(struct pfdd_database *db)
{
    db->is_set_up = false;
    sqlite3_progress_handler(db->db, STEP, count_step, db);
    sqlite3_limit(db->db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
    return pfd_sqlite_distrust(db->db, sqlite3_db_config) || fail(db);
}

/* ---- statements ---- */

static bool run(struct pfdd_database *db, const char *sql)
{
    db->n_steps = 0;
    return sqlite3_exec(db->db, sql, NULL, NULL, NULL) == SQLITE_OK || fail(db);
}

/* Reads the number that a prepared query returns. */
static bool ask(struct pfdd_database *db, struct sqlite3_stmt *question,
                int64_t *ret)
{
    db->n_steps = 0;
    bool ok = question && sqlite3_step(question) == SQLITE_ROW;
    if (!ok)
        return fail(db);
    *ret = sqlite3_column_int64(question, 0);
    sqlite3_reset(question);
    return true;
}

static bool step(struct pfdd_database *db, enum statement which)
{
    struct sqlite3_stmt *s = db->statements[which];
    db->n_steps = 0;
    if (sqlite3_step(s) != SQLITE_DONE)
        return fail(db);
    sqlite3_reset(s);
    return true;
}

static bool ask_once(struct pfdd_database *db, const char *sql, int64_t *ret)
{
    struct sqlite3_stmt *question = NULL;
    int64_t number = 0;
    db->n_steps = 0;
    bool ok =
        sqlite3_prepare_v2(db->db, sql, -1, &question, NULL) == SQLITE_OK &&
        sqlite3_step(question) == SQLITE_ROW;
    if (ok)
        number = sqlite3_column_int64(question, 0);
    *ret = number;
    if (!ok)
        fail(db); /* the statement remains valid */
    sqlite3_finalize(question);
    return ok;
}

/* ---- opening ---- */

static void put_columns(struct pfd_text *sql, bool with_types)
{
    for (size_t i = 0; i < PFDD_ROW_COLUMNS; i++) {
        const struct pfdd_row_column *c = &pfdd_row_columns[i];
        pfd_text_printf(sql, "%s\"%s\"%s%s", i ? ", " : "", c->name,
                        with_types ? " " : "", with_types ? c->type : "");
    }
}

static bool run_grown(struct pfdd_database *db, struct pfd_text *sql)
{
    pfd_text_add(sql, "", 1);
    bool ok = sql->failed ? fail_with(db, "out of memory") : run(db, sql->data);
    pfd_text_free(sql);
    return ok;
}

/* Creates the tables of an empty file. */
static bool make_tables(struct pfdd_database *db)
{
    struct pfd_text sql = { 0 };
    /* This has effect only before the first write. */
    if (!run(db, "PRAGMA auto_vacuum = INCREMENTAL"))
        return false;
    pfd_text_puts(&sql, "BEGIN IMMEDIATE;"
                        "CREATE TABLE messages "
                        "(\"row\" INTEGER PRIMARY KEY, ");
    put_columns(&sql, true);
    pfd_text_printf(&sql,
                    "); CREATE TABLE position (one INTEGER PRIMARY KEY, "
                    "sequence INTEGER, time INTEGER, \"row\" INTEGER);"
                    "PRAGMA application_id = %d; PRAGMA user_version = %d;"
                    "COMMIT",
                    OURS, VERSION);
    return run_grown(db, &sql);
}

/* Leaves databases of other programs unchanged. */
static bool check_owner(struct pfdd_database *db)
{
    int64_t owner = 0;
    int64_t version = 0;
    int64_t n_tables = 0;
    if (!ask_once(db, "PRAGMA application_id", &owner) ||
        !ask_once(db, "PRAGMA user_version", &version) ||
        !ask_once(db, "SELECT count(*) FROM sqlite_master", &n_tables))
        return false;
    if (!owner && !n_tables)
        return make_tables(db);
    if (owner != OURS)
        return fail_with(db, "this is a database of another program");
    return version == VERSION ||
           fail_with(db, "its tables are of another version of printfdecoded");
}

static bool prepare(struct pfdd_database *db, enum statement which,
                    const char *sql)
{
    return sqlite3_prepare_v3(db->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
                              &db->statements[which], NULL) == SQLITE_OK ||
           fail(db);
}

/* ROLLBACK: a row that fails undoes the whole transaction, so SQLite keeps no
 * journal to undo a single statement. */
static bool prepare_insert(struct pfdd_database *db, enum statement which)
{
    const char *row = which == INSERT ? "\"row\", " : "";
    struct pfd_text sql = { 0 };
    pfd_text_printf(&sql, "INSERT OR ROLLBACK INTO messages (%s", row);
    put_columns(&sql, false);
    pfd_text_printf(&sql, ") SELECT %s", row);
    put_columns(&sql, false);
    pfd_text_puts(&sql, " FROM " PFDD_ROW_TABLE);
    pfd_text_add(&sql, "", 1);
    bool ok = sql.failed ? fail_with(db, "out of memory")
                         : prepare(db, which, sql.data);
    pfd_text_free(&sql);
    return ok;
}

static bool prepare_all(struct pfdd_database *db)
{
    static const struct {
        enum statement which;
        const char *sql;
    } others[] = {
        { OLDEST, "DELETE FROM messages WHERE \"row\" <= (SELECT max(\"row\") "
                  "FROM (SELECT \"row\", time FROM messages ORDER BY \"row\" "
                  "LIMIT ?1) WHERE time < ?2)" },
        { POSITION, "INSERT OR REPLACE INTO position VALUES (1, ?, ?, ?)" },
        { LAST_ROW, "SELECT coalesce(max(\"row\"), 0) FROM messages" },
        { PAGE_COUNT, "PRAGMA page_count" },
        { FREE_COUNT, "PRAGMA freelist_count" },
    };
    bool ok = (pfdd_row_table_add(db->db, &db->rows) || fail(db)) &&
              prepare_insert(db, APPEND) && prepare_insert(db, INSERT);
    for (size_t i = 0; ok && i < sizeof others / sizeof *others; i++)
        ok = prepare(db, others[i].which, others[i].sql);
    return ok;
}

static bool read_position(struct pfdd_database *db)
{
    int64_t sequence = 0;
    int64_t time = 0;
    if (!ask_once(db, "SELECT coalesce(max(sequence), 0) FROM position",
                  &sequence) ||
        !ask_once(db, "SELECT coalesce(max(time), 0) FROM position", &time) ||
        !ask_once(db, "SELECT coalesce(max(\"row\"), 0) FROM position",
                  &db->row))
        return false;
    db->sequence = (uint64_t)sequence;
    db->time = (uint64_t)time;
    return true;
}

static bool set_up(struct pfdd_database *db)
{
    sqlite3_busy_timeout(db->db, BUSY_MS);
    db->is_set_up =
        distrust(db) &&
        run(db, "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2048;"
                "PRAGMA secure_delete = FAST;"
                "PRAGMA cell_size_check = ON") &&
        check_owner(db) &&
        run(db, "PRAGMA journal_mode = WAL;"
                "PRAGMA journal_size_limit = 4194304") &&
        run(db, db->is_durable ? "PRAGMA synchronous = FULL"
                               : "PRAGMA synchronous = NORMAL") &&
        ask_once(db, "PRAGMA page_size", &db->page_size) && read_position(db) &&
        prepare_all(db);
    return db->is_set_up;
}

/* Is it a link, of either kind? 0, ELOOP, EMLINK. */
static int find_link(const char *path)
{
    struct stat st;
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return 0;
    bool is_link = fstat(fd, &st) == 0 && S_ISLNK(st.st_mode);
    bool is_ours = pfdd_own_file_is_only_ours(fd);
    close(fd);
    return is_link ? ELOOP : is_ours ? 0 : EMLINK;
}

/* SQLite follows links to the files beside it, which it overwrites. */
static int find_link_beside(const struct pfdd_database *db)
{
    static const char *const ends[] = { "-wal", "-shm", "-journal" };
    char path[4096];
    int error = 0;
    for (size_t i = 0; !error && i < sizeof ends / sizeof *ends; i++) {
        snprintf(path, sizeof path, "%s%s", db->path, ends[i]);
        error = find_link(path);
    }
    return error;
}

/* Creates the file without rights for others, which SQLite would grant. SQLite
 * gives its other files the same rights. */
static bool make_file(struct pfdd_database *db)
{
    struct stat st;
    int fd = pfdd_own_file_open(db->path, O_RDWR | O_CREAT);
    bool ok = fd >= 0 && fstat(fd, &st) == 0;
    int error = ok ? find_link_beside(db) : 0;
    if (error) {
        errno = error;
        ok = false;
    }
    if (ok && !S_ISREG(st.st_mode)) {
        errno = EINVAL;
        ok = false;
    }
    if (ok) {
        db->device = st.st_dev;
        db->inode = st.st_ino;
    } else {
        fail_with(db, pfdd_own_file_error(errno));
    }
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool is_there(const struct pfdd_database *db)
{
    struct stat st;
    return stat(db->path, &st) == 0 && st.st_dev == db->device &&
           st.st_ino == db->inode;
}

bool pfdd_database_open(struct pfdd_database *db)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_files);
    if (db->db && is_there(db))
        return true;
    close_all(db);
    if (!make_file(db))
        return false;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    return sqlite3_open_v2(db->path, &db->db, flags, FILES) == SQLITE_OK
               ? set_up(db)
               : fail(db);
}

void pfdd_database_close(struct pfdd_database *db)
{
    close_all(db);
}

/* ---- removal ---- */

static bool remove_oldest(struct pfdd_database *db, int64_t n,
                          int64_t older_than, int *n_removed)
{
    struct sqlite3_stmt *s = db->statements[OLDEST];
    sqlite3_bind_int64(s, 1, n);
    sqlite3_bind_int64(s, 2, older_than);
    if (!step(db, OLDEST))
        return false;
    *n_removed = sqlite3_changes(db->db);
    return true;
}

static bool remove_aged(struct pfdd_database *db)
{
    int n_removed = 1;
    if (!db->max_age_ns)
        return true;
    int64_t limit = (int64_t)(pfd_clock_ns(CLOCK_REALTIME) - db->max_age_ns);
    for (int i = 0; i < ROUNDS && n_removed; i++) {
        if (!remove_oldest(db, REMOVE, limit, &n_removed))
            return false;
    }
    return true;
}

static bool used_pages(struct pfdd_database *db, int64_t *ret)
{
    int64_t all = 0;
    int64_t unused = 0;
    bool ok = ask(db, db->statements[PAGE_COUNT], &all) &&
              ask(db, db->statements[FREE_COUNT], &unused);
    *ret = all - unused;
    return ok;
}

/* Makes room for n bytes of log records. SQLite reuses the pages of removed
 * rows; the file is vacuumed only if it exceeds its limit. */
static bool remove_surplus(struct pfdd_database *db, size_t n)
{
    int64_t max = (int64_t)db->n_max / db->page_size;
    int64_t needed = (int64_t)(n + n / 2) / db->page_size + PAGES;
    int64_t used = 0;
    int64_t all = 0;
    int n_removed = 1;
    if (!db->n_max)
        return true;
    for (int i = 0; i < ROUNDS && n_removed; i++) {
        if (!used_pages(db, &used))
            return false;
        if (used + needed <= max)
            break;
        if (!remove_oldest(db, REMOVE, INT64_MAX, &n_removed))
            return false;
    }
    return ask(db, db->statements[PAGE_COUNT], &all) &&
           (all <= max || run(db, "PRAGMA incremental_vacuum"));
}

/* Truncates the log if it is too large. This fails while a reader keeps a
 * transaction open. */
static bool look_after_log(struct pfdd_database *db)
{
    char path[4096];
    struct stat st;
    uint64_t part = db->n_max / LOG_PART;
    snprintf(path, sizeof path, "%s-wal", db->path);
    if (stat(path, &st) != 0 ||
        (uint64_t)st.st_size <= (part > LOG_MAX ? part : LOG_MAX))
        return true;
    int rc = sqlite3_wal_checkpoint_v2(db->db, NULL, SQLITE_CHECKPOINT_TRUNCATE,
                                       NULL, NULL);
    if (rc != SQLITE_BUSY)
        return rc == SQLITE_OK || fail(db);
    snprintf(db->why, sizeof db->why,
             "a reader that does not end keeps %" PRIu64 " MiB in its log",
             (uint64_t)st.st_size >> 20);
    close_all(db);
    return false;
}

/* ---- insertion ---- */

static bool insert_all(struct pfdd_database *db, const char *notes, size_t n)
{
    int64_t last = 0;
    if (!ask(db, db->statements[LAST_ROW], &last))
        return false;
    bool is_short = last < db->row; /* the last rows were too old */
    db->rows = (struct pfdd_row_source){
        .notes = notes,
        .n = n,
        .row = (uint64_t)(is_short ? db->row : last),
    };
    return step(db, is_short ? INSERT : APPEND);
}

static bool set_position(struct pfdd_database *db)
{
    struct sqlite3_stmt *s = db->statements[POSITION];
    sqlite3_bind_int64(s, 1, (int64_t)db->rows.sequence);
    sqlite3_bind_int64(s, 2, (int64_t)db->rows.time);
    sqlite3_bind_int64(s, 3, (int64_t)db->rows.row);
    return step(db, POSITION);
}

/* A failure closes the file, which rolls the transaction back. */
bool pfdd_database_write(struct pfdd_database *db, const char *notes, size_t n,
                         uint64_t *n_rows)
{
    *n_rows = 0;
    if (!look_after_log(db) || !run(db, "BEGIN IMMEDIATE") ||
        !remove_aged(db) || !remove_surplus(db, n) ||
        (n && (!insert_all(db, notes, n) || !set_position(db))) ||
        !run(db, "COMMIT"))
        return false;
    if (!n)
        return true;
    db->row = (int64_t)db->rows.row;
    db->sequence = db->rows.sequence;
    db->time = db->rows.time;
    *n_rows = db->rows.n_rows;
    return true;
}
