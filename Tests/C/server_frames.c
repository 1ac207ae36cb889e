/*
 * server_frames.c - what comes over a connection that is too new, too long, too slow or not the protocol at all
 */
#include "server_tools.h"

/* ---- bad peers ---------------------------------------------------------------------------- */

static void test_versions(void) {
    static char body[65536];
    const char *file = path("t.db");
    selene_scheduler owner = open_store(file);
    selene_server server = serve(owner);
    struct hello hello = hello_of(2, 7);
    int client = raw_socket(file);
    CHECK(send(client, &hello, sizeof hello, 0) == sizeof hello);
    CHECK_INT(SELENE_ERROR_UNSUPPORTED, raw_answer(client, body, sizeof body));
    CHECK(memmem(body, 4096, "99.1.2", 6) != NULL && memmem(body, 4096, "2 to 7", 6) != NULL);
    CHECK_INT(-1, raw_answer(client, body, sizeof body));
    close(client);
    /* One that speaks newer ones, too, is understood; what it asks beyond this one is refused, and it goes on. */
    hello = hello_of(1, 7);
    client = raw_socket(file);
    CHECK(send(client, &hello, sizeof hello, 0) == sizeof hello);
    CHECK_INT(0, raw_answer(client, body, sizeof body));
    struct head unknown = {sizeof unknown, 60000, 0, 2}, now[2] = {{24, 1, 0, 3}, {1, 0, 0, 0}};
    CHECK(send(client, &unknown, sizeof unknown, 0) == sizeof unknown);
    CHECK_INT(SELENE_ERROR_UNSUPPORTED, raw_answer(client, body, sizeof body));
    CHECK(send(client, now, 24, 0) == 24);
    CHECK_INT(0, raw_answer(client, body, sizeof body));
    close(client);
    CHECK_INT(0, info_of_server(server).broken);
    close_store(owner);
}

/** Whatever comes, the connection that it came on ends with a status, and nobody else notices. */
static void test_broken_frames(void) {
    static char body[1 << 20];
    const char *file = path("t.db");
    uint64_t seed = 20261123;
    selene_scheduler owner = open_store(file);
    selene_server server = serve(owner);
    selene_scheduler witness = connect_to(file);
    int rounds = check_slack() >= 4 * S ? 200 : 1500;
    printf("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < rounds; i++) {
        unsigned char frame[600];
        size_t length = raw_registration((char *)frame, "fuzzed");
        int client = chance_below(&seed, 8) == 0 ? raw_socket(file) : raw_client(file);
        if (chance_below(&seed, 4) == 0) {
            length = 16 + chance_below(&seed, 500);
            for (size_t at = 0; at < length; at++)
                frame[at] = (unsigned char)chance(&seed);
            frame[2] = frame[3] = 0;
        } else {
            /* One or two bytes of a good one, whose operation may be any. */
            uint16_t operation = (uint16_t)chance_below(&seed, 122);
            if (chance_below(&seed, 2) == 0) memcpy(frame + 4, &operation, 2);
            for (int changes = 1 + (int)chance_below(&seed, 2); changes > 0; changes--)
                frame[chance_below(&seed, length)] = (unsigned char)chance(&seed);
            if (chance_below(&seed, 4) == 0) length -= chance_below(&seed, length);
        }
        (void)!send(client, frame, length, MSG_NOSIGNAL);
        shutdown(client, SHUT_WR);
        while (raw_answer(client, body, sizeof body) >= 0) {
        }
        close(client);
    }
    selene_server_info info = info_of_server(server);
    CHECK(info.broken > 0);
    int64_t now;
    CHECK_OK(selene_scheduler_now(witness, &now));
    WAIT_UNTIL(info_of_server(server).clients == 1);
    /* A length that no memory has is refused before there is memory for it. */
    struct head large = {0xFFFFFFF8, 16, 0, 9};
    int client = raw_client(file);
    CHECK(send(client, &large, sizeof large, 0) == sizeof large);
    CHECK_INT(SELENE_ERROR_TOO_LARGE, raw_answer(client, body, sizeof body));
    CHECK_INT(-1, raw_answer(client, body, sizeof body));
    close(client);
    CHECK_OK(selene_scheduler_close(witness, 0));
    close_store(owner);
}

/** A client that never reads, and one that says one byte at a time, hold up no other. */
static void test_slow_clients(void) {
    const char *file = path("t.db");
    char frame[512], body[1024];
    selene_scheduler owner = open_store(file);
    selene_server server = serve(owner);
    selene_scheduler connection = connect_to(file);
    int deaf = raw_client(file), slow = raw_client(file);
    register_some(connection, 0, 200);
    struct {
        struct head head;
        uint64_t words[3];
    } list = {{sizeof list, 23, 0, 1}, {0, 0, 1}};
    /* It asks until nothing more is taken of it. */
    for (int i = 0; i < 100000; i++)
        if (send(deaf, &list, sizeof list, MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof list) break;
    size_t length = raw_registration(frame, "byte by byte");
    for (size_t at = 0; at < length; at++) {
        CHECK(send(slow, frame + at, 1, 0) == 1);
        if (at % 50 == 0) add_once(connection, "meanwhile");
        if (at % 50 == 0) CHECK_OK(selene_task_cancel(connection, "meanwhile", -1, NULL));
    }
    CHECK_INT(0, raw_answer(slow, body, sizeof body));
    CHECK_INT(3, info_of_server(server).clients);
    close(deaf);
    close(slow);
    CHECK_OK(selene_scheduler_close(connection, 0));
    close_store(owner);
}

/** A request that is longer than the owner takes is refused before it is sent, and the connection goes on. */
static void test_large_requests(void) {
    static char input[200000];
    const char *file = path("t.db");
    selene_options options = store_options(file);
    options.max_input_size = sizeof input;
    selene_scheduler owner = open_with(options);
    selene_server_options terms = SELENE_SERVER_OPTIONS_INIT;
    terms.max_request_size = 65536;
    selene_server server = serve_with(owner, terms);
    selene_scheduler connection = connect_to(file);
    selene_task task = task_of("large");
    selene_task_info *info = NULL;
    memset(input, 'i', sizeof input);
    task.input = input;
    task.input_length = sizeof input;
    CHECK_STATUS(SELENE_ERROR_TOO_LARGE, selene_task_register(connection, &task, NULL));
    DETAIL("65536 bytes");
    task.input_length = 60000;
    CHECK_OK(selene_task_register(connection, &task, NULL));
    CHECK_INT(0, info_of_server(server).broken);
    /* What comes back is not bounded by it. */
    task.id = text_of("larger");
    task.input_length = sizeof input;
    CHECK_OK(selene_task_register(owner, &task, NULL));
    CHECK_OK(selene_task_get(connection, "larger", -1, 0, &info));
    CHECK_INT(sizeof input, info->input.length);
    CHECK(memcmp(info->input.data, input, sizeof input) == 0);
    selene_task_info_destroy(info);
    CHECK_OK(selene_scheduler_close(connection, 0));
    close_store(owner);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("L13 versions are negotiated, and what is unknown is refused by name", test_versions);
    run_test("L12 what is not the protocol ends its connection and no other", test_broken_frames);
    run_test("L12 a client that never reads, or says a byte at a time, holds up no other",
             test_slow_clients);
    run_test("L12 a request that is too long is refused before it is sent", test_large_requests);
    tools_end();
    return check_end();
}
