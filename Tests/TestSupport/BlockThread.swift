internal import Foundation

/// Keeps the thread, and with it the actor of the caller, until a condition holds, and leaves the processor to the threads that it depends on.
package func blockThread(until condition: () -> Bool) {
    while !condition() { Thread.sleep(forTimeInterval: 0.000_1) }
}
