import Foundation
import TaskControl

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

extension RawServer {
    /// One connection. Except for `close` and `reset`, must be used on its own thread.
    final class Connection: @unchecked Sendable {
        /// The how manieth of its server, from 1.
        let number: Int

        private let socket: CInt
        private let isOpen = Locked(true)
        /// Where it is received, and what of it has not been read: raw, since arrays are slow in debug builds.
        private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
        private var unread = 0..<0

        init(_ socket: CInt, number: Int) {
            (self.socket, self.number) = (socket, number)
            var yes: CInt = 1
            setsockopt(socket, CInt(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<CInt>.size))
        }

        deinit {
            buffer.deallocate()
            _ = systemClose(socket)
        }

        /// Sends text, in UTF-8.
        ///
        /// - Throws: If the client is gone.
        func send(_ text: String) throws { try send(Array(text.utf8)) }

        func send(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try send($0) } }

        func send(_ bytes: UnsafeRawBufferPointer) throws {
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = systemSend(socket, part)
                guard count > 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPIPE) }
                rest = rest.dropFirst(count)
            }
        }

        /// Sends a whole response.
        func respond(_ status: Int = 200, _ headers: [(String, String)] = [], body: [UInt8] = []) throws {
            var head = "HTTP/1.1 \(status) Status\r\n"
            for (name, value) in headers { head += "\(name): \(value)\r\n" }
            if status != 204, status != 304 { head += "Content-Length: \(body.count)\r\n" }
            try send(Array((head + "\r\n").utf8) + body)
        }

        /// Sends the head of a response of ten bytes, and five of them.
        func sendHalf() throws { try send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello") }

        /// Ends the connection in good order, once what has been sent is delivered.
        func close() {
            isOpen.withLock { $0 = false }
            shutdown(socket, CInt(SHUT_RDWR))
        }

        /// Ends the connection at once: the client gets a "connection reset".
        func reset() {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
            isOpen.withLock { $0 = false }
            // With that option, closing sends the reset; the descriptor itself stays, for `deinit`.
            let replacement = open("/dev/null", O_RDONLY)
            dup2(replacement, socket)
            _ = systemClose(replacement)
        }

        /// Blocks until the client has ended the connection; what it sends is thrown away.
        func waitUntilClosed() {
            while receive() {}
        }

        // MARK: Reading

        /// Reads the body of a request, part by part.
        ///
        /// - Throws: If the client is gone before its end.
        func readBody(of request: RawRequest, _ part: (UnsafeRawBufferPointer) throws -> Void = { _ in }) throws {
            let wasRead = request.hasReadBody.withLock { wasRead in
                defer { wasRead = true }
                return wasRead
            }
            if wasRead { return }
            if request["Transfer-Encoding"]?.lowercased() == "chunked" {
                while true {
                    guard let line = try readLine(), let size = Int(line.prefix { $0 != ";" }, radix: 16) else {
                        throw POSIXError(.EBADMSG)
                    }
                    try read(size, part)
                    guard try readLine() == "" else { throw POSIXError(.EBADMSG) }
                    if size == 0 { return }
                }
            } else if let length = request["Content-Length"].flatMap(Int.init) {
                try read(length, part)
            }
        }

        private func read(_ count: Int, _ part: (UnsafeRawBufferPointer) throws -> Void) throws {
            var rest = count
            while rest > 0 {
                if unread.isEmpty, !receive() { throw POSIXError(.ECONNRESET) }
                let bytes = unread.lowerBound..<min(unread.upperBound, unread.lowerBound + rest)
                try part(UnsafeRawBufferPointer(rebasing: buffer[bytes]))
                unread = bytes.upperBound..<unread.upperBound
                rest -= bytes.count
            }
        }

        private func readLine() throws -> String? {
            var line: [UInt8] = []
            while true {
                if unread.isEmpty, !receive() { return nil }
                let byte = buffer[unread.lowerBound]
                unread = unread.lowerBound + 1..<unread.upperBound
                if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
                if byte != UInt8(ascii: "\r") { line.append(byte) }
            }
        }

        /// Receives again; what was not read is lost.
        private func receive() -> Bool {
            unread = 0..<max(0, recv(socket, buffer.baseAddress, buffer.count, 0))
            return !unread.isEmpty
        }

        private func readRequest() throws -> RawRequest? {
            guard let first = try readLine() else { return nil }
            let words = first.split(separator: " ").map(String.init)
            guard words.count == 3 else { return nil }
            var headers: [(String, String)] = []
            while let line = try readLine() {
                if line.isEmpty { return RawRequest(method: words[0], target: words[1], headers: headers) }
                let name = line.prefix { $0 != ":" }
                headers.append((String(name), line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)))
            }
            return nil
        }

        /// Answers requests until the connection ends.
        func serve(_ log: ServerLog, _ handler: Handler) {
            do {
                while isOpen.withLock({ $0 }), let request = try readRequest() {
                    log.received(request)
                    try handler(self, request)
                    try readBody(of: request)
                }
            } catch {}
        }
    }
}

/// A request, as it arrived.
struct RawRequest: Sendable {
    let method: String
    /// Path and query.
    let target: String
    let headers: [(String, String)]
    fileprivate let hasReadBody = Locked(false)

    /// The value of a header, whatever the case of its name.
    subscript(name: String) -> String? { headers.first { $0.0.lowercased() == name.lowercased() }?.1 }
}

private func systemSend(_ socket: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
    send(socket, bytes.baseAddress, bytes.count, 0)
    #else
    send(socket, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
    #endif
}
