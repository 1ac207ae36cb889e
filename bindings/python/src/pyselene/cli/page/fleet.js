// The page of a fleet.
import { acts, at, button, clock, figures, fill, isPast, look, make, opened, opener, plural, since, span, start, until } from "/live.js";

const VIEWS = { now: "Now", running: "Claimed", ready: "Ready", waiting: "Waiting", held: "Held", blocked: "Blocked", suspect: "Suspect", failed: "Failed", live: "All live" };
const ENDINGS = { any: "All", succeeded: "Succeeded", failed: "Failed", cancelled: "Cancelled" };
const NONE = {
  now: "no task is live", running: "nothing is claimed", ready: "nothing is ready", waiting: "nothing waits for its time", held: "nothing is held",
  blocked: "nothing waits behind another", suspect: "no task is suspect", failed: "nothing has failed", live: "no task is live",
};
const NAMES = { run: "Run now", cancel: "Cancel", retry: "Retry", pause: "Pause", resume: "Resume" };
const RIGHTS = { cancel: "enqueue", retry: "enqueue", run: "enqueue", pause: "manage", resume: "manage" };
const DATABASE = ["durability", "timeline", "protocol", "oldest snapshot", "dead rows of slot", "history"];

// ---- What a reader chose: it stands in the address, so that a link shows the same ----

const chosen = new URLSearchParams(location.search);
const view = () => (chosen.has("find") ? "" : chosen.get("view") || "now");

function choose(changes) {
  for (const [name, value] of Object.entries(changes)) {
    if (value) chosen.set(name, value);
    else chosen.delete(name);
  }
  const text = chosen.toString();
  history.replaceState(null, "", location.pathname + (text ? `?${text}` : ""));
  look();
}

function choices(id, names, is, act) {
  at(id).replaceChildren(...Object.entries(names).map(([name, text]) => {
    const made = button(text, `${id} ${name}`, () => act(name));
    made.setAttribute("aria-pressed", String(is === name));
    return made;
  }));
}

function pager(id, name, after) {
  const parts = [];
  if (chosen.has(name)) parts.push(button("First page", `${id} first`, () => choose({ [name]: "" })));
  if (after) parts.push(button("Next page", `${id} next`, () => choose({ [name]: after })));
  at(id).replaceChildren(...parts);
}

// ---- What is shown ----

// Where a task stands, in one word.
function standing(task) {
  if (task.state !== "enqueued" || !task.reasons) return task.state;
  const names = task.reasons.map((reason) => reason.reason);
  return names.includes("not_due") ? "waiting" : names.includes("queue_paused") ? "paused" : names.includes("no_node") ? "unserved" : "ready";
}

function told(reason, task) {
  if (reason.reason === "ready") return task ? `ready for ${since(Math.max(task.earliest_begin, task.last_run))}` : reason.detail.replace(/\.\d+/, "");
  const when = reason.until === null ? null : new Date(reason.until).getTime();
  return when === null ? reason.detail : `${reason.detail} until ${clock(when)}${isPast(when) ? "" : `, ${until(when)} more`}`;
}

function why(task) {
  const cell = make("td", "why");
  if (task.state === "running") {
    cell.append("on ", make("b", "", task.node || "a node that is gone"), task.begun === null ? "" : ` for ${since(task.begun)}`);
    cell.append(make("small", "", [task.attempts > 1 ? `attempt ${task.attempts}` : "", `run ${task.run}`].filter(Boolean).join(", ")));
  } else if (task.reasons) {
    cell.append(task.reasons.map((reason) => told(reason, task)).join("; "));
  }
  if (task.suspect) cell.append(make("small", "", "suspect: its node ended while it ran, so it is claimed alone"));
  const isTold = (task.reasons || []).some((reason) => task.failure && reason.detail.includes(task.failure));
  if (task.failure && !isTold) cell.append(make("small", "", `${task.ended ? "" : "failed before: "}${task.failure}`));
  return cell;
}

function about(task) {
  const parts = [task.handler === task.id ? "" : task.handler, `queue ${task.queue}`, task.kind, task.every ? `every ${span(task.every)}` : task.schedule === "standing" ? "standing" : "",
    task.priority === 3 ? "" : `priority ${task.priority}`, (task.labels || []).length ? `needs ${task.labels.join(", ")}` : "", ...(task.tags || [])];
  return make("small", "", parts.filter(Boolean).join(" · "));
}

function verbs(task, may) {
  if (task.ended) return task.can_retry && may.retry ? ["retry"] : [];
  const isEarly = (task.reasons || []).some((reason) => reason.reason === "not_due");
  const found = task.state === "blocked" ? [] : isEarly ? ["run", "cancel"] : ["cancel"];
  return found.filter((verb) => may[verb]);
}

const named = (list) => list.map((verb) => [verb, NAMES[verb]]);

function taskRows(task, may) {
  if (task.ended) return [endedRow(task, may, true)];
  const state = standing(task);
  const takes = make("td", "num", task.state === "blocked" ? "" : span(task.estimate));
  const row = make("tr", "", make("td", "", task.state === "blocked" ? make("b", "", task.id) : opener(task.id, task.id), about(task)),
    make("td", "", make("span", `state ${state}`, state)), why(task), takes, acts(task.id, named(verbs(task, may))));
  return opened.has(task.id) && task.state !== "blocked" ? [row, make("tr", "more", more(opened.get(task.id)))] : [row];
}

function endedRow(task, may, isAmongTasks) {
  const words = [task.failure || "", task.stop && task.state !== "succeeded" ? task.stop.replaceAll("_", " ") : ""].filter(Boolean).join("; ");
  const came = make("td", "why", words, make("small", "", `${plural(task.attempts, "attempt")}${task.run ? `, run ${task.run}` : ""}`));
  const state = make("td", "", make("span", `state ${task.state}`, task.state));
  const when = make("td", "when", clock(task.ended));
  const name = make("td", "", make("b", "", task.id), about(task));
  const last = acts(task.id, named(verbs(task, may)));
  // The rows of tasks have what a task takes where these have when they ended.
  return isAmongTasks ? make("tr", "", name, state, came, make("td", "num", clock(task.ended)), last) : make("tr", "", name, when, state, came, last);
}

// A cell that says on a phone, where there are no columns, what it is.
function labelled(label, kind, ...children) {
  const cell = make("td", kind, ...children);
  cell.dataset.label = label;
  return cell;
}

// What is told of a task that is opened.
function more(detail) {
  const cell = make("td", "");
  cell.colSpan = 5;
  if (!detail) return cell;
  if (detail.error) {
    cell.append(make("pre", "", detail.error));
    return cell;
  }
  cell.append(make("pre", "", detail.reasons.map((reason) => `${reason.reason}: ${told(reason, null)}`).join("\n")));
  const facts = [detail.requires.length ? `its machine must have ${detail.requires.join(", ")}` : "",
    detail.max_attempts ? `at most ${plural(detail.max_attempts, "attempt")}` : "any number of attempts",
    detail.runs ? `planned by ${plural(detail.runs, "run")}` : "", detail.generation ? `changed ${plural(detail.generation, "time")}` : "",
    detail.appended ? `${plural(detail.appended, "task")} of its id behind it` : ""];
  cell.append(make("small", "", facts.filter(Boolean).join(" · ")));
  for (const end of detail.before) {
    cell.append(make("small", "", `${clock(end.ended)} ${end.state} after ${plural(end.attempts, "attempt")}${end.failure ? `: ${end.failure}` : ""}`));
  }
  return cell;
}

function queueRow(queue, may) {
  const limits = ["refresh", "processing"].filter((kind) => queue[`limit_${kind}`] !== null)
    .map((kind) => `${kind} ${queue[`pending_${kind}`] || 0} of ${queue[`limit_${kind}`]}`);
  const state = queue.paused ? "paused" : "open";
  const cell = make("td", "", make("span", `state ${state}`, state), queue.paused_until === null ? "" : make("small", "", `until ${clock(queue.paused_until)}`));
  const verb = queue.paused ? "resume" : "pause";
  const ready = labelled("Ready", "num", queue.ready >= 10000 ? "10000+" : String(queue.ready), queue.oldest === null ? "" : make("small", "", `the oldest for ${span(queue.oldest)}`));
  return make("tr", "", make("td", "", make("b", "", queue.queue)), cell, ready,
    labelled("Pending", limits.length ? "" : "quiet", limits.join(", ") || "no limit", queue.holds ? make("small", "", "what finds no place is held") : ""),
    labelled("Kept", "num", span(queue.retention)), acts(queue.queue, may[verb] ? [[verb, NAMES[verb]]] : [], `queue ${queue.queue}`));
}

function nodeRow(node) {
  const state = !node.alive ? "gone" : node.draining ? "draining" : "alive";
  const more = node.handlers.length >= 20 ? " and more" : "";
  return make("tr", "", make("td", "", make("b", "", node.name), make("small", "", `number ${node.worker}${node.version ? `, ${node.version}` : ""}, since ${clock(node.started)}`)),
    make("td", "", make("span", `state ${state}`, state), node.jumps ? make("small", "", `${plural(node.jumps, "jump")} of clocks`) : ""),
    labelled("Last beat", "when", `${since(node.beaten)} ago`),
    labelled("Lease", "", `${span(node.lease)}, ${isPast(node.expires) ? "over since" : "until"} ${clock(node.expires)}`),
    labelled("Claimed", "num", String(node.runs)), labelled("Handlers", node.handlers.length ? "" : "quiet", node.handlers.length ? node.handlers.join(", ") + more : "none yet"));
}

function showQueues(state) {
  const names = state.queues.map((queue) => queue.queue);
  const now = chosen.get("queue") || "";
  if (now && !names.includes(now)) names.unshift(now);
  const select = at("queue");
  const shown = [...select.options].map((option) => option.value).slice(1);
  if (shown.join("\n") !== names.join("\n")) {
    select.replaceChildren(...["", ...names].map((name) => {
      const option = make("option", "", name || "all");
      option.value = name;
      return option;
    }));
  }
  if (document.activeElement !== select) select.value = now;
}

function showRights(state, mayChange) {
  const not = Object.keys(RIGHTS).filter((verb) => !state.may[verb]);
  at("rights").hidden = !mayChange || !not.length;
  const needed = [...new Set(not.map((verb) => `${state.fleet}_${RIGHTS[verb]}`))];
  at("rights").textContent = `The page is connected as the role ${state.role}, which may not ${not.map((verb) => NAMES[verb].toLowerCase()).join(", ")}: that needs ${needed.join(" and ")}.`;
}

function show(state, mayChange) {
  at("store").textContent = `fleet ${state.fleet}`;
  const claimed = state.counts.claimed;
  document.title = `${claimed === "0" ? "" : `(${claimed}) `}fleet ${state.fleet} – Selene`;
  at("facts").textContent = [`database ${state.database} at ${state.server}`, `as ${state.role}`, `PostgreSQL ${state.postgresql}`, `version ${state.version}`].join(" · ");
  const alarms = state.items.filter((item) => item.alarm);
  at("troubles").hidden = !alarms.length;
  at("troubles").querySelector("ul").replaceChildren(...alarms.map((item) => make("li", "", make("b", "", item.item), `: ${item.value}`)));
  figures([["nodes", state.alive + (state.more_nodes ? "+" : "")], ["claimed", claimed], ["ready", state.counts.ready], ["waiting", state.counts.waiting],
    ["held", state.counts.held], ["suspect", state.counts.suspects], ["failed", state.counts.failed]]);
  const may = mayChange ? state.may : {};
  showRights(state, mayChange);
  showQueues(state);
  choices("views", VIEWS, view(), (name) => choose({ view: name === "now" ? "" : name, find: "", after: "" }));
  choices("endings", ENDINGS, chosen.get("ended") || "any", (name) => choose({ ended: name === "any" ? "" : name, ended_after: "" }));
  const none = chosen.has("find") ? `no task's id begins with ${chosen.get("find")}` : state.after ? "none among the 10000 that were looked at; the next page looks on" : NONE[view()];
  fill("tasks", state.tasks.flatMap((task) => taskRows(task, may)), none);
  pager("tasks-pager", "after", state.after);
  fill("queues", state.queues.map((queue) => queueRow(queue, may)), "no queue: the first task makes one");
  fill("nodes", state.nodes.map(nodeRow), "no node: nobody works for this fleet");
  fill("ended", state.ended.map((task) => endedRow(task, may, false)), state.ended_after ? "none among the 10000 that were looked at; the next page looks on" : "nothing has ended");
  pager("ended-pager", "ended_after", state.ended_after);
  at("database").replaceChildren(...state.items.filter((item) => DATABASE.includes(item.item)).map((item) => make("div", "", make("dt", "", item.item), make("dd", "", item.value))));
}

at("queue").onchange = (event) => choose({ queue: event.target.value, after: "", ended_after: "" });
at("find").addEventListener("submit", (event) => {
  event.preventDefault();
  choose({ find: event.target.querySelector("input").value, after: "" });
});
at("find").querySelector("input").addEventListener("search", (event) => { if (!event.target.value) choose({ find: "" }); });
at("find").querySelector("input").value = chosen.get("find") || "";

start({ path: () => `/state.json${chosen.size ? `?${chosen}` : ""}`, show });
