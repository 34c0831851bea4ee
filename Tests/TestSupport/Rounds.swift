internal import Foundation

/// How often a race between real threads is run: `TASKCONTROL_ROUNDS` times, if that is set.
package func rounds(_ usual: Int) -> Int {
    ProcessInfo.processInfo.environment["TASKCONTROL_ROUNDS"].flatMap { Int($0) } ?? usual
}
