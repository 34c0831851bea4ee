import Foundation

/// Finds the Swift files of a project.
public enum SourceFinder {
    /// A path that has nothing to audit.
    public enum Failure: Error, CustomStringConvertible {
        case missing(String)
        case noSwift(String)

        /// The reason, with the path.
        public var description: String {
            switch self {
            case .missing(let path): "no such file or folder: \(path)"
            case .noSwift(let path): "no Swift file in \(path)"
            }
        }
    }

    /// Folders of build products and of other people's code.
    private static let skipped: Set<String> = [
        "Pods", "Carthage", "DerivedData", "node_modules", "checkouts", "SourcePackages",
    ]

    private static let aside = [
        "Tests", "UITests", "Test Utilities", "TestUtilities", "TestSupport", "Examples", "Example", "Samples",
        "Sample", "Demo", "Demos",
        "Benchmarks", "Benchmark", "Mocks", "Playgrounds", "Snippets", "TestUtils", "test", "tests", "examples",
        "benchmarks", "Fixtures",
    ]

    /// Whether a file is of tests, examples or benchmarks, and none of the paths that were asked for says so itself.
    public static func isAside(_ file: String, below paths: [String]) -> Bool {
        let path = paths.filter { file.hasPrefix($0) || $0 == "." }.max { $0.count < $1.count } ?? ""
        var rest = path == "." ? Substring(file) : file.dropFirst(path.count)
        if rest.isEmpty { rest = Substring(file.split(separator: "/").last ?? "") }
        let parts = rest.split(separator: "/")
        guard let name = parts.last else { return false }
        let folders = parts.dropLast().contains { part in
            aside.contains(String(part)) || part.contains("Test") || part.hasSuffix("Benchmarks")
                || part.hasSuffix("Examples") || part.hasSuffix("Example") || part.hasSuffix("Demo")
                || part.hasSuffix("DemoApp")
                || part.hasSuffix("TestUtils") || part.hasSuffix("Mocks") || part.hasSuffix("TestSupport")
        }
        return folders || name.hasSuffix("Tests.swift") || name.hasSuffix("Test.swift") || name.hasSuffix(".test.swift")
            || name.hasSuffix("TestCase.swift") || name.hasSuffix("Mock.swift")
    }

    /// The Swift files at paths, in folders too, sorted.
    public static func files(at paths: [String]) throws(Failure) -> [String] {
        var found: Set<String> = []
        for path in paths {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { throw .missing(path) }
            if !isFolder.boolValue {
                guard path.hasSuffix(".swift") else { throw .noSwift(path) }
                found.insert(path)
                continue
            }
            var files: [String] = []
            collect(path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path, into: &files)
            guard !files.isEmpty else { throw .noSwift(path) }
            found.formUnion(files)
        }
        return found.sorted()
    }

    private static func collect(_ folder: String, into files: inout [String]) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return }
        for name in names.sorted() where !name.hasPrefix(".") {
            let path = folder == "." ? name : folder + "/" + name
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { continue }
            if isFolder.boolValue {
                // A link may lead back to a folder around it.
                let isLink = (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
                if !isLink, !skipped.contains(name), !name.hasSuffix(".xcassets") { collect(path, into: &files) }
            } else if name.hasSuffix(".swift") {
                files.append(path)
            }
        }
    }
}
