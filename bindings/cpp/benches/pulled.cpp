// What a pulled run costs: for each line that it reads, a window of 500 runs, and ns a run. Argument: number of tasks.

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <selene.hpp>

static int window(selene::scheduler &scheduler) {
    int runs = 0;
    auto cycle = scheduler.begin();
    while (runs < 500) {
        const auto step = cycle.next();
        if (!step) break;
        step->complete(selene::outcome::new_data);
        runs++;
    }
    return runs;
}

int main(int count, char **arguments) {
    const int tasks = count > 1 ? std::atoi(arguments[1]) : 1000;
    selene::options options;
    options.no_threads = true;
    selene::scheduler scheduler(options);
    scheduler.conditions(selene::network | selene::external_power);
    scheduler.handler("count");
    for (int number = 0; number < tasks; number++) {
        char id[32];
        std::snprintf(id, sizeof id, "task-%011d", number);
        selene::task task;
        task.id = id;
        task.handler = "count";
        task.expected_response = std::chrono::seconds(0);
        scheduler.add(task);
    }
    for (std::string line; std::getline(std::cin, line);) {
        const auto begin = std::chrono::steady_clock::now();
        const int runs = window(scheduler);
        const std::chrono::duration<double, std::nano> took =
            std::chrono::steady_clock::now() - begin;
        std::cout << took.count() / runs << std::endl;
    }
}
