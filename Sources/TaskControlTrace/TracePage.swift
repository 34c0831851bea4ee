// Made of the files in Page by scripts/trace-page; not to be changed here.
// swift-format-ignore-file

/// The HTML page of a trace.
enum TracePage {
    /// The text that is written before the data of a trace.
    static let head: StaticString = #"""
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-A6i2ooxpl2V2HUAzxRqOY6PeYMBlXx3jvBDIBe7h1TQ='; script-src 'sha256-/u7O2tXoj9cavfwRp5ZXQrvVkJMWGbc7PcPrkrOGjD0='; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Trace</title>
<style>:root {
    color-scheme: light dark;
    --page: #ffffff; --panel: #f6f7f9; --line: #e2e5ea; --strong-line: #c6ccd5; --ink: #191d24; --soft: #566070; --accent: #2463c9;
    --completed: #b4dbc8; --completed-edge: #2c8360;
    --unfinished: #b4cef6; --unfinished-edge: #2463c9;
    --failed: #f6bab3; --failed-edge: #c42f24;
    --timedOut: #f6d58f; --timedOut-edge: #9a5b00;
    --cancelled: #d6d9df; --cancelled-edge: #646d7b;
    --shadow: 0 1px 2px rgb(20 26 38 / 8%), 0 8px 28px rgb(20 26 38 / 16%);
    --side: 248px;
}
@media (prefers-color-scheme: dark) {
    :root {
        --page: #13161b; --panel: #191d24; --line: #262c36; --strong-line: #3c4552; --ink: #e8ebf1; --soft: #9ba6b5; --accent: #7fb0ff;
        --completed: #235c46; --completed-edge: #4cbf90;
        --unfinished: #264d8c; --unfinished-edge: #7fb0ff;
        --failed: #80302a; --failed-edge: #ff8378;
        --timedOut: #6f4d10; --timedOut-edge: #f2b84b;
        --cancelled: #414956; --cancelled-edge: #9ba6b5;
        --shadow: 0 1px 2px rgb(0 0 0 / 40%), 0 10px 32px rgb(0 0 0 / 55%);
    }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html, body { height: 100%; margin: 0; }
body {
    display: flex; flex-direction: column; overflow: hidden; background: var(--page); color: var(--ink);
    font: 13px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
    font-variant-numeric: tabular-nums; -webkit-font-smoothing: antialiased;
}
h1, h2, p, dl, dd { margin: 0; }
button, input { font: inherit; color: inherit; }
:focus { outline: none; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }

header { display: grid; grid-template-columns: 1fr auto; gap: 10px 24px; padding: 14px 20px 12px; align-items: center; }
.head { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 14px; min-width: 0; }
h1 { font-size: 17px; font-weight: 650; letter-spacing: -0.01em; overflow-wrap: anywhere; }
#summary { color: var(--soft); }
#lost { padding: 1px 9px; border-radius: 10px; border: 1px solid var(--timedOut-edge); font-size: 12px; }
.tools { display: flex; gap: 8px; }
#search {
    width: 270px; height: 30px; padding: 0 10px; border: 1px solid var(--strong-line); border-radius: 7px; background: var(--page);
}
#search::placeholder { color: var(--soft); opacity: 1; }
.buttons { display: flex; }
.buttons button {
    height: 30px; min-width: 32px; padding: 0 9px; border: 1px solid var(--strong-line); background: var(--page); cursor: pointer; margin-left: -1px;
}
.buttons button:first-child { border-radius: 7px 0 0 7px; margin-left: 0; }
.buttons button:last-child { border-radius: 0 7px 7px 0; }
.buttons button:only-child { border-radius: 7px; }
.buttons button:hover { background: var(--panel); }
.buttons button:focus-visible { position: relative; z-index: 1; }
.legend { grid-column: 1 / -1; display: flex; flex-wrap: wrap; justify-content: space-between; gap: 6px 20px; }
#outcomes { display: flex; flex-wrap: wrap; gap: 6px; }
.chip {
    display: flex; align-items: center; gap: 6px; height: 25px; padding: 0 10px 0 7px; border: 1px solid var(--line); border-radius: 13px;
    background: none; cursor: pointer; font-size: 12px;
}
.chip:hover { border-color: var(--strong-line); }
.chip[aria-pressed="false"] { color: var(--soft); background: var(--panel); text-decoration: line-through; }
.chip[aria-pressed="false"] .sample { opacity: 0.35; }
.chip b { font-weight: 600; }
.sample { position: relative; width: 18px; height: 14px; }
.phases { display: flex; align-items: center; gap: 6px; color: var(--soft); font-size: 12px; }
.swatch { width: 20px; height: 12px; border-radius: 3px; margin-left: 10px; }
.swatch.running { background: var(--completed); border: 1px solid var(--completed-edge); }
.swatch.waiting {
    border: 1px solid var(--completed-edge);
    background: repeating-linear-gradient(-45deg, var(--completed) 0 1.5px, transparent 1.5px 5px);
}
.swatch.event { width: 3px; border-radius: 1px; background: var(--ink); }

#overview, #axis { display: flex; flex: none; border-top: 1px solid var(--line); }
#overview { height: 46px; background: var(--panel); }
#overview-caption, #axis-caption {
    flex: none; width: var(--side); padding: 0 10px 0 20px; color: var(--soft); font-size: 11px; border-right: 1px solid var(--line); white-space: nowrap;
}
#overview-caption { padding-top: 6px; }
#axis-caption { line-height: 25px; }
#overview-track { position: relative; flex: 1; cursor: crosshair; touch-action: none; min-width: 0; overflow: hidden; }
#overview-chart { position: absolute; left: 0; top: 4px; width: 100%; height: 42px; }
#overview-chart .running { fill: var(--completed-edge); opacity: 0.65; }
#overview-chart .waiting { fill: var(--completed); opacity: 0.75; }
#overview-chart .trouble { fill: var(--failed-edge); }
#brush {
    position: absolute; top: 0; bottom: 0; border: 1px solid var(--accent); border-width: 0 2px; cursor: grab;
    background: color-mix(in srgb, var(--accent) 9%, transparent); min-width: 4px;
}
#overview.whole #brush { border-color: transparent; background: none; cursor: crosshair; }
#axis { height: 26px; border-bottom: 1px solid var(--strong-line); }
#ticks { position: relative; flex: 1; overflow: hidden; }
#ticks span { position: absolute; left: 0; top: 0; padding-left: 5px; line-height: 25px; font-size: 11px; color: var(--soft); white-space: nowrap; border-left: 1px solid var(--strong-line); }

main { position: relative; flex: 1; min-height: 0; }
#grid { position: absolute; inset: 0 0 0 var(--side); overflow: hidden; pointer-events: none; }
#lines i { position: absolute; left: 0; top: 0; bottom: 0; width: 1px; background: var(--line); }
#cursor { position: absolute; left: 0; top: 0; bottom: 0; width: 1px; background: var(--soft); opacity: 0.5; }
#chart { position: absolute; inset: 0; overflow: hidden auto; cursor: default; contain: strict; touch-action: pan-y; user-select: none; }
#chart:focus-visible { outline-offset: -2px; }
#chart.panning { cursor: grabbing; }
#rows { position: relative; min-height: 100%; overflow: hidden; }
.group { position: absolute; left: 0; right: 0; border-bottom: 1px solid var(--line); }
.side { position: absolute; left: 0; top: 0; bottom: 0; width: var(--side); background: var(--page); border-right: 1px solid var(--line); }
.side button, .side div {
    position: sticky; top: 0; display: block; width: 100%; padding: 5px 10px 5px 20px; border: 0; background: none; text-align: left; line-height: 15px;
}
.side button { cursor: pointer; }
.side button:hover { background: var(--panel); }
.side button:focus-visible { outline-offset: -2px; }
.side button::before {
    content: ""; position: absolute; left: 8px; top: 10px; width: 5px; height: 5px; border: solid var(--soft); border-width: 0 1.5px 1.5px 0; transform: rotate(-45deg);
}
.side button[aria-expanded="true"]::before { transform: translateY(-1px) rotate(45deg); }
.side b, .side small { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.side b { font-weight: 600; font-size: 12.5px; }
.side small { color: var(--soft); font-size: 11px; }
.side em { font-style: normal; color: var(--failed-edge); }
.track { position: absolute; left: var(--side); right: 0; top: 0; bottom: 0; overflow: hidden; }

#arrows { position: absolute; left: var(--side); top: 0; width: calc(100% - var(--side)); height: 100%; overflow: hidden; pointer-events: none; z-index: 1; }
#arrows path { fill: none; stroke: var(--cancelled-edge); stroke-width: 1.5; }

.bar, .sample, .completed { --c: var(--completed); --e: var(--completed-edge); }
.failed { --c: var(--failed); --e: var(--failed-edge); }
.timedOut { --c: var(--timedOut); --e: var(--timedOut-edge); }
.cancelled { --c: var(--cancelled); --e: var(--cancelled-edge); }
.unfinished { --c: var(--unfinished); --e: var(--unfinished-edge); }
.bar { position: absolute; left: 0; top: 0; height: 18px; overflow: hidden; cursor: pointer; color: var(--ink); }
.single, .sample {
    border-radius: 3px; border: 1px solid color-mix(in srgb, var(--e) 70%, transparent);
    background: repeating-linear-gradient(-45deg, var(--c) 0 1.5px, color-mix(in srgb, var(--c) 12%, var(--page)) 1.5px 5px);
}
.single.unknown { background: color-mix(in srgb, var(--c) 55%, var(--page)); }
.sample { background: var(--c); }
.single.failed, .single.timedOut { border-right: 3px solid var(--e); }
.single.cancelled, .sample.cancelled { border-style: dashed; border-color: var(--e); }
.single.unfinished { border-right: 0; border-radius: 3px 0 0 3px; }
.single.unfinished::after {
    content: ""; position: absolute; right: 0; top: -1px; bottom: -1px; width: 5px; background: var(--page);
    clip-path: polygon(100% 0, 0 0, 100% 17%, 0 33%, 100% 50%, 0 67%, 100% 83%, 0 100%, 100% 100%);
}
.single.earlier { border-left: 3px double var(--e); border-radius: 0 3px 3px 0; }
.single.narrow { border-radius: 1px; border-width: 0; background: var(--c); }
.single.narrow .run { background: color-mix(in srgb, var(--e) 45%, var(--c)); }
.single.narrow.failed, .single.narrow.timedOut, .narrow.failed .run, .narrow.timedOut .run { background: var(--e); }
.single.narrow.cancelled { height: 12px; margin-top: 3px; background: var(--e); }
.run { position: absolute; top: 0; bottom: 0; background: var(--c); }
.tick { position: absolute; top: 0; bottom: 0; width: 2px; background: var(--ink); opacity: 0.55; }
.tick.bad { background: var(--failed-edge); opacity: 1; }
.tick.stop { background: var(--cancelled-edge); opacity: 1; }
.label {
    position: absolute; left: 0; top: 0; right: 4px; padding-left: 5px; display: flex; align-items: center; gap: 4px; height: 16px; font-size: 11.5px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis;
}
.label span { overflow: hidden; text-overflow: ellipsis; }
.label small { opacity: 0.72; font-size: 11px; flex: none; }
.glyph { flex: none; width: 11px; height: 11px; stroke: var(--e); stroke-width: 2; fill: none; stroke-linecap: round; stroke-linejoin: round; }
.sample .glyph { position: absolute; left: 2px; top: 0.5px; }
.merged { border-radius: 1px; }
.bar:hover { filter: brightness(0.95) saturate(1.15); }
@media (prefers-color-scheme: dark) { .bar:hover { filter: brightness(1.2); } }
.bar:focus-visible { outline: 2px solid var(--accent); outline-offset: -1px; z-index: 2; overflow: visible; }
.bar.pinned { outline: 2px solid var(--ink); outline-offset: -1px; z-index: 1; }
.column { height: auto; overflow: visible; }
.column:hover { background: color-mix(in srgb, var(--ink) 8%, transparent); filter: none; }
.column i { position: absolute; left: 0; right: 0; bottom: 0; }
.column .waits { background: var(--completed); opacity: 0.55; }
.column .works { background: var(--completed-edge); opacity: 0.8; }
.column .trouble { bottom: auto; top: 0; height: 4px; background: var(--failed-edge); }
.moment { position: absolute; left: 0; top: 0; width: 9px; height: 9px; margin: 0 0 0 -4px; cursor: pointer; }
.moment::before { content: ""; position: absolute; inset: 1.5px; background: var(--soft); transform: rotate(45deg); }
.moment.bad::before { background: var(--failed-edge); }
.away { position: absolute; left: 10px; top: 12px; color: var(--soft); font-size: 11px; }
.away.after { left: auto; right: 10px; }
#empty { position: absolute; left: 0; right: 0; top: 32%; text-align: center; color: var(--soft); font-size: 14px; white-space: pre-line; pointer-events: none; }

#tip {
    position: fixed; left: 0; top: 0; z-index: 10; width: max-content; max-width: min(460px, calc(100vw - 24px)); max-height: calc(100vh - 24px); overflow: auto; padding: 10px 13px 11px; border: 1px solid var(--strong-line); border-radius: 9px;
    background: var(--page); box-shadow: var(--shadow); font-size: 12px; pointer-events: none;
}
#tip.pinned { pointer-events: auto; border-color: var(--ink); }
#tip h3 { margin: 0 0 5px; font-size: 13px; font-weight: 650; overflow-wrap: anywhere; }
#tip .state { display: inline-flex; align-items: center; gap: 5px; margin-right: 8px; padding: 0 8px 0 6px; border-radius: 9px; background: var(--c, var(--panel)); font-weight: 600; line-height: 18px; }
#tip dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 14px; margin-top: 7px; }
#tip dt { color: var(--soft); }
#tip dd { overflow-wrap: anywhere; white-space: pre-wrap; }
#tip dd.error { color: var(--failed-edge); }
#tip .hint { margin-top: 7px; color: var(--soft); font-size: 11px; }
#tip .close { float: right; margin: -4px -6px 0 10px; width: 24px; height: 24px; border: 0; border-radius: 6px; background: none; cursor: pointer; }
#tip .close:hover { background: var(--panel); }
dialog { border: 1px solid var(--strong-line); border-radius: 12px; padding: 20px 24px; background: var(--page); color: var(--ink); box-shadow: var(--shadow); max-width: 480px; }
dialog::backdrop { background: rgb(10 14 20 / 30%); }
dialog h2 { font-size: 15px; margin-bottom: 10px; }
dialog dl { display: grid; grid-template-columns: auto 1fr; gap: 7px 18px; }
dialog dt { white-space: nowrap; }
dialog form { margin-top: 16px; text-align: right; }
dialog form button { height: 30px; padding: 0 14px; border: 1px solid var(--strong-line); border-radius: 7px; background: none; cursor: pointer; }
kbd { display: inline-block; min-width: 22px; padding: 0 6px; border: 1px solid var(--strong-line); border-bottom-width: 2px; border-radius: 5px; background: var(--panel); font: inherit; font-size: 12px; text-align: center; }
@media (max-width: 760px) {
    :root { --side: 128px; }
    header { grid-template-columns: 1fr; padding: 10px 12px; }
    #search { width: 100%; min-width: 120px; }
    #overview-caption, #axis-caption, .side button, .side div { padding-left: 18px; }
}
@media (forced-colors: active) {
    .bar, .run, .column i, .swatch { forced-color-adjust: none; }
}</style>
</head>
<body>
<header>
<div class="head">
<h1 id="title">Trace</h1>
<p id="summary"></p>
<p id="lost" hidden></p>
</div>
<div class="tools">
<input id="search" type="search" placeholder="Filter by name, key, owner, error" aria-label="Filter by name, key, owner, error" autocomplete="off" spellcheck="false">
<div class="buttons" role="group" aria-label="Zoom">
<button type="button" id="zoom-out" aria-label="Zoom out" title="Zoom out (−)">−</button>
<button type="button" id="zoom-in" aria-label="Zoom in" title="Zoom in (+)">+</button>
<button type="button" id="zoom-fit" title="Show all (0)">All</button>
</div>
<div class="buttons">
<button type="button" id="keys" aria-label="Keys" aria-haspopup="dialog" title="Keys (?)">?</button>
</div>
</div>
<div class="legend">
<div id="outcomes" role="group" aria-label="Show tasks that"></div>
<p class="phases" aria-label="Within a bar"><span class="swatch waiting"></span>waiting <span class="swatch running"></span>running <span class="swatch event"></span>event</p>
</div>
</header>
<section id="overview" aria-label="Overview: drag to choose what is shown">
<span id="overview-caption">at once, of all</span>
<div id="overview-track"><svg id="overview-chart" aria-hidden="true" preserveAspectRatio="none"><path class="waiting"></path><path class="running"></path><path class="trouble"></path></svg><div id="brush"></div></div>
</section>
<div id="axis" aria-hidden="true"><span id="axis-caption"></span><div id="ticks"></div></div>
<main>
<div id="grid" aria-hidden="true"><div id="lines"></div><div id="cursor" hidden></div></div>
<div id="chart" tabindex="0" role="application" aria-label="Tasks over time. Arrow keys move, plus and minus zoom, Tab goes to the bars, question mark shows the keys."><div id="rows"></div></div>
<p id="empty" hidden></p>
</main>
<div id="tip" role="tooltip" hidden></div>
<dialog id="help" aria-label="Keys">
<h2>Keys</h2>
<dl>
<dt><kbd>+</kbd> <kbd>−</kbd></dt><dd>zoom; with the pointer: pinch, or the wheel with Ctrl</dd>
<dt><kbd>0</kbd></dt><dd>show all</dd>
<dt><kbd>←</kbd> <kbd>→</kbd> <kbd>↑</kbd> <kbd>↓</kbd></dt><dd>move; on a bar: to the next one</dd>
<dt><kbd>Home</kbd> <kbd>End</kbd></dt><dd>to the beginning, to the end; on a bar: of its lane</dd>
<dt><kbd>Tab</kbd></dt><dd>to the bars</dd>
<dt><kbd>Enter</kbd></dt><dd>pin the description of a bar, or zoom into a column</dd>
<dt><kbd>F</kbd></dt><dd>zoom to the bar</dd>
<dt><kbd>/</kbd></dt><dd>filter</dd>
<dt><kbd>Esc</kbd></dt><dd>unpin, leave, clear the filter</dd>
</dl>
<form method="dialog"><button>Close</button></form>
</dialog>
<script type="application/json" id="data">
"""#
    /// The text that is written after the data.
    static let tail: StaticString = #"""
</script>
<script>"use strict";
(() => {
// Reads the data of the recorder: see TraceModel+Page.swift. Times are in nanoseconds from the beginning of the recording.
const outcomes = ["completed", "failed", "timedOut", "cancelled", "unfinished"];
const outcomeWords = ["completed", "failed", "timed out", "cancelled", "not ended"];
const trace = read(JSON.parse(document.getElementById("data").textContent));

function read(raw) {
    const text = raw.texts;
    const bars = [];
    const readMark = ([time, kind, words, number, by]) => ({ time, kind: text[kind], text: text[words], number, by });
    const groups = raw.groups.map(([primitive, name, owner, laneCount, marks, list], number) => {
        const group = { number, primitive, name, owner, laneCount, marks: marks.map(readMark), bars: [], isOpen: null };
        group.title = name || (owner ? `${primitive} ${owner}` : primitive);
        group.kind = name ? `${primitive} ${owner}` : owner || primitive !== "AsyncTask" ? "" : "no lifetime";
        for (const one of list) {
            const [lane, begin, length, outcome, flags, primitive, subject, task, key, error, detail, first, last, attempt, status, count, delay, age, segments, marks] = one;
            const bar = {
                index: bars.length, group, lane, begin, end: begin + length, outcome, isEarlier: flags === 1, primitive: text[primitive], subject,
                task: text[task], key: text[key], error: text[error], detail: text[detail], first: text[first], last: text[last],
                attempt, status, count, delay, age, segments, marks: marks ? marks.map(readMark) : [],
            };
            // All calls in a task have the name of the task, and these texts distinguish them.
            const own = { flight: bar.key, request: detailLabel(bar) }[noun(bar.primitive)];
            bar.label = own || bar.task || bar.key || detailLabel(bar) || defaultLabel(bar);
            bars.push(bar);
            group.bars.push(bar);
        }
        return group;
    });
    return { title: raw.title, lost: raw.lost, events: raw.events, length: raw.length, groups, bars };
}

/// Returns the detail of a bar. For a request, method and path come before the host, which is often the same for all requests.
function detailLabel(bar) {
    const parts = bar.primitive === "HTTP" ? /^(\S+) [a-z][a-z0-9+.-]*:\/\/([^/?#]*)(.*)$/i.exec(bar.detail) : null;
    return parts ? `${parts[1]} ${parts[3] || "/"} · ${parts[2]}` : bar.detail;
}

function defaultLabel(bar) {
    if (bar.first === "draining") return "drain";
    if (bar.first === "refreshing") return "refresh";
    if (bar.primitive === "AsyncSemaphore") return bar.count > 1 ? `${bar.count} permits` : "permit";
    if (bar.primitive === "withTimeout" && bar.delay >= 0) return `limit ${duration(bar.delay)}`;
    return noun(bar.primitive) === "call" ? bar.primitive : bar.subject;
}

/// The noun for the bars of a group.
function noun(primitive) {
    if (["retry", "withTimeout", "withCancellableContinuation"].includes(primitive)) return "call";
    if (["withSingleFlight", "SingleFlight", "CachedFlight"].includes(primitive)) return "flight";
    return { AsyncSemaphore: "holder", HTTP: "request" }[primitive] ?? "task";
}

/// Calls `body` for each part of a bar in which it is known whether the task ran, with the part's begin and end and with that fact.
function eachStretch(bar, body) {
    const { segments } = bar;
    for (let i = 0; i < segments.length; i += 2) {
        const begin = bar.begin + segments[i];
        const end = i + 2 < segments.length ? bar.begin + segments[i + 2] : bar.end;
        if (end >= begin) body(begin, end, segments[i + 1] === 1);
    }
}

function timeSpent(bar) {
    const spent = { waiting: 0, running: 0 };
    eachStretch(bar, (begin, end, runs) => { spent[runs ? "running" : "waiting"] += end - begin; });
    return spent;
}

/// Returns a duration as text with a unit, with about three digits.
function duration(ns) {
    if (ns < 0) return `−${duration(-ns)}`;
    const digits = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)).replace(/\.0+$|(\.\d*[1-9])0+$/, "$1");
    if (ns < 1e3) return `${Math.round(ns)} ns`;
    if (ns < 999.5e3) return `${digits(ns / 1e3)} µs`;
    if (ns < 999.5e6) return `${digits(ns / 1e6)} ms`;
    if (ns < 60e9) return `${digits(ns / 1e9)} s`;
    const seconds = Math.round(ns / 1e9);
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
}

const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
const counted = (number, one, many = `${one}s`) => `${grouped(number)} ${number === 1 ? one : many}`;
// The bars that are shown, and their rows: a row is a lane, or a whole group with too many lanes to be distinguished.
const laneHeight = 22, groupPadding = 5, groupMinimum = 42, denseHeight = 78, mostOpenLanes = 16;
const filter = { words: "", outcomes: new Set([0, 1, 2, 3, 4]) };
let layout = { groups: [], rows: [], height: 0, count: 0 };

function haystack(bar) {
    bar.haystack ??= [bar.task, bar.key, bar.detail, bar.error, bar.label, bar.subject, bar.primitive, bar.group.title, bar.group.owner]
        .join("\n").toLowerCase();
    return bar.haystack;
}

function isShown(bar, words) {
    return filter.outcomes.has(bar.outcome) && haystack(bar).includes(words);
}

function arrange() {
    const words = filter.words.trim().toLowerCase();
    const isFiltered = words !== "" || filter.outcomes.size < outcomes.length;
    layout = { groups: [], rows: [], height: 0, count: 0 };
    for (const group of trace.groups) {
        const bars = isFiltered ? group.bars.filter((bar) => isShown(bar, words)) : group.bars;
        // Without bars: the events of its owner.
        if (bars.length === 0 && (isFiltered || group.bars.length > 0)) continue;
        place(group, bars);
    }
}

function place(group, bars) {
    const lanes = new Map();
    for (const bar of bars) {
        const lane = lanes.get(bar.lane);
        if (lane) lane.push(bar); else lanes.set(bar.lane, [bar]);
    }
    const isOpen = group.isOpen ?? lanes.size <= mostOpenLanes;
    const shown = { group, bars, top: layout.height, laneCount: lanes.size, isOpen, rows: [], height: 0 };
    const add = (lane, top, height, list) => {
        const row = { shown, lane, top: shown.top + top, height, bars: list, number: layout.rows.length };
        shown.rows.push(row);
        layout.rows.push(row);
    };
    if (isOpen) {
        const order = [...lanes.keys()].sort((a, b) => a - b);
        shown.height = Math.max(groupMinimum, order.length * laneHeight + 2 * groupPadding);
        const first = order.length === 1 ? (groupMinimum - laneHeight) / 2 : groupPadding;
        order.forEach((lane, number) => add(lane, first + number * laneHeight, laneHeight, lanes.get(lane)));
    } else {
        shown.height = denseHeight;
        add(-1, 0, denseHeight, bars);
    }
    shown.begin = bars.length > 0 ? bars[0].begin : 0;
    shown.end = bars.reduce((latest, bar) => Math.max(latest, bar.end), 0);
    layout.groups.push(shown);
    layout.count += bars.length;
    layout.height += shown.height;
}

/// Returns the index of the first element for which `isPast` is true: a binary search in an ordered array.
function firstIndex(things, isPast) {
    let [low, high] = [0, things.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (isPast(things[middle])) high = middle; else low = middle + 1;
    }
    return low;
}

/// The number of bars that wait, run, begin and end badly in each column of a stretch of time.
function profile(bars, from, to, columns) {
    const waiting = new Float64Array(columns + 1), running = new Float64Array(columns + 1);
    const count = new Int32Array(columns), trouble = new Int32Array(columns);
    const scale = columns / (to - from);
    const column = (time) => Math.min(columns - 1, Math.max(0, Math.floor((time - from) * scale)));
    for (const bar of bars) {
        if (bar.begin > to) break;
        if (bar.end < from) continue;
        count[column(bar.begin)] += 1;
        if ((bar.outcome === 1 || bar.outcome === 2) && bar.end <= to) trouble[column(bar.end)] += 1;
        eachStretch(bar, (begin, end, runs) => {
            if (begin > to || end < from) return;
            const list = runs ? running : waiting;
            list[column(begin)] += 1;
            list[column(end) + 1] -= 1;
        });
        if (bar.segments.length === 0) {
            running[column(bar.begin)] += 1;
            running[column(bar.end) + 1] -= 1;
        }
    }
    let most = 0;
    for (let i = 0; i < columns; i += 1) {
        if (i > 0) {
            waiting[i] += waiting[i - 1];
            running[i] += running[i - 1];
        }
        most = Math.max(most, waiting[i] + running[i]);
    }
    return { waiting, running, count, trouble, most };
}
// The view: a stretch of time, and its drawing. Only elements in view are in the document.
const element = (id) => document.getElementById(id);
const chart = element("chart"), rowsElement = element("rows");
const whole = Math.max(trace.length, 1000);
const view = { from: 0, to: 0, width: 1 };

function showAll() {
    view.from = bounded(-Infinity, widest);
    view.to = view.from + widest;
}

// Room at both ends, which shows that bars end there.
const widest = whole * 1.02;
const bounded = (from, span) => Math.min(Math.max(from, -span * 0.008), whole + span * 0.012 - span);

function zoom(factor, at = (view.from + view.to) / 2) {
    const span = Math.min(Math.max((view.to - view.from) * factor, 20), widest);
    const share = (at - view.from) / (view.to - view.from);
    setView(at - span * share, span);
}

function setView(from, span) {
    view.from = bounded(from, span);
    view.to = view.from + span;
    redraw();
}

const pan = (share) => setView(view.from + (view.to - view.from) * share, view.to - view.from);
const x = (time) => (time - view.from) / (view.to - view.from) * view.width;
const timeAt = (position) => view.from + position / view.width * (view.to - view.from);

let isPending = false;
function redraw() {
    if (isPending) return;
    isPending = true;
    const now = () => {
        if (!isPending) return;
        isPending = false;
        draw();
    };
    requestAnimationFrame(now);
    // A page that is not seen, such as a page in the background, gets no frames, and must be right when it is seen again.
    setTimeout(now, 100);
}

const overscan = 240;

// MARK: Elements that stay from one drawing to the next, by their key

const groupElements = new Map(), drawn = new Map();
let focusKey = null;

function keep(map, wanted, make) {
    for (const [key, node] of map) {
        if (wanted.has(key)) continue;
        // The element with the focus stays, out of sight, or the keyboard would be lost.
        if (node === document.activeElement) {
            node.style.transform = "translate(-100px, 0)";
            node.style.width = "1px";
            node.dataset.count = 0;
            continue;
        }
        node.remove();
        map.delete(key);
    }
    for (const [key, thing] of wanted) {
        let node = map.get(key);
        if (!node) {
            node = make(thing);
            map.set(key, node);
        }
    }
}

function draw() {
    view.width = Math.max(1, chart.clientWidth - side());
    rowsElement.style.height = `${layout.height}px`;
    // Rows slightly outside the view are drawn too, so that scrolling shows no gap.
    const top = chart.scrollTop - overscan, bottom = chart.scrollTop + chart.clientHeight + overscan;
    drawGroups(top, bottom);
    const first = firstIndex(layout.rows, (row) => row.top + row.height > top);
    const rows = layout.rows.slice(first, firstIndex(layout.rows, (row) => row.top >= bottom));
    const wanted = barsInView(rows.filter((row) => row.lane >= 0));
    for (const row of rows) if (row.lane < 0) columnsOf(row, wanted);
    keep(drawn, wanted, () => {
        const node = document.createElement("div");
        node.setAttribute("role", "button");
        node.tabIndex = -1;
        return node;
    });
    for (const [key, thing] of wanted) {
        const node = drawn.get(key);
        node.thing = thing;
        thing.key = key;
        thing.update(node, thing);
        const track = groupElements.get(thing.row.shown.group.number).track;
        if (node.parentNode !== track) track.append(node);
    }
    if (!drawn.has(focusKey)) focusKey = drawn.keys().next().value ?? null;
    for (const [key, node] of drawn) node.tabIndex = key === focusKey ? 0 : -1;
    drawArrows(wanted);
    drawMoments();
    drawAxis();
    drawBrush();
    document.body.dataset.scale = String((view.to - view.from) / view.width);
    document.body.dataset.from = String(view.from);
    document.body.dataset.to = String(view.to);
    document.body.dataset.shown = String(layout.count);
    element("empty").hidden = layout.groups.length > 0;
}

const side = () => element("axis-caption").offsetWidth;

// MARK: Bars

/// The largest number of elements that are drawn: with more, a page becomes slow.
const mostBars = 1500;

/// The bars of lanes that are in view. If they are too many, wider ones count as too narrow.
function barsInView(rows) {
    for (let narrowest = 3; ; narrowest *= 2) {
        const wanted = new Map();
        for (const row of rows) barsOf(row, wanted, narrowest);
        if (wanted.size <= mostBars || narrowest > view.width) return wanted;
    }
}

/// Each bar of a lane that is in view; those that are too narrow to be seen one by one are drawn as one, with their number.
function barsOf(row, wanted, narrowest) {
    const { bars } = row;
    let i = firstIndex(bars, (bar) => bar.end >= view.from);
    while (i < bars.length && bars[i].begin <= view.to) {
        const left = x(bars[i].begin);
        let right = x(bars[i].end);
        let last = i;
        if (right - left < narrowest) {
            right = Math.max(right, left + 1.5);
            while (last + 1 < bars.length && bars[last + 1].begin <= view.to) {
                const next = bars[last + 1];
                const [begin, end] = [x(next.begin), x(next.end)];
                if (end - begin >= narrowest || begin > right + narrowest / 3) break;
                right = Math.max(end, begin + 1.5);
                last += 1;
            }
        }
        const thing = { row, left, right, first: i, last, top: row.top - row.shown.top + 2, update: i === last ? updateSingle : updateMerged };
        wanted.set(i === last ? bars[i].index : `${bars[i].index}+`, thing);
        i = last + 1;
    }
}

function box(node, thing, height) {
    const left = Math.max(thing.left, -30), right = Math.min(thing.right, view.width + 30);
    node.style.transform = `translate(${left.toFixed(2)}px, ${thing.top}px)`;
    node.style.width = `${Math.max(right - left, 1.5).toFixed(2)}px`;
    if (height) node.style.height = `${height}px`;
    return { left, right, width: right - left };
}

function updateSingle(node, thing) {
    const bar = thing.row.bars[thing.first];
    const { left, width } = box(node, thing);
    const isNarrow = width < 8;
    let name = `bar single ${outcomes[bar.outcome]}`;
    if (bar.isEarlier) name += " earlier";
    if (bar.segments.length === 0) name += " unknown";
    if (isNarrow) name += " narrow";
    if (isPinned(bar)) name += " pinned";
    node.className = name;
    node.dataset.count = 1;
    if (node.dataset.index !== String(bar.index)) {
        node.dataset.index = bar.index;
        node.dataset.state = outcomes[bar.outcome];
        node.setAttribute("aria-label", spoken(bar));
    }
    const children = [];
    const border = isNarrow ? 0 : bar.isEarlier ? 3 : 1;
    // A stretch of a bar that began earlier, and of which nothing is known, is neither.
    eachStretch(bar, (begin, end, runs) => {
        if (!runs) return;
        const from = Math.max(x(begin) - left - border, 0), to = Math.min(x(end) - left - border, width);
        if (to - from < 0.4) return;
        const run = document.createElement("i");
        run.className = "run";
        run.style.left = `${from.toFixed(2)}px`;
        run.style.width = `${(to - from).toFixed(2)}px`;
        children.push(run);
    });
    if (!isNarrow) addMarks(bar, left + border, width, children);
    if (width > 20) children.push(labelOf(bar, Math.max(0, -left), width));
    node.replaceChildren(...children);
}

function addMarks(bar, left, width, children) {
    let previous = -Infinity;
    for (const mark of bar.marks) {
        if (quietKinds.has(mark.kind)) continue;
        const at = x(mark.time) - left;
        if (at < -4 || at > width || at < previous + 3) continue;
        previous = at;
        const tick = document.createElement("i");
        tick.className = `tick${isBad(mark) ? " bad" : mark.kind === "cancelled" ? " stop" : ""}`;
        tick.dataset.kind = mark.kind;
        tick.style.left = `${Math.max(0, Math.min(at, width - 4)).toFixed(2)}px`;
        children.push(tick);
    }
}

// Nearly every bar begins with these events, so no tick is drawn for them; the description lists them.
const quietKinds = new Set(["created", "boundToLifetime", "stored", "detached"]);
const badKinds = new Set([
    "failed", "workFailed", "unhandledError", "errorAfterCancellation", "abandonedWorkEnded", "continuationDropped", "resumedAgain",
    "resumedAfterFailure", "rejected", "dropped", "refused",
]);
const isBad = (mark) => badKinds.has(mark.kind);

function labelOf(bar, start, width) {
    const label = document.createElement("div");
    label.className = "label";
    label.style.left = `${start.toFixed(2)}px`;
    const sign = glyph(bar.outcome);
    if (sign) label.append(sign);
    // Fewer than a few letters give no information.
    if (width - start < 38) return label;
    const name = document.createElement("span");
    name.textContent = bar.label;
    label.append(name);
    const joins = bar.marks.filter((mark) => mark.kind === "joined").length;
    const small = [duration(bar.end - bar.begin)];
    if (joins > 0) small.push(`+${grouped(joins)} joined`);
    while (small.length > 0 && width - start < 24 + bar.label.length * 7 + small.join(" · ").length * 6.5) small.pop();
    if (small.length > 0) {
        const more = document.createElement("small");
        more.textContent = small.join(" · ");
        label.append(more);
    }
    return label;
}

const glyphPaths = [null, "M2.5 2.5l7 7m0-7l-7 7", "M6 3v3.2l2 1.6M6 1.2a4.8 4.8 0 1 0 .01 0", "M2.8 9.2l6.4-6.4M6 1.2a4.8 4.8 0 1 0 .01 0", "M2 6h7.5m-3-3l3 3-3 3"];

function glyph(outcome) {
    if (!glyphPaths[outcome]) return null;
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 12 12");
    svg.setAttribute("class", "glyph");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", glyphPaths[outcome]);
    svg.append(path);
    return svg;
}

function spoken(bar) {
    const spent = timeSpent(bar);
    return `${bar.label}, ${bar.group.title}, ${outcomeWords[bar.outcome]}, ${duration(bar.end - bar.begin)}, of that waiting ${duration(spent.waiting)}`;
}

// The worst first, which is at the bottom.
const worstFirst = [1, 2, 3, 4, 0];

function tally(bars, from, to) {
    const counts = [0, 0, 0, 0, 0];
    for (let i = from; i <= to; i += 1) counts[bars[i].outcome] += 1;
    return counts;
}

function updateMerged(node, thing) {
    box(node, thing, 18);
    const { bars } = thing.row;
    const number = thing.last - thing.first + 1;
    const counts = tally(bars, thing.first, thing.last);
    let [share, stops] = [0, []];
    for (const outcome of worstFirst) {
        if (counts[outcome] === 0) continue;
        // A rare outcome is still seen.
        const next = outcome === 0 ? 100 : Math.min(100, share + Math.max(15, counts[outcome] / number * 100));
        stops.push(`var(--${outcomes[outcome]}-edge) ${share}% ${next}%`);
        share = next;
    }
    node.className = "bar merged";
    node.style.background = `linear-gradient(to top, ${stops.join(", ")})`;
    node.dataset.count = number;
    node.setAttribute("aria-label", `${counted(number, "task")}, too short to be drawn one by one`);
}

// MARK: Arrows, from the task that cancels to the task that is cancelled

const arrowsElement = document.createElementNS("http://www.w3.org/2000/svg", "svg");
const arrowsPath = document.createElementNS("http://www.w3.org/2000/svg", "path");
arrowsElement.id = "arrows";
arrowsElement.setAttribute("aria-hidden", "true");
arrowsElement.append(arrowsPath);

/// One arrow per cancellation whose two bars are drawn. One element for all of them.
function drawArrows(wanted) {
    const lines = [];
    for (const thing of wanted.values()) {
        if (thing.update !== updateSingle) continue;
        for (const mark of thing.row.bars[thing.first].marks) {
            const canceller = mark.kind === "cancelled" && mark.by >= 0 ? wanted.get(mark.by) : undefined;
            const at = x(mark.time);
            if (!canceller || canceller === thing || at < 0 || at > view.width) continue;
            lines.push(arrow(at, canceller.row.top + laneHeight / 2, thing.row.top + laneHeight / 2));
        }
    }
    if (!arrowsElement.parentNode) rowsElement.append(arrowsElement);
    arrowsElement.dataset.count = lines.length;
    arrowsPath.setAttribute("d", lines.join(""));
}

/// A vertical line, since a cancellation takes no time, with a head at its end.
function arrow(at, from, to) {
    const back = to > from ? -5 : 5;
    return `M${at.toFixed(1)} ${from}V${to}m-3 ${back}l3 ${-back}l3 ${back}`;
}

// MARK: Columns, of a group that is not opened

const columnWidth = 4;

function columnsOf(row, wanted) {
    const columns = Math.max(1, Math.ceil(view.width / columnWidth));
    const to = timeAt(columns * columnWidth);
    const sums = profile(row.bars, view.from, to, columns);
    for (let i = 0; i < columns; i += 1) {
        if (sums.waiting[i] + sums.running[i] === 0 && sums.count[i] === 0) continue;
        wanted.set(`${row.shown.group.number}/${i}`, {
            row, column: i, left: i * columnWidth, right: (i + 1) * columnWidth, top: 6, update: updateColumn, most: sums.most,
            count: sums.count[i], waiting: sums.waiting[i], running: sums.running[i], trouble: sums.trouble[i],
            begin: timeAt(i * columnWidth), end: timeAt((i + 1) * columnWidth),
        });
    }
}

function updateColumn(node, thing) {
    const height = denseHeight - 12;
    box(node, thing, height);
    node.className = "bar column";
    node.dataset.count = thing.count;
    node.dataset.waiting = thing.waiting;
    node.dataset.running = thing.running;
    node.setAttribute("aria-label", `${counted(thing.count, "task")} began, ${thing.running} run, ${thing.waiting} wait, at ${duration(thing.begin)}`);
    const part = (name, share) => {
        const piece = document.createElement("i");
        piece.className = name;
        if (share !== undefined) piece.style.height = `${(share * (height - 6)).toFixed(1)}px`;
        return piece;
    };
    const parts = [];
    const works = thing.running / thing.most, waits = thing.waiting / thing.most;
    if (waits > 0) parts.push(part("waits", waits + works));
    if (works > 0) parts.push(part("works", Math.max(works, 0.02)));
    if (thing.trouble > 0) parts.push(part("trouble"));
    node.replaceChildren(...parts);
}
// The parts around the bars: groups, moments of their owners, the axis, the overview.

function drawGroups(top, bottom) {
    const wanted = new Map();
    const first = firstIndex(layout.groups, (shown) => shown.top + shown.height > top);
    for (let i = first; i < layout.groups.length && layout.groups[i].top < bottom; i += 1) {
        wanted.set(layout.groups[i].group.number, layout.groups[i]);
    }
    for (const [key, node] of groupElements) {
        if (wanted.has(key) || node.contains(document.activeElement)) continue;
        for (const bar of node.querySelectorAll(".bar")) drawn.delete(bar.thing.key);
        node.remove();
        groupElements.delete(key);
    }
    for (const [key, shown] of wanted) {
        let node = groupElements.get(key);
        if (!node) {
            node = makeGroup(shown.group);
            groupElements.set(key, node);
            rowsElement.append(node);
        }
        node.shown = shown;
        node.style.transform = `translateY(${shown.top}px)`;
        node.style.height = `${shown.height}px`;
        node.head.replaceChildren(...headOf(shown));
        // Where to look, if all of it is elsewhere.
        const isBefore = shown.end < view.from, isAfter = shown.begin > view.to;
        node.away.hidden = shown.bars.length === 0 || !(isBefore || isAfter);
        node.away.classList.toggle("after", isAfter);
        node.away.textContent = isBefore ? `← until ${duration(shown.end)}` : `from ${duration(shown.begin)} →`;
        if (shown.group.laneCount > 1) node.head.setAttribute("aria-expanded", String(shown.isOpen));
    }
}

function makeGroup(group) {
    const node = document.createElement("section");
    node.className = "group";
    node.dataset.group = group.number;
    node.setAttribute("aria-label", group.title);
    const sideElement = document.createElement("div");
    sideElement.className = "side";
    node.head = document.createElement(group.laneCount > 1 ? "button" : "div");
    if (group.laneCount > 1) {
        node.head.type = "button";
        node.head.addEventListener("click", () => {
            group.isOpen = !node.shown.isOpen;
            arrange();
            redraw();
        });
    }
    sideElement.append(node.head);
    node.track = document.createElement("div");
    node.track.className = "track";
    node.away = document.createElement("p");
    node.away.className = "away";
    node.track.append(node.away);
    node.append(node.track, sideElement);
    return node;
}

function headOf(shown) {
    const { group, bars } = shown;
    const title = document.createElement("b");
    title.textContent = group.title;
    const kind = document.createElement("small");
    const counts = tally(bars, 0, bars.length - 1);
    kind.textContent = [group.kind, counted(bars.length, noun(group.primitive))].filter(Boolean).join(" · ");
    title.title = `${group.title}\n${kind.textContent}`;
    const most = document.createElement("small");
    most.textContent = `up to ${grouped(shown.laneCount)} at once`;
    // Where there is room, in the line that is shorter.
    const line = shown.isOpen ? kind : most;
    for (const outcome of [1, 2]) {
        if (counts[outcome] === 0) continue;
        const trouble = document.createElement("em");
        trouble.textContent = ` · ${grouped(counts[outcome])} ${outcomeWords[outcome]}`;
        line.append(trouble);
    }
    return shown.isOpen ? [title, kind] : [title, kind, most];
}

/// Draws the events of the owners, as diamonds along the upper edge of their groups.
function drawMoments() {
    for (const node of groupElements.values()) {
        for (const old of node.track.querySelectorAll(".moment")) old.remove();
        let previous = null;
        for (const mark of node.shown.group.marks) {
            if (quietKinds.has(mark.kind)) continue;
            const at = x(mark.time);
            if (at < -5 || at > view.width + 5) continue;
            if (previous && at - previous.at < 8) {
                previous.marks.push(mark);
                if (isBad(mark)) previous.node.classList.add("bad");
                continue;
            }
            const moment = document.createElement("i");
            moment.className = `moment${isBad(mark) ? " bad" : ""}`;
            moment.style.transform = `translate(${at.toFixed(1)}px, 0)`;
            moment.marks = [mark];
            previous = { at, marks: moment.marks, node: moment };
            node.track.append(moment);
        }
    }
}

// MARK: The axis

const steps = [1, 2, 5];
const longSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400].map((seconds) => seconds * 1e9);

function tickStep(least) {
    if (least > 1e9) return longSteps.find((step) => step >= least) ?? Math.ceil(least / 86400e9) * 86400e9;
    const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    return steps.map((step) => step * power).find((step) => step >= least) ?? power * 10;
}

function tickLabel(time, step) {
    if (time === 0) return "0";
    if (step >= 60e9) {
        const minutes = Math.round(time / 60e9);
        return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ""}`;
    }
    const [unit, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([unit]) => view.to >= unit) ?? [1, "ns"];
    return `${(time / unit).toFixed(Math.max(0, Math.round(Math.log10(unit / step) + 0.49)))} ${name}`;
}

function drawAxis() {
    const step = tickStep((view.to - view.from) / view.width * 112);
    const labels = [], lines = [];
    for (let time = Math.max(0, Math.ceil(view.from / step) * step); time <= view.to; time += step) {
        const label = document.createElement("span");
        label.textContent = tickLabel(time, step);
        label.style.transform = `translateX(${x(time).toFixed(1)}px)`;
        labels.push(label);
        const line = document.createElement("i");
        line.style.transform = label.style.transform;
        lines.push(line);
    }
    element("ticks").replaceChildren(...labels);
    element("lines").replaceChildren(...lines);
    element("axis-caption").textContent = `${duration(view.to - view.from)} in view`;
}

// MARK: The overview

function drawOverview() {
    const svg = element("overview-chart");
    const columns = 400, height = 100;
    const all = [...trace.bars].sort((a, b) => a.begin - b.begin);
    const sums = profile(all, 0, whole, columns);
    svg.setAttribute("viewBox", `0 0 ${columns} ${height}`);
    const area = (value) => {
        let path = `M0 ${height}`;
        for (let i = 0; i < columns; i += 1) {
            const y = (height - value(i) / Math.max(1, sums.most) * (height - 14)).toFixed(1);
            path += `L${i} ${y}L${i + 1} ${y}`;
        }
        return `${path}L${columns} ${height}Z`;
    };
    svg.querySelector(".waiting").setAttribute("d", area((i) => sums.waiting[i] + sums.running[i]));
    svg.querySelector(".running").setAttribute("d", area((i) => sums.running[i]));
    let trouble = "";
    for (let i = 0; i < columns; i += 1) if (sums.trouble[i] > 0) trouble += `M${i} 0h1v9h-1z`;
    svg.querySelector(".trouble").setAttribute("d", trouble);
    element("overview-caption").textContent = `up to ${grouped(sums.most)} at once`;
}

function drawBrush() {
    const brush = element("brush");
    const from = Math.max(0, view.from / whole), to = Math.min(1, view.to / whole);
    brush.style.left = `${from * 100}%`;
    brush.style.width = `${(to - from) * 100}%`;
    element("overview").classList.toggle("whole", from === 0 && to === 1);
}
// The description of a bar, under the pointer or the focus, or pinned. All of it is text: whatever a name contains, it is no markup.
const tip = element("tip");
let pinned = null;

const isPinned = (bar) => pinned !== null && pinned.bar === bar;

function show(thing, at) {
    if (pinned) return;
    fill(thing);
    tip.hidden = false;
    move(at);
}

function hide() {
    if (!pinned) tip.hidden = true;
}

function move({ left, top, bottom }) {
    const gap = 10;
    const { width, height } = tip.getBoundingClientRect();
    const x = Math.max(8, Math.min(left, innerWidth - width - 8));
    const below = bottom + gap;
    const y = below + height <= innerHeight - 8 ? below : Math.max(8, top - gap - height);
    tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
}

function pin(node) {
    const bar = barOf(node.thing);
    if (!bar) return;
    unpin();
    pinned = { bar, node };
    fill(node.thing);
    tip.hidden = false;
    tip.classList.add("pinned");
    const close = document.createElement("button");
    close.type = "button";
    close.className = "close";
    close.textContent = "×";
    close.setAttribute("aria-label", "Close");
    close.addEventListener("click", unpin);
    tip.prepend(close);
    move(node.getBoundingClientRect());
    redraw();
}

function unpin() {
    if (!pinned) return;
    if (tip.contains(document.activeElement)) pinned.node.focus();
    pinned = null;
    tip.classList.remove("pinned");
    tip.hidden = true;
    redraw();
}

const barOf = (thing) => thing.row && thing.row.lane >= 0 && thing.first === thing.last ? thing.row.bars[thing.first] : null;

function fill(thing) {
    const bar = barOf(thing);
    tip.className = "";
    if (bar) {
        fillWithBar(bar);
    } else if (thing.marks) {
        tell(counted(thing.marks.length, "moment"), null, thing.marks.slice(0, 12).map((mark) => [`at ${duration(mark.time)}`, sentence(mark)]));
    } else if (thing.row.lane < 0) {
        tell(`${duration(Math.max(0, thing.begin))} – ${duration(thing.end)}`, null, [
            ["began here", counted(thing.count, "task")], ["running", grouped(thing.running)], ["waiting", grouped(thing.waiting)],
            ["ended badly", thing.trouble > 0 ? grouped(thing.trouble) : ""],
        ], "Click to zoom in");
    } else {
        const counts = tally(thing.row.bars, thing.first, thing.last);
        tell(counted(thing.last - thing.first + 1, "task"), null, counts.map((count, i) => [outcomeWords[i], count > 0 ? grouped(count) : ""]), "Click to zoom in");
    }
}

function fillWithBar(bar) {
    const spent = timeSpent(bar);
    const { group } = bar;
    const age = bar.age >= 0 ? Math.max(bar.age, bar.end - bar.begin) : bar.end - bar.begin;
    const isOpen = bar.outcome === 4;
    const marks = bar.marks.filter((mark) => !quietKinds.has(mark.kind));
    const rows = [
        ["kind", bar.primitive],
        ["owner", group.owner ? [group.name, group.primitive, group.owner].filter(Boolean).join(" ") : "none"],
        ["task", bar.task], ["key", bar.key], ["detail", bar.detail],
        ["error", bar.error, "error"],
        ["attempt", bar.attempt >= 0 ? String(bar.attempt) : ""], ["status", bar.status >= 0 ? String(bar.status) : ""],
        ["count", bar.count >= 0 ? String(bar.count) : ""],
        [bar.primitive.startsWith("with") ? "limit" : "delay", bar.delay >= 0 ? duration(bar.delay) : ""],
        ["began", bar.isEarlier ? "before the recording" : `at ${duration(bar.begin)}`],
        ["age", isOpen ? `${duration(age)}, not ended` : bar.isEarlier && bar.age < 0 ? `more than ${duration(age)}` : duration(age)],
        ["waiting", bar.segments.length > 0 ? duration(spent.waiting) : ""], ["running", bar.segments.length > 0 ? duration(spent.running) : ""],
        ["subject", bar.subject],
        ...marks.slice(0, 10).map((mark) => [`at ${duration(mark.time)}`, sentence(mark)]),
        ["", marks.length > 10 ? `and ${counted(marks.length - 10, "moment")} more` : ""],
    ];
    tell(bar.label, bar, rows, pinned ? "" : "Click or Enter to pin");
}

function sentence(mark) {
    const by = mark.by >= 0 ? ` by ${trace.bars[mark.by].label}` : "";
    return `${mark.kind}${mark.number >= 0 ? ` (${mark.number})` : ""}${by}${mark.text ? `: ${mark.text}` : ""}`;
}

function tell(title, bar, rows, hint) {
    const heading = document.createElement("h3");
    heading.textContent = title;
    const parts = [heading];
    if (bar) {
        tip.className = outcomes[bar.outcome];
        const state = document.createElement("span");
        state.className = "state";
        const sign = glyph(bar.outcome);
        if (sign) state.append(sign);
        const last = bar.last && bar.last !== outcomes[bar.outcome] ? ` (${bar.last})` : "";
        state.append(outcomeWords[bar.outcome] + (bar.outcome === 4 ? (isRunning(bar) ? ", running" : ", waiting") : last));
        parts.push(state);
    }
    const list = document.createElement("dl");
    for (const [name, value, kind] of rows) {
        if (!value) continue;
        const term = document.createElement("dt"), description = document.createElement("dd");
        term.textContent = name;
        description.textContent = value;
        if (kind) description.className = kind;
        list.append(term, description);
    }
    parts.push(list);
    if (hint) {
        const line = document.createElement("p");
        line.className = "hint";
        line.textContent = hint;
        parts.push(line);
    }
    tip.replaceChildren(...parts);
}

const isRunning = (bar) => bar.segments.length === 0 || bar.segments[bar.segments.length - 1] === 1;
// Pointer and keyboard.

const within = (event) => event.clientX - rowsElement.getBoundingClientRect().left - side();
const barAt = (target) => target.closest?.(".bar");

chart.addEventListener("scroll", () => { hide(); redraw(); }, { passive: true });
chart.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.01), timeAt(within(event)));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        pan((event.deltaX || event.deltaY) / view.width);
    }
}, { passive: false });

let drag = null;
chart.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.target.closest(".side") || event.offsetX > chart.clientWidth) return;
    drag = { x: event.clientX, y: event.clientY, from: view.from, top: chart.scrollTop, hasMoved: false };
});
addEventListener("pointermove", (event) => {
    if (!drag) return;
    if (!drag.hasMoved) {
        if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 4) return;
        drag.hasMoved = true;
        chart.classList.add("panning");
        hide();
    }
    chart.scrollTop = drag.top - (event.clientY - drag.y);
    const span = view.to - view.from;
    setView(drag.from - (event.clientX - drag.x) / view.width * span, span);
});
for (const name of ["pointerup", "pointercancel"]) {
    addEventListener(name, () => {
        chart.classList.remove("panning");
        // A click that ends a drag does not count.
        setTimeout(() => { drag = null; }, 0);
        if (drag && !drag.hasMoved) drag = null;
    });
}

chart.addEventListener("pointermove", (event) => {
    const at = within(event);
    const cursor = element("cursor");
    cursor.hidden = at < 0 || drag?.hasMoved;
    cursor.style.transform = `translateX(${at}px)`;
    if (drag?.hasMoved) return;
    const node = barAt(event.target) ?? event.target.closest(".moment");
    if (!node) return hide();
    show(node.thing ?? { marks: node.marks }, { left: event.clientX + 12, top: event.clientY - 6, bottom: event.clientY + 6 });
});
chart.addEventListener("pointerleave", () => { element("cursor").hidden = true; hide(); });
chart.addEventListener("click", (event) => {
    if (drag?.hasMoved) return;
    const node = barAt(event.target);
    if (!node) return unpin();
    focusBar(node, true);
    act(node);
});
chart.addEventListener("dblclick", (event) => {
    const node = barAt(event.target);
    if (node) zoomTo(node.thing);
});

/// Pins the description of a bar, or zooms into a bar that stands for many.
function act(node) {
    const bar = barOf(node.thing);
    if (!bar) return zoomTo(node.thing);
    if (isPinned(bar)) unpin(); else pin(node);
}

function zoomTo(thing) {
    const bar = barOf(thing);
    const { bars } = thing.row;
    const [begin, end] = bar ? [bar.begin, bar.end] : thing.row.lane < 0 ? [thing.begin, thing.end] : [bars[thing.first].begin, bars[thing.last].end];
    const span = Math.max((end - begin) * 1.2, 20);
    hide();
    setView((begin + end) / 2 - span / 2, Math.min(span, widest));
}

// MARK: The keyboard

function focusBar(node, isQuiet) {
    focusKey = node.thing.key;
    for (const other of drawn.values()) other.tabIndex = other === node ? 0 : -1;
    node.focus({ preventScroll: true });
    if (!isQuiet) show(node.thing, node.getBoundingClientRect());
}

chart.addEventListener("focusin", (event) => {
    const node = barAt(event.target);
    if (node && node.matches(":focus-visible")) {
        focusKey = node.thing.key;
        show(node.thing, node.getBoundingClientRect());
    }
});
chart.addEventListener("focusout", hide);

/// The element that is nearest to a moment in a row, which is brought into view first.
function reveal(row, time, bar) {
    if (row.top < chart.scrollTop) chart.scrollTop = row.top - 6;
    else if (row.top + row.height > chart.scrollTop + chart.clientHeight) chart.scrollTop = row.top + row.height - chart.clientHeight + 6;
    if (bar && (bar.end < view.from || bar.begin > view.to)) {
        const span = view.to - view.from;
        view.from = bounded((bar.begin + Math.min(bar.end, bar.begin + span)) / 2 - span / 2, span);
        view.to = view.from + span;
    }
    draw();
    let [best, distance] = [null, Infinity];
    for (const node of drawn.values()) {
        const { thing } = node;
        if (thing.row !== row) continue;
        if (bar && row.lane >= 0) {
            const index = row.bars.indexOf(bar);
            if (thing.first <= index && index <= thing.last) return node;
        }
        const away = Math.max(thing.left - x(time), x(time) - thing.right, 0);
        if (away < distance) [best, distance] = [node, away];
    }
    return best;
}

const middleOf = (thing) => timeAt((Math.max(thing.left, 0) + Math.min(thing.right, view.width)) / 2);

function step(node, direction) {
    const { thing } = node;
    if (thing.row.lane < 0) {
        const others = [...drawn.values()].filter((other) => other.thing.row === thing.row).sort((a, b) => a.thing.column - b.thing.column);
        return others[others.indexOf(node) + direction] ?? null;
    }
    const bar = thing.row.bars[direction > 0 ? thing.last + 1 : thing.first - 1];
    return bar ? reveal(thing.row, bar.begin, bar) : null;
}

function change(node, direction) {
    const { thing } = node;
    const time = middleOf(thing);
    for (let i = thing.row.number + direction; i >= 0 && i < layout.rows.length; i += direction) {
        const row = layout.rows[i];
        if (row.bars.length === 0) continue;
        const found = reveal(row, time);
        if (found) return found;
        // No part of it is in view: the next element that is, or the last before.
        const next = row.bars[Math.min(row.bars.length - 1, firstIndex(row.bars, (bar) => bar.end >= time))];
        return reveal(row, next.begin, next);
    }
    return null;
}

const barKeys = {
    ArrowRight: (node) => step(node, 1),
    ArrowLeft: (node) => step(node, -1),
    ArrowDown: (node) => change(node, 1),
    ArrowUp: (node) => change(node, -1),
    Home: ({ thing }) => thing.row.lane < 0 ? null : reveal(thing.row, 0, thing.row.bars[0]),
    End: ({ thing }) => thing.row.lane < 0 ? null : reveal(thing.row, 0, thing.row.bars[thing.row.bars.length - 1]),
    Enter: (node) => act(node),
    " ": (node) => act(node),
    f: (node) => zoomTo(node.thing),
};

const chartKeys = {
    ArrowRight: () => pan(0.15),
    ArrowLeft: () => pan(-0.15),
    ArrowDown: () => { chart.scrollTop += 3 * laneHeight; },
    ArrowUp: () => { chart.scrollTop -= 3 * laneHeight; },
    PageDown: () => { chart.scrollTop += chart.clientHeight * 0.9; },
    PageUp: () => { chart.scrollTop -= chart.clientHeight * 0.9; },
    Home: () => setView(-Infinity, view.to - view.from),
    End: () => setView(Infinity, view.to - view.from),
};

const everywhereKeys = {
    "+": (at) => zoom(1 / 1.5, at),
    "=": (at) => zoom(1 / 1.5, at),
    "-": (at) => zoom(1.5, at),
    "_": (at) => zoom(1.5, at),
    0: () => { showAll(); redraw(); },
    "/": () => element("search").focus(),
    "?": () => element("help").showModal(),
};

addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || element("help").open) return;
    const target = event.target;
    if (event.key === "Escape") return escape(event);
    if (target instanceof HTMLInputElement) return;
    const node = barAt(target);
    const isChart = target === chart || target === document.body;
    if (node && !event.shiftKey && Object.hasOwn(barKeys, event.key)) {
        event.preventDefault();
        const next = barKeys[event.key](node);
        if (next) focusBar(next);
    } else if (Object.hasOwn(everywhereKeys, event.key)) {
        event.preventDefault();
        everywhereKeys[event.key](node ? middleOf(node.thing) : undefined);
    } else if ((isChart || node) && Object.hasOwn(chartKeys, event.key)) {
        event.preventDefault();
        chartKeys[event.key]();
    }
});

function escape(event) {
    const search = element("search");
    if (pinned) return unpin();
    if (!tip.hidden) return hide();
    if (event.target === search && search.value) {
        event.preventDefault();
        search.value = "";
        return applyFilter();
    }
    if (event.target === search || barAt(event.target)) chart.focus();
}

// MARK: The overview and the tools

const overviewTrack = element("overview-track");
let brushing = null;
const overviewTime = (event) => {
    const { left, width } = overviewTrack.getBoundingClientRect();
    return (event.clientX - left) / width * whole;
};
overviewTrack.addEventListener("pointerdown", (event) => {
    overviewTrack.setPointerCapture(event.pointerId);
    const time = overviewTime(event);
    const isInside = event.target.id === "brush" && !element("overview").classList.contains("whole");
    brushing = { start: time, offset: isInside ? time - view.from : null };
});
overviewTrack.addEventListener("pointermove", (event) => {
    if (!brushing) return;
    const time = overviewTime(event);
    if (brushing.offset !== null) return setView(time - brushing.offset, view.to - view.from);
    const [from, to] = [Math.min(time, brushing.start), Math.max(time, brushing.start)];
    if (to - from > whole * 0.003) setView(from, to - from);
});
overviewTrack.addEventListener("pointerup", (event) => {
    const time = overviewTime(event);
    if (brushing?.offset === null && Math.abs(time - brushing.start) <= whole * 0.003) setView(time - (view.to - view.from) / 2, view.to - view.from);
    brushing = null;
});

element("zoom-in").addEventListener("click", () => zoom(1 / 2));
element("zoom-out").addEventListener("click", () => zoom(2));
element("zoom-fit").addEventListener("click", everywhereKeys[0]);
element("keys").addEventListener("click", everywhereKeys["?"]);

function applyFilter() {
    filter.words = element("search").value;
    unpin();
    arrange();
    describe();
    chart.scrollTop = 0;
    redraw();
}
let typing = 0;
element("search").addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(applyFilter, trace.bars.length > 20000 ? 200 : 40);
});
// The head of the page, and the first drawing.

function describe() {
    const total = trace.bars.length;
    const all = total === 1 ? "1 task or call" : `${grouped(total)} tasks and calls`;
    const tasks = layout.count === total ? all : `${grouped(layout.count)} of ${all}`;
    element("summary").textContent = total === 0 ? "" : `${tasks} · ${counted(trace.groups.length, "owner")} · ${duration(trace.length)} · ${counted(trace.events, "event")}`;
    element("empty").textContent = total > 0
        ? "No task matches the filter.\nPress Esc in the filter to show all."
        : trace.events > 0 ? "The recorded events contain no task and no call." : "Nothing was recorded.\nAdd the recorder with TaskDiagnostics.observe before the tasks begin.";
}

function begin() {
    document.title = trace.title;
    element("title").textContent = trace.title;
    document.body.dataset.total = String(trace.bars.length);
    const lost = element("lost");
    lost.hidden = trace.lost === 0;
    lost.textContent = `${counted(trace.lost, "earlier event")} ${trace.lost === 1 ? "was" : "were"} dropped`;
    lost.title = "The recorder keeps the latest events; TraceRecorder(capacity:) sets how many.";
    const counts = tally(trace.bars, 0, trace.bars.length - 1);
    element("outcomes").append(...outcomes.map((name, outcome) => chip(name, outcome, counts[outcome])));
    element("overview").hidden = trace.bars.length === 0;
    arrange();
    describe();
    showAll();
    drawOverview();
    draw();
    new ResizeObserver(redraw).observe(chart);
    document.body.dataset.ready = "yes";
}

function chip(name, outcome, count) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "chip";
    button.dataset.outcome = name;
    button.setAttribute("aria-pressed", "true");
    const sample = document.createElement("span");
    sample.className = `sample ${name}`;
    const sign = glyph(outcome);
    if (sign) sample.append(sign);
    const number = document.createElement("b");
    number.textContent = grouped(count);
    button.append(sample, `${outcomeWords[outcome]} `, number);
    button.addEventListener("click", () => {
        const isOn = !filter.outcomes.delete(outcome);
        if (isOn) filter.outcomes.add(outcome);
        button.setAttribute("aria-pressed", String(isOn));
        applyFilter();
    });
    return button;
}

begin();
})();</script>
</body>
</html>

"""#
}
