/* SPDX-License-Identifier: MIT */
/*
 * The interpreter of steps; no header of its own, but the body of two
 * functions in program_print.c.
 *
 * One computed jump a step: a literal and the conversion behind it. Each jump
 * is its own, so that the processor predicts each pair of steps by itself.
 *
 * With RUN_ARGUMENTS every scalar is also written to *arguments as a JSON
 * value and a comma. The same jump does both, since a mispredicted one costs
 * more than the printing, and where the digits are equal they are made once.
 */
#if RUN_ARGUMENTS
static char *run_arguments(char *out, const struct pfd_step *s,
                           const char *text, unsigned mode,
                           const uint8_t *payload, uint64_t *findings,
                           char **arguments)
#else
static char *run(char *out, const struct pfd_step *s, const char *text,
                 unsigned mode, const uint8_t *payload, uint64_t *findings)
#endif
{
    static const void *const targets[] = {
#define PFD_X(name) [PFD_OP_##name] = &&do_##name,
        PFD_OPS(PFD_X)
#undef PFD_X
    };
    struct stars stars = { { 0, 0 } };
#if RUN_ARGUMENTS
    char *args = *arguments;
#endif

#define LITERAL() (out = copy(out, text + s->literal[mode], s->n_literal[mode]))
#define JOIN()                                               \
    do {                                                     \
        if (__builtin_expect(s->flags & PFD_STEP_JOIN, 0)) { \
            memcpy(out, ", ", 2);                            \
            out += 2 - s->tight;                             \
        }                                                    \
    } while (0)
#define BEGIN(name)        \
    do_##name : LITERAL(); \
    JOIN()
#define NEXT() goto *targets[(++s)->op]
#if RUN_ARGUMENTS
/* The message's digits are the argument's: made once, as the compiler sees,
 * and stored twice. (Copying them from the message would stall until their
 * stores are done.) */
#define SAME_ARGUMENT(put, type, value) \
    do {                                \
        type number = (type)(value);    \
        out = put(out, number);         \
        args = put(args, number);       \
        *args++ = ',';                  \
    } while (0)
#define ARGUMENT(call) \
    do {               \
        args = call;   \
        *args++ = ','; \
    } while (0)
#define FIXED_ARGUMENT(bits, precision)                           \
    do {                                                          \
        struct pfd_both both =                                    \
            pfd_put_fixed_shortest32(out, args, bits, precision); \
        out = both.fixed;                                         \
        args = both.shortest;                                     \
        *args++ = ',';                                            \
    } while (0)
#define GENERAL_ARGUMENT()                           \
    do {                                             \
        if (s->store != PFD_STORE_NONE)              \
            args = print_argument(args, s, payload); \
    } while (0)
#else
#define SAME_ARGUMENT(put, type, value) (out = put(out, (type)(value)))
#define ARGUMENT(call)                  ((void)0)
#define FIXED_ARGUMENT(bits, precision) \
    (out = pfd_put_fixed32(out, bits, precision))
#define GENERAL_ARGUMENT() ((void)0)
#endif

    goto *targets[s->op];

    BEGIN(I32);
    SAME_ARGUMENT(pfd_put_i32, int32_t, load32(payload, s));
    NEXT();
    BEGIN(U32);
    SAME_ARGUMENT(pfd_put_u32, uint32_t, load32(payload, s));
    NEXT();
    BEGIN(X32);
    out = pfd_put_hex32(out, load32(payload, s));
    ARGUMENT(pfd_put_u32(args, load32(payload, s)));
    NEXT();
    BEGIN(I64);
    SAME_ARGUMENT(pfd_put_i64, int64_t, load64(payload, s));
    NEXT();
    BEGIN(U64);
    SAME_ARGUMENT(pfd_put_u64, uint64_t, load64(payload, s));
    NEXT();
    BEGIN(X64);
    out = pfd_put_hex64(out, load64(payload, s));
    ARGUMENT(pfd_put_u64(args, load64(payload, s)));
    NEXT();
    BEGIN(FIXED32);
    FIXED_ARGUMENT(load32(payload, s), (unsigned)s->precision);
    NEXT();
    BEGIN(FIXED64);
    out = pfd_put_fixed64(out, load64(payload, s), (unsigned)s->precision);
    ARGUMENT(pfd_put_shortest64(args, load64(payload, s)));
    NEXT();
    BEGIN(GENERAL32);
    out =
        put_general(out, double_of(load32(payload, s)), (unsigned)s->precision);
    ARGUMENT(pfd_put_shortest32(args, load32(payload, s)));
    NEXT();
    BEGIN(GENERAL64);
    out = put_general(out, load64(payload, s), (unsigned)s->precision);
    ARGUMENT(pfd_put_shortest64(args, load64(payload, s)));
    NEXT();
    BEGIN(WIDE32);
    out = put_wide(out, load32(payload, s), s->conv != 'u', (unsigned)s->width);
    ARGUMENT(put_decimal(args, load32(payload, s), s->conv != 'u'));
    NEXT();
    BEGIN(ZEROS_X32);
    out = put_zeros_hex(out, load32(payload, s), (unsigned)s->width);
    ARGUMENT(pfd_put_u32(args, load32(payload, s)));
    NEXT();
    BEGIN(INT);
    out = print_integer(out, s, payload, &stars, findings);
    GENERAL_ARGUMENT();
    NEXT();
    BEGIN(DOUBLE);
    out = print_double(out, s, payload, &stars, findings);
    GENERAL_ARGUMENT();
    NEXT();
    BEGIN(STRING);
    out = print_string(out, s, payload, &stars, findings);
    GENERAL_ARGUMENT();
    NEXT();
do_BRACE:
    LITERAL();
    out = print_brace(out, s, payload, &stars, findings);
    GENERAL_ARGUMENT();
    NEXT();
do_STAR:
    LITERAL();
    stars.value[0] = stars.value[1];
    stars.value[1] = (int32_t)pfd_step_integer(s, payload);
    GENERAL_ARGUMENT();
    NEXT();
do_VERBATIM:
    LITERAL();
    out = print_verbatim(out, s, text, mode);
    GENERAL_ARGUMENT();
    NEXT();
do_SKIP:
do_LITERAL:
    LITERAL();
    GENERAL_ARGUMENT();
    NEXT();
do_END:
#if RUN_ARGUMENTS
    *arguments = args;
#endif
    return LITERAL();
}

#undef LITERAL
#undef JOIN
#undef BEGIN
#undef NEXT
#undef SAME_ARGUMENT
#undef ARGUMENT
#undef FIXED_ARGUMENT
#undef GENERAL_ARGUMENT
