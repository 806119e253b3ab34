/* SPDX-License-Identifier: MIT */
#include "core/print/steps.h"

#include "core/base/escape.h"

struct pfd_step *pfd_steps_add(struct pfd_steps *steps, size_t literal_end,
                               enum pfd_op op)
{
    struct pfd_step *s = &steps->steps[steps->n_steps++];
    size_t n = literal_end - steps->done;
    size_t n_escaped = pfd_escape_json_length(steps->text + steps->done, n);
    *s = (struct pfd_step){
        .literal = { (uint32_t)steps->done, (uint32_t)steps->escaped },
        .n_literal = { (uint16_t)n, (uint16_t)n_escaped },
        .op = (uint8_t)op,
        .precision = -1,
    };
    steps->done = literal_end;
    steps->escaped += n_escaped;
    return s;
}

void pfd_steps_pass(struct pfd_steps *steps, size_t to)
{
    steps->escaped +=
        pfd_escape_json_length(steps->text + steps->done, to - steps->done);
    steps->done = to;
}

void pfd_steps_add_long_literal(struct pfd_steps *steps, size_t end)
{
    while (end - steps->done > PFD_LITERAL_MAX) {
        size_t cut = steps->done + PFD_LITERAL_MAX;
        /* Not inside of a character, whose halves escape differently. */
        for (int i = 0; i < 3 && (steps->text[cut] & 0xc0) == 0x80; i++)
            cut--;
        pfd_steps_add(steps, cut, PFD_OP_LITERAL);
    }
}

size_t pfd_steps_end(struct pfd_steps *steps)
{
    pfd_steps_add_long_literal(steps, steps->n);
    pfd_steps_add(steps, steps->n, PFD_OP_END);
    return steps->n_steps;
}
