/// What lives now: owners with their tasks, who waits for whom, and what looks wrong.
///
/// ```swift
/// AsyncGuard.configure(.init(tracking: true))     // when the program begins
/// // … and when something hangs:
/// print(TaskControl.snapshot())
/// ```
///
/// To be written with the name of the module, so that it says what of. Tracking is to be on beforehand: what began before is not in it, and
/// while it is off there is nothing to show, and ``TaskSnapshot/isTracking`` says so.
///
/// It may be called from anywhere, an observer included. The first event that comes while it is being made copies the books, which takes as long as
/// there is in them; nobody else is held up. What other threads do at the same moment is in it or not, each thing as it was told.
///
/// - Complexity: O(*n* log *n*) for *n* tasks, owners and calls that live.
public func snapshot() -> TaskSnapshot { Observation.current.snapshot }
