#if SUBPROCESSES
import Testing

/// What a process that was to trap has said.
func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
}
#endif
