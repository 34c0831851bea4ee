import Foundation
import Observation
import TaskControlHTTP
import TaskControlTesting
import Testing

private struct PhotoUpload: UploadEndpoint {
    typealias Content = Data
    let file: URL

    // In the article, the body is `.file(file)`.
    func makeRequest() throws -> (URLRequest, UploadEndpointBody) {
        (put("photos/\(file.lastPathComponent)"), .data(Data(repeating: 7, count: 100_000)))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@MainActor @Observable private final class UploadList {
    enum State { case new, waiting, sending(Double), ended(DeliveryOutcome) }

    private var sent: [URL: Double] = [:]
    private var ends: [URL: DeliveryOutcome] = [:]
    private let client: EndpointClient
    let tasks = TaskStore<URL>(name: "uploads", maxConcurrentTasks: 4)

    init(_ client: EndpointClient) { self.client = client }

    func upload(_ file: URL) {  // again after a failure, too
        ends[file] = nil
        let report: @Sendable (TransferProgress) -> Void = { [weak self] progress in
            MainActor.queue.addTask { [weak self] in
                guard let self, ends[file] == nil else { return }
                sent[file] = progress.fractionSent
            }
        }
        tasks.run(forKey: file, duplicateKeyBehavior: .preferPrevious, for: self) {
            [client] in
            try await client.upload(PhotoUpload(file: file), onProgress: report)
        } deliver: { _, _ in
        } onEnd: { list, outcome in
            (list.ends[file], list.sent[file]) = (outcome, nil)
        }
    }

    func state(of file: URL) -> State {
        if tasks.taskIsWaiting(forKey: file) { return .waiting }
        if tasks.taskIsRunning(forKey: file) { return .sending(sent[file] ?? 0) }
        return ends[file].map(State.ended) ?? .new
    }

    func cancel(_ file: URL) { tasks.cancelTask(forKey: file) }
    func cancelAll() { tasks.cancelAll() }
}

/// The recipe *Upload a list, four at a time* of the article *Recipes*.
@Suite(.timeLimit(.minutes(15)))
struct UploadListRecipeTests {
    private let files = (0..<6).map { URL(fileURLWithPath: "/photos/\($0).jpg") }

    /// A server that answers when the gate of a file is open.
    private struct Server: Sendable {
        let gates: [String: Gate]
        let begun = OrderRecorder<String>()
        let statuses: @Sendable (String, Int) -> Int

        init(_ files: [URL], statuses: @escaping @Sendable (String, Int) -> Int = { _, _ in 200 }) {
            gates = Dictionary(uniqueKeysWithValues: files.map { ($0.lastPathComponent, Gate()) })
            self.statuses = statuses
        }

        var client: EndpointClient {
            EndpointClient(
                baseURL: "https://photos.example",
                transport: MockTransport { request in
                    let file = request.url?.lastPathComponent ?? ""
                    begun.record(file)
                    try await gates[file]?.wait()
                    return (statuses(file, begun.events.count { $0 == file }), Data())
                }
            )
        }

        func open(_ files: some Sequence<URL>) {
            for file in files { gates[file.lastPathComponent]?.open() }
        }
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @MainActor private func texts(_ list: UploadList) -> [String] { files.map { list.state(of: $0).text } }

    @MainActor @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func eachRowHasAStateFromItsBeginningToItsEnd() async throws {
        let server = Server(files) { file, attempt in file == "1.jpg" && attempt == 1 ? 507 : 200 }
        let list = UploadList(server.client)
        for file in files { list.upload(file) }
        list.upload(files[5])
        try await server.begun.waitForEvents(count: 4)
        #expect(Set(server.begun.events) == ["0.jpg", "1.jpg", "2.jpg", "3.jpg"])
        #expect(texts(list).suffix(2) == ["waiting", "waiting"])
        #expect(texts(list).prefix(4).allSatisfy { $0.hasPrefix("sending") })
        // Two that are cancelled: one waits, and one runs, whose place then goes to the last one.
        list.cancel(files[4])
        list.cancel(files[0])
        try await server.begun.waitForEvents(count: 5)
        #expect(server.begun.events.last == "5.jpg")
        server.open(files)
        try await list.tasks.drain()
        #expect(texts(list) == ["cancelled", "failed 507", "delivered", "delivered", "cancelled", "delivered"])
        // Again.
        list.upload(files[1])
        #expect(list.state(of: files[1]).text == "sending 0.0")
        try await list.tasks.drain()
        #expect(list.state(of: files[1]).text == "delivered")
    }

    @MainActor @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func theProgressOfARowIsShown() async throws {
        let server = Server(files)
        let list = UploadList(server.client)
        list.upload(files[0])
        try await server.begun.waitForEvents(count: 1)
        // Behind the report of the last byte, which comes before the server begins.
        await MainActor.queue.addTask {}.value
        #expect(list.state(of: files[0]).text == "sending 1.0")
        server.open(files)
        try await list.tasks.drain()
    }

    @MainActor @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func cancellingAllEndsAllRows() async throws {
        let server = Server(files)
        let list = UploadList(server.client)
        for file in files { list.upload(file) }
        try await server.begun.waitForEvents(count: 4)
        list.cancelAll()
        try await list.tasks.drain()
        #expect(texts(list) == Array(repeating: "cancelled", count: 6) && server.begun.count == 4)
    }

    @MainActor @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func theListIsDeallocatedAtOnceAndItsUploadsAreCancelled() async throws {
        let server = Server(files)
        var list: UploadList? = UploadList(server.client)
        weak let released = list
        for file in files { list?.upload(file) }
        try await server.begun.waitForEvents(count: 4)
        list = nil
        #expect(released == nil, "neither an upload nor its progress retains the list")
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension UploadList.State {
    fileprivate var text: String {
        switch self {
        case .new: "new"
        case .waiting: "waiting"
        case .sending(let fraction): "sending \(fraction)"
        case .ended(.cancelled): "cancelled"
        case .ended(.failed(let error)): "failed \((error as? EndpointError)?.statusCode ?? 0)"
        case .ended(.delivered): "delivered"
        case .ended: "other"
        }
    }
}
