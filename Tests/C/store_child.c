/*
 * store_child.c - the host that is ended at any moment: plays a seeded host on a store and tells each call before it
 * is made, and its answer after it
 *
 * Started by store_kill and store_power, see store_messages.h. Without arguments it does nothing.
 */
#include "store_messages.h"

#include <dlfcn.h>

static int pipe_end;

static void tell(enum message_kind kind, uint64_t value, const struct deed *deed) {
    struct message message = {(int32_t)kind, 0, value, {0}};
    if (deed) message.deed = *deed;
    CHECK(write(pipe_end, &message, sizeof message) == (ssize_t)sizeof message);
}

/** What hosts do with their files: a backup, a checksum. The store stays theirs (D5). */
static void read_whole(const char *file) {
    struct bytes bytes = read_bytes(file);
    CHECK(bytes.size != SIZE_MAX);
    free(bytes.data);
}

int main(int argc, char **argv) {
    static struct player player;
    struct character character = {0};
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    selene_status status;
    uint64_t calls, (*count)(const char *) = NULL;
    struct deed last = {0};
    void *found;
    if (argc != CHILD_WORDS) return 0;
    character.seed = strtoull(argv[CHILD_SEED], NULL, 10);
    character.script = strtoull(argv[CHILD_SCRIPT], NULL, 10);
    character.relaxed = atoi(argv[CHILD_RELAXED]);
    character.large = atoi(argv[CHILD_LARGE]);
    calls = strtoull(argv[CHILD_CALLS], NULL, 10);
    pipe_end = atoi(argv[CHILD_PIPE]);
    status =
        player_open(&player, character, argv[CHILD_FILE], strtoll(argv[CHILD_CLOCK], NULL, 10));
    if (status) {
        fprintf(stderr, "open: %s\n", selene_error_last()->message.data);
        tell(MESSAGE_REFUSED, (uint64_t)status, NULL);
        return 2;
    }
    if (*argv[CHILD_BACKUPS]) player.backups = argv[CHILD_BACKUPS];
    CHECK_OK(selene_scheduler_get(player.scheduler, &info));
    tell(MESSAGE_OPENED, info.life, NULL);
    for (uint64_t i = 0; i < calls; i++) {
        struct deed deed;
        if (i % 16 == 0) read_whole(argv[CHILD_FILE]);
        tell(MESSAGE_INTENT, i, NULL);
        deed = play(&player, i);
        tell(MESSAGE_ANSWER, i, &deed);
    }
    // The calls of the shim, where there is one.
    found = dlsym(RTLD_DEFAULT, "store_shim_count");
    if (found) memcpy(&count, &found, sizeof found);
    if (count) last.value = count("cut");
    if (character.large == 2) CHECK_OK(selene_scheduler_close(player.scheduler, 0));
    tell(MESSAGE_DONE, count ? count("") : 0, &last);
    for (;;)
        pause();
}
