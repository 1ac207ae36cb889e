// The page: tasks on a clock, a window at the press of a button, three rules side by side, a day in a minute.

import { load } from './selene.mjs';

const RULES = {
  selene: { name: 'priority × age', options: {}, meaning: 'A score is priority / 5 times age / greatest age: who waits long enough comes first.' },
  observed: { name: 'observed range', options: { observedRange: true }, meaning: 'As its authors described it: priority and age each count from 0, the least among the tasks, to 1, the greatest. The least of either scores 0, however long it waits.' },
  freshness: { name: 'freshness', options: { freshness: true }, meaning: 'Age times a pace that is learnt: what runs quickly and often finds something new comes more often.' },
};
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const DEFAULTS = {
  rule: 'selene', budget: 10, lanes: 1, strict: false, network: true, speed: 60, every: 15, drawn: 'age',
  tasks: [['upload calendar', 3, 2, 45, 1], ['download contacts', 4, 4, 120, 1], ['feature flags', 5, 1.5, 240, 1], ['refresh news', 3, 5, 10, 1], ['sync photos', 2, 8, 180, 1], ['index mail', 3, 3, 20, 0]],
};
// What a window keeps free unless it says otherwise (selene_window).
const RESERVE = 0.05;
const element = (id) => document.getElementById(id);
const make = (name, properties = {}, ...children) => {
  const { data = {}, ...rest } = properties;
  const made = Object.assign(document.createElement(name), rest);
  Object.assign(made.dataset, data);
  made.append(...children);
  return made;
};

// ---- What is shared by its address ----

/** Of tasks of one name the first. */
const once = (tasks) => tasks.filter(([id], index) => tasks.findIndex(([other]) => other === id) === index);

/** The settings that an address asks for; what it does not say, or says wrongly, is as usual. */
function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const number = (key, least, greatest) => {
    const value = Number(asked.get(key) ?? NaN);
    return value >= least && value <= greatest ? value : DEFAULTS[key];
  };
  const tasks = asked.getAll('task').map((one) => one.split('~'))
    .filter(([id, priority, takes, changes]) => id && [1, 2, 3, 4, 5].includes(Number(priority)) && takes > 0 && takes <= 3600 && changes > 0)
    .map(([id, ...numbers]) => [id.slice(0, 60), ...numbers.map(Number)]);
  return {
    rule: Object.hasOwn(RULES, asked.get('rule')) ? asked.get('rule') : DEFAULTS.rule,
    budget: number('budget', 0.1, 600), lanes: Math.round(number('lanes', 1, 4)), strict: asked.get('strict') === '1',
    network: asked.get('network') !== '0', speed: number('speed', 0, 900), every: number('every', 1, 240),
    drawn: asked.get('drawn') === 'outdated' ? 'outdated' : DEFAULTS.drawn,
    tasks: once(tasks.length ? tasks : DEFAULTS.tasks).slice(0, 40)
      .map(([id, priority, takes, changes, online]) => ({ id, priority, takes, changes, online: online === 1 })),
    // For who wants to show one moment: the clock stands so many seconds after the start, after so many windows.
    at: Math.max(0, Number(asked.get('at')) || 0), windows: Math.min(100, Math.max(0, Number(asked.get('windows')) || 0)),
    day: asked.get('day') === '1',
  };
}

function writeAddress(state) {
  const { rule, budget, lanes, speed, every, drawn } = state;
  const asked = new URLSearchParams({ rule, budget, lanes, strict: Number(state.strict), network: Number(state.network), speed, every, drawn });
  for (const { id, priority, takes, changes, online } of state.tasks) asked.append('task', [id, priority, takes, changes, Number(online)].join('~'));
  history.replaceState(null, '', `#${asked}`);
  element('link').href = location.href;
}

// ---- Worlds: a scheduler with its sources, on a clock of its own ----

class World {
  constructor(selene, rule, { tasks, network }) {
    this.now = 0;
    this.tasks = new Map();
    this.handlers = new Set();
    this.scheduler = selene.open({ clock: () => this.now, seed: 7, ...RULES[rule].options });
    this.connect(network);
    for (const task of tasks) this.add(task);
  }

  connect(network) {
    this.scheduler.setConditions({ network });
  }

  /** Registers a task, or what has changed of it. */
  add(task) {
    const known = this.tasks.get(task.id);
    this.tasks.set(task.id, { ...known, ...task, lastRun: known?.lastRun ?? this.now });
    // One that was removed may come again.
    if (!this.handlers.has(task.id)) this.scheduler.handler(task.id);
    this.handlers.add(task.id);
    this.scheduler.register({ id: task.id, priority: task.priority, requires: task.online ? ['network'] : [] });
  }

  remove(id) {
    this.tasks.delete(id);
    this.scheduler.cancel(id);
  }

  /** When the source first changed after an instant: sources change at even intervals. */
  static changeAfter(task, instant) {
    const interval = task.changes * MINUTE;
    return (Math.floor(instant / interval) + 1) * interval;
  }

  /** For how long the source has had something that was not fetched. */
  outdated(task, now) {
    return Math.max(0, now - World.changeAfter(task, task.lastRun));
  }

  /** Runs a window, as a program does that pulls: each run takes what its task really takes. */
  execute(window) {
    const began = this.now;
    const cycle = this.scheduler.begin(window);
    const lanes = Array(window.lanes ?? 1).fill(null);
    const runs = [];
    for (;;) {
      const step = cycle.next();
      if (step.done) break;
      if (step.run) {
        const task = this.tasks.get(step.run.id);
        const lane = lanes.indexOf(null);
        const end = this.now + task.takes * SECOND;
        const drawn = { id: step.run.id, lane, start: this.now - began, score: step.run.score };
        runs.push(drawn);
        lanes[lane] = { run: step.run, task, end, drawn };
        continue;
      }
      const first = lanes.filter(Boolean).reduce((one, other) => (other.end < one.end ? other : one));
      if (first.end > first.run.deadline) {
        this.now = first.run.deadline;
        break;
      }
      this.now = first.end;
      const news = World.changeAfter(first.task, first.task.lastRun) <= this.now;
      first.task.lastRun = this.now;
      first.run.complete(news ? 'new_data' : 'no_data');
      lanes[lanes.indexOf(first)] = null;
    }
    const report = cycle.end();
    // What was cut off still returns: until then its task would count as running.
    for (const lane of lanes.filter(Boolean)) lane.run.settle(() => lane.run.complete('no_data'));
    report.runs.forEach((run, index) => Object.assign(runs[index], { outcome: run.outcome, took: run.responseTime }));
    return { report, runs };
  }

  close() {
    this.scheduler.close();
  }
}

// ---- Words ----

function span(milliseconds) {
  if (milliseconds < 100 * SECOND) return `${(milliseconds / SECOND).toFixed(1)} s`;
  const minutes = Math.round(milliseconds / MINUTE);
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

const ordinal = (number) => `${number}${{ 1: 'st', 2: 'nd', 3: 'rd' }[number % 100 > 10 && number % 100 < 14 ? 0 : number % 10] ?? 'th'}`;

const SAID = { running: 'is running', handler_stuck: 'its last run has not come back' };

/** What keeps a task from running, whatever room there is. */
function obstacles(explained) {
  // That a task did not fit into the last window keeps it out of no other.
  return explained.reasons.filter(({ reason }) => reason !== 'did_not_fit')
    .map(({ reason, missing }) => (missing.length ? `needs the ${missing.join(', the ').replaceAll('_', ' ')}` : SAID[reason] ?? reason.replaceAll('_', ' ')))
    .join('; ');
}

/** Why a task runs in the next window, or waits. */
function words(explained, place, room) {
  if (place) return `runs ${ordinal(place.index)}, ${place.after < 50 ? 'at once' : `after ${span(place.after)}`}`;
  return obstacles(explained) || `does not fit: takes ${span(explained.estimate)}, ${span(room)} left`;
}

/** Where the runs of a plan would stand, and how much room is left behind them in the emptiest lane. */
function layOut(plan, now, window) {
  const free = Array(window.lanes).fill(0);
  const runs = plan.runs.map(({ id, score, startsAt, estimate }) => {
    const start = startsAt - now;
    const lane = free.indexOf(Math.min(...free));
    free[lane] = start + estimate;
    return { id, score, lane, start, took: estimate, outcome: 'planned' };
  });
  return { runs, room: Math.max(0, window.budget * (1 - RESERVE) - Math.min(...free)) };
}

function story(report, runs, rule) {
  const ran = runs.map((run) => `${run.id} (${span(run.took)}${{ no_data: ', nothing new', expired: ', cut off' }[run.outcome] ?? ''})`);
  const rest = report.didNotFit ? `; ${report.didNotFit} did not fit` : '';
  return `${RULES[rule].name}: ${ran.length ? ran.join(', ') : 'nothing ran'}${rest}; ${span(report.endedAt - report.beganAt)} of ${span(report.budget)} used`;
}

// ---- Drawings ----

function drawWindow(place, { runs, budget, reserve, lanes }) {
  const percent = (milliseconds) => `${(milliseconds / budget) * 100}%`;
  place.style.setProperty('--lanes', lanes);
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const tick = make('span', { className: `tick ${{ 0: 'begin', 1: 'end' }[part] ?? ''}`, textContent: span(budget * part) });
    tick.style.left = `${part * 100}%`;
    return tick;
  });
  const free = make('span', { className: 'reserve' });
  free.style.width = percent(reserve);
  const blocks = runs.map((run) => {
    const block = make('span', { className: `run ${run.outcome}`, textContent: run.id, title: `${run.id}: score ${run.score.toFixed(3)}, ${span(run.took)}` });
    Object.assign(block.style, { left: percent(run.start), width: percent(run.took), top: `${run.lane * 2.1 + 0.15}rem` });
    return block;
  });
  place.replaceChildren(free, ...blocks, ...ticks);
}

const SVG = 'http://www.w3.org/2000/svg';

/** A line through points of x and y, both from 0 to 1. */
function path(points, className) {
  const line = document.createElementNS(SVG, 'path');
  line.setAttribute('class', className);
  line.setAttribute('d', points.map(([x, y], index) => `${index ? 'L' : 'M'}${(x * 1000).toFixed(1)} ${(41 - y * 38).toFixed(1)}`).join(''));
  return line;
}

// ---- A day ----

/** The day under one rule: for each task its age, and how long it was out of date, at each window's begin and end. */
function liveDay(selene, rule, state) {
  const world = new World(selene, rule, state);
  const points = new Map(state.tasks.map(({ id }) => [id, []]));
  const totals = { age: 0, outdated: 0, oldest: 0, runs: 0, news: 0, cut: 0 };
  const note = () => {
    for (const task of world.tasks.values()) {
      points.get(task.id).push({ at: world.now, age: world.now - task.lastRun, outdated: world.outdated(task, world.now) });
    }
  };
  note();
  const interval = state.every * MINUTE;
  for (let begin = interval; begin < DAY; begin += interval) {
    world.now = Math.max(world.now, begin);
    note();
    const { report } = world.execute(windowOf(state));
    totals.runs += report.runs.length;
    totals.news += report.newData;
    totals.cut += report.expired;
    note();
  }
  world.now = Math.max(world.now, DAY);
  note();
  for (const all of points.values()) {
    for (let index = 1; index < all.length; index += 1) {
      const [from, to] = [all[index - 1], all[index]];
      totals.age += ((from.age + to.age) / 2) * (to.at - from.at);
      // It grows with time from when its source changed, until the source was fetched.
      totals.outdated += from.outdated > 0 ? ((from.outdated + to.outdated) / 2) * (to.at - from.at) : to.outdated ** 2 / 2;
      totals.oldest = Math.max(totals.oldest, to.outdated);
    }
  }
  world.close();
  totals.age /= DAY * state.tasks.length;
  totals.outdated /= DAY * state.tasks.length;
  return { points, totals };
}

function windowOf(state) {
  return { budget: state.budget * SECOND, lanes: state.lanes, strictFit: state.strict };
}

// ---- The page ----

/** Shows the page; `bytes` are the engine. */
export async function start(bytes) {
  const selene = await load(bytes);
  const state = readAddress();
  const began = performance.now();
  const body = element('tasks').tBodies[0];
  let worlds;
  let ahead = state.at * SECOND;
  let lastLook = began;

  function clock() {
    const look = performance.now();
    ahead += (look - lastLook) * state.speed;
    lastLook = look;
    return Math.max(ahead, ...Object.values(worlds ?? {}).map((world) => world.now));
  }

  function renew() {
    for (const world of Object.values(worlds ?? {})) world.close();
    ahead = state.at * SECOND;
    lastLook = performance.now();
    worlds = Object.fromEntries(Object.keys(RULES).map((rule) => [rule, new World(selene, rule, state)]));
  }

  function changed() {
    writeAddress(state);
    draw();
    // The day that is shown is that of what is chosen.
    clearTimeout(day.again);
    if (day.isShown) day.again = setTimeout(day, 300, true);
  }

  function row(task) {
    const select = make('select', { ariaLabel: `priority of ${task.id}` }, ...[1, 2, 3, 4, 5].map((value) => new Option(value, value, false, value === task.priority)));
    const number = (key, label, least) => {
      const input = make('input', { type: 'number', min: least, step: 'any', value: task[key], ariaLabel: `${label} of ${task.id}` });
      input.oninput = () => {
        const value = Number(input.value);
        input.setCustomValidity(value > 0 && value <= 100_000 ? '' : 'more than 0, at most 100 000');
        if (input.checkValidity()) update(task, { [key]: value });
        else input.reportValidity();
      };
      return input;
    };
    select.onchange = () => update(task, { priority: Number(select.value) });
    const online = make('input', { type: 'checkbox', checked: task.online, ariaLabel: `${task.id} needs the network` });
    online.onchange = () => update(task, { online: online.checked });
    const name = make('input', { type: 'text', value: task.id, maxLength: 60, spellcheck: false, ariaLabel: `name of ${task.id}` });
    name.onchange = () => {
      const id = name.value.replaceAll('~', '-').trim();
      if (!id || state.tasks.some((other) => other !== task && other.id === id)) return void (name.value = task.id);
      for (const world of Object.values(worlds)) world.remove(task.id);
      task.id = id;
      tell(task);
      rows();
      changed();
    };
    const remove = make('button', { type: 'button', textContent: '×', ariaLabel: `remove ${task.id}`, title: 'remove' });
    remove.onclick = () => {
      if (state.tasks.length === 1) return;
      state.tasks.splice(state.tasks.indexOf(task), 1);
      for (const world of Object.values(worlds)) world.remove(task.id);
      rows();
      changed();
    };
    const labels = ['Task', 'Priority', 'Takes, s', 'Changes, min', 'Network', 'Average', 'Age', 'Score', 'Rank', 'In the next window', ''];
    const classes = { 4: 'check', 9: 'words' };
    const cells = [name, select, number('takes', 'seconds', 0.1), number('changes', 'minutes between changes', 0.1), online, '', '', '', '', '', remove];
    task.cells = cells.map((content, index) => make('td', { className: classes[index] ?? '', data: { label: labels[index] } }, content));
    return make('tr', {}, ...task.cells);
  }

  function rows() {
    body.replaceChildren(...state.tasks.map(row));
  }

  /** Every world hears what a task is now. */
  function tell({ id, priority, takes, changes, online }) {
    for (const world of Object.values(worlds)) world.add({ id, priority, takes, changes, online });
  }

  function update(task, changes) {
    tell(Object.assign(task, changes));
    changed();
  }

  function draw() {
    const now = clock();
    for (const world of Object.values(worlds)) world.now = now;
    const window = windowOf(state);
    const plans = Object.fromEntries(Object.entries(worlds).map(([rule, { scheduler }]) => [rule, scheduler.plan(window)]));
    const { scheduler } = worlds[state.rule];
    const places = new Map(plans[state.rule].runs.map((run, index) => [run.id, { index: index + 1, after: run.startsAt - now }]));
    const { room } = layOut(plans[state.rule], now, window);
    for (const task of state.tasks) {
      const explained = scheduler.explain(task.id);
      const [, , , , , average, age, score, rank, next] = task.cells;
      average.textContent = span(explained.estimate);
      age.textContent = span(now - (state.rule === 'freshness' ? explained.freshSince : scheduler.get(task.id).lastRun));
      const bar = make('span', { className: 'bar' });
      bar.style.width = `${Math.round(explained.score * 1000) / 10}%`;
      score.replaceChildren(make('span', { className: 'track' }, bar), explained.score.toFixed(3));
      rank.textContent = explained.rank || '–';
      next.textContent = words(explained, places.get(task.id), room);
      task.cells[0].parentElement.className = places.has(task.id) ? 'first' : '';
    }
    element('side').replaceChildren(...Object.entries(plans).map(([rule, plan]) => side(rule, plan, now, window)));
    element('meaning').textContent = RULES[state.rule].meaning;
    element('pace').textContent = { 0: 'stands', 1: 'runs as yours does' }[state.speed] ?? `runs ${state.speed} times as fast as yours`;
  }

  /** What one of the rules would run now, drawn and in words. */
  function side(rule, plan, now, window) {
    const { runs, room } = layOut(plan, now, window);
    const rest = state.tasks.filter((task) => !runs.some((run) => run.id === task.id));
    const why = rest.map((task) => `${task.id} (${words(worlds[rule].scheduler.explain(task.id), undefined, room)})`).join(', ');
    const picture = make('div', { className: 'window', ariaLabel: runs.length ? runs.map((run) => `${run.id} after ${span(run.start)}`).join(', ') : 'nothing would run' });
    picture.setAttribute('role', 'img');
    drawWindow(picture, { runs, budget: window.budget, reserve: window.budget * RESERVE, lanes: window.lanes });
    return make('div', { className: rule === state.rule ? `${rule} chosen` : rule }, make('h3', { textContent: RULES[rule].name }), picture,
      make('p', { textContent: why ? `Waiting: ${why}.` : 'Nothing waits.' }));
  }

  function execute() {
    const now = clock();
    const window = windowOf(state);
    for (const [rule, world] of Object.entries(worlds)) {
      world.now = now;
      const { report, runs } = world.execute(window);
      if (rule !== state.rule) continue;
      const told = story(report, runs, rule);
      drawWindow(element('window'), { runs, budget: report.budget, reserve: report.reserve, lanes: state.lanes });
      element('window').ariaLabel = told;
      element('log').prepend(make('li', { textContent: told }));
      while (element('log').children.length > 8) element('log').lastChild.remove();
      const rest = state.tasks.filter((task) => !runs.some((run) => run.id === task.id));
      element('waiting').replaceChildren(...rest.map((task) => {
        const explained = world.scheduler.explain(task.id);
        return make('li', {}, make('strong', { textContent: task.id }), ` waits: ${obstacles(explained) || `it takes ${span(explained.estimate)}, and ${span(explained.lastRoom)} were left`}.`);
      }));
    }
    // The window is over when its time is up, whatever of it was used: the same moment under each rule.
    ahead = now + window.budget;
    lastLook = performance.now();
    draw();
  }

  function day(atOnce) {
    day.isShown = true;
    const days = Object.keys(RULES).map((rule) => [rule, liveDay(selene, rule, state)]);
    const most = (all, what) => Math.max(...all.map((point) => point[what]));
    const pictures = state.tasks.map((task) => {
      const lines = days.map(([rule, { points }]) => [rule, points.get(task.id)]);
      const greatest = Math.max(MINUTE, ...lines.map(([, all]) => most(all, state.drawn)));
      const svg = document.createElementNS(SVG, 'svg');
      svg.setAttribute('viewBox', '0 0 1000 44');
      svg.setAttribute('preserveAspectRatio', 'none');
      svg.setAttribute('role', 'img');
      svg.setAttribute('aria-label', `${task.id}: ${lines.map(([rule, all]) => `${RULES[rule].name} at most ${span(most(all, 'age'))} old, ${span(most(all, 'outdated'))} out of date`).join('; ')}`);
      return { task, svg, greatest, lines };
    });
    const line = (...children) => make('div', { className: 'row' }, ...children);
    element('ages').replaceChildren(
      ...pictures.map(({ task, svg, greatest }) => line(make('span', { className: 'task', textContent: task.id }), svg, make('span', { className: 'dim most', textContent: span(greatest) }))),
      line(make('span', { className: 'gap' }), make('span', { className: 'axis', ariaHidden: 'true' }, ...[0, 6, 12, 18, 24].map((hour) => make('span', { textContent: `${hour} h` }))), make('span', { className: 'gap' })));
    element('summary').hidden = false;
    element('summary').tBodies[0].replaceChildren(...days.map(([rule, { totals }]) => make('tr', { className: rule },
      ...[RULES[rule].name, span(totals.age), span(totals.outdated), span(totals.oldest), totals.runs, totals.news, totals.cut].map((text, index) => make('td', { className: index ? '' : 'rule', textContent: text })))));
    const paint = (until) => {
      for (const { svg, greatest, lines } of pictures) {
        const drawn = lines.map(([rule, all]) => path(all.filter(({ at }) => at <= until).map((point) => [point.at / DAY, point[state.drawn] / greatest]), rule === state.rule ? `${rule} chosen` : rule));
        // The chosen one on top.
        svg.replaceChildren(...drawn.filter((one) => !one.classList.contains('chosen')), ...drawn.filter((one) => one.classList.contains('chosen')));
      }
    };
    cancelAnimationFrame(day.frame);
    element('hour').textContent = '';
    if (atOnce || matchMedia('(prefers-reduced-motion: reduce)').matches) {
      paint(DAY);
      return;
    }
    const first = performance.now();
    const step = () => {
      const until = ((performance.now() - first) / MINUTE) * DAY;
      const minutes = Math.floor(until / MINUTE);
      paint(until);
      element('hour').textContent = until < DAY ? `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}` : '';
      if (until < DAY) day.frame = requestAnimationFrame(step);
    };
    step();
  }

  // What was chosen, and what is chosen now.
  for (const key of ['budget', 'lanes', 'every']) {
    const input = element(key);
    input.value = state[key];
    input.onchange = () => {
      if (!input.checkValidity() || !input.value) return void input.reportValidity();
      state[key] = Number(input.value);
      changed();
    };
  }
  element('strict').checked = state.strict;
  element('strict').onchange = () => { state.strict = element('strict').checked; changed(); };
  element('network').checked = state.network;
  element('network').onchange = () => {
    state.network = element('network').checked;
    for (const world of Object.values(worlds)) world.connect(state.network);
    changed();
  };
  element('drawn').value = state.drawn;
  element('drawn').onchange = () => { state.drawn = element('drawn').value; changed(); };
  element('again').onclick = () => {
    renew();
    element('log').replaceChildren();
    element('waiting').replaceChildren();
    element('window').replaceChildren(make('span', { className: 'empty', textContent: 'Nothing has run yet: press Execute.' }));
    element('window').ariaLabel = 'No window has run yet.';
    draw();
  };
  if (![...element('speed').options].some((option) => Number(option.value) === state.speed)) element('speed').add(new Option(`${state.speed} times`, state.speed));
  element('speed').value = state.speed;
  element('speed').onchange = () => { clock(); state.speed = Number(element('speed').value); changed(); };
  document.body.dataset.rule = state.rule;
  for (const radio of element('rules').elements) {
    radio.checked = radio.value === state.rule;
    radio.onchange = () => { state.rule = radio.value; document.body.dataset.rule = state.rule; changed(); };
  }
  element('add').onclick = () => {
    if (state.tasks.length >= 40) return;
    let number = state.tasks.length + 1;
    while (state.tasks.some((task) => task.id === `task ${number}`)) number += 1;
    const task = { id: `task ${number}`, priority: 3, takes: 3, changes: 60, online: false };
    state.tasks.push(task);
    tell(task);
    rows();
    changed();
  };
  element('form').onsubmit = (submitted) => {
    submitted.preventDefault();
    execute();
    element('last').scrollIntoView({ block: 'nearest' });
  };
  element('day').onclick = () => day(false);
  element('dayatonce').onclick = () => day(true);

  renew();
  rows();
  element('link').href = location.href;
  draw();
  for (let number = 0; number < state.windows; number += 1) execute();
  if (state.day) day(true);
  // Who comes down there sees a day, and can play it.
  else new IntersectionObserver((seen, observer) => {
    if (!seen.some((one) => one.isIntersecting)) return;
    observer.disconnect();
    if (!day.isShown) day(true);
  }).observe(element('days'));
  element('execute').disabled = false;
  element('foot').textContent = `Selene ${selene.version}, compiled to WebAssembly: ${Math.round(bytes.byteLength / 1024)} KiB, started in ${Math.round(performance.now() - began)} ms. The address holds what you chose.`;
  if (state.speed) setInterval(draw, 500);
  document.body.dataset.ready = 'yes';
}
