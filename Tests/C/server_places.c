/*
 * server_places.c - owners and clients that see each other under other names, in other places, or through exec, and many of
 * them at once (docs/rules.md, L2, L9, L12, L15)
 */
#include "emulated.h"
#include "server_tools.h"

#include <sched.h>
#include <spawn.h>
#include <sys/mount.h>

/** How this program was called, to be called again. */
static char *own_name;

/* ---- other names ---------------------------------------------------------------------------------- */

/** A folder under another name, as containers have them; in a place of its own for file systems, which goes with the process. */
static int can_mount(const char *from, const char *to) {
    return unshare(CLONE_NEWNS) == 0 && mount("", "/", "", MS_REC | MS_PRIVATE, "") == 0 &&
           mount(from, to, "", MS_BIND, "") == 0;
}

static const char *real_folder, *bound_folder;

static void test_mounted(void) {
    char file[PATH], bound[PATH], named[64];
    selene_scheduler other = 0;
    selene_server server = 0;
    CHECK(can_mount(real_folder, bound_folder));
    snprintf(file, sizeof file, "%.2000s/t.db", real_folder);
    snprintf(bound, sizeof bound, "%.2000s/t.db", bound_folder);
    pid_t owner = start_owner(file);
    selene_scheduler connection = connect_to(bound);
    add_once(connection, "under the other name");
    selene_scheduler same = connect_to(file);
    CHECK_INT(SELENE_STATE_ENQUEUED, state_of(same, "under the other name"));
    CHECK_OK(selene_scheduler_close(same, 0));
    CHECK_OK(selene_scheduler_close(connection, 0));
    /* It is the same store, which has its owner already. */
    selene_options options = store_options(bound);
    CHECK_STATUS(SELENE_ERROR_STORE_LOCKED, selene_scheduler_open(&options, &other));
    snprintf(named, sizeof named, "process %d", (int)owner);
    DETAIL(named);
    /* And the same socket, which somebody answers. */
    selene_scheduler in_memory = 0;
    selene_server_options terms = SELENE_INIT(selene_server_options);
    CHECK_OK(selene_scheduler_open(NULL, &in_memory));
    strcat(bound, "-sock");
    terms.path = text_of(bound);
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS, selene_server_start(in_memory, &terms, &server));
    CHECK_OK(selene_scheduler_close(in_memory, 0));
    end_owner(owner, SIGKILL);
    /* The next owner may have it by the other name, and is found by both. */
    bound[strlen(bound) - strlen("-sock")] = 0;
    owner = start_owner(bound);
    connection = connect_to(file);
    CHECK_INT(SELENE_STATE_ENQUEUED, state_of(connection, "under the other name"));
    CHECK_OK(selene_scheduler_close(connection, 0));
    end_owner(owner, SIGKILL);
}

static void try_to_mount(void) {
    _exit(can_mount(real_folder, bound_folder) ? 0 : 1);
}

/* ---- other places of processes ------------------------------------------------------------------------ */

/** Takes a run when it is told to, and is killed in it. */
static void take_and_die(const char *file, int go) {
    selene_window window = SELENE_INIT(selene_window);
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_cycle cycle = 0;
    int32_t step = SELENE_STEP_DONE;
    char byte;
    CHECK(read(go, &byte, 1) == 1);
    selene_scheduler member = member_of(file, "a");
    CHECK_OK(offer(member, "h"));
    CHECK_OK(selene_cycle_begin(member, &window, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    die();
}

/** An owner does not see the numbers of processes outside of its container; the end of their sockets is theirs. */
static void test_container(void) {
    const char *file = path("t.db");
    int go[2], status;
    CHECK(pipe(go) == 0);
    pid_t member = fork();
    CHECK(member >= 0);
    if (member == 0) take_and_die(file, go[0]);
    /* The next child is the first process of its container. */
    CHECK(unshare(CLONE_NEWPID) == 0);
    pid_t owner = start_owner(file);
    selene_scheduler looker = connect_to(file);
    selene_task task = task_of("t");
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.handler = text_of("h");
    CHECK_OK(selene_task_register(looker, &task, NULL));
    CHECK(write(go[1], "x", 1) == 1);
    CHECK(waitpid(member, &status, 0) == member && WIFSIGNALED(status));
    CHECK_INT(SIGKILL, WTERMSIG(status));
    WAIT_UNTIL(state_of(looker, "t") == SELENE_STATE_ENQUEUED);
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(looker, "t", -1, 0, &info));
    CHECK_INT(SELENE_STOP_INTERRUPTED, info->stop_reason);
    CHECK_INT(1, info->attempts);
    selene_free(info);
    /* This process is one that it has no number for. */
    selene_clients *clients = NULL;
    CHECK_OK(selene_client_list(looker, &clients));
    CHECK_INT(1, clients->count);
    CHECK_INT(0, clients->clients[0].process);
    selene_free(clients);
    CHECK_OK(selene_scheduler_close(looker, 0));
    end_owner(owner, SIGKILL);
}

static void try_container(void) {
    _exit(unshare(CLONE_NEWPID) == 0 ? 0 : 1);
}

/* ---- exec ------------------------------------------------------------------------------------------------ */

static int count_sockets(void) {
    struct stat found;
    int count = 0;
    for (int descriptor = 3; descriptor < 256; descriptor++)
        count += fstat(descriptor, &found) == 0 && S_ISSOCK(found.st_mode);
    return count;
}

/** Another program has nothing of the library's, however it was begun. */
static void test_exec(void) {
    const char *file = path("t.db");
    char *const arguments[] = {own_name, "--count-sockets", NULL};
    extern char **environ;
    pid_t child;
    int status;
    selene_scheduler owner = open_here(file);
    serve(owner);
    selene_scheduler member = member_of(file, "a");
    CHECK_OK(offer(member, "h"));
    CHECK_OK(selene_events_open(member, 8, NULL));
    CHECK(count_sockets() >= 4);
    CHECK(posix_spawn(&child, own_name, NULL, NULL, arguments, environ) == 0);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(0, status);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        execv(own_name, arguments);
        _exit(99);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(0, status);
    /* Nobody was disturbed. */
    add_once(member, "one");
    CHECK_INT(SELENE_STATE_ENQUEUED, state_of(owner, "one"));
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

/** A process that becomes another program is the same process, but no member any more. */
static void test_exec_in_place(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    selene_server server = serve(owner);
    selene_task task = task_of("t");
    int took[2], status;
    char byte;
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.handler = text_of("h");
    CHECK_OK(selene_task_register(owner, &task, NULL));
    CHECK(pipe2(took, O_CLOEXEC) == 0);
    pid_t member = fork();
    CHECK(member >= 0);
    if (member == 0) {
        char *const arguments[] = {own_name, "--sleep", NULL};
        selene_window window = SELENE_INIT(selene_window);
        selene_run_info run = SELENE_INIT(selene_run_info);
        selene_cycle cycle = 0;
        int32_t step = SELENE_STEP_DONE;
        selene_scheduler own = member_of(file, "a");
        CHECK_OK(offer(own, "h"));
        CHECK_OK(selene_cycle_begin(own, &window, &cycle));
        CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
        CHECK_INT(SELENE_STEP_RUN, step);
        CHECK(write(took[1], "x", 1) == 1);
        execv(own_name, arguments);
        _exit(99);
    }
    close(took[1]);
    CHECK(read(took[0], &byte, 1) == 1);
    /* Its end of the pipe goes with the program that it was. */
    CHECK(read(took[0], &byte, 1) == 0);
    WAIT_UNTIL(state_of(owner, "t") == SELENE_STATE_ENQUEUED &&
               info_of_server(server).clients == 0);
    CHECK(waitpid(member, &status, WNOHANG) == 0);
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(owner, "t", -1, 0, &info));
    CHECK_INT(SELENE_STOP_INTERRUPTED, info->stop_reason);
    CHECK_INT(1, info->attempts);
    selene_free(info);
    end_owner(member, SIGKILL);
    close_store(owner);
}

/* ---- many at once ----------------------------------------------------------------------------------------- */

/** Waits until the first pipe is closed, connects, says so, and is there until the last one is. */
static void connect_many(const char *file, int count, int go, int done, int end) {
    char byte;
    CHECK(read(go, &byte, 1) == 0);
    for (int i = 0; i < count; i++) {
        char id[64];
        selene_scheduler own = 0;
        CHECK_OK(try_connect(file, 0, &own));
        snprintf(id, sizeof id, "%d of %d", i, (int)getpid());
        add_once(own, id);
    }
    CHECK(write(done, "x", 1) == 1);
    (void)!read(end, &byte, 1);
    die();
}

static void test_at_once(void) {
    enum { PROCESSES = 20, EACH = 50 };
    const char *file = path("t.db");
    pid_t processes[PROCESSES];
    int go[2], done[2], end[2], status;
    char byte;
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    int each = limit.rlim_cur < 1200 ? (int)limit.rlim_cur / 2 / PROCESSES : EACH;
    /* Before the pipes, whose ends are the test's alone. */
    pid_t owner = start_owner(file);
    CHECK(pipe(go) == 0 && pipe(done) == 0 && pipe(end) == 0);
    for (int i = 0; i < PROCESSES; i++) {
        processes[i] = fork();
        CHECK(processes[i] >= 0);
        if (processes[i] == 0) {
            close(go[1]);
            close(end[1]);
            connect_many(file, each, go[0], done[1], end[0]);
        }
    }
    close(go[0]);
    close(done[1]);
    /* They come while it stands still, as far as the socket has places for those who wait. */
    stop_owner(owner);
    close(go[1]);
    check_sleep(100 * MS);
    CHECK(kill(owner, SIGCONT) == 0);
    for (int i = 0; i < PROCESSES; i++)
        CHECK(read(done[0], &byte, 1) == 1);
    selene_scheduler looker = connect_to(file);
    selene_clients *clients = NULL;
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    CHECK_OK(selene_client_list(looker, &clients));
    CHECK_INT(PROCESSES * each + 1, clients->count);
    selene_free(clients);
    CHECK_OK(selene_scheduler_get(looker, &info));
    CHECK_INT(PROCESSES * each, info.enqueued);
    CHECK_OK(selene_scheduler_close(looker, 0));
    close(end[1]);
    for (int i = 0; i < PROCESSES; i++)
        CHECK(waitpid(processes[i], &status, 0) == processes[i]);
    end_owner(owner, SIGKILL);
}

/** Deliberate mistakes of who connects, each of which is named. */
static int listen_at(const char *name, int type) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int made = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%.100s", name);
    CHECK(made >= 0 && bind(made, (const void *)&address, sizeof address) == 0);
    if (type == SOCK_STREAM) CHECK(listen(made, 8) == 0);
    return made;
}

static selene_status try_for(const char *file, int64_t timeout) {
    selene_connect_options options = SELENE_INIT(selene_connect_options);
    selene_scheduler connection = 0;
    options.path = text_of(file);
    options.timeout = timeout;
    selene_status status = selene_scheduler_connect(&options, &connection);
    CHECK_INT(0, connection);
    return status;
}

static selene_status try_briefly(const char *file) {
    return try_for(file, 50 * MS);
}

static void *answer_nonsense(void *context) {
    char bytes[64];
    int to = accept(*(int *)context, NULL, NULL);
    CHECK(to >= 0 && recv(to, bytes, sizeof bytes, 0) > 0);
    CHECK(send(to, "HTTP/1.1 400 Bad Request\r\n\r\n", 28, MSG_NOSIGNAL) == 28);
    close(to);
    return NULL;
}

static void *hang_up(void *context) {
    int to = accept(*(int *)context, NULL, NULL);
    CHECK(to >= 0);
    close(to);
    return NULL;
}

static void test_mistakes(void) {
    const char *file = path("t.db");
    pthread_t thread;
    char longest[5000];
    selene_scheduler owner = open_here(file);
    /* The owner does not serve; a file that is no store; a folder. */
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, try_briefly(file));
    DETAIL("no process serves it, but the store is there");
    write_bytes(path("notes.txt"), "mine", 4);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, try_briefly(path("notes.txt")));
    DETAIL("no process serves");
    CHECK(mkdir(path("folder"), 0755) == 0);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, try_briefly(path("folder")));
    DETAIL("that is a folder");
    /* Sockets of other programs: of another kind, one that is silent, one that hangs up, one that says something else. */
    int of_others = listen_at(path("datagrams"), SOCK_DGRAM);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, try_briefly(path("datagrams")));
    DETAIL("of another program");
    close(of_others);
    of_others = listen_at(path("stream"), SOCK_STREAM);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, try_briefly(path("stream")));
    DETAIL("who listens there has not answered in time");
    close(of_others);
    CHECK(unlink(path("stream")) == 0);
    of_others = listen_at(path("stream"), SOCK_STREAM);
    CHECK(pthread_create(&thread, NULL, hang_up, &of_others) == 0);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, try_for(path("stream"), PATIENCE));
    DETAIL("who listens there ended the connection");
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, answer_nonsense, &of_others) == 0);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, try_for(path("stream"), PATIENCE));
    DETAIL("is not the owner of a store");
    CHECK(pthread_join(thread, NULL) == 0);
    close(of_others);
    /* A name that no address holds, and one that no system has. */
    memset(longest, 'n', sizeof longest);
    longest[200] = 0;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, try_briefly(path(longest)));
    DETAIL("at most 79 bytes");
    longest[200] = 'n';
    longest[4999] = 0;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, try_briefly(longest));
    DETAIL("4095");
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, try_briefly(""));
    DETAIL("path");
    close_store(owner);
}

static const char *refused_file;

static void connect_as_nobody(void) {
    become_nobody();
    CHECK_STATUS(SELENE_ERROR_REFUSED, try_briefly(refused_file));
    DETAIL("may not write to the socket");
}

static void test_refused(void) {
    refused_file = path("t.db");
    CHECK(chmod(tools_folder, 0755) == 0);
    selene_scheduler owner = open_here(refused_file);
    serve(owner);
    CHECK_INT(0, in_child(connect_as_nobody));
    close_store(owner);
}

int main(int argc, char **argv) {
    const char *mounted =
        "L2 a store in a folder that is mounted under another name is served to both";
    const char *contained =
        "L9 a member outside of its owner's container is known by its socket alone";
    const char *execs = "L15 another program has no descriptor of the library's";
    const char *in_place = "L9 a member that becomes another program was interrupted";
    const char *refused = "L11 who may not write to the socket is told so";
    const char *at_once = "L12 a thousand clients connect at once while their owner stands still";
    own_name = argv[0];
    if (argc > 1 && strcmp(argv[1], "--count-sockets") == 0) return count_sockets();
    if (argc > 1 && strcmp(argv[1], "--sleep") == 0) {
        sleep(600);
        return 0;
    }
    check_begin(argc, argv);
    int is_emulated = !children_have_threads();
    tools_begin(NULL);
    real_folder = strdup(new_folder());
    bound_folder = strdup(new_folder());
    /* Each test has one of its own. */
    tools_folder[0] = 0;
    if (in_child(try_to_mount) == 0) run_test(mounted, test_mounted);
    else skip_test(mounted, 1, "the system mounts nothing for this user");
    if (is_emulated) skip_test(contained, 1, EMULATED);
    else if (in_child(try_container) == 0) run_test(contained, test_container);
    else skip_test(contained, 1, "the system makes no container for this user");
    /* An emulator begins no program of the machine that it emulates. */
    if (is_emulated) skip_test(execs, 1, EMULATED);
    else run_test(execs, test_exec);
    if (is_emulated) skip_test(in_place, 1, EMULATED);
    else run_test(in_place, test_exec_in_place);
    run_test("L3 who connects to what no owner serves is told what is there", test_mistakes);
    if (geteuid() != 0) skip_test(refused, 1, "not root");
    else run_test(refused, test_refused);
    if (is_emulated) skip_test(at_once, 1, EMULATED);
    else run_test(at_once, test_at_once);
    tools_end();
    return check_end();
}
