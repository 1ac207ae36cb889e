// Shows /state.json, again and again; texts of others become text alone, never markup.
"use strict";

const EVERY = 2000;
const ACTS = {
  running: ["cancel"], enqueued: ["run", "pause", "cancel"], held: ["run", "pause", "cancel"], blocked: ["pause", "cancel"],
  failed: ["retry"], succeeded: [], cancelled: [],
};
const NAMES = { run: "Run now", pause: "Pause", resume: "Resume", cancel: "Cancel", retry: "Retry" };
const STATES = ["running", "enqueued", "held", "blocked", "failed", "succeeded", "cancelled"];

const at = (id) => document.getElementById(id);
const opened = new Map(); // id of a task: what was told of it last
let now = 0; // by the scheduler's clock, ms
let sure = ""; // a cancel that was asked for once
let timer = 0;

// The token comes behind #, which no server and no log sees, and leaves the address at once.
const arrived = new URLSearchParams(location.hash.slice(1)).get("token");
if (arrived !== null) {
  sessionStorage.setItem("token", arrived);
  history.replaceState(null, "", location.pathname);
}
const headers = () => {
  const token = sessionStorage.getItem("token");
  return token ? { "X-Selene-Token": token } : {};
};

function make(tag, kind, ...children) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

function span(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0).replace(/\.0$/, "")} s`;
  const [large, name, small, smaller] = seconds < 3600 ? [60, "m", 1, "s"] : seconds < 86400 ? [3600, "h", 60, "m"] : [86400, "d", 3600, "h"];
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${name}${rest ? ` ${rest} ${smaller}` : ""}`;
}

function clock(ms) {
  const date = new Date(ms);
  const time = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
  return Math.abs(now - ms) < 72000000 ? time : `${date.toLocaleDateString()} ${time}`;
}

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// ---- What is shown ----

function tell(text, isBad) {
  at("told").textContent = text;
  at("told").className = isBad ? "bad" : "";
}

function why(task) {
  const cell = make("td", "why");
  if (task.state === "running") {
    const parts = [];
    if (task.begun !== null) parts.push(`for ${span(Math.max(0, (now - task.begun) / 1000))}`);
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

function acts(task, mayChange) {
  const cell = make("td", "acts");
  if (!mayChange) return cell;
  for (let verb of ACTS[task.state]) {
    if (verb === "pause" && task.paused) verb = "resume";
    const key = `${verb} ${task.id}`;
    const button = make("button", sure === key ? "sure" : "", sure === key ? "Really cancel" : NAMES[verb]);
    button.setAttribute("aria-label", `${NAMES[verb]} ${task.id}`);
    button.dataset.key = key;
    button.onclick = () => {
      if (verb === "cancel" && sure !== key) {
        sure = key;
        look();
        return;
      }
      sure = "";
      button.disabled = true;
      change(verb, task.id);
    };
    cell.append(button);
  }
  return cell;
}

function taskRows(task, mayChange) {
  const open = make("button", "open", make("b", "", task.id));
  open.dataset.key = `open ${task.id}`;
  open.setAttribute("aria-expanded", String(opened.has(task.id)));
  open.onclick = () => {
    if (opened.has(task.id)) opened.delete(task.id);
    else opened.set(task.id, null);
    look();
  };
  const about = [task.handler === task.id ? "" : task.handler, task.kind, task.every === null ? "" : `every ${span(task.every)}`,
    task.group ? `group ${task.group}` : "", ...task.tags];
  const state = task.paused ? "paused" : task.state;
  const row = make("tr", "", make("td", "", open, make("small", "", about.filter(Boolean).join(" · "))),
    make("td", "", make("span", `state ${state}`, state)), why(task), make("td", "num", span(task.estimate)), acts(task, mayChange));
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

function fill(id, rows, none) {
  const body = at(id).tBodies[0];
  if (!rows.length) {
    const cell = make("td", "quiet", none);
    cell.colSpan = 9;
    rows = [make("tr", "", cell)];
  }
  body.replaceChildren(...rows);
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

function show(state, mayChange) {
  now = state.now;
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
  at("counts").replaceChildren(...STATES.map((name) => make("div", "", make("dt", "", name), make("dd", "", String(state.counts[name])))));
  at("key").hidden = mayChange;
  fill("tasks", state.tasks.flatMap((task) => taskRows(task, mayChange)), "no task is registered");
  at("more").hidden = !state.more;
  at("more").textContent = `and ${plural(state.more, "task")} more`;
  fill("windows", state.windows.map((window) => make("tr", "", make("td", "when", clock(window.begin)),
    make("td", "", window.kinds.join(", ")), outcomeBar(window),
    make("td", "num", span(((window.end === null ? now : window.end) - window.begin) / 1000)),
    make("td", "", window.end === null ? `open, until ${clock(window.deadline)}` : (window.outcome || "").replaceAll("_", " ")))),
  "none yet");
  fill("runs", state.runs.map((run) => make("tr", "", make("td", "", make("b", "", run.id), run.attempt > 1 ? make("small", "", `attempt ${run.attempt}`) : ""),
    make("td", "when", clock(run.begin)), make("td", "num", span(run.seconds)),
    make("td", run.outcome === "failed" || run.outcome === "abandoned" ? "bad" : "", make("i", `dot ${run.outcome}`), run.outcome.replaceAll("_", " "),
      run.message ? make("small", "", run.message) : ""))), "none yet");
  fill("clients", state.clients.map((client) => make("tr", "", make("td", "", make("b", "", String(client.process)), make("small", "", client.command || "has ended")),
    make("td", client.pool ? "" : "quiet", client.pool || "none"), make("td", "num", String(client.handlers)), make("td", "num", String(client.runs)),
    make("td", "num", String(client.requests)), make("td", "", make("small", "", client.rights.join(", "))))), "no other process is connected");
}

// ---- Asking ----

async function ask(path, options) {
  const answer = await fetch(path, { cache: "no-store", ...options, headers: { ...headers(), ...(options || {}).headers } });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error || `answered ${answer.status}`);
  return [body, answer.headers];
}

async function look() {
  clearTimeout(timer);
  try {
    const [state, told] = await ask("/state.json");
    for (const id of opened.keys()) {
      const detail = await ask(`/task.json?id=${encodeURIComponent(id)}`).then(([body]) => body, (error) => ({ error: error.message }));
      if (opened.has(id)) opened.set(id, detail);
    }
    // What had the focus has it again.
    const key = document.activeElement && document.activeElement.dataset.key;
    show(state, told.get("X-Selene-May-Change") === "yes");
    if (key) [...document.querySelectorAll("[data-key]")].find((each) => each.dataset.key === key)?.focus();
    if (at("told").dataset.of !== "change") tell("", false);
    document.body.dataset.ready = "yes";
  } catch (error) {
    tell(error instanceof TypeError ? "the page is not served any more" : error.message, true);
  }
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(look, EVERY);
}

async function change(verb, id) {
  let text, isBad = false;
  try {
    const [body] = await ask(`/${verb}`, { method: "POST", body: JSON.stringify({ id }), headers: { "Content-Type": "application/json" } });
    text = body.done;
  } catch (error) {
    text = error.message;
    isBad = true;
  }
  tell(text, isBad);
  at("told").dataset.of = "change";
  setTimeout(() => { delete at("told").dataset.of; }, 5000);
  look();
}

document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
at("key").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", event.target.querySelector("input").value);
  look();
});
look();
