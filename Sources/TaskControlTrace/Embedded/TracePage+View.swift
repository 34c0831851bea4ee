// Made of the files in Page by scripts/trace-page; not to be changed here.
// swift-format-ignore-file

extension TracePage {
    static let view: StaticString = #"""
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

"""#
}
