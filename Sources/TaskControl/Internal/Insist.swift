/// Traps with a message if a condition does not hold because of a mistake in the client's code. Unlike `precondition`, it prints the message in
/// release builds too.
///
/// For conditions that only a mistake in this library can break, use `precondition`.
@inlinable
@inline(__always)
package func insist(
    _ condition: Bool,
    _ message: @autoclosure () -> String,
    file: StaticString = #fileID,
    line: UInt = #line
) {
    if !condition { fatalError(message(), file: file, line: line) }
}
