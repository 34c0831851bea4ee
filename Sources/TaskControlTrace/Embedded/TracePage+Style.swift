// Made of the files in Page by scripts/trace-page; not to be changed here.
// swift-format-ignore-file

extension TracePage {
    static let style: StaticString = #"""
:root {
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
}
"""#
}
