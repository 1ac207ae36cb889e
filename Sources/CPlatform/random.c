// Chance for hashing. Embedded Swift calls arc4random_buf, which glibc has only since 2.36.

#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/random.h>

__attribute__((visibility("hidden"))) void arc4random_buf(void *bytes, size_t count) {
    char *next = bytes;
    while (count > 0) {
        ssize_t got = getrandom(next, count, 0);
        if (got < 0 && errno != EINTR) abort();
        if (got > 0) {
            next += got;
            count -= (size_t)got;
        }
    }
}
