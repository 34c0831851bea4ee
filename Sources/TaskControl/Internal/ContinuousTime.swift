internal import CTaskControl

/// Returns the time of the continuous clock since a fixed moment, which is the same for the whole process.
package func continuousTime() -> Duration { .nanoseconds(tc_continuousNanoseconds()) }
