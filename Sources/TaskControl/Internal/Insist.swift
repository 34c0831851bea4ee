/// Stops the program, and says why, if its author has made a mistake: in release builds too, where `precondition` prints no message.
///
/// A condition that only a mistake of the library itself could break is a `precondition`.
@inline(__always)
package func insist(
    _ condition: Bool,
    _ message: @autoclosure () -> String,
    file: StaticString = #fileID,
    line: UInt = #line
) {
    if !condition { fatalError(message(), file: file, line: line) }
}
