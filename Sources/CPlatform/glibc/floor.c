// What newer versions of glibc have under new names, by the names of its version 2.17: linked into what is carried from
// machine to machine (make GLIBC=2.17), so that it loads wherever that version or a later one is.
//
// Functions of threads and of shared objects were in libraries of their own before 2.34, which is why such a library needs
// libpthread.so.0 and libdl.so.2: empty ones today. fcntl64 and the functions of stat became functions in 2.28 and 2.33;
// exp, log and pow do not set errno by another way since 2.29. The old ones are in every later version.

#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>

#if defined(__x86_64__)
#define SINCE(version) version
#define STAT_VERSION 1
#elif defined(__aarch64__)
// Its first version.
#define SINCE(version) "GLIBC_2.17"
#define STAT_VERSION 0
#else
#error "make GLIBC=2.17 is for x86-64 and arm64"
#endif

#define HIDDEN __attribute__((visibility("hidden")))

/// A function of that version, called old_NAME here.
#define OLD(name, version) __asm__(".symver old_" #name "," #name "@" SINCE(version))

/// NAME is a function of this library that calls the old one: parameters with their types, then by name.
#define CALLS(result, name, version, parameters, arguments)                                        \
    extern result old_##name parameters;                                                           \
    OLD(name, version);                                                                            \
    HIDDEN result name parameters {                                                                \
        return old_##name arguments;                                                               \
    }

CALLS(int, pthread_create, "GLIBC_2.2.5",
      (pthread_t *restrict thread, const pthread_attr_t *restrict options, void *(*start)(void *),
       void *restrict context),
      (thread, options, start, context))
CALLS(int, pthread_detach, "GLIBC_2.2.5", (pthread_t thread), (thread))
CALLS(int, pthread_join, "GLIBC_2.2.5", (pthread_t thread, void **result), (thread, result))
CALLS(int, pthread_getattr_np, "GLIBC_2.2.5", (pthread_t thread, pthread_attr_t *options),
      (thread, options))
CALLS(int, pthread_attr_getstack, "GLIBC_2.2.5",
      (const pthread_attr_t *restrict options, void **restrict address, size_t *restrict size),
      (options, address, size))
CALLS(int, pthread_attr_getstacksize, "GLIBC_2.2.5",
      (const pthread_attr_t *restrict options, size_t *restrict size), (options, size))
CALLS(int, pthread_attr_setstacksize, "GLIBC_2.2.5", (pthread_attr_t * options, size_t size),
      (options, size))
CALLS(int, pthread_condattr_setclock, "GLIBC_2.3.3",
      (pthread_condattr_t * options, clockid_t clock), (options, clock))
CALLS(int, pthread_key_create, "GLIBC_2.2.5", (pthread_key_t * key, void (*destroy)(void *)),
      (key, destroy))
CALLS(int, pthread_setspecific, "GLIBC_2.2.5", (pthread_key_t key, const void *value), (key, value))
CALLS(int, pthread_mutex_timedlock, "GLIBC_2.2.5",
      (pthread_mutex_t *restrict mutex, const struct timespec *restrict until), (mutex, until))
CALLS(int, pthread_mutex_trylock, "GLIBC_2.2.5", (pthread_mutex_t * mutex), (mutex))
CALLS(int, pthread_mutexattr_init, "GLIBC_2.2.5", (pthread_mutexattr_t * options), (options))
CALLS(int, pthread_mutexattr_destroy, "GLIBC_2.2.5", (pthread_mutexattr_t * options), (options))
CALLS(int, pthread_mutexattr_settype, "GLIBC_2.2.5", (pthread_mutexattr_t * options, int kind),
      (options, kind))
CALLS(int, pthread_kill, "GLIBC_2.2.5", (pthread_t thread, int signal), (thread, signal))
CALLS(int, pthread_sigmask, "GLIBC_2.2.5",
      (int how, const sigset_t *restrict set, sigset_t *restrict before), (how, set, before))

CALLS(void *, dlopen, "GLIBC_2.2.5", (const char *name, int flags), (name, flags))
CALLS(void *, dlsym, "GLIBC_2.2.5", (void *restrict library, const char *restrict name),
      (library, name))
CALLS(int, dlclose, "GLIBC_2.2.5", (void *library), (library))
CALLS(char *, dlerror, "GLIBC_2.2.5", (void), ())

CALLS(double, exp, "GLIBC_2.2.5", (double number), (number))
CALLS(double, log, "GLIBC_2.2.5", (double number), (number))
CALLS(double, pow, "GLIBC_2.2.5", (double base, double power), (base, power))

// With offsets of 64 bits both forms of each of these are the same.
extern int old___xstat(int version, const char *path, void *told);
extern int old___lxstat(int version, const char *path, void *told);
extern int old___fxstat(int version, int file, void *told);
OLD(__xstat, "GLIBC_2.2.5");
OLD(__lxstat, "GLIBC_2.2.5");
OLD(__fxstat, "GLIBC_2.2.5");

HIDDEN int stat(const char *restrict path, struct stat *restrict told) {
    return old___xstat(STAT_VERSION, path, told);
}
HIDDEN int lstat(const char *restrict path, struct stat *restrict told) {
    return old___lxstat(STAT_VERSION, path, told);
}
HIDDEN int fstat(int file, struct stat *told) {
    return old___fxstat(STAT_VERSION, file, told);
}
HIDDEN int stat64(const char *restrict path, struct stat64 *restrict told) {
    return old___xstat(STAT_VERSION, path, told);
}
HIDDEN int lstat64(const char *restrict path, struct stat64 *restrict told) {
    return old___lxstat(STAT_VERSION, path, told);
}
HIDDEN int fstat64(int file, struct stat64 *told) {
    return old___fxstat(STAT_VERSION, file, told);
}

HIDDEN int fcntl64(int file, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return fcntl(file, command, argument);
}
