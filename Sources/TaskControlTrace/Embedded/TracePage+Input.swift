// Made of the files in Page by scripts/trace-page; not to be changed here.
// swift-format-ignore-file

extension TracePage {
    static let input: StaticString = #"""
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

"""#
}
