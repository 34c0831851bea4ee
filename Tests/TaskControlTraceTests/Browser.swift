#if SUBPROCESSES
import Foundation

/// The headless browser that `TASKCONTROL_BROWSER` names. `scripts/trace-page check` finds one and sets the variable: a browser takes more time
/// than all other tests of the page's target, and hardly any change concerns the page.
enum Browser {
    static let path = ProcessInfo.processInfo.environment["TASKCONTROL_BROWSER"]

    /// The state of a page when it had been opened.
    struct Visit {
        /// The document as it is by then, as HTML.
        let document: String
        /// The lines that the page wrote to its console, and the browser's warnings about it.
        let console: [Substring]
        /// The result of the test's script.
        let result: [String: Any]

        /// The opening tags of the elements of a class.
        func tags(ofClass name: String) -> [Substring] {
            document.matches(of: /<[a-z]+ [^>]*class="([^"]*)"[^>]*>/)
                .filter { $0.1.split(separator: " ").contains(Substring(name)) }.map(\.0)
        }

        /// The sum of the numbers that all bars say that they stand for.
        var barCount: Int {
            tags(ofClass: "bar").compactMap { $0.firstMatch(of: /data-count="(\d+)"/).flatMap { Int($0.1) } }.reduce(
                0,
                +
            )
        }

        /// An attribute of the page's body.
        func attribute(_ name: String) -> String? {
            guard let body = document.firstMatch(of: /<body[^>]*>/)?.0 else { return nil }
            return body.matches(of: /([a-z-]+)="([^"]*)"/).first { $0.1 == name }.map { String($0.2) }
        }
    }

    /// Opens a page from a file, without any network.
    ///
    /// - Parameter script: The body of an async function, run in the page when that is there. With one, the page's own prohibition of
    ///   foreign scripts is lifted; without, the page is as it is.
    static func visit(_ page: String, script: String? = nil, size: (Int, Int) = (1400, 900), isDark: Bool = false)
        async throws -> Visit
    {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("page-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("page.html")
        try Data((script.map { with($0, page) } ?? page).utf8).write(to: file)
        let (output, errors) = (folder.appendingPathComponent("output"), folder.appendingPathComponent("errors"))
        for file in [output, errors] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path!)
        process.arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--hide-scrollbars",
            "--proxy-server=127.0.0.1:9", "--user-data-dir=\(folder.path)/profile", "--window-size=\(size.0),\(size.1)",
            "--blink-settings=preferredColorScheme=\(isDark ? 0 : 1)", "--enable-logging=stderr",
            "--virtual-time-budget=20000",
            "--dump-dom", file.absoluteString,
        ]
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        let document = try String(decoding: Data(contentsOf: output), as: UTF8.self)
        let console = try String(decoding: Data(contentsOf: errors), as: UTF8.self).split(separator: "\n").filter {
            $0.contains("CONSOLE")
        }
        let text = document.firstMatch(of: /id="test-result">([^<]*)</).map { String($0.1) } ?? "{}"
        let result = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        return Visit(document: document, console: console, result: result ?? [:])
    }

    private static func with(_ script: String, _ page: String) -> String {
        let added = """
            <script>(async () => {
            const until = async (isSo) => {
                for (let i = 0; i < 300; i += 1) {
                    const value = isSo();
                    if (value) return value;
                    await new Promise((go) => setTimeout(go, 20));
                }
                throw new Error(`in vain: ${isSo}`);
            };
            const all = (selector) => [...document.querySelectorAll(selector)];
            const one = (selector) => document.querySelector(selector);
            const press = (key, more) => (document.activeElement ?? document.body)
                .dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
            const scale = () => Number(document.body.dataset.scale);
            let result;
            try {
                await until(() => document.body.dataset.ready);
                result = await (async () => { \(script) })();
            } catch (error) {
                result = { error: String(error) };
            }
            const holder = document.createElement("script");
            holder.type = "application/json";
            holder.id = "test-result";
            holder.textContent = JSON.stringify(result ?? {}).replaceAll("<", "\\\\u003c");
            document.body.append(holder);
            })();</script></body>
            """
        return page.replacing(/script-src 'sha256-[^']*'/, with: "script-src 'unsafe-inline'", maxReplacements: 1)
            .replacingOccurrences(of: "</body>", with: added)
    }
}
#endif
