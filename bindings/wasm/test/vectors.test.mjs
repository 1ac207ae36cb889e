// Plays the conformance vectors through the package's public interface.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const folder = new URL('../../../Tests/vectors/', import.meta.url);
const windowOf = (step) => ({
  budget: step.budget_ms,
  reserve: step.reserve_ms,
  kinds: step.kinds ?? 'refresh',
  strictFit: step.strict_fit,
  frozen: step.frozen ?? true,
});
const optionNames = {
  max_pending_refresh: 'maxPendingRefresh',
  max_pending_processing: 'maxPendingProcessing',
  minimum_interval_refresh_ms: 'minimumIntervalRefresh',
  expedited_quota_ms: 'expeditedQuota',
  minimum_interval_processing_ms: 'minimumIntervalProcessing',
  minimum_backoff_ms: 'minimumBackoff',
  maximum_backoff_ms: 'maximumBackoff',
  hold: 'hold',
  permitted: 'permitted',
  observed_range: 'observedRange',
  freshness: 'freshness',
};
const taskNames = {
  initial_delay_ms: 'delay',
  latest_begin_ms: 'latestBegin',
  flex_ms: 'flex',
  period_ms: 'every',
  backoff_ms: 'backoffDelay',
  stall_ms: 'stallLimit',
  window: 'responseWindow',
  constraints: 'requires',
  needs: 'conditions',
  max_attempts: 'maxAttempts',
  after_any_end: 'afterAnyEnd',
};
const CONSTRAINTS = [
  'network', 'external_power', 'unmetered', 'battery_not_low', 'idle', 'storage_not_low', 'display_off', 'not_roaming',
];
const renamed = (given, names) => Object.fromEntries(Object.entries(given).map(([key, value]) => [names[key] ?? key, value]));

class Player {
  constructor(selene, scenario) {
    this.time = 0;
    const options = renamed(scenario.options, optionNames);
    for (const key of ['maxPendingRefresh', 'maxPendingProcessing']) {
      if (options[key] === 'unlimited') options[key] = Infinity;
    }
    this.scheduler = selene.open({ maxPendingRefresh: 1, maxPendingProcessing: 10, ...options, clock: () => this.time });
    this.conditions(CONSTRAINTS);
    this.given = scenario.handlers;
    for (const name of this.given ?? []) this.scheduler.handler(name);
    this.known = new Set(this.given);
  }

  register(step) {
    const { input_size, expected_ms = 5_000, expedited, ...rest } = step;
    const task = { schedule: 'standing', ...renamed(rest, taskNames) };
    if (expedited !== undefined) Object.assign(task, { expedited: true, outOfQuota: expedited });
    if (expected_ms !== null) task.expected = expected_ms;
    if (input_size !== undefined) task.input = new Uint8Array(input_size);
    const disposition = this.scheduler.register(task);
    const handler = task.handler ?? task.id;
    if (!this.given && !this.known.has(handler)) this.handler(handler);
    return { disposition };
  }

  handler(name) {
    this.scheduler.handler(name);
    this.known.add(name);
    return {};
  }

  conditions(satisfied) {
    this.scheduler.setConditions(Object.fromEntries(CONSTRAINTS.map((name) => [name, satisfied.includes(name)])));
    return {};
  }

  enable(kinds) {
    this.scheduler.enable(kinds);
    return {};
  }

  cancel(id) {
    return { count: this.scheduler.cancel(id) };
  }

  cancel_tag(tag) {
    return { count: this.scheduler.cancelTag(tag) };
  }

  pause(id) {
    return { count: this.scheduler.pause(id) };
  }

  pause_tag(tag) {
    return { count: this.scheduler.pauseTag(tag) };
  }

  pause_group(group) {
    this.scheduler.pauseGroup(group);
    return {};
  }

  define(name) {
    this.scheduler.defineCondition(name);
    return {};
  }

  undefine(name) {
    this.scheduler.undefineCondition(name);
    return {};
  }

  meet(name) {
    this.scheduler.setCondition(name, true);
    return {};
  }

  lose(name) {
    this.scheduler.setCondition(name, false);
    return {};
  }

  resume_group(group) {
    this.scheduler.resumeGroup(group);
    return {};
  }

  resume(id) {
    return { count: this.scheduler.resume(id) };
  }

  resume_tag(tag) {
    return { count: this.scheduler.resumeTag(tag) };
  }

  cancel_all() {
    return { count: this.scheduler.cancelAll() };
  }

  retry(id) {
    this.scheduler.retry(id);
    return {};
  }

  info(id) {
    const found = this.scheduler.get(id);
    if (!found) return { status: 'NOT_FOUND' };
    return {
      state: found.state,
      attempts: found.attempts,
      earliest_begin_ms: found.earliestBegin,
      last_run_ms: found.lastRun,
      estimate_ns: Math.round(found.estimate * 1e6),
      generation: found.generation,
      appended: found.appended,
      runs: found.responseTimes.length,
    };
  }

  waits(id) {
    const { parts, changes, preferredIds } = this.scheduler.waits(id);
    const about = ({ reason, detail, name }) =>
      reason === 'constraints' ? CONSTRAINTS[Math.log2(detail)] : name || null;
    return {
      parts: parts.map((part) => [part.reason, about(part), part.duration, part.times]),
      changes: changes.map(({ at, reason }) => [at, reason]),
      preferred: preferredIds,
    };
  }

  set_next({ id, to_ms }) {
    this.scheduler.setNext(id, to_ms);
    return {};
  }

  left(id) {
    const output = new TextDecoder().decode(this.scheduler.output(id));
    const { stopReason, failure } = this.scheduler.get(id);
    return { stop: stopReason ?? 'none', failure, output };
  }

  next_wakeup() {
    const at = this.scheduler.nextWakeup();
    return { at_ms: at === Infinity ? null : at };
  }

  plan(step) {
    return { ids: this.scheduler.plan(windowOf(step)).runs.map((run) => run.id) };
  }

  cycle(step) {
    const cycle = this.scheduler.begin(windowOf(step));
    let expired;
    for (;;) {
      const { run } = cycle.next();
      if (!run) break;
      const script = step.runs?.[run.id]?.[0] ?? {};
      const takes = script.takes_ms ?? Math.floor(run.estimate);
      const began = this.time;
      if (script.output !== undefined) run.setOutput(script.output);
      if (script.next_ms !== undefined) this.scheduler.setNext(run.id, script.next_ms);
      for (const [index, after] of (script.tells_ms ?? []).entries()) {
        this.time = began + after;
        run.progress(index + 1, script.tells_ms.length);
      }
      this.time = began;
      if (takes > run.deadline - this.time) {
        this.time = run.deadline;
        expired = run;
        break;
      }
      this.time += takes;
      if (script.stops) assert.equal(run.stopping ?? 'none', script.stops);
      if (script.over_ms === undefined) run.complete(script.outcome);
      else assert.throws(() => run.complete(script.outcome), { code: 'STALE_RUN' });
    }
    const report = cycle.end();
    if (expired) assert.throws(() => expired.complete(), { code: 'STALE_RUN' });
    return {
      picked: report.runs.map(({ id, score, estimate }) => ({ id, score, estimate_ns: Math.round(estimate * 1e6) })),
      outcomes: report.runs.map((run) => run.outcome),
      result: report.result,
      ended_at: report.endedAt,
      eligible: report.eligible,
    };
  }
}

const { load } = await import('../../../build/wasm/package/selene.mjs');
const selene = await load();
let played = 0;
for (const file of ['scenarios', 'mixed']) {
  for (const scenario of JSON.parse(readFileSync(new URL(`${file}.json`, folder))).scenarios) {
    const player = new Player(selene, scenario);
    for (const { at_ms, expect, ...step } of scenario.steps) {
      player.time = at_ms;
      const [[verb, argument]] = Object.entries(step);
      let found;
      try {
        found = { status: 'OK', ...player[verb](argument) };
      } catch (error) {
        if (!error.code || error.code.startsWith('ERR_')) throw error;
        found = { status: error.code };
      }
      // What chance has moved is told exactly.
      if (expect.earliest_begin_ns !== undefined) {
        found.earliest_begin_ns = Math.round(found.earliest_begin_ms * 1e6);
        delete found.earliest_begin_ms;
      }
      for (const [index, pick] of (found.picked ?? []).entries()) {
        const wanted = expect.picked?.[index];
        if (wanted && Math.abs(wanted.score - pick.score) <= 1e-9) pick.score = wanted.score;
      }
      assert.deepEqual(found, { status: 'OK', ...expect }, `${scenario.name}: ${JSON.stringify({ at_ms, ...step })}`);
    }
    player.scheduler.close();
    played += 1;
  }
}
console.log(`ok ${played} scenarios`);
