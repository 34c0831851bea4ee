/// The error of an upload whose stream can be sent once and was already sent.
struct UploadStreamConsumed: Error, CustomStringConvertible {
    var description: String {
        "The stream of this upload has been sent already, and can't be sent again. Use .stream(length:open:), which opens a new stream each "
            + "time."
    }
}
