import Foundation

/// Stands between the members of a cluster: each reaches the others through a port of the proxy, which can hold back the bytes from one member to another.
///
/// A proxy and not a network namespace, because it needs no privileges: a container of CI often has none. The member that has connected is found in
/// the kernel's tables, and not in the header `X-Server-From` of etcd's messages, which the requests that pass a renewal on to the leader do not
/// have. Bytes that are held back arrive when the partition ends, as with TCP, unless one of the members has given the connection up by then.
///
/// Sendable: the state is reached under the lock alone.
final class PeerProxy: @unchecked Sendable {
    /// The members between which bytes are held back.
    struct Link: Hashable, Sendable {
        let from: Int
        let to: Int
    }

    /// The port of each member at the proxy.
    let ports: [UInt16]
    private let listeners: [Int32]
    private let targets: [UInt16]
    private let condition = NSCondition()
    private var blocked: Set<Link> = []
    /// The process of each member.
    private var processes: [Int32]
    private var unknownConnections = 0
    /// The number of threads that pass bytes on.
    private var pumps = 0
    /// The number of threads that hold bytes back, or a connection that has sent none.
    private var waiting = 0

    /// Creates a proxy with a port for each member.
    ///
    /// - Parameter targets: The ports at which the members listen.
    init(targets: [UInt16]) throws {
        self.targets = targets
        listeners = try targets.map { _ in try Sockets.listen() }
        ports = listeners.map(Sockets.port)
        processes = targets.map { _ in 0 }
        for member in targets.indices {
            Thread.detachNewThread { [self] in acceptConnections(to: member) }
        }
    }

    /// Tells the proxy the number of the process of a member.
    func setProcess(_ process: Int32, of member: Int) { condition.withLock { processes[member] = process } }

    /// Holds back the bytes of these links, and of no others.
    func block(_ links: Set<Link>) {
        condition.withLock {
            blocked = links
            condition.broadcast()
        }
    }

    /// The number of connections whose other end was no member: 0, unless the kernel's tables could not be read.
    var unknown: Int { condition.withLock { unknownConnections } }

    private func acceptConnections(to member: Int) {
        while let (socket, port) = Sockets.accept(listeners[member]) {
            Thread.detachNewThread { [self] in serve(socket, from: port, to: member) }
        }
    }

    private func serve(_ socket: Int32, from port: UInt16, to member: Int) {
        let dialer: Int
        switch SocketOwner.owner(of: port, to: ports[member], among: { condition.withLock { self.processes } }) {
        case .process(let index): dialer = index
        case .gone:
            // The bytes that it has sent are discarded.
            close(socket)
            return
        case .unknown:
            condition.withLock { unknownConnections += 1 }
            dialer = -1
        }
        let out = Link(from: dialer, to: member)
        // To be accepted is the kernel's answer; no byte passes.
        wait(for: out)
        guard let target = Sockets.connect(to: targets[member]) else {
            close(socket)
            return
        }
        condition.withLock { pumps += 2 }
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
            pump(from: target, to: socket, Link(from: member, to: dialer))
            ended.signal()
        }
        pump(from: socket, to: target, out)
        // Both threads use both sockets. A number that is closed belongs to the next file or connection that is opened, such as one that tells
        // Foundation that a process has ended: a thread that holds bytes back must not write to it, or shut it down, when the partition ends.
        ended.wait()
        close(socket)
        close(target)
        condition.withLock {
            pumps -= 2
            condition.broadcast()
        }
    }

    private func wait(for link: Link) {
        condition.withLock {
            waiting += 1
            condition.broadcast()
            while blocked.contains(link) { condition.wait() }
            waiting -= 1
        }
    }

    /// Returns when bytes are held back.
    func waitUntilHeldBack() { condition.withLock { while waiting == 0 { condition.wait() } } }

    /// Returns when no connection is open.
    func waitUntilClosed() { condition.withLock { while pumps > 0 { condition.wait() } } }

    /// Passes bytes on until one side ends.
    private func pump(from source: Int32, to target: Int32, _ link: Link) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            if count <= 0 { break }
            wait(for: link)
            var sent = 0
            while sent < count {
                let part = buffer.withUnsafeBytes {
                    send(target, $0.baseAddress! + sent, count - sent, 0)
                }
                if part <= 0 { break }
                sent += part
            }
            if sent < count { break }
        }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
    }
}
