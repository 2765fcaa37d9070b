/* Live pages of campaigns: when a campaign has new events, the page fetches the data and draws it. */
"use strict";

(() => {
  const page = document.body.dataset.page, mayWrite = document.body.dataset.write === "yes";
  const { number } = Charts;
  const $ = (selector) => document.querySelector(selector);

  function say(text, bad = false) {
    const line = document.createElement("p");
    line.textContent = text;
    if (bad) line.className = "bad";
    $("#said").append(line);
    setTimeout(() => line.remove(), bad ? 15000 : 6000);
  }

  async function api(path, body) {
    const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(path, { ...options, headers: { Accept: "application/json", ...options.headers } });
    if (response.status === 401) { location.href = `/sign-in?next=${encodeURIComponent(location.pathname)}`; throw new Error("signed out"); }
    const content = await response.json();
    if (!response.ok) throw new Error(content.detail || `status ${response.status}`);
    return content;
  }

  const complain = (error) => say(error.message, true);

  function cell(row, text, kind = "", head = false) {
    const made = document.createElement(head ? "th" : "td");
    if (head) made.scope = "row";
    made.className = kind;
    made.textContent = text;
    row.append(made);
    return made;
  }

  /* Generated keys are not shown. */
  const key = (item) => (item.key && !item.key.startsWith("auto-") ? item.key : "");

  /* A number with the digits that its error carries: two of the error. */
  function carried(value, error) {
    if (value === null || !(error > 0)) return number(value);
    const digits = 1 - Math.floor(Math.log10(error));
    return (Number(value.toFixed(Math.max(0, Math.min(12, digits)))) + 0).toLocaleString("en", { minimumFractionDigits: Math.max(0, Math.min(12, digits)), maximumFractionDigits: 12 });
  }

  /* An estimate and its interval: as ± if it is symmetric, otherwise as a range; without an interval, two digits. */
  function withInterval(row, value, interval) {
    const half = interval ? (interval[1] - interval[0]) / 2 : null;
    const made = cell(row, value === null ? "–" : interval ? carried(value, half) : number(Number(value.toPrecision(2))), "n"), more = document.createElement("span");
    made.dataset.value = value ?? "";
    more.className = "pm";
    if (!interval) more.textContent = value === null ? "" : " ± ?";
    else if (Math.abs(interval[1] + interval[0] - 2 * value) <= 0.04 * half) more.textContent = ` ± ${carried(half, half)}`;
    else more.textContent = ` (${interval.map((end) => carried(end, half)).join(" to ")})`;
    made.append(more);
    return made;
  }

  /* Rounded to two digits of the standard error. */
  function pace(daily) {
    if (daily === null) return "–";
    const unit = 10 ** (Math.floor(Math.log10(daily.se || 1)) - 1), shown = (x) => Number((Math.round(x / unit) * unit).toPrecision(12)).toLocaleString("en", { maximumFractionDigits: 6 });
    return `${shown(daily.mean)} ± ${shown(daily.se)}`;
  }

  /* New rows in the previous sort order; the focus stays on the same element if it still exists. */
  function renew(table, rows) {
    const body = table.tBodies[0], name = (node) => node.getAttribute("aria-label") || node.textContent;
    const focused = body.contains(document.activeElement) ? name(document.activeElement) : null;
    body.replaceChildren(...rows);
    sort(table);
    if (focused !== null) [...body.querySelectorAll("a, button")].find((node) => name(node) === focused)?.focus({ preventScroll: true });
  }

  function timeCell(row, iso, kind = "") {
    const made = cell(row, "", kind);
    made.dataset.value = iso ? Date.parse(iso) : "";
    if (!iso) { made.textContent = "never"; return made; }
    const time = document.createElement("time");
    time.dateTime = iso;
    time.textContent = new Date(iso).toLocaleString();
    made.append(time);
    return made;
  }

  function action(row, words, question, path, body, after, place = null) {
    if (!mayWrite) return;
    const made = place || cell(row, ""), button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.setAttribute("aria-label", question.split("?")[0]);
    button.addEventListener("click", async () => {
      if (!(await confirmed(question))) return;
      try { await api(path, body); say("Done."); after(); } catch (error) { complain(error); }
    });
    made.append(button);
    return made;
  }

  function confirmed(question) {
    const dialog = $("#confirm");
    $("#confirm-text").textContent = question;
    dialog.returnValue = "no";
    dialog.showModal();
    return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
  }

  /* Tables sort by a click on a column head, and stay sorted when rows are replaced. */
  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, k) => {
      if ("noSort" in head.dataset) return;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "descending" || !head.classList.contains("n") && !head.hasAttribute("aria-sort");
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "ascending" : "descending");
        table.dataset.by = k;
        sort(table);
      });
    });
  }

  function sort(table) {
    if (table.dataset.by === undefined) return;
    const k = Number(table.dataset.by), sign = table.tHead.rows[0].cells[k].getAttribute("aria-sort") === "ascending" ? 1 : -1;
    const value = (row) => { const c = row.cells[k]; if (!c) return null; const v = c.dataset.value ?? c.textContent; return v === "" || v === "–" ? null : c.classList.contains("n") || c.dataset.value !== undefined ? Number(String(v).replace(/,/g, "")) : v; };
    const rows = [...table.tBodies[0].rows].map((row) => [value(row), row]);
    rows.sort(([a], [b]) => (a === null) - (b === null) || sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b))));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }

  /* Calls refresh when the list of campaigns at an address has changed: looks every two seconds while the page is seen. */
  function follow(address, refresh) {
    const live = $("#live");
    let known = null, busy = false, again = false;
    const look = async () => {
      if (busy || document.hidden) return;
      busy = true;
      try {
        const now = JSON.stringify(await api(address));
        if (now !== known || again) { again = false; await refresh(); }
        known = now;
        live.textContent = "live";
        live.className = "live on";
      } catch (error) { live.textContent = error.message; live.className = "live off"; }
      busy = false;
    };
    look();
    setInterval(look, 2000);
    document.addEventListener("visibilitychange", look);
    return () => { again = true; look(); };
  }

  function home() {
    const table = $("#campaigns");
    if (!table) return;
    follow(`/api/campaigns?count=25&${location.search.slice(1)}`, async () => {
      const { campaigns } = await api(`/api/overview${location.search}`);
      renew(table, campaigns.map((c) => {
        const row = document.createElement("tr"), head = cell(row, "", "", true), link = document.createElement("a");
        row.dataset.name = c.name;
        link.href = `/campaign/${encodeURIComponent(c.name)}`;
        link.textContent = c.name;
        head.append(link);
        if (c.problem) cell(row, c.problem, "overdue").colSpan = 7;
        else {
          cell(row, c.verdict.verdict, `verdict ${c.verdict.state}`);
          for (const key of ["decisions", "pending", "expired"]) cell(row, c[key].toLocaleString("en"), "n");
          cell(row, pace(c.decisions_per_day), "n").dataset.value = c.decisions_per_day?.mean ?? "";
          Charts.spark(cell(row, "", "spark"), c.spark);
          cell(row, c.policy.split(":")[0]);
        }
        return row;
      }));
    });
  }

  function campaign() {
    const name = $("#campaign").dataset.name, base = `/api/campaigns/${encodeURIComponent(name)}`;
    const figure = (id) => document.querySelector(`figure[data-chart="${id}"]`);

    function rules(view) {
      $("#rules").replaceChildren(...Object.entries(view.rules_in_words).map(([name, text]) => {
        const row = document.createElement("div"), term = document.createElement("dt"), words = document.createElement("dd");
        term.textContent = name;
        words.textContent = text;
        row.append(term, words);
        return row;
      }));
      if (mayWrite) $("#pause").textContent = view.rules.mode === "paused" ? "Resume" : "Pause";
    }
    if (mayWrite) {
      const change = async (path, body) => {
        const why = $("#reason").value.trim() || null;
        try { await api(`${base}${path}`, { ...body, why }); say("Done."); refresh(); } catch (error) { complain(error); }
      };
      $("#pause").addEventListener("click", async () => {
        const paused = $("#pause").textContent === "Resume";
        if (!(await confirmed(paused ? "Resume the campaign? It returns to the mode before the pause." : "Pause the campaign? Asks get the fallback arm, or are refused if there is none."))) return;
        change(paused ? "/resume" : "/rules", paused ? {} : { mode: "paused" });
      });
      $("#set-rules").addEventListener("submit", (event) => { event.preventDefault(); const mode = $("#mode").value; change("/rules", { share: Number($("#share").value), ...(["paused", mode].includes(last?.rules.mode) ? {} : { mode }) }); });
    }

    function segments(view) {
      if (!$("#segments")) return;
      renew($("#segments"), view.segments.map((one) => {
        const row = document.createElement("tr");
        cell(row, one.segment, "", true);
        cell(row, one.best ?? "");
        one.pulls.forEach((pulls, k) => {
          const borrowed = one.borrowed[k], count = pulls.toLocaleString("en");
          cell(row, `${one.means[k] === null ? "" : number(Number(one.means[k].toPrecision(4)))} (${count}${borrowed ? ` + ${borrowed.toLocaleString("en")}` : ""})`.trim(), "n");
        });
        return row;
      }));
    }

    const PAGE = 25;
    let shown = PAGE, last = null;
    function arms(view) {
      const rows = [], text = $("#arm-filter").value.toLowerCase(), [key, name, sign] = compared(view), value = (arm) => (arm[key] === null ? -Infinity : sign * arm[key]);
      const matching = view.arms.map((arm, k) => ({ ...arm, missing: view.missing[k] })).filter((arm) => String(arm.arm).toLowerCase().includes(text)).sort((a, b) => a.retired - b.retired || value(b) - value(a));
      last = view;
      for (const arm of matching.slice(0, shown)) {
        const row = document.createElement("tr");
        cell(row, `${arm.arm}${arm.retired ? " (retired)" : view.rules.suspended.includes(arm.arm) ? " (suspended)" : ""}`, "", true);
        cell(row, arm.pulls.toLocaleString("en"), "n");
        cell(row, arm.pending.toLocaleString("en"), "n");
        cell(row, arm.missing === null ? "–" : arm.missing.toLocaleString("en"), "n");
        withInterval(row, arm.mean, arm.mean_interval);
        cell(row, number(arm.standard_deviation), "n").dataset.value = arm.standard_deviation ?? "";
        withInterval(row, arm.sharpe, arm.sharpe_interval);
        withInterval(row, arm.value, arm.value_interval);
        if (mayWrite && (arm.retired || view.done)) cell(row, "");
        else if (mayWrite) {
          const off = view.rules.suspended.includes(arm.arm), words = off ? "Resume" : "Suspend";
          const place = action(row, words, `${words} ${arm.arm}? ${off ? "It will be played again." : "It will not be played until it is resumed."}`, `${base}/arms/${words.toLowerCase()}`, { arm: arm.arm }, refresh);
          place.className = "change";
          action(row, "Retire", `Retire ${arm.arm}? It will no longer be played; rewards of its decisions are still accepted. This cannot be undone: suspend it if it may come back.`, `${base}/arms/retire`, { arm: arm.arm }, refresh, place);
        }
        rows.push(row);
      }
      renew($("#arms"), rows);
      $("#arm-find").hidden = view.arms.length <= PAGE;
      $("#arm-more").hidden = matching.length <= shown;
      $("#arm-count").textContent = `${Math.min(shown, matching.length)} of ${view.arms.length.toLocaleString("en")} arms, best first`;
      const watchable = view.intervals === "at all times";
      figure("intervals").querySelector("figcaption").firstChild.textContent = `${name}, with ${watchable ? "time-uniform" : "fixed-time"} 95% intervals`;
      const heavy = view.arms.filter((a) => a.heavy_tailed).map((a) => a.arm);
      $("#interval-note").textContent = (watchable
        ? "Intervals are confidence sequences: all of them hold simultaneously at all times with probability 95%, so you may look and act at any time, if the rewards of an arm are independent and do not drift."
        : "This policy forgets, since arms may drift. Intervals are fixed-time: valid at one moment chosen in advance, not under repeated looks.")
        + (heavy.length ? ` Rewards of ${heavy.join(", ")} have heavy tails, for which this is not guaranteed.` : "");
      const best = [view.best].flat();
      const listed = view.arms.filter((a) => !a.retired).sort((a, b) => value(b) - value(a)).slice(0, PAGE);
      Charts.intervals(figure("intervals"), `${name} of ${listed.length} arms; the table below has the numbers`, listed.map((a) => ({ name: String(a.arm), estimate: a[key], interval: a[`${key}_interval`], text: a[`${key}_interval`] ? carried(a[key], (a[`${key}_interval`][1] - a[`${key}_interval`][0]) / 2) : "", best: best.includes(a.arm) })));
    }

    /* By what arms are compared. Below 0 a Sharpe ratio rewards risk: costs are compared by the objective. */
    function compared(view) {
      return view.direction === "min" && view.objective ? ["value", `${view.objective_name} of the cost`, -1] : ["sharpe", "Sharpe ratio per reward", 1];
    }

    function charts(view) {
      const s = { ...view.series, count: view.series.reward.length }, per = `one bar is ${span(s.width)}`;
      figure("choices").querySelector("figcaption").firstChild.textContent = `Arms played over time: decisions (${per})`;
      Charts.bars(figure("choices"), "Decisions over time, by arm", s, s.asked, s.arms);
      const kind = view.intervals === "at all times" ? "time-uniform 95% intervals" : "fixed-time 95% intervals";
      figure("value").querySelector("figcaption").firstChild.textContent = `Estimated ${s.objective} per reward, from the tenth reward on, with ${kind}`;
      Charts.lines(figure("value"), `Estimated value over time, by arm, with ${kind}`, s, s.value, s.arms.slice(0, s.value.length), number, s.value_low.map((low, k) => [low, s.value_high[k]]));
      const end = (sign) => s.reward.map((v, i) => (v === null || s.reward_error[i] === null ? null : v + sign * 1.96 * s.reward_error[i]));
      Charts.lines(figure("reward"), `Mean ${view.direction === "min" ? "cost" : "reward"} over time, with 95% intervals`, s, [s.reward], [view.direction === "min" ? "mean cost" : "mean reward"], number, [[end(-1), end(1)]]);
      Charts.lines(figure("exploration"), "Share of exploration over time", s, [s.exploration], ["exploration"], (v) => (v === null ? "–" : `${Math.round(100 * v)}%`));
      Charts.lines(figure("pending"), "Pending pulls over time", s, [s.pending], ["pending"]);
      Charts.bars(figure("lost"), "Expired, late and cancelled over time", s, [s.expired, s.late, s.cancelled], ["expired", "rewarded late", "cancelled"]);
    }

    function span(seconds) {
      for (const [length, unit] of [[86400, "days"], [3600, "hours"], [60, "minutes"]]) if (seconds >= length) return `${number(seconds / length)} ${unit}`;
      return `${number(seconds)} s`;
    }

    function verdict(view) {
      const { verdict: words, number: figure, next, state } = view.verdict;
      $("#verdict").textContent = words;
      $("#verdict").className = `verdict ${state}`;
      $("#figure").textContent = figure;
      $("#next-step").textContent = next;
      const gain = view.gain, sign = view.direction === "min" ? "saved" : "gained";
      const because = [];
      if (view.leader_since) because.push(`Ahead of all other arms since ${new Date(view.leader_since).toLocaleString()}, with 95% confidence however often one looks.`);
      else if (view.intervals === "at all times") because.push("Arms count as separated when the leader is ahead of all others with 95% confidence however often one looks.");
      if (gain) because.push(`Compared with an even split, ${carried(gain.mean, gain.se)} ± ${carried(gain.se, gain.se)} per decision was ${sign} so far.`);
      $("#because").textContent = because.join(" ");
    }

    function waiting(view) {
      const rows = view.waiting.map((d) => {
        const row = document.createElement("tr"), overdue = d.expires && Date.parse(d.expires) < Date.parse(view.time);
        cell(row, String(d.number), "n");
        cell(row, String(d.arm));
        timeCell(row, d.asked);
        const ends = timeCell(row, d.expires, overdue ? "overdue" : "");
        if (overdue) ends.append(" – missing");
        cell(row, key(d));
        cell(row, d.worker || "");
        action(row, "Cancel", `Cancel decision ${d.number} (${d.arm})? A reward told for it later is refused.`, `${base}/decisions/${d.number}/cancel`, {}, refresh);
        return row;
      });
      renew($("#waiting"), rows);
      $("#waiting-note").textContent = rows.length === 0 ? "No decision is pending." : rows.length < view.pending ? `The ${rows.length} whose leases end first, of ${view.pending.toLocaleString("en")}.` : "";
      $("#waiting").hidden = rows.length === 0;
    }

    let search = "", oldest = null, paging = false;
    async function entries(more) {
      const query = new URLSearchParams({ count: "20", search });
      if (more && oldest) query.set("before", oldest);
      const found = (await api(`${base}/log?${query}`)).entries, body = $("#log").tBodies[0];
      const rows = found.map((e) => {
        const row = document.createElement("tr");
        cell(row, String(e.seq), "n");
        timeCell(row, e.time);
        cell(row, e.kind);
        cell(row, e.decision === null ? "" : String(e.decision), "n");
        cell(row, e.arm === null ? "" : String(e.arm));
        cell(row, e.reward === null ? "" : number(e.reward), "n");
        cell(row, key(e));
        const { by, why, set } = e.details;
        cell(row, (e.kind === "asked" ? e.worker : by || e.worker) || "");
        cell(row, [set && JSON.stringify(set).slice(1, -1), why].filter(Boolean).join("; "));
        return row;
      });
      if (more) body.append(...rows); else body.replaceChildren(...rows);
      if (found.length) oldest = found[found.length - 1].seq;
      paging = more;
      $("#older").hidden = found.length < 20;
    }

    async function draw() {
      const view = await api(`${base}/view`);
      for (const fact of document.querySelectorAll("[data-fact]")) {
        const key = fact.dataset.fact;
        if (key === "pace") fact.textContent = pace(view.rewards_per_day);
        else if (key === "spent") fact.textContent = `${view.spent.toLocaleString("en")} of ${view.horizon.toLocaleString("en")}`;
        else fact.textContent = view[key].toLocaleString("en");
      }
      $("#evaluate").hidden = !view.can_evaluate;
      $("#evaluate-not").hidden = view.can_evaluate;
      verdict(view);
      rules(view);
      segments(view);
      arms(view);
      charts(view);
      waiting(view);
      if (!paging) await entries(false);
    }

    const refresh = follow(`/api/campaigns?search=${encodeURIComponent(name)}`, draw);
    $("#arm-filter").addEventListener("input", () => { shown = PAGE; if (last) arms(last); });
    $("#arm-more").addEventListener("click", () => { shown += 4 * PAGE; arms(last); });
    $("#search").addEventListener("submit", (event) => { event.preventDefault(); search = $("#query").value; entries(false).catch(complain); });
    $("#evaluate").addEventListener("submit", async (event) => {
      event.preventDefault();
      const said = $("#evaluation"), query = new URLSearchParams({ policy: $("#other").value, L: $("#other-L").value });
      said.textContent = "Evaluating …";
      try { said.textContent = (await api(`${base}/evaluation?${query}`)).sentence; } catch (error) { said.textContent = `No answer: ${error.message}.`; }
    });
    $("#older").addEventListener("click", () => entries(true).catch(complain));
    $("#verify").addEventListener("click", async () => {
      say("Verifying …");
      try { const found = await api(`${base}/verification`); say(found.ok ? `Verified: ${found.events.toLocaleString("en")} events reproduce the state.` : found.problems.join("; "), !found.ok); } catch (error) { complain(error); }
    });
    $("#add-arm")?.addEventListener("submit", async (event) => {
      event.preventDefault();
      const arm = $("#new-arm").value;
      if (!(await confirmed(`Add the arm ${arm}? It is played from now on.`))) return;
      try { await api(`${base}/arms`, { arm }); $("#new-arm").value = ""; refresh(); } catch (error) { complain(error); }
    });
  }

  function create() {
    $("#new")?.addEventListener("submit", async (event) => {
      event.preventDefault();
      const form = new FormData(event.target), text = (key) => form.get(key).trim();
      const body = { name: text("name"), policy: text("policy"), L: Number(text("L")), arms: text("arms").split("\n").map((arm) => arm.trim()).filter(Boolean) };
      for (const input of event.target.querySelectorAll("[data-setting]")) {
        const value = input.value.trim();
        if (value) body[input.name] = input.dataset.setting === "str" ? value : Number(value);
      }
      if (!(await confirmed(`Create the campaign ${body.name} with ${body.arms.length} arms?`))) return;
      try { await api("/api/campaigns", body); location.href = `/campaign/${encodeURIComponent(body.name)}`; } catch (error) { complain(error); }
    });
  }

  document.querySelectorAll("table.sortable").forEach(sortable);
  ({ home, campaign, new: create })[page]?.();
})();
