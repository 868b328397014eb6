// What pages can do beyond forms and links: live progress, suggestions, a filter
// that answers at once. Every page works without it.
"use strict";

document.documentElement.classList.add("script");

const byID = id => document.getElementById(id);

// Live progress. Events move the counters; whenever a run begins or ends the
// page is read again, so that the server alone says how things look.

const live = byID("live");
const pause = 5000; // between two readings of the page, which count to a rate limit that others share
const longest = 60000; // until the next try when the server refuses the page
const again = 10000; // and when it refuses events
const elsewhere = new Map(); // the versions of repositories that the page does not show
let events, retry, phases, reading, wanted;
let lost = false, stale = false; // there are no events; the page could not be read

function listen() {
  clearTimeout(retry);
  events = new EventSource(live.dataset.events);
  events.addEventListener("run", e => showRun(JSON.parse(e.data)));
  events.addEventListener("removed", redraw);
  events.addEventListener("open", () => {
    if (lost) redraw(); // what happened meanwhile
    lost = false;
    warn();
  });
  events.addEventListener("error", () => {
    lost = true;
    warn();
    if (events.readyState !== EventSource.CLOSED) return; // the browser connects again by itself
    retry = setTimeout(() => { redraw(); listen(); }, again);
  });
}

// warn says whether the page may be behind.
function warn() { byID("offline").hidden = !lost && !stale; }

function showRun(run) {
  if (!run) return;
  const at = live.querySelector(`[data-repository="${run.repository_id}"]`);
  const version = `${run.id} ${run.status}`;
  if (!at) { // one that is new, or that may come to match the filter
    if (elsewhere.get(run.repository_id) !== version) redraw();
    elsewhere.set(run.repository_id, version);
    return;
  }
  if (at.dataset.version !== version) redraw();
  const bar = at.querySelector("progress");
  if (!bar) return;
  const done = run.phase === "text" ? run.text_files : run.processed_files;
  at.querySelector("[data-phase]").textContent = phases[run.phase];
  if (run.total_files > 0) {
    bar.max = run.total_files;
    bar.value = done;
    at.querySelector("[data-files]").textContent = `${done.toLocaleString("en")}/${run.total_files.toLocaleString("en")} files`;
  }
}

// redraw reads the page again, soon, and until the server answers; what is asked
// for meanwhile is one reading more. A page that nobody sees waits to be seen.
async function redraw() {
  wanted = true;
  if (reading) return;
  reading = true;
  while (wanted && !document.hidden) {
    wanted = false;
    const refused = await readPage().catch(() => pause);
    stale = refused > 0;
    wanted ||= stale;
    warn();
    const wait = stale ? Math.min(Math.max(refused, pause), longest) + Math.random() * pause : pause; // not all pages try at once
    await new Promise(done => setTimeout(done, wait));
  }
  reading = false;
}

// readPage shows the page as it is now, and returns 0; or it returns for how many
// milliseconds the server, which refused, is to be left alone.
async function readPage() {
  const answer = await fetch(live.dataset.page, { headers: { Accept: "text/html" } });
  if (answer.redirected || answer.status === 404) { // the log-in is over, or the repository gone
    location.assign(live.dataset.page);
    return 0;
  }
  if (!answer.ok) return 1000 * (Number(answer.headers.get("Retry-After")) || 5);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.getElementById("live");
  announce(next);
  const focused = document.activeElement && live.contains(document.activeElement) ? document.activeElement.id : "";
  live.toggleAttribute("data-whole", "whole" in next.dataset);
  live.replaceChildren(...next.childNodes);
  dress();
  if (focused && byID(focused)) byID(focused).focus({ preventScroll: true });
  return 0;
}

// announce tells a screen reader which runs have ended, and how.
function announce(next) {
  const ended = [];
  for (const at of next.querySelectorAll("[data-repository]")) {
    const before = live.querySelector(`[data-repository="${at.dataset.repository}"]`);
    const changed = !before || before.dataset.version !== at.dataset.version;
    const error = at.querySelector(".error");
    if (changed && /^(completed|failed)$/.test(at.dataset.status)) ended.push(`${at.dataset.name}: ${error ? error.textContent : at.dataset.status}`);
  }
  if (ended.length) byID("announce").textContent = ended.join(", ");
}

// dress adds to what the server drew: local times, and the filter.
function dress() {
  const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  for (const time of document.querySelectorAll("time:not([title])")) {
    time.title = time.textContent;
    time.textContent = local.format(new Date(time.dateTime));
  }
  filterRows();
}

function filterRows() {
  const field = byID("filter");
  if (!field || !("whole" in live.dataset)) return;
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of live.querySelectorAll("[data-text]")) {
    row.hidden = !words.every(word => row.dataset.text.includes(word));
    if (!row.hidden) shown++;
  }
  if (byID("none")) byID("none").hidden = shown > 0;
}

if (live) {
  phases = JSON.parse(live.dataset.phases);
  listen();
  document.addEventListener("visibilitychange", () => { // a hidden page takes no connection
    clearTimeout(retry);
    events.close();
    if (!document.hidden) {
      redraw();
      listen();
    }
  });
  const field = byID("filter");
  if (field) {
    field.addEventListener("input", filterRows);
    field.form.addEventListener("submit", e => { if ("whole" in live.dataset) e.preventDefault(); });
  }
}
dress();

// A link on another site comes without the log-in, which browsers keep for this
// one. Asked from here it counts.

const login = byID("login");
if (login) {
  const to = login.elements.to.value;
  fetch(to, { method: "HEAD", redirect: "manual", headers: { Accept: "text/html" } })
    .then(answer => { if (answer.ok) location.replace(to); })
    .catch(() => {});
}

// The name of a folder is its last part, until somebody types another.

const path = byID("path"), session = byID("session");
if (path) {
  let typed = session.value !== "";
  session.addEventListener("input", () => { typed = session.value !== ""; });
  path.addEventListener("input", () => {
    if (typed) return;
    const name = path.value.replace(/[/\\]+$/, "").split(/[/\\]/).pop();
    session.value = name.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^[-_]+/, "").slice(0, 64).replace(/-+$/, "");
  });
}

// Names to complete what is typed into the search.

const query = byID("q");
if (query) {
  let timer, request;
  query.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(suggest, 200);
  });
  const suggest = async () => {
    if (request) request.abort();
    const text = query.value.trim();
    if (text.length < 2) return;
    request = new AbortController();
    const asked = new URLSearchParams({ query: text, limit: 8 });
    if (byID("repository").value) asked.set("repository_id", byID("repository").value);
    try {
      const answer = await fetch("/api/v1/ai/search/suggestions?" + asked, { signal: request.signal });
      if (!answer.ok) return;
      const { suggestions } = await answer.json();
      byID("suggestions").replaceChildren(...suggestions.map(name => {
        const option = document.createElement("option");
        option.value = name;
        return option;
      }));
    } catch { /* typing goes on without them */ }
  };
}
