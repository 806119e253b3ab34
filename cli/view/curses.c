/* SPDX-License-Identifier: MIT */
/* The terminal by ncurses; a module that view loads. */
#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

/* term.h has macros for capabilities of these names. */
#undef columns
#undef lines

#include "view/screen.h"

enum {
    TAB_WIDTH = 8,
    RESTORE_MAX = 256 /* bytes that restore a terminal */
};

/* What a signal handler needs; set once, before handlers are. */
static struct termios saved;
static int tty = -1; /* the terminal that keys come from */
static char restore[RESTORE_MAX];
static size_t n_restore;

static FILE *in;
static SCREEN *screen;
static bool is_open;
static bool is_closed; /* no more keys will come */
static bool has_color;
static wint_t waiting;         /* a key that has_key() has read, */
static int waiting_kind = ERR; /* ERR: there is none */

/* ---- the end of the process ---- */

static const int fatal[] = { SIGHUP,  SIGINT, SIGQUIT, SIGTERM, SIGABRT,
                             SIGSEGV, SIGBUS, SIGFPE,  SIGILL };
static struct sigaction before_bus;

/* Calls only what signal handlers may call. The handler of SIGBUS that was there
 * says which file became shorter; ncurses' own ones would end with another
 * status. */
static void on_fatal(int number)
{
    static const struct sigaction usual = { .sa_handler = SIG_DFL };
    tcsetattr(tty, TCSANOW, &saved);
    (void)!write(STDOUT_FILENO, restore, n_restore);
    sigaction(number, number == SIGBUS ? &before_bus : &usual, NULL);
    raise(number);
}

static void add_restore(const char *capability)
{
    const char *text = tigetstr(capability);
    if (!text || text == (const char *)-1)
        return;
    size_t n = strlen(text);
    if (n <= sizeof restore - n_restore) {
        memcpy(restore + n_restore, text, n);
        n_restore += n;
    }
}

static void catch_fatal(void)
{
    struct sigaction action = { .sa_handler = on_fatal };
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaction(fatal[i], &action, fatal[i] == SIGBUS ? &before_bus : NULL);
}

static void screen_close(void)
{
    if (!is_open)
        return;
    is_open = false;
    endwin();
    n_restore = 0; /* nothing is left to restore */
}

/* ---- the beginning ---- */

static void init_colors(bool color)
{
    has_color = color && has_colors() && start_color() == OK;
    if (!has_color)
        return;
    use_default_colors();
    init_pair(1, COLOR_RED, -1);
    init_pair(2, COLOR_WHITE, COLOR_BLUE);
    init_pair(3, COLOR_BLACK, COLOR_CYAN);
}

static bool fail(char *err, size_t n_err, const char *why)
{
    snprintf(err, n_err, "%s", why);
    return false;
}

static bool screen_open(bool color, char *err, size_t n_err)
{
    setlocale(LC_CTYPE, "");
    in = fopen("/dev/tty", "r");
    tty = in ? fileno(in) : -1;
    if (!in || tcgetattr(tty, &saved))
        return fail(err, n_err, "there is no terminal to read keys from");
    screen = newterm(NULL, stdout, in);
    if (!screen)
        return fail(err, n_err, "the terminal's type (TERM) is not known");
    add_restore("rmkx");
    add_restore("sgr0");
    add_restore("cnorm");
    add_restore("rmcup");
    is_open = true;
    atexit(screen_close);
    catch_fatal();
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, true);
    set_escdelay(50);
    curs_set(0);
    init_colors(color);
    return true;
}

/* ---- drawing ---- */

static attr_t attributes(enum screen_style style)
{
    static const attr_t plain[SCREEN_STYLES] = {
        [SCREEN_DIM] = A_DIM,          [SCREEN_BOLD] = A_BOLD,
        [SCREEN_BAR] = A_REVERSE,      [SCREEN_SELECTED] = A_REVERSE,
        [SCREEN_MARKED] = A_UNDERLINE, [SCREEN_FINDING] = A_BOLD,
    };
    if (has_color && style == SCREEN_FINDING)
        return (attr_t)COLOR_PAIR(1);
    if (has_color && style == SCREEN_BAR)
        return (attr_t)COLOR_PAIR(2);
    if (has_color && style == SCREEN_SELECTED)
        return (attr_t)COLOR_PAIR(3);
    return plain[style];
}

static void screen_size(int *rows, int *columns)
{
    getmaxyx(stdscr, *rows, *columns);
}

static void screen_erase(void)
{
    erase();
}

/* Where a text is drawn. */
struct pen {
    int skip; /* columns to leave out */
    int left; /* columns that are free */
};

/* Draws a character that takes so many columns. */
static void draw(struct pen *pen, wchar_t c, int columns)
{
    wchar_t text[] = { c, L'\0' };
    if (pen->skip > 0) {
        pen->skip -= columns;
        for (; pen->skip < 0; pen->skip++) { /* half of it is left out */
            addch(' ');
            pen->left--;
        }
    } else if (columns <= pen->left) {
        addwstr(text);
        pen->left -= columns;
    } else {
        pen->left = columns ? 0 : pen->left;
    }
}

static void draw_text(struct pen *pen, const char *text, size_t n)
{
    mbstate_t state = { 0 };
    int column = 0;
    for (size_t at = 0; at < n && pen->left > 0;) {
        wchar_t c = L'?';
        size_t k = mbrtowc(&c, text + at, n - at, &state);
        if (k == 0 || k > n - at) { /* no character of this locale */
            state = (mbstate_t){ 0 };
            k = 1;
            c = L'?';
        }
        at += k;
        int columns = c == L'\t' ? TAB_WIDTH - column % TAB_WIDTH : wcwidth(c);
        column += columns > 0 ? columns : 0;
        if (c == L'\t') {
            for (; columns > 0; columns--)
                draw(pen, L' ', 1);
        } else {
            draw(pen, columns < 0 ? L'?' : c, columns < 0 ? 1 : columns);
        }
    }
}

static void screen_put(const struct screen_text *where, const char *text,
                       size_t n)
{
    int rows;
    int columns;
    screen_size(&rows, &columns);
    if (where->row < 0 || where->row >= rows || where->column >= columns)
        return;
    struct pen pen = { .skip = where->skip, .left = columns - where->column };
    if (where->width < pen.left)
        pen.left = where->width;
    attr_set(attributes(where->style) & ~A_COLOR,
             (short)PAIR_NUMBER(attributes(where->style)), NULL);
    move(where->row, where->column);
    draw_text(&pen, text, n);
    for (; pen.left > 0; pen.left--)
        addch(' ');
    attr_set(A_NORMAL, 0, NULL);
}

static void screen_show(int cursor_row, int cursor_column)
{
    curs_set(cursor_row >= 0);
    if (cursor_row >= 0)
        move(cursor_row, cursor_column);
    refresh();
}

/* ---- keys ---- */

static uint32_t special(wint_t key)
{
    static const struct {
        int code;
        uint32_t key;
    } all[] = {
        { KEY_UP, SCREEN_UP },          { KEY_DOWN, SCREEN_DOWN },
        { KEY_LEFT, SCREEN_LEFT },      { KEY_RIGHT, SCREEN_RIGHT },
        { KEY_PPAGE, SCREEN_PAGE_UP },  { KEY_NPAGE, SCREEN_PAGE_DOWN },
        { KEY_HOME, SCREEN_HOME },      { KEY_END, SCREEN_END },
        { KEY_ENTER, SCREEN_ENTER },    { KEY_BACKSPACE, SCREEN_BACKSPACE },
        { KEY_RESIZE, SCREEN_RESIZED },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (key == (wint_t)all[i].code)
            return all[i].key;
    }
    return SCREEN_NO_KEY;
}

static uint32_t character(wint_t key)
{
    switch (key) {
    case '\r':
    case '\n':
        return SCREEN_ENTER;
    case '\033':
        return SCREEN_ESCAPE;
    case '\t':
        return SCREEN_TAB;
    case '\b':
    case 0x7f:
        return SCREEN_BACKSPACE;
    default:
        return key;
    }
}

/* Has the terminal gone? Then reading fails at once. */
static bool is_gone(void)
{
    struct pollfd fd = { .fd = tty, .events = POLLIN };
    return poll(&fd, 1, 0) > 0 && fd.revents & (POLLHUP | POLLERR | POLLNVAL);
}

static uint32_t screen_key(int timeout_ms)
{
    wint_t key = waiting;
    int kind = waiting_kind;
    waiting_kind = ERR;
    if (kind == ERR) {
        timeout(timeout_ms);
        kind = get_wch(&key);
    }
    if (kind == ERR && is_gone())
        is_closed = true;
    if (is_closed)
        return SCREEN_CLOSED;
    return kind == ERR            ? (uint32_t)SCREEN_NO_KEY
           : kind == KEY_CODE_YES ? special(key)
                                  : character(key);
}

static bool screen_has_key(void)
{
    if (waiting_kind == ERR) {
        timeout(0);
        waiting_kind = get_wch(&waiting);
    }
    return waiting_kind != ERR;
}

const struct screen_class printfdecode_screen = {
    .open = screen_open,
    .close = screen_close,
    .size = screen_size,
    .erase = screen_erase,
    .put = screen_put,
    .show = screen_show,
    .key = screen_key,
    .has_key = screen_has_key,
};
