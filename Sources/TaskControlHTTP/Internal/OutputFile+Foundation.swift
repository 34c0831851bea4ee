internal import Foundation
internal import _TaskControlShared

extension OutputFile.SystemError {
    /// Performs file operations, and throws the `CocoaError` that Foundation throws for a failure, with the
    /// `POSIXError` as its underlying error.
    ///
    /// - Parameters:
    ///   - file: The file that the `CocoaError` names.
    ///   - isReading: Whether the operations read the file.
    ///   - body: The operations.
    static func ofFoundation<Value>(
        _ file: URL,
        isReading: Bool = false,
        _ body: () throws(OutputFile.SystemError) -> Value
    ) throws -> Value {
        do {
            return try body()
        } catch {
            throw error.ofFoundation(file, isReading: isReading)
        }
    }

    private func ofFoundation(_ file: URL, isReading: Bool) -> CocoaError {
        let reason = POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        let cocoaCode: CocoaError.Code =
            switch reason.code {
            case .ENOENT, .ENOTDIR: isReading ? .fileReadNoSuchFile : .fileNoSuchFile
            case .EACCES, .EPERM: isReading ? .fileReadNoPermission : .fileWriteNoPermission
            case .ENOSPC, .EDQUOT: .fileWriteOutOfSpace
            case .EROFS: .fileWriteVolumeReadOnly
            case .EAGAIN: .fileLocking
            default: isReading ? .fileReadUnknown : .fileWriteUnknown
            }
        return CocoaError(cocoaCode, userInfo: [NSFilePathErrorKey: file.path, NSUnderlyingErrorKey: reason])
    }
}
