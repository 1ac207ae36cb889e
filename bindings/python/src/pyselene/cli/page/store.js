// The page of a store.
import { act, acts, at, clock, figures, fill, make, opened, opener, plural, since, span, start } from "/live.js";

const ACTS = {
  running: ["cancel"], enqueued: ["run", "pause", "cancel"], held: ["run", "pause", "cancel"], blocked: ["pause", "cancel"],
  failed: ["retry"], succeeded: [], cancelled: [],
};
const NAMES = { run: "Run now", pause: "Pause", resume: "Resume", cancel: "Cancel", retry: "Retry" };
const STATES = ["running", "enqueued", "held", "blocked", "failed", "succeeded", "cancelled"];

function why(task) {
  const cell = make("td", "why");
  if (task.state === "running") {
    const parts = [];
    if (task.begun !== null) parts.push(`for ${since(task.begun)}`);
    if (task.attempts > 1) parts.push(`attempt ${task.attempts}`);
    if (task.progress && task.progress.text) parts.push(task.progress.text);
    cell.append(parts.join(", "));
    if (task.progress && task.progress.total > 0) {
      const bar = make("span", "progress", make("i"));
      bar.firstChild.style.width = `${Math.min(100, (100 * task.progress.done) / task.progress.total)}%`;
      bar.title = `${task.progress.done} of ${task.progress.total}`;
      cell.append(bar);
    }
    return cell;
  }
  if (task.why.length) {
    let text = task.why.join("; ");
    if (task.may_run_at !== null) text += `, until ${clock(task.may_run_at)}`;
    cell.append(text);
    if (task.rank) cell.append(make("small", "", `rank ${task.rank}`));
  } else if (task.last_outcome) {
    cell.append(task.state === "failed" ? "" : task.last_outcome);
  }
  if (task.failure) cell.append(make("small", "", `${task.state === "failed" ? "" : "failed before: "}${task.failure}`));
  return cell;
}

function taskRows(task, mayChange) {
  const about = [task.handler === task.id ? "" : task.handler, task.kind, task.every === null ? "" : `every ${span(task.every)}`,
    task.group ? `group ${task.group}` : "", ...task.tags];
  const state = task.paused ? "paused" : task.state;
  const verbs = ACTS[task.state].map((verb) => (verb === "pause" && task.paused ? "resume" : verb));
  const row = make("tr", "", make("td", "", opener(task.id, task.id), make("small", "", about.filter(Boolean).join(" · "))),
    make("td", "", make("span", `state ${state}`, state)), why(task), make("td", "num", span(task.estimate)),
    acts(task.id, mayChange ? verbs.map((verb) => [verb, NAMES[verb]]) : []));
  const detail = opened.get(task.id);
  return opened.has(task.id) ? [row, make("tr", "more", more(detail))] : [row];
}

// Where the time of a task went.
function more(detail) {
  const cell = make("td", "");
  cell.colSpan = 5;
  if (!detail) return cell;
  cell.append(make("pre", "", detail.error || detail.explanation.join("\n")));
  if (detail.error) return cell;
  cell.append(make("small", "", `Where its time went since ${clock(detail.since)}, ${span(detail.total)}`));
  for (const part of detail.parts) {
    const bar = make("span", "bar", make("i", `spent ${part.reason}`));
    bar.firstChild.style.width = `${Math.max(1, (100 * part.seconds) / Math.max(detail.total, 1e-9))}%`;
    const times = part.times > 1 ? ` (${part.times} times)` : "";
    cell.append(make("div", "spent-row", make("span", "", span(part.seconds)), bar, make("span", "", part.text + times)));
  }
  if (detail.preferred) {
    const last = detail.preferred_ids.length ? `, the last of ${detail.preferred_ids.join(", ")}` : "";
    cell.append(make("small", "", `${plural(detail.preferred, "run")} went before it${last}`));
  }
  return cell;
}

function outcomeBar(window) {
  const bar = make("span", "bar");
  for (const [outcome, count] of Object.entries(window.outcomes)) {
    const part = make("i", outcome);
    part.style.flexGrow = count;
    part.title = `${count} ${outcome.replaceAll("_", " ")}`;
    bar.append(part);
  }
  return make("td", "graph", plural(window.runs, "run"), bar);
}

// What is paused as a kind, and buttons that pause and resume.
function pauses(state, mayChange) {
  const parts = state.pauses.map((pause) => {
    const kinds = pause.kinds.join(" and ");
    const end = pause.until === null ? "" : ` until ${clock(pause.until)}`;
    const what = `${kinds}${pause.pool === null ? "" : ` of pool ${pause.pool}`}`;
    const id = `${pause.kinds.join(",")}${pause.pool === null ? "" : ` ${pause.pool}`}`;
    return make("span", "pause", make("span", "state paused", `${what}: paused${end}`),
      mayChange ? act("resume-kinds", id, "Resume", what) : "");
  });
  const held = new Set(state.pauses.filter((pause) => pause.pool === null).flatMap((pause) => pause.kinds));
  const free = mayChange ? state.kinds.filter((kind) => !held.has(kind)) : [];
  return [...parts, ...free.map((kind) => act("pause-kinds", kind, `Pause ${kind}`, "tasks"))];
}

function show(state, mayChange) {
  const name = state.store.split("/").pop();
  at("store").textContent = name;
  document.title = `${state.counts.running ? `(${state.counts.running}) ` : ""}${name} – Selene`;
  const facts = [`version ${state.version}`, `${plural(state.dispatched, "run")} since it was opened`, plural(state.clients.length, "client")];
  if (state.owner) facts.unshift(state.owner);
  if (name !== state.store) facts.unshift(state.store);
  if (state.lost) facts.push(`${plural(state.lost, "event")} lost`);
  at("facts").textContent = facts.join(" · ");
  at("troubles").hidden = !state.troubles.length;
  at("troubles").querySelector("ul").replaceChildren(...state.troubles.map((trouble) =>
    make("li", "", make("b", "", trouble.name), trouble.since === null ? "" : ` since ${clock(trouble.since)}`, trouble.text ? `: ${trouble.text}` : "")));
  figures(STATES.map((name) => [name, state.counts[name]]));
  const held = pauses(state, mayChange);
  at("pauses").hidden = !held.length;
  at("pauses").replaceChildren(...held);
  fill("tasks", state.tasks.flatMap((task) => taskRows(task, mayChange)), "no task is registered");
  at("more").hidden = !state.more;
  at("more").textContent = `and ${plural(state.more, "task")} more`;
  fill("windows", state.windows.map((window) => make("tr", "", make("td", "when", clock(window.begin)),
    make("td", "", window.kinds.join(", ")), outcomeBar(window),
    make("td", "num", window.end === null ? since(window.begin) : span((window.end - window.begin) / 1000)),
    make("td", "", window.end === null ? `open, until ${clock(window.deadline)}` : (window.outcome || "").replaceAll("_", " ")))),
  "none yet");
  fill("runs", state.runs.map((run) => make("tr", "", make("td", "", make("b", "", run.id), run.attempt > 1 ? make("small", "", `attempt ${run.attempt}`) : ""),
    make("td", "when", run.begin === null ? "before" : clock(run.begin)),
    make("td", "num", run.seconds === null ? "" : span(run.seconds)),
    make("td", run.outcome === "failed" || run.outcome === "abandoned" ? "bad" : "", make("i", `dot ${run.outcome}`), run.outcome.replaceAll("_", " "),
      run.message ? make("small", "", run.message) : ""))), "none yet");
  fill("clients", state.clients.map((client) => make("tr", "", make("td", "", make("b", "", String(client.process)), make("small", "", client.command || "has ended")),
    make("td", client.pool ? "" : "quiet", client.pool || "none"), make("td", "num", String(client.handlers)), make("td", "num", String(client.runs)),
    make("td", "num", String(client.requests)), make("td", "", make("small", "", client.rights.join(", "))))), "no other process is connected");
}

start({ path: () => "/state.json", show });
