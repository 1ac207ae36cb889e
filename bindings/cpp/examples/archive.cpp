// Work that fails, retries, is stopped and goes on, on a store: sums of files, and a copy that takes longer than a window.

#include <selene.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/** The sum of a file; throws where there is none. */
static void sum(selene::run &run) {
    std::ifstream file(run.input(), std::ios::binary);
    if (!file)
        throw selene::retry_after(0s, fs::path(run.input()).filename().string() + " is not there");
    std::uint64_t sum = 14695981039346656037U;
    for (char byte; file.get(byte);)
        sum = (sum ^ static_cast<unsigned char>(byte)) * 1099511628211U;
    std::printf("%s: %016llx, attempt %u\n", run.id().c_str(), static_cast<unsigned long long>(sum),
                run.attempt());
}

/** Copies a file piece by piece. What is there is not copied again, so it may be stopped and begun as often as need be. */
static void copy(selene::run &run) {
    const fs::path from = run.input(), to = run.input() + ".copy";
    std::ifstream in(from, std::ios::binary);
    std::ofstream out(to, std::ios::binary | std::ios::app | std::ios::ate);
    in.seekg(static_cast<std::streamoff>(out.tellp()));
    for (char piece[4096]; in.read(piece, sizeof piece);) {
        out.write(piece, sizeof piece);
        std::this_thread::sleep_for(150ms); // a slow disk
        if (run.stopping() != selene::stop::none) throw selene::retry_after(0s, "not done yet");
    }
    std::printf("%s: %ju bytes\n", run.id().c_str(), static_cast<std::uintmax_t>(out.tellp()));
}

/** A program that is started, works for a window, and ends; what is left to do, and why. */
static std::vector<std::string> live(const fs::path &folder) {
    selene::options options;
    options.path = (folder / "store").string();
    options.owner = "org.example.archive";
    selene::scheduler scheduler(options);
    scheduler.handler("sum", sum);
    scheduler.handler("copy", copy);
    for (const char *name : {"a", "b"}) {
        selene::task task;
        task.id = std::string("sum of ") + name;
        task.handler = "sum";
        task.schedule = selene::schedule::once; // kept, if it is there
        task.input = (folder / name).string();
        task.expected_response = 1ms;
        if (!scheduler.find(task.id)) scheduler.add(task);
    }
    selene::task task;
    task.id = "copy of big";
    task.handler = "copy";
    task.schedule = selene::schedule::once;
    task.priority = selene::priority::low;
    task.input = (folder / "big").string();
    task.expected_response = 100ms;
    if (!scheduler.find(task.id)) scheduler.add(task);

    selene::window window;
    window.budget = 10s;
    window.reserve = 5s;
    scheduler.run_cycle(window);
    std::vector<std::string> left;
    for (const std::string &id : scheduler.ids(selene::state::enqueued))
        left.push_back(id + ": " + scheduler.get(id).failure);
    scheduler.close(10s);
    return left;
}

int main() {
    const fs::path folder =
        fs::temp_directory_path() / ("selene-archive-" + std::to_string(std::random_device{}()));
    fs::create_directory(folder);
    std::ofstream(folder / "a") << "first";
    std::ofstream(folder / "big") << std::string(40 * 4096, 'x');
    for (const std::string &why : live(folder))
        std::puts(why.c_str());
    std::ofstream(folder / "b") << "second";
    // What was copied is not copied again, so this comes to an end.
    while (!live(folder).empty())
        continue;
    fs::remove_all(folder);
}
