#if os(Linux) && canImport(Runtime)
private import Runtime

/// The place in the source that a task was started from: the stack at that moment, which is made readable only on request.
struct Origin: Sendable {
    private let backtrace: Backtrace

    /// Where the caller is; `nil` if its stack cannot be read.
    static var here: Origin? {
        let backtrace = try? Backtrace.capture(algorithm: .fast, limit: 32, top: 0, images: images)
        return backtrace.map(Origin.init)
    }

    /// `path:line` of the innermost line that is not of this library; `nil` if the program has no debug information.
    var place: String? {
        guard let frames = backtrace.symbolicated(with: Self.images)?.frames else { return nil }
        for frame in frames {
            guard let place = frame.symbol?.sourceLocation, place.line > 0, !place.path.hasPrefix(Self.library) else {
                continue
            }
            return "\(place.path):\(place.line)"
        }
        return nil
    }

    /// Reading them takes thirty times as long as walking a stack.
    private static let images = ImageMap.capture()

    /// The folder of the sources of this package.
    private static let library = #filePath.prefix(before: "TaskControlTestingTraits/")
}

extension String {
    /// Returns the part before the last occurrence of a text.
    fileprivate func prefix(before text: String) -> String {
        var end = endIndex
        while end > startIndex, !self[..<end].hasSuffix(text) { end = index(before: end) }
        return String(self[..<end].dropLast(text.count))
    }
}
#else
/// The place in the source that a task was started from, which cannot be found out on this platform.
struct Origin: Sendable {
    static var here: Origin? { nil }

    var place: String? { nil }
}
#endif
