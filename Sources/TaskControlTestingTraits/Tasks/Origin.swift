#if os(Linux) && canImport(Runtime)
private import Runtime

/// The source location at which a task was started. Stores the call stack, from which the location is computed only on request.
struct Origin: Sendable {
    private let backtrace: Backtrace

    /// The call stack of the caller; `nil` if it cannot be read.
    static var here: Origin? {
        let backtrace = try? Backtrace.capture(algorithm: .fast, limit: 32, top: 0, images: images)
        return backtrace.map(Origin.init)
    }

    /// The innermost source line in the stack that does not belong to this library, in the form `path:line`; `nil` if the program has no debug
    /// information.
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

    /// The loaded images (the executable and the libraries) of the process. They are read once, since reading them
    /// takes thirty times as long as walking a stack.
    private static let images = ImageMap.capture()

    /// The path of the folder of this package's sources, with a `/` at the end.
    private static let library = #filePath.prefix(before: "TaskControlTestingTraits/")
}

extension String {
    /// Returns the part before the last occurrence of the given text; the empty string if the text does not occur.
    fileprivate func prefix(before text: String) -> String {
        var end = endIndex
        while end > startIndex, !self[..<end].hasSuffix(text) { end = index(before: end) }
        return String(self[..<end].dropLast(text.count))
    }
}
#else
/// The source location at which a task was started. It cannot be determined on this platform, so both properties are
/// `nil`.
struct Origin: Sendable {
    static var here: Origin? { nil }

    var place: String? { nil }
}
#endif
