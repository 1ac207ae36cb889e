// What the pages have in common: asking again and again, telling, doing. Texts of others become text alone, never markup.

const EVERY = 2000;

export const at = (id) => document.getElementById(id);
export const opened = new Map(); // what is open: what was told of it last

let now = 0; // by the clock of what is shown, ms
let sure = ""; // a cancel that was asked for once
let timer = 0;
let page = null;

// The token comes behind #, which no server and no log sees, and leaves the address at once.
const arrived = new URLSearchParams(location.hash.slice(1)).get("token");
if (arrived !== null) {
  sessionStorage.setItem("token", arrived);
  history.replaceState(null, "", location.pathname + location.search);
}
const headers = () => {
  const token = sessionStorage.getItem("token");
  return token ? { "X-Selene-Token": token } : {};
};

export function make(tag, kind, ...children) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

export function span(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0).replace(/\.0$/, "")} s`;
  const [large, name, small, smaller] = seconds < 3600 ? [60, "m", 1, "s"] : seconds < 86400 ? [3600, "h", 60, "m"] : [86400, "d", 3600, "h"];
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${name}${rest ? ` ${rest} ${smaller}` : ""}`;
}

// How long something has gone on, or will.
export const since = (ms) => span(Math.max(0, (now - ms) / 1000));
export const isPast = (ms) => ms <= now;
export const until = (ms) => span(Math.max(0, (ms - now) / 1000));

export function clock(ms) {
  const date = new Date(ms);
  const time = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
  return Math.abs(now - ms) < 72000000 ? time : `${date.toLocaleDateString()} ${time}`;
}

export const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// ---- What is shown ----

export function tell(text, isBad) {
  at("told").textContent = text;
  at("told").className = isBad ? "bad" : "";
}

export function fill(id, rows, none) {
  const body = at(id).tBodies[0];
  if (!rows.length) {
    const cell = make("td", "quiet", none);
    cell.colSpan = 9;
    rows = [make("tr", "", cell)];
  }
  body.replaceChildren(...rows);
}

export function figures(pairs) {
  at("counts").replaceChildren(...pairs.map(([name, value]) => make("div", "", make("dt", "", name), make("dd", "", String(value)))));
}

// A button that keeps the focus when the page is filled anew.
export function button(text, key, act, label) {
  const made = make("button", "", text);
  made.type = "button";
  made.dataset.key = key;
  if (label) made.setAttribute("aria-label", label);
  made.onclick = act;
  return made;
}

// A button that changes something, with what it says. Cancelling asks once more.
export function act(verb, id, name, about = id) {
  const key = `${verb} ${id}`;
  const made = button(sure === key ? `Really ${name.toLowerCase()}` : name, key, () => {
    if (verb === "cancel" && sure !== key) {
      sure = key;
      look();
      return;
    }
    sure = "";
    made.disabled = true;
    change(verb, id);
  }, `${name} ${about}`);
  if (sure === key) made.className = "sure";
  return made;
}

// The cell with what may be done: pairs of a verb and what the button says.
export function acts(id, verbs, about = id) {
  return make("td", "acts", ...verbs.map(([verb, name]) => act(verb, id, name, about)));
}

// The button with a row's name that opens what is told of it.
export function opener(key, name) {
  const open = make("button", "open", make("b", "", name));
  open.type = "button";
  open.dataset.key = `open ${key}`;
  open.setAttribute("aria-expanded", String(opened.has(key)));
  open.onclick = () => {
    if (opened.has(key)) opened.delete(key);
    else opened.set(key, null);
    look();
  };
  return open;
}

// ---- Asking ----

export async function ask(path, options) {
  const answer = await fetch(path, { cache: "no-store", ...options, headers: { ...headers(), ...(options || {}).headers } });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(body.error || `answered ${answer.status}`);
  return [body, answer.headers];
}

export async function look() {
  clearTimeout(timer);
  try {
    const asked = page.path();
    const [state, told] = await ask(asked);
    for (const id of opened.keys()) {
      const detail = await ask(`/task.json?id=${encodeURIComponent(id)}`).then(([body]) => body, (error) => ({ error: error.message }));
      if (opened.has(id)) opened.set(id, detail);
    }
    if (asked !== page.path()) return; // something else was chosen meanwhile, and is asked for
    // What had the focus has it again.
    const key = document.activeElement && document.activeElement.dataset.key;
    const mayChange = told.get("X-Selene-May-Change") === "yes";
    now = state.now;
    at("key").hidden = mayChange;
    page.show(state, mayChange);
    if (key) [...document.querySelectorAll("[data-key]")].find((each) => each.dataset.key === key)?.focus();
    if (at("told").dataset.of !== "change") tell("", false);
    document.body.classList.remove("stale");
    document.body.dataset.ready = "yes";
  } catch (error) {
    // What is seen is what was true before.
    document.body.classList.add("stale");
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

// Begins: `path()` is what to ask for, `show(state, mayChange)` shows what was answered.
export function start(of) {
  page = of;
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
  at("key").addEventListener("submit", (event) => {
    event.preventDefault();
    sessionStorage.setItem("token", event.target.querySelector("input").value);
    look();
  });
  look();
}
