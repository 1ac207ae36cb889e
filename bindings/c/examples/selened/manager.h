/* What a service manager hands over and is told: the protocols of systemd's sd_listen_fds and sd_notify, in plain C. */
#ifndef MANAGER_H
#define MANAGER_H

#include <stdbool.h>
#include <stdint.h>

/** The first descriptor that is handed over. */
#define FIRST_HANDED 3

/** How many sockets were handed over, from FIRST_HANDED on; −1, and said on stderr, if what was said of them is wrong. */
int handed_over(void);

/** What the manager calls the socket of that number, from 0; it stays. */
const char *handed_name(int number);

/** Tells the manager lines of NAME=VALUE, if there is one. */
void tell_manager(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Whether there is one that is told. */
bool has_manager(void);

/** How often it wants to hear WATCHDOG=1, ns; 0: never. */
int64_t watchdog_period(void);

#endif
