"use strict";
const DATA = JSON.parse(document.getElementById("data").textContent);
const WASH = (hex) => hex + "2b";

function curveTraces(series) {
  const traces = [];
  for (const s of series) {
    traces.push({ x: s.t.concat([...s.t].reverse()), y: s.high.concat([...s.low].reverse()), fill: "toself", fillcolor: WASH(s.colour),
      line: { width: 0 }, hoverinfo: "skip", showlegend: false, legendgroup: s.name, type: "scatter", mode: "lines", visible: !s.hidden });
    traces.push({ x: s.t, y: s.mean, name: s.name, legendgroup: s.name, line: { color: s.colour, dash: s.dash, width: 2 }, mode: "lines",
      customdata: s.low.map((low, k) => [low, s.high[k]]),
      hovertemplate: "%{y:.4g} [%{customdata[0]:.4g}, %{customdata[1]:.4g}]<extra>" + s.name + "</extra>", type: "scatter",
      visible: s.hidden ? "legendonly" : true });
  }
  return traces;
}

function pointTraces(series) {
  return series.map((s) => ({ x: s.cases, y: s.mean, name: s.name, mode: s.mode, type: "scatter",
    line: { color: s.colour, dash: s.dash, width: 2 }, marker: { symbol: s.symbol, size: 8 },
    error_y: { type: "data", symmetric: false, array: s.high.map((h, k) => h - s.mean[k]), arrayminus: s.mean.map((m, k) => m - s.low[k]),
      color: s.colour, thickness: 1.4, width: 4 },
    hovertemplate: "%{y:.4f}<extra>" + s.name + "</extra>" }));
}

function rateTraces(series) {
  return series.map((s) => ({ y: s.cases, x: s.mean, name: s.name.replace("_", "-"), mode: "markers", type: "scatter",
    marker: { symbol: s.symbol, size: 8, color: s.colour },
    error_x: { type: "data", symmetric: false, array: s.high.map((h, k) => h - s.mean[k]), arrayminus: s.mean.map((m, k) => m - s.low[k]),
      color: s.colour, thickness: 1.4, width: 4 },
    hovertemplate: "%{x:.4f}<extra>" + s.name + "</extra>" }));
}

function drawRates(element, chart) {
  const cases = chart.series[0].cases.length;
  Plotly.react(element, rateTraces(chart.series), { margin: { l: 290, r: 14, t: 16, b: 130 }, height: 160 + 26 * cases,
    font: { family: "system-ui, sans-serif", size: 13 }, legend: { orientation: "h", x: -0.4, y: -60 / (26 * cases), yanchor: "top" },
    xaxis: { title: { text: chart.unit, standoff: 4 }, rangemode: "tozero", gridcolor: "#e6e9ee" },
    yaxis: { autorange: "reversed", gridcolor: "#e6e9ee" },
    shapes: [{ type: "line", x0: chart.promise, x1: chart.promise, yref: "paper", y0: 0, y1: 1, line: { color: "#444", width: 1.5 } }],
    annotations: [{ x: chart.promise, yref: "paper", y: 1, yanchor: "bottom", showarrow: false, text: "promised at most", font: { size: 12 } }] },
    { responsive: true, displaylogo: false });
  element.dataset.drawn = "yes";
}

function budgetTraces(chart) {
  const traces = [];
  for (const s of chart.series) {
    const line = s.line;
    if (line) {
      traces.push({ x: line.t.concat([...line.t].reverse()), y: line.high.concat([...line.low].reverse()), fill: "toself", fillcolor: WASH(s.colour),
        line: { width: 0 }, hoverinfo: "skip", showlegend: false, legendgroup: s.name, type: "scatter", mode: "lines" });
      traces.push({ x: line.t, y: line.mean, line: { color: s.colour, width: 2 }, hoverinfo: "skip", showlegend: false, legendgroup: s.name,
        type: "scatter", mode: "lines" });
    }
    if (s.never.length) traces.push({ x: s.never.map((n) => n[0]), y: s.never.map((n) => n[1]), mode: "markers", type: "scatter", name: s.name,
      showlegend: !s.budget.length, legendgroup: s.name, marker: { symbol: "triangle-down-open", size: 8, color: s.colour },
      hovertemplate: "%{x:,} rounds: no run was wrong, error below %{y:.3g}<extra>" + s.name + "</extra>" });
    if (s.need) traces.push({ x: [s.need[1], s.need[2]], y: [chart.target, chart.target], mode: "lines", type: "scatter", showlegend: false,
      legendgroup: s.name, line: { color: s.colour + "99", width: 8 },
      hovertemplate: `needs ${Math.ceil(s.need[0]).toLocaleString("en")} rounds [${s.need.slice(1).map((n) => Math.ceil(n).toLocaleString("en")).join(", ")}]<extra>${s.name}</extra>` });
    traces.push({ x: s.budget, y: s.mean, name: s.name, legendgroup: s.name, mode: line ? "markers" : "lines+markers", type: "scatter",
      line: { color: s.colour, width: 1 },
      marker: { symbol: s.symbol, size: s.fresh.map((f) => (f ? 12 : 7)), color: s.fresh.map((f) => (f ? "#fff" : s.colour)),
        line: { color: s.colour, width: s.fresh.map((f) => (f ? 2 : 0)) }, opacity: 1 },
      error_y: { type: "data", symmetric: false, array: s.high.map((h, k) => h - s.mean[k]), arrayminus: s.mean.map((m, k) => m - s.low[k]),
        color: s.colour, thickness: 1.2, width: 3 },
      customdata: s.budget.map((n, k) => [s.low[k], s.high[k], s.runs[k], n / chart.periods]),
      hovertemplate: "%{x:,} rounds (%{customdata[3]:,.3g} years): %{y:.3g} [%{customdata[0]:.3g}, %{customdata[1]:.3g}], %{customdata[2]:,} runs<extra>" + s.name + "</extra>" });
  }
  return traces;
}

function drawBudget(element, chart) {
  const target = chart.target === null ? [] : [chart.target];
  Plotly.react(element, budgetTraces(chart), { margin: { l: 70, r: 20, t: 16, b: 96 }, height: 480, font: { family: "system-ui, sans-serif", size: 13 },
    legend: { orientation: "h", x: 0, y: -0.15, yanchor: "top" }, hovermode: "closest",
    xaxis: { title: { text: "budget, rounds", standoff: 4 }, type: "log", dtick: 1, exponentformat: "none", separatethousands: true, gridcolor: "#e6e9ee" },
    yaxis: { title: { text: "probability of error" }, type: "log", dtick: "D2", tickformat: ".3~g", range: [Math.log10(chart.floor), Math.log10(1.1)], gridcolor: "#e6e9ee" },
    shapes: target.map((y) => ({ type: "line", xref: "paper", x0: 0, x1: 1, y0: y, y1: y, layer: "below", line: { color: "#444", width: 1.5, dash: "dash" } })),
    annotations: target.map((y) => ({ xref: "paper", x: 0, y: Math.log10(y), xanchor: "left", yanchor: "bottom", showarrow: false, text: `target ${y}`, font: { size: 12 } })) },
    { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] });
  element.dataset.drawn = "yes";
}

function wealthTraces(chart) {
  const traces = [];
  for (const s of chart.series) {
    if (s.low) traces.push({ x: chart.t.concat([...chart.t].reverse()), y: s.high.concat([...s.low].reverse()), fill: "toself", fillcolor: WASH(s.colour),
      line: { width: 0 }, hoverinfo: "skip", showlegend: false, legendgroup: s.name, type: "scatter", mode: "lines" });
    traces.push({ x: chart.t, y: s.wealth, name: s.name, legendgroup: s.name, line: { color: s.colour, dash: s.dash, width: 1.8 }, mode: "lines",
      type: "scatter", hovertemplate: "%{y:.4g}<extra>" + s.name + "</extra>" });
  }
  return traces;
}

function drawWealth(element, chart) {
  const across = element.clientWidth < 520 ? 1 : element.clientWidth < 800 ? 2 : 3;
  const legend = 22 * Math.ceil(chart.series.length / across);
  Plotly.react(element, wealthTraces(chart), { margin: { l: 62, r: 14, t: 16, b: 58 + legend }, height: 440 + legend,
    font: { family: "system-ui, sans-serif", size: 13 }, hovermode: "x unified",
    legend: { orientation: "h", x: 0, y: -54 / 366, yanchor: "top", entrywidth: 0.98 / across, entrywidthmode: "fraction" },
    xaxis: { title: { text: chart.unit, standoff: 4 }, gridcolor: "#e6e9ee" },
    yaxis: { title: { text: "wealth, 1 at the start" }, type: element.closest("section").dataset.axis, exponentformat: "none",
      dtick: element.closest("section").dataset.axis === "log" && chart.decades > 1.5 ? 1 : undefined, gridcolor: "#e6e9ee" } },
    { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] });
  element.dataset.drawn = "yes";
}

function draw(element) {
  const chart = DATA.panels[element.dataset.panel].charts[Number(element.dataset.chart)];
  if (chart.kind === "rates") { drawRates(element, chart); return; }
  if (chart.kind === "wealth") { drawWealth(element, chart); return; }
  if (chart.kind === "budget") { drawBudget(element, chart); return; }
  const section = element.closest("section");
  const metric = section.dataset.metric;
  const overTime = chart.kind === "curves";
  const series = overTime ? chart.series[metric] : chart.series;
  const legend = 22 * Math.ceil(series.length / 2);
  const horizon = overTime ? Math.max(...series.map((s) => s.t[s.t.length - 1])) : 0;
  const span = section.dataset.axis === "log" ? [horizon >= 100 ? 1 : 0, Math.log10(horizon)] : [0, horizon];
  const layout = { margin: { l: 62, r: overTime ? 14 : 70, t: chart.label ? 38 : 16, b: (overTime ? 52 : 40) + legend }, height: 320 + legend,
    font: { family: "system-ui, sans-serif", size: 13 },
    title: chart.label ? { text: chart.label, font: { size: 14 }, x: 0.02, y: 0.97 } : undefined,
    legend: { orientation: "h", x: 0, y: overTime ? -50 / 270 : -34 / 270, yanchor: "top", entrywidth: 0.47, entrywidthmode: "fraction" }, hovermode: overTime ? "x unified" : "closest",
    xaxis: { title: { text: overTime ? "rounds t" : "", standoff: 4 }, type: overTime ? section.dataset.axis : "category",
      range: overTime ? span : undefined, dtick: overTime && section.dataset.axis === "log" ? 1 : undefined, gridcolor: "#e6e9ee" },
    yaxis: { title: { text: overTime ? metric : chart.unit }, rangemode: "tozero", gridcolor: "#e6e9ee" } };
  Plotly.react(element, overTime ? curveTraces(series) : pointTraces(series), layout,
    { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] });
  element.dataset.drawn = "yes";
}

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) { seen.unobserve(entry.target); draw(entry.target); }
}, { rootMargin: "400px" });
document.querySelectorAll(".chart").forEach((element) => seen.observe(element));
window.addEventListener("beforeprint", () => document.querySelectorAll(".chart").forEach(draw));

document.querySelectorAll(".controls button").forEach((button) => button.addEventListener("click", () => {
  const section = button.closest("section");
  section.dataset[button.dataset.sets] = button.dataset.value;
  section.querySelectorAll(`button[data-sets="${button.dataset.sets}"]`).forEach((b) => b.setAttribute("aria-pressed", String(b === button)));
  section.querySelectorAll(".chart[data-drawn]").forEach(draw);
}));
