"use strict";
(() => {
  // The first number of a cell; "never" sorts last.
  const value = (cell) => {
    const text = cell.textContent.trim().replace(/,(?=\d{3})/g, "").replace(/−/g, "-");
    const found = text.match(/[-+]?\d+(\.\d+)?/);
    return text === "never" ? Infinity : text === "enough" ? -1 : found ? Number(found[0]) : -Infinity;
  };
  for (const part of document.querySelectorAll(".sortable")) {
    const body = part.querySelector("tbody"), heads = [...part.querySelectorAll("thead th")];
    heads.forEach((head, place) => head.addEventListener("click", () => {
      const rising = head.getAttribute("aria-sort") === "descending" || (place === 0 && !head.hasAttribute("aria-sort"));
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const key = (row) => (place ? value(row.cells[place]) : row.cells[0].textContent);
      const rows = [...body.rows].map((row) => [key(row), row]);
      rows.sort(([a], [b]) => (place ? (a > b) - (a < b) : a.localeCompare(b)));
      body.append(...(rising ? rows : rows.reverse()).map(([, row]) => row));
    }));
    const field = part.querySelector("input");
    field?.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      let shown = 0;
      for (const row of body.rows) {
        const words = [...row.cells].filter((cell) => !cell.classList.contains("n")).map((cell) => cell.textContent);
        row.hidden = !words.join(" ").toLowerCase().includes(wanted);
        shown += !row.hidden;
      }
      part.querySelector(".found").textContent = wanted ? `${shown} of ${body.rows.length}` : "";
    });
  }
})();
