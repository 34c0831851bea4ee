// Made of the files in Page by scripts/trace-page; not to be changed here.
// swift-format-ignore-file

extension TracePage {
    static let tip: StaticString = #"""
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

"""#
}
