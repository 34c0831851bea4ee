internal import TaskControlSupport

extension SimulationFailure {
    /// Reports the failure that ends a call of `simulate`: writes its description into the folder that `TASKCONTROL_ARTIFACTS` names.
    ///
    /// - Returns: The error that `simulate` throws: the failure itself, except for an error of Swift Testing's `#require`. Such an error has been
    ///   recorded already; it is returned, and the failure is written to standard error.
    func reported() -> any Error {
        // The caller was cancelled, and nothing was found.
        if case .threw(is CancellationError) = reason, Task.isCancelled { return self }
        if let folder = System.environment("TASKCONTROL_ARTIFACTS") { write(into: folder) }
        if case .threw(let error) = reason, isOfRequire {
            System.writeToStandardError(description)
            return error
        }
        return self
    }

    /// Writes the description into a file. A file of the same name, of an earlier run, is replaced.
    ///
    /// - Parameter folder: The folder, created if it does not exist. Its parent must exist.
    package func write(into folder: String) {
        System.createFolder(folder)
        let path = "\(folder)/\(fileName)"
        do throws(OutputFile.SystemError) {
            let file = try OutputFile(path)
            let bytes = Array(description.utf8)
            do throws(OutputFile.SystemError) {
                // A `Result`, since `withUnsafeBytes` throws no error of a concrete type.
                try bytes.withUnsafeBytes { bytes in
                    Result { () throws(OutputFile.SystemError) in try file.write(bytes) }
                }.get()
            } catch {
                file.discard()
                throw error
            }
            try file.finish()
        } catch {
            // The caller must still receive the failure itself.
            System.writeToStandardError(
                "TASKCONTROL_ARTIFACTS: \(path) could not be \(error.step): \(error.text)"
            )
        }
    }

    /// The name of the file, made of the source file, the line, the test if it is known, and the seed: `FeedTests-RefreshTests-42-seed-3.txt`.
    package var fileName: String {
        let file = location.fileID.hasSuffix(".swift") ? String(location.fileID.dropLast(6)) : location.fileID
        let parts = [file, "\(location.line)", (test?.name.prefix(100)).map(String.init), "seed-\(seed)"].compactMap(
            \.self
        )
        let name = parts.joined(separator: "-").map { character in
            character.isLetter || character.isNumber || "-_.".contains(character) ? character : "-"
        }
        return String(name) + ".txt"
    }
}
