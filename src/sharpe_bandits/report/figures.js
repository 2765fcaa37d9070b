"use strict";
(() => {
  // A click on a figure opens it enlarged; scrolling moves it, Escape or Close ends it.
  const dialog = document.querySelector("dialog");
  for (const figure of document.querySelectorAll("figure.picture")) {
    figure.addEventListener("click", () => {
      dialog.lastElementChild.replaceChildren(figure.querySelector("svg").cloneNode(true));
      dialog.showModal();
    });
  }
  // The target of a link may be in parts that are folded.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
  // The target of a link stops below the navigation bar, whatever the height of the bar.
  const bar = document.querySelector("nav");
  if (bar) new ResizeObserver(() => document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`)).observe(bar);
})();
