import Foundation
import SwiftSyntax

/// Audits files: first what their types are, then each file.
public struct Auditor: Sendable {
    /// The result of an audit.
    public struct Report: Sendable {
        /// In the order of files, lines and rules.
        public var findings: [Finding] = []
        /// The number of files.
        public var files = 0
        /// The number of lines.
        public var lines = 0
        /// The number of unstructured tasks.
        public var tasks = 0
        /// The files that are not UTF-8.
        public var unreadable: [String] = []
        /// The files that the parser does not accept.
        public var unparsed: [String] = []
    }

    /// Called on some thread when files have been read.
    public var progress: (@Sendable (_ done: Int, _ total: Int) -> Void)?
    /// The number of threads that read and audit files.
    public var threads = max(1, ProcessInfo.processInfo.activeProcessorCount)

    /// Creates an auditor with one thread per core.
    public init() {}

    /// Audits files.
    public func audit(_ paths: [String]) -> Report {
        var report = Report()
        report.files = paths.count
        let done = Counter()
        let parsed: [Parsed] = parallel(paths) { path in
            defer { progress?(done.next(), paths.count) }
            return Self.parse(path)
        }
        var index = TypeIndex()
        var files: [SourceFile] = []
        for (path, parsed) in zip(paths, parsed) {
            switch parsed {
            case .unreadable: report.unreadable.append(path)
            case .unparsed(let lines):
                report.unparsed.append(path)
                report.lines += lines
            case .file(let file, let module, let lines, let types, let cancelled, let sites):
                report.lines += lines
                index.add(types, module: module)
                index.addCancelled(cancelled)
                index.add(sites)
                if let file { files.append(file) }
            }
        }
        let known = index
        let results: [([Finding], Int)] = parallel(files) { file in
            var context = Context(file, index: known)
            context.run()
            return (context.findings, context.tasks.count)
        }
        for (findings, tasks) in results {
            report.findings += findings
            report.tasks += tasks
        }
        report.findings.sort()
        report.findings = Self.oncePerPlace(report.findings)
        return report
    }

    /// Audits a text as if it was a file.
    public func audit(text: String, path: String) -> [Finding] {
        let file = SourceFile(path: path, text: text)
        var index = TypeIndex()
        index.add(TypeCollector(file.tree, keepsSyntax: true).found, module: file.module)
        index.addCancelled(Self.cancelledNames(file.tree))
        index.add(CallSite.all(in: file.tree, module: file.module))
        var context = Context(file, index: index)
        context.run()
        return context.findings.sorted()
    }

    /// Without the findings of one rule at one place but the first.
    private static func oncePerPlace(_ findings: [Finding]) -> [Finding] {
        var seen: Set<String> = []
        return findings.filter { seen.insert("\($0.file):\($0.line):\($0.column):\($0.rule.number)").inserted }
    }

    private enum Parsed: Sendable {
        case unreadable
        case unparsed(lines: Int)
        /// A file without concurrency is not kept: only its types matter.
        case file(SourceFile?, module: String, lines: Int, [TypeInfo], cancelled: Set<String>, [CallSite])
    }

    private static func parse(_ path: String) -> Parsed {
        guard let data = FileManager.default.contents(atPath: path), let text = String(validating: data, as: UTF8.self)
        else { return .unreadable }
        guard !nestsBrackets(text) else { return .unparsed(lines: 0) }
        let file = SourceFile(path: path, text: text)
        guard !file.hasErrors else { return .unparsed(lines: file.lineCount) }
        let types = TypeCollector(file.tree, keepsSyntax: file.isConcurrent).found
        return .file(
            file.isConcurrent ? file : nil,
            module: file.module,
            lines: file.lineCount,
            types,
            cancelled: file.isConcurrent ? cancelledNames(file.tree) : [],
            file.isConcurrent ? CallSite.all(in: file.tree, module: file.module) : []
        )
    }

    /// Whether a text has a row of brackets such as `[[[[[[[[[[[[[[`, whose parsing takes twice the time for each bracket.
    private static func nestsBrackets(_ text: String) -> Bool {
        var row = 0
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "["): row += 1
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\t"): continue
            default: row = 0
            }
            if row > 12 { return true }
        }
        return false
    }

    /// The names of properties of other objects that code cancels: `session` in `model.session?.cancel()`.
    private static func cancelledNames(_ tree: SourceFileSyntax) -> Set<String> {
        var names: Set<String> = []
        tree.walk { node in
            if let member = node.as(MemberAccessExprSyntax.self), member.declName.baseName.text == "cancel",
                let property = member.base?.unwrapped.as(MemberAccessExprSyntax.self), let base = property.base,
                base.unwrapped.text != "self"
            {
                names.insert(property.declName.baseName.text)
            }
            return true
        }
        return names
    }

    // MARK: Threads

    /// Transforms elements on some threads. Their stacks are large: the rules descend as deep as the code is nested.
    private func parallel<Element: Sendable, Result: Sendable>(
        _ elements: [Element],
        _ transform: @escaping @Sendable (Element) -> Result
    ) -> [Result] {
        let results = Results<Result>(count: elements.count)
        let next = Counter()
        let group = DispatchGroup()
        for _ in 0..<min(threads, max(1, elements.count)) {
            group.enter()
            let thread = Thread {
                while true {
                    let number = next.next() - 1
                    guard number < elements.count else { break }
                    results.set(number, autoreleased { transform(elements[number]) })
                }
                group.leave()
            }
            thread.stackSize = 512 << 20
            thread.start()
        }
        group.wait()
        return results.all
    }
}

private func autoreleased<Result>(_ body: () -> Result) -> Result {
    #if canImport(Darwin)
    autoreleasepool(invoking: body)
    #else
    body()
    #endif
}

private final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var value = 0

    func next() -> Int {
        lock.withLock {
            value += 1
            return value
        }
    }
}

private final class Results<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [Value?]

    init(count: Int) { values = Array(repeating: nil, count: count) }

    func set(_ index: Int, _ value: Value) { lock.withLock { values[index] = value } }

    var all: [Value] { lock.withLock { values.map { $0! } } }
}
