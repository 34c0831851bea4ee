extension TaskEvent.Kind {
    /// An ``AsyncTask`` was bound to a lifetime, which is the owner of the event.
    ///
    /// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
    public static var boundToLifetime: Self { Self("boundToLifetime") }
    /// An ``AsyncTask`` was stored in a set of `AnyCancellable` values.
    ///
    /// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
    public static var stored: Self { Self("stored") }
    /// An ``AsyncTask`` was detached: it has no lifetime that cancels it.
    ///
    /// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
    public static var detached: Self { Self("detached") }
    /// An ``AsyncTask`` was released without having been bound, stored, detached or cancelled. The release cancels it.
    ///
    /// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
    public static var dropped: Self { Self("dropped") }
}

extension TaskOrigin {
    static var asyncTask: Self { Self("AsyncTask", .asyncTask) }
}
