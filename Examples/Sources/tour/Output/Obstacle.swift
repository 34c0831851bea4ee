import Foundation

/// The reason why a file cannot be written, if that can be known in advance: a tour takes minutes, and its results should not be lost.
struct Obstacle: CustomStringConvertible, Equatable {
    let description: String

    /// Creates an obstacle, or `nil` if the file can be written as far as is known.
    init?(toWriting path: String) {
        let files = FileManager.default
        var isFolder: ObjCBool = false
        if files.fileExists(atPath: path, isDirectory: &isFolder) {
            if isFolder.boolValue {
                description = "\(path) is a folder"
            } else if files.isWritableFile(atPath: path) {
                return nil
            } else {
                description = "\(path) may not be written to"
            }
            return
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard files.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            description = "there is no folder \(folder)"
            return
        }
        guard !files.isWritableFile(atPath: folder) else { return nil }
        description = "the folder \(folder) may not be written to"
    }
}
