// Made of the files in Page by scripts/trace-page; not to be changed here.
// swift-format-ignore-file

extension TracePage {
    static let rows: StaticString = #"""
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

"""#
}
