// What selene.hpp adds to selene.h: exceptions, owners, callables. Prints a line for each test.

#include <selene.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using std::chrono::hours;

int failures = 0;

struct failed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) throw failed(std::to_string(__LINE__) + ": " #condition);                \
    } while (0)

/** The status that a call is refused with. */
template <typename Call> selene_status refused(Call call) {
    try {
        call();
    } catch (const selene::error &error) {
        return error.status();
    }
    return SELENE_OK;
}

template <typename Test> void test(const char *name, Test body) {
    try {
        body();
        std::printf("ok C++: %s\n", name);
    } catch (const std::exception &exception) {
        std::printf("%s\nFAILED C++: %s\n", exception.what(), name);
        failures++;
    }
}

/** A scheduler of a test: it needs nothing of the system. */
selene::scheduler opened(selene::options options = {}) {
    selene::scheduler made(options);
    made.conditions(selene::network | selene::external_power);
    return made;
}

selene::window here() {
    selene::window window;
    window.on_this_thread = true;
    return window;
}

selene::task once(const std::string &id) {
    selene::task task;
    task.id = id;
    task.schedule = selene::schedule::once;
    return task;
}

void exceptions() {
    selene::options options;
    options.max_pending_refresh = selene::unlimited;
    selene::scheduler scheduler = opened(options);
    for (const char *id : {"error", "number", "late", "never"})
        scheduler.add(once(id));
    scheduler.handler("error", [](selene::run &) { throw std::runtime_error("no such wood"); });
    scheduler.handler("number", [](selene::run &) { throw 42; });
    scheduler.handler("late", [](selene::run &) { throw selene::retry_after(hours(2), "later"); });
    scheduler.handler("never", [](selene::run &) { throw selene::abandon("of no use"); });
    selene::window window;
    window.lanes = 2;
    const selene::report report = scheduler.run_cycle(window);
    CHECK(report.runs.size() == 4 && report.failed == 3 && report.abandoned == 1);
    CHECK(scheduler.get("error").failure == "no such wood");
    CHECK(scheduler.get("error").state == selene::state::enqueued);
    CHECK(scheduler.get("number").failure == "an exception that is not a std::exception");
    CHECK(scheduler.get("late").failure == "later");
    CHECK(scheduler.get("late").earliest_begin - scheduler.now() > hours(1));
    CHECK(scheduler.get("never").failure == "of no use");
    const selene::instant at = scheduler.now() + hours(9);
    scheduler.set_next("late", at);
    scheduler.define_condition("vpn");
    selene::task online = once("online");
    online.conditions = {"vpn", "signed-in"};
    scheduler.add(online);
    scheduler.set_condition("vpn", true);
    CHECK(scheduler.condition_of("vpn") == selene::condition::satisfied);
    CHECK(scheduler.condition_of("signed-in") == selene::condition::undefined);
    CHECK(!scheduler.condition_of("disk"));
    CHECK(scheduler.missing_conditions("online") == std::vector<std::string>{"signed-in"});
    CHECK(scheduler.get("online").conditions == scheduler.condition_names());
    scheduler.undefine_condition("vpn");
    CHECK(scheduler.missing_conditions("online").size() == 2);
    CHECK(scheduler.cancel("online") == 1);
    CHECK(!scheduler.group("uploads"));
    scheduler.limit_group("uploads", 2);
    scheduler.pause_group("uploads");
    CHECK(scheduler.group("uploads")->limit == 2 && scheduler.group("uploads")->paused);
    CHECK(scheduler.groups() == std::vector<std::string>{"uploads"});
    scheduler.resume_group("uploads");
    selene::task grouped = once("grouped");
    grouped.group = "uploads";
    scheduler.add(grouped);
    CHECK(scheduler.get("grouped").group == "uploads" && scheduler.group("uploads")->waiting == 1);
    CHECK(scheduler.cancel("grouped") == 1);
    CHECK(scheduler.get("late").earliest_begin == at);
    CHECK(refused([&] { scheduler.set_next("never", at); }) == SELENE_ERROR_INVALID_ARGUMENT);
    CHECK(scheduler.ids(selene::state::failed) == std::vector<std::string>{"never"});
}

void outputs() {
    selene::options options;
    options.max_pending_refresh = selene::unlimited;
    selene::scheduler scheduler = opened(options);
    const std::string bytes("a\0b", 3);
    scheduler.handler("first", [&](selene::run &run) { run.set_output(bytes); });
    scheduler.handler("second",
                      [&](selene::run &run) { run.set_output(scheduler.output("first") + "c"); });
    selene::task second = once("second");
    second.after = {"first"};
    CHECK(refused([&] { scheduler.add(second); }) == SELENE_ERROR_NOT_FOUND);
    scheduler.add(once("first"));
    scheduler.add(second);
    CHECK(scheduler.get("second").state == selene::state::blocked);
    CHECK(scheduler.get("second").waits_for == second.after);
    for (const char *id : {"first", "second"})
        CHECK(scheduler.output(id).empty());
    // What starts while the window is open takes part.
    CHECK(scheduler.run_cycle({}).runs.size() == 2);
    CHECK(scheduler.get("second").after == second.after);
    CHECK(scheduler.get("second").waits_for.empty());
    CHECK(scheduler.output("second") == bytes + "c");
    CHECK(refused([&] { scheduler.output("third"); }) == SELENE_ERROR_NOT_FOUND);
}

/** Beneath selene.hpp, which lets nothing through: where functions of C throw what their host catches around a call. */
struct thrown : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/** What such a function has, and how often it was called and its context ended. */
struct thrower {
    selene_scheduler scheduler = 0;
    std::string id;
    int calls = 0, ends = 0;
};

[[noreturn]] void throw_from_run(selene_run, const selene_run_info *, void *context) {
    static_cast<thrower *>(context)->calls++;
    throw thrown("from a handler");
}

/** The handler's own call has its stop function called, which throws through both. */
void cancel_own(selene_run, const selene_run_info *, void *context) {
    auto &own = *static_cast<thrower *>(context);
    own.calls++;
    selene_task_cancel(own.scheduler, own.id.c_str(), -1, nullptr);
}

[[noreturn]] void throw_from_stop(selene_run, int32_t, void *) {
    throw thrown("from a stop function");
}

[[noreturn]] void throw_from_observer(const selene_event *, void *context) {
    static_cast<thrower *>(context)->calls++;
    throw thrown("from an observer");
}

void count_end(void *context) {
    static_cast<thrower *>(context)->ends++;
}

/** What a call throws, whose stack goes through the library. */
template <typename Call> std::string thrown_by(Call call) {
    try {
        call();
    } catch (const thrown &exception) {
        return exception.what();
    }
    return "nothing";
}

void thrown_through() {
    selene::scheduler scheduler = opened();
    const selene_scheduler raw = scheduler.handle();
    thrower handler, stopper, observer;
    stopper.scheduler = raw;
    stopper.id = "stop";
    CHECK(selene_handler_register(raw, "run", -1, throw_from_run, nullptr, &handler, count_end) ==
          SELENE_OK);
    CHECK(selene_handler_register(raw, "stop", -1, cancel_own, throw_from_stop, &stopper,
                                  count_end) == SELENE_OK);
    selene_window window = SELENE_INIT(selene_window);
    window.flags = SELENE_WINDOW_INLINE;
    const auto run = [&] { selene_cycle_run(raw, &window, nullptr); };
    for (int i = 1; i <= 20; i++) {
        scheduler.add({"run"});
        CHECK(thrown_by(run) == "from a handler");
        CHECK(handler.calls == i);
        // A call with a large frame of its own may find what was left untouched; this one has a small one.
        scheduler.now();
        const auto left = scheduler.get("run");
        CHECK(left.last_outcome == selene::outcome::failed);
        CHECK(left.failure ==
              "its handler was left by a jump, an exception or the end of its thread");
        scheduler.cancel("run");
        scheduler.add({"stop"});
        CHECK(thrown_by(run) == "from a stop function");
        CHECK(stopper.calls == i);
        CHECK(scheduler.get("stop").state == selene::state::cancelled);
    }
    CHECK(selene_scheduler_observe(raw, throw_from_observer, &observer, count_end) == SELENE_OK);
    for (int i = 1; i <= 20; i++) {
        const selene::task task = {"task " + std::to_string(i)};
        CHECK(thrown_by([&] { scheduler.add(task); }) == "from an observer");
        CHECK(observer.calls == i);
    }
    CHECK(selene_scheduler_observe(raw, nullptr, nullptr, nullptr) == SELENE_OK);
    CHECK(observer.ends == 1);
    // All goes on as before: nothing is taken for being inside a callback.
    CHECK(selene_scheduler_reset(raw) == SELENE_OK);
    scheduler.handler("after", [](selene::run &) {});
    scheduler.add({"after"});
    CHECK(scheduler.run_cycle(here()).new_data == 1);
    scheduler.close();
    CHECK(handler.ends == 1 && stopper.ends == 1);
}

void progress() {
    selene::options options;
    options.clock = selene::instant{std::chrono::hours(1000)};
    options.stop_grace = std::chrono::seconds(1);
    selene::scheduler scheduler = opened(options);
    selene::task task = once("pages");
    task.stall_limit = std::chrono::minutes(1);
    task.jitter = 250;
    task.latest_begin = std::chrono::hours(1);
    task.max_attempts = 1;
    scheduler.open_events(100);
    scheduler.add(task);
    scheduler.handler("pages", [&](selene::run &run) {
        CHECK(!scheduler.get("pages").progress);
        run.progress(3, 10, "three");
        const selene::progress told = scheduler.get("pages").progress.value();
        CHECK(told.done == 3 && told.total == 10 && told.text == "three");
        CHECK(told.at == scheduler.now());
        CHECK(refused([&] { run.progress(-1); }) == SELENE_ERROR_INVALID_ARGUMENT);
        scheduler.set_clock(scheduler.now() + std::chrono::minutes(1));
        CHECK(run.stopping() == selene::stop::stalled);
        scheduler.set_clock(scheduler.now() + std::chrono::seconds(2));
        CHECK(refused([&] { run.progress(4); }) == SELENE_ERROR_STALE_RUN);
    });
    selene::window window = here();
    window.budget = hours(1);
    CHECK(scheduler.run_cycle(window).expired == 1);
    CHECK(scheduler.get("pages").failure == "made no progress");
    bool heard = false;
    while (const std::optional<selene::event> event = scheduler.next_event())
        heard = heard || (event->type == SELENE_EVENT_PROGRESS && event->progress_done == 3 &&
                          event->progress_total == 10 && event->message == "three");
    CHECK(heard);
}

void results() {
    selene::scheduler scheduler = opened();
    std::optional<selene::run> kept;
    scheduler.handler("nothing", [](selene::run &) {});
    scheduler.handler("false", [](selene::run &) { return false; });
    scheduler.handler("given", [](selene::run &run) {
        run.complete(selene::outcome::no_data);
        return selene::outcome::none;
    });
    scheduler.handler("owned", [owned = std::make_shared<int>(0)](selene::run &) mutable {
        return ++*owned == 1 ? selene::outcome::new_data : selene::outcome::failed;
    });
    for (const char *id : {"nothing", "false", "given", "owned"})
        scheduler.add({id});
    const selene::report report = scheduler.run_cycle(here());
    CHECK(report.new_data == 2 && report.no_data == 2);
    CHECK(scheduler.get("false").last_outcome == selene::outcome::no_data);
    CHECK(!scheduler.find("nobody"));
    CHECK(refused([&] { scheduler.get("nobody"); }) == SELENE_ERROR_NOT_FOUND);
}

void errors() {
    selene::scheduler scheduler = opened();
    selene::task task;
    task.id = "a";
    task.response_window = 31;
    try {
        scheduler.add(task);
        CHECK(false);
    } catch (const selene::error &error) {
        CHECK(error.status() == SELENE_ERROR_INVALID_ARGUMENT);
        CHECK(std::string(error.name()) == "INVALID_ARGUMENT");
        CHECK(error.field() == "response_window" && error.found() == "31");
        CHECK(error.allowed() == "0 … 30");
        CHECK(std::string(error.what()).find(error.detail()) != std::string::npos);
    }
    task.response_window = -1;
    CHECK(refused([&] { scheduler.add(task); }) == SELENE_ERROR_INVALID_ARGUMENT);
    selene::window no_lanes;
    no_lanes.lanes = 0;
    CHECK(refused([&] { scheduler.plan(no_lanes); }) == SELENE_ERROR_INVALID_ARGUMENT);
    auto alive = std::make_shared<int>(1);
    scheduler.handler("a", [alive](selene::run &) {});
    CHECK(alive.use_count() == 2);
    // A callable that is refused goes, too.
    CHECK(refused([&] { scheduler.handler("a", [alive](selene::run &) {}); }) ==
          SELENE_ERROR_ALREADY_EXISTS);
    CHECK(alive.use_count() == 2);
    scheduler.close();
    CHECK(alive.use_count() == 1);
    scheduler.close();
    CHECK(refused([&] { scheduler.now(); }) == SELENE_ERROR_INVALID_HANDLE);
}

void stops() {
    selene::scheduler scheduler = opened();
    std::atomic<bool> begun{false}, asked{false};
    selene::stop reason = selene::stop::none;
    std::atomic<int> told{0};
    scheduler.handler(
        "long",
        [&](selene::run &run) {
            begun = true;
            while (run.stopping() == selene::stop::none)
                std::this_thread::sleep_for(1ms);
            reason = run.stopping();
        },
        [&](selene_run, selene::stop) { asked = true; });
    scheduler.add(once("long"));
    scheduler.run_async(
        {}, [&](const selene::report &report) { told = static_cast<int>(report.stopped) + 1; });
    while (!begun)
        std::this_thread::sleep_for(1ms);
    CHECK(scheduler.cancel("long") == 1);
    CHECK(scheduler.get("long").state == selene::state::cancelled);
    scheduler.close(60s);
    CHECK(asked && told == 2);
    CHECK(reason == selene::stop::cancelled || reason == selene::stop::shutdown);
}

void left_behind() {
    selene::options options;
    options.max_pending_refresh = selene::unlimited;
    options.stop_grace = 0s;
    // Handlers that outlive their scheduler own what they use.
    struct hanging {
        std::atomic<int> runs{0};
        std::atomic<bool> is_over{false};
    };
    const auto all = std::make_shared<hanging>();
    const auto until_over = [all](selene::run &) {
        all->runs++;
        while (!all->is_over)
            std::this_thread::sleep_for(1ms);
    };
    selene::scheduler scheduler = opened(options);
    scheduler.handler("times out", until_over);
    scheduler.handler("hangs", until_over);
    scheduler.handler("quick", [](selene::run &) {});
    selene::task first = once("times out");
    first.priority = selene::priority::very_high;
    first.timeout = 20ms;
    first.max_attempts = 1;
    scheduler.add(first);
    for (const char *id : {"a", "b", "c"}) {
        selene::task quick = once(id);
        quick.handler = "quick";
        scheduler.add(quick);
    }
    selene::window window;
    window.budget = hours(1);
    selene::report report = scheduler.run_cycle(window);
    CHECK(report.expired == 1 && report.new_data == 3);
    CHECK(scheduler.get("times out").failure == "timed out");
    // Where nothing ends the run before, the window's deadline does. A slow machine begins nothing in a short one.
    scheduler.add(once("hangs"));
    window.budget = 50ms;
    do {
        window.budget *= 2;
        report = scheduler.run_cycle(window);
    } while (report.runs.empty());
    CHECK(report.expired == 1 && report.runs[0].outcome == selene::outcome::expired);
    CHECK(report.ended_at >= report.deadline && report.ended_at < report.deadline + 60s);
    CHECK(scheduler.get("hangs").state == selene::state::enqueued);
    while (all->runs < 2)
        std::this_thread::sleep_for(1ms);
    scheduler.close(0s);
    // The close has waited for neither, and each keeps its callable until it returns.
    CHECK(all.use_count() == 4);
    all->is_over = true;
    while (all.use_count() > 2)
        std::this_thread::sleep_for(1ms);
}

void after_close() {
    selene::options options;
    options.clock = selene::instant{hours(1)};
    options.no_threads = true;
    selene::scheduler scheduler = opened(options);
    scheduler.handler("a");
    selene::task task{"a"};
    task.input = "input";
    scheduler.add(task);
    scheduler.open_events();
    selene::cycle cycle = scheduler.begin();
    const selene::run run = *cycle.next();
    scheduler.close();
    scheduler.close();
    const auto is_closed = [](auto call) { return refused(call) == SELENE_ERROR_INVALID_HANDLE; };
    CHECK(is_closed([&] { scheduler.now(); }) && is_closed([&] { scheduler.add(task); }));
    CHECK(is_closed([&] { scheduler.run_cycle(); }) && is_closed([&] { scheduler.begin(); }));
    CHECK(is_closed([&] { scheduler.next_event(); }) &&
          is_closed([&] { scheduler.start_driver(); }));
    CHECK(is_closed([&] { cycle.next(); }) && is_closed([&] { cycle.end(); }));
    CHECK(refused([&] { run.complete(); }) != SELENE_OK);
    CHECK(run.stopping() == selene::stop::shutdown && run.remaining() == 0ns);
    CHECK(run.id() + run.input() == "ainput");
    // What was moved from has nothing to close; what a window began goes after its scheduler.
    std::optional<selene::cycle> last;
    {
        selene::scheduler first = opened(options);
        selene::scheduler second = std::move(first);
        CHECK(is_closed([&] { first.now(); }));
        last.emplace(second.begin());
    }
    last.reset();
}

void closed_meanwhile() {
    for (int round = 0; round < 10; round++) {
        selene::scheduler scheduler = opened();
        std::atomic<int> ran{0}, wrong{0}, closed{0};
        scheduler.handler("h", [&](selene::run &run) {
            if (run.handler() != "h" || run.input().size() != 99) wrong++;
            ran++;
        });
        for (int i = 0; i < 50; i++) {
            selene::task task;
            task.id = std::to_string(i);
            task.schedule = selene::schedule::standing;
            task.handler = "h";
            task.input = std::string(99, 'x');
            scheduler.add(task);
        }
        const auto work = [&] {
            selene::window window;
            window.lanes = 3;
            selene_status status = SELENE_OK;
            // Another thread may have the window.
            while (status == SELENE_OK || status == SELENE_ERROR_BUSY)
                status = refused([&] { scheduler.run_cycle(window); });
            if (status == SELENE_ERROR_INVALID_HANDLE) closed++;
        };
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; i++)
            threads.emplace_back(work);
        while (ran < 100)
            std::this_thread::yield();
        scheduler.close(0s);
        for (std::thread &thread : threads)
            thread.join();
        CHECK(closed == 3 && wrong == 0);
    }
}

void nightly() {
    const selene::instant midnight{hours(24 * 20454)};
    selene::options options;
    options.clock = midnight;
    selene::scheduler scheduler = opened(options);
    std::vector<selene::instant> nights;
    selene::task task = once("backup");
    task.schedule = selene::schedule::periodic;
    task.initial_delay = hours(3);
    task.period = hours(24);
    scheduler.handler("backup", [&](const selene::run &run) {
        nights.push_back(scheduler.now());
        CHECK(run.sleep(std::chrono::seconds(4)) == selene::stop::none);
        CHECK(scheduler.now() == nights.back() + std::chrono::seconds(4));
    });
    scheduler.add(task);
    scheduler.start_driver();
    CHECK(scheduler.advance(midnight) == midnight + hours(3));
    scheduler.advance(midnight + 7 * hours(24));
    CHECK(nights.size() == 7);
    /* A period counts from the end of the run before. */
    selene::instant expected = midnight + hours(3);
    for (const selene::instant night : nights) {
        CHECK(night == expected);
        expected += hours(24) + std::chrono::seconds(4);
    }
    CHECK(scheduler.now() == midnight + 7 * hours(24));
}

void told_clock() {
    selene::options options;
    const selene::instant start{hours(1000)};
    options.clock = start;
    options.no_threads = true;
    selene::scheduler scheduler = opened(options);
    selene::task task = once("a");
    task.initial_delay = hours(1);
    scheduler.handler("a");
    scheduler.add(task);
    CHECK(scheduler.next_wakeup() == start + hours(1));
    CHECK(scheduler.begin().next().done);
    CHECK(scheduler.why_not("a") == std::vector<std::string>{"not_due"});
    scheduler.set_clock(start + std::chrono::minutes(30));
    const selene::waits_info waits = scheduler.waits("a");
    CHECK(waits.since == start && waits.until == start + std::chrono::minutes(30) &&
          waits.preferred == 0);
    CHECK(waits.parts.size() == 1 && waits.parts[0].reason == "not_due" &&
          waits.parts[0].duration == std::chrono::minutes(30) && waits.parts[0].name.empty());
    selene::task soon = once("soon");
    soon.handler = "a";
    soon.kind = selene::kind::processing;
    soon.latest_begin = hours(20);
    soon.expedited = true;
    soon.group = "g";
    scheduler.add(soon);
    scheduler.pause_group("g");
    selene::explanation why = scheduler.explain("soon");
    CHECK(why.reasons == std::vector<std::string>{"group_paused"} && why.rank == 1 && !why.urgent);
    CHECK(why.latest_begin == start + std::chrono::minutes(30) + hours(20));
    const auto named = scheduler.waits("soon").parts;
    CHECK(named.empty() || named[0].name == "g");
    scheduler.resume_group("g");
    why = scheduler.explain("soon");
    CHECK(why.reasons.empty() && why.rank == 1 && why.expedited);
    CHECK(!scheduler.explain("a").latest_begin && !scheduler.explain("a").expedited);
    scheduler.cancel("soon");
    scheduler.open_driver();
    while (scheduler.driver_wait(0s))
        CHECK(!scheduler.driver_step());
    scheduler.set_clock(start + hours(1));
    CHECK(scheduler.driver_wait());
    std::optional<selene::cycle> cycle = scheduler.driver_step();
    CHECK(cycle.has_value());
    const selene::step step = cycle->next();
    CHECK(step && step->id() == "a" && step->attempt() == 1);
    step->complete();
    CHECK(cycle->end().new_data == 1);
    CHECK(refused([&] { scheduler.run_cycle(); }) == SELENE_ERROR_UNSUPPORTED);
    CHECK(refused([&] { step->complete(); }) == SELENE_ERROR_ALREADY_COMPLETED);
}

/** The id of the one run that a window gives; empty: it gives none. */
std::string pulled_id(selene::scheduler &scheduler) {
    selene::window window;
    window.kinds = selene::kind::refresh | selene::kind::processing;
    selene::cycle cycle = scheduler.begin(window);
    const selene::step step = cycle.next();
    if (!step) return {};
    step->complete();
    return step->id();
}

bool paused(const selene::scheduler &scheduler, const std::vector<selene::pause_info> &wanted) {
    const std::vector<selene::pause_info> found = scheduler.pauses();
    return std::equal(found.begin(), found.end(), wanted.begin(), wanted.end(),
                      [](const selene::pause_info &one, const selene::pause_info &other) {
                          return one.kinds.bits() == other.kinds.bits() && one.pool == other.pool &&
                                 one.until == other.until;
                      });
}

void pauses() {
    const selene::kind refresh = selene::kind::refresh, processing = selene::kind::processing;
    const selene::instant start{hours(1)}, until{hours(2)}, later{hours(3)};
    selene::options options;
    options.clock = start;
    options.no_threads = true;
    selene::scheduler scheduler = opened(options);
    scheduler.handler("work");
    for (const char *id : {"short", "long"}) {
        selene::task task = once(id);
        task.handler = "work";
        if (task.id == "long") task.kind = processing;
        scheduler.add(task);
    }
    CHECK(paused(scheduler, {}));
    scheduler.pause_kinds(refresh, until);
    CHECK(scheduler.why_not("short") == std::vector<std::string>{"kind_paused"});
    CHECK(paused(scheduler, {{refresh, "", until}}));
    CHECK(pulled_id(scheduler) == "long");
    CHECK(pulled_id(scheduler).empty());
    CHECK(scheduler.next_wakeup() == until);
    scheduler.set_clock(until);
    CHECK(paused(scheduler, {}));
    CHECK(pulled_id(scheduler) == "short");

    scheduler.pause_kinds(refresh | processing);
    scheduler.pause_pool("mailer");
    scheduler.pause_pool("mailer", refresh | processing, later);
    CHECK(paused(scheduler,
                 {{refresh | processing, "", {}}, {refresh | processing, "mailer", later}}));
    scheduler.resume_kinds(refresh);
    scheduler.resume_pool("mailer", processing);
    CHECK(paused(scheduler, {{processing, "", {}}, {refresh, "mailer", later}}));
    scheduler.resume_kinds(refresh | processing);
    scheduler.resume_pool("mailer");
    CHECK(paused(scheduler, {}));
}

void wrong_pauses() {
    const selene::kind refresh = selene::kind::refresh;
    const selene::kinds none = selene::kinds::of(0);
    const selene::instant now{hours(1)};
    selene::options options;
    options.clock = now;
    options.no_threads = true;
    selene::scheduler scheduler = opened(options);
    const auto wrong = [](auto call) -> std::string {
        try {
            call();
        } catch (const selene::error &error) {
            return error.status() == SELENE_ERROR_INVALID_ARGUMENT ? error.field() : error.detail();
        }
        return "not refused";
    };
    scheduler.pause_kinds(refresh);
    for (const selene::instant until :
         {selene::instant(), selene::instant(-hours(1)), now, now + hours(11 * 365 * 24)})
        CHECK(wrong([&] { scheduler.pause_kinds(refresh, until); }) == "until");
    CHECK(wrong([&] { scheduler.pause_kinds(none); }) == "kinds");
    CHECK(wrong([&] { scheduler.pause_kinds(selene::kinds::of(8)); }) == "kinds");
    CHECK(wrong([&] { scheduler.resume_kinds(none); }) == "kinds");
    CHECK(wrong([&] { scheduler.pause_pool("mailer", none); }) == "kinds");
    CHECK(wrong([&] { scheduler.pause_pool(std::string(256, 'a')); }) == "pool");
    CHECK(wrong([&] { scheduler.pause_pool(""); }) == "pool");
    CHECK(wrong([&] { scheduler.resume_pool({}); }) == "pool");
    try {
        scheduler.pause_pool("");
    } catch (const selene::error &error) {
        CHECK(std::string(error.what()) == "INVALID_ARGUMENT: pool: empty; a pool has a name");
        CHECK(error.detail() == "pool: empty; a pool has a name");
    }
    CHECK(paused(scheduler, {{refresh, "", {}}}));
    scheduler.close();
    CHECK(refused([&] { scheduler.pauses(); }) == SELENE_ERROR_INVALID_HANDLE);
}

void events() {
    selene::scheduler scheduler = opened();
    scheduler.open_events(2);
    for (const char *id : {"a", "b", "c"})
        scheduler.add({id});
    CHECK(scheduler.next_event()->id == "a");
    CHECK(std::string(scheduler.next_event()->name()) == "registered");
    scheduler.add({"d"});
    const std::optional<selene::event> event = scheduler.next_event(60s);
    CHECK(event && event->id == "d" && event->lost == 1);
    CHECK(!scheduler.next_event());
    scheduler.close_events();
}

/** Takes away a folder with a store. */
void removed(const std::string &folder) {
    for (const char *name : {"store", "store-wal", "store-shm"})
        unlink((folder + "/" + name).c_str());
    CHECK(rmdir(folder.c_str()) == 0);
}

void store() {
    char folder[] = "/tmp/selene-cpp.XXXXXX";
    CHECK(mkdtemp(folder) != nullptr);
    selene::options options;
    options.path = std::string(folder) + "/store";
    options.owner = "org.example.tests";
    {
        selene::scheduler scheduler = opened(options);
        selene::task task = once("a");
        task.input = std::string("in\0put", 6);
        CHECK(scheduler.add(task) == selene::disposition::added);
        CHECK(refused([&] { selene::scheduler other(options); }) == SELENE_ERROR_STORE_LOCKED);
    }
    for (int life = 0; life < 3; life++) {
        selene::scheduler scheduler = opened(options);
        CHECK(scheduler.ids() == std::vector<std::string>{"a"});
        CHECK(scheduler.get("a").input == std::string("in\0put", 6));
        CHECK(!scheduler.get("a").has_handler);
    }
    options.owner = "org.example.others";
    CHECK(refused([&] { selene::scheduler other(options); }) == SELENE_ERROR_STORE_FOREIGN);
    removed(folder);
}

void times() {
    selene::options options;
    const selene::instant start{hours(1000)};
    options.clock = start;
    options.no_threads = true;
    options.max_pending_refresh = selene::unlimited;
    selene::scheduler scheduler = opened(options);
    scheduler.handler("a");
    selene::task task;
    task.id = "a";
    task.schedule = selene::schedule::periodic;
    task.period = hours(1);
    scheduler.add(task);
    const auto first = [&] {
        selene::cycle cycle = scheduler.begin();
        const selene::step step = cycle.next();
        CHECK(step);
        return std::pair(std::move(cycle), *step);
    };
    {
        const auto [cycle, run] = first();
        CHECK(run.started_at() == start && run.deadline() == start + 30s);
        CHECK(run.expires_at() == start + 28500ms && run.priority() == selene::priority::normal);
        run.complete();
    }
    CHECK(scheduler.get("a").earliest_begin == start + hours(1));
    scheduler.set_clock(start + hours(1));
    CHECK(scheduler.drain());
    scheduler.resume();
    {
        const auto [cycle, run] = first();
        run.complete_until(start + hours(9));
    }
    CHECK(scheduler.get("a").earliest_begin == start + hours(9));
    scheduler.add(once("b"));
    scheduler.handler("b");
    {
        const auto [cycle, run] = first();
        run.give_up("of no use");
    }
    CHECK(scheduler.get("b").state == selene::state::failed);
    scheduler.remove_handler("b");
    CHECK(refused([&] { scheduler.remove_handler("b"); }) == SELENE_ERROR_NOT_FOUND);
    scheduler.enable_none();
    scheduler.set_clock(start + hours(9));
    CHECK(refused([&] { scheduler.begin(); }) == SELENE_ERROR_UNAVAILABLE);
    scheduler.enable(selene::kind::refresh);
    first().second.complete();
}

void governor() {
    selene::scheduler scheduler = opened();
    std::atomic<int> ran{0};
    scheduler.handler("a", [&](selene::run &) { ran++; });
    scheduler.set_profile(selene::profile::apple);
    scheduler.set_signal(SELENE_SIGNAL_BACKGROUND_SWITCH, 0);
    const selene::decision refusal = scheduler.ask(selene::kind::refresh);
    CHECK(!refusal.granted);
    bool is_told = false;
    for (const selene::finding &one : refusal.findings)
        is_told = is_told || (one.refuses && one.factor == "background_switch" &&
                              one.observed == 0 && one.clears_at == selene::never);
    CHECK(is_told);
    scheduler.add(once("a"));
    scheduler.start_driver();
    std::this_thread::sleep_for(50ms);
    CHECK(ran == 0);
    CHECK(refused([&] { scheduler.set_signal(SELENE_SIGNAL_BACKGROUND_SWITCH, 7); }) ==
          SELENE_ERROR_INVALID_ARGUMENT);
    scheduler.clear_signal(SELENE_SIGNAL_BACKGROUND_SWITCH);
    scheduler.set_profile(selene::profile::open);
    while (ran == 0)
        std::this_thread::sleep_for(1ms);
    const selene::decision grant = scheduler.ask(selene::kind::refresh);
    CHECK(grant.granted && grant.longest_window == selene::forever && grant.findings.empty());
}

void connections() {
    char folder[] = "/tmp/selene-cpp.XXXXXX";
    CHECK(mkdtemp(folder) != nullptr);
    selene::options options;
    options.path = std::string(folder) + "/store";
    selene::connection connection;
    connection.path = options.path;
    connection.pool = "tests";
    const auto connect = [&] { selene::scheduler::connect(connection); };
    CHECK(refused(connect) == SELENE_ERROR_OWNER_AWAY);
    {
        selene::scheduler owner = opened(options);
        owner.serve();
        selene::scheduler client = selene::scheduler::connect(connection);
        std::atomic<bool> begun{false};
        std::atomic<selene::stop> reason{selene::stop::none};
        client.handler("work", [](selene::run &run) { run.set_output("by " + run.id()); });
        client.handler("waits", [&](selene::run &run) {
            begun = true;
            while (run.stopping() == selene::stop::none)
                std::this_thread::sleep_for(1ms);
            reason = run.stopping();
        });
        CHECK(refused([&] { owner.handler("work", [](selene::run &) {}); }) ==
              SELENE_ERROR_ALREADY_EXISTS);
        selene::task task = once("a");
        task.handler = "work";
        client.add(task);
        CHECK(owner.get("a").state == selene::state::enqueued);
        CHECK(client.run_cycle().new_data == 1);
        CHECK(owner.output("a") == "by a");
        selene::driver driver;
        driver.ungoverned = true;
        client.start_driver(driver);
        owner.add(once("waits"));
        while (!begun)
            std::this_thread::sleep_for(1ms);
        CHECK(owner.cancel("waits") == 1);
        while (reason == selene::stop::none)
            std::this_thread::sleep_for(1ms);
        CHECK(client.get("waits").state == selene::state::cancelled);
        client.stop_driver();
        owner.close();
        CHECK(refused([&] { client.get("a"); }) == SELENE_ERROR_OWNER_AWAY);
        client.close();
        CHECK(refused([&] { client.now(); }) == SELENE_ERROR_INVALID_HANDLE);
    }
    removed(folder);
}

/** This one, to be started again. */
const char *program = "";
const std::vector<std::string> ids_in_flight{"computes", "fails", "sleeps", "stores"};

/** A process that ends with runs in flight, whatever they do. */
[[noreturn]] void leave(const std::string &path) {
    selene::options options;
    options.path = path;
    options.max_pending_refresh = selene::unlimited;
    // Handlers go on while the process ends: what they use does not go before.
    static auto &scheduler = *new selene::scheduler(opened(options));
    static std::atomic<int> begun{0};
    static std::atomic<std::uint64_t> computed{0};
    scheduler.handler("sleeps", [](selene::run &) {
        begun++;
        std::this_thread::sleep_for(hours(1));
    });
    scheduler.handler("computes", [](selene::run &) {
        begun++;
        while (true)
            computed++;
    });
    scheduler.handler("stores", [](selene::run &run) {
        begun++;
        for (std::int64_t i = 0;; i++) {
            run.progress(i);
            selene::task made = once("made " + std::to_string(i % 10));
            made.initial_delay = hours(24);
            scheduler.add(made);
        }
    });
    scheduler.handler("fails", [](selene::run &) {
        begun++;
        while (true)
            refused([] { scheduler.get("nobody"); });
    });
    for (const std::string &id : ids_in_flight)
        scheduler.add(once(id));
    selene::driver driver;
    driver.ungoverned = true;
    driver.refresh_budget = hours(2);
    driver.refresh_lanes = 4;
    scheduler.start_driver(driver);
    while (begun < 4)
        std::this_thread::sleep_for(1ms);
    // Its commit has what began, too.
    scheduler.add({"last"});
    std::exit(7);
}

void exits() {
    char folder[] = "/tmp/selene-cpp.XXXXXX";
    CHECK(mkdtemp(folder) != nullptr);
    selene::options options;
    options.path = std::string(folder) + "/store";
    const std::vector<std::string> words{"tests", "leave", options.path};
    std::vector<char *> arguments;
    for (const std::string &word : words)
        arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);
    pid_t child = 0;
    int status = 0;
    CHECK(posix_spawn(&child, program, nullptr, nullptr, arguments.data(), environ) == 0);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    {
        selene::scheduler scheduler = opened(options);
        for (const std::string &id : ids_in_flight) {
            CHECK(scheduler.get(id).state == selene::state::enqueued);
            CHECK(scheduler.get(id).stop_reason == selene::stop::interrupted);
        }
    }
    removed(folder);
}

/** In pages. */
long resident() {
    long total = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> total >> resident;
    return resident;
}

void memory() {
    selene::options options;
    options.clock = selene::instant{hours(1)};
    options.no_threads = true;
    selene::scheduler scheduler = opened(options);
    int count = 0;
    scheduler.handler("a", [&](selene::run &) {
        if (++count % 2 == 0) throw std::runtime_error("one of two");
    });
    selene::task standing{"a"};
    standing.schedule = selene::schedule::standing;
    scheduler.add(standing);
    scheduler.pause_pool("others");
    std::uint64_t failing = 0;
    const auto grown_in = [&](int runs) {
        const long before = resident();
        for (int i = 0; i < runs; i++) {
            CHECK(scheduler.pauses().size() == 1);
            failing += scheduler.run_cycle(here()).failed;
        }
        return resident() - before;
    };
    grown_in(40000);
    // A byte a run would be 40 pages, a record that is lost two thousand. The system itself may give some, once.
    int stretches = 0;
    do
        stretches++;
    while (grown_in(160000) >= 64 && stretches < 4);
    CHECK(stretches < 4);
    CHECK(count == 40000 + 160000 * stretches && failing == static_cast<std::uint64_t>(count) / 2);
}

} // namespace

int main(int count, char **arguments) {
    program = arguments[0];
    if (count == 3 && std::strcmp(arguments[1], "leave") == 0) leave(arguments[2]);
    test("what a handler throws is a failure with its text", exceptions);
    test("A8 what functions of C throw passes through the library, and all goes on",
         thrown_through);
    test("what a handler returns is the outcome", results);
    test("a run tells its progress, and stops where it makes none", progress);
    test("what a run leaves is its output", outputs);
    test("what is refused is thrown, and callables go with their handlers", errors);
    test("a run that is cancelled is asked to stop, and close waits for it", stops);
    test("a window ends by its deadline and a close at once whatever a handler does", left_behind);
    test("a use after close is an error, whatever the order", after_close);
    test("threads share a scheduler while one closes it", closed_meanwhile);
    test("a clock of a test drives the driver", told_clock);
    test("a nightly job's week passes on a clock of a test", nightly);
    test("kinds are paused until an instant, or until they are resumed", pauses);
    test("a pause of no kind, of no pool or until what is past is refused", wrong_pauses);
    test("events are read, and lost ones counted", events);
    test("a store can be closed and opened again", store);
    test("a periodic task is due again after its period, and a run knows its times", times);
    test("a driver holds back what the profile refuses, and says why", governor);
    test("another process enqueues, looks and works for the owner of a store", connections);
    test("a process ends with its exit code with runs in flight, and the store tells them", exits);
    test("memory is flat over 100 000 runs and as many failures", memory);
    return failures ? 1 : 0;
}
