/*
 * population.h - the tasks that everybody is asked about: the same priorities, estimates and ages for Selene and for
 * what it is compared with, so that all who answer the same question must pick the same tasks
 *
 * Task 0 is the oldest; the next is a microsecond younger, and so on. As after long use, a task of priority p is at most
 * 1/p as old as the oldest, so that the heads of all priorities compete. In a window of 30 s, 28.5 s may be filled: with
 * about nine tasks.
 */
#ifndef POPULATION_H
#define POPULATION_H

#include <stdint.h>

#define POPULATION_SECOND INT64_C(1000000000)
#define POPULATION_PRIORITIES 5
#define POPULATION_LEAST_ESTIMATE (POPULATION_SECOND * 12 / 5)
/** What a window of 30 s holds without its reserve of a twentieth. */
#define POPULATION_ROOM (POPULATION_SECOND * 57 / 2)

struct member {
    /** 1 to 5. */
    int32_t priority;
    /** 2.4 s to 4.65 s in 16 steps. */
    int64_t estimate;
    /** One in four asks for the network, which is there. */
    int32_t needs_network;
    /** 0 to 9 for one in a hundred, else -1. */
    int32_t group;
};

static inline uint64_t mixed(uint64_t number) {
    uint64_t z = (number + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/** The task of this number among a number of tasks. */
static inline struct member member_of(uint64_t number, uint64_t tasks) {
    uint64_t bits = mixed(number), highest = tasks / (tasks - number);
    struct member member;
    if (highest > POPULATION_PRIORITIES) highest = POPULATION_PRIORITIES;
    member.priority = 1 + (int32_t)(bits % highest);
    member.estimate =
        POPULATION_LEAST_ESTIMATE + (int64_t)(bits >> 8 & 15) * (POPULATION_SECOND * 3 / 20);
    member.needs_network = (bits >> 16 & 3) == 0;
    member.group = number % 100 == 0 ? (int32_t)(number / 100 % 10) : -1;
    return member;
}

/** When the task ran last, or was registered. */
static inline int64_t last_run_of(uint64_t number) {
    return POPULATION_SECOND + (int64_t)(number + 1) * 1000;
}

/** When this many are asked for. */
static inline int64_t time_of(uint64_t tasks) {
    return last_run_of(tasks - 1);
}

/** Adds a pick to the choice: two that picked the same tasks in the same order have the same choice. */
static inline uint64_t choice_with(uint64_t choice, uint64_t number) {
    return mixed(choice * 31 + number) % (UINT64_C(1) << 40);
}

#endif
