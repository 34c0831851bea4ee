/// Traps with a message if a condition does not hold, which is a mistake in the code that uses this library. Unlike
/// `precondition`, it prints the message in release builds too.
///
/// For conditions that only a mistake in this library can break, use `precondition`.
@export(implementation)
@inline(__always)
package func insist(
    _ condition: Bool,
    _ message: @autoclosure () -> String,
    file: StaticString = #fileID,
    line: UInt = #line
) {
    if !condition { fatalError(message(), file: file, line: line) }
}
