#if SUBPROCESSES
import Foundation
import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlTrace

/// The page, in a real browser: what is drawn, and what the keyboard does.
@Suite(
    .serialized,
    .enabled(if: Browser.path != nil, "run scripts/trace-page check, or name a browser in TASKCONTROL_BROWSER"),
    .timeLimit(.minutes(15))
)
struct TracePageTests {
    /// Ten tasks of four owners, with all outcomes.
    static let ten: TraceModel = {
        var recording = Recording()
        recording.turn(10, (0, 0, 45), named: "uploads", task: "photo 1")
        recording.turn(11, (0, 45, 90), task: "photo 2")
        recording.turn(12, (0, 90, 130), task: "photo 3", end: .failed, error: "ConnectionLost()")
        recording.turn(13, (10, 60, 60), task: "photo 4", end: .skipped)
        for (subject, task) in [(20, "profile"), (21, "feed"), (22, "location")] as [(UInt64, String)] {
            recording.tell(.asyncTask, .created, .began(.waiting), at: 5, of: subject, task: task)
            recording.tell(.asyncTask, .boundToLifetime, at: 5, of: subject, in: 2)
            recording.tell(.asyncTask, .started, .entered(.running), at: 6, of: subject)
            if subject < 22 { recording.tell(.asyncTask, .completed, .ended(.completed), at: 80, of: subject, in: 2) }
        }
        recording.tell(.withTimeout, .started, .began(.waiting), at: 20, of: 30, task: "feed")
        recording.tell(.withTimeout, .running, .entered(.running), at: 21, of: 30)
        recording.tell(.withTimeout, .timedOut, .ended(.timedOut), at: 70, of: 30, error: "TimeoutError()")
        recording.tell(.withSingleFlight, .started, .began(.waiting), at: 30, of: 40, in: 3, key: "token")
        recording.tell(.withSingleFlight, .running, .entered(.running), at: 31, of: 40, in: 3)
        recording.tell(.withSingleFlight, .joined, at: 40, of: 40, in: 3)
        recording.tell(.withSingleFlight, .completed, .ended(.completed), at: 100, of: 40, in: 3)
        recording.tell(.asyncTask, .created, .began(.waiting), at: 120, of: 23, task: "poll")
        return recording.model(now: 150)
    }()

    private func states(_ visit: Browser.Visit) -> [String: Int] {
        let states = visit.tags(ofClass: "bar").compactMap {
            $0.firstMatch(of: /data-state="(\w+)"/).map { String($0.1) }
        }
        return Dictionary(states.map { ($0, 1) }, uniquingKeysWith: +)
    }

    @Test func tenTasksAreTenBarsInTheLanesOfTheirOwners() async throws {
        let visit = try await Browser.visit(Self.ten.text(as: .html, title: "Ten"))
        #expect(visit.console == [] && visit.attribute("data-ready") == "yes")
        #expect(Self.ten.bars.count == 10 && visit.tags(ofClass: "bar").count == 10 && visit.barCount == 10)
        let outcomes = Dictionary(Self.ten.bars.map { ("\($0.outcome)", 1) }, uniquingKeysWith: +)
        #expect(states(visit) == outcomes && outcomes.count == 5)
        #expect(visit.tags(ofClass: "group").count == Self.ten.groups.count && Self.ten.groups.count == 5)
        // Each that has run shows for how long; "photo 4" and "poll" have only waited.
        #expect(visit.tags(ofClass: "run").count == 8)
        for text in [
            "uploads", "photo 1", "profile", "token", "AsyncLifetime #2", "10 tasks and calls · 5 owners · 150 ms",
        ] {
            #expect(visit.document.contains(">\(text)"), "\(text)")
        }
        #expect(visit.document.contains("<title>Ten</title>"))
    }

    @Test func barsLieWhereTheirTimesAre() async throws {
        let visit = try await Browser.visit(
            Self.ten.text(as: .html, title: "Ten"),
            script: """
                const box = (name) => all(".bar").find((bar) => bar.ariaLabel.startsWith(name)).getBoundingClientRect();
                const perMillisecond = 1e6 / scale();
                const begin = box("photo 1").left;
                return Object.fromEntries(["photo 1", "photo 2", "photo 4", "token", "poll"].map((name) => [name,
                    [Math.round((box(name).left - begin) / perMillisecond), Math.round(box(name).width / perMillisecond)].join(" ")]));
                """
        )
        #expect(
            visit.result as? [String: String] == [
                "photo 1": "0 45", "photo 2": "0 90", "photo 4": "10 50", "token": "30 70", "poll": "120 30",
            ]
        )
    }

    @Test func aTooltipTellsNameKeyAgeAndErrorAndTheKeyboardGetsThere() async throws {
        let visit = try await Browser.visit(
            Self.ten.text(as: .html, title: "Ten"),
            script: """
                const tip = one("#tip"), seen = {};
                const current = () => document.activeElement.id || document.activeElement.ariaLabel.split(",")[0];
                one(".bar[tabindex='0']").focus();
                seen.first = current();
                press("End");
                const failed = all(".bar").find((bar) => bar.dataset.state === "failed");
                failed.focus();
                await until(() => !tip.hidden && tip.textContent.includes("photo 3"));
                seen.tip = tip.innerText;
                press("Enter");
                seen.isPinned = tip.classList.contains("pinned");
                press("ArrowUp");
                seen.above = current();
                press("ArrowDown");
                seen.below = current();
                seen.stillTells = tip.textContent.includes("photo 3");
                press("Escape");
                seen.isClosed = tip.hidden && !tip.classList.contains("pinned");
                press(" ");
                seen.isPinnedAgain = tip.classList.contains("pinned");
                press("Escape");
                press("Escape");
                seen.left = current();
                all(".bar").find((bar) => bar.ariaLabel.startsWith("token")).focus();
                await until(() => tip.textContent.includes("token"));
                seen.token = tip.innerText;
                return seen;
                """
        )
        let seen = visit.result
        #expect(visit.console == [] && seen["error"] == nil)
        let tip = try #require(seen["tip"] as? String)
        for text in [
            "photo 3", "failed", "uploads FIFOQueue #1", "ConnectionLost()", "at 0 ns", "130 ms", "90 ms", "40 ms",
            "#12",
        ] {
            #expect(tip.contains(text), "\(text)")
        }
        #expect(seen["first"] as? String == "photo 1")
        #expect(seen["isPinned"] as? Bool == true && seen["stillTells"] as? Bool == true)
        #expect(seen["above"] as? String == "photo 2" && seen["below"] as? String == "photo 3")
        #expect(
            seen["isClosed"] as? Bool == true && seen["isPinnedAgain"] as? Bool == true
                && seen["left"] as? String == "chart"
        )
        let token = try #require(seen["token"] as? String)
        #expect(token.contains("key") && token.contains("joined") && token.contains("at 40 ms"))
    }

    @Test func theKeyboardZoomsMovesFiltersAndExplains() async throws {
        let visit = try await Browser.visit(
            Self.ten.text(as: .html, title: "Ten"),
            script: """
                const seen = {}, from = () => Number(document.body.dataset.from);
                const whole = scale();
                press("+");
                await until(() => scale() < whole * 0.7);
                const middle = from();
                press("ArrowRight");
                await until(() => from() > middle);
                press("Home");
                await until(() => from() < 0);
                press("End");
                await until(() => Number(document.body.dataset.to) >= 150e6);
                press("-");
                await until(() => scale() > whole * 0.9);
                press("0");
                await until(() => scale() === whole);
                one("#chart").dispatchEvent(new WheelEvent("wheel", { deltaY: -30, ctrlKey: true, clientX: 700, bubbles: true, cancelable: true }));
                await until(() => scale() < whole);
                press("0");
                await until(() => scale() === whole);
                press("?");
                seen.help = one("#help").open;
                one("#help").close();
                press("/");
                seen.search = document.activeElement.id;
                one("#search").value = "PHOTO 3";
                one("#search").dispatchEvent(new Event("input"));
                await until(() => all(".bar").length === 1);
                seen.summary = one("#summary").textContent;
                one("#search").value = "there is none";
                one("#search").dispatchEvent(new Event("input"));
                await until(() => !one("#empty").hidden);
                seen.empty = one("#empty").textContent;
                press("Escape");
                await until(() => all(".bar").length === 10);
                one(".chip[data-outcome=completed]").click();
                await until(() => all(".bar").length === 10 - \(Self.ten.bars.filter { $0.outcome == .completed }.count));
                seen.isPressed = one(".chip[data-outcome=completed]").ariaPressed;
                return seen;
                """
        )
        let seen = visit.result
        #expect(visit.console == [] && seen["error"] == nil, "\(seen)")
        #expect(seen["help"] as? Bool == true && seen["search"] as? String == "search")
        #expect((seen["summary"] as? String)?.hasPrefix("1 of 10 tasks") == true)
        #expect((seen["empty"] as? String)?.hasPrefix("No task matches the filter") == true)
        #expect(seen["isPressed"] as? String == "false")
    }

    @Test func anArrowPointsFromTheTaskThatCancelsToTheTaskThatIsCancelled() async throws {
        var recording = Recording()
        for (subject, task) in [(1, "canceller"), (2, "victim"), (3, "bystander")] as [(UInt64, String)] {
            recording.tell(.taskBag, .added, .began(.waiting), at: 0, of: subject, in: subject, task: task)
            recording.tell(.taskBag, .started, .entered(.running), at: 1, of: subject, in: subject, from: UInt(subject))
        }
        recording.tell(.taskBag, .cancelled, at: 40, of: 2, in: 2, detail: "requested", from: 1)
        // No bar is known of the code that cancels this one.
        recording.tell(.taskBag, .cancelled, at: 45, of: 3, in: 3, detail: "requested")
        for subject in 1...3 as ClosedRange<UInt64> {
            recording.tell(.taskBag, .completed, .ended(.completed), at: 60, of: subject, in: subject)
        }
        let visit = try await Browser.visit(
            recording.model(now: 60).text(as: .html, title: "Cancelled"),
            script: """
                const box = (name) => all(".bar").find((bar) => bar.ariaLabel.startsWith(name)).getBoundingClientRect();
                const [from, to] = [box("canceller"), box("victim")], line = one("#arrows path").getBoundingClientRect();
                const share = (line.left + line.width / 2 - from.left) / from.width;
                const isBetween = line.top >= from.top && line.bottom <= to.bottom && line.height > to.top - from.bottom;
                return { count: one("#arrows").dataset.count, at: String(Math.round(share * 60)), isBetween: String(isBetween) };
                """
        )
        #expect(
            visit.console == [] && visit.result as? [String: String] == ["count": "1", "at": "40", "isBetween": "true"]
        )
        let none = try await Browser.visit(
            Self.ten.text(as: .html, title: "Ten"),
            script: "return { count: one('#arrows').dataset.count };"
        )
        #expect(none.result as? [String: String] == ["count": "0"])
    }

    @Test func tenThousandTasksAreAllThereInAFewHundredElements() async throws {
        var recording = Recording()
        // All at once in a queue, and one after the other in another: many lanes, and one that is crowded.
        for subject in 0..<5_000 as Range<UInt64> {
            let end = Int(subject) + 1
            recording.turn(
                subject,
                (0, end - 1, end),
                in: 1,
                named: "crowd",
                task: "a \(subject)",
                end: subject % 1_000 == 3 ? .failed : .completed
            )
            recording.turn(subject + 5_000, (end - 1, end - 1, end), in: 2, named: "line", task: "b \(subject)")
        }
        let model = recording.model()
        #expect(model.bars.count == 10_000 && model.groups.map(\.laneCount) == [5_000, 1])
        let visit = try await Browser.visit(
            model.text(as: .html, title: "Many"),
            script: """
                const columns = all(".bar.column").length, bars = all(".bar").length;
                for (let i = 0; i < 14; i += 1) { const before = scale(); press("+"); await until(() => scale() < before); }
                await until(() => all(".bar.single").length > 0);
                const near = all(".bar").length;
                one(".group button").click();
                await until(() => all(".bar.column").length === 0);
                press("Home");
                await until(() => all(".bar.single").length > 30);
                const open = all(".bar").length;
                one(".group button").click();
                press("0");
                await until(() => all(".bar").length === bars);
                return { columns, bars, near, open };
                """
        )
        #expect(visit.console == [] && visit.result["error"] == nil, "\(visit.result)")
        #expect(visit.attribute("data-total") == "10000" && visit.attribute("data-shown") == "10000")
        #expect(visit.barCount == 10_000)
        #expect(visit.tags(ofClass: "bar").count < 1_000 && visit.tags(ofClass: "merged").count == 1)
        #expect((visit.result["open"] as? Int ?? .max) < 3_000)
        #expect(visit.document.contains("up to 5,000 at once") && visit.document.contains("5 failed"))
    }

    /// Lanes full of bars that are all wide enough to be seen, and as many lanes as tasks. The cost of opening a group is that of the elements
    /// that it makes: a browser makes a few thousand in a tenth of a second. The clock of the test's browser is virtual, and stands still meanwhile.
    @Test(arguments: [60, 600, 12_000])
    func anOpenedGroupOfManyLanesHasFewElements(_ lanes: Int) async throws {
        var recording = Recording()
        for lane in 0..<lanes {
            for place in 0..<12_000 / lanes {
                let (subject, begin) = (UInt64(place * lanes + lane), place * 10)
                recording.turn(subject, (begin, begin, begin + 8), in: 1, named: "crowd", task: "a \(subject)")
            }
        }
        let model = recording.model()
        #expect(model.bars.count == 12_000 && model.groups.map(\.laneCount) == [lanes])
        let visit = try await Browser.visit(
            model.text(as: .html, title: "Many"),
            script: """
                const make = document.createElement.bind(document);
                let made = 0;
                document.createElement = (name) => { made += 1; return make(name); };
                one(".group button").click();
                await until(() => all(".bar.column").length === 0 && all(".bar").length > 0);
                const [open, opening] = [all(".bar").length, made];
                for (let i = 0; i < 12; i += 1) { const before = scale(); press("+"); await until(() => scale() < before); }
                await until(() => all(".bar.single").length > 0);
                return { open, opening, near: all(".bar.single").length };
                """
        )
        #expect(visit.console == [] && visit.result["error"] == nil, "\(visit.result)")
        #expect((visit.result["open"] as? Int ?? .max) <= 1_500)
        #expect((visit.result["opening"] as? Int ?? .max) <= 6_000, "\(visit.result)")
        #expect((visit.result["near"] as? Int ?? 0) > 0)
    }

    @Test func aRequestSaysItsPathBeforeItsHostAlsoInATaskWithAName() async throws {
        let http = TaskEvent.Primitive(rawValue: "HTTP")
        var recording = Recording()
        recording.tell(
            http,
            .started,
            .began(.running),
            at: 0,
            of: 1,
            in: 2,
            task: "keystroke",
            detail: "GET https://books.example:8080/v1/search?q=…"
        )
        recording.tell(http, .completed, .ended(.completed), at: 50, of: 1, in: 2)
        let visit = try await Browser.visit(recording.model().text(as: .html, title: "One"))
        #expect(visit.document.contains(">GET /v1/search?q=… · books.example:8080<"))
    }

    @Test func whateverANameHoldsItIsTextAndNoScriptOfItRuns() async throws {
        var recording = Recording()
        for (index, name) in TracePerfettoTests.nasty.enumerated() {
            recording.turn(UInt64(index), (0, index + 1, 50), named: name, task: name, end: .failed, error: name)
        }
        let page = recording.model().text(as: .html, title: TracePerfettoTests.nasty[0])
        let visit = try await Browser.visit(page)
        #expect(visit.console == [] && visit.barCount == TracePerfettoTests.nasty.count)
        #expect(!visit.document.contains("<title>owned") && !visit.document.contains("<img"))
        let told = try await Browser.visit(
            page,
            script: """
                const labels = [];
                for (const bar of all(".bar")) {
                    bar.focus();
                    await until(() => one("#tip h3")?.textContent);
                    labels.push(one("#tip h3").textContent);
                }
                return { labels, title: document.title, images: document.images.length };
                """
        )
        #expect(Set(told.result["labels"] as? [String] ?? []) == Set(TracePerfettoTests.nasty))
        #expect(told.result["images"] as? Int == 0)
    }

    @Test func aPageOfNothingSaysSoAndOneMomentIsDrawn() async throws {
        let nothing = try await Browser.visit(Recording().model().text(as: .html, title: "Nothing"))
        #expect(nothing.console == [] && nothing.barCount == 0 && nothing.document.contains("Nothing was recorded."))
        var recording = Recording()
        recording.turn(1, (5, 5, 5), task: "at once")
        recording.turn(2, (5, 5, 5), in: 2, task: "too")
        let moment = try await Browser.visit(recording.model(capacity: 7).text(as: .html, title: "One moment"))
        #expect(moment.console == [] && moment.barCount == 2 && moment.document.contains("1 earlier event was dropped"))
    }

    @Test(arguments: [false, true])
    func textIsReadableOnWhateverItStands(isDark: Bool) async throws {
        let visit = try await Browser.visit(
            Self.ten.text(as: .html, title: "Ten"),
            script: """
                const style = getComputedStyle(document.documentElement);
                const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
                const luminance = (name) => {
                    canvas.fillStyle = style.getPropertyValue(name);
                    canvas.fillRect(0, 0, 1, 1);
                    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
                };
                const contrast = (a, b) => {
                    const [low, high] = [luminance(a), luminance(b)].sort((a, b) => a - b);
                    return (high + 0.05) / (low + 0.05);
                };
                const states = ["completed", "failed", "timedOut", "cancelled", "unfinished"];
                return {
                    page: luminance("--page"),
                    text: Math.min(...states.map((state) => contrast("--ink", `--${state}`)), contrast("--soft", "--page"), contrast("--soft", "--panel"), contrast("--failed-edge", "--page")),
                    signs: Math.min(...states.map((state) => contrast(`--${state}-edge`, "--page")), ...states.map((state) => contrast(`--${state}-edge`, `--${state}`))),
                };
                """,
            isDark: isDark
        )
        let page = try #require(visit.result["page"] as? Double)
        #expect(isDark ? page < 0.05 : page > 0.9)
        // Of the guidelines for accessible content: 4.5 for text, 3 for signs.
        #expect(visit.result["text"] as? Double ?? 0 >= 4.5, "\(visit.result)")
        #expect(visit.result["signs"] as? Double ?? 0 >= 3, "\(visit.result)")
    }
}

/// The page's parts, without a browser.
struct TracePageSourceTests {
    @Test func thePageInTheSourcesIsMadeOfItsFiles() throws {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { folder.deleteLastPathComponent() }
        let page = folder.appendingPathComponent("Sources/TaskControlTrace/Page")
        let text = TracePage.head.description + TracePage.tail.description
        for name in try FileManager.default.contentsOfDirectory(atPath: page.path) where name != "page.html" {
            let part = try String(contentsOf: page.appendingPathComponent(name), encoding: .utf8)
            #expect(text.contains(part.trimmingCharacters(in: .newlines)), "run scripts/trace-page embed: \(name)")
        }
        // Nothing from elsewhere.
        #expect(!text.contains(/(src|href)=|url\(|@import|fetch\(|https?:(?!\/\/www\.w3\.org\/2000\/svg)/))
    }
}
#endif
