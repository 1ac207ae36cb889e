/*
 * heaps - what a careful programmer would write by hand: a binary heap for each priority, the oldest task first
 *
 * A decision takes the best of the five heads until the window is full. What it took, fitting or not, is put back: like
 * a plan, it changes nothing.
 *
 * Arguments: --json, numbers of tasks (1000 10000 100000 1000000).
 */
#include "../measure.h"
#include "../population.h"

#define WAY "five binary heaps in C"
#define MOST_TAKEN 100000

struct entry {
    int64_t last_run, estimate;
    uint64_t number;
};

struct heap {
    struct entry *entries;
    uint64_t count, room;
};

static struct heap heaps[POPULATION_PRIORITIES + 1];

static void put(struct heap *heap, struct entry entry) {
    uint64_t place = heap->count++;
    if (place == heap->room) {
        heap->room = heap->room ? heap->room * 2 : 64;
        heap->entries = realloc(heap->entries, heap->room * sizeof *heap->entries);
    }
    while (place > 0 && entry.last_run < heap->entries[(place - 1) / 2].last_run) {
        heap->entries[place] = heap->entries[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    heap->entries[place] = entry;
}

static struct entry take(struct heap *heap) {
    struct entry first = heap->entries[0], last = heap->entries[--heap->count];
    uint64_t place = 0;
    for (;;) {
        uint64_t child = place * 2 + 1;
        if (child >= heap->count) break;
        if (child + 1 < heap->count &&
            heap->entries[child + 1].last_run < heap->entries[child].last_run)
            child++;
        if (heap->entries[child].last_run >= last.last_run) break;
        heap->entries[place] = heap->entries[child];
        place = child;
    }
    heap->entries[place] = last;
    return first;
}

/* The priority whose oldest task has the highest score; 0 if no task is left. */
static int best(int64_t time) {
    int64_t highest = -1;
    int priority = 0;
    for (int i = POPULATION_PRIORITIES; i > 0; i--) {
        int64_t score;
        if (heaps[i].count == 0) continue;
        score = i * (time - heaps[i].entries[0].last_run);
        if (score > highest) highest = score, priority = i;
    }
    return priority;
}

static double decide(uint64_t tasks, int *out_picks, uint64_t *out_choice) {
    static struct {
        struct entry entry;
        int priority;
    } taken[MOST_TAKEN];
    int64_t begin = now(), time = time_of(tasks), left = POPULATION_ROOM;
    int count = 0, priority;
    *out_picks = 0, *out_choice = 0;
    while (left >= POPULATION_LEAST_ESTIMATE && count < MOST_TAKEN && (priority = best(time)) > 0) {
        struct entry entry = take(&heaps[priority]);
        taken[count].entry = entry;
        taken[count++].priority = priority;
        if (entry.estimate > left) continue;
        left -= entry.estimate;
        ++*out_picks;
        *out_choice = choice_with(*out_choice, entry.number);
    }
    while (count-- > 0)
        put(&heaps[taken[count].priority], taken[count].entry);
    return (double)(now() - begin);
}

static void measure(uint64_t tasks) {
    static double samples[501];
    double before = in_use();
    int64_t begin = now();
    uint64_t choice = 0;
    int picks = 0;
    for (uint64_t i = 0; i < tasks; i++) {
        struct member member = member_of(i, tasks);
        put(&heaps[member.priority], (struct entry){last_run_of(i), member.estimate, i});
    }
    found_one("register", WAY, tasks, "ns", (double)(now() - begin) / (double)tasks);
    found_one("memory", WAY, tasks, "bytes", (in_use() - before) / (double)tasks);
    for (int i = 0; i < 501; i++)
        samples[i] = decide(tasks, &picks, &choice);
    found("decide", WAY, tasks, "ns", samples, 501);
    found_one("picks", WAY, tasks, "tasks", picks);
    found_one("choice", WAY, tasks, "hash", (double)choice);
    for (int i = 1; i <= POPULATION_PRIORITIES; i++) {
        free(heaps[i].entries);
        heaps[i] = (struct heap){NULL, 0, 0};
    }
}

int main(int count, char **arguments) {
    count = take_json(count, arguments);
    about(WAY, "one heap of ages for each priority, made for this question alone: priority, age, "
               "estimate; no ids, "
               "changes, conditions, limits, runs, store");
    each_size(count, arguments, measure);
    return 0;
}
