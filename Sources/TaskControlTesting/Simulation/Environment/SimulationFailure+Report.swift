internal import _TaskControlShared

extension Simulation.Failure {
    /// Reports this failure at the end of a call of `simulate`: if `TASKCONTROL_ARTIFACTS` is set to a folder, writes
    /// the description of the failure into that folder.
    ///
    /// - Returns: The error that `simulate` must throw. This is the failure itself, unless the simulated body threw an
    ///   error of Swift Testing's `#require`: that error has already been recorded, so it is returned unchanged, and
    ///   the failure is written to standard error.
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

    /// Writes the description of this failure, with all steps, into a file named ``fileName``. Replaces a file of an earlier run. If the
    /// file cannot be written, prints a message to standard error.
    ///
    /// - Parameter folder: The path of the folder, which is created if it does not exist. Its parent must exist.
    package func write(into folder: String) {
        System.createFolder(folder)
        let path = "\(folder)/\(fileName)"
        do throws(OutputFile.SystemError) {
            let file = try OutputFile(path)
            let bytes = Array(completeDescription.utf8)
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

    /// The name of the file that ``write(into:)`` writes. It consists of the source file, the line, the test if it is
    /// known, and the seed: `FeedTests-RefreshTests-42-seed-3.txt`.
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
