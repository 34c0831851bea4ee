import Foundation
import TaskControlTesting
import TestSupport
import Testing

/// Prints one number for the schedules of the whole corpus. `scripts/tests replay` compares it between processes.
@Suite(.timeLimit(.minutes(10)), .enabled(if: Simulation.isSupported))
struct ReplayDigest {
    private static let isWanted = ProcessInfo.processInfo.environment["TASKCONTROL_REPLAY_DIGEST"] != nil

    @Test(.enabled(if: isWanted)) func printReplayDigest() async throws {
        let traces = try await offThePool {
            try PlantedBug.all.flatMap { planted in
                try PlantedBug.compared.flatMap { strategy in
                    try [(planted.bug, 11 as UInt64), (planted.twin, 7)]
                        .map { body, seed in
                            do {
                                return try simulate(seed: seed, strategy: strategy) {
                                    try await body(PlantedBug.World($0))
                                }.fingerprint
                            } catch let failure as Simulation.Failure {
                                return failure.run.fingerprint
                            }
                        }
                }
            }
        }
        let digest = traces.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ $1) &* 0x100_0000_01B3 }
        print("replay digest of \(traces.count) schedules: \(digest)")
    }
}
