/*
 * server_rights.c - each function that goes over a connection, asked by users of each right (docs/rules.md, L11)
 *
 * The owner is a user of its own; those who ask are it, root, users and groups that a rule names, and strangers.
 */
#include "emulated.h"
#include "misuse_arguments.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OWNER = 4001, GUEST = 4100, GROUP = 4200, STRANGER = 4300 };

/** What a right allows, as docs/protocol.md has it. */
static const struct {
    uint32_t right;
    const char *name, *functions[32];
} rights[] = {
    {SELENE_RIGHT_LOOK,
     "SELENE_RIGHT_LOOK",
     {"selene_scheduler_now", "selene_scheduler_get",  "selene_scheduler_next_wakeup",
      "selene_task_get",      "selene_task_list",      "selene_task_list_state",
      "selene_task_explain",  "selene_task_waits",     "selene_cycle_plan",
      "selene_group_get",     "selene_group_list",     "selene_conditions_get",
      "selene_condition_get", "selene_condition_list", "selene_condition_missing",
      "selene_store_get",     "selene_signal_get",     "selene_governor_ask",
      "selene_governor_last", "selene_ledger_get",     "selene_events_open",
      "selene_client_list",   "selene_pause_list"}},
    {SELENE_RIGHT_READ, "SELENE_RIGHT_READ", {"selene_task_get_output"}},
    {SELENE_RIGHT_ENQUEUE,
     "SELENE_RIGHT_ENQUEUE",
     {"selene_task_register", "selene_task_register_batch", "selene_task_cancel",
      "selene_task_cancel_tag", "selene_task_retry", "selene_task_retry_successors",
      "selene_task_set_next", "selene_task_pause", "selene_task_pause_tag", "selene_task_resume",
      "selene_task_resume_tag"}},
    {SELENE_RIGHT_WORK,
     "SELENE_RIGHT_WORK",
     {"selene_handler_register", "selene_cycle_begin", "selene_cycle_run", "selene_cycle_run_async",
      "selene_driver_start", "selene_driver_open"}},
    {SELENE_RIGHT_MANAGE,
     "SELENE_RIGHT_MANAGE",
     {"selene_scheduler_enable", "selene_scheduler_pause", "selene_scheduler_prune",
      "selene_scheduler_resume", "selene_task_cancel_all", "selene_task_retry_all",
      "selene_task_launch", "selene_task_expire", "selene_group_set_limit", "selene_group_pause",
      "selene_group_resume", "selene_conditions_set", "selene_condition_define",
      "selene_condition_undefine", "selene_condition_set", "selene_signal_set",
      "selene_signal_clear", "selene_ledger_report", "selene_use_report"}}};

/** What the owner alone can do, and what is settled without it. */
static const char *const others[] = {
    "selene_scheduler_close",   "selene_scheduler_drain", "selene_scheduler_reset",
    "selene_scheduler_observe", "selene_store_backup",    "selene_governor_set_profile",
    "selene_governor_forecast", "selene_trace_record",    "selene_server_start",
    "selene_server_open",       "selene_clock_set",       "selene_clock_advance",
    "selene_events_next",       "selene_events_close",    "selene_handler_unregister",
    "selene_driver_step",       "selene_driver_wait",     "selene_driver_stop",
    "selene_node_open",         "selene_node_step",       "selene_node_wait",
    "selene_node_rows",         "selene_node_failed",     "selene_node_hint",
    "selene_node_get",          "selene_node_leave",      "selene_node_close"};

static char folder[] = "/tmp/rights-XXXXXX", socket_path[sizeof folder + 16];

/** The right that a function needs; NULL: it is none of these. */
static const char *right_of(const char *function, uint32_t *right) {
    for (size_t i = 0; i < COUNT(rights); i++) {
        for (size_t k = 0; rights[i].functions[k] != NULL; k++) {
            if (strcmp(rights[i].functions[k], function) != 0) continue;
            *right = rights[i].right;
            return rights[i].name;
        }
    }
    return NULL;
}

static void become(uint32_t user, uint32_t group, uint32_t further) {
    gid_t groups[] = {further};
    CHECK(setgroups(further != 0, groups) == 0);
    CHECK(setresgid(group, group, group) == 0);
    CHECK(setresuid(user, user, user) == 0);
}

/** A process that serves as OWNER, and whom a byte that is written to *end ends. */
static pid_t start_owner(int *end) {
    int ready[2], ends[2];
    char byte;
    CHECK(pipe(ready) == 0 && pipe(ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        static const selene_peer_rule rules[] = {
            {GUEST + 0, SELENE_ANYBODY, SELENE_RIGHT_LOOK, 0},
            {GUEST + 1, SELENE_ANYBODY, SELENE_RIGHT_READ, 0},
            {GUEST + 2, SELENE_ANYBODY, SELENE_RIGHT_ENQUEUE, 0},
            {GUEST + 3, SELENE_ANYBODY, SELENE_RIGHT_WORK, 0},
            {GUEST + 4, SELENE_ANYBODY, SELENE_RIGHT_MANAGE, 0},
            /* Of a user whom two rules fit. */
            {GUEST + 5, SELENE_ANYBODY, SELENE_RIGHT_LOOK, 0},
            {SELENE_ANYBODY, GROUP, SELENE_RIGHT_ENQUEUE, 0},
            /* Of a user and a group together. */
            {GUEST + 6, GROUP + 1, SELENE_RIGHT_ALL, 0}};
        selene_server_options terms = SELENE_INIT(selene_server_options);
        selene_server server = 0;
        close(ends[1]);
        become(OWNER, OWNER, 0);
        selene_scheduler owner = open_furnished();
        terms.path = text_of(socket_path);
        terms.mode = 0666;
        terms.rules = rules;
        terms.rule_count = COUNT(rules);
        CHECK_OK(selene_server_start(owner, &terms, &server));
        CHECK(write(ready[1], "x", 1) == 1);
        (void)!read(ends[0], &byte, 1);
        CHECK_OK(selene_scheduler_close(owner, 0));
        _exit(0);
    }
    close(ready[1]);
    close(ends[0]);
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    *end = ends[1];
    return child;
}

static selene_status try_here(selene_scheduler *out) {
    selene_connect_options to = SELENE_INIT(selene_connect_options);
    to.path = text_of(socket_path);
    to.server_user = OWNER;
    return selene_scheduler_connect(&to, out);
}

/** Who asks, and what it may. */
static struct guest {
    const char *what;
    uint32_t user, group, further, rights;
} guest;

/** Asks for everything. What needs a right that it has not is refused by that right's name; nothing else is. */
static void ask_all(void) {
    selene_scheduler connection = 0;
    int tried = 0;
    become(guest.user, guest.group, guest.further);
    if (guest.rights == 0) {
        CHECK_STATUS(SELENE_ERROR_REFUSED, try_here(&connection));
        CHECK(strstr(selene_error_last()->message.data, "has no rights") != NULL);
        return;
    }
    CHECK_OK(try_here(&connection));
    for (size_t i = 0; i < HANDLE_CALLS; i++) {
        const struct handle_call *call = &handle_calls[i];
        uint32_t right = 0;
        int is_other = 0;
        for (size_t k = 0; k < COUNT(others); k++)
            is_other |= strcmp(others[k], call->name) == 0;
        if (call->type != TAKES_SCHEDULER || is_other) continue;
        const char *name = right_of(call->name, &right);
        if (name == NULL) fprintf(stderr, "%s has no right here\n", call->name);
        CHECK(name != NULL);
        outs_reset();
        selene_status status = call->call(connection);
        int is_refused = status == SELENE_ERROR_REFUSED;
        if (is_refused == ((guest.rights & right) != 0) ||
            (is_refused &&
             (strstr(selene_error_last()->message.data, name) == NULL || !outs_untouched()))) {
            fprintf(stderr, "%s, asked by %s: %s (%s)\n", call->name, guest.what,
                    selene_name(SELENE_NAMES_STATUS, status), selene_error_last()->message.data);
            check_fail();
        }
        outs_free();
        tried++;
    }
    CHECK(tried > 50);
    CHECK_OK(selene_scheduler_close(connection, SELENE_SECOND));
}

static void test_matrix(void) {
    static const struct guest guests[] = {
        {"the owner's user", OWNER, OWNER, 0, SELENE_RIGHT_ALL},
        {"root", 0, 0, 0, SELENE_RIGHT_ALL},
        {"who may look", GUEST + 0, GUEST, 0, SELENE_RIGHT_LOOK},
        {"who may read", GUEST + 1, GUEST, 0, SELENE_RIGHT_READ},
        {"who may enqueue", GUEST + 2, GUEST, 0, SELENE_RIGHT_ENQUEUE},
        {"who may work", GUEST + 3, GUEST, 0, SELENE_RIGHT_WORK},
        {"who may manage", GUEST + 4, GUEST, 0, SELENE_RIGHT_MANAGE},
        {"one of a group", STRANGER, GROUP, 0, SELENE_RIGHT_ENQUEUE},
        {"one that has the group besides its own", STRANGER, STRANGER, GROUP, SELENE_RIGHT_ENQUEUE},
        {"one whom two rules fit", GUEST + 5, GROUP, 0, SELENE_RIGHT_LOOK | SELENE_RIGHT_ENQUEUE},
        {"a user in the group that its rule names", GUEST + 6, GROUP + 1, 0, SELENE_RIGHT_ALL},
        {"the user without that group", GUEST + 6, GUEST, 0, 0},
        {"another user in that group", STRANGER, GROUP + 1, 0, 0},
        {"a stranger in the owner's group", STRANGER, OWNER, 0, 0},
        {"a stranger", STRANGER, STRANGER, 0, 0}};
    int status, end;
    CHECK(mkdtemp(folder) != NULL && chmod(folder, 0777) == 0);
    snprintf(socket_path, sizeof socket_path, "%s/socket", folder);
    for (size_t i = 0; i < COUNT(guests); i++) {
        pid_t owner = start_owner(&end);
        guest = guests[i];
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            check_on_thread(ask_all);
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child);
        if (status != 0) fprintf(stderr, "as %s\n", guest.what);
        CHECK_INT(0, status);
        CHECK(write(end, "x", 1) == 1);
        close(end);
        CHECK(waitpid(owner, &status, 0) == owner);
        CHECK_INT(0, status);
    }
    CHECK(rmdir(folder) == 0);
}

/** Who may do nothing but look leaves everything as it was. */
static void look_only(void) {
    static struct picture before, after;
    selene_scheduler connection = 0;
    selene_task_info *info = NULL;
    become(GUEST + 0, GUEST, 0);
    CHECK_OK(try_here(&connection));
    picture_take(&before, connection);
    for (size_t i = 0; i < HANDLE_CALLS; i++) {
        const struct handle_call *call = &handle_calls[i];
        uint32_t right = 0;
        if (call->type != TAKES_SCHEDULER || right_of(call->name, &right) == NULL ||
            right == SELENE_RIGHT_LOOK)
            continue;
        outs_reset();
        CHECK_STATUS(SELENE_ERROR_REFUSED, call->call(connection));
    }
    picture_take(&after, connection);
    CHECK_INT(before.length, after.length);
    CHECK(memcmp(before.bytes, after.bytes, before.length) == 0);
    CHECK_OK(selene_task_get(connection, "standing", -1, 0, &info));
    CHECK_INT(0, info->input.length);
    selene_free(info);
    CHECK_OK(selene_scheduler_close(connection, 0));
}

static void test_nothing_changed(void) {
    int status, end;
    CHECK(mkdtemp(folder) != NULL && chmod(folder, 0777) == 0);
    snprintf(socket_path, sizeof socket_path, "%s/socket", folder);
    pid_t owner = start_owner(&end), child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        check_on_thread(look_only);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(0, status);
    CHECK(write(end, "x", 1) == 1);
    CHECK(waitpid(owner, &status, 0) == owner);
    CHECK_INT(0, status);
    CHECK(rmdir(folder) == 0);
}

int main(int argc, char **argv) {
    const char *matrix = "L11 each user may ask what its right allows, and nothing else";
    const char *changed = "L11 what is refused changes nothing, and who only looks sees no input";
    check_begin(argc, argv);
    int is_emulated = !children_have_threads();
    if (is_emulated || geteuid() != 0) {
        skip_test(matrix, 1, is_emulated ? EMULATED : "not root");
        skip_test(changed, 1, is_emulated ? EMULATED : "not root");
    } else {
        run_test(matrix, test_matrix);
        run_test(changed, test_nothing_changed);
    }
    return check_end();
}
