// Work that fails, retries, is stopped and goes on, on a store: sums of files, and a copy that takes longer than a window.

import { createHash } from 'node:crypto';
import { mkdtemp, open as openFile, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { open } from 'selene';

const pathOf = (run) => Buffer.from(run.input).toString();

/** The sum of a file; it is tried again where there is none. */
async function sum(run) {
  let bytes;
  try {
    bytes = await readFile(pathOf(run), { signal: run.signal });
  } catch {
    return run.fail(`${basename(pathOf(run))} is not there`, { delay: 0 });
  }
  console.log(`${run.id}: ${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}, attempt ${run.attempt}`);
}

/** Copies a file piece by piece. What is there is not copied again, so it may be stopped and begun as often as need be. */
async function copy(run) {
  const from = await openFile(pathOf(run));
  const to = await openFile(`${pathOf(run)}.copy`, 'a');
  try {
    const piece = Buffer.alloc(4096);
    let { size: copied } = await to.stat();
    for (;;) {
      const { bytesRead } = await from.read(piece, 0, piece.length, copied);
      if (bytesRead === 0) break;
      await to.write(piece, 0, bytesRead);
      copied += bytesRead;
      // A slow disk; the wait ends early if the run is asked to stop.
      await pause(150, undefined, { signal: run.signal });
    }
    console.log(`${run.id}: ${copied} bytes`);
  } catch (error) {
    if (!run.signal.aborted) throw error;
    run.fail('not done yet', { delay: 0 });
  } finally {
    await Promise.all([from.close(), to.close()]);
  }
}

/** A program that is started, works for a window, and ends; what is left to do, and why. */
async function live(folder) {
  const scheduler = open({ path: join(folder, 'store'), owner: 'org.example.archive' });
  try {
    scheduler.handler('sum', sum);
    scheduler.handler('copy', copy);
    for (const [id, task] of Object.entries({
      'sum of a': { handler: 'sum', input: join(folder, 'a'), expected: 1 },
      'sum of b': { handler: 'sum', input: join(folder, 'b'), expected: 1 },
      'copy of big': { handler: 'copy', input: join(folder, 'big'), expected: 100, priority: 'low' },
    })) {
      // Unless it is there from an earlier life.
      if (!scheduler.get(id)) scheduler.register({ id, schedule: 'once', ...task });
    }
    await scheduler.run({ budget: 10_000, reserve: 5_000 });
    return scheduler.list({ state: 'enqueued' }).map((id) => `${id}: ${scheduler.get(id).failure}`);
  } finally {
    scheduler.close();
  }
}

const folder = await mkdtemp(join(tmpdir(), 'selene-archive-'));
try {
  await writeFile(join(folder, 'a'), 'first');
  await writeFile(join(folder, 'big'), 'x'.repeat(40 * 4096));
  for (const why of await live(folder)) console.log(why);
  await writeFile(join(folder, 'b'), 'second');
  // What was copied is not copied again, so this comes to an end.
  while ((await live(folder)).length > 0);
} finally {
  await rm(folder, { recursive: true });
}
