@_spi(Observers) public import TaskControl

extension TaskEvent.Primitive {
    /// The primitive in events of calls of ``TaskControl/AsyncLifetime/keepRunning(_:restart:limit:backoff:stableAfter:waitingFor:grace:priority:clock:operation:)``.
    public static var keepRunning: Self { Self("keepRunning", []) }
    /// The primitive in events of calls of
    /// ``TaskControl/AsyncLifetime/every(_:timing:jitter:initialDelay:backoff:for:name:priority:clock:using:work:deliver:onError:)``.
    public static var every: Self { Self("every", [.call]) }
    /// The primitive in events of a ``Supervisor``.
    public static var supervisor: Self { Self("Supervisor", []) }
}

extension TaskEvent.Kind {
    /// Periodic work begins a run.
    public static var ticked: Self { Self("ticked") }
    /// Supervised work has called `run.markReady()`: see ``SupervisedRun``.
    public static var ready: Self { Self("ready") }
    /// Supervised work begins another run.
    public static var restarted: Self { Self("restarted") }
    /// Supervised work was asked to stop.
    public static var stopping: Self { Self("stopping") }
    /// Supervised or periodic work was stopped, and does not begin again.
    public static var stopped: Self { Self("stopped") }
}
