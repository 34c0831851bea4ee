extension TraceRecorder {
    /// What a trace is written as.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// One page that needs nothing else: no network, no other file, no script from elsewhere.
        case html
        /// JSON in Chrome's trace format, for <https://ui.perfetto.dev> and `chrome://tracing`.
        case perfetto
    }

    /// Writes what was recorded into a file. Recording goes on meanwhile.
    ///
    /// The file appears when it is whole: it is written under another name in the same folder and renamed, so a file that was there before is
    /// replaced in one step. A symbolic link is followed, and stays. Anything but a regular file, such as `/dev/stdout`, is written to
    /// directly. A process that is killed leaves a hidden file whose name begins with `.taskcontrol-`. The call blocks its thread, for about a
    /// second per million events.
    ///
    /// - Parameters:
    ///   - format: A page for people, or JSON for Perfetto.
    ///   - path: Relative to the working directory if it does not begin with `/`.
    ///   - title: What the page is headed with, or the trace is named.
    /// - Complexity: O(*n* log *n*) in the number of events.
    public func write(_ format: Format, to path: String, title: String = "Trace") throws(TraceWriteError) {
        let model = model
        do throws(OutputFile.SystemError) {
            let file = try OutputFile(path)
            do throws(OutputFile.SystemError) {
                try model.write(as: format, title: title) { (bytes) throws(OutputFile.SystemError) in
                    let written = bytes.withUnsafeBytes { bytes in
                        Result { () throws(OutputFile.SystemError) in try file.write(bytes) }
                    }
                    try written.get()
                }
            } catch {
                file.discard()
                throw error
            }
            try file.finish()
        } catch {
            throw TraceWriteError(path: path, step: error.step, code: error.code)
        }
    }

    /// What was recorded, as a text: for a server that answers with it.
    ///
    /// A million events are a page of about 35 MB, or 130 MB for Perfetto; ``write(_:to:title:)`` keeps no such text.
    ///
    /// - Parameters:
    ///   - format: A page for people, or JSON for Perfetto.
    ///   - title: What the page is headed with, or the trace is named.
    /// - Complexity: O(*n* log *n*) in the number of events.
    public func text(as format: Format, title: String = "Trace") -> String {
        model.text(as: format, title: title)
    }

    private var model: TraceModel { TraceModel(events, now: Diagnostics.moment?.time) }
}

extension TraceModel {
    /// Hands it on in pieces.
    func write<Failure: Error>(
        as format: TraceRecorder.Format,
        title: String,
        to sink: (borrowing [UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        try withoutActuallyEscaping(sink) { (sink) throws(Failure) in
            var text = TraceText(sink)
            switch format {
            case .html: try writePage(title: title, to: &text)
            case .perfetto: try writePerfetto(title: title, to: &text)
            }
            try text.finish()
        }
    }

    func text(as format: TraceRecorder.Format, title: String) -> String {
        var bytes: [UInt8] = []
        write(as: format, title: title) { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}
