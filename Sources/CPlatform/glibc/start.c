// How a program begins where glibc is older than 2.34: linked into selene-run with make GLIBC=2.17, beside floor.c.

#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#else
#define OLDEST "GLIBC_2.17"
#endif

typedef void function(int, char **, char **);
extern function *__init_array_start[], *__init_array_end[];

/// What the C library does itself since 2.34, and each program did before.
static void initialize(int count, char **arguments, char **environment) {
    for (function **each = __init_array_start; each < __init_array_end; each++)
        (*each)(count, arguments, environment);
}

typedef int program(int, char **, char **);
extern int old___libc_start_main(program *, int, char **, function *, void (*)(void),
                                 void (*)(void), void *);
__asm__(".symver old___libc_start_main,__libc_start_main@" OLDEST);

__attribute__((visibility("hidden"))) int __libc_start_main(program *start, int count,
                                                            char **arguments, function *begin,
                                                            void (*end)(void), void (*unload)(void),
                                                            void *stack) {
    return old___libc_start_main(start, count, arguments, begin ? begin : initialize, end, unload,
                                 stack);
}
