// The declarations that the blocks of documentation comments use, beside those of Prelude.swift.
import Foundation
import Observation
import TaskControl
import TaskControlCaching
import TaskControlCalendar
import TaskControlFanOut
import TaskControlFleet
import TaskControlHTTP
import TaskControlResilience
import TaskControlSnapshot
import TaskControlSupervision
import TaskControlTesting
import TaskControlTestingTraits
import TaskControlTrace

/// The object of which each block is a function.
@MainActor final class Screen {
    var items: [Item] = []
    var results: [Item] = []
    var problem: (any Error)?
    var fraction = 0.0
    var receipt: Receipt?
    var toast: Toast?
    var alert: Alert?

    func apply(_ update: Int) async {}
    func refresh() async {}
    func fetchBooks() async throws -> [Book] { [] }
}

let api = API()
let server = Server()
let text = ""
let lifetime = AsyncLifetime()
let updates = AsyncStream<Int> { $0.finish() }
@MainActor let model = Model()

// MARK: Values, of which only the types matter

var url: URL { fatalError() }
var id: Int { fatalError() }
var name: String { fatalError() }
var page: Int { fatalError() }
var line: String { fatalError() }
var amount: Int { fatalError() }
var number: Int { fatalError() }
var urls: [URL] { fatalError() }
var files: [URL] { fatalError() }
var mirrors: [URL] { fatalError() }
var photos: [Photo] { fatalError() }
var order: Order { fatalError() }
var remaining: Duration { fatalError() }
var continuation: CancellableContinuation<[Item]> { fatalError() }
var recorder: TraceRecorder { fatalError() }
var store: any CoordinationStore { fatalError() }
var lease: Lease { fatalError() }
var breaker: CircuitBreaker { fatalError() }
var sim: Simulation { fatalError() }
let savings = Savings()
let cluster = Cluster()
var log: Journal { fatalError() }

let reachability = Reachability()
let connection = Radio()
let images = TaskStore<URL>()
let hiding = TaskSlot()

struct Toast: Sendable {}

/// An API that calls its handler for each change of a state.
final class Radio: Sendable {
    enum State { case ready }

    func start(_ changed: @escaping @Sendable (State) -> Void) {}
    func cancel() {}
}

struct Reachability: Sendable { var isAvailable: AsyncStream<Bool> { AsyncStream { $0.finish() } } }
struct Battery: Sendable { var isLow: Bool { false } }
actor Savings { var balance = 0 }
actor Cluster { var termCount = 0 }
struct Photo: Sendable {}
struct Order: Codable, Sendable {}
struct Refusal: Decodable, Sendable { var fields: [String] = [] }
struct Receipt: Sendable {}
struct Page: Sendable {}
struct Profile: Sendable {}
struct File: Sendable {}
struct Token: Codable, Sendable {}
struct Article: Sendable {}
struct Index: Sendable {}
typealias UserID = Int

struct Alert {
    init(_ error: any Error) {}
}

struct ConnectionLost: Error {}
struct AccountLocked: Error {}

actor Journal {
    func append(_ line: String) {}
}

/// Work that a client has, such as an upload.
final class Upload: Sendable {
    func cancel() {}
}

// MARK: Functions

func fetch(_ url: URL) async throws -> Page { Page() }
@discardableResult func fetch(_ page: Int) async throws -> Page { Page() }
func fetchUser() async throws -> Int { 0 }
func fetchFeed() async throws -> [Item] { [] }
func fetchFeed(_ user: Int) async throws -> [Item] { [] }
func fetchIndex(from mirror: URL) async throws -> Index { Index() }
func fetchBalance() async throws -> Int { 0 }
func withdraw(_ amount: Int) async throws {}
@discardableResult func send(_ order: Order) async throws -> Receipt { Receipt() }
func pay(_ order: Order) async throws -> Receipt { Receipt() }
func pay(_ order: Order, attempt: Int) async throws -> Receipt { Receipt() }
func upload(_ photo: Photo) async {}
func download(_ url: URL) async {}
func write(_ text: String) async {}
func render() async throws -> File { File() }
func render(_ page: Int) async {}
func prefetch() async {}
func refresh() async {}
func answer(_ request: HTTPRequestHead) async throws {}
func reconnect() {}
@MainActor func scroll() {}
@MainActor func show(_ page: Page) {}

extension API {
    func fetch(_ completion: @escaping @Sendable (Result<[Item], any Error>) -> Void) {}
    func fetchProfile(_ id: UserID) async throws -> Profile { Profile() }
    func article(_ id: Int) async throws -> Article { Article() }
    func refreshToken() async throws -> Token { Token() }
    func upload(_ movie: URL, progress: @escaping @Sendable (Double) -> Void) async throws -> Receipt { Receipt() }
}

extension Server {
    func fetch(_ page: Int) async throws -> Page { Page() }
    func fetch(_ url: URL) async throws -> Page { Page() }
    func upload(_ file: URL) async throws {}
    func handle(_ message: String) async throws {}
}

extension Model {
    func send(on connection: Server.Live) {}
    func load() {}
    var article: Article {
        get { Article() }
        set {}
    }
}

// MARK: More of the same

let loader = Library.Loader()
let legacy = Legacy()
let auth = API()
let bank = Bank()
let room = Room()
let reports = Reports()
let database = Database()
let queue = Database()
let cancelButton = CancelButton()
let budget = RetryBudget()
let search = ResiliencePolicy.standard(name: "search")
let saves = FIFOQueue()
let previews = FIFOQueue()
let ledger = FIFOQueue()
let downloads = ConcurrentQueue(maxConcurrentTasks: 4)
let connections = AsyncSemaphore(value: 4)
let requests = TaskBag()
let uploads = TaskBag()
let backend = Supervisor(name: "backend")
let tasks = TaskStore<Field>()
@MainActor let label = TextLabel()
@MainActor var cancellables: Set<AnyCancellable> = []

var entries: ActorQueue<Journal> { fatalError() }
var client: EndpointClient { fatalError() }
var login: EndpointClient { fatalError() }
var transport: MockTransport { fatalError() }
var response: HTTPTransportResponse { fatalError() }
var file: FileHandle { fatalError() }
var request: HTTPRequestHead { fatalError() }
var network: SimulatedNetwork { fatalError() }
var process: SimulatedNetwork.Process { fatalError() }
var articles: CachedFlight<Article.ID, Article> { fatalError() }
var links: AsyncStream<URL> { fatalError() }
var messages: AsyncStream<String> { fatalError() }
var edited: Article { fatalError() }
var account: String { fatalError() }
var accounts: [String] { fatalError() }
var user: String { fatalError() }
var password: String { fatalError() }
var link: URL { fatalError() }
var movie: URL { fatalError() }
var picture: Data { fatalError() }
var video: File { fatalError() }
var report: Order { fatalError() }
var register: Register { fatalError() }
var fileExists: Bool { false }
var neverAnswers: Server { fatalError() }
var a: String { fatalError() }
var b: String { fatalError() }
var term: Int { fatalError() }

struct Cover: Codable, Sendable {}
typealias Hit = Item
struct Row: Decodable, Sendable {}
struct NewBook: Encodable, Sendable { var title: String }
struct Connection: ~Copyable { let permit: AsyncSemaphore.Permit }
struct HTTPRequestHead: Sendable { let headers: [String: String] }
struct Deposit: SimulatedNetwork.Request {
    typealias Reply = Int
    let id: Int
    let amount: Int
}

struct Legacy: Sendable { func lookup(_ name: String) async -> String { "" } }
struct Register: Sendable {
    func write(_ value: Int) {}
    func read() -> Int { 0 }
}
struct Reports: Sendable { func write(_ account: String, token: Lease.FencingToken) async throws {} }
struct Database: Sendable {
    func serve(_ ready: @Sendable () -> Void) async throws {}
    func consume(from database: Database, _ ready: @Sendable () -> Void) async throws {}
    func flush() async throws {}
}

struct Feed: Sendable {
    func open() {}
    func close() async {}
}

struct Session: Sendable { func login() async throws -> String { "" } }

actor Bank {
    func handle(_ deposit: Deposit) async throws -> Int { 0 }
    func transfer(_ amount: Int, from: String, to: String) async throws {}
}

actor Room {
    var isDark = true
    func visit() {}
}

final class CancelButton: Sendable {
    var action: @Sendable () -> Void {
        get { {} }
        set {}
    }
}

@MainActor final class TextLabel { var text = "" }

struct BookListEndpoint: Endpoint {
    typealias Content = [Book]
    func makeRequest() throws -> URLRequest { get("books") }
}

struct ExportEndpoint: Endpoint {
    typealias Content = Data
    func makeRequest() throws -> URLRequest { get("export") }
}

typealias Export = ExportEndpoint
typealias Changes = ExportEndpoint

struct MovieEndpoint: Endpoint {
    typealias Content = Data
    let id: Int
    init(_ id: Int) { self.id = id }
    func makeRequest() throws -> URLRequest { get("movies") }
}

struct LoginEndpoint: Endpoint {
    struct Content: Decodable, Sendable { let token: String }
    let user, password: String
    func makeRequest() throws -> URLRequest { get("login") }
}

func add(_ row: Row) throws {}
func add(_ text: String) {}
func send(_ text: String) async throws {}
func convert(_ video: File) async throws {}
func runDueJobs(token: Lease.FencingToken) async throws {}
func save(_ items: [Item], of night: String, token: Lease.FencingToken) async throws {}
func downloadFile() async {}
func work() async {}
func poll(every interval: Duration, clock: TestClock) async throws {}

extension Book: Identifiable {
    typealias ID = Int
    var id: Int { 7 }
}

extension Article: Identifiable { var id: Int { 7 } }

extension Library {
    struct Loader: Sendable {
        func load(_ url: URL, completion: @escaping @Sendable (Result<Page, any Error>) -> Void) -> Upload { Upload() }
    }
}

extension Server {
    struct Live: Sendable {
        let updates: AsyncStream<Int>
        func send(_ text: String) async throws {}
    }

    func connect() async throws -> Live { Live(updates: updates) }
    func refreshToken(of account: String) async throws -> Token { Token() }
}

enum ScreenEvent { case screenViewed }

func log(_ event: ScreenEvent) async {}

final class MetricsObserver: TaskObserver {
    func receive(_ event: TaskEvent) {}
}

extension RetryPolicy { static let mirrors = RetryPolicy() }

@discardableResult func get(_ url: RequestURL) -> URLRequest { fatalError() }
@discardableResult func post(_ url: RequestURL, body: EndpointBody) -> URLRequest { fatalError() }

extension Model {
    convenience init(server: Server) { self.init() }
}
