// SPDX-License-Identifier: MIT
// A kernel that prints, without any header of ROCm's: once for a GPU, whose
// code object has the strings, and once more for this processor, which runs it.
#define DEVICE extern "C" __attribute__((device))

DEVICE int printf(const char *, ...);

#ifdef FOR_GPU
// The device library's; where its buffer is does not matter to the strings.
DEVICE __attribute__((noinline)) char *__printf_alloc(unsigned n)
{
    unsigned *b = *(unsigned **)((const char __attribute__((address_space(4))) *)
                                     __builtin_amdgcn_implicitarg_ptr() +
                                 72);
    unsigned at = __atomic_fetch_add(b, n, __ATOMIC_RELAXED);
    return at + n <= b[1] ? (char *)(b + 2) + at : nullptr;
}
#endif

extern "C" __attribute__((global)) void say(int step, double f, const char *s)
{
    int i = __builtin_amdgcn_workitem_id_x();
    printf("item %d has nothing to say\n", i);
    printf("item %d step %d: %f, %s and %s\n", i, step, f * i, s, "a literal");
    printf("wide %llx, char %c, percent 100%%\n", 0x123456789abcll * i, 'a' + i % 26);
    if (i % 3 == 0)
        printf("%*d|%-8.3g|\n", i % 9, i, f / (i + 1));
}
