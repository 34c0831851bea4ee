// Made of the files in Page by scripts/trace-page; not to be changed here.
// swift-format-ignore-file

extension TracePage {
    static let data: StaticString = #"""
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

"""#
}
