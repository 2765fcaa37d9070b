/* Small charts in SVG. Everything shown is text or numbers set by the DOM; nothing is parsed as markup. */
"use strict";

const Charts = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const H = 220, LEFT = 52, RIGHT = 10, TOP = 8, BOTTOM = 24;
  let W = 560; // width on the page of the figure being drawn

  function el(name, attributes = {}, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function number(x) {
    if (x === null || x === undefined || !Number.isFinite(x)) return "–";
    const size = Math.abs(x);
    if (size >= 1e6 || (size > 0 && size < 1e-3)) return x.toExponential(2);
    if (size >= 1000) return Math.round(x).toLocaleString("en");
    return String(Number(x.toPrecision(4)));
  }

  function ticks(low, high, wanted) {
    const span = high - low || 1, raw = span / wanted, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) || raw;
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(k * step);
    return found;
  }

  function when(seconds, width) {
    const day = { day: "numeric", month: "short" }, hour = { hour: "2-digit", minute: "2-digit" };
    const options = width >= 86400 ? day : width >= 1200 ? { ...day, ...hour } : { ...hour, second: "2-digit" };
    return new Date(seconds * 1000).toLocaleString(undefined, options);
  }

  /* Inserted above the readout line, which stays in place when a figure is redrawn. */
  const place = (figure, node) => figure.insertBefore(node, figure.querySelector(".under"));
  /* Time of the current readout, by figure. */
  const readings = new WeakMap();

  function frame(figure, label, height = H) {
    const before = figure.querySelector("svg.chart"), focused = before !== null && before === document.activeElement;
    figure.querySelectorAll("svg.chart, .legend").forEach((old) => old.remove());
    W = Math.max(280, Math.min(1120, figure.clientWidth - 26));
    const svg = el("svg", { viewBox: `0 0 ${W} ${height}`, class: "chart", role: "img", "aria-label": label, tabindex: "0" });
    place(figure, svg);
    if (focused) svg.focus({ preventScroll: true });
    return svg;
  }

  function yAxis(svg, low, high, format) {
    const y = (v) => H - BOTTOM - ((v - low) / (high - low || 1)) * (H - TOP - BOTTOM);
    for (const t of ticks(low, high, 4)) {
      svg.append(el("path", { d: `M${LEFT} ${y(t)}H${W - RIGHT}`, class: t === 0 ? "zero" : "grid" }));
      svg.append(el("text", { x: LEFT - 6, y: y(t) + 4, "text-anchor": "end" }, format(t)));
    }
    return y;
  }

  function timeAxis(svg, series) {
    const count = series.count, wide = W, x = (i) => LEFT + (i / count) * (wide - LEFT - RIGHT);
    const first = series.start, last = series.start + series.width * count;
    for (const part of [0, 0.5, 1]) {
      const anchor = part === 0 ? "start" : part === 1 ? "end" : "middle";
      svg.append(el("text", { x: LEFT + part * (W - LEFT - RIGHT), y: H - 6, "text-anchor": anchor }, when(first + part * (last - first), (last - first) / 8)));
    }
    return x;
  }

  function legend(figure, names) {
    const list = document.createElement("ul");
    list.className = "legend";
    names.forEach((name, k) => {
      const item = document.createElement("li"), mark = el("svg", { viewBox: "0 0 14 10", "aria-hidden": "true", class: `s${Math.min(k, 8)}` });
      mark.append(el("rect", { width: 14, height: 10, rx: 2, class: "fill" }));
      item.append(mark, document.createTextNode(name));
      list.append(item);
    });
    place(figure, list);
  }

  /* A rule that follows the pointer or the arrow keys, and a line of text with the values there. */
  function reader(figure, svg, series, x, describe) {
    const wide = W, under = figure.querySelector(".under") || document.createElement("p");
    under.className = "under";
    if (!under.isConnected) figure.append(under);
    const rule = el("path", { class: "rule", visibility: "hidden" });
    svg.append(rule);
    let read = series.count - 1;
    const show = (i) => {
      read = Math.max(0, Math.min(series.count - 1, i));
      readings.set(figure, series.start + series.width * (read + 0.5));
      rule.setAttribute("d", `M${x(read + 0.5)} ${TOP}V${H - BOTTOM}`);
      rule.setAttribute("visibility", "visible");
      const text = `${when(series.start + series.width * read, series.width)}: ${describe(read)}`;
      if (under.textContent !== text) under.textContent = text;
    };
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      show(Math.floor((((event.clientX - box.left) / box.width) * wide - LEFT) / (wide - LEFT - RIGHT) * series.count));
    });
    svg.addEventListener("pointerleave", () => { rule.setAttribute("visibility", "hidden"); under.textContent = ""; readings.delete(figure); });
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) { event.preventDefault(); under.setAttribute("aria-live", "polite"); show(read + step); }
    });
    if (readings.has(figure)) show(Math.floor((readings.get(figure) - series.start) / series.width));
  }

  /* `bands`: lower and upper ends of the intervals of each column; null if there is none. Early intervals may
     be very wide: what is wider than nine in ten is cut off at the edge of the figure. */
  function lines(figure, label, series, columns, names, format = number, bands = []) {
    const svg = frame(figure, label), there = (v) => v !== null;
    const all = columns.flat().filter(there), sorted = (side) => bands.flatMap((ends) => ends[side]).filter(there).sort((a, b) => a - b), lows = sorted(0), highs = sorted(1);
    if (!all.length) { svg.append(el("text", { x: W / 2, y: H / 2, "text-anchor": "middle" }, "nothing yet")); return; }
    let low = Math.min(...all), high = Math.max(...all);
    if (lows.length) [low, high] = [Math.min(low, lows[Math.floor(0.1 * lows.length)]), Math.max(high, highs[Math.ceil(0.9 * highs.length) - 1])];
    if (low > 0 && low < 0.6 * high) low = 0;
    if (low === high && low > 0) low = 0;
    if (low === 0 && high === 0) high = 1;
    if (low === high) { low -= Math.abs(low) * 0.1 || 1; high += Math.abs(high) * 0.1 || 1; }
    const y = yAxis(svg, low, high, format), x = timeAxis(svg, series);
    const inside = (v) => y(Math.max(low, Math.min(high, v))).toFixed(1);
    bands.forEach(([from, to], k) => {
      let path = "";
      for (let i = 0; i < series.count; i++) {
        if (!there(from[i]) || !there(columns[k][i])) continue;
        let j = i;
        while (j + 1 < series.count && there(from[j + 1]) && there(columns[k][j + 1])) j++;
        const at = (m) => x(m + 0.5).toFixed(1), run = [...Array(j - i + 1).keys()].map((m) => i + m);
        if (i === j) path += `M${x(i + 0.35).toFixed(1)} ${inside(from[i])}V${inside(to[i])}H${x(i + 0.65).toFixed(1)}V${inside(from[i])}Z`;
        else path += `M${run.map((m) => `${at(m)} ${inside(from[m])}`).join("L")}L${run.reverse().map((m) => `${at(m)} ${inside(to[m])}`).join("L")}Z`;
        i = j;
      }
      svg.append(el("path", { d: path, class: `band ${bands.length > 4 ? "many " : ""}fill s${Math.min(k, 8)}` }));
    });
    columns.forEach((column, k) => {
      let path = "", open = false;
      column.forEach((v, i) => {
        if (v === null) { open = false; return; }
        const alone = !open && (i + 1 >= column.length || column[i + 1] === null);
        path += `${open ? "L" : "M"}${(x(i + 0.5) - (alone ? 2 : 0)).toFixed(1)} ${y(v).toFixed(1)}${alone ? "h4" : ""}`;
        open = true;
      });
      svg.append(el("path", { d: path, class: `line stroke s${Math.min(k, 8)}` }));
    });
    if (names.length > 1) legend(figure, names);
    const doubt = (k, i) => (bands[k] && there(columns[k][i]) && there(bands[k][0][i]) ? ` (${format(bands[k][0][i])} to ${format(bands[k][1][i])})` : "");
    reader(figure, svg, series, x, (i) => columns.map((c, k) => `${names[k]} ${format(c[i])}${doubt(k, i)}`).join(", "));
  }

  function bars(figure, label, series, columns, names) {
    const svg = frame(figure, label);
    const total = columns[0].map((_, i) => columns.reduce((sum, c) => sum + c[i], 0));
    const y = yAxis(svg, 0, Math.max(1, ...total), (count) => (Number.isInteger(count) ? number(count) : "")), x = timeAxis(svg, series);
    const base = total.map(() => 0);
    columns.forEach((column, k) => {
      let path = "";
      column.forEach((v, i) => {
        if (!v) return;
        path += `M${x(i).toFixed(1)} ${y(base[i]).toFixed(1)}V${y(base[i] + v).toFixed(1)}H${x(i + 1).toFixed(1)}V${y(base[i]).toFixed(1)}Z`;
        base[i] += v;
      });
      svg.append(el("path", { d: path, class: `fill s${Math.min(k, 8)}` }));
    });
    if (names.length > 1) legend(figure, names);
    reader(figure, svg, series, x, (i) => columns.map((c, k) => (c[i] ? `${names[k]} ${number(c[i])}` : "")).filter(Boolean).join(", ") || "nothing");
  }

  function intervals(figure, label, rows) {
    W = figure.clientWidth - 26;
    const row = 22, height = TOP + rows.length * row + BOTTOM, longest = Math.min(Math.max(8, ...rows.map((r) => r.name.length)), W < 480 ? 16 : 48), left = 16 + 8 * longest, value = 64;
    const svg = frame(figure, label, height);
    const ends = rows.flatMap((r) => (r.interval ? r.interval : r.estimate === null ? [] : [r.estimate]));
    const low = Math.min(0, ...ends), high = Math.max(0, ...ends), span = high - low || 1;
    const x = (v) => left + ((v - low) / span) * (W - left - RIGHT - value);
    for (const t of ticks(low, high, 5)) {
      svg.append(el("path", { d: `M${x(t)} ${TOP}V${height - BOTTOM}`, class: t === 0 ? "zero" : "grid" }));
      svg.append(el("text", { x: x(t), y: height - 6, "text-anchor": "middle" }, number(t)));
    }
    rows.forEach((r, k) => {
      const y = TOP + row * (k + 0.5), g = el("g", { class: r.best ? "s0" : "s8" });
      const name = r.name.length > longest ? `${r.name.slice(0, longest - 1)}…` : r.name;
      const label = el("text", { x: left - 8, y: y + 4, "text-anchor": "end", class: "name" }, name);
      label.append(el("title", {}, r.name));
      g.append(label);
      if (r.interval) g.append(el("path", { d: `M${x(r.interval[0])} ${y}H${x(r.interval[1])}`, class: "stroke", "stroke-width": 3, "stroke-linecap": "round" }));
      if (r.interval) {
        g.append(el("circle", { cx: x(r.estimate), cy: y, r: 5, class: "fill" }));
        g.append(el("text", { x: W - 4, y: y + 4, "text-anchor": "end" }, r.text));
      } else g.append(el("text", { x: left + 8, y: y + 4 }, "too few rewards for an interval"));
      svg.append(g);
    });
  }

  function spark(cell, values) {
    const svg = el("svg", { viewBox: "0 0 120 24", role: "img", "aria-label": `${number(values.reduce((a, b) => a + b, 0))} decisions over time`, class: "s0" });
    const group = Math.max(1, Math.ceil(values.length / 40)), columns = [];
    for (let i = 0; i < values.length; i += group) columns.push(values.slice(i, i + group).reduce((a, b) => a + b, 0));
    const top = Math.max(1, ...columns), wide = 120 / Math.max(columns.length, 12);
    columns.forEach((v, i) => { if (v) svg.append(el("rect", { x: i * wide, y: 24 - (22 * v) / top, width: Math.max(wide - 0.6, 0.8), height: (22 * v) / top, class: "fill" })); });
    cell.replaceChildren(svg);
  }

  return { number, lines, bars, intervals, spark, when };
})();
