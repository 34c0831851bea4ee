import ArgumentParser
import Foundation
import TaskControl
import TaskControlTrace

/// A file that what all tasks of a tour did is written to: its name says in which form.
struct TraceFile: ExpressibleByArgument {
    let path: String
    let format: TraceRecorder.Format

    init?(argument: String) {
        path = argument
        if argument.hasSuffix(".html") {
            format = .html
        } else if argument.hasSuffix(".json") {
            format = .perfetto
        } else {
            return nil
        }
    }
}

/// A recording of all events from now on, for files that are written at the end.
struct TraceRecording {
    // A whole tour is some 150,000 events.
    private let recorder = TraceRecorder(capacity: 500_000)
    private let observation: TaskObservation
    private let files: [TraceFile]

    /// Begins a recording; `nil` if there is no file to write it to.
    init?(for files: [TraceFile]) {
        guard !files.isEmpty else { return nil }
        self.files = files
        observation = TaskDiagnostics.observe(recorder)
    }

    func write(title: String) throws(TraceWriteError) {
        defer { observation.end() }
        for file in files {
            try recorder.write(file.format, to: file.path, title: title)
            let reader = file.format == .html ? "a browser" : "ui.perfetto.dev"
            Terminal.print("What all tasks did is in \(file.path), for \(reader).")
        }
    }
}
