// Made of the files in Page by scripts/trace-page; not to be changed here.
// swift-format-ignore-file

extension TracePage {
    static let frame: StaticString = #"""
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

"""#
}
