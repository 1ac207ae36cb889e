/*
 * selene.hpp - Selene for C++17: owners, exceptions, strings and durations over selene.h, in this header alone
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What each call does and when it is refused stands in selene.h; the names are the same. Here
 *
 *   - a scheduler, a cycle and a run are objects; a scheduler closes itself, and a cycle ends itself;
 *   - what is refused is thrown as selene::error, with status, detail, field, found and allowed;
 *   - lengths of time are std::chrono durations, instants are selene::instant (the system clock in nanoseconds);
 *   - a handler is any callable: what it throws is a failure with its text, what it returns is the outcome.
 *
 *     selene::scheduler scheduler;
 *     scheduler.handler("hello", [](selene::run &run) { std::puts(run.id().c_str()); });
 *     scheduler.add({"hello"});
 *     scheduler.run_cycle();
 */
#ifndef SELENE_HPP
#define SELENE_HPP

#include <selene.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace selene {

using std::chrono::nanoseconds;
/** An instant in scheduler time. */
using instant = std::chrono::time_point<std::chrono::system_clock, nanoseconds>;

/** No end: for timeouts. */
inline constexpr nanoseconds forever{SELENE_NEVER};
/** The instant that never comes. */
inline constexpr instant never{forever};
/** No limit, for the counts of options. */
inline constexpr std::uint32_t unlimited = SELENE_UNLIMITED;

enum class kind : std::int32_t {
    refresh = SELENE_KIND_REFRESH,
    processing = SELENE_KIND_PROCESSING,
};
enum class schedule : std::int32_t {
    by_period = SELENE_SCHEDULE_DEFAULT,
    standing = SELENE_SCHEDULE_STANDING,
    once = SELENE_SCHEDULE_ONCE,
    periodic = SELENE_SCHEDULE_PERIODIC,
};
enum class priority : std::int32_t {
    very_low = SELENE_PRIORITY_VERY_LOW,
    low = SELENE_PRIORITY_LOW,
    normal = SELENE_PRIORITY_NORMAL,
    high = SELENE_PRIORITY_HIGH,
    very_high = SELENE_PRIORITY_VERY_HIGH,
};
enum class existing : std::int32_t {
    by_schedule = SELENE_EXISTING_DEFAULT,
    keep = SELENE_EXISTING_KEEP,
    replace = SELENE_EXISTING_REPLACE,
    update = SELENE_EXISTING_UPDATE,
    append = SELENE_EXISTING_APPEND,
    append_or_replace = SELENE_EXISTING_APPEND_OR_REPLACE,
    skip = SELENE_EXISTING_SKIP,
};
enum class recurrence : std::int32_t {
    after_completion = SELENE_RECURRENCE_AFTER_COMPLETION,
    anchored = SELENE_RECURRENCE_ANCHORED,
};
enum class backoff : std::int32_t {
    by_schedule = SELENE_BACKOFF_DEFAULT,
    none = SELENE_BACKOFF_NONE,
    linear = SELENE_BACKOFF_LINEAR,
    exponential = SELENE_BACKOFF_EXPONENTIAL,
};
enum class disposition : std::int32_t {
    added = SELENE_DISPOSITION_ADDED,
    replaced = SELENE_DISPOSITION_REPLACED,
    updated = SELENE_DISPOSITION_UPDATED,
    kept = SELENE_DISPOSITION_KEPT,
    appended = SELENE_DISPOSITION_APPENDED,
    held = SELENE_DISPOSITION_HELD,
};
enum class state : std::int32_t {
    enqueued = SELENE_STATE_ENQUEUED,
    held = SELENE_STATE_HELD,
    blocked = SELENE_STATE_BLOCKED,
    running = SELENE_STATE_RUNNING,
    succeeded = SELENE_STATE_SUCCEEDED,
    failed = SELENE_STATE_FAILED,
    cancelled = SELENE_STATE_CANCELLED,
};
enum class outcome : std::int32_t {
    /** A handler that returns it is still at work: its outcome is given later, by run::complete. */
    none = SELENE_OUTCOME_NONE,
    new_data = SELENE_OUTCOME_NEW_DATA,
    no_data = SELENE_OUTCOME_NO_DATA,
    failed = SELENE_OUTCOME_FAILED,
    abandoned = SELENE_OUTCOME_ABANDONED,
    expired = SELENE_OUTCOME_EXPIRED,
    stopped = SELENE_OUTCOME_STOPPED,
};
enum class stop : std::int32_t {
    none = SELENE_STOP_NONE,
    expiring = SELENE_STOP_EXPIRING,
    preempted = SELENE_STOP_PREEMPTED,
    constraint_lost = SELENE_STOP_CONSTRAINT_LOST,
    replaced = SELENE_STOP_REPLACED,
    cancelled = SELENE_STOP_CANCELLED,
    shutdown = SELENE_STOP_SHUTDOWN,
    interrupted = SELENE_STOP_INTERRUPTED,
    timed_out = SELENE_STOP_TIMED_OUT,
    stalled = SELENE_STOP_STALLED,
    too_late = SELENE_STOP_TOO_LATE,
    lease_lost = SELENE_STOP_LEASE_LOST,
};

/** Bits of conditions that a task may ask for. */
inline constexpr std::uint32_t network = SELENE_CONSTRAINT_NETWORK;
inline constexpr std::uint32_t external_power = SELENE_CONSTRAINT_EXTERNAL_POWER;
inline constexpr std::uint32_t unmetered = SELENE_CONSTRAINT_UNMETERED;
inline constexpr std::uint32_t battery_not_low = SELENE_CONSTRAINT_BATTERY_NOT_LOW;
inline constexpr std::uint32_t idle = SELENE_CONSTRAINT_IDLE;
inline constexpr std::uint32_t storage_not_low = SELENE_CONSTRAINT_STORAGE_NOT_LOW;
inline constexpr std::uint32_t display_off = SELENE_CONSTRAINT_DISPLAY_OFF;
inline constexpr std::uint32_t not_roaming = SELENE_CONSTRAINT_NOT_ROAMING;

/** A set of kinds. */
class kinds {
  public:
    /** None. */
    constexpr kinds() = default;
    constexpr kinds(kind one) : bits_(static_cast<std::uint32_t>(one)) {}
    static constexpr kinds of(std::uint32_t bits) {
        kinds made;
        made.bits_ = bits;
        return made;
    }
    constexpr std::uint32_t bits() const {
        return bits_;
    }
    friend constexpr kinds operator|(kinds one, kinds other) {
        return of(one.bits_ | other.bits_);
    }

  private:
    std::uint32_t bits_ = 0;
};
constexpr kinds operator|(kind one, kind other) {
    return kinds(one) | kinds(other);
}

inline const char *name(kind value) {
    return selene_name(SELENE_NAMES_KIND, static_cast<std::int32_t>(value));
}
inline const char *name(state value) {
    return selene_name(SELENE_NAMES_STATE, static_cast<std::int32_t>(value));
}
inline const char *name(outcome value) {
    return value == outcome::none
               ? "none"
               : selene_name(SELENE_NAMES_OUTCOME, static_cast<std::int32_t>(value));
}
inline const char *name(stop value) {
    return selene_name(SELENE_NAMES_STOP, static_cast<std::int32_t>(value));
}
inline const char *name(disposition value) {
    return selene_name(SELENE_NAMES_DISPOSITION, static_cast<std::int32_t>(value));
}

/** A call was refused or failed; nothing changed. */
class error : public std::runtime_error {
  public:
    /** What this thread's last failed call left. */
    explicit error(selene_status status)
        : std::runtime_error(std::string(selene_name(SELENE_NAMES_STATUS, status)) + ": " +
                             selene_error_last()->message.data),
          status_(status), detail_(selene_error_last()->message.data) {
        const selene_error *last = selene_error_last();
        field_.assign(last->field.data, static_cast<std::size_t>(last->field.length));
        found_.assign(last->found.data, static_cast<std::size_t>(last->found.length));
        allowed_.assign(last->allowed.data, static_cast<std::size_t>(last->allowed.length));
    }

    /** Of what the library would take for something else. */
    error(selene_status status, const std::string &field, const std::string &why)
        : std::runtime_error(std::string(selene_name(SELENE_NAMES_STATUS, status)) + ": " + field +
                             ": " + why),
          status_(status), detail_(field + ": " + why), field_(field) {}

    /** A SELENE_ERROR_ number. */
    selene_status status() const noexcept {
        return status_;
    }
    /** Its name, as "NOT_FOUND". */
    const char *name() const noexcept {
        return selene_name(SELENE_NAMES_STATUS, status_);
    }
    const std::string &detail() const noexcept {
        return detail_;
    }
    /** The parameter or field; "" where the call as a whole is refused. */
    const std::string &field() const noexcept {
        return field_;
    }
    const std::string &found() const noexcept {
        return found_;
    }
    const std::string &allowed() const noexcept {
        return allowed_;
    }

  private:
    selene_status status_;
    std::string detail_, field_, found_, allowed_;
};

namespace detail {

inline void check(selene_status status) {
    if (status != SELENE_OK) throw error(status);
}

inline selene_text text(std::string_view text) {
    return selene_text{text.data(), static_cast<std::int64_t>(text.size())};
}

inline std::string string(selene_text text) {
    return text.data ? std::string(text.data, static_cast<std::size_t>(text.length))
                     : std::string();
}

inline std::int64_t length(std::string_view text) {
    return static_cast<std::int64_t>(text.size());
}

inline instant at(std::int64_t ns) {
    return instant(nanoseconds(ns));
}

/** The error that a handler threw, for the record of its task. */
inline std::string reason_of(const std::exception_ptr &thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception &exception) {
        return exception.what();
    } catch (...) {
        return "an exception that is not a std::exception";
    }
}

} // namespace detail

/** Thrown by a handler: the run failed, and its next attempt comes after this time in place of its backoff. */
class retry_after : public std::runtime_error {
  public:
    explicit retry_after(nanoseconds delay, const std::string &why = "try again later")
        : std::runtime_error(why), delay_(delay) {}
    nanoseconds delay() const noexcept {
        return delay_;
    }

  private:
    nanoseconds delay_;
};

/** Thrown by a handler: the run failed for good. */
class abandon : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/** What a task is; absent fields have the library's defaults. */
struct task {
    std::string id;
    /** Empty: the id. */
    std::string handler{};
    selene::kind kind = selene::kind::refresh;
    /** by_period: periodic with a period, else once. */
    selene::schedule schedule = selene::schedule::by_period;
    selene::priority priority = selene::priority::normal;
    selene::existing existing = selene::existing::by_schedule;
    selene::recurrence recurrence = selene::recurrence::after_completion;
    selene::backoff backoff = selene::backoff::by_schedule;
    nanoseconds backoff_delay = std::chrono::seconds(30);
    /** What a run takes while none is known; without it, what its handler's runs took. */
    std::optional<nanoseconds> expected_response{};
    std::int32_t response_window = 3;
    nanoseconds initial_delay{0};
    /** From registration, after which it has failed unless it began; once tasks only. 0: none. */
    nanoseconds latest_begin{0};
    nanoseconds period{0};
    nanoseconds flex{0};
    /** 0: none. */
    nanoseconds timeout{0};
    /** After which a run that tells no progress is asked to stop; 0: none. */
    nanoseconds stall_limit{0};
    /** Makes initial_delay and each period longer by a random part of at most so many per mille; 0 … 1000. */
    std::uint32_t jitter = 0;
    /** 0: no limit. */
    std::uint32_t max_attempts = 0;
    /** network | external_power | unmetered | battery_not_low | idle | storage_not_low | display_off | not_roaming. */
    std::uint32_t constraints = 0;
    std::vector<std::string> tags{};
    /** Names of conditions of the host, all of which must be satisfied (scheduler::define_condition). */
    std::vector<std::string> conditions{};
    /** What it shares a limit of runs at a time with, and a pause; empty: none. */
    std::string group{};
    /** Bytes that each run gets. */
    std::string input{};
    /** The freshness rule does not learn from its outcomes. */
    bool steady = false;
    /** Ids of registered once tasks: it waits until they have succeeded, fails or is cancelled with them. */
    std::vector<std::string> after{};
    /** It starts when they have ended, however they did. */
    bool after_any_end = false;
    /** Important now: a once task goes before others while something is left of options::expedited_quota. */
    bool expedited = false;
    /** Registering it while that is used up is an error (out_of_quota), not an ordinary task. */
    bool refuse_out_of_quota = false;
};

/** How far a run has come, as it told by run::progress. */
struct progress {
    std::int64_t done;
    /** 0: unknown. */
    std::int64_t total;
    std::string text;
    instant at;
};

/** A task's record. */
struct task_info {
    std::string id, handler, input, failure;
    selene::kind kind;
    selene::schedule schedule;
    selene::priority priority;
    selene::state state;
    bool has_handler;
    std::uint32_t attempts, generation;
    /** None if it never ran. */
    std::optional<outcome> last_outcome;
    std::uint64_t sequence, appended;
    instant registered_at, earliest_begin, last_run;
    /** When a run last failed, if none has succeeded since. */
    std::optional<instant> failed_at;
    nanoseconds estimate;
    std::vector<nanoseconds> response_times;
    /** Of the run in flight, if it has told any. */
    std::optional<selene::progress> progress;
    /** Or empty. */
    std::string group{};
    /** The tasks that it comes after, and those of them that it waits for. */
    std::vector<std::string> after{}, waits_for{};
    /** The conditions of the host that it asks for. */
    std::vector<std::string> conditions{};
    /** Why its last run was stopped. */
    selene::stop stop_reason{};
};

/** What a condition of the host is. */
enum class condition : std::int32_t {
    undefined = SELENE_CONDITION_UNDEFINED,
    unsatisfied = SELENE_CONDITION_UNSATISFIED,
    satisfied = SELENE_CONDITION_SATISFIED,
};

/** A group of tasks. */
struct group_info {
    /** Runs at a time; 0: no limit. */
    std::uint32_t limit;
    bool paused;
    /** Its runs that are not over or have not come back, and its tasks that wait. */
    std::uint64_t running, waiting;
};

/** Kinds that are paused until the same instant. */
struct pause_info {
    selene::kinds kinds;
    /** Whose tasks wait; empty: those of all. */
    std::string pool;
    /** When it ends; none: when it is resumed. */
    std::optional<instant> until;
};

/** How much of a task's time went to one reason. */
struct wait_part {
    /** As selene_name tells it. */
    std::string reason;
    /** The bit of a constraint, the number of a factor, or 0. */
    std::int64_t detail;
    nanoseconds duration;
    /** How often it began; for the reasons of windows in how many of them. */
    std::uint64_t times;
    /** The condition of the host, the group, or the id that it waits for; or empty. */
    std::string name;
};

/** Why a task does not run now. */
struct explanation {
    /** As selene_name tells them; none: nothing but a window is missing. */
    std::vector<std::string> reasons;
    /** From 1; 0: it is not eligible. */
    std::uint64_t rank, eligible;
    double score;
    nanoseconds estimate;
    /** The last instant at which it may begin, while it waits and has one. */
    std::optional<instant> latest_begin;
    /** It goes before others, because that is near; because it is expedited and something of the quota is left. */
    bool urgent, expedited;
};

/** Where the time of a task went since it was last due, or registered; the durations add up to until - since. */
struct waits_info {
    instant since, until;
    std::vector<wait_part> parts;
    /** How many dispatches of others went before it in windows that it fitted, and the last of these, the latest first. */
    std::uint64_t preferred;
    std::vector<std::string> preferred_ids;
};

/** An opportunity to work. */
struct window {
    nanoseconds budget = std::chrono::seconds(30);
    /** Kept free at the end; none: a twentieth of the budget. */
    std::optional<nanoseconds> reserve{};
    /** None: all that may begin. */
    selene::kinds kinds{};
    std::uint32_t lanes = 1;
    bool strict_fit = false;
    /** It picks only tasks that were eligible at its begin; without it also those that become due meanwhile. */
    bool frozen = false;
    /** run_cycle only: on the calling thread. */
    bool on_this_thread = false;
    /** Not empty: the one task that shall run now. */
    std::string task{};
};

/** One run of a report. */
struct report_run {
    std::string id;
    selene::outcome outcome;
    selene::stop stop_reason;
    std::uint32_t attempt;
    double score;
    nanoseconds estimate, response_time;
    instant started_at;
};

/** What a cycle did. */
struct report {
    selene::outcome result;
    instant began_at, ended_at, deadline;
    std::uint64_t eligible, did_not_fit, new_data, no_data, failed, abandoned, expired, stopped;
    std::vector<report_run> runs;
};

/** What a window would pick. */
struct plan_run {
    std::string id;
    double score;
    nanoseconds estimate;
    instant starts_at;
};

/** One change. */
struct event {
    std::uint64_t number;
    /** A SELENE_EVENT_ number. */
    std::int32_t type;
    instant time;
    std::string id, message;
    std::int32_t detail;
    std::uint32_t attempts;
    /** Events that found no room before this one. */
    std::uint64_t lost;
    /** SELENE_EVENT_PROGRESS: how much is done, of how much (0: unknown). */
    std::int64_t progress_done, progress_total;

    const char *name() const {
        return selene_name(SELENE_NAMES_EVENT, type);
    }
};

/** How a scheduler is opened. */
struct options {
    /** File of the store; empty: in memory. */
    std::string path{};
    /** The name of the application; empty: none. */
    std::string owner{};
    /** Ids that may be registered; none: all. */
    std::optional<std::vector<std::string>> permitted{};
    /** Once and periodic tasks that may wait or run at a time; by default any number. */
    std::uint32_t max_pending_refresh = unlimited;
    std::uint32_t max_pending_processing = unlimited;
    nanoseconds minimum_backoff = std::chrono::seconds(10);
    nanoseconds maximum_backoff = std::chrono::hours(5);
    nanoseconds minimum_interval_refresh{0};
    nanoseconds minimum_interval_processing{0};
    nanoseconds stop_grace = std::chrono::seconds(5);
    /** How long expedited tasks may run in 24 h. */
    nanoseconds expedited_quota = std::chrono::minutes(10);
    /** Bytes of the stack of each of the library's threads, on which handlers run; 0: at least 8 MiB. */
    std::uint64_t thread_stack_size = 0;
    /** The library's threads give way to others. */
    bool background_threads = false;
    /** How far back scheduler::waits knows what happened to all tasks alike: so many windows and dispatches. */
    std::uint64_t wait_log_entries = 4096;
    std::uint64_t max_output_size = 1 << 20;
    /** How long a task waits at least after a second run of it ended its process, each further time twice as long. */
    nanoseconds crash_pause = std::chrono::seconds(30);
    /** Of what is drawn by chance, such as task::jitter; 0: taken from the clock. */
    std::uint64_t seed = 0;
    bool hold = false;
    bool observed_range = false;
    bool relaxed = false;
    bool freshness = false;
    /** The library starts no thread. */
    bool no_threads = false;
    /** The clock of a test: it stands here until scheduler::set_clock. */
    std::optional<instant> clock{};
};

/** How scheduler::connect reaches the process that has a store open. */
struct connection {
    /** The store, or the socket on which it is served. */
    std::string path{};
    /** How long a call waits for an owner while none serves the store, and for an answer. */
    nanoseconds wait{0};
    nanoseconds timeout = std::chrono::seconds(30);
    /** Those whose handlers are the same, any of which runs its tasks; empty: the name of the executable. */
    std::string pool{};
};

/** What the governor asks for before it grants a window. */
enum class profile : std::int32_t {
    open = SELENE_PROFILE_OPEN,
    apple = SELENE_PROFILE_APPLE,
    server = SELENE_PROFILE_SERVER,
    strict = SELENE_PROFILE_STRICT,
};

/** What became of a factor that a profile asks for, in its unit. */
struct finding {
    /** As selene_name tells it. */
    std::string factor;
    bool refuses;
    std::int64_t observed, required;
    /** When it can be better; never: when a signal changes. */
    instant clears_at;
};

/** Whether a kind deserves a window, and why. */
struct decision {
    bool granted;
    instant at;
    /** What budgets leave room for; forever: any. */
    nanoseconds longest_window;
    /** When asking again is worth it, unless a signal changes before. */
    instant ask_again_at;
    std::vector<finding> findings;
};

/** One dispatch of one task. Its facts are copies; it may outlive its cycle and its scheduler. */
class run {
  public:
    /** What a handler or a cycle was told. */
    explicit run(const selene_run_info &info)
        : token_(info.run), attempt_(info.attempt),
          priority_(static_cast<selene::priority>(info.priority)), score_(info.score),
          estimate_(info.estimate), started_at_(detail::at(info.started_at)),
          expires_at_(detail::at(info.expires_at)), deadline_(detail::at(info.deadline)),
          id_(detail::string(info.id)), handler_(detail::string(info.handler)),
          input_(detail::string(info.input)) {}

    selene_run token() const noexcept {
        return token_;
    }
    const std::string &id() const noexcept {
        return id_;
    }
    const std::string &handler() const noexcept {
        return handler_;
    }
    const std::string &input() const noexcept {
        return input_;
    }
    /** 1 for the first. */
    std::uint32_t attempt() const noexcept {
        return attempt_;
    }
    selene::priority priority() const noexcept {
        return priority_;
    }
    double score() const noexcept {
        return score_;
    }
    nanoseconds estimate() const noexcept {
        return estimate_;
    }
    instant started_at() const noexcept {
        return started_at_;
    }
    instant expires_at() const noexcept {
        return expires_at_;
    }
    instant deadline() const noexcept {
        return deadline_;
    }

    /** Whether it should stop, and why; of a run that is over stop::shutdown. Cheap enough for a loop. */
    stop stopping() const {
        std::int32_t reason = SELENE_STOP_NONE;
        const selene_status status = selene_run_stopping(token_, &reason);
        if (status == SELENE_ERROR_STALE_RUN || status == SELENE_ERROR_ALREADY_COMPLETED)
            return stop::shutdown;
        detail::check(status);
        return static_cast<stop>(reason);
    }
    /** Waits until so much scheduler time has passed, or until it should stop; what stopping() says then. */
    stop sleep(nanoseconds duration) const {
        std::int32_t reason = SELENE_STOP_NONE;
        const selene_status status = selene_run_sleep(token_, duration.count(), &reason);
        if (status == SELENE_ERROR_STALE_RUN || status == SELENE_ERROR_ALREADY_COMPLETED)
            return stop::shutdown;
        detail::check(status);
        return static_cast<stop>(reason);
    }
    /** How long until it is asked to stop; of one that was, or that is over, zero. */
    nanoseconds remaining() const {
        std::int64_t remaining = 0;
        const selene_status status = selene_run_remaining(token_, &remaining);
        if (status == SELENE_ERROR_STALE_RUN || status == SELENE_ERROR_ALREADY_COMPLETED)
            return nanoseconds(0);
        detail::check(status);
        return nanoseconds(remaining);
    }

    /** Tells how far it has come, from any thread: how much is done of how much (0: unknown), and a text. */
    void progress(std::int64_t done, std::int64_t total = 0, std::string_view text = {}) const {
        detail::check(selene_run_progress(token_, done, total, text.data(), detail::length(text)));
    }

    /** Says what it leaves if it succeeds: bytes that scheduler::output reads. */
    void set_output(std::string_view output) const {
        detail::check(selene_run_set_output(token_, output.data(), detail::length(output)));
    }

    /** Gives the outcome, once, from any thread. */
    void complete(outcome given = outcome::new_data) const {
        detail::check(selene_run_complete(token_, static_cast<std::int32_t>(given)));
    }
    /** The same, and says when the task is due next, in place of the instant that is computed. */
    void complete_until(instant next, outcome given = outcome::new_data) const {
        detail::check(selene_run_complete_until(token_, static_cast<std::int32_t>(given),
                                                next.time_since_epoch().count()));
    }
    /** Gives the outcome failed and says why; a delay replaces the backoff of this attempt. */
    void fail(std::string_view why, std::optional<nanoseconds> delay = {}) const {
        detail::check(selene_run_fail(token_, SELENE_OUTCOME_FAILED, delay ? delay->count() : -1,
                                      why.data(), detail::length(why)));
    }
    /** Gives the outcome abandoned and says why: it is not tried again. */
    void give_up(std::string_view why) const {
        detail::check(
            selene_run_fail(token_, SELENE_OUTCOME_ABANDONED, -1, why.data(), detail::length(why)));
    }

  private:
    selene_run token_;
    std::uint32_t attempt_;
    selene::priority priority_;
    double score_;
    nanoseconds estimate_;
    instant started_at_, expires_at_, deadline_;
    std::string id_, handler_, input_;
};

namespace detail {

struct deleter {
    void operator()(void *made) const noexcept {
        selene_free(made);
    }
};
/** What a function has made. */
template <typename T> using block = std::unique_ptr<T, deleter>;
using report_pointer = block<selene_report>;

inline report told(const selene_report &raw) {
    report made{static_cast<outcome>(raw.result),
                at(raw.began_at),
                at(raw.ended_at),
                at(raw.deadline),
                raw.eligible,
                raw.did_not_fit,
                raw.new_data,
                raw.no_data,
                raw.failed,
                raw.abandoned,
                raw.expired,
                raw.stopped,
                {}};
    made.runs.reserve(static_cast<std::size_t>(raw.run_count));
    for (std::uint64_t i = 0; i < raw.run_count; i++) {
        const selene_report_run &one = raw.runs[i];
        made.runs.push_back({string(one.id), static_cast<outcome>(one.outcome),
                             static_cast<stop>(one.stop_reason), one.attempt, one.score,
                             nanoseconds(one.estimate), nanoseconds(one.response_time),
                             at(one.started_at)});
    }
    return made;
}

/**
 * A number for a field of the library whose 0 is a default: SELENE_NONE says 0, or is refused where 0 is not allowed. What is
 * negative is nobody's word for something else.
 */
template <typename Number> constexpr Number said(Number number) {
    return number == 0 ? static_cast<Number>(SELENE_NONE)
           : std::is_signed_v<Number> && number == static_cast<Number>(SELENE_NONE)
               ? std::numeric_limits<Number>::min()
               : number;
}

inline selene_window raw(const window &given) {
    selene_window made = SELENE_INIT(selene_window);
    made.budget = said(given.budget.count());
    if (given.reserve) made.reserve = said(given.reserve->count());
    made.kinds = given.kinds.bits();
    made.lanes = said(given.lanes);
    if (given.strict_fit) made.flags |= SELENE_WINDOW_STRICT_FIT;
    if (given.frozen) made.flags |= SELENE_WINDOW_FROZEN;
    if (given.on_this_thread) made.flags |= SELENE_WINDOW_INLINE;
    made.task = text(given.task);
    return made;
}

/** What a handler is registered with. */
struct callable {
    std::function<outcome(run &)> work;
    std::function<void(selene_run, stop)> on_stop;
};

/** Gives the outcome of a handler that has returned. What comes too late, or second, is no error here. */
inline void call(selene_run token, const selene_run_info *info, void *context) noexcept {
    try {
        run given(*info);
        const outcome result = static_cast<callable *>(context)->work(given);
        if (result != outcome::none) selene_run_complete(token, static_cast<std::int32_t>(result));
    } catch (const retry_after &again) {
        if (selene_run_fail(token, SELENE_OUTCOME_FAILED, again.delay().count(), again.what(),
                            -1) == SELENE_ERROR_INVALID_ARGUMENT) {
            const std::string why = std::string("what the handler threw was refused: ") +
                                    selene_error_last()->message.data;
            selene_run_fail(token, SELENE_OUTCOME_FAILED, -1, why.data(), length(why));
        }
    } catch (const abandon &last) {
        selene_run_fail(token, SELENE_OUTCOME_ABANDONED, -1, last.what(), -1);
    } catch (...) {
        const std::string why = reason_of(std::current_exception());
        if (selene_run_fail(token, SELENE_OUTCOME_FAILED, -1, why.data(), length(why)) ==
            SELENE_ERROR_INVALID_ARGUMENT)
            selene_run_complete(token, SELENE_OUTCOME_FAILED);
    }
}

inline void ask(selene_run token, std::int32_t reason, void *context) noexcept {
    try {
        static_cast<callable *>(context)->on_stop(token, static_cast<stop>(reason));
    } catch (...) {
        // The run was asked; what the host makes of it is the host's.
    }
}

template <typename Type> void destroy(void *context) noexcept {
    delete static_cast<Type *>(context);
}

/** A callable of any result as one that gives an outcome: none is new data, false is no data. */
template <typename Work> std::function<outcome(run &)> working(Work work) {
    using result = std::invoke_result_t<Work &, run &>;
    static_assert(
        std::is_void_v<result> || std::is_same_v<result, bool> || std::is_same_v<result, outcome>,
        "a handler returns nothing, a bool (whether there was something new) or an outcome");
    return [work = std::move(work)](run &given) mutable -> outcome {
        if constexpr (std::is_void_v<result>) {
            work(given);
            return outcome::new_data;
        } else if constexpr (std::is_same_v<result, bool>) {
            return work(given) ? outcome::new_data : outcome::no_data;
        } else {
            return work(given);
        }
    };
}

} // namespace detail

/** What cycle::next found: a run, or none; then whether there will be more, and when to ask. */
struct step {
    std::optional<selene::run> run;
    bool done = false;
    instant wake_at = never;

    explicit operator bool() const noexcept {
        return run.has_value();
    }
    const selene::run &operator*() const {
        return run.value();
    }
    const selene::run *operator->() const {
        return &run.value();
    }
};

/** A pulled cycle. One that was not ended ends when it goes. */
class cycle {
  public:
    explicit cycle(selene_cycle handle) noexcept : handle_(handle) {}
    cycle(cycle &&other) noexcept : handle_(std::exchange(other.handle_, 0)) {}
    cycle &operator=(cycle &&other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    cycle(const cycle &) = delete;
    cycle &operator=(const cycle &) = delete;
    ~cycle() {
        if (handle_) selene_cycle_end(handle_, nullptr);
    }

    selene_cycle handle() const noexcept {
        return handle_;
    }

    /** The next run, if there is one now. Complete it, by run::complete or run::fail, before or after the next. */
    step next() {
        selene_run_info info = SELENE_INIT(selene_run_info);
        std::int32_t found = SELENE_STEP_DONE;
        std::int64_t wake_at = SELENE_NEVER;
        detail::check(selene_cycle_next(handle_, &found, &info, &wake_at));
        step made;
        if (found == SELENE_STEP_RUN) made.run.emplace(info);
        made.done = found == SELENE_STEP_DONE;
        if (found == SELENE_STEP_WAIT) made.wake_at = detail::at(wake_at);
        return made;
    }

    /** Ends it. If the store refuses, it stays open and can be ended again. */
    report end() {
        selene_report *raw = nullptr;
        detail::check(selene_cycle_end(handle_, &raw));
        const detail::report_pointer owned(raw);
        handle_ = 0;
        return detail::told(*owned);
    }

  private:
    selene_cycle handle_;
};

/** How a driver opens windows. */
struct driver {
    /** Budgets of its windows; 0: nobody has decided a deadline (selene_driver). */
    nanoseconds refresh_budget{0};
    nanoseconds processing_budget{0};
    std::uint32_t refresh_lanes = 1;
    std::uint32_t processing_lanes = 1;
    selene::kinds kinds = kind::refresh | kind::processing;
    std::optional<nanoseconds> reserve{};
    nanoseconds every{0};
    bool strict_fit = false;
    bool together = false;
    bool frozen = false;
    bool ungoverned = false;
};

/**
 * A scheduler. It may be used from any thread; it is moved, not copied.
 *
 * When it goes it closes with a grace of a second. A handler that has not returned by then goes on: what it refers to must
 * outlive it. close() says how long to wait.
 */
class scheduler {
  public:
    scheduler() : scheduler(options{}) {}

    explicit scheduler(const options &given) {
        selene_options raw = SELENE_INIT(selene_options);
        std::vector<selene_text> permitted;
        if (given.permitted) {
            for (const std::string &id : *given.permitted)
                permitted.push_back(detail::text(id));
            permitted.push_back(selene_text{nullptr, 0});
            raw.permitted = permitted.data();
            raw.permitted_count = permitted.size() - 1;
        }
        raw.path = detail::text(given.path);
        raw.owner = detail::text(given.owner);
        raw.max_pending_refresh = detail::said<std::int64_t>(given.max_pending_refresh);
        raw.max_pending_processing = detail::said<std::int64_t>(given.max_pending_processing);
        raw.minimum_backoff = detail::said(given.minimum_backoff.count());
        raw.maximum_backoff = detail::said(given.maximum_backoff.count());
        raw.minimum_interval_refresh = given.minimum_interval_refresh.count();
        raw.minimum_interval_processing = given.minimum_interval_processing.count();
        raw.stop_grace = detail::said(given.stop_grace.count());
        raw.crash_pause = detail::said(given.crash_pause.count());
        raw.expedited_quota = detail::said(given.expedited_quota.count());
        raw.thread_stack_size = given.thread_stack_size;
        if (given.background_threads) raw.thread_quality = SELENE_THREADS_BACKGROUND;
        raw.wait_log_entries = detail::said(given.wait_log_entries);
        raw.max_output_size = given.max_output_size > INT64_MAX
                                  ? INT64_MAX
                                  : detail::said(static_cast<std::int64_t>(given.max_output_size));
        raw.seed = given.seed;
        if (given.hold) raw.flags |= SELENE_OPTIONS_HOLD;
        if (given.observed_range) raw.flags |= SELENE_OPTIONS_OBSERVED_RANGE;
        if (given.relaxed) raw.flags |= SELENE_OPTIONS_RELAXED;
        if (given.freshness) raw.flags |= SELENE_OPTIONS_FRESHNESS;
        if (given.no_threads) raw.flags |= SELENE_OPTIONS_NO_THREADS;
        if (given.clock) {
            raw.flags |= SELENE_OPTIONS_SET_CLOCK;
            raw.clock_start = given.clock->time_since_epoch().count();
        }
        selene_scheduler made = 0;
        detail::check(selene_scheduler_open(&raw, &made));
        handle_ = made;
    }

    /**
     * Connects to the process that has a store open and serves it: serve(), or selened. The scheduler is used as any other:
     * what is added to it is kept there, and its windows and its driver run the tasks of its handlers.
     */
    static scheduler connect(const connection &given) {
        selene_connect_options raw = SELENE_INIT(selene_connect_options);
        raw.path = detail::text(given.path);
        raw.wait = given.wait.count();
        raw.timeout = detail::said(given.timeout.count());
        raw.pool = detail::text(given.pool);
        selene_scheduler made = 0;
        detail::check(selene_scheduler_connect(&raw, &made));
        return scheduler(connected{made});
    }
    /** Lets other processes of this user connect until it is closed: at a path, or at the store's and "-sock". */
    void serve(const std::string &path = {}) {
        selene_server_options raw = SELENE_INIT(selene_server_options);
        raw.path = detail::text(path);
        selene_server server = 0;
        detail::check(selene_server_start(handle_, &raw, &server));
    }

    scheduler(scheduler &&other) noexcept : handle_(other.handle_.exchange(0)) {}
    scheduler &operator=(scheduler &&other) noexcept {
        other.handle_ = handle_.exchange(other.handle_);
        return *this;
    }
    scheduler(const scheduler &) = delete;
    scheduler &operator=(const scheduler &) = delete;
    ~scheduler() {
        if (handle_ != 0) selene_scheduler_close(handle_, SELENE_SECOND);
    }

    selene_scheduler handle() const noexcept {
        return handle_;
    }

    /** Closes it; runs in flight have the grace. A second close does nothing. */
    void close(nanoseconds grace = std::chrono::seconds(1)) {
        if (handle_ == 0) return;
        const selene_status status = selene_scheduler_close(handle_, grace.count());
        // With these it is still open; with all others it is closed, though its last changes could not be stored.
        if (status != SELENE_ERROR_INVALID_ARGUMENT && status != SELENE_ERROR_REENTRANT)
            handle_ = 0;
        detail::check(status);
    }

    /** Lets nothing more be dispatched and waits until nothing runs; false: something still does. */
    bool drain(nanoseconds grace = nanoseconds(0)) {
        const selene_status status = selene_scheduler_drain(handle_, grace.count());
        if (status == SELENE_ERROR_BUSY) return false;
        detail::check(status);
        return true;
    }
    void resume() {
        detail::check(selene_scheduler_resume(handle_));
    }

    instant now() const {
        std::int64_t now = 0;
        detail::check(selene_scheduler_now(handle_, &now));
        return detail::at(now);
    }
    /** Of a scheduler that was opened with a clock. */
    void set_clock(instant now) {
        detail::check(selene_clock_set(handle_, now.time_since_epoch().count()));
    }
    /**
     * Of a scheduler that was opened with a clock: lets time pass up to an instant, from one at which something is due to the
     * next, and waits at each until all that is due is done, also by handlers. When something is due next.
     *
     * @param patience  how long it waits at each, by the system's clock; then a refused with SELENE_ERROR_BUSY names the runs
     */
    std::optional<instant> advance(instant to, nanoseconds patience = std::chrono::seconds(10)) {
        std::int64_t next = 0;
        detail::check(selene_clock_advance(handle_, to.time_since_epoch().count(),
                                           SELENE_ADVANCE_HANDLERS, patience.count(), &next));
        return next == SELENE_NEVER ? std::nullopt : std::optional(detail::at(next));
    }
    /** When the next window is worth opening. */
    std::optional<instant> next_wakeup() const {
        std::int64_t at = 0;
        detail::check(selene_scheduler_next_wakeup(handle_, &at, nullptr));
        return at == SELENE_NEVER ? std::nullopt : std::optional(detail::at(at));
    }
    /** Says which of these constraints are satisfied, until the next call; the others are the system's. */
    void conditions(std::uint32_t satisfied, std::uint32_t of = network | external_power) {
        detail::check(selene_conditions_set(handle_, of, satisfied));
    }
    /** The kinds that are switched on, all others off. */
    void enable(kinds on) {
        detail::check(selene_scheduler_enable(handle_, on.bits()));
    }
    void enable_none() {
        detail::check(selene_scheduler_enable(handle_, 0));
    }

    // ---- handlers ----

    /**
     * Registers a handler: f(selene::run &), on whatever thread works for a cycle. It returns nothing (new data), a bool
     * (whether there was something new) or an outcome; outcome::none: it is still at work, and run::complete comes later.
     * What it throws is a failure with its text: retry_after says when to try again, abandon that it is of no use.
     * on_stop(token, reason) is called when a run is asked to stop.
     */
    template <typename Work>
    void handler(std::string_view name, Work work,
                 std::function<void(selene_run, stop)> on_stop = nullptr) {
        const bool is_told = static_cast<bool>(on_stop);
        auto made = std::make_unique<detail::callable>(
            detail::callable{detail::working(std::move(work)), std::move(on_stop)});
        // Ends the callable also when it fails.
        detail::check(selene_handler_register(handle_, name.data(), detail::length(name),
                                              detail::call, is_told ? detail::ask : nullptr,
                                              made.release(), detail::destroy<detail::callable>));
    }
    /** One whose runs are pulled. */
    void handler(std::string_view name) {
        detail::check(selene_handler_register(handle_, name.data(), detail::length(name), nullptr,
                                              nullptr, nullptr, nullptr));
    }
    void remove_handler(std::string_view name) {
        detail::check(selene_handler_unregister(handle_, name.data(), detail::length(name)));
    }

    // ---- tasks ----

    disposition add(const task &given) {
        std::vector<selene_text> tags, after, conditions;
        selene_task raw = SELENE_INIT(selene_task);
        std::int32_t found = 0;
        for (const std::string &tag : given.tags)
            tags.push_back(detail::text(tag));
        for (const std::string &id : given.after)
            after.push_back(detail::text(id));
        for (const std::string &name : given.conditions)
            conditions.push_back(detail::text(name));
        raw.id = detail::text(given.id);
        raw.handler = detail::text(given.handler);
        raw.kind = static_cast<std::int32_t>(given.kind);
        raw.schedule = static_cast<std::int32_t>(given.schedule);
        raw.priority = static_cast<std::int32_t>(given.priority);
        raw.existing = static_cast<std::int32_t>(given.existing);
        raw.recurrence = static_cast<std::int32_t>(given.recurrence);
        raw.backoff = static_cast<std::int32_t>(given.backoff);
        raw.response_window = detail::said(given.response_window);
        raw.max_attempts = given.max_attempts;
        raw.constraints = given.constraints;
        raw.tag_count = static_cast<std::uint32_t>(tags.size());
        raw.tags = tags.data();
        if (given.expected_response)
            raw.expected_response = detail::said(given.expected_response->count());
        raw.initial_delay = given.initial_delay.count();
        raw.period = given.period.count();
        raw.flex = given.flex.count();
        raw.backoff_delay = detail::said(given.backoff_delay.count());
        raw.input = given.input.data();
        raw.input_length = detail::length(given.input);
        raw.timeout = given.timeout.count();
        raw.stall_limit = given.stall_limit.count();
        raw.jitter = given.jitter;
        raw.group = detail::text(given.group);
        raw.latest_begin = given.latest_begin.count();
        if (given.steady) raw.flags |= SELENE_TASK_STEADY;
        if (given.expedited) raw.flags |= SELENE_TASK_EXPEDITED;
        if (given.refuse_out_of_quota) raw.flags |= SELENE_TASK_REFUSE_OUT_OF_QUOTA;
        raw.after_count = static_cast<std::uint32_t>(after.size());
        raw.after = after.data();
        raw.condition_count = static_cast<std::uint32_t>(conditions.size());
        raw.conditions = conditions.data();
        if (given.after_any_end) raw.flags |= SELENE_TASK_AFTER_ANY_END;
        detail::check(selene_task_register(handle_, &raw, &found));
        return static_cast<disposition>(found);
    }

    /** The record of a task; none if there is no such task. */
    std::optional<task_info> find(std::string_view id, std::uint64_t position = 0) const {
        selene_task_info *raw = nullptr;
        const selene_status status =
            selene_task_get(handle_, id.data(), detail::length(id), position, &raw);
        if (status == SELENE_ERROR_NOT_FOUND) return std::nullopt;
        detail::check(status);
        const detail::block<selene_task_info> owned(raw);
        task_info made{detail::string(raw->id),
                       detail::string(raw->handler),
                       detail::string(raw->input),
                       detail::string(raw->failure),
                       static_cast<kind>(raw->kind),
                       static_cast<schedule>(raw->schedule),
                       static_cast<priority>(raw->priority),
                       static_cast<state>(raw->state),
                       raw->has_handler != 0,
                       raw->attempts,
                       raw->generation,
                       {},
                       raw->sequence,
                       raw->appended,
                       detail::at(raw->registered_at),
                       detail::at(raw->earliest_begin),
                       detail::at(raw->last_run),
                       {},
                       nanoseconds(raw->estimate),
                       {},
                       {}};
        if (raw->last_outcome >= 0) made.last_outcome = static_cast<outcome>(raw->last_outcome);
        made.stop_reason = static_cast<stop>(raw->stop_reason);
        if (raw->failed_at != 0) made.failed_at = detail::at(raw->failed_at);
        for (std::uint64_t i = 0; i < raw->response_time_count; i++)
            made.response_times.emplace_back(raw->response_times[i]);
        if (raw->progress_at != 0)
            made.progress =
                selene::progress{raw->progress_done, raw->progress_total,
                                 detail::string(raw->progress_text), detail::at(raw->progress_at)};
        made.group = detail::string(raw->group);
        for (std::uint32_t i = 0; i < raw->condition_count; i++)
            made.conditions.push_back(detail::string(raw->conditions[i]));
        for (std::uint32_t i = 0; i < raw->after_count; i++) {
            made.after.push_back(detail::string(raw->after[i]));
            if ((raw->waits_for >> i & 1U) != 0) made.waits_for.push_back(made.after.back());
        }
        return made;
    }
    /** The same; selene::error NOT_FOUND if there is none. */
    task_info get(std::string_view id) const {
        std::optional<task_info> found = find(id);
        if (!found) throw error(SELENE_ERROR_NOT_FOUND);
        return *std::move(found);
    }
    /** What the last success of a task left: bytes, none if it left nothing. */
    std::string output(std::string_view id) const {
        selene_task_output *raw = nullptr;
        detail::check(selene_task_get_output(handle_, id.data(), detail::length(id), &raw));
        const detail::block<selene_task_output> held(raw);
        return detail::string(raw->output);
    }
    /** The ids of all tasks, or of those with a tag. */
    std::vector<std::string> ids(std::string_view tag = {}) const {
        selene_task_ids *raw = nullptr;
        detail::check(selene_task_list(handle_, tag.data(), detail::length(tag), &raw));
        return listed(raw);
    }
    std::vector<std::string> ids(state state) const {
        selene_task_ids *raw = nullptr;
        detail::check(selene_task_list_state(handle_, static_cast<std::int32_t>(state), &raw));
        return listed(raw);
    }
    std::uint64_t cancel(std::string_view id) {
        std::uint64_t count = 0;
        detail::check(selene_task_cancel(handle_, id.data(), detail::length(id), &count));
        return count;
    }
    std::uint64_t cancel_tag(std::string_view tag) {
        std::uint64_t count = 0;
        detail::check(selene_task_cancel_tag(handle_, tag.data(), detail::length(tag), &count));
        return count;
    }
    std::uint64_t cancel_all() {
        std::uint64_t count = 0;
        detail::check(selene_task_cancel_all(handle_, &count));
        return count;
    }
    /** Says when a live task is due next, once, in place of the instant that was or will be computed. */
    void set_next(std::string_view id, instant next) {
        detail::check(selene_task_set_next(handle_, id.data(), detail::length(id),
                                           next.time_since_epoch().count()));
    }
    /** Pauses a task and what waits behind it, or lets them go on; says how many records. */
    std::uint64_t pause(std::string_view id) {
        std::uint64_t count = 0;
        detail::check(selene_task_pause(handle_, id.data(), detail::length(id), &count));
        return count;
    }
    std::uint64_t resume(std::string_view id) {
        std::uint64_t count = 0;
        detail::check(selene_task_resume(handle_, id.data(), detail::length(id), &count));
        return count;
    }
    /** The same for every task that carries a tag. */
    std::uint64_t pause_tag(std::string_view tag) {
        std::uint64_t count = 0;
        detail::check(selene_task_pause_tag(handle_, tag.data(), detail::length(tag), &count));
        return count;
    }
    std::uint64_t resume_tag(std::string_view tag) {
        std::uint64_t count = 0;
        detail::check(selene_task_resume_tag(handle_, tag.data(), detail::length(tag), &count));
        return count;
    }
    /**
     * Pauses kinds everywhere: none of their tasks begins before an instant, at most 10 years ahead, or until they are
     * resumed. Runs in flight go on. The store keeps it; pausing them again changes the end.
     */
    void pause_kinds(kinds which, instant until = never) {
        set_pause({}, which, pause_end(until));
    }
    void resume_kinds(kinds which) {
        set_pause({}, which, 0);
    }
    /**
     * The same in a pool: of the tasks whose handlers its processes offer. Everywhere and in each pool kinds are paused
     * apart, and a task waits while either holds.
     */
    void pause_pool(std::string_view pool, kinds which = kind::refresh | kind::processing,
                    instant until = never) {
        set_pause(named(pool), which, pause_end(until));
    }
    void resume_pool(std::string_view pool, kinds which = kind::refresh | kind::processing) {
        set_pause(named(pool), which, 0);
    }
    /** The kinds that are paused: first everywhere, then by pool. */
    std::vector<pause_info> pauses() const {
        selene_pauses *raw = nullptr;
        detail::check(selene_pause_list(handle_, &raw));
        const detail::block<selene_pauses> held(raw);
        std::vector<pause_info> made;
        for (std::uint64_t i = 0; i < raw->count; i++) {
            const selene_pause &one = raw->pauses[i];
            made.push_back({kinds::of(one.kinds), detail::string(one.pool), {}});
            if (one.until != SELENE_NEVER) made.back().until = detail::at(one.until);
        }
        return made;
    }
    /** Defines a condition of the host's own, which tasks ask for by its name. */
    void define_condition(std::string_view name) {
        detail::check(selene_condition_define(handle_, name.data(), detail::length(name)));
    }
    /** Takes the definition back; it is then not satisfied. */
    void undefine_condition(std::string_view name) {
        detail::check(selene_condition_undefine(handle_, name.data(), detail::length(name)));
    }
    /** Says whether a condition that is defined is satisfied; runs that lose it are stopped. */
    void set_condition(std::string_view name, bool satisfied) {
        detail::check(
            selene_condition_set(handle_, name.data(), detail::length(name), satisfied ? 1 : 0));
    }
    /** Whether a condition is defined, and satisfied; none: neither, and no task asks for it. */
    std::optional<condition> condition_of(std::string_view name) const {
        std::int32_t state = 0;
        const selene_status status =
            selene_condition_get(handle_, name.data(), detail::length(name), &state);
        if (status == SELENE_ERROR_NOT_FOUND) return std::nullopt;
        detail::check(status);
        return static_cast<condition>(state);
    }
    /** The names of all conditions that are defined, or that a task asks for. */
    std::vector<std::string> condition_names() const {
        selene_task_ids *raw = nullptr;
        detail::check(selene_condition_list(handle_, &raw));
        return listed(raw);
    }
    /** The names of those that a task asks for and that are not satisfied. */
    std::vector<std::string> missing_conditions(std::string_view id) const {
        selene_task_ids *raw = nullptr;
        detail::check(selene_condition_missing(handle_, id.data(), detail::length(id), &raw));
        return listed(raw);
    }
    /** At most so many runs of a group go on at a time; 0: no limit. */
    void limit_group(std::string_view name, std::uint32_t limit) {
        detail::check(selene_group_set_limit(handle_, name.data(), detail::length(name), limit));
    }
    /** Begins no more runs of a group, or lets them begin again. */
    void pause_group(std::string_view name) {
        detail::check(selene_group_pause(handle_, name.data(), detail::length(name)));
    }
    void resume_group(std::string_view name) {
        detail::check(selene_group_resume(handle_, name.data(), detail::length(name)));
    }
    /** A group; none if nothing of it is set, no task of it waits and none runs. */
    std::optional<group_info> group(std::string_view name) const {
        selene_group_info raw = SELENE_INIT(selene_group_info);
        const selene_status status =
            selene_group_get(handle_, name.data(), detail::length(name), &raw);
        if (status == SELENE_ERROR_NOT_FOUND) return std::nullopt;
        detail::check(status);
        return group_info{raw.limit, raw.paused != 0, raw.running, raw.waiting};
    }
    /** The names of all groups. */
    std::vector<std::string> groups() const {
        selene_task_ids *raw = nullptr;
        detail::check(selene_group_list(handle_, &raw));
        return listed(raw);
    }
    /** Enqueues a failed task again. */
    void retry(std::string_view id) {
        detail::check(selene_task_retry(handle_, id.data(), detail::length(id)));
    }
    /** Enqueues a failed task again, and all that failed because of it; how many. */
    std::uint64_t retry_successors(std::string_view id) {
        std::uint64_t count = 0;
        detail::check(selene_task_retry_successors(handle_, id.data(), detail::length(id), &count));
        return count;
    }
    /** Every reason why a task does not run now, and its rank. */
    selene::explanation explain(std::string_view id) const {
        selene_explanation raw = SELENE_INIT(selene_explanation);
        detail::check(selene_task_explain(handle_, id.data(), detail::length(id), &raw));
        selene::explanation made{};
        for (std::uint32_t i = 0; i < raw.reason_count; i++)
            made.reasons.emplace_back(selene_name(SELENE_NAMES_REASON, raw.reasons[i].reason));
        made.rank = raw.rank;
        made.eligible = raw.eligible;
        made.score = raw.score;
        made.estimate = nanoseconds(raw.estimate);
        if (raw.latest_begin != 0) made.latest_begin = detail::at(raw.latest_begin);
        made.urgent = raw.urgent != 0;
        made.expedited = raw.expedited != 0;
        return made;
    }
    /** The names of the reasons why a task does not run now; none: nothing but a window is missing. */
    std::vector<std::string> why_not(std::string_view id) const {
        return explain(id).reasons;
    }
    /** Where the time of a task went since it was last due, or registered. */
    waits_info waits(std::string_view id) const {
        selene_waits *raw = nullptr;
        detail::check(selene_task_waits(handle_, id.data(), detail::length(id), &raw));
        const detail::block<selene_waits> held(raw);
        waits_info made{
            detail::at(raw->since), detail::at(raw->until), {}, raw->preferred_count, {}};
        for (std::uint64_t i = 0; i < raw->part_count; i++) {
            const selene_wait &part = raw->parts[i];
            made.parts.push_back({selene_name(SELENE_NAMES_REASON, part.reason), part.detail,
                                  nanoseconds(part.duration), part.times,
                                  detail::string(part.name)});
        }
        for (std::uint64_t i = 0; i < raw->preferred_id_count; i++)
            made.preferred_ids.push_back(detail::string(raw->preferred_ids[i]));
        return made;
    }

    // ---- windows ----

    cycle begin(const window &given = {}) {
        const selene_window raw = detail::raw(given);
        selene_cycle made = 0;
        detail::check(selene_cycle_begin(handle_, &raw, &made));
        return cycle(made);
    }
    /** Runs a whole cycle on library threads, or on this one, and returns its report by the deadline. */
    report run_cycle(const window &given = {}) {
        const selene_window raw = detail::raw(given);
        selene_report *found = nullptr;
        detail::check(selene_cycle_run(handle_, &raw, &found));
        const detail::report_pointer owned(found);
        return detail::told(*owned);
    }
    /** The same without waiting; done(report) is called on a thread of the library and must not throw. */
    void run_async(const window &given, std::function<void(const report &)> done) {
        const selene_window raw = detail::raw(given);
        using callback = std::function<void(const report &)>;
        auto made = std::make_unique<callback>(std::move(done));
        const selene_report_fn receive = [](const selene_report *told, void *context) noexcept {
            (*static_cast<callback *>(context))(detail::told(*told));
        };
        detail::check(selene_cycle_run_async(handle_, &raw, receive, made.release(),
                                             detail::destroy<callback>, nullptr, nullptr));
    }
    /** What such a window would pick now. */
    std::vector<plan_run> plan(const window &given = {}) const {
        const selene_window raw = detail::raw(given);
        selene_plan *found = nullptr;
        std::vector<plan_run> made;
        detail::check(selene_cycle_plan(handle_, &raw, &found));
        const detail::block<selene_plan> owned(found);
        for (std::uint64_t i = 0; i < found->run_count; i++)
            made.push_back({detail::string(found->runs[i].id), found->runs[i].score,
                            nanoseconds(found->runs[i].estimate),
                            detail::at(found->runs[i].starts_at)});
        return made;
    }

    // ---- events ----

    /** Opens the queue of events; a descriptor that is readable while one waits. */
    int open_events(std::uint64_t capacity = 1024) {
        std::int32_t fd = -1;
        detail::check(selene_events_open(handle_, capacity, &fd));
        return fd;
    }
    /** The next event, if there is one by the end of the timeout. */
    std::optional<event> next_event(nanoseconds timeout = nanoseconds(0)) {
        selene_event raw = SELENE_INIT(selene_event);
        std::int32_t found = 0;
        std::uint64_t lost = 0;
        detail::check(selene_events_next(handle_, timeout.count(), &raw, &found, &lost));
        if (!found) return std::nullopt;
        return event{raw.number,
                     raw.type,
                     detail::at(raw.time),
                     detail::string(raw.id),
                     detail::string(raw.message),
                     raw.detail,
                     raw.attempts,
                     lost,
                     raw.progress_done,
                     raw.progress_total};
    }
    void close_events() {
        detail::check(selene_events_close(handle_));
    }

    // ---- the governor ----

    /** Says what it asks for from now on, before the driver opens a window. It is not stored. */
    void set_profile(profile base) {
        selene_profile raw = SELENE_INIT(selene_profile);
        raw.base = static_cast<std::int32_t>(base);
        detail::check(selene_governor_set_profile(handle_, &raw));
    }
    /** Sets a SELENE_SIGNAL_, in place of what the system says: until it is cleared, or for a time (0: it stays). */
    void set_signal(std::int32_t signal, std::int64_t value, nanoseconds valid_for = {}) {
        detail::check(selene_signal_set(handle_, signal, value, valid_for.count()));
    }
    void clear_signal(std::int32_t signal) {
        detail::check(selene_signal_clear(handle_, signal));
    }
    /** Whether a kind deserves a window now, and why. */
    decision ask(kind kind) {
        selene_decision *raw = nullptr;
        detail::check(selene_governor_ask(handle_, static_cast<std::int32_t>(kind), 0, &raw));
        const detail::block<selene_decision> held(raw);
        decision made{raw->granted != 0,
                      detail::at(raw->at),
                      nanoseconds(raw->longest_window),
                      detail::at(raw->ask_again_at),
                      {}};
        for (std::uint64_t i = 0; i < raw->finding_count; i++) {
            const selene_finding &one = raw->findings[i];
            made.findings.push_back({selene_name(SELENE_NAMES_FACTOR, one.factor),
                                     one.verdict == SELENE_VERDICT_VETOED, one.observed,
                                     one.required, detail::at(one.clears_at)});
        }
        return made;
    }

    // ---- the driver ----

    /** Starts a library thread that opens windows whenever something can run. */
    void start_driver(const driver &given = {}) {
        const selene_driver raw = described(given);
        detail::check(selene_driver_start(handle_, &raw));
    }
    /** Opens a driver without a thread; a descriptor that is readable when a step is due. */
    int open_driver(const driver &given = {}) {
        const selene_driver raw = described(given);
        std::int32_t fd = -1;
        detail::check(selene_driver_open(handle_, &raw, &fd));
        return fd;
    }
    /** Does what is due; a cycle to work on, if a window was granted. */
    std::optional<cycle> driver_step() {
        selene_cycle found = 0;
        detail::check(selene_driver_step(handle_, &found, nullptr));
        return found ? std::optional<cycle>(cycle(found)) : std::nullopt;
    }
    /** Waits until a step is due; false: time was up before. */
    bool driver_wait(nanoseconds timeout = forever) {
        std::int32_t ready = 0;
        detail::check(selene_driver_wait(handle_, timeout.count(), &ready));
        return ready != 0;
    }
    void stop_driver(nanoseconds grace = std::chrono::seconds(1)) {
        detail::check(selene_driver_stop(handle_, grace.count()));
    }

  private:
    struct connected {
        selene_scheduler handle;
    };
    explicit scheduler(connected made) noexcept : handle_(made.handle) {}

    /** Another thread may close it meanwhile. */
    std::atomic<selene_scheduler> handle_{0};

    static std::vector<std::string> listed(selene_task_ids *raw) {
        const detail::block<selene_task_ids> owned(raw);
        std::vector<std::string> made;
        for (std::uint64_t i = 0; i < raw->count; i++)
            made.push_back(detail::string(raw->ids[i]));
        return made;
    }

    /** To selene.h an empty pool is everywhere. */
    static std::string_view named(std::string_view pool) {
        if (pool.empty())
            throw error(SELENE_ERROR_INVALID_ARGUMENT, "pool", "empty; a pool has a name");
        return pool;
    }

    /** To selene.h 0 resumes; as the end of a pause that instant is refused as any that is past. */
    static std::int64_t pause_end(instant until) {
        const std::int64_t end = until.time_since_epoch().count();
        return end == 0 ? -1 : end;
    }

    void set_pause(std::string_view pool, kinds which, std::int64_t until) {
        // To selene.h no kind is both of a pool; without one it is refused.
        if (which.bits() == 0) pool = {};
        detail::check(selene_scheduler_pause(handle_, which.bits(), pool.data(),
                                             detail::length(pool), until));
    }

    static selene_driver described(const driver &given) {
        selene_driver raw = SELENE_INIT(selene_driver);
        raw.refresh_budget = given.refresh_budget.count();
        raw.processing_budget = given.processing_budget.count();
        raw.refresh_lanes = detail::said(given.refresh_lanes);
        raw.processing_lanes = detail::said(given.processing_lanes);
        raw.kinds = given.kinds.bits();
        if (given.reserve) raw.reserve = detail::said(given.reserve->count());
        raw.every = given.every.count();
        if (given.strict_fit) raw.flags |= SELENE_DRIVER_STRICT_FIT;
        if (given.together) raw.flags |= SELENE_DRIVER_TOGETHER;
        if (given.frozen) raw.flags |= SELENE_DRIVER_FROZEN;
        if (given.ungoverned) raw.flags |= SELENE_DRIVER_UNGOVERNED;
        return raw;
    }
};

} // namespace selene

#endif // SELENE_HPP
