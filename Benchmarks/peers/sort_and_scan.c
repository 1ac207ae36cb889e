/*
 * sort_and_scan - the plain way to decide: score all tasks, sort them, and scan from the best
 *
 * As LinkedIn's Selene did it: each task is an object of its own with the last response times, the sort is one of
 * pointers, and the scan goes to the end, because a cheap task may fit after a dear one did not.
 *
 * Arguments: --json, numbers of tasks (1000 10000 100000 1000000).
 */
#include "../measure.h"
#include "../population.h"

#define WAY "sort and scan in C"
#define RESPONSES 3

struct task {
    int64_t score;
    int64_t last_run, responses[RESPONSES];
    uint64_t number;
    int32_t priority;
    char id[20];
};

static struct task **populate(uint64_t tasks) {
    struct task **all = malloc(tasks * sizeof *all);
    for (uint64_t i = 0; i < tasks; i++) {
        struct member member = member_of(i, tasks);
        struct task *task = malloc(sizeof *task);
        *task = (struct task){.last_run = last_run_of(i), .number = i, .priority = member.priority};
        for (int j = 0; j < RESPONSES; j++)
            task->responses[j] = member.estimate;
        snprintf(task->id, sizeof task->id, "task-%011u", (unsigned)i % 100000000);
        all[i] = task;
    }
    return all;
}

/* After some days of use the list of tasks is in no order of age. */
static void shuffle(struct task **all, uint64_t tasks) {
    for (uint64_t i = tasks - 1; i > 0; i--) {
        uint64_t other = mixed(i) % (i + 1);
        struct task *task = all[i];
        all[i] = all[other];
        all[other] = task;
    }
}

static int by_score(const void *left, const void *right) {
    const struct task *a = *(struct task *const *)left, *b = *(struct task *const *)right;
    if (a->score != b->score) return a->score < b->score ? 1 : -1;
    if (a->priority != b->priority) return b->priority - a->priority;
    return a->number < b->number ? -1 : 1;
}

static int64_t estimate_of(const struct task *task) {
    int64_t sum = 0;
    for (int i = 0; i < RESPONSES; i++)
        sum += task->responses[i];
    return sum / RESPONSES;
}

static double decide(struct task **all, struct task **order, uint64_t tasks, int *out_picks,
                     uint64_t *out_choice) {
    int64_t begin = now(), time = time_of(tasks), left = POPULATION_ROOM;
    *out_picks = 0, *out_choice = 0;
    /* In whole numbers, and without the factor that all have in common. */
    for (uint64_t i = 0; i < tasks; i++) {
        all[i]->score = all[i]->priority * (time - all[i]->last_run);
        order[i] = all[i];
    }
    qsort(order, tasks, sizeof *order, by_score);
    for (uint64_t i = 0; i < tasks; i++) {
        int64_t estimate = estimate_of(order[i]);
        if (estimate > left) continue;
        left -= estimate;
        ++*out_picks;
        *out_choice = choice_with(*out_choice, order[i]->number);
    }
    return (double)(now() - begin);
}

static void measure(uint64_t tasks) {
    static double samples[21];
    int repeats = tasks > 100000 ? 3 : tasks > 10000 ? 5 : 21, picks = 0;
    double before = in_use();
    int64_t begin = now();
    struct task **all = populate(tasks), **order;
    uint64_t choice = 0;
    found_one("register", WAY, tasks, "ns", (double)(now() - begin) / (double)tasks);
    found_one("memory", WAY, tasks, "bytes", (in_use() - before) / (double)tasks);
    order = malloc(tasks * sizeof *order);
    shuffle(all, tasks);
    for (int i = 0; i < repeats; i++)
        samples[i] = decide(all, order, tasks, &picks, &choice);
    found("decide", WAY, tasks, "ns", samples, repeats);
    found_one("picks", WAY, tasks, "tasks", picks);
    found_one("choice", WAY, tasks, "hash", (double)choice);
    for (uint64_t i = 0; i < tasks; i++)
        free(all[i]);
    free(order);
    free(all);
    malloc_trim(0);
}

int main(int count, char **arguments) {
    count = take_json(count, arguments);
    about(
        WAY,
        "scores, sorts and scans all tasks, as LinkedIn's Selene did it: priority, age, estimate; "
        "no conditions, runs, store");
    each_size(count, arguments, measure);
    return 0;
}
