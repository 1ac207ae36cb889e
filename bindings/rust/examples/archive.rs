//! Work that fails, retries, is stopped and goes on, on a store: sums of files, and a copy that takes longer than a window.

use selene::{Error, Failure, Options, Priority, Run, State, Task, Window};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn path_of(run: &Run) -> PathBuf {
    String::from_utf8_lossy(run.input()).into_owned().into()
}

/// The sum of a file; it is tried again where there is none.
fn sum(run: &Run) -> Result<(), Failure> {
    let path = path_of(run);
    let missing = |_| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Failure::retry_after(Duration::ZERO, format!("{name} is not there"))
    };
    let bytes = fs::read(&path).map_err(missing)?;
    let sum =
        bytes.iter().fold(14695981039346656037_u64, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(1099511628211));
    println!("{}: {sum:016x}, attempt {}", run.id(), run.attempt());
    Ok(())
}

/// Copies a file piece by piece. What is there is not copied again, so it may be stopped and begun as often as need be.
fn copy(run: &Run) -> Result<(), Box<dyn std::error::Error>> {
    let path = path_of(run);
    let mut from = File::open(&path)?;
    let mut to = OpenOptions::new().create(true).append(true).open(path.with_extension("copy"))?;
    let mut copied = from.seek(SeekFrom::Start(to.metadata()?.len()))?;
    let mut piece = [0; 4096];
    loop {
        let count = from.read(&mut piece)?;
        if count == 0 {
            break;
        }
        to.write_all(&piece[..count])?;
        copied += count as u64;
        // A slow disk; the wait ends early if the run is asked to stop.
        if run.wait(Duration::from_millis(150)).is_some() {
            return Err(Failure::retry_after(Duration::ZERO, "not done yet").into());
        }
    }
    println!("{}: {copied} bytes", run.id());
    Ok(())
}

/// A program that is started, works for a window, and ends; what is left to do, and why.
fn live(folder: &Path) -> Result<Vec<String>, Error> {
    let store = Options::new().path(folder.join("store")).owner("org.example.archive");
    let scheduler = store.open()?;
    scheduler.handler("sum", sum)?;
    scheduler.handler("copy", copy)?;
    let input = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let first = Duration::from_millis(1);
    let tasks = [
        Task::once("sum of a").handler("sum").input(input("a")).expected_response(first),
        Task::once("sum of b").handler("sum").input(input("b")).expected_response(first),
        Task::once("copy of big")
            .handler("copy")
            .input(input("big"))
            .priority(Priority::Low)
            .expected_response(Duration::from_millis(100)),
    ];
    for (task, id) in tasks.iter().zip(["sum of a", "sum of b", "copy of big"]) {
        // From an earlier life.
        if scheduler.get(id)?.is_none() {
            scheduler.register(task)?;
        }
    }
    scheduler.run(&Window::new(Duration::from_secs(10)).reserve(Duration::from_secs(5)))?;
    let mut left = Vec::new();
    for id in scheduler.ids_in(State::Enqueued)? {
        let failure = scheduler.get(&id)?.map_or(String::new(), |info| info.failure);
        left.push(format!("{id}: {failure}"));
    }
    scheduler.close(Duration::from_secs(10))?;
    Ok(left)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("selene-archive-{}", std::process::id()));
    fs::create_dir(&folder)?;
    fs::write(folder.join("a"), "first")?;
    fs::write(folder.join("big"), [b'x'; 40 * 4096])?;
    for why in live(&folder)? {
        println!("{why}");
    }
    fs::write(folder.join("b"), "second")?;
    // What was copied is not copied again, so this comes to an end.
    while !live(&folder)?.is_empty() {
        io::stdout().flush()?;
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}
