"use strict";
const CHARTS = JSON.parse(document.getElementById("data").textContent);
const OPTIONS = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] };
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const entries = (element) => all(".legend button", element.closest(".plot"));
const isShown = (button) => button.getAttribute("aria-pressed") === "true";

function draw(element) {
  const { views, axis, scales } = CHARTS[element.dataset.panel][Number(element.dataset.chart)];
  const { view, scale } = element.closest("section").dataset;
  const { data, layout } = views[view] ?? Object.values(views)[0];
  const there = new Set(data.map((trace) => trace.legendgroup));
  const off = new Set(entries(element).filter((b) => !isShown(b)).map((b) => b.dataset.group));
  for (const button of entries(element)) button.classList.toggle("absent", !there.has(button.dataset.group));
  const traces = data.map((trace) => ({ ...trace, visible: off.has(trace.legendgroup) ? "legendonly" : true }));
  Plotly.react(element, traces, { ...layout, [axis]: { ...layout[axis], ...scales[scale] } }, OPTIONS);
  element.dataset.drawn = "yes";
}

const seen = new IntersectionObserver((found) => {
  for (const entry of found) if (entry.isIntersecting) { seen.unobserve(entry.target); draw(entry.target); }
}, { rootMargin: "400px" });
all(".chart").forEach((element) => seen.observe(element));
window.addEventListener("beforeprint", () => all(".chart").forEach(draw));

// A click on a legend entry toggles its curves; a double click shows only these, or all again.
function press(button, alone) {
  const chart = button.closest(".plot").querySelector(".chart");
  const others = entries(chart).filter((b) => b !== button);
  const only = alone && others.some(isShown);
  if (alone) others.forEach((b) => b.setAttribute("aria-pressed", String(!only)));
  button.setAttribute("aria-pressed", String(alone || !isShown(button)));
  draw(chart);
}
all(".legend button").forEach((button) => {
  button.addEventListener("click", () => press(button, false));
  button.addEventListener("dblclick", () => press(button, true));
});

all(".controls button").forEach((button) => button.addEventListener("click", () => {
  const section = button.closest("section");
  section.dataset[button.dataset.sets] = button.dataset.value;
  for (const b of all(`button[data-sets="${button.dataset.sets}"]`, section)) b.setAttribute("aria-pressed", String(b === button));
  all(".chart[data-drawn]", section).forEach(draw);
}));

// The target of a link stops below the navigation bar, whatever the height of the bar.
const bar = document.querySelector("nav");
if (bar) new ResizeObserver(() => document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`)).observe(bar);
