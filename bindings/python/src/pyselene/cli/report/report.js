"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const hint = document.getElementById("hint");
  const days = document.getElementById("days");
  const charts = [...document.querySelectorAll(".chart")];
  const steps = [1, 5, 15, 60, 300, 900, 3600, 10800, 21600, 43200, 86400, 172800, 604800, 2419200];
  const clean = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const runs = data.tasks.map(() => []);
  data.runs.forEach((run) => runs[run[0]].push(run));
  let from = 0, to = data.end;

  /* As the page shows them: three digits, or two units. */
  const length = (s) => {
    if (s < 60) return s === 0 ? "0" : s < 1 ? `${+(s * 1000).toPrecision(3)} ms` : `${+s.toPrecision(3)} s`;
    const [size, name, small, other] = [[86400, "d", 3600, "h"], [3600, "h", 60, "min"], [60, "min", 1, "s"]].find(([least]) => s >= least);
    const rest = Math.floor((s % size) / small);
    return `${Math.floor(s / size)} ${name}${rest ? ` ${rest} ${other}` : ""}`;
  };
  const date = (s) => new Date((data.begin + s) * 1000);
  const say = (s, options) => date(s).toLocaleString("en-GB", { timeZone: "UTC", ...options }).replace(",", "");
  const instant = (s) => say(s, { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const before = (list, key, s) => {
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (key(list[middle]) <= s) low = middle + 1; else high = middle;
    }
    return low - 1;
  };

  /* ---- what the charts show ---- */

  function show(a, b) {
    from = Math.max(0, a); to = Math.min(data.end, b);
    const room = charts.length ? charts[0].querySelector(".axis").clientWidth / 88 : 10;
    const step = steps.find((size) => (to - from) / size < Math.min(10, room)) || steps[steps.length - 1];
    const marks = [], isDay = (at) => (data.begin + at) % 86400 === 0, day = { weekday: "short", day: "numeric", month: "short" };
    for (let at = Math.ceil((data.begin + from) / step) * step - data.begin; at < to; at += step) marks.push(at);
    for (const chart of charts) {
      const svg = chart.querySelector("svg.plot");
      svg.setAttribute("viewBox", `${from} 0 ${to - from} ${svg.viewBox.baseVal.height}`);
      const grid = svg.querySelector(".grid");
      grid.setAttribute("d", marks.map((at) => `M${at} 0V${grid.dataset.height}`).join(""));
      const axis = chart.querySelector(".axis");
      /* Within a day the axis has no date. */
      chart.querySelector(".corner").textContent = marks.some(isDay) ? "" : say(from, day);
      axis.innerHTML = marks.map((at) => {
        const text = isDay(at) ? say(at, day)
          : say(at, { hour: "2-digit", minute: "2-digit", ...(step < 60 && { second: "2-digit" }) });
        return `<span class="${isDay(at) ? "day" : "hour"}" style="left:${100 * (at - from) / (to - from)}%">${text}</span>`;
      }).join("");
      const last = axis.lastElementChild;
      if (last && last.offsetLeft + last.offsetWidth > axis.clientWidth) last.textContent = "";
    }
    for (const button of days.querySelectorAll("button")) {
      const all = "all" in button.dataset;
      button.classList.toggle("on", from === (all ? 0 : +button.dataset.from) && to === (all ? data.end : +button.dataset.to));
    }
    days.hidden = days.childElementCount < 3 && from === 0 && to === data.end;
  }
  days.addEventListener("click", ({ target }) => {
    if (target.tagName !== "BUTTON") return;
    if ("all" in target.dataset) show(0, data.end);
    else show(+target.dataset.from, +target.dataset.to);
  });
  addEventListener("keydown", (event) => { if (event.key === "Escape") show(0, data.end); });

  /* ---- what is under the pointer ---- */

  const fate = (window, task) => data.fates[window[5][task]];
  const head = (name, kind) => `<b>${kind ? `<i class="${kind}"></i>` : ""}${clean(name)}</b>`;

  function tellRun(run) {
    const kind = data.outcomes[run[3]];
    return `${head(data.tasks[run[0]], kind.replace(" ", "_"))}${kind}${run[8] ? `, ${run[8].replace("_", " ")}` : ""}`
      + ` after ${length(run[2])}<br><em>expected ${length(run[5])}, attempt ${run[4]}, score ${run[6]}`
      + `<br>${instant(run[1])}, window ${run[7] + 1}</em>`;
  }
  function tellLane(task, s, reach) {
    const list = runs[task];
    let best = null, distance = reach;
    for (let i = Math.max(0, before(list, (run) => run[1], s) - 1); i < list.length && list[i][1] - s < reach; i++) {
      const away = Math.max(list[i][1] - s, s - list[i][1] - list[i][2], 0);
      if (away <= distance) { best = list[i]; distance = away; }
    }
    if (best) return tellRun(best);
    const index = before(data.windows, (window) => window[0], s), window = data.windows[index];
    if (!window || !window[5]) return `${head(data.tasks[task])}<em>${instant(s)}</em>`;
    const [kind, text] = fate(window, task);
    return `${head(data.tasks[task], kind)}${text}<br><em>window ${index + 1}, ${instant(window[0])}</em>`;
  }
  const tell = {
    governor(s, lane, reach) {
      const names = data.kinds, kind = names[lane];
      if (lane >= names.length) {
        const track = data.tracks[lane - names.length];
        if (!track) return "";
        const index = Math.max(0, before(track[1], (point) => point[0], s)), [at, text] = track[1][index];
        const until = index + 1 < track[1].length ? track[1][index + 1][0] : data.end;
        return `${head(track[0])}${clean(text)}<br><em>for ${length(until - at)}, since ${instant(at)}</em>`;
      }
      const index = data.windows.findIndex((w) => w[6] === kind && w[0] - reach <= s && s <= w[0] + Math.max(w[1], reach));
      if (index >= 0) {
        const window = data.windows[index], count = data.runs.filter((run) => run[7] === index).length;
        return `${head(`${kind} window ${index + 1}`, "granted")}granted, at most ${length(window[2])}`
          + `<br>${count} ${count === 1 ? "run" : "runs"} in ${length(window[1])}<br><em>${instant(window[0])}</em>`;
      }
      const refusal = data.refusals.find((r) => r[0] === kind && r[1] <= s && s < r[2]);
      if (!refusal) return `${head(`${kind} windows`)}nothing asked for one<br><em>${instant(s)}</em>`;
      return `${head(`refused by the factor ${refusal[4]}`, `no ${refusal[3]}`)}${clean(refusal[5])}`
        + `<br><em>for ${length(refusal[2] - refusal[1])}, from ${instant(refusal[1])}</em>`;
    },
    runs(s, lane, reach) {
      const names = [...new Set(data.away.map((away) => away[0]))].sort();
      if (lane >= names.length) return lane - names.length < data.tasks.length ? tellLane(lane - names.length, s, reach) : "";
      const away = data.away.find((a) => a[0] === names[lane] && a[1] <= s && s < a[2]);
      return head(`no ${names[lane]}`) + (away ? `from ${instant(away[1])}<br>for ${length(away[2] - away[1])}` : "not now");
    },
    ages(s, lane) {
      if (lane >= data.tasks.length) return "";
      const wait = data.waits[lane].find(([begin, end]) => begin <= s && s <= end);
      return `${head(data.tasks[lane])}${wait ? `${length(s - wait[0])} old` : "not waiting"}<br><em>${instant(s)}</em>`;
    },
    course(s) {
      const share = (list) => list[Math.min(list.length - 1, Math.floor(s / data.end * list.length))];
      return head("outdated") + data.courses.filter(([, list]) => list.length)
        .map(([rule, list]) => `<i class="rule ${rule}"></i>${rule} ${+(100 * share(list)).toPrecision(3)} %`).join("<br>")
        + `<br><em>${instant(s)}</em>`;
    },
    use(s) {
      const index = before(data.windows, (window) => window[0], s), window = data.windows[index];
      if (!window) return "";
      return `${head(`window ${index + 1}`)}${length(window[1])} of ${length(window[2])} used (${Math.round(100 * window[1] / window[2])} %)`
        + `<br>${window[3]} eligible, ${window[4]} did not fit<br><em>${instant(window[0])}</em>`;
    },
    fates(s) {
      const index = before(data.windows, (window) => window[0], s), window = data.windows[index];
      if (!window) return "";
      const lines = Object.entries(data.fates).map(([letter, [kind, text]]) => [kind, text, window[5].split(letter).length - 1]);
      return head(`window ${index + 1}`) + lines.filter((line) => line[2])
        .map(([kind, text, count]) => `<i class="${kind}"></i>${count} ${text}`).join("<br>") + `<br><em>${instant(window[0])}</em>`;
    },
  };
  function place(event) {
    hint.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = hint;
    const x = event.clientX + 16 + width > innerWidth ? event.clientX - width - 16 : event.clientX + 16;
    const y = Math.min(event.clientY + 16, innerHeight - height - 8);
    hint.style.left = `${Math.max(8, x)}px`;
    hint.style.top = `${Math.max(8, y)}px`;
  }
  for (const chart of charts) {
    const field = chart.querySelector(".field"), names = [...chart.querySelectorAll(".names div")];
    const line = field.appendChild(document.createElement("div"));
    line.className = "at"; line.hidden = true;
    let start = null, box = null;
    const where = (event) => {
      const area = field.getBoundingClientRect();
      const x = Math.min(Math.max(event.clientX - area.left, 0), area.width);
      return { x, s: from + x / area.width * (to - from), lane: Math.floor((event.clientY - area.top) / (+chart.dataset.lane || 1)), reach: 4 / area.width * (to - from) };
    };
    const leave = () => { hint.hidden = line.hidden = true; names.forEach((name) => name.classList.remove("on")); };
    field.addEventListener("pointermove", (event) => {
      const { x, s, lane, reach } = where(event);
      if (start) {
        box.style.left = `${Math.min(x, start.x)}px`; box.style.width = `${Math.abs(x - start.x)}px`;
      }
      line.hidden = false; line.style.left = `${x}px`;
      names.forEach((name, index) => name.classList.toggle("on", index === lane));
      hint.innerHTML = tell[chart.dataset.chart](s, lane, reach);
      if (hint.innerHTML) place(event); else hint.hidden = true;
    });
    field.addEventListener("pointerleave", leave);
    field.addEventListener("pointerdown", (event) => {
      if (event.button || event.pointerType === "touch") return;
      start = where(event);
      field.setPointerCapture(event.pointerId);
      box = field.appendChild(document.createElement("div"));
      box.className = "zoom";
      box.style.width = "0";
    });
    const drop = (event) => {
      if (!start) return;
      const end = where(event), first = start;
      start = null; box.remove();
      if (event.type !== "pointerup" || Math.abs(end.x - first.x) <= 5 || Math.abs(end.s - first.s) < 10) return;
      show(Math.min(first.s, end.s), Math.max(first.s, end.s));
      leave();
    };
    field.addEventListener("pointerup", drop);
    field.addEventListener("pointercancel", drop);
    field.addEventListener("dblclick", () => show(0, data.end));
  }

  /* ---- tables ---- */

  for (const table of document.querySelectorAll("table")) {
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
    heads.forEach((cell, column) => cell.addEventListener("click", () => {
      if (cell.classList.contains("graph")) return;
      const down = cell.getAttribute("aria-sort") ? cell.getAttribute("aria-sort") === "ascending" : cell.classList.contains("num");
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[column].dataset.sort;
      const order = (a, b) => (isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b) * (down ? -1 : 1);
      body.append(...[...body.rows].sort((a, b) => order(key(a), key(b))));
    }));
  }
  show(from, to);
  addEventListener("resize", () => show(from, to));
})();
