/*
 * libuv - what an event loop takes to find what is due: a turn with ten timers due among many
 *
 * The timers that fire are set again, far ahead, as a host would for periodic work.
 *
 * Arguments: --json, numbers of timers (1000 10000 100000 1000000).
 */
#include "../measure.h"
#include "../population.h"

#include <uv.h>

#define WAY "libuv timers, ten due"
#define DUE 10

static int fired;
static uint64_t turns;

/* Milliseconds: a quarter of an hour to a day. */
static uint64_t far_ahead(uint64_t number) {
    return 900000 + mixed(number) % 86400000;
}

static void fire(uv_timer_t *timer) {
    fired++;
    uv_timer_start(timer, fire, far_ahead(++turns), 0);
}

static double turn(uv_loop_t *loop) {
    int64_t begin;
    uv_update_time(loop);
    begin = now();
    uv_run(loop, UV_RUN_NOWAIT);
    return (double)(now() - begin);
}

static void measure(uint64_t tasks) {
    static double samples[501];
    double before = in_use();
    uv_timer_t *timers;
    uv_loop_t loop;
    int64_t begin;
    uv_loop_init(&loop);
    begin = now();
    timers = malloc(tasks * sizeof *timers);
    for (uint64_t i = 0; i < tasks; i++) {
        uv_timer_init(&loop, &timers[i]);
        uv_timer_start(&timers[i], fire, far_ahead(i), 0);
    }
    found_one("register", WAY, tasks, "ns", (double)(now() - begin) / (double)tasks);
    found_one("memory", WAY, tasks, "bytes", (in_use() - before) / (double)tasks);
    for (int i = 0; i < 501; i++) {
        for (int j = 0; j < DUE; j++)
            uv_timer_start(&timers[(mixed((uint64_t)i) % tasks + (uint64_t)j * 97) % tasks], fire,
                           0, 0);
        fired = 0;
        samples[i] = turn(&loop);
        if (fired != DUE) {
            fprintf(stderr, "libuv: %d timers fired\n", fired);
            exit(1);
        }
    }
    found("decide", WAY, tasks, "ns", samples, 501);
    for (uint64_t i = 0; i < tasks; i++)
        uv_close((uv_handle_t *)&timers[i], NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    free(timers);
}

int main(int count, char **arguments) {
    char text[160];
    count = take_json(count, arguments);
    snprintf(text, sizeof text,
             "one turn of the loop of libuv %s, the timers set again: time alone; no priority, "
             "estimate, budget, history, store",
             uv_version_string());
    about(WAY, text);
    each_size(count, arguments, measure);
    return 0;
}
