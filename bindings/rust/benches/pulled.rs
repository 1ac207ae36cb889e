//! What a pulled run costs: for each line that it reads, a window of 500 runs, and ns a run. Argument: number of tasks.

use selene::*;
use std::io::stdin;
use std::time::{Duration, Instant};

fn window(scheduler: &Scheduler) -> Result<u32> {
    let mut runs = 0;
    let mut cycle = scheduler.begin(&Window::default())?;
    while let Step::Run(run) = cycle.next()? {
        assert!(!run.id().is_empty());
        run.complete(Outcome::NewData)?;
        runs += 1;
        if runs == 500 {
            break;
        }
    }
    Ok(runs)
}

fn main() -> Result<()> {
    let tasks: u32 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1000);
    let scheduler = Options::new().no_threads().open()?;
    scheduler.set_conditions(Constraints::ALL, Constraints::ALL)?;
    scheduler.pulled_handler("count")?;
    for number in 0..tasks {
        let task = Task::standing(format!("task-{number:011}")).handler("count");
        scheduler.register(&task.expected_response(Duration::ZERO))?;
    }
    for _ in stdin().lines() {
        let begin = Instant::now();
        let runs = window(&scheduler)?;
        println!("{}", begin.elapsed().as_nanos() as f64 / f64::from(runs));
    }
    Ok(())
}
