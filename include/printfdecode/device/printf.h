/* SPDX-License-Identifier: MIT */
/*
 * printf for kernels of CUDA and HIP, thirty times as fast as the vendors':
 *
 *   PFD_PRINTF("ray %u t=%f\n", id, t);
 *
 * The compiler checks arguments against the format string. Only an id and the
 * arguments are stored, in LLPC's buffer (formats/llpc/README.md), which the
 * host shares with a reader while kernels run; printfdecode/device/host.h has
 * that side. The strings stay in the program's file: `printfdecode dump a.out`
 * needs nothing else. C++17.
 *
 * Arguments: integers, bool, enum, float (which stays 32 bits wide), double,
 * types that convert to a float, pointers (%p), and for %s a literal or a
 * PFD_TEXT("literal"); 32 at most. A conversion of 64 bits has one of the
 * lengths l, ll, j, z, t. Not supported: %n, and vectors as a whole.
 *
 * A site is off if no buffer is bound or the control block says so; its
 * arguments are then not evaluated, and it costs one load and a branch.
 *
 * Options, defined before this file is included, alike or not in each file:
 *   PFD_COMMIT  each entry ends in a word made of all of it, so that a reader
 *               of a live buffer sees whether it is whole
 *   PFD_ORIGIN  each entry says which workgroup, wave and lane wrote it, and
 *               when
 *
 * Threads of one wave that print the same thing at once do it with one atomic,
 * and their entries stand side by side.
 */
#ifndef PRINTFDECODE_DEVICE_PRINTF_H
#define PRINTFDECODE_DEVICE_PRINTF_H

#include <printfdecode/device/control.h>
#include <printfdecode/device/platform.h>
#include <printfdecode/device/row.h>

#ifdef PFD_COMMIT
#define PFD_COMMIT_FLAG PFD_ROW_COMMIT
#else
#define PFD_COMMIT_FLAG 0
#endif
#ifdef PFD_ORIGIN
#define PFD_ORIGIN_FLAG PFD_ROW_ORIGIN
#else
#define PFD_ORIGIN_FLAG 0
#endif

/* Prints, in device code. The second form has a level: ERROR, WARNING, INFO,
 * DEBUG or TRACE. */
#define PFD_PRINTF(...)     PFD_PRINTF_AT(PFD_LEVEL_NONE, __VA_ARGS__)
#define PFD_LOG(level, ...) PFD_PRINTF_AT(PFD_LEVEL_##level, __VA_ARGS__)

/* One of several literals for %s: PFD_PRINTF("%s\n", hit ? PFD_TEXT("hit") :
 * PFD_TEXT("miss")). */
#define PFD_TEXT(literal_text)                                   \
    ([] {                                                        \
        struct pfd_text_site {                                   \
            PFD_BOTH static constexpr const char *text()         \
            {                                                    \
                return literal_text;                             \
            }                                                    \
        };                                                       \
        return pfd::keep_text<pfd::named_text<pfd_text_site>>(); \
    }())

#define PFD_FIRST_OF(first, ...) first
#define PFD_SOURCE_OF(...)       #__VA_ARGS__

#define PFD_PRINTF_AT(the_level, ...)                                      \
    do {                                                                   \
        struct pfd_site_here {                                             \
            PFD_BOTH static constexpr const char *text()                   \
            {                                                              \
                return PFD_FIRST_OF(__VA_ARGS__, 0);                       \
            }                                                              \
            PFD_BOTH static constexpr const char *arguments()              \
            {                                                              \
                return PFD_SOURCE_OF(__VA_ARGS__);                         \
            }                                                              \
            PFD_BOTH static constexpr const char *file()                   \
            {                                                              \
                return __FILE__;                                           \
            }                                                              \
            PFD_BOTH static constexpr unsigned line()                      \
            {                                                              \
                return __LINE__;                                           \
            }                                                              \
            PFD_BOTH static constexpr unsigned level()                     \
            {                                                              \
                return the_level;                                          \
            }                                                              \
            PFD_BOTH static constexpr unsigned flags()                     \
            {                                                              \
                return PFD_COMMIT_FLAG | PFD_ORIGIN_FLAG;                  \
            }                                                              \
        };                                                                 \
        uint32_t pfd_gate = pfd::look_at<pfd_site_here>(pfd_control_here); \
        if (__builtin_expect(pfd_gate != 0, 0))                            \
            pfd::print<pfd_site_here>(pfd_gate, __VA_ARGS__);              \
    } while (0)

/* The control block for this file's kernels; host.h sets it. Each source file
 * has its own, since not every program links its device code. */
#if defined(PFD_HOST_DEVICE)
static pfd_control *pfd_control_here __attribute__((unused));
#else
static __attribute__((device)) __attribute__((constant)) __attribute__((unused))
pfd_control *pfd_control_here;
#endif

namespace pfd
{

/* The variables of all source files of the program, for host.h. */
struct binding {
    static inline binding *first;
    const void *symbol;
    binding *next;

    explicit binding(const void *of) : symbol(of), next(first)
    {
        first = this;
    }
};

} /* namespace pfd */

static pfd::binding pfd_binding_here(&pfd_control_here);

namespace pfd
{

/*
 * ---- steps that all sites share, each a function of its own ----
 *
 * A kernel needs as many registers as the most demanding function that it may
 * call, beside the values that live across the call; a kernel whose sites are
 * off pays for them, too. So steps are small, pass their state on in memory,
 * and are called by the site itself: a function that called them would have to
 * keep its return address. They take the control block from their file's
 * variable: a kernel that passed it on would have to keep it all the time.
 */

/* An entry that a lane prints, in its own memory; its words follow. */
struct draft {
    pfd_site *site;
    lanes mask;    /* lanes that print with it: at first all that are at the
                      site */
    uint32_t gate; /* the value of its gate */
    uint32_t at;   /* in the buffer: the first dword of the mask's entries */
};

template <uint32_t N> struct draft_of {
    draft head;
    uint32_t words[N];
};

PFD_DEVICE PFD_INLINE uint32_t *words_of(draft *d)
{
    return (uint32_t *)(d + 1);
}

PFD_DEVICE PFD_INLINE pfd_site *sites_of(pfd_control *c)
{
    return (pfd_site *)(c + 1);
}

PFD_DEVICE PFD_INLINE uint64_t id_of(const uint32_t *words)
{
    return (uint64_t)words[1] << 16 | words[0] >> 16;
}

PFD_DEVICE PFD_INLINE uint32_t size_of(const uint32_t *words)
{
    return words[0] & 0xffff;
}

PFD_DEVICE PFD_INLINE bool is_within(const pfd_control_range &range,
                                     const uint32_t *at)
{
    bool ret = true;
    for (int i = 0; i < 3; i++)
        ret &= at[i] >= range.first[i] && at[i] <= range.last[i];
    return ret;
}

PFD_DEVICE PFD_INLINE uint32_t rank_in(lanes mask)
{
    return count_lanes(mask & (((lanes)1 << lane_number()) - 1));
}

PFD_DEVICE PFD_INLINE bool is_first(lanes mask)
{
    return lane_number() == first_lane(mask);
}

/* One lane of mask counts all; each gets its own number. */
PFD_DEVICE PFD_INLINE uint64_t count(lanes mask, uint64_t *to)
{
    uint64_t before = 0;
    if (is_first(mask))
        before = add_device(to, count_lanes(mask));
    uint32_t low = shuffle(mask, (uint32_t)before, first_lane(mask));
    uint32_t high = shuffle(mask, (uint32_t)(before >> 32), first_lane(mask));
    return ((uint64_t)high << 32 | low) + rank_in(mask);
}

/* Whether the n-th entry that was counted, from 0, is printed. */
PFD_DEVICE PFD_INLINE bool is_due(uint64_t n, uint32_t budget, uint32_t every)
{
    uint32_t rest = 0;
    /* By hand: the compiler's division takes twice the registers. */
    PFD_ROLLED
    for (int i = 0; every > 1 && i < 64; i++) {
        bool carry = rest >> 31;
        rest = rest << 1 | (uint32_t)(n >> 63);
        n <<= 1;
        if (carry || rest >= every) {
            rest -= every;
            n |= 1;
        }
    }
    return rest == 0 && (budget == PFD_NO_BUDGET || n < budget);
}

enum class choice {
    off,
    on,
    ruled
};

/* Decides by the control block whether a draft's site prints; all its lanes get
 * the same answer. */
PFD_STEP choice choose(draft *d)
{
    pfd_control *c = pfd_control_here;
    uint64_t id = id_of(words_of(d));
    uint32_t number = d->gate;
    pfd_site *site;
    PFD_ROLLED
    do {
        site = &sites_of(c)[number - 1];
        number = site->next;
    } while (site->id != id && number);
    d->site = site;
    if (site->id != id || !look(&site->is_on))
        return choice::off;
    bool all = !look(&c->is_filtered) && look(&site->budget) == PFD_NO_BUDGET &&
               look(&site->every) <= 1;
    return all ? choice::on : choice::ruled;
}

/* Removes the lanes from a draft's mask that its site's rules withhold, and
 * counts them. Returns whether this lane prints. */
PFD_STEP bool withhold(draft *d)
{
    pfd_control *c = pfd_control_here;
    pfd_site *site = d->site;
    lanes mask = d->mask;
    bool keep = true;
    if (look(&c->is_filtered)) {
        place here = this_place();
        keep = is_within(c->threads, here.thread) &&
               is_within(c->groups, here.group);
    }
    lanes kept = ballot(mask, keep);
    uint32_t budget = look(&site->budget);
    uint32_t every = look(&site->every);
    if (keep && (budget != PFD_NO_BUDGET || every > 1))
        keep = is_due(count(kept, &site->seen), budget, every);
    kept = ballot(mask, keep);
    if (is_first(mask) && kept != mask)
        add_device(&site->withheld, count_lanes(mask) - count_lanes(kept));
    d->mask = kept;
    return keep;
}

/* Reserves the dwords for the entries of a draft's lanes. Returns whether this
 * lane has to publish() them. */
PFD_STEP bool reserve(draft *d)
{
    pfd_control *c = pfd_control_here;
    lanes mask = d->mask;
    uint32_t at = 0;
    if (is_first(mask)) {
        uint32_t n = size_of(words_of(d)) * count_lanes(mask);
        uint64_t before = add_device(&c->n_reserved, n);
        /* Beyond the end: the end, so that nothing is stored. */
        at = before < c->n_dwords ? (uint32_t)before : c->n_dwords;
    }
    d->at = shuffle(mask, at, first_lane(mask));
    return is_first(mask);
}

/*
 * Publishes the reserved dwords in the buffer's header. The counter is in the
 * device's memory and fast; over a bus an atomic takes a microsecond of the
 * whole device. One lane at a time stores the counter; a lane that comes
 * meanwhile leaves it to that one, which checks again when it is done.
 */
PFD_STEP void publish()
{
    pfd_control *c = pfd_control_here;
    volatile uint64_t *header = (volatile uint64_t *)c->buffer;
    uint64_t told;
    fence_device();
    do {
        if (exchange(&c->is_telling, 1))
            return;
        fence_device();
        told = add_device(&c->n_reserved, 0);
        *header = told;
        fence_system();
        exchange(&c->is_telling, 0);
        fence_device();
    } while (add_device(&c->n_reserved, 0) != told);
}

/* Fills PFD_ROW_ORIGIN_DWORDS with the origin of this lane. */
PFD_DEVICE PFD_INLINE void fill_origin(uint32_t *words)
{
    place here = this_place();
    uint64_t clock = device_clock();
    for (int i = 0; i < 3; i++)
        words[i] = here.group[i];
    words[3] = here.wave << 8 | here.lane;
    words[4] = (uint32_t)clock;
    words[5] = (uint32_t)(clock >> 32);
}

/* The commit word of an entry of n dwords and its place: MurmurHash3's 32 bits
 * of both. */
PFD_DEVICE PFD_INLINE uint32_t commit_word(const uint32_t *words, uint32_t n,
                                           uint32_t at)
{
    uint32_t h = at;
    PFD_ROLLED
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = words[i] * UINT32_C(0xcc9e2d51);
        k = (k << 15 | k >> 17) * UINT32_C(0x1b873593);
        h ^= k;
        h = (h << 13 | h >> 19) * 5 + UINT32_C(0xe6546b64);
    }
    h ^= n * 4;
    h = (h ^ h >> 16) * UINT32_C(0x85ebca6b);
    h = (h ^ h >> 13) * UINT32_C(0xc2b2ae35);
    return h ^ h >> 16;
}

/* Fills the dwords behind an entry's arguments. */
PFD_STEP void finish(draft *d, uint32_t flags)
{
    uint32_t *words = words_of(d);
    uint32_t n = size_of(words) - (flags & PFD_ROW_COMMIT ? 1 : 0);
    uint32_t at = d->at + rank_in(d->mask) * size_of(words);
    if (flags & PFD_ROW_ORIGIN)
        fill_origin(words + n - PFD_ROW_ORIGIN_DWORDS);
    if (flags & PFD_ROW_COMMIT)
        words[n] = commit_word(words, n, at);
}

/* The lane of mask that has `rank` of its lanes before it. */
PFD_DEVICE PFD_INLINE uint32_t lane_of(lanes mask, uint32_t rank)
{
    if ((mask & (mask + 1)) == 0)
        return rank;
    while (rank--)
        mask &= mask - 1;
    return first_lane(mask);
}

/*
 * Stores the entries of a draft's lanes, one behind the other. All lanes store
 * adjacent dwords, of any lane's entry, so that they cross a bus in as few
 * transactions as possible. Values that the loop needs once are read again each
 * time.
 */
PFD_STEP void store(draft *d)
{
    const pfd_control *c = pfd_control_here;
    const uint32_t *words = words_of(d);
    lanes mask = d->mask;
    uint32_t n = size_of(words);
    PFD_ROLLED
    for (uint32_t i = rank_in(mask); i < n * count_lanes(mask);
         i += count_lanes(mask)) {
        uint32_t from = lane_of(mask, i / n);
        uint32_t wanted = i % n;
        uint32_t word = 0;
        PFD_ROLLED
        for (uint32_t k = 0; k < n; k++) {
            uint32_t offered = shuffle(mask, words[k], from);
            word = k == wanted ? offered : word;
        }
        uint32_t at = d->at + i;
        if (at < again(&c->n_dwords))
            ((volatile uint32_t *)again(&c->buffer))[4 + at] = word;
    }
}

/* Prints a draft, whose header and arguments are filled in. */
template <uint32_t flags> PFD_DEVICE PFD_INLINE void put(draft *d)
{
    choice chosen = choose(d);
    if (chosen == choice::off || (chosen == choice::ruled && !withhold(d)))
        return;
    if (reserve(d))
        publish();
    if constexpr (flags != 0)
        finish(d, flags);
    store(d);
}

/* ---- one site ---- */

/* Makes sure that a row is in the file. */
template <class Maker> PFD_DEVICE PFD_INLINE uint64_t keep_row()
{
    constexpr uint64_t id = Maker::make().header.id;
    (void)&row_of<Maker>;
    return id;
}

template <class Text> PFD_DEVICE PFD_INLINE text keep_text()
{
    return text{ keep_row<text_row<Text>>() };
}

/* Argument I of a site as words; returns how many. */
template <class Site, unsigned I, class A>
PFD_DEVICE PFD_INLINE uint32_t pack(uint32_t *words, const A &value)
{
    constexpr char letter = letter_of<const A &>();
    uint64_t bits = 0;
    if constexpr (letter == 'a') {
        bits = keep_row<text_row<literal<Site, I>>>();
    } else if constexpr (letter == 's') {
        bits = value.id;
    } else if constexpr (letter == 'f') {
        float f = (float)value;
        uint32_t word;
        __builtin_memcpy(&word, &f, sizeof word);
        bits = word;
    } else if constexpr (letter == 'd') {
        __builtin_memcpy(&bits, &value, sizeof bits);
    } else if constexpr (letter == 'p') {
        bits = (uint64_t)(uintptr_t)value;
    } else {
        bits = (uint64_t)value;
    }
    words[0] = (uint32_t)bits;
    if constexpr (dwords_of(letter) == 2)
        words[1] = (uint32_t)(bits >> 32);
    return dwords_of(letter);
}

template <unsigned... I> struct numbers {
};
template <unsigned N, unsigned... I>
struct make_numbers : make_numbers<N - 1, N - 1, I...> {
};
template <unsigned... I> struct make_numbers<0, I...> {
    using type = numbers<I...>;
};

/* Reads the gate of a site, the only load; 0: the site is off. */
template <class Site> PFD_DEVICE PFD_INLINE uint32_t look_at(pfd_control *c)
{
    constexpr uint32_t gate = gate_of<Site>();
    return c ? look(&c->gates[gate]) : 0;
}

template <class Site, class... A> struct call : checks<Site, A...> {
    using maker = format_row<Site, A...>;
    static constexpr uint32_t n_extra =
        (Site::flags() & PFD_ROW_ORIGIN ? PFD_ROW_ORIGIN_DWORDS : 0) +
        (Site::flags() & PFD_ROW_COMMIT ? 1 : 0);
    static constexpr uint32_t n_dwords =
        2 + (dwords_of(letter_of<A>()) + ... + 0) + n_extra;

    template <unsigned... I>
    PFD_DEVICE PFD_INLINE static void print(numbers<I...>, uint32_t gate,
                                            const A &...values)
    {
        draft_of<n_dwords> d;
        uint64_t id = keep_row<maker>();
        uint64_t header = id << 16 | n_dwords;
        uint32_t at = 2;
        d.words[0] = (uint32_t)header;
        d.words[1] = (uint32_t)(header >> 32);
        ((at += pack<Site, I>(d.words + at, values)), ...);
        (void)at;
        d.head.mask = active_lanes(id);
        d.head.gate = gate;
        put<Site::flags()>(&d.head);
    }
};

template <class Site, class Format, class... A>
PFD_DEVICE PFD_INLINE void print(uint32_t gate, const Format &,
                                 const A &...values)
{
    call<Site, const A &...>::print(typename make_numbers<sizeof...(A)>::type(),
                                    gate, values...);
}

} /* namespace pfd */

#endif
