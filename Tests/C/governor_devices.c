/*
 * governor_devices.c - what the kernel announces of devices and of memory wakes a driver: messages as kernels send them, to
 * processes that see device files and a network of their own
 *
 * Needs the right to mount and to speak for the kernel. Where that is refused the tests are skipped, and say so.
 *
 * Argument: the filter of check.h.
 */
#include "governor.h"

#include <fcntl.h>
#include <glob.h>
#include <linux/netlink.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define CLASSES "/sys/class"
#define SUPPLY "/sys/class/power_supply"
#define ZONE "/sys/class/thermal/thermal_zone0"

/* ---- the machine -------------------------------------------------------------- */

static void set_file(const char *path, const char *text) {
    char folder[128], *slash;
    FILE *file;
    snprintf(folder, sizeof folder, "%s", path);
    for (slash = folder + 1; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
        *slash = '\0';
        CHECK(mkdir(folder, 0755) == 0 || errno == EEXIST);
    }
    file = fopen(path, "w");
    CHECK(file != NULL);
    CHECK(fprintf(file, "%s\n", text) > 0);
    CHECK_INT(0, fclose(file));
}

/** Empty device classes and a silent network for this thread and those that it makes; 0 or errno. */
static int leave_machine(void) {
    if (unshare(CLONE_NEWNS | CLONE_NEWNET) != 0) return errno;
    if (mount("selene", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0) return errno;
    return mount("selene", CLASSES, "tmpfs", 0, NULL) != 0 ? errno : 0;
}

/** A laptop on its battery, with its screen on, hot, its radio off: each of these can refuse a window. */
static void enter_laptop(void) {
    CHECK_INT(0, leave_machine());
    set_file(SUPPLY "/AC/type", "Mains");
    set_file(SUPPLY "/AC/online", "0");
    set_file(SUPPLY "/BAT0/type", "Battery");
    set_file(SUPPLY "/BAT0/present", "1");
    set_file(SUPPLY "/BAT0/status", "Discharging");
    set_file(SUPPLY "/BAT0/capacity", "80");
    set_file(ZONE "/temp", "99000");
    set_file(ZONE "/trip_point_0_type", "passive");
    set_file(ZONE "/trip_point_0_temp", "95000");
    set_file(CLASSES "/drm/card0-eDP-1/status", "connected");
    set_file(CLASSES "/drm/card0-eDP-1/dpms", "On");
    set_file(CLASSES "/rfkill/rfkill0/type", "wlan");
    set_file(CLASSES "/rfkill/rfkill0/hard", "0");
    set_file(CLASSES "/rfkill/rfkill0/soft", "1");
}

/* What lifts the veto of a factor, and what kernels say when it happens: `udevadm monitor --kernel --property` shows these
 * fields in this order. A NUL ends each, also the last. */
static const struct change {
    int32_t factor;
    const char *file, *text;
    const char *message;
    size_t size;
} changes[] = {
#define MESSAGE(text) text, sizeof text
    {SELENE_FACTOR_EXTERNAL_POWER, SUPPLY "/AC/online", "1",
     MESSAGE("change@/devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0003:00/power_supply/AC\0ACTION=change\0"
             "DEVPATH=/devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0003:00/power_supply/AC\0"
             "SUBSYSTEM=power_supply\0POWER_SUPPLY_NAME=AC\0POWER_SUPPLY_TYPE=Mains\0"
             "POWER_SUPPLY_ONLINE=1\0SEQNUM=4711")},
    {SELENE_FACTOR_THERMAL, ZONE "/temp", "40000",
     MESSAGE(
         "change@/devices/virtual/thermal/thermal_zone0\0ACTION=change\0"
         "DEVPATH=/devices/virtual/thermal/thermal_zone0\0SUBSYSTEM=thermal\0NAME=x86_pkg_temp\0"
         "TEMP=40000\0TRIP=0\0EVENT=1\0SEQNUM=4712")},
    {SELENE_FACTOR_DISPLAY_ON, CLASSES "/drm/card0-eDP-1/dpms", "Off",
     MESSAGE("change@/devices/pci0000:00/0000:00:02.0/drm/card0\0ACTION=change\0"
             "DEVPATH=/devices/pci0000:00/0000:00:02.0/drm/card0\0SUBSYSTEM=drm\0HOTPLUG=1\0"
             "DEVNAME=/dev/dri/card0\0DEVTYPE=drm_minor\0SEQNUM=4713\0MAJOR=226\0MINOR=0")},
    {SELENE_FACTOR_AIRPLANE, CLASSES "/rfkill/rfkill0/soft", "0",
     MESSAGE("change@/devices/pci0000:00/0000:00:14.3/ieee80211/phy0/rfkill0\0ACTION=change\0"
             "DEVPATH=/devices/pci0000:00/0000:00:14.3/ieee80211/phy0/rfkill0\0SUBSYSTEM=rfkill\0"
             "RFKILL_NAME=phy0\0RFKILL_TYPE=wlan\0RFKILL_STATE=1\0SEQNUM=4714")},
};

/** Messages that concern nobody, and what is none. */
static const struct stranger {
    const char *message;
    size_t size;
} strangers[] = {
    {MESSAGE("add@/devices/virtual/block/loop0\0ACTION=add\0SUBSYSTEM=block\0SEQNUM=1")},
    {MESSAGE("change@/devices/x\0SUBSYSTEM=power_supply_of_another\0SEQNUM=2")},
    {MESSAGE("change@/devices/x\0XSUBSYSTEM=power_supply")},
    {MESSAGE("libudev\0\xfe\xed\xca\xfe")},
    {MESSAGE("")},
    {"SUBSYSTEM=power", 15}, /* cut off */
};

/** Says to everybody in this network what the kernel would say; 0 or errno. */
static int announce(const char *message, size_t size) {
    struct sockaddr_nl everybody = {.nl_family = AF_NETLINK, .nl_groups = 1};
    int wrong, descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
    if (descriptor < 0) return errno;
    wrong =
        sendto(descriptor, message, size, 0, (struct sockaddr *)&everybody, sizeof everybody) < 0
            ? errno
            : 0;
    close(descriptor);
    return wrong == ECONNREFUSED || wrong == ENOBUFS ? 0 : wrong;
}

/** What is wrong, or NULL. In a child: it does not come back. */
static const char *check_rights(int *is_refused) {
    static char why[128];
    int status = 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int wrong = leave_machine();
        _exit(wrong ? wrong : announce(changes[0].message, changes[0].size));
    }
    CHECK_INT(child, waitpid(child, &status, 0));
    if (status == 0) return NULL;
    *is_refused =
        WIFEXITED(status) && (WEXITSTATUS(status) == EPERM || WEXITSTATUS(status) == EACCES);
    snprintf(why, sizeof why, "no files and messages of its own: %s",
             WIFEXITED(status) ? strerror(WEXITSTATUS(status)) : "killed");
    return why;
}

/* ---- tests -------------------------------------------------------------------- */

/** A driver that a factor keeps from a task. */
static selene_scheduler open_refused(int32_t factor, struct work *work) {
    selene_scheduler scheduler = 0;
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    set_stopping(scheduler, factor, EACH);
    CHECK_OK(selene_driver_start(scheduler, NULL));
    add_once(scheduler, "a", PROCESSING, work);
    WAIT_UNTIL(why(scheduler, "a", SELENE_REASON_GOVERNOR).reason == SELENE_REASON_GOVERNOR);
    return scheduler;
}

static void test_announced(void) {
    enter_laptop();
    for (size_t i = 0; i < COUNT(changes); i++) {
        struct work work = {.behaviour = COMPLETE};
        selene_scheduler scheduler = open_refused(changes[i].factor, &work);
        set_file(changes[i].file, changes[i].text);
        for (size_t k = 0; k < COUNT(strangers); k++)
            CHECK_INT(0, announce(strangers[k].message, strangers[k].size));
        for (size_t k = 0; k < COUNT(changes); k++)
            if (k != i) CHECK_INT(0, announce(changes[k].message, changes[k].size));
        check_sleep(150 * MS);
        CHECK_INT(0, atomic_load(&work.started)); /* nobody said anything of it */
        CHECK_INT(0, announce(changes[i].message, changes[i].size));
        wait_for("the handler", &work.started, 1);
        CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    }
}

/* A run that needs power is stopped when the plug is pulled, one that a factor speaks against as well. */
static void test_stopped(void) {
    struct work needy = {.behaviour = UNTIL_STOPPED}, other = {.behaviour = UNTIL_STOPPED};
    selene_scheduler scheduler = 0;
    selene_task task = once_of("needy");
    enter_laptop();
    set_file(SUPPLY "/AC/online", "1");
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    set_stopping(scheduler, SELENE_FACTOR_EXTERNAL_POWER, REFRESH);
    CHECK_OK(selene_driver_start(scheduler, NULL));
    task.constraints = SELENE_CONSTRAINT_EXTERNAL_POWER;
    add_handler(scheduler, "needy", &needy);
    add(scheduler, task);
    add_once(scheduler, "other", REFRESH, &other);
    wait_for("the handler", &needy.started, 1);
    wait_for("the handler", &other.started, 1);
    set_file(SUPPLY "/AC/online", "0");
    CHECK_INT(0, announce(changes[0].message, changes[0].size));
    wait_for("the stop", &needy.stopped, 1);
    wait_for("the stop", &other.stopped, 1);
    CHECK_INT(SELENE_STOP_CONSTRAINT_LOST, atomic_load(&needy.reason));
    CHECK_INT(SELENE_STOP_PREEMPTED, atomic_load(&other.reason));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* More messages than the socket holds: what is lost may have concerned any device. */
static void test_overflow(void) {
    enter_laptop();
    for (size_t i = 0; i < COUNT(changes); i++) {
        selene_scheduler scheduler = 0;
        struct work work = {.behaviour = COMPLETE};
        selene_cycle cycle = 77;
        CHECK_OK(selene_scheduler_open(NULL, &scheduler));
        set_stopping(scheduler, changes[i].factor, EACH);
        add_once(scheduler, "a", PROCESSING, &work);
        CHECK_OK(selene_driver_open(scheduler, NULL, NULL));
        CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
        CHECK_INT(0, cycle);
        set_file(changes[i].file, changes[i].text);
        for (int k = 0; k < 3000; k++)
            CHECK_INT(0, announce(strangers[0].message, strangers[0].size));
        CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
        CHECK(cycle != 0);
        CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    }
}

/** A driver, and a task of its own kind that needs power. */
static selene_scheduler open_needy(struct work *work) {
    selene_scheduler scheduler = 0;
    selene_task task = once_of("needy");
    /* Beside the other tests; it takes a minute longer. */
    alarm((unsigned)(check_environment("SELENE_TEST_ALARM", 60) + MIN / S));
    enter_laptop();
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    task.constraints = SELENE_CONSTRAINT_EXTERNAL_POWER;
    add_handler(scheduler, "needy", work);
    add(scheduler, task);
    return scheduler;
}

static void wait_a_minute(const char *what, atomic_int *value) {
    const int64_t limit = check_now() + 2 * MIN;
    while (!atomic_load(value) && check_now() < limit)
        check_sleep(100 * MS);
    if (!atomic_load(value)) fprintf(stderr, "waited in vain: %s\n", what);
    CHECK(atomic_load(value));
}

/* Where nothing is announced, as in a container without privileges, what waits looks itself, once a minute. */
static void test_unheard(void) {
    struct work needy = {.behaviour = COMPLETE}, refused = {.behaviour = COMPLETE};
    selene_scheduler scheduler = open_needy(&needy);
    set_stopping(scheduler, SELENE_FACTOR_AIRPLANE, REFRESH);
    add_once(scheduler, "refused", REFRESH, &refused);
    CHECK_OK(selene_driver_start(scheduler, NULL));
    WAIT_UNTIL(why(scheduler, "needy", SELENE_REASON_CONSTRAINTS).reason);
    WAIT_UNTIL(why(scheduler, "refused", SELENE_REASON_GOVERNOR).reason);
    check_sleep(S);
    set_file(SUPPLY "/AC/online", "1");
    set_file(CLASSES "/rfkill/rfkill0/soft", "0");
    wait_a_minute("the condition", &needy.started);
    wait_a_minute("the signal", &refused.started);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* And so does what could be stopped. */
static void test_unheard_stop(void) {
    struct work needy = {.behaviour = NEVER, .complete_when_stopped = 1}, other = needy;
    selene_scheduler scheduler = open_needy(&needy);
    set_file(SUPPLY "/AC/online", "1");
    set_file(CLASSES "/rfkill/rfkill0/soft", "0");
    set_stopping(scheduler, SELENE_FACTOR_AIRPLANE, REFRESH);
    {
        selene_driver driver = SELENE_INIT(selene_driver);
        driver.refresh_budget = 10 * MIN;
        CHECK_OK(selene_driver_start(scheduler, &driver));
    }
    add_once(scheduler, "other", REFRESH, &other);
    wait_for("the handler", &needy.started, 1);
    wait_for("the handler", &other.started, 1);
    check_sleep(S);
    set_file(SUPPLY "/AC/online", "0");
    set_file(CLASSES "/rfkill/rfkill0/soft", "1");
    wait_a_minute("the condition", &needy.stopped);
    wait_a_minute("the signal", &other.stopped);
    CHECK_INT(SELENE_STOP_CONSTRAINT_LOST, atomic_load(&needy.reason));
    CHECK_INT(SELENE_STOP_PREEMPTED, atomic_load(&other.reason));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* ---- a real device -------------------------------------------------------------- */

/** A device of this machine whose class concerns somebody, as a place in `changes`; its file is found before it is hidden. */
static int real_device(char path[static 4096]) {
    static const char *const patterns[] = {CLASSES "/power_supply/*/uevent",
                                           CLASSES "/thermal/thermal_zone*/uevent",
                                           CLASSES "/drm/card*/uevent", CLASSES "/rfkill/*/uevent"};
    for (size_t i = 0; i < COUNT(patterns); i++) {
        glob_t found;
        int is_found = glob(patterns[i], 0, NULL, &found) == 0 &&
                       realpath(found.gl_pathv[0], path) != NULL && access(path, W_OK) == 0;
        globfree(&found);
        if (is_found) return (int)i;
    }
    return -1;
}

static char real_path[4096];
static int real_place;

/* The kernel is asked to say it itself. */
static void test_real(void) {
    struct work work = {.behaviour = COMPLETE};
    const struct change *change = &changes[real_place];
    selene_scheduler scheduler;
    enter_laptop();
    scheduler = open_refused(change->factor, &work);
    set_file(change->file, change->text);
    set_file(real_path, "change");
    wait_for("the handler", &work.started, 1);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* ---- memory ---------------------------------------------------------------------- */

static char group[64];

static void remove_group(void) {
    char path[128];
    snprintf(path, sizeof path, "%s/selene.%d", group, (int)getpid());
    rmdir(path);
    umount2(group, MNT_DETACH);
    rmdir(group);
}

/**
 * A group of processes whose waiting for the disk this thread sees as the machine's waiting for memory: the kernel counts
 * and announces both in the same way, and nobody has to take all memory from this machine. 0 or errno.
 */
static int enter_group(void) {
    char path[128];
    strcpy(group, "/tmp/selene-group.XXXXXX");
    if (leave_machine() != 0) return EPERM;
    if (mkdtemp(group) == NULL || mount("selene", group, "cgroup2", 0, NULL) != 0) return errno;
    snprintf(path, sizeof path, "%s/selene.%d", group, (int)getpid());
    if (mkdir(path, 0755) != 0) return errno;
    strcat(path, "/io.pressure");
    return mount(path, "/proc/pressure/memory", "none", MS_BIND, NULL) != 0 ? errno : 0;
}

/** Waits for the disk until it is killed. */
static pid_t begin_waiting(const char *file) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        char path[128], bytes[4096] = {0};
        int descriptor = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        CHECK_INT(0, prctl(PR_SET_PDEATHSIG, SIGKILL));
        snprintf(path, sizeof path, "%s/selene.%d/cgroup.procs", group, (int)getppid());
        set_file(path, "0");
        while (pwrite(descriptor, bytes, sizeof bytes, 0) > 0 && fdatasync(descriptor) == 0)
            continue;
        _exit(1);
    }
    return child;
}

/* A run is stopped when memory is at its end, long before the load would be looked at again. */
static void test_memory(void) {
    struct work work = {.behaviour = UNTIL_STOPPED};
    selene_scheduler scheduler = 0;
    pid_t child;
    int status;
    const char *file = file_named("waiting");
    /* A fast disk makes its user wait for a tenth of the time. */
    const selene_rule any = {SELENE_FACTOR_MEMORY_STALLED, PROCESSING, SELENE_RULE_VETO,
                             SELENE_RULE_PREEMPTS,         0,          0};
    CHECK_INT(0, enter_group());
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    set_rules(scheduler, &any, 1);
    CHECK_OK(selene_driver_start(scheduler, NULL));
    add_once(scheduler, "a", PROCESSING, &work);
    wait_for("the handler", &work.started, 1);
    child = begin_waiting(file);
    wait_for("the stop", &work.stopped, 1);
    CHECK_INT(0, kill(child, SIGKILL));
    CHECK_INT(child, waitpid(child, &status, 0));
    CHECK_INT(SELENE_STOP_PREEMPTED, atomic_load(&work.reason));
    CHECK_OK(selene_scheduler_close(scheduler, BRIEF));
    wait_for("the end of the handler", &work.destroyed, 1);
    remove_group();
}

/** For how many microseconds nothing in the group could go on. */
static long long stalled(void) {
    char text[512] = "";
    FILE *file = fopen("/proc/pressure/memory", "re");
    const char *full, *total;
    CHECK(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    full = strstr(text, "full ");
    total = full ? strstr(full, "total=") : NULL;
    return total ? atoll(total + 6) : 0;
}

/** Whether who writes where the tests do waits for a disk. 0 or errno. */
static int see_waiting(void) {
    const char *file = file_named("waiting");
    const int64_t limit = check_now() + 3 * S;
    const long long before = stalled();
    int status, found;
    pid_t child = begin_waiting(file);
    while ((found = stalled() > before + 10000) == 0 && check_now() < limit)
        check_sleep(20 * MS);
    CHECK_INT(0, kill(child, SIGKILL));
    CHECK_INT(child, waitpid(child, &status, 0));
    return found ? 0 : ETIME;
}

/** Whether a child may do what `test_memory` needs, and whether the disk of the tests makes anybody wait. */
static const char *check_group(int *is_refused) {
    static char why[128];
    int status = 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int wrong = enter_group();
        if (wrong == 0) wrong = see_waiting();
        remove_group();
        _exit(wrong);
    }
    CHECK_INT(child, waitpid(child, &status, 0));
    if (status == 0) return NULL;
    /* ENODEV, ENOENT: the kernel has no such groups, or counts no pressure. ETIME: nobody waits for this disk. */
    *is_refused = WIFEXITED(status);
    if (WIFEXITED(status) && WEXITSTATUS(status) == ETIME)
        return "nobody waits for the disk of /tmp";
    snprintf(why, sizeof why, "no group of processes of its own: %s",
             WIFEXITED(status) ? strerror(WEXITSTATUS(status)) : "killed");
    return why;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*test)(void);
    } tests[] = {
        {"G7 what the kernel says of devices lifts a veto at once", test_announced},
        {"G7 a plug that is pulled stops runs at once", test_stopped},
        {"G7 after messages that were lost all devices are looked at", test_overflow},
    };
    static const struct {
        const char *name;
        void (*test)(void);
    } slow[] = {
        {"G7 where nothing is announced what waits looks once a minute", test_unheard},
        {"G7 and so does what could be stopped", test_unheard_stop},
    };
    static const char real[] = "G7 what this machine's kernel itself says wakes a driver",
                      memory[] = "G7 memory at its end stops a run at once";
    const char *why;
    int is_refused = 0, is_slow = check_environment("SELENE_TEST_ROUNDS", 0) > 0;
    pid_t children[COUNT(slow)] = {0};
    check_begin(argc, argv);
    /* Who writes is to wait for a disk. */
    unsetenv("SELENE_TEST_FOLDER");
    why = check_rights(&is_refused);
    for (size_t i = 0; i < COUNT(slow) && !why && !is_slow; i++)
        children[i] = begin_test(slow[i].name, slow[i].test);
    for (size_t i = 0; i < COUNT(tests); i++) {
        if (why) skip_test(tests[i].name, is_refused, why);
        else run_test(tests[i].name, tests[i].test);
    }
    real_place = real_device(real_path);
    if (why) skip_test(real, is_refused, why);
    else if (real_place < 0)
        skip_test(real, 1, "no power supply, thermal zone, display or radio here");
    else run_test(real, test_real);
    for (size_t i = 0; i < COUNT(slow); i++) {
        if (why) skip_test(slow[i].name, is_refused, why);
        else if (is_slow) skip_test(slow[i].name, 1, "where all is slow a minute says nothing");
        else await_test(slow[i].name, children[i]);
    }
    if (!why) why = check_group(&is_refused);
    if (why) skip_test(memory, is_refused, why);
    else run_test(memory, test_memory);
    return check_end();
}
