// Made of the files in Page by scripts/trace-page; not to be changed here.
// swift-format-ignore-file

extension TracePage {
    static let main: StaticString = #"""
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

"""#
}
