/* SPDX-License-Identifier: MIT */
/*
 * Stands in for a device: one wave of lanes, each with a stack of its own,
 * that run in turn and wait for each other where printf.h has them do so.
 * Which of the lanes at one place go on together is drawn by lot, so that
 * there are all kinds of masks.
 */
#ifndef WAVE_H
#define WAVE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <vector>

#include <printfdecode/device/platform.h>

namespace wave
{

enum class wait {
    nothing,
    site,
    shuffle,
    ballot,
    done
};

struct lane {
    ucontext_t context;
    std::vector<char> stack;
    wait waits = wait::nothing;
    uint64_t mask;  /* whom it waits for */
    uint64_t value; /* the site; the word; whether; then the answer */
    uint32_t from;
};

inline std::vector<lane> lanes;
inline ucontext_t scheduler;
inline uint32_t current;
inline uint32_t number; /* of the wave, in its workgroup */
inline uint32_t seed = 1;
inline bool together; /* all that can go on together do */
inline void (*kernel)(uint32_t thread);

inline uint32_t draw()
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

inline uint64_t wait_for(wait what, uint64_t mask, uint64_t value,
                         uint32_t from)
{
    lane &l = lanes[current];
    l.waits = what;
    l.mask = mask;
    l.value = value;
    l.from = from;
    swapcontext(&l.context, &scheduler);
    return lanes[current].value;
}

inline void run_lane()
{
    kernel(number * (uint32_t)lanes.size() + current);
    lanes[current].waits = wait::done;
}

/* All lanes of l's mask wait for the same? Then each has its answer. */
inline bool answer(const lane &l)
{
    uint64_t mask = l.mask;
    wait what = l.waits;
    uint64_t votes = 0;
    for (uint32_t i = 0; i < lanes.size(); i++) {
        if (!(mask >> i & 1))
            continue;
        if (lanes[i].waits != what || lanes[i].mask != mask)
            return false;
        votes |= (uint64_t)(lanes[i].value != 0) << i;
    }
    std::vector<uint64_t> answers(lanes.size());
    for (uint32_t i = 0; i < lanes.size(); i++) {
        answers[i] = votes;
        if (mask >> i & 1 && what == wait::shuffle) {
            if (!(mask >> lanes[i].from & 1)) {
                fprintf(stderr, "lane %u asks one that is not there\n", i);
                abort();
            }
            answers[i] = lanes[lanes[i].from].value;
        }
    }
    for (uint32_t i = 0; i < lanes.size(); i++) {
        if (mask >> i & 1) {
            lanes[i].value = answers[i];
            lanes[i].waits = wait::nothing;
        }
    }
    return true;
}

/* Some of those that wait at the first one's site go on. */
inline void open_site(const lane &first)
{
    uint64_t site = first.value;
    uint64_t mask = 0;
    for (uint32_t i = 0; i < lanes.size(); i++) {
        bool is_here = lanes[i].waits == wait::site && lanes[i].value == site;
        bool is_first = &lanes[i] == &first;
        if (is_here && (is_first || together || draw() % 4))
            mask |= UINT64_C(1) << i;
    }
    for (uint32_t i = 0; i < lanes.size(); i++) {
        if (mask >> i & 1) {
            lanes[i].value = mask;
            lanes[i].waits = wait::nothing;
        }
    }
}

inline bool advance()
{
    for (uint32_t i = 0; i < lanes.size(); i++) {
        if (lanes[i].waits == wait::nothing) {
            current = i;
            swapcontext(&scheduler, &lanes[i].context);
            return true;
        }
    }
    for (lane &l : lanes) {
        if ((l.waits == wait::shuffle || l.waits == wait::ballot) && answer(l))
            return true;
    }
    uint32_t start = draw();
    for (uint32_t i = 0; i < lanes.size(); i++) {
        lane &l = lanes[(start + i) % lanes.size()];
        if (l.waits == wait::site) {
            open_site(l);
            return true;
        }
    }
    for (lane &l : lanes) {
        if (l.waits != wait::done) {
            fprintf(stderr, "lanes wait for each other for ever\n");
            abort();
        }
    }
    return false;
}

/* Apart: what getcontext() returns to twice must not keep anything. */
__attribute__((noinline)) inline void prepare(lane &l)
{
    l.stack.resize(256 * 1024);
    getcontext(&l.context);
    l.context.uc_stack.ss_sp = l.stack.data();
    l.context.uc_stack.ss_size = l.stack.size();
    l.context.uc_link = &scheduler;
    makecontext(&l.context, run_lane, 0);
}

/* Runs fn for the lanes of one wave; those that are not in mask never start. */
inline void run(uint32_t width, uint32_t which, uint64_t mask,
                void (*fn)(uint32_t))
{
    lanes.clear();
    lanes.resize(width);
    number = which;
    kernel = fn;
    for (uint32_t i = 0; i < width; i++) {
        if (mask >> i & 1) {
            prepare(lanes[i]);
        } else {
            lanes[i].waits = wait::done;
        }
    }
    while (advance())
        continue;
}

} /* namespace wave */

namespace pfd
{

inline uint64_t active_lanes(uint64_t site)
{
    return wave::wait_for(wave::wait::site, 0, site, 0);
}

inline uint32_t lane_number()
{
    return wave::current;
}

inline uint32_t shuffle(uint64_t mask, uint32_t word, uint32_t lane)
{
    return (uint32_t)wave::wait_for(wave::wait::shuffle, mask, word, lane);
}

inline uint64_t ballot(uint64_t mask, bool yes)
{
    return wave::wait_for(wave::wait::ballot, mask, yes, 0) & mask;
}

inline uint64_t device_clock()
{
    static uint64_t ticks;
    return ++ticks << 32 | 7;
}

/* Workgroups of two waves. */
inline place this_place()
{
    uint32_t n = (uint32_t)wave::lanes.size();
    uint32_t thread = wave::number * n + wave::current;
    return place{ { wave::number / 2, 3, 4 },
                  { thread, 0, 0 },
                  wave::number % 2,
                  wave::current };
}

} /* namespace pfd */

#endif
