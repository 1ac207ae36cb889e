//! Memory is flat: alone in its process.

use selene::*;
use std::time::{Duration, UNIX_EPOCH};

/// In pages.
fn resident() -> i64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn memory_is_flat_over_100_000_runs_and_as_many_failures() {
    let scheduler = Options::new().clock(UNIX_EPOCH).no_threads().open().unwrap();
    scheduler.set_conditions(Constraints::ALL, Constraints::ALL).unwrap();
    std::panic::set_hook(Box::new(|_| {}));
    let mut count = 0;
    scheduler
        .handler_mut("a", move |run| {
            count += 1;
            match count % 4 {
                0 => panic!("one of four: {}", run.id()),
                1 => Err(format!("another: {}", run.id())),
                _ => Ok(()),
            }
        })
        .unwrap();
    scheduler.register(&Task::standing("a").input(vec![0; 1000])).unwrap();
    scheduler.pause_pool("others", Kinds::ALL, None).unwrap();
    let window = Window::new(Duration::from_secs(30)).on_this_thread();
    let (mut runs, mut failed) = (0, 0);
    let mut grown_in = |count: u64| {
        let before = resident();
        for _ in 0..count {
            assert_eq!(scheduler.pauses().unwrap().len(), 1);
            failed += scheduler.run(&window).unwrap().failed;
        }
        runs += count;
        assert_eq!(failed, runs / 2);
        resident() - before
    };
    grown_in(40_000);
    // A byte a run would be 40 pages, a record that is lost two thousand. The system itself may give some, once.
    let grown: Vec<i64> = (0..4).map(|_| grown_in(160_000)).take_while(|grown| *grown >= 64).collect();
    assert!(grown.len() < 4, "{grown:?} pages");
}
