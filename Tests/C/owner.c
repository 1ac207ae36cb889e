/*
 * owner.c - whose store it is: the first application that says its name keeps it (R11)
 *
 * Argument: the filter of check.h.
 */
#include "store_open.h"

#include <sqlite3.h>

static selene_status open_as(const char *owner, selene_scheduler *out) {
    selene_options options = SELENE_INIT(selene_options);
    options.path = (selene_text){path("store"), -1};
    options.owner = (selene_text){owner, -1};
    return selene_scheduler_open(&options, out);
}

static void check_owner(selene_scheduler scheduler, const char *owner) {
    selene_store_info *info = NULL;
    CHECK_OK(selene_store_get(scheduler, &info));
    CHECK_TEXT(owner, info->owner);
    selene_free(info);
}

/** Opens, looks whose it is, and closes. */
static void check_opens(const char *as, const char *owner) {
    selene_scheduler scheduler = 0;
    CHECK_OK(open_as(as, &scheduler));
    check_owner(scheduler, owner);
    close_store(scheduler);
}

static void check_foreign(const char *as, const char *owner) {
    static struct tree before;
    selene_scheduler scheduler = 77;
    char expected[512];
    tree_read(&before);
    CHECK_STATUS(SELENE_ERROR_STORE_FOREIGN, open_as(as, &scheduler));
    CHECK_INT(77, scheduler);
    snprintf(expected, sizeof expected, "belongs to \"%s\", not to \"%s\"", owner, as);
    CHECK(strstr(selene_error_last()->message.data, expected));
    CHECK(strstr(selene_error_last()->message.data, path("store")));
    CHECK_TREE(&before);
    tree_free(&before);
}

static void test_owner(void) {
    selene_scheduler scheduler = 0;
    new_folder();
    check_opens(NULL, "");
    check_opens("", "");
    /* The first that says its name has it. */
    check_opens("org.example.mail", "org.example.mail");
    check_opens("org.example.mail", "org.example.mail");
    check_opens(NULL, "org.example.mail");
    check_foreign("org.example.news", "org.example.mail");
    check_foreign("org.example.mai", "org.example.mail");
    check_foreign("org.example.mails", "org.example.mail");
    /* Also while nothing but its log has it. */
    CHECK(unlink(path("store")) == 0);
    CHECK_OK(open_as("mail", &scheduler));
    CHECK_STATUS(SELENE_ERROR_STORE_LOCKED, open_as("news", &scheduler));
    close_store(scheduler);
    check_foreign("news", "mail");
    CHECK_OK(selene_store_check(path("store"), -1, NULL));
}

static void test_names(void) {
    static char name[300];
    selene_scheduler scheduler = 0;
    new_folder();
    memset(name, 'n', 256);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, open_as(name, &scheduler));
    CHECK(strstr(selene_error_last()->message.data, "owner"));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, open_as("a\xFF", &scheduler));
    CHECK(access(path("store"), F_OK) != 0);
    name[255] = 0;
    check_opens(name, name);
    check_foreign("M\xC3\xBCller", name);
    /* Without a store there is nothing to own. */
    selene_options options = SELENE_INIT(selene_options);
    options.owner = SELENE_TEXT("mail");
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    check_owner(scheduler, "");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_copies(void) {
    selene_scheduler scheduler = 0;
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    new_folder();
    CHECK_OK(open_as("mail", &scheduler));
    CHECK_OK(selene_store_backup(scheduler, path("copy"), -1));
    close_store(scheduler);
    CHECK_OK(selene_store_salvage(path("store"), -1, path("fresh"), -1, &findings));
    CHECK(rename(path("copy"), path("store")) == 0);
    check_foreign("news", "mail");
    CHECK(rename(path("fresh"), path("store")) == 0);
    check_foreign("news", "mail");
    check_opens("mail", "mail");
}

static void run_sql(const char *sql) {
    sqlite3 *database = NULL;
    CHECK_INT(SQLITE_OK, sqlite3_open(path("store"), &database));
    CHECK_INT(SQLITE_OK, sqlite3_exec(database, sql, NULL, NULL, NULL));
    CHECK_INT(SQLITE_OK, sqlite3_close(database));
}

/* The name is part of its row's checksum; and a store of version 2 of the schema takes one. */
static void test_stored(void) {
    selene_scheduler scheduler = 0;
    new_folder();
    check_opens("mail", "mail");
    run_sql("UPDATE scheduler SET owner = 'news'");
    CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, open_as("news", &scheduler));
    run_sql("UPDATE scheduler SET owner = NULL");
    CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, open_as("news", &scheduler));
    run_sql("UPDATE scheduler SET owner = 'mail'");
    check_opens("mail", "mail");
    char command[2 * PATH];
    new_folder();
    snprintf(command, sizeof command, "cp Tests/vectors/schema2.store '%s'", path("store"));
    CHECK_INT(0, system(command));
    check_opens("mail", "mail");
    check_foreign("news", "mail");
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("R11 a store opens under the name that it has, or without one", test_owner);
    run_test("R11 a name is 1 to 255 bytes of UTF-8", test_names);
    run_test("R11 a backup and a salvaged store have the owner of the original", test_copies);
    run_test("R11 the owner is stored with its checksum, also in an older store", test_stored);
    tools_end();
    return check_end();
}
