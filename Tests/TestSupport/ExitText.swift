#if SUBPROCESSES
package import Testing

/// Returns what a process that should trap has written to standard error.
package func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
}
#endif
