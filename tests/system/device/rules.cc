/* SPDX-License-Identifier: MIT */
/* What the control block lets PFD_PRINTF print, on a device that is stood in
 * for: all that is printed and all that is withheld is counted. */
#include <string.h>

#include <printfdecode/device/printf.h>
#include <printfdecode/sites.h>

#include "wave.h"

enum {
    WIDTH = 32,
    WAVES = 40,
    ENTRY = 3, /* dwords of each */
    ALL = WIDTH * WAVES * 2
};

static uint32_t buffer[4 + ALL * ENTRY];

static void device(uint32_t t)
{
    PFD_PRINTF("first %u\n", t);
    PFD_PRINTF("second %u\n", t);
}

/* Every division that is_due() has to do is that of this processor. */
static bool check_due()
{
    static const uint32_t some[] = { 0,          1,       2,          3,
                                     7,          10,      1000000007, 1u << 31,
                                     ~0u - 1000, ~0u - 1, ~0u };
    bool ok = true;
    for (int i = 0; i < 200000; i++) {
        uint64_t n = (uint64_t)wave::draw() << 40 ^
                     (uint64_t)wave::draw() << 20 ^ wave::draw();
        uint32_t every = some[wave::draw() % (sizeof some / sizeof *some)];
        uint32_t budget = some[wave::draw() % (sizeof some / sizeof *some)];
        uint64_t step = every ? every : 1;
        n >>= wave::draw() % 64;
        n -= wave::draw() % 2 ? n % step : 0;
        bool due =
            n % step == 0 && (budget == PFD_NO_BUDGET || n / step < budget);
        if (pfd::is_due(n, budget, every) == due)
            continue;
        fprintf(stderr, "entry %llu, one of %u, budget %u: %d expected\n",
                (unsigned long long)n, every, budget, due);
        ok = false;
    }
    return ok;
}

/* All waves once; how many entries of either site are expected. */
static bool check_rule(pfd_sites *sites, const char *name, uint64_t expected,
                       uint64_t withheld)
{
    size_t n = 0;
    pfd_control *c = pfd_sites_control(sites, &n);
    uint64_t dwords = 0;
    memset(buffer, 0, sizeof buffer);
    c->n_reserved = 0;
    for (uint32_t i = 0; i < WAVES; i++) {
        wave::together = i % 2;
        wave::run(WIDTH, i, (UINT64_C(1) << WIDTH) - 1, device);
    }
    memcpy(&dwords, buffer, sizeof dwords);
    pfd_sites_take(sites, c, n, nullptr);
    uint64_t kept_back = pfd_sites_withheld(sites);
    pfd_sites_reset(sites);
    if (dwords == expected * ENTRY && kept_back == withheld)
        return true;
    fprintf(stderr, "%s: %llu of %llu entries, %llu of %llu withheld\n", name,
            (unsigned long long)dwords / ENTRY, (unsigned long long)expected,
            (unsigned long long)kept_back, (unsigned long long)withheld);
    return false;
}

static bool check_rules(pfd_sites *sites)
{
    const uint64_t half = ALL / 2;
    const pfd_control_range some = { { 5, 0, 0 }, { 104, 0, 0 } };
    const pfd_control_range all = { { 0, 0, 0 }, { ~0u, ~0u, ~0u } };
    pfd_control *c = pfd_sites_control(sites, nullptr);
    auto set = [&](pfd_site_rule rule) {
        pfd_sites_set(sites, nullptr, &rule);
    };
    bool ok = check_rule(sites, "no rule", ALL, 0);
    set({ 0, false, PFD_NO_BUDGET, 0 });
    ok &= check_rule(sites, "off", 0, 0);
    set({ 0, true, 100, 0 });
    ok &= check_rule(sites, "budget", 200, ALL - 200);
    set({ 0, true, PFD_NO_BUDGET, 7 });
    ok &= check_rule(sites, "every 7th", (half + 6) / 7 * 2,
                     ALL - (half + 6) / 7 * 2);
    set({ 0, true, 15, 7 });
    ok &= check_rule(sites, "every 7th, budget", 30, ALL - 30);
    set({ 0, true, PFD_NO_BUDGET, 0 });
    c->threads = some;
    c->groups = all;
    c->is_filtered = 1;
    ok &= check_rule(sites, "threads", 200, ALL - 200);
    set({ 0, true, PFD_NO_BUDGET, 3 });
    ok &= check_rule(sites, "threads, every 3rd", 68, ALL - 68);
    return ok;
}

int main()
{
    pfd_sites *sites = nullptr;
    pfd_error err = {};
    if (pfd_sites_new(nullptr, &sites, &err) != PFD_OK) {
        fprintf(stderr, "rules: %s\n", err.text);
        return 1;
    }
    pfd_control *c = pfd_sites_control(sites, nullptr);
    c->buffer = (uint64_t)(uintptr_t)buffer;
    c->n_dwords = sizeof buffer / 4 - 4;
    pfd_control_here = c;
    bool ok = check_due();
    ok &= check_rules(sites);
    pfd_sites_free(sites);
    return !ok;
}
