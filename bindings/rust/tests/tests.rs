//! What the crate adds to the header: errors, closures, owners, iterators.

use selene::*;
use std::error::Error as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

const HOUR: Duration = Duration::from_secs(3600);
/// Until something that must happen counts as failed.
const LONG: Duration = Duration::from_secs(600);

/// A scheduler that needs nothing of the system.
fn opened(options: Options) -> Scheduler {
    let scheduler = options.open().unwrap();
    scheduler.set_conditions(Constraints::ALL, Constraints::ALL).unwrap();
    scheduler
}

fn here() -> Window {
    Window::new(LONG).on_this_thread()
}

/// The run that a step is.
fn run_of(step: Step) -> Run {
    match step {
        Step::Run(run) => run,
        other => panic!("{other:?}"),
    }
}

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("selene-rust-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn errors_and_panics_of_a_handler_are_failures_with_their_text() {
    let scheduler = opened(Options::new().no_limit());
    scheduler.handler("error", |_| -> std::result::Result<(), String> { Err("no such wood".into()) }).unwrap();
    scheduler.handler("boxed", |_| "x".parse::<i32>().map(drop).map_err(Box::<dyn std::error::Error>::from)).unwrap();
    scheduler.handler("panic", |run: &Run| assert!(run.id().is_empty(), "no such {}", run.id())).unwrap();
    scheduler.handler("strange", |_| -> bool { std::panic::panic_any(42) }).unwrap();
    scheduler.handler("nul", |_| Failure::new("a\0b")).unwrap();
    scheduler
        .handler("late", |_| -> std::result::Result<bool, Box<dyn std::error::Error>> {
            Err(Failure::retry_after(2 * HOUR, "later"))?;
            Ok(true)
        })
        .unwrap();
    scheduler.handler("never", |_| Failure::abandon("of no use")).unwrap();
    scheduler.handler("wrong", |_| Outcome::Expired).unwrap();
    scheduler.handler("unasked", |_| Outcome::Stopped).unwrap();
    for id in ["error", "boxed", "panic", "strange", "nul", "late", "never", "wrong", "unasked"] {
        scheduler.register(&Task::once(id)).unwrap();
    }
    let report = scheduler.run(&Window::new(LONG).lanes(2)).unwrap();
    assert_eq!((report.runs.len(), report.failed, report.abandoned), (9, 8, 1));
    let failure = |id: &str| scheduler.get(id).unwrap().unwrap().failure;
    assert_eq!(failure("error"), "no such wood");
    assert_eq!(failure("boxed"), "invalid digit found in string");
    assert_eq!(failure("panic"), "panicked: no such panic");
    assert_eq!(failure("strange"), "panicked with something that is not a text");
    assert_eq!(failure("nul"), "a\u{fffd}b");
    assert_eq!(failure("late"), "later");
    assert!(failure("wrong").starts_with("what the handler returned was refused: outcome"), "{}", failure("wrong"));
    assert_eq!(failure("unasked"), "it said that it was stopped, but nothing had asked it to stop");
    let late = scheduler.get("late").unwrap().unwrap();
    assert!(late.earliest_begin.duration_since(late.failed_at.unwrap()).unwrap() >= 2 * HOUR);
    assert_eq!(late.state, State::Enqueued);
    assert_eq!(scheduler.ids_in(State::Failed).unwrap(), ["never"]);
}

#[test]
fn what_a_handler_returns_is_the_outcome() {
    let scheduler = opened(Options::new());
    let mut count = 0;
    scheduler.handler("nothing", |_| ()).unwrap();
    scheduler.handler("false", |_| false).unwrap();
    let (sender, runs) = mpsc::sync_channel(1);
    scheduler
        .handler("later", move |run| {
            sender.send(run.clone()).unwrap();
            Later
        })
        .unwrap();
    scheduler
        .handler_mut("counts", move |_| {
            count += 1;
            if count == 1 {
                Outcome::NoData
            } else {
                Outcome::Failed
            }
        })
        .unwrap();
    for id in ["nothing", "false", "later", "counts"] {
        scheduler.register(&Task::standing(id)).unwrap();
    }
    let elsewhere = thread::spawn(move || runs.recv().unwrap().complete(Ok::<_, Error>(true)).unwrap());
    let report = scheduler.run(&Window::new(LONG)).unwrap();
    elsewhere.join().unwrap();
    assert_eq!((report.new_data, report.no_data, report.result), (2, 2, Outcome::NewData));
    assert_eq!(scheduler.get("false").unwrap().unwrap().last_outcome, Some(Outcome::NoData));
    assert_eq!(scheduler.run(&here().task("counts")).unwrap().failed, 1);
    assert_eq!(scheduler.get("nobody"), Ok(None));
    let at = scheduler.now().unwrap() + LONG;
    scheduler.set_next("false", at).unwrap();
    scheduler
        .handler("leaves", |run: &Run| run.set_output(b"a\0b"))
        .unwrap();
    scheduler.register(&Task::standing("leaves")).unwrap();
    assert_eq!(scheduler.output("leaves").unwrap(), b"");
    scheduler.run(&here().task("leaves")).unwrap();
    assert_eq!(scheduler.output("leaves").unwrap(), b"a\0b");
    scheduler.register(&Task::once("first")).unwrap();
    scheduler.register(&Task::once("second").after("first")).unwrap();
    let second = scheduler.get("second").unwrap().unwrap();
    assert_eq!((second.state, second.waits_for), (State::Blocked, vec!["first".to_string()]));
    assert_eq!(scheduler.cancel("first").unwrap(), 2);
    assert_eq!(scheduler.get("false").unwrap().unwrap().earliest_begin, at);
}

#[test]
fn what_is_refused_is_an_error_and_closures_go_with_their_handlers() {
    let scheduler = opened(Options::new());
    let error = scheduler.register(&Task::standing("a").response_window(31)).unwrap_err();
    assert_eq!(error.status(), Status::InvalidArgument);
    assert_eq!((error.field(), error.found(), error.allowed()), ("response_window", "31", "0 … 30"));
    assert_eq!(error.to_string(), format!("INVALID_ARGUMENT: {}", error.detail()));
    assert!(error.source().is_none());
    assert!(scheduler.register(&Task::standing("a").response_window(-1)).is_err());
    assert!(scheduler.plan(&Window::new(LONG).lanes(0)).is_err());
    assert_eq!(scheduler.cancel("nobody").unwrap_err().status(), Status::NotFound);
    let alive = Arc::new(());
    let work = || {
        let alive = alive.clone();
        move |_: &Run| drop(alive.clone())
    };
    scheduler.handler("a", work()).unwrap();
    assert_eq!(Arc::strong_count(&alive), 2);
    assert_eq!(scheduler.handler("a", work()).unwrap_err().status(), Status::AlreadyExists);
    assert_eq!(Arc::strong_count(&alive), 2);
    scheduler.remove_handler("a").unwrap();
    assert_eq!(Arc::strong_count(&alive), 1);
    scheduler.handler("a", work()).unwrap();
    scheduler.close(Duration::ZERO).unwrap();
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[test]
fn a_run_tells_its_progress_and_stops_where_it_makes_none() {
    let scheduler = opened(Options::new().clock(UNIX_EPOCH + HOUR).no_threads());
    scheduler.pulled_handler("a").unwrap();
    scheduler.register(&Task::once("a").stall_limit(Duration::from_secs(60)).jitter(250).latest_begin(LONG)).unwrap();
    let mut cycle = scheduler.begin(&Window::new(LONG)).unwrap();
    let run = run_of(cycle.next().unwrap());
    assert_eq!(scheduler.get("a").unwrap().unwrap().progress, None);
    run.progress(3, 10, "three").unwrap();
    let told = scheduler.get("a").unwrap().unwrap().progress.unwrap();
    assert_eq!((told.done, told.total, told.text.as_str(), told.at), (3, 10, "three", UNIX_EPOCH + HOUR));
    run.progress(u64::MAX, 0, "").unwrap();
    assert_eq!(run.progress(0, 0, "a\0b").unwrap_err().status(), Status::InvalidArgument);
    assert_eq!(run.stopping(), None);
    scheduler.set_clock(UNIX_EPOCH + HOUR + Duration::from_secs(60)).unwrap();
    assert_eq!(run.stopping(), Some(Stop::Stalled));
    run.complete(()).unwrap();
    assert_eq!(run.progress(1, 1, "").unwrap_err().status(), Status::AlreadyCompleted);
    cycle.end().unwrap();
}

#[test]
fn use_after_close_is_an_error_whatever_the_order() {
    let scheduler = opened(Options::new().clock(UNIX_EPOCH).no_threads());
    scheduler.pulled_handler("a").unwrap();
    scheduler.register(&Task::standing("a")).unwrap();
    let mut events = scheduler.events(8).unwrap();
    let mut cycle = scheduler.begin(&Window::default()).unwrap();
    let run = run_of(cycle.next().unwrap());
    assert_eq!((run.id(), run.handler(), run.input()), ("a", "a", &[][..]));
    scheduler.close(Duration::ZERO).unwrap();
    scheduler.close(Duration::ZERO).unwrap();
    assert_eq!(scheduler.now().unwrap_err().status(), Status::InvalidHandle);
    assert_eq!(cycle.next().unwrap_err().status(), Status::InvalidHandle);
    assert_eq!(cycle.end().unwrap_err().status(), Status::InvalidHandle);
    assert!(run.complete(()).is_err());
    assert_eq!(run.stopping(), Some(Stop::Shutdown));
    assert_eq!((run.wait(LONG), run.remaining()), (Some(Stop::Shutdown), Duration::ZERO));
    // What was told before stays readable; then the iterator ends.
    assert!(events.by_ref().any(|event| event.event == EventType::Started));
    assert_eq!(events.by_ref().last().map(|event| event.event), Some(EventType::CycleEnded));
    assert_eq!(events.next(), None);
    drop(scheduler);
    drop((cycle, run, events));
}

#[test]
fn a_run_that_is_cancelled_is_woken_and_close_waits_for_it() {
    let scheduler = opened(Options::new());
    let (begun, begins) = mpsc::channel();
    let begun = Mutex::new(begun);
    let asked = Arc::new(Mutex::new(None));
    let reason = asked.clone();
    scheduler
        .handler("long", move |run| {
            begun.lock().unwrap().send(()).unwrap();
            *reason.lock().unwrap() = run.wait(LONG);
        })
        .unwrap();
    scheduler.register(&Task::once("long")).unwrap();
    let (done, reports) = mpsc::channel();
    scheduler.run_async(&Window::new(LONG), move |report| done.send(report.stopped).unwrap()).unwrap();
    begins.recv_timeout(LONG).unwrap();
    assert_eq!(scheduler.cancel("long"), Ok(1));
    assert_eq!(scheduler.get("long").unwrap().unwrap().state, State::Cancelled);
    assert_eq!(reports.recv_timeout(LONG), Ok(1));
    scheduler.close(LONG).unwrap();
    let reason = *asked.lock().unwrap();
    assert!(matches!(reason, Some(Stop::Cancelled | Stop::Shutdown)), "{reason:?}");
}

#[test]
fn a_window_ends_by_its_deadline_and_a_close_at_once_whatever_a_handler_does() {
    let scheduler = opened(Options::new().no_limit().stop_grace(Duration::ZERO));
    let is_over = Arc::new(AtomicBool::new(false));
    let hanging = Arc::new(AtomicUsize::new(0));
    let until_over = || {
        let (is_over, hanging) = (is_over.clone(), hanging.clone());
        move |_: &Run| {
            hanging.fetch_add(1, Ordering::SeqCst);
            while !is_over.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(1));
            }
        }
    };
    scheduler.handler("times out", until_over()).unwrap();
    scheduler.handler("hangs", until_over()).unwrap();
    scheduler.handler("quick", |_| ()).unwrap();
    let first = Task::once("times out").priority(Priority::VeryHigh).timeout(Duration::from_millis(20)).max_attempts(1);
    scheduler.register(&first).unwrap();
    for id in ["a", "b", "c"] {
        scheduler.register(&Task::once(id).handler("quick")).unwrap();
    }
    let report = scheduler.run(&Window::new(LONG)).unwrap();
    assert_eq!((report.expired, report.new_data), (1, 3));
    assert_eq!(scheduler.get("times out").unwrap().unwrap().failure, "timed out");
    // Where nothing ends the run before, the window's deadline does. A slow machine begins nothing in a short one.
    scheduler.register(&Task::once("hangs")).unwrap();
    let mut budget = Duration::from_millis(100);
    let report = loop {
        let report = scheduler.run(&Window::new(budget)).unwrap();
        if !report.runs.is_empty() {
            break report;
        }
        budget *= 2;
    };
    assert_eq!((report.expired, report.runs[0].outcome), (1, Outcome::Expired));
    assert!(report.ended_at.duration_since(report.deadline).unwrap() < Duration::from_secs(60));
    assert_eq!(scheduler.get("hangs").unwrap().unwrap().state, State::Enqueued);
    while hanging.load(Ordering::SeqCst) < 2 {
        thread::yield_now();
    }
    scheduler.close(Duration::ZERO).unwrap();
    // The close has waited for neither, and each keeps its closure until it returns.
    assert_eq!(Arc::strong_count(&hanging), 3);
    is_over.store(true, Ordering::SeqCst);
    while Arc::strong_count(&hanging) > 1 {
        thread::yield_now();
    }
}

#[test]
fn a_pulled_run_waits_until_its_time_is_up() {
    let scheduler = opened(Options::new());
    scheduler.pulled_handler("a").unwrap();
    scheduler.register(&Task::standing("a").expected_response(Duration::ZERO)).unwrap();
    let window = Window::new(Duration::from_millis(60)).reserve(Duration::from_millis(30));
    let mut cycle = scheduler.begin(&window).unwrap();
    if let Step::Run(run) = cycle.next().unwrap() {
        // Nobody else looks at the clock: it is the wait that notices.
        assert!(matches!(run.wait(LONG), Some(Stop::Expiring | Stop::Shutdown)));
    }
    assert!(cycle.end().unwrap().runs.len() <= 1);
}

#[test]
fn a_wait_ends_with_its_timeout() {
    let scheduler = opened(Options::new().clock(UNIX_EPOCH).no_threads());
    scheduler.pulled_handler("a").unwrap();
    scheduler.register(&Task::standing("a")).unwrap();
    let mut cycle = scheduler.begin(&Window::default()).unwrap();
    match cycle.next().unwrap() {
        Step::Run(run) => assert_eq!(run.wait(Duration::from_millis(5)), None),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_handler_that_is_the_last_owner_closes_the_scheduler() {
    let scheduler = Arc::new(opened(Options::new()));
    let released = Arc::new(());
    let kept = Arc::downgrade(&released);
    let (sender, receiver) = mpsc::channel();
    let owner = Mutex::new(Some(scheduler.clone()));
    let (go, gone) = mpsc::channel();
    let gone = Mutex::new(gone);
    scheduler
        .handler("a", move |_| {
            let _kept = &released;
            gone.lock().unwrap().recv().unwrap();
            drop(owner.lock().unwrap().take());
        })
        .unwrap();
    scheduler.register(&Task::standing("a")).unwrap();
    scheduler.run_async(&Window::new(LONG), move |_| sender.send(()).unwrap()).unwrap();
    drop(scheduler);
    go.send(()).unwrap();
    receiver.recv_timeout(LONG).unwrap();
    while kept.upgrade().is_some() {
        thread::yield_now();
    }
}

#[test]
fn a_nightly_jobs_week_passes_on_a_clock_of_a_test() {
    let midnight = UNIX_EPOCH + 20454 * 24 * HOUR;
    let scheduler = Arc::new(opened(Options::new().clock(midnight)));
    let nights = Arc::new(Mutex::new(Vec::new()));
    let (clock, seen) = (Arc::downgrade(&scheduler), nights.clone());
    scheduler
        .handler("backup", move |run| {
            seen.lock().unwrap().push(clock.upgrade().unwrap().now().unwrap());
            assert_eq!(run.sleep(Duration::from_secs(4)), None);
        })
        .unwrap();
    scheduler.register(&Task::periodic("backup", 24 * HOUR).initial_delay(3 * HOUR)).unwrap();
    scheduler.start_driver(&Driver::default()).unwrap();
    assert_eq!(scheduler.advance(midnight), Ok(Some(midnight + 3 * HOUR)));
    scheduler.advance(midnight + 7 * 24 * HOUR).unwrap();
    // A period counts from the end of the run before.
    let period = 24 * HOUR + Duration::from_secs(4);
    let expected: Vec<_> = (0..7).map(|day| midnight + 3 * HOUR + day * period).collect();
    assert_eq!(*nights.lock().unwrap(), expected);
}

#[test]
fn a_clock_of_a_test_drives_the_driver() {
    let start = UNIX_EPOCH + 1000 * HOUR;
    let scheduler = opened(Options::new().clock(start).no_threads());
    scheduler.pulled_handler("a").unwrap();
    scheduler.register(&Task::once("a").initial_delay(HOUR)).unwrap();
    assert_eq!(scheduler.next_wakeup(), Ok(Some(start + HOUR)));
    assert!(matches!(scheduler.begin(&Window::default()).unwrap().next(), Ok(Step::Done)));
    let missing = scheduler.explain("a").unwrap().missing;
    assert_eq!(missing[0].reason, Reason::NotDue);
    assert_eq!(missing[0].may_change_at, Some(start + HOUR));
    scheduler.set_clock(start + HOUR / 2).unwrap();
    let waits = scheduler.waits("a").unwrap();
    assert_eq!((waits.since, waits.until, waits.preferred), (start, start + HOUR / 2, 0));
    assert_eq!((waits.parts[0].reason, waits.parts[0].duration), (Reason::NotDue, HOUR / 2));
    assert_eq!(waits.parts[0].name, None);
    let soon = Task::once("soon").handler("a").kind(Kind::Processing).group("g");
    let soon = soon.expedited().latest_begin(20 * HOUR);
    scheduler.register(&soon).unwrap();
    scheduler.pause_group("g").unwrap();
    let why = scheduler.explain("soon").unwrap();
    assert_eq!(why.latest_begin, Some(start + HOUR / 2 + 20 * HOUR));
    assert!(why.expedited && !why.urgent);
    scheduler.set_clock(start + HOUR / 2 + Duration::from_secs(1)).unwrap();
    let part = scheduler.waits("soon").unwrap().parts.remove(0);
    assert_eq!((part.reason, part.name.as_deref()), (Reason::GroupPaused, Some("g")));
    scheduler.resume_group("g").unwrap();
    scheduler.cancel("soon").unwrap();
    assert!(scheduler.open_driver(&Driver::new()).unwrap() >= 0);
    while scheduler.driver_wait(Duration::ZERO).unwrap() {
        assert!(scheduler.driver_step().unwrap().is_none());
    }
    scheduler.set_clock(start + HOUR).unwrap();
    assert!(scheduler.driver_wait(Duration::MAX).unwrap());
    let mut cycle = scheduler.driver_step().unwrap().expect("a window");
    match cycle.next().unwrap() {
        Step::Run(run) => {
            assert_eq!((run.id(), run.attempt(), run.started_at()), ("a", 1, start + HOUR));
            run.complete(Outcome::NewData).unwrap();
            assert_eq!(run.complete(Outcome::NewData).unwrap_err().status(), Status::AlreadyCompleted);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(cycle.end().unwrap().new_data, 1);
    assert_eq!(scheduler.run(&Window::default()).unwrap_err().status(), Status::Unsupported);
}

#[test]
fn a_driver_on_a_thread_runs_what_is_registered() {
    let scheduler = opened(Options::new());
    let (sender, ids) = mpsc::channel();
    let sender = Mutex::new(sender);
    scheduler.handler("a", move |run| sender.lock().unwrap().send(run.id().to_string()).unwrap()).unwrap();
    scheduler.start_driver(&Driver::new().ungoverned()).unwrap();
    scheduler.register(&Task::once("a")).unwrap();
    assert_eq!(ids.recv_timeout(LONG).unwrap(), "a");
    assert_eq!(scheduler.drain(LONG), Ok(true));
    scheduler.stop_driver(Duration::ZERO).unwrap();
    assert_eq!(scheduler.get("a").unwrap().unwrap().state, State::Succeeded);
}

#[test]
fn events_are_iterated_and_lost_ones_counted() {
    let scheduler = opened(Options::new().no_threads());
    let mut events = scheduler.events(2).unwrap();
    for id in ["a", "b", "c"] {
        scheduler.register(&Task::standing(id)).unwrap();
    }
    let first = events.next().unwrap();
    assert_eq!((first.id.as_str(), first.event, first.lost), ("a", EventType::Registered, 0));
    assert_eq!(first.event.to_string(), "registered");
    assert_eq!(events.wait(Duration::MAX).unwrap().id, "b");
    assert_eq!(events.try_next(), None);
    assert_eq!(events.wait(Duration::from_millis(1)), None);
    scheduler.register(&Task::standing("d")).unwrap();
    let event = events.next().unwrap();
    assert_eq!((event.id.as_str(), event.lost), ("d", 1));
    let others = scheduler.events(2).unwrap();
    assert_eq!(events.next(), None);
    scheduler.register(&Task::standing("e")).unwrap();
    let rest = thread::spawn(move || others.map(|event| event.id).collect::<Vec<_>>());
    drop(scheduler);
    assert_eq!(rest.join().unwrap(), ["e"]);
}

#[test]
fn a_store_can_be_closed_and_opened_again() {
    let folder = Folder::new("store");
    let options = Options::new().path(folder.0.join("store")).owner("org.example.tests");
    let first = opened(options.clone());
    let task = Task::once("a").input(&b"in\0put"[..]).tag("ä");
    assert_eq!(first.register(&task), Ok(Disposition::Added));
    assert_eq!(options.open().unwrap_err().status(), Status::StoreLocked);
    drop(first);
    for _ in 0..3 {
        let scheduler = opened(options.clone());
        assert_eq!(scheduler.ids_with_tag("ä").unwrap(), ["a"]);
        assert_eq!(scheduler.ids().unwrap(), ["a"]);
        let info = scheduler.get("a").unwrap().unwrap();
        assert_eq!((&info.input[..], info.has_handler), (&b"in\0put"[..], false));
    }
    assert_eq!(options.owner("org.example.others").open().unwrap_err().status(), Status::StoreForeign);
}

/// Ends this process with runs in flight, whatever they do.
fn leave(store: PathBuf) -> ! {
    // Handlers go on while the process ends: what they use does not go before.
    let scheduler: &'static Scheduler = Box::leak(Box::new(opened(Options::new().path(store).no_limit())));
    let begun = Arc::new(Barrier::new(5));
    let begins = || {
        let begun = begun.clone();
        move || {
            begun.wait();
        }
    };
    let computed = AtomicUsize::new(0);
    let (sleeps, computes, stores, fails) = (begins(), begins(), begins(), begins());
    scheduler
        .handler("sleeps", move |_| {
            sleeps();
            thread::sleep(HOUR);
        })
        .unwrap();
    scheduler
        .handler("computes", move |_| -> () {
            computes();
            loop {
                computed.fetch_add(1, Ordering::Relaxed);
            }
        })
        .unwrap();
    scheduler
        .handler("stores", move |run| -> () {
            stores();
            for i in 0.. {
                run.progress(i, 0, "").unwrap();
                scheduler.register(&Task::once(format!("made {}", i % 10)).initial_delay(24 * HOUR)).unwrap();
            }
        })
        .unwrap();
    scheduler
        .handler("fails", move |_| -> () {
            fails();
            loop {
                scheduler.cancel("nobody").unwrap_err();
            }
        })
        .unwrap();
    for id in IN_FLIGHT {
        scheduler.register(&Task::once(id)).unwrap();
    }
    scheduler.start_driver(&Driver::new().ungoverned().refresh(2 * HOUR, 4)).unwrap();
    begun.wait();
    // Its commit has what began, too.
    scheduler.register(&Task::standing("last")).unwrap();
    std::process::exit(7)
}

const IN_FLIGHT: [&str; 4] = ["computes", "fails", "sleeps", "stores"];

#[test]
fn a_process_ends_with_its_exit_code_with_runs_in_flight_and_the_store_tells_them() {
    if let Some(store) = std::env::var_os("SELENE_TEST_STORE") {
        leave(store.into());
    }
    let folder = Folder::new("exit");
    let store = folder.0.join("store");
    let name = "a_process_ends_with_its_exit_code_with_runs_in_flight_and_the_store_tells_them";
    let ended = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env("SELENE_TEST_STORE", &store)
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(7), "{ended:?}");
    let scheduler = opened(Options::new().path(store));
    for id in IN_FLIGHT {
        let info = scheduler.get(id).unwrap().unwrap();
        assert_eq!((info.state, info.stop_reason), (State::Enqueued, Some(Stop::Interrupted)), "{id}");
    }
}

#[test]
fn threads_share_a_scheduler_while_one_closes_it() {
    fn is_shared<T: Send + Sync + 'static>() {}
    is_shared::<(Scheduler, Cycle, Run, Task, Window, Options, Driver, Error)>();
    for _ in 0..20 {
        let scheduler = Arc::new(opened(Options::new().no_threads()));
        let pulled = Arc::new(AtomicUsize::new(0));
        let is_over = Arc::new(AtomicBool::new(false));
        scheduler.pulled_handler("h").unwrap();
        for id in 0..50 {
            scheduler.register(&Task::standing(format!("{id}")).handler("h").input(vec![b'x'; 99])).unwrap();
        }
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let (scheduler, pulled, is_over) = (scheduler.clone(), pulled.clone(), is_over.clone());
                thread::spawn(move || loop {
                    let mut cycle = match scheduler.begin(&Window::new(LONG)) {
                        Ok(cycle) => cycle,
                        Err(error) if error.status() == Status::InvalidHandle => break,
                        // Another thread has the window.
                        Err(_) => continue,
                    };
                    while let Ok(Step::Run(run)) = cycle.next() {
                        assert_eq!((run.handler(), run.input()), ("h", &[b'x'; 99][..]));
                        pulled.fetch_add(1, Ordering::Relaxed);
                        if !is_over.load(Ordering::Relaxed) {
                            let _ = run.complete(true);
                        }
                    }
                })
            })
            .collect();
        while pulled.load(Ordering::Relaxed) < 100 {
            thread::yield_now();
        }
        is_over.store(true, Ordering::Relaxed);
        scheduler.close(Duration::ZERO).unwrap();
        for thread in threads {
            thread.join().unwrap();
        }
    }
}

#[test]
fn a_group_has_at_most_so_many_runs_at_a_time() {
    let scheduler = opened(Options::new().clock(UNIX_EPOCH + HOUR).no_threads());
    scheduler.pulled_handler("work").unwrap();
    for id in ["a", "b"] {
        scheduler.register(&Task::standing(id).handler("work").group("uploads")).unwrap();
    }
    assert!(scheduler.group("others").unwrap().is_none());
    scheduler.limit_group("uploads", 1).unwrap();
    scheduler.pause_group("uploads").unwrap();
    let group = scheduler.group("uploads").unwrap().unwrap();
    assert_eq!((group.limit, group.paused, group.running, group.waiting), (1, true, 0, 2));
    scheduler.resume_group("uploads").unwrap();
    assert_eq!(scheduler.groups().unwrap(), ["uploads"]);
    assert_eq!(scheduler.get("a").unwrap().unwrap().group, "uploads");
    let mut cycle = scheduler.begin(&Window::new(LONG).lanes(2)).unwrap();
    let run = run_of(cycle.next().unwrap());
    assert!(matches!(cycle.next().unwrap(), Step::Wait(_)));
    run.complete(()).unwrap();
    let run = run_of(cycle.next().unwrap());
    run.complete(()).unwrap();
}

#[test]
fn kinds_are_paused_until_an_instant_or_until_they_are_resumed() {
    let start = UNIX_EPOCH + HOUR;
    let scheduler = opened(Options::new().clock(start).no_threads());
    scheduler.pulled_handler("work").unwrap();
    scheduler.register(&Task::once("short").handler("work")).unwrap();
    scheduler.register(&Task::once("long").handler("work").kind(Kind::Processing)).unwrap();
    assert_eq!(scheduler.pauses().unwrap(), []);
    scheduler.pause_kinds(Kinds::REFRESH, Some(start + HOUR)).unwrap();
    let why = scheduler.explain("short").unwrap().missing;
    assert_eq!((why[0].reason, why[0].may_change_at), (Reason::KindPaused, Some(start + HOUR)));
    let listed = |scheduler: &Scheduler| -> Vec<_> {
        scheduler.pauses().unwrap().into_iter().map(|one| (one.kinds, one.pool, one.until)).collect()
    };
    assert_eq!(listed(&scheduler), [(Kinds::REFRESH, None, Some(start + HOUR))]);
    let window = Window::new(Duration::from_secs(60)).kinds(Kinds::ALL);
    let mut cycle = scheduler.begin(&window).unwrap();
    let run = run_of(cycle.next().unwrap());
    assert_eq!(run.id(), "long");
    run.complete(()).unwrap();
    assert!(matches!(cycle.next().unwrap(), Step::Done));
    assert_eq!(cycle.end().unwrap().new_data, 1);
    assert_eq!(scheduler.next_wakeup(), Ok(Some(start + HOUR)));
    scheduler.set_clock(start + HOUR).unwrap();
    assert_eq!(scheduler.pauses().unwrap(), []);
    let mut cycle = scheduler.begin(&window).unwrap();
    let run = run_of(cycle.next().unwrap());
    assert_eq!(run.id(), "short");
    run.complete(()).unwrap();

    scheduler.pause_kinds(Kinds::ALL, None).unwrap();
    scheduler.pause_pool("mailer", Kinds::ALL, None).unwrap();
    scheduler.pause_pool("mailer", Kinds::PROCESSING, Some(start + 2 * HOUR)).unwrap();
    scheduler.resume_kinds(Kinds::REFRESH).unwrap();
    let mailer = || Some("mailer".to_string());
    let mut all = listed(&scheduler);
    assert_eq!(all.remove(0), (Kinds::PROCESSING, None, None));
    all.sort_by_key(|one| one.0.bits());
    assert_eq!(all, [(Kinds::REFRESH, mailer(), None), (Kinds::PROCESSING, mailer(), Some(start + 2 * HOUR))]);
    scheduler.resume_pool("mailer", Kinds::PROCESSING).unwrap();
    scheduler.resume_kinds(Kinds::ALL).unwrap();
    assert_eq!(listed(&scheduler), [(Kinds::REFRESH, mailer(), None)]);
    scheduler.resume_pool("mailer", Kinds::ALL).unwrap();
    assert_eq!(scheduler.pauses().unwrap(), []);
}

#[test]
fn a_pause_of_no_kind_of_no_pool_or_until_what_is_past_is_refused() {
    let now = UNIX_EPOCH + HOUR;
    let scheduler = opened(Options::new().clock(now).no_threads());
    let refused = |result: Result<()>| {
        let error = result.unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument);
        error.field().to_string()
    };
    scheduler.pause_kinds(Kinds::REFRESH, None).unwrap();
    let wrong = [UNIX_EPOCH, UNIX_EPOCH - HOUR, now, now + 100_000 * HOUR, now + Duration::from_secs(1 << 36)];
    for until in wrong {
        assert_eq!(refused(scheduler.pause_kinds(Kinds::REFRESH, Some(until))), "until");
    }
    assert_eq!(refused(scheduler.pause_kinds(Kinds::NONE, None)), "kinds");
    assert_eq!(refused(scheduler.pause_kinds(Kinds::of(8), None)), "kinds");
    assert_eq!(refused(scheduler.resume_kinds(Kinds::NONE)), "kinds");
    assert_eq!(refused(scheduler.pause_pool("mailer", Kinds::NONE, None)), "kinds");
    assert_eq!(refused(scheduler.pause_pool("", Kinds::ALL, None)), "pool");
    assert_eq!(refused(scheduler.resume_pool("", Kinds::ALL)), "pool");
    assert_eq!(refused(scheduler.pause_pool("a\0b", Kinds::ALL, None)), "pool");
    assert_eq!(scheduler.pauses().unwrap().len(), 1);
    scheduler.close(Duration::ZERO).unwrap();
    assert_eq!(scheduler.pauses().unwrap_err().status(), Status::InvalidHandle);
}

#[test]
fn a_task_waits_for_conditions_of_the_host() {
    let scheduler = opened(Options::new().clock(UNIX_EPOCH + HOUR).no_threads());
    scheduler.pulled_handler("work").unwrap();
    scheduler.define_condition("vpn").unwrap();
    scheduler.register(&Task::once("a").handler("work").condition("vpn").condition("signed-in")).unwrap();
    scheduler.set_condition("vpn", true).unwrap();
    assert_eq!(scheduler.conditions().unwrap(), [("signed-in".into(), None), ("vpn".into(), Some(true))]);
    assert_eq!(scheduler.missing_conditions("a").unwrap(), ["signed-in"]);
    assert_eq!(scheduler.get("a").unwrap().unwrap().conditions, ["signed-in", "vpn"]);
    assert_eq!(scheduler.explain("a").unwrap().missing[0].reason, Reason::Conditions);
    assert!(scheduler.set_condition("signed-in", true).is_err());
    scheduler.define_condition("signed-in").unwrap();
    scheduler.set_condition("signed-in", true).unwrap();
    let mut cycle = scheduler.begin(&Window::new(LONG)).unwrap();
    let run = run_of(cycle.next().unwrap());
    scheduler.undefine_condition("vpn").unwrap();
    assert!(run.complete(()).is_err());
}

#[test]
fn a_driver_holds_back_what_the_profile_refuses_and_says_why() {
    let scheduler = opened(Options::new());
    let (sender, ids) = mpsc::channel();
    let sender = Mutex::new(sender);
    scheduler.handler("a", move |run| sender.lock().unwrap().send(run.id().to_string()).unwrap()).unwrap();
    scheduler.set_profile(Profile::Apple).unwrap();
    scheduler.set_signal(Signal::BackgroundSwitch, 0, None).unwrap();
    let refusal = scheduler.ask(Kind::Refresh).unwrap();
    assert!(!refusal.granted);
    let because = refusal.findings.iter().find(|one| one.factor == Factor::BackgroundSwitch).unwrap();
    assert_eq!((because.refuses, because.observed, because.clears_at), (true, 0, None));
    scheduler.register(&Task::once("a")).unwrap();
    scheduler.start_driver(&Driver::new()).unwrap();
    assert!(ids.recv_timeout(Duration::from_millis(50)).is_err());
    let error = scheduler.set_signal(Signal::BackgroundSwitch, 7, None).unwrap_err();
    assert_eq!(error.status(), Status::InvalidArgument);
    scheduler.clear_signal(Signal::BackgroundSwitch).unwrap();
    scheduler.set_profile(Profile::Open).unwrap();
    assert_eq!(ids.recv_timeout(LONG).unwrap(), "a");
    let grant = scheduler.ask(Kind::Refresh).unwrap();
    assert_eq!((grant.granted, grant.longest_window, grant.findings), (true, None, vec![]));
}

#[test]
fn another_process_enqueues_looks_and_works_for_the_owner_of_a_store() {
    let folder = Folder::new("connect");
    let store = folder.0.join("store");
    let connection = Connection::to(&store).pool("tests");
    assert_eq!(connection.open().unwrap_err().status(), Status::OwnerAway);
    let owner = opened(Options::new().path(&store));
    owner.serve_at(folder.0.join("socket")).unwrap();
    owner.serve().unwrap();
    assert!(Connection::to(folder.0.join("socket")).open().is_ok());
    let client = connection.open().unwrap();
    let (sender, told) = mpsc::channel();
    let sender = Mutex::new(sender);
    client.handler("work", |run: &Run| run.set_output(format!("by {}", run.id()).as_bytes())).unwrap();
    client
        .handler("waits", move |run| {
            sender.lock().unwrap().send(None).unwrap();
            let reason = run.wait(LONG);
            sender.lock().unwrap().send(reason).unwrap();
        })
        .unwrap();
    assert_eq!(owner.handler("work", |_| ()).unwrap_err().status(), Status::AlreadyExists);
    client.register(&Task::once("a").handler("work")).unwrap();
    assert_eq!(owner.get("a").unwrap().unwrap().state, State::Enqueued);
    assert_eq!(client.ids().unwrap(), ["a"]);
    assert_eq!(client.run(&Window::new(LONG)).unwrap().new_data, 1);
    assert_eq!(owner.output("a").unwrap(), b"by a");
    // A pause of its pool holds back what runs here.
    owner.pause_pool("tests", Kinds::REFRESH, None).unwrap();
    assert_eq!(client.pauses().unwrap().len(), 1);
    assert_eq!(client.pauses(), owner.pauses());
    client.register(&Task::once("b").handler("work")).unwrap();
    assert_eq!(client.run(&Window::new(LONG)).unwrap().runs, []);
    assert_eq!(client.explain("b").unwrap().missing[0].reason, Reason::KindPaused);
    client.resume_pool("tests", Kinds::ALL).unwrap();
    assert_eq!(owner.pauses().unwrap(), []);
    assert_eq!(client.run(&Window::new(LONG)).unwrap().new_data, 1);
    // A stop of the owner's wakes the handler here.
    client.start_driver(&Driver::new().ungoverned()).unwrap();
    owner.register(&Task::once("waits")).unwrap();
    assert_eq!(told.recv_timeout(LONG).unwrap(), None);
    assert_eq!(owner.cancel("waits"), Ok(1));
    let reason = told.recv_timeout(LONG).unwrap();
    assert!(matches!(reason, Some(Stop::Cancelled | Stop::Shutdown)), "{reason:?}");
    assert_eq!(client.get("waits").unwrap().unwrap().state, State::Cancelled);
    client.stop_driver(LONG).unwrap();
    owner.close(Duration::ZERO).unwrap();
    assert_eq!(client.get("a").unwrap_err().status(), Status::OwnerAway);
    client.close(Duration::ZERO).unwrap();
    assert_eq!(client.now().unwrap_err().status(), Status::InvalidHandle);
}

#[test]
fn a_periodic_task_is_due_again_after_its_period_and_a_run_knows_its_times() {
    let start = UNIX_EPOCH + 1000 * HOUR;
    let options = Options::new().clock(start).no_threads().permitted(["p.*"]).max_input_size(4).backoff_jitter(500);
    let options = options.backoff_range(Duration::from_secs(20), HOUR).expedited_quota(HOUR).wait_log_entries(64);
    let scheduler = opened(options.thread_stack_size(1 << 24).background_threads().relaxed().freshness());
    scheduler.pulled_handler("a").unwrap();
    let register = |task: Task| scheduler.register(&task.handler("a")).map_err(|error| error.status());
    assert_eq!(register(Task::standing("q")), Err(Status::NotPermitted));
    assert_eq!(register(Task::once("p.b").input(&b"12345"[..])), Err(Status::TooLarge));
    assert_eq!(register(Task::periodic("p.a", HOUR).steady()), Ok(Disposition::Added));
    let next = || {
        let mut cycle = scheduler.begin(&Window::default()).unwrap();
        let run = run_of(cycle.next().unwrap());
        (cycle, run)
    };
    let (cycle, run) = next();
    assert_eq!((run.started_at(), run.deadline()), (start, start + Duration::from_secs(30)));
    assert_eq!(run.expires_at(), start + Duration::from_millis(28_500));
    run.complete(()).unwrap();
    drop(cycle);
    let due = |after| scheduler.get("p.a").unwrap().unwrap().earliest_begin.duration_since(start + after).unwrap();
    assert_eq!(due(Duration::ZERO), HOUR);
    scheduler.set_clock(start + HOUR).unwrap();
    assert_eq!(scheduler.drain(Duration::ZERO), Ok(true));
    scheduler.resume().unwrap();
    let (_cycle, run) = next();
    run.complete(Failure::new("again")).unwrap();
    assert!((Duration::from_secs(10)..=Duration::from_secs(30)).contains(&due(HOUR)), "{:?}", due(HOUR));
}
