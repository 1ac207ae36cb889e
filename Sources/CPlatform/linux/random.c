// Chance for hashing. Embedded Swift calls arc4random_buf, which glibc has only since 2.36 and musl not at all; getrandom, as a
// function of the C library, only since 2.25.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("hidden"))) void arc4random_buf(void *bytes, size_t count) {
    char *next = bytes;
    // The device stands for the call where a kernel before 3.17 has none, or a sandbox does not allow it.
    int device = -1;
    while (count > 0) {
        ssize_t got =
            device < 0 ? syscall(SYS_getrandom, next, count, 0) : read(device, next, count);
        if (got > 0) {
            next += got;
            count -= (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            if (device >= 0) abort();
            device = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
            if (device < 0) abort();
        }
    }
    if (device >= 0) close(device);
}
