import Foundation
import TaskControlHTTP
import TestSupport
import Testing

@testable import _TaskControlShared

/// Downloads into a folder in which another user has planted a link or a pipe, and paths that contain NUL.
@Suite(.timeLimit(.minutes(15)))
struct PlantedFileTests: DownloadSuite {
    private static var whole: MockTransport.Response {
        .init(headers: ["Content-Length": "10", "ETag": "\"a\""], body: Data("0123456789".utf8))
    }

    private func recordFile(_ resumption: DownloadResumption) -> String { resumption.partialFile.path + ".resume" }

    @Test func aLinkInThePlaceOfThePartIsNotFollowed() async throws {
        try await withFile { file, resumption in
            let victim = file.deletingLastPathComponent().appendingPathComponent("victim")
            try Data("kept".utf8).write(to: victim)
            for target in [victim.path, file.path + ".nothing"] {
                try FileManager.default.createSymbolicLink(
                    atPath: resumption.partialFile.path,
                    withDestinationPath: target
                )
                #expect(resumption.receivedBytes == nil)
                let error = await #expect(throws: CocoaError.self) {
                    try await client(transport(Self.whole)).download(Checked(), to: file, resuming: resumption)
                }
                #expect((error?.underlying as? POSIXError)?.code == .ELOOP)
                #expect(try Data(contentsOf: victim) == Data("kept".utf8))
                try resumption.discard()
                #expect(try files(beside: file) == ["victim"])
            }
        }
    }

    @Test func aLinkThatTakesThePlaceOfAnOpenPartIsNoticed() async throws {
        try await withFile { file, resumption in
            let part = resumption.partialFile.path
            let opened = try OutputFile.openPart(part)
            try FileManager.default.moveItem(atPath: part, toPath: file.path)
            try FileManager.default.createSymbolicLink(atPath: part, withDestinationPath: file.path)
            #expect(try !OutputFile.lock(opened, at: part), "the link leads to it, and is not it")
            _ = close(opened)
        }
    }

    /// Opening a pipe waits for its other end, unless that is excluded.
    @Test(arguments: [false, true])
    func aPipeInThePlaceOfThePartIsAnErrorAtOnce(isRead: Bool) async throws {
        try await withFile { file, resumption in
            try #require(mkfifo(resumption.partialFile.path, 0o600) == 0)
            let reader = isRead ? open(resumption.partialFile.path, O_RDONLY | O_NONBLOCK) : -1
            defer { if isRead { _ = close(reader) } }
            let error = await #expect(throws: CocoaError.self) {
                try await client(transport(Self.whole)).download(Checked(), to: file, resuming: resumption)
            }
            #expect((error?.underlying as? POSIXError)?.code == .EINVAL)
        }
    }

    @Test(arguments: ["link", "pipe", "long"])
    func aRecordThatIsNoSmallRegularFileIsReplaced(kind: String) async throws {
        try await withFile { file, resumption in
            let victim = file.deletingLastPathComponent().appendingPathComponent("victim")
            try Data("kept".utf8).write(to: victim)
            let record = recordFile(resumption)
            switch kind {
            case "link": try FileManager.default.createSymbolicLink(atPath: record, withDestinationPath: victim.path)
            case "pipe": try #require(mkfifo(record, 0o600) == 0)
            default: try Data(repeating: 0x20, count: 100_000).write(to: URL(fileURLWithPath: record))
            }
            #expect(resumption.receivedBytes == nil)
            await #expect(throws: EndpointError.self) {
                try await client(transport(Self.half)).download(Checked(), to: file, resuming: resumption)
            }
            #expect(resumption.receivedBytes == 4)
            try await client(transport(Self.rest)).download(Checked(), to: file, resuming: resumption)
            #expect(try Data(contentsOf: file) == Data("0123456789".utf8))
            #expect(try Data(contentsOf: victim) == Data("kept".utf8))
            #expect(try files(beside: file) == ["book.txt", "victim"])
        }
    }

    @Test func aRecordThatIsALinkIsReplacedByTheNewOne() async throws {
        try await withFile { file, _ in
            let victim = file.path + ".victim"
            try Data("kept".utf8).write(to: URL(fileURLWithPath: victim))
            let link = file.path + ".link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: victim)
            let output = try OutputFile(replacing: link)
            try [UInt8]("new".utf8).withUnsafeBytes { try output.write($0) }
            try output.finish()
            #expect(OutputFile.content(ofRegularFile: link) == Array("new".utf8))
            #expect(OutputFile.content(ofRegularFile: victim) == Array("kept".utf8))
        }
    }

    /// A folder, or a link to one: the file could not be put in its place.
    @Test(arguments: [false, true], [false, true])
    func aFolderInThePlaceOfTheTargetIsAnErrorBeforeTheRequest(isLink: Bool, resumes: Bool) async throws {
        try await withFile { file, resumption in
            let folder = isLink ? file.path + ".folder" : file.path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            if isLink { try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: folder) }
            let before = try files(beside: file)
            let transport = transport(Self.whole, Self.whole)
            for _ in 0..<2 {
                let error = await #expect(throws: CocoaError.self) {
                    try await client(transport, attempts: 3)
                        .download(Checked(), to: file, resuming: resumes ? resumption : nil)
                }
                #expect((error?.underlying as? POSIXError)?.code == .EISDIR)
            }
            #expect(transport.requests.isEmpty)
            #expect(try files(beside: file) == before)
        }
    }

    /// The part of an earlier download stays.
    @Test func aPartIsKeptWhileThereIsAFolderInThePlaceOfTheTarget() async throws {
        try await withFile { file, resumption in
            await #expect(throws: EndpointError.self) {
                try await client(transport(Self.half)).download(Checked(), to: file, resuming: resumption)
            }
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            let error = await #expect(throws: CocoaError.self) {
                try await client(transport(Self.rest)).download(Checked(), to: file, resuming: resumption)
            }
            #expect((error?.underlying as? POSIXError)?.code == .EISDIR)
            try FileManager.default.removeItem(at: file)
            #expect(resumption.receivedBytes == 4)
            try await client(transport(Self.rest)).download(Checked(), to: file, resuming: resumption)
            #expect(try Data(contentsOf: file) == Data("0123456789".utf8))
        }
    }

    /// It could not be replaced by the part.
    @Test func aPipeInThePlaceOfTheTargetIsAnErrorBeforeTheRequestIfThePartIsKept() async throws {
        try await withFile { file, resumption in
            try #require(mkfifo(file.path, 0o600) == 0)
            let transport = transport(Self.whole)
            let error = await #expect(throws: CocoaError.self) {
                try await client(transport).download(Checked(), to: file, resuming: resumption)
            }
            #expect((error?.underlying as? POSIXError)?.code == .EINVAL)
            #expect(transport.requests.isEmpty)
        }
    }

    @Test func aPathWithNULNamesNoFile() async throws {
        try await withFile { file, resumption in
            try Data("kept".utf8).write(to: file)
            let path = file.path + "\0.partial"
            for open in [
                { try OutputFile(path) }, { try OutputFile(replacing: path) },
                { try OutputFile(file.path, draft: path) }, { try OutputFile(path, draft: file.path + ".draft") },
            ] as [() throws -> OutputFile] {
                let error = #expect(throws: OutputFile.SystemError.self) { _ = try open() }
                #expect(error?.code == EINVAL)
            }
            #expect(throws: OutputFile.SystemError.self) { try OutputFile.remove(path) }
            #expect(throws: OutputFile.SystemError.self) { try OutputFile.open(regularFile: path) }
            #expect(OutputFile.content(ofRegularFile: path) == nil && OutputFile.size(ofRegularFile: path) == nil)
            #expect(try Data(contentsOf: file) == Data("kept".utf8))
            #expect(try files(beside: file) == ["book.txt"])
        }
    }

    @Test func anUploadOpensNoPipe() async throws {
        try await withFile { file, _ in
            try #require(mkfifo(file.path, 0o600) == 0)
            let error = #expect(throws: OutputFile.SystemError.self) { try OutputFile.open(regularFile: file.path) }
            #expect(error?.code == EINVAL)
        }
    }
}

extension CocoaError {
    fileprivate var underlying: (any Error)? { userInfo[NSUnderlyingErrorKey] as? any Error }
}
