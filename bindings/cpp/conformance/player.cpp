// Plays commands of Tests/conformance through selene.hpp.

#include <selene.hpp>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

namespace {

using namespace std::chrono;
using selene::nanoseconds;

constexpr std::uint32_t all_constraints = 255;

std::string decode(const std::string &text) {
    std::string made;
    for (std::size_t i = 0; i < text.size(); i++) {
        if (text[i] != '%') {
            made += text[i];
            continue;
        }
        made += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
        i += 2;
    }
    return made;
}

std::string encode(const std::string &text) {
    std::string made;
    char byte[4];
    for (const char one : text) {
        std::snprintf(byte, sizeof byte, "%%%02X", static_cast<unsigned char>(one));
        made += byte;
    }
    return made;
}

std::vector<std::string> list(const std::string &text) {
    std::vector<std::string> made;
    std::istringstream words(text);
    for (std::string one; std::getline(words, one, ',');)
        made.push_back(decode(one));
    return made;
}

struct command {
    std::string verb, word;
    std::map<std::string, std::string> fields;

    explicit command(const std::string &line) {
        std::istringstream words(line);
        words >> verb;
        for (std::string one; words >> one;) {
            const std::size_t equals = one.find('=');
            if (equals == std::string::npos) word = decode(one);
            else fields[one.substr(0, equals)] = one.substr(equals + 1);
        }
    }
    std::string text(const char *key) const {
        const auto found = fields.find(key);
        return found == fields.end() ? "" : decode(found->second);
    }
    std::int64_t number(const char *key, std::int64_t otherwise) const {
        const auto found = fields.find(key);
        return found == fields.end() ? otherwise : std::stoll(found->second);
    }
    nanoseconds span(const char *key, nanoseconds otherwise) const {
        return nanoseconds(number(key, otherwise.count()));
    }
    template <typename Enum> Enum of(const char *key, Enum otherwise) const {
        return static_cast<Enum>(number(key, static_cast<std::int64_t>(otherwise)));
    }
};

/** The handler of a case of ends. */
class work {
  public:
    explicit work(std::string given) : answer(std::move(given)) {}

    const std::string answer;

    selene::outcome run() {
        set(has_begun_);
        wait(is_released_);
        if (answer == "obeys") return selene::outcome::stopped;
        if (answer == "fails") throw std::runtime_error("it was asked to stop");
        return selene::outcome::new_data;
    }
    void stop() {
        if (answer != "deaf" && answer != "completes") release();
    }
    void release() {
        set(is_released_);
    }
    void await_begin() {
        wait(has_begun_);
    }

  private:
    void set(bool &flag) {
        const std::lock_guard<std::mutex> guard(lock_);
        flag = true;
        changed_.notify_all();
    }
    void wait(const bool &flag) {
        std::unique_lock<std::mutex> guard(lock_);
        changed_.wait(guard, [&flag] { return flag; });
    }

    std::mutex lock_;
    std::condition_variable changed_;
    bool has_begun_ = false, is_released_ = false;
};

/** Plays an end; false: there is none like that. A scheduler that goes closes with a grace of a second. */
bool play_end(const command &given) {
    const nanoseconds grace = given.span("grace", nanoseconds(0));
    const std::string &way = given.word;
    if (way == "wait" && grace != seconds(1)) return false;
    const auto handler = std::make_shared<work>(given.text("answer"));
    selene::options options;
    selene::driver driver;
    std::thread releasing;
    options.path = given.text("path");
    driver.ungoverned = true;
    {
        selene::scheduler scheduler(options);
        scheduler.handler(
            "work", [handler](selene::run &) { return handler->run(); },
            [handler](selene_run, selene::stop) { handler->stop(); });
        scheduler.start_driver(driver);
        if (handler->answer != "idle") handler->await_begin();
        if (way == "exit") std::exit(0);
        if (handler->answer == "completes")
            releasing = std::thread([handler] { handler->release(); });
        if (way == "shutdown") scheduler.stop_driver(grace);
        if (way == "close") scheduler.close(grace);
        if (way != "wait") handler->release();
    }
    handler->release();
    if (releasing.joinable()) releasing.join();
    return true;
}

struct player {
    selene::instant now{};
    std::optional<selene::scheduler> it;
    std::optional<selene::cycle> cycle;
    std::optional<selene::run> run;

    void open(const command &given) {
        selene::options options;
        it.reset();
        options.clock = now;
        options.no_threads = true;
        options.path = given.text("path");
        options.hold = given.number("hold", 0) != 0;
        options.observed_range = given.number("observed_range", 0) != 0;
        if (given.fields.count("permitted")) options.permitted = list(given.fields.at("permitted"));
        options.max_pending_refresh =
            static_cast<std::uint32_t>(given.number("max_pending_refresh", 1));
        options.max_pending_processing =
            static_cast<std::uint32_t>(given.number("max_pending_processing", 10));
        options.seed = static_cast<std::uint64_t>(given.number("seed", 0));
        options.minimum_interval_refresh = given.span("minimum_interval_refresh", nanoseconds(0));
        options.expedited_quota = given.span("expedited_quota", options.expedited_quota);
        it.emplace(options);
        it->conditions(all_constraints, all_constraints);
        it->open_events(SELENE_EVENTS);
    }

    static selene::task task(const command &given) {
        selene::task task;
        task.id = given.text("id");
        task.handler = given.text("handler");
        task.kind = given.of("kind", task.kind);
        task.schedule = given.of("schedule", task.schedule);
        task.priority = given.of("priority", task.priority);
        task.existing = given.of("existing", task.existing);
        task.recurrence = given.of("recurrence", task.recurrence);
        task.backoff = given.of("backoff", task.backoff);
        task.backoff_delay = given.span("backoff_delay", task.backoff_delay);
        if (given.fields.count("expected_response"))
            task.expected_response = given.span("expected_response", nanoseconds(0));
        task.response_window =
            static_cast<std::int32_t>(given.number("response_window", task.response_window));
        task.initial_delay = given.span("initial_delay", task.initial_delay);
        task.period = given.span("period", task.period);
        task.flex = given.span("flex", task.flex);
        task.timeout = given.span("timeout", task.timeout);
        task.stall_limit = given.span("stall_limit", task.stall_limit);
        task.latest_begin = given.span("latest_begin", task.latest_begin);
        task.jitter = static_cast<std::uint32_t>(given.number("jitter", 0));
        task.expedited = given.number("flags", 0) & SELENE_TASK_EXPEDITED;
        task.refuse_out_of_quota = given.number("flags", 0) & SELENE_TASK_REFUSE_OUT_OF_QUOTA;
        task.max_attempts = static_cast<std::uint32_t>(given.number("max_attempts", 0));
        task.constraints = static_cast<std::uint32_t>(given.number("constraints", 0));
        if (given.fields.count("group")) task.group = given.fields.at("group");
        if (given.fields.count("conditions")) task.conditions = list(given.fields.at("conditions"));
        if (given.fields.count("tags")) task.tags = list(given.fields.at("tags"));
        if (given.fields.count("after")) task.after = list(given.fields.at("after"));
        task.after_any_end = given.number("flags", 0) & SELENE_TASK_AFTER_ANY_END;
        task.input.assign(static_cast<std::size_t>(given.number("input_size", 0)), '\0');
        return task;
    }

    static selene::window window(const command &given) {
        selene::window window;
        window.budget = given.span("budget", window.budget);
        if (given.fields.count("reserve")) window.reserve = given.span("reserve", nanoseconds(0));
        window.kinds = selene::kinds::of(static_cast<std::uint32_t>(given.number("kinds", 0)));
        window.strict_fit = given.number("strict", 0) != 0;
        window.frozen = given.number("frozen", 0) != 0;
        return window;
    }

    void info(const std::string &id, std::ostream &out) {
        const selene::task_info info = it->get(id);
        out << ' ' << static_cast<int>(info.state) << ' ' << info.attempts << ' '
            << info.earliest_begin.time_since_epoch().count() << ' '
            << info.last_run.time_since_epoch().count() << ' ' << info.estimate.count() << ' '
            << info.generation << ' ' << info.appended << ' ' << info.response_times.size() << ' '
            << encode(info.failure.empty() ? "-" : info.failure);
    }

    void waits(const std::string &id, std::ostream &out) {
        const selene::waits_info waits = it->waits(id);
        for (const selene::wait_part &part : waits.parts)
            out << ' ' << part.reason << ' ' << part.detail << ' ' << part.duration.count() << ' '
                << part.times;
        out << " preferred";
        for (const std::string &other : waits.preferred_ids)
            out << ' ' << encode(other);
    }

    void next(std::ostream &out) {
        const selene::step step = cycle->next();
        if (!step) {
            out << (step.done ? " done" : " wait");
            return;
        }
        run = *step;
        out.precision(17);
        out << " run " << encode(run->id()) << ' ' << run->score() << ' ' << run->estimate().count()
            << ' ' << run->attempt();
    }

    void end(std::ostream &out) {
        const selene::report report = cycle->end();
        out << ' ' << static_cast<int>(report.result) << ' '
            << report.ended_at.time_since_epoch().count() << ' ' << report.eligible;
        for (const selene::report_run &one : report.runs)
            out << ' ' << static_cast<int>(one.outcome);
    }

    /** The language has no such thing. */
    static void refuse(std::ostringstream &out, const char *why) {
        out.str("error UNSUPPORTED ");
        out.seekp(0, std::ios::end);
        out << why;
    }

    void perform(const command &given, std::ostringstream &out) {
        const std::string &verb = given.verb, &word = given.word;
        if (verb == "clock") {
            now = selene::instant(nanoseconds(std::stoll(word)));
            if (it) it->set_clock(now);
        } else if (verb == "open") {
            open(given);
        } else if (verb == "close") {
            it->close(nanoseconds(0));
            it.reset();
        } else if (verb == "handler") {
            it->handler(word);
        } else if (verb == "conditions") {
            it->conditions(static_cast<std::uint32_t>(std::stoul(word)), all_constraints);
        } else if (verb == "enable") {
            it->enable(selene::kinds::of(static_cast<std::uint32_t>(std::stoul(word))));
        } else if (verb == "register") {
            out << ' ' << static_cast<int>(it->add(task(given)));
        } else if (verb == "cancel") {
            out << ' ' << it->cancel(word);
        } else if (verb == "cancel_tag") {
            out << ' ' << it->cancel_tag(word);
        } else if (verb == "cancel_all") {
            out << ' ' << it->cancel_all();
        } else if (verb == "pause") {
            out << ' ' << it->pause(word);
        } else if (verb == "define") {
            it->define_condition(word);
        } else if (verb == "undefine") {
            it->undefine_condition(word);
        } else if (verb == "meet" || verb == "lose") {
            it->set_condition(word, verb == "meet");
        } else if (verb == "pause_group") {
            it->pause_group(word);
        } else if (verb == "resume_group") {
            it->resume_group(word);
        } else if (verb == "limit_group") {
            it->limit_group(word, static_cast<std::uint32_t>(given.number("limit", 0)));
        } else if (verb == "pause_tag") {
            out << ' ' << it->pause_tag(word);
        } else if (verb == "resume") {
            out << ' ' << it->resume(word);
        } else if (verb == "resume_tag") {
            out << ' ' << it->resume_tag(word);
        } else if (verb == "retry") {
            it->retry(word);
        } else if (verb == "info") {
            info(word, out);
        } else if (verb == "waits") {
            waits(word, out);
        } else if (verb == "left") {
            out << ' ' << static_cast<int>(it->get(word).stop_reason) << " ="
                << encode(it->output(word));
        } else if (verb == "set_next") {
            it->set_next(word, selene::instant(given.span("at", nanoseconds(-1))));
        } else if (verb == "output") {
            run->set_output(word);
        } else if (verb == "progress") {
            run->progress(std::stoll(word), given.number("total", 0));
        } else if (verb == "wakeup") {
            const std::optional<selene::instant> at = it->next_wakeup();
            out << ' ' << (at ? std::to_string(at->time_since_epoch().count()) : "never");
        } else if (verb == "plan") {
            for (const selene::plan_run &one : it->plan(window(given)))
                out << ' ' << encode(one.id);
        } else if (verb == "begin") {
            cycle.emplace(it->begin(window(given)));
        } else if (verb == "next") {
            next(out);
        } else if (verb == "complete") {
            run->complete(static_cast<selene::outcome>(std::stoi(word)));
        } else if (verb == "fail") {
            run->fail(word);
        } else if (verb == "stopping") {
            out << ' ' << static_cast<int>(run->stopping());
        } else if (verb == "end") {
            end(out);
        } else if (verb == "events") {
            while (const std::optional<selene::event> event = it->next_event())
                out << ' ' << event->type << ':' << encode(event->id);
        } else if (verb == "ends") {
            if (!play_end(given)) refuse(out, "what goes closes with a grace of a second");
        } else if (verb == "unknown") {
            refuse(out, "the compiler knows the words");
        } else if (verb == "exit") {
            std::exit(0);
        } else {
            throw std::runtime_error("there is no command " + verb);
        }
    }
};

} // namespace

int main() {
    player player;
    for (std::string line; std::getline(std::cin, line);) {
        std::ostringstream out;
        out << "ok";
        try {
            player.perform(command(line), out);
        } catch (const selene::error &error) {
            out.str("error ");
            out.seekp(0, std::ios::end);
            out << error.name() << ' ' << error.detail();
        }
        std::cout << out.str() << std::endl;
    }
    return 0;
}
