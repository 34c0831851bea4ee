// The part of Apple's Darwin overlay that the package and its dependencies use, with the signatures of the SDK.
@_exported import Darwin

public var errno: Int32 {
    get { fatalError() }
    set { fatalError() }
}

public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { fatalError() }
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { fatalError() }
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { fatalError() }
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { fatalError() }
public func fcntl(_ fd: Int32, _ cmd: Int32) -> Int32 { fatalError() }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ value: Int32) -> Int32 { fatalError() }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ ptr: UnsafeMutableRawPointer) -> Int32 { fatalError() }
public func ioctl(_ fd: CInt, _ request: UInt, _ value: CInt) -> CInt { fatalError() }
public func ioctl(_ fd: CInt, _ request: UInt, _ ptr: UnsafeMutableRawPointer) -> CInt { fatalError() }
public func ioctl(_ fd: CInt, _ request: UInt) -> CInt { fatalError() }

public var S_IFMT: mode_t { fatalError() }
public var S_IFIFO: mode_t { fatalError() }
public var S_IFCHR: mode_t { fatalError() }
public var S_IFDIR: mode_t { fatalError() }
public var S_IFBLK: mode_t { fatalError() }
public var S_IFREG: mode_t { fatalError() }
public var S_IFLNK: mode_t { fatalError() }
public var S_IFSOCK: mode_t { fatalError() }
public var S_IFWHT: mode_t { fatalError() }
public var S_IRWXU: mode_t { fatalError() }
public var S_IRUSR: mode_t { fatalError() }
public var S_IWUSR: mode_t { fatalError() }
public var S_IXUSR: mode_t { fatalError() }
public var S_IRWXG: mode_t { fatalError() }
public var S_IRGRP: mode_t { fatalError() }
public var S_IWGRP: mode_t { fatalError() }
public var S_IXGRP: mode_t { fatalError() }
public var S_IRWXO: mode_t { fatalError() }
public var S_IROTH: mode_t { fatalError() }
public var S_IWOTH: mode_t { fatalError() }
public var S_IXOTH: mode_t { fatalError() }
public var S_ISUID: mode_t { fatalError() }
public var S_ISGID: mode_t { fatalError() }
public var S_ISVTX: mode_t { fatalError() }

public var stdin: UnsafeMutablePointer<FILE> {
    get { fatalError() }
    set { fatalError() }
}
public var stdout: UnsafeMutablePointer<FILE> {
    get { fatalError() }
    set { fatalError() }
}
public var stderr: UnsafeMutablePointer<FILE> {
    get { fatalError() }
    set { fatalError() }
}

public typealias sig_t = @convention(c) (Int32) -> Void
public var SIG_DFL: sig_t? { fatalError() }
public var SIG_IGN: sig_t { fatalError() }
public var SIG_ERR: sig_t { fatalError() }

public let MAP_FAILED: UnsafeMutableRawPointer! = UnsafeMutableRawPointer(bitPattern: -1)
public var environ: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> { fatalError() }

@available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
extension timespec {
    public init(_ duration: Duration) { fatalError() }
}

@available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
extension timeval {
    public init(_ duration: Duration) { fatalError() }
}
