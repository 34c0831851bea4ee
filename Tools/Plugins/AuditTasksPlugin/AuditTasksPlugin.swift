import Foundation
import PackagePlugin

/// Runs `audit-tasks` on the sources of the package: `swift package audit-tasks`, with the options of the command.
@main
struct AuditTasksPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let process = Process()
        process.executableURL = try context.tool(named: "audit-tasks").url
        let hasPaths = arguments.contains { !$0.hasPrefix("-") && FileManager.default.fileExists(atPath: $0) }
        // Paths relative to the package, as the command writes them: one baseline fits both.
        let root = context.package.directoryURL.path()
        let folders = context.package.targets.compactMap { ($0 as? SourceModuleTarget)?.directoryURL.path() }.map {
            $0.hasPrefix(root) ? String($0.dropFirst(root.count).drop { $0 == "/" }) : $0
        }
        process.currentDirectoryURL = context.package.directoryURL
        process.arguments = arguments + (hasPaths || arguments.contains("--explain") ? [] : Set(folders).sorted())
        try process.run()
        process.waitUntilExit()
        switch process.terminationStatus {
        case 0: break
        case 1: Diagnostics.error("there are findings")
        default: Diagnostics.error("audit-tasks could not run")
        }
    }
}
