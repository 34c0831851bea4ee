import Foundation
import Observation
import SwiftUI
import TaskControl

/// Uploads of covers: two at a time, in the order of the taps. Each row shows its progress, and can be cancelled or repeated.
@MainActor @Observable final class UploadsModel {
    enum State: Equatable {
        case waiting
        case sending(Double)
        case sent
        case failed(String)
        case cancelled

        init(_ outcome: DeliveryOutcome) {
            switch outcome {
            case .delivered, .undelivered: self = .sent  // cancelled after the server had the cover
            case .failed(let error): self = .failed(error.localizedDescription)
            default: self = .cancelled
            }
        }
    }

    struct Row: Identifiable {
        let id: UUID
        let book: Book
        var state = State.waiting

        var isRunning: Bool {
            switch state {
            case .waiting, .sending: true
            case .sent, .failed, .cancelled: false
            }
        }
    }

    private(set) var rows: [Row] = []
    @ObservationIgnored let uploads = TaskStore<UUID>(name: "uploads", maxConcurrentTasks: 2)
    @ObservationIgnored private let server: Server

    init(server: Server) { self.server = server }

    func add(_ book: Book) {
        let row = Row(id: UUID(), book: book)
        rows.append(row)
        start(row)
    }

    func retry(_ row: Row) {
        show(.waiting, in: row.id)
        start(row)
    }

    func cancel(_ row: Row) { uploads.cancelTask(forKey: row.id) }

    private func start(_ row: Row) {
        let (id, book) = (row.id, row.book)
        uploads.run(forKey: id, for: self) { [server, weak self] in
            let cover = try Self.cover()
            defer { try? FileManager.default.removeItem(at: cover) }
            try await server.upload(cover, of: book.id) { [weak self] fraction in
                MainActor.queue.addTask { [weak self] in self?.show(.sending(fraction), in: id) }  // in order
            }
        } deliver: { _, _ in
        } onEnd: { model, outcome in
            model.show(State(outcome), in: id)  // also for an upload that was cancelled before it began
        }
    }

    /// Changes the state of a row. The progress of an upload that was cancelled, and comes late, changes nothing.
    private func show(_ state: State, in id: UUID) {
        guard let index = rows.firstIndex(where: { $0.id == id }) else { return }
        if case .sending = state, !rows[index].isRunning { return }
        rows[index].state = state
    }

    /// Writes a picture of two megabytes to a temporary file.
    private nonisolated static func cover() throws -> URL {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).png")
        try Data(repeating: 7, count: 2_000_000).write(to: file)
        return file
    }
}

struct UploadsScreen: View {
    let model: UploadsModel

    var body: some View {
        List(model.rows) { row in
            HStack {
                Text(row.book.title)
                switch row.state {
                case .waiting: Text("waiting")
                case .sending(let fraction): ProgressView(value: fraction)
                case .sent: Text("sent")
                case .failed(let message): Text(message)
                case .cancelled: Text("cancelled")
                }
                if row.isRunning {
                    Button("Cancel", role: .cancel) { model.cancel(row) }
                } else if row.state != .sent {
                    Button("Try again") { model.retry(row) }
                }
            }
        }
        .navigationTitle("Uploads")
    }
}
