//! Plays commands of Tests/conformance through the crate.

use selene::*;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{stdin, stdout, BufRead, Write as _};
use std::process::exit;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn decode(text: &str) -> Vec<u8> {
    let (mut made, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, others @ ..] = rest {
        if *first == b'%' {
            made.push(u8::from_str_radix(&text[text.len() - rest.len() + 1..][..2], 16).expect("hexadecimal"));
            rest = &others[2..];
        } else {
            made.push(*first);
            rest = others;
        }
    }
    made
}

fn string(text: &str) -> String {
    String::from_utf8(decode(text)).expect("UTF-8")
}

fn encode(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn ns(at: SystemTime) -> i128 {
    match at.duration_since(UNIX_EPOCH) {
        Ok(span) => span.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    }
}

/// The words of a command.
struct Given<'a> {
    word: &'a str,
    fields: HashMap<&'a str, &'a str>,
}

impl Given<'_> {
    fn text(&self, key: &str) -> Option<String> {
        self.fields.get(key).map(|text| string(text))
    }
    fn number(&self, key: &str) -> Option<i64> {
        self.fields.get(key).map(|text| text.parse().expect("a number"))
    }
    fn small(&self, key: &str) -> Option<i32> {
        self.number(key).map(|number| number as i32)
    }
    fn is_set(&self, key: &str) -> bool {
        self.number(key).unwrap_or(0) != 0
    }
    fn span(&self, key: &str) -> Option<Duration> {
        self.number(key).map(|number| Duration::from_nanos(number as u64))
    }
    fn list(&self, key: &str) -> Option<Vec<String>> {
        let split = |text: &&str| text.split(',').filter(|one| !one.is_empty()).map(string).collect();
        self.fields.get(key).map(split)
    }
}

/// Sets what was given.
fn with<T, V>(made: T, value: Option<V>, set: impl FnOnce(T, V) -> T) -> T {
    match value {
        Some(value) => set(made, value),
        None => made,
    }
}

fn task(given: &Given) -> Task {
    let mut task = Task::standing(given.text("id").unwrap_or_default());
    task = with(task, given.text("handler"), Task::handler);
    task = with(task, given.small("kind").map(Kind::of), Task::kind);
    task = with(task, given.small("schedule").map(Schedule::of), Task::schedule);
    task = with(task, given.small("priority").map(Priority::of), Task::priority);
    task = with(task, given.small("existing").map(Existing::of), Task::existing);
    task = with(task, given.small("recurrence").map(Recurrence::of), Task::recurrence);
    let delay = given.span("backoff_delay").unwrap_or(Duration::from_secs(30));
    task = with(task.backoff_delay(delay), given.small("backoff").map(Backoff::of), |task, backoff| {
        task.backoff(backoff, delay)
    });
    task = with(task, given.span("expected_response"), Task::expected_response);
    task = with(task, given.small("response_window"), Task::response_window);
    task = with(task, given.span("initial_delay"), Task::initial_delay);
    task = with(task, given.span("period"), Task::period);
    task = with(task, given.span("flex"), Task::flex);
    task = with(task, given.span("timeout"), Task::timeout);
    task = with(task, given.span("stall_limit"), Task::stall_limit);
    task = with(task, given.span("latest_begin"), Task::latest_begin);
    task = with(task, given.small("jitter"), |task, jitter: i32| task.jitter(jitter as u32));
    let flags = given.number("flags").unwrap_or(0);
    task = if flags & 2 != 0 { task.after_any_end() } else { task };
    task = if flags & 4 != 0 { task.expedited() } else { task };
    task = if flags & 8 != 0 { task.refuse_out_of_quota() } else { task };
    task = given.list("after").unwrap_or_default().into_iter().fold(task, Task::after);
    task = with(task, given.number("max_attempts"), |task, count| task.max_attempts(count as u32));
    task = with(task, given.number("constraints"), |task, bits| task.requires(Constraints::of(bits as u32)));
    task = given.list("group").unwrap_or_default().into_iter().fold(task, Task::group);
    task = given.list("conditions").unwrap_or_default().into_iter().fold(task, Task::condition);
    task = given.list("tags").unwrap_or_default().into_iter().fold(task, Task::tag);
    with(task, given.number("input_size"), |task, size| task.input(vec![0; size as usize]))
}

fn window(given: &Given) -> Window {
    let mut window = with(Window::default(), given.span("budget"), Window::budget);
    window = with(window, given.span("reserve"), Window::reserve);
    window = with(window, given.number("kinds"), |window, bits| window.kinds(Kinds::of(bits as u32)));
    if given.is_set("strict") {
        window = window.strict_fit();
    }
    if given.is_set("frozen") {
        window = window.frozen();
    }
    window
}

fn open(given: &Given, now: SystemTime) -> Result<Scheduler> {
    let mut options = Options::new().clock(now).no_threads();
    options = with(options, given.text("path"), Options::path);
    options = with(options, given.list("permitted"), Options::permitted);
    options = with(options, given.number("seed"), |options, seed| options.seed(seed as u64));
    options = with(options, given.span("minimum_interval_refresh"), |options, span| {
        options.minimum_interval(span, Duration::ZERO)
    });
    options = with(options, given.span("expedited_quota"), Options::expedited_quota);
    let refresh = given.number("max_pending_refresh").unwrap_or(1) as u32;
    options = options.max_pending(refresh, given.number("max_pending_processing").unwrap_or(10) as u32);
    if given.is_set("hold") {
        options = options.hold();
    }
    if given.is_set("observed_range") {
        options = options.observed_range();
    }
    options.open()
}

/// What happens once, and who waits for it.
#[derive(Default)]
struct Event(Mutex<bool>, Condvar);

impl Event {
    fn set(&self) {
        *self.0.lock().expect("no panic") = true;
        self.1.notify_all();
    }
    fn wait(&self) {
        drop(self.1.wait_while(self.0.lock().expect("no panic"), |is_set| !*is_set).expect("no panic"));
    }
}

/// The handler of a case of ends.
struct Work {
    answer: String,
    begun: Event,
    released: Event,
}

impl Work {
    fn run(&self, run: &Run) -> Verdict {
        self.begun.set();
        if self.answer == "deaf" || self.answer == "completes" {
            self.released.wait();
            return Outcome::NewData.into_verdict();
        }
        while run.wait(Duration::MAX).is_none() {}
        match self.answer.as_str() {
            "obeys" => Outcome::Stopped.into_verdict(),
            "fails" => Failure::new("it was asked to stop").into_verdict(),
            _ => Outcome::NewData.into_verdict(),
        }
    }
}

/// Plays an end; false: there is none like that. What is dropped closes with a grace of a second.
fn play_end(way: &str, given: &Given) -> Result<bool> {
    let grace = given.span("grace").unwrap_or_default();
    if way == "wait" && grace != Duration::from_secs(1) {
        return Ok(false);
    }
    let scheduler = Options::new().path(given.text("path").expect("a path")).open()?;
    let answer = given.text("answer").expect("an answer");
    let work = Arc::new(Work { answer, begun: Event::default(), released: Event::default() });
    let handler = work.clone();
    scheduler.handler("work", move |run: &Run| handler.run(run))?;
    scheduler.start_driver(&Driver::new().ungoverned())?;
    if work.answer != "idle" {
        work.begun.wait();
    }
    if way == "exit" {
        exit(0);
    }
    let releasing = work.clone();
    let releases = (work.answer == "completes").then(|| thread::spawn(move || releasing.released.set()));
    match way {
        "shutdown" => scheduler.stop_driver(grace)?,
        "close" => scheduler.close(grace)?,
        _ => drop(scheduler),
    }
    work.released.set();
    releases.map(thread::JoinHandle::join);
    Ok(true)
}

struct Player {
    now: SystemTime,
    scheduler: Option<Scheduler>,
    events: Option<Events>,
    cycle: Option<Cycle>,
    run: Option<Run>,
}

impl Player {
    fn perform(&mut self, verb: &str, given: &Given, out: &mut String) -> Result<()> {
        let word = string(given.word);
        match verb {
            "clock" => {
                self.now = UNIX_EPOCH + Duration::from_nanos(word.parse().expect("an instant"));
                return self.scheduler.as_ref().map_or(Ok(()), |scheduler| scheduler.set_clock(self.now));
            }
            "open" => {
                self.scheduler = None;
                let scheduler = open(given, self.now)?;
                scheduler.set_conditions(Constraints::ALL, Constraints::ALL)?;
                self.events = Some(scheduler.events(65_536)?);
                self.scheduler = Some(scheduler);
                return Ok(());
            }
            "close" => return self.scheduler.take().expect("a scheduler").close(Duration::ZERO),
            "ends" => {
                if !play_end(&word, given)? {
                    *out = "error UNSUPPORTED what is dropped closes with a grace of a second".into();
                }
                return Ok(());
            }
            "unknown" => {
                *out = "error UNSUPPORTED the compiler knows the words".into();
                return Ok(());
            }
            "exit" => exit(0),
            _ => {}
        }
        let scheduler = self.scheduler.as_ref().expect("a scheduler");
        let number = || word.parse::<i64>().expect("a number");
        match verb {
            "handler" => scheduler.pulled_handler(&word)?,
            "conditions" => scheduler.set_conditions(Constraints::ALL, Constraints::of(number() as u32))?,
            "enable" => scheduler.enable(Kinds::of(number() as u32))?,
            "register" => say(out, scheduler.register(&task(given))?.number()),
            "cancel" => say(out, scheduler.cancel(&word)?),
            "cancel_tag" => say(out, scheduler.cancel_tag(&word)?),
            "cancel_all" => say(out, scheduler.cancel_all()?),
            "pause" => say(out, scheduler.pause_task(&word)?),
            "define" => scheduler.define_condition(&word)?,
            "undefine" => scheduler.undefine_condition(&word)?,
            "meet" => scheduler.set_condition(&word, true)?,
            "lose" => scheduler.set_condition(&word, false)?,
            "pause_group" => scheduler.pause_group(&word)?,
            "resume_group" => scheduler.resume_group(&word)?,
            "limit_group" => scheduler.limit_group(&word, given.number("limit").unwrap_or(0) as u32)?,
            "pause_tag" => say(out, scheduler.pause_tag(&word)?),
            "resume" => say(out, scheduler.resume_task(&word)?),
            "resume_tag" => say(out, scheduler.resume_tag(&word)?),
            "retry" => scheduler.retry(&word)?,
            "info" => match scheduler.get(&word)? {
                Some(info) => tell(&info, out),
                // The skin has no error for it.
                None => *out = "error NOT_FOUND no such task".into(),
            },
            "waits" => {
                let waits = scheduler.waits(&word)?;
                for part in &waits.parts {
                    let (reason, duration) = (part.reason.name(), part.duration.as_nanos());
                    say(out, format!("{reason} {} {duration} {}", part.detail, part.times));
                }
                say(out, "preferred");
                waits.preferred_ids.iter().for_each(|id| say(out, encode(id)));
            }
            "left" => {
                let stop = scheduler.get(&word)?.and_then(|info| info.stop_reason).map_or(0, Stop::number);
                say(out, format!("{stop} ={}", encode(&String::from_utf8_lossy(&scheduler.output(&word)?))));
            }
            "set_next" => {
                let at = given.span("at").expect("an instant");
                scheduler.set_next(&word, UNIX_EPOCH + at)?;
            }
            "output" => self.run().set_output(word.as_bytes())?,
            "progress" => self.run().progress(number() as u64, given.number("total").unwrap_or(0) as u64, "")?,
            "wakeup" => say(out, scheduler.next_wakeup()?.map_or("never".into(), |at| ns(at).to_string())),
            "plan" => scheduler.plan(&window(given))?.runs.iter().for_each(|run| say(out, encode(&run.id))),
            "begin" => self.cycle = Some(scheduler.begin(&window(given))?),
            "next" => match self.cycle.as_mut().expect("a cycle").next()? {
                Step::Run(run) => {
                    let (id, estimate) = (encode(run.id()), run.estimate().as_nanos());
                    say(out, format!("run {id} {:?} {estimate} {}", run.score(), run.attempt()));
                    self.run = Some(run);
                }
                Step::Wait(_) => say(out, "wait"),
                Step::Done => say(out, "done"),
            },
            "complete" => self.run().complete(Outcome::of(number() as i32))?,
            "fail" => self.run().fail(word)?,
            "stopping" => say(out, self.run().stopping().map_or(0, Stop::number)),
            "end" => {
                let report = self.cycle.as_mut().expect("a cycle").end()?;
                say(out, format!("{} {} {}", report.result.number(), ns(report.ended_at), report.eligible));
                report.runs.iter().for_each(|run| say(out, run.outcome.number()));
            }
            "events" => {
                let events = self.events.as_mut().expect("events");
                while let Some(event) = events.try_next() {
                    say(out, format!("{}:{}", event.event.number(), encode(&event.id)));
                }
            }
            _ => panic!("there is no command {verb}"),
        }
        Ok(())
    }

    fn run(&self) -> &Run {
        self.run.as_ref().expect("a run")
    }
}

/// One more word of an answer.
fn say(out: &mut String, word: impl std::fmt::Display) {
    write!(out, " {word}").expect("text");
}

fn tell(info: &TaskInfo, out: &mut String) {
    let failure = if info.failure.is_empty() { "-" } else { &info.failure };
    say(out, format!("{} {}", info.state.number(), info.attempts));
    say(out, format!("{} {}", ns(info.earliest_begin), ns(info.last_run)));
    say(out, format!("{} {} {}", info.estimate.as_nanos(), info.generation, info.appended));
    say(out, format!("{} {}", info.response_times.len(), encode(failure)));
}

fn main() {
    let mut player = Player { now: UNIX_EPOCH, scheduler: None, events: None, cycle: None, run: None };
    for line in stdin().lock().lines() {
        let line = line.expect("UTF-8");
        let mut words = line.split(' ');
        let verb = words.next().expect("a verb");
        let mut given = Given { word: "", fields: HashMap::new() };
        for word in words {
            match word.split_once('=') {
                Some((key, value)) => drop(given.fields.insert(key, value)),
                None => given.word = word,
            }
        }
        let mut out = String::from("ok");
        if let Err(error) = player.perform(verb, &given, &mut out) {
            out = format!("error {} {}", error.status(), error.detail());
        }
        println!("{out}");
        stdout().flush().expect("a reader");
    }
}
