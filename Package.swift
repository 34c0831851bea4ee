// swift-tools-version: 6.3

import PackageDescription

// The privacy manifest of the targets that read the metadata of files, which an app is asked for. Not on Linux: for a target with resources, SwiftPM
// generates code that imports Foundation. Never in the core, which does not.
#if canImport(Darwin)
let privacyManifest: [Resource] = [.copy("PrivacyInfo.xcprivacy")]
let excludedManifest: [String] = []
#else
let privacyManifest: [Resource] = []
let excludedManifest = ["PrivacyInfo.xcprivacy"]
#endif

// Those of a project that Xcode 26 makes. In language mode 5 it has three features more, which mode 6 includes.
let settingsOfXcode: [SwiftSetting] = [
    .defaultIsolation(MainActor.self),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .define("MAIN_ACTOR_BY_DEFAULT"),
]

let package = Package(
    name: "swift-task-control",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "TaskControl", targets: ["TaskControl"]),
        .library(name: "TaskControlCaching", targets: ["TaskControlCaching"]),
        .library(name: "TaskControlFanOut", targets: ["TaskControlFanOut"]),
        .library(name: "TaskControlSnapshot", targets: ["TaskControlSnapshot"]),
        .library(name: "TaskControlTrace", targets: ["TaskControlTrace"]),
        .library(name: "TaskControlTelemetry", targets: ["TaskControlTelemetry"]),
        .library(name: "TaskControlHTTP", targets: ["TaskControlHTTP"]),
        .library(name: "TaskControlApexy", targets: ["TaskControlApexy"]),
        .library(name: "TaskControlResilience", targets: ["TaskControlResilience"]),
        .library(name: "TaskControlSupervision", targets: ["TaskControlSupervision"]),
        .library(name: "TaskControlCalendar", targets: ["TaskControlCalendar"]),
        .library(name: "TaskControlSwiftUI", targets: ["TaskControlSwiftUI"]),
        .library(name: "TaskControlFleet", targets: ["TaskControlFleet"]),
        .library(name: "TaskControlEtcd", targets: ["TaskControlEtcd"]),
        .library(name: "TaskControlTesting", targets: ["TaskControlTesting"]),
        .library(name: "TaskControlTestingTraits", targets: ["TaskControlTestingTraits"]),
    ],
    traits: [
        .trait(
            name: "AsyncHTTPClient",
            description: "A transport for TaskControlHTTP over AsyncHTTPClient, for servers."
        ),
        .trait(
            name: "OpenCombine",
            description: "The publishers of TaskControlApexy on platforms without Combine, through OpenCombine."
        ),
        .trait(name: "Logging", description: "TaskControlTelemetry: events are logged through swift-log."),
        .trait(
            name: "Metrics",
            description: "TaskControlTelemetry: events are counted and timed through swift-metrics."
        ),
        .trait(
            name: "Tracing",
            description: "TaskControlTelemetry: each task and call becomes a span of swift-distributed-tracing."
        ),
        .trait(
            name: "ServiceLifecycle",
            description:
                "TaskControlSupervision: owners, supervisors and shutdown plans are services of swift-service-lifecycle."
        ),
        .trait(
            name: "SQLite",
            description:
                "SQLiteStore of TaskControlFleet, through GRDB. Needs the headers of SQLite on Linux (libsqlite3-dev)."
        ),
    ],
    dependencies: [
        // Only with the trait, these four.
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.36.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.30.0"),
        // Only with the traits of the same names: Logging, Metrics, Tracing.
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.0"),
        // Only with the trait.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // Only with the trait.
        .package(url: "https://github.com/OpenCombine/OpenCombine.git", from: "0.14.0"),
        // Only with the trait SQLite: a store for the processes of one machine.
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        // Only for the tests: a server to talk to.
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        // The core: owners, queues, flights, policies, callbacks, events. CONTRIBUTING.md has a picture of it.
        .target(name: "TaskControl", dependencies: ["CTaskControl"], exclude: ["Internal/README.md"]),
        // Atomics, thread-locals, a clock, and functions of the Swift runtime that Swift code cannot call, or only slowly.
        .target(name: "CTaskControl"),
        // Code that the other targets share and no client uses. Its declarations are public for the targets that have no package access.
        .target(
            name: "_TaskControlShared",
            dependencies: ["TaskControl"],
            exclude: excludedManifest,
            resources: privacyManifest
        ),
        // Consumers of events. Without package access, so that they prove that the API of observers suffices, with its SPI.
        .target(
            name: "TaskControlSnapshot",
            dependencies: ["TaskControl", "_TaskControlShared"],
            packageAccess: false
        ),
        .target(
            name: "TaskControlTrace",
            dependencies: ["TaskControl", "_TaskControlShared"],
            // The sources of the page of a trace: scripts/trace-page embed embeds them in a source file.
            exclude: ["Page"],
            packageAccess: false
        ),
        // Three observers, each behind a trait. Empty without a trait.
        .target(
            name: "TaskControlTelemetry",
            dependencies: [
                "TaskControl",
                "_TaskControlShared",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
                .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
                .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
            ],
            packageAccess: false
        ),
        // The HTTP client, over URLSession, or over AsyncHTTPClient with the trait of that name.
        .target(
            name: "TaskControlHTTP",
            dependencies: [
                "TaskControl",
                "TaskControlResilience",
                "_TaskControlShared",
                .product(
                    name: "AsyncHTTPClient",
                    package: "async-http-client",
                    condition: .when(traits: ["AsyncHTTPClient"])
                ),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(
                    name: "NIOFoundationCompat",
                    package: "swift-nio",
                    condition: .when(traits: ["AsyncHTTPClient"])
                ),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["AsyncHTTPClient"])),
                .target(name: "CTaskControlZlib", condition: .when(traits: ["AsyncHTTPClient"])),
            ],
            exclude: excludedManifest,
            resources: privacyManifest
        ),
        // The names of Apexy for the HTTP client, and its loaders and publishers.
        .target(
            name: "TaskControlApexy",
            dependencies: [
                "TaskControl",
                "TaskControlHTTP",
                .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
            ]
        ),
        // The system's zlib, which decompresses responses of AsyncHTTPClient. SwiftNIO needs its headers too.
        .systemLibrary(name: "CTaskControlZlib"),
        // Keeps the results of flights. A product of its own: an application without a cache does not link it.
        .target(name: "TaskControlCaching", dependencies: ["TaskControl"]),
        // Work on many elements at the same time.
        .target(name: "TaskControlFanOut", dependencies: ["TaskControl"]),
        // Protects a client of a service, and the service: the core does not need it.
        .target(name: "TaskControlResilience", dependencies: ["TaskControl"]),
        // Work at the times of a calendar. A product of its own, because it needs Foundation.
        .target(name: "TaskControlCalendar", dependencies: ["TaskControl", "TaskControlSupervision"]),
        // Parts of a screen. Empty where there is no SwiftUI. Without package access, as an app has none.
        .target(name: "TaskControlSwiftUI", dependencies: ["TaskControl"], packageAccess: false),
        // Work that runs as long as its owner: periodic work, and work that is restarted when it fails.
        .target(
            name: "TaskControlSupervision",
            dependencies: [
                "TaskControl",
                .product(
                    name: "ServiceLifecycle",
                    package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])
                ),
            ]
        ),
        // Coordinates processes and machines through a store, such as a file of SQLite.
        .target(
            name: "TaskControlFleet",
            dependencies: [
                "TaskControl",
                "TaskControlSupervision",
                .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["SQLite"])),
            ]
        ),
        // The store in a cluster of etcd. Uses the HTTP client's transport, which the other stores do not need.
        .target(name: "TaskControlEtcd", dependencies: ["TaskControl", "TaskControlFleet", "TaskControlHTTP"]),
        // The simulation, and tools for tests, such as a clock.
        .target(
            name: "TaskControlTesting",
            dependencies: ["TaskControl", "_TaskControlShared", "TaskControlTrace", "CTaskControlTesting"]
        ),
        // Access to the Swift runtime for the simulation that Swift cannot express.
        .target(name: "CTaskControlTesting"),
        // A product of its own: it links Swift Testing, which tests under XCTest do not.
        .target(
            name: "TaskControlTestingTraits",
            dependencies: ["TaskControl", "TaskControlSnapshot", "_TaskControlShared", "TaskControlTesting"]
        ),
        // For the tests of this package only: tags, sizes of tests, and other code that several test targets share.
        .target(
            name: "TestSupport",
            dependencies: ["TaskControl", "TaskControlTesting"],
            path: "Tests/TestSupport"
        ),
        .testTarget(
            name: "TaskControlTests",
            dependencies: [
                "TaskControl",
                "TaskControlTesting",
                "TestSupport",
            ]
        ),
        .testTarget(
            name: "TaskControlCachingTests",
            dependencies: ["TaskControl", "TaskControlCaching", "TaskControlTesting", "TestSupport"]
        ),
        .testTarget(
            name: "TaskControlFanOutTests",
            dependencies: ["TaskControl", "TaskControlFanOut", "TaskControlTesting", "TestSupport"]
        ),
        .testTarget(
            name: "TaskControlSnapshotTests",
            dependencies: ["TaskControl", "TaskControlSnapshot", "TaskControlTesting", "TestSupport"]
        ),
        .testTarget(
            name: "TaskControlTraceTests",
            dependencies: [
                "TaskControl", "TaskControlSnapshot", "TaskControlTesting", "TaskControlTrace", "TestSupport",
            ]
        ),
        // The products behind traits beside the libraries that they adapt to. Without the traits, nearly empty.
        .testTarget(
            name: "TaskControlIntegrationTests",
            dependencies: [
                "TaskControl",
                "TaskControlSupervision",
                "TaskControlTelemetry",
                "TaskControlTesting",
                "TestSupport",
                .product(name: "InMemoryLogging", package: "swift-log", condition: .when(traits: ["Logging"])),
                // The logger of a service group.
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["ServiceLifecycle"])),
                .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
                .product(
                    name: "InMemoryTracing",
                    package: "swift-distributed-tracing",
                    condition: .when(traits: ["Tracing"])
                ),
                .product(
                    name: "ServiceLifecycle",
                    package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])
                ),
                .product(
                    name: "UnixSignals",
                    package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])
                ),
            ]
        ),
        .testTarget(
            name: "TaskControlHTTPTests",
            dependencies: [
                "TaskControlHTTP",
                "TaskControlResilience",
                "_TaskControlShared",
                "TaskControlTesting",
                "TestSupport",
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
                .product(
                    name: "AsyncHTTPClient",
                    package: "async-http-client",
                    condition: .when(traits: ["AsyncHTTPClient"])
                ),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOEmbedded", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["AsyncHTTPClient"])),
            ]
        ),
        .testTarget(
            name: "TaskControlApexyTests",
            dependencies: [
                "TaskControlApexy",
                "TaskControlTesting",
                "TestSupport",
                .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
            ]
        ),
        .testTarget(
            name: "TaskControlResilienceTests",
            dependencies: [
                "TaskControl",
                "TaskControlResilience",
                "TaskControlSnapshot",
                "TaskControlTesting",
                "TaskControlTrace",
                "TestSupport",
            ]
        ),
        // A policy of another package, without package access: it proves that one can be added to `withPolicy` and to the client.
        .testTarget(
            name: "PolicyExtensionTests",
            dependencies: ["TaskControl", "TaskControlHTTP", "TaskControlResilience", "TaskControlTesting"],
            packageAccess: false
        ),
        .testTarget(
            name: "TaskControlSupervisionTests",
            dependencies: ["TaskControl", "TaskControlSupervision", "TaskControlTesting", "TestSupport"]
        ),
        // Services of another library, without package access: it proves that the public API of owners and supervisors suffices for them.
        .testTarget(
            name: "ServiceExtensionTests",
            dependencies: ["TaskControl", "TaskControlSupervision", "TaskControlTesting"],
            packageAccess: false
        ),
        .testTarget(
            name: "TaskControlCalendarTests",
            dependencies: [
                "TaskControl", "TaskControlCalendar", "TaskControlFleet", "TaskControlTesting", "TestSupport",
            ]
        ),
        .testTarget(
            name: "TaskControlSwiftUITests",
            dependencies: ["TaskControl", "TaskControlSwiftUI", "TaskControlTesting"]
        ),
        .testTarget(
            name: "TaskControlFleetTests",
            dependencies: [
                "TaskControl",
                "TaskControlEtcd",
                "TaskControlFleet",
                "TaskControlHTTP",
                "TaskControlSupervision",
                "TaskControlTesting",
                "TestSupport",
                .product(
                    name: "AsyncHTTPClient",
                    package: "async-http-client",
                    condition: .when(traits: ["AsyncHTTPClient"])
                ),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["SQLite"])),
            ]
        ),
        .testTarget(
            name: "TaskControlTestingTests",
            dependencies: ["TaskControl", "TaskControlTesting", "CTaskControlTesting", "TestSupport"]
        ),
        .testTarget(
            name: "TaskControlTestingTraitsTests",
            dependencies: [
                "TaskControl", "TaskControlSnapshot", "TaskControlTesting", "TaskControlTestingTraits", "TestSupport",
            ]
        ),
        // Keys that are isolated to the main actor, in all modules that keep keys or show them.
        .testTarget(
            name: "KeyIsolationTests",
            dependencies: [
                "TaskControl", "TaskControlCaching", "TaskControlSnapshot", "TaskControlTesting", "TaskControlTrace",
                "TestSupport",
            ]
        ),
        // For its tests only: the names of this package that swift-concurrency-extras, swift-clocks, Vapor, Alamofire and grpc-swift-2 declare too.
        .target(name: "NeighborLibrary", path: "Tests/NeighborLibrary"),
        // A client that imports both can name each.
        .testTarget(
            name: "NeighborLibraryTests",
            dependencies: ["TaskControl", "TaskControlHTTP", "TaskControlTesting", "NeighborLibrary"]
        ),
        // Code written against the libraries that TaskControl replaces, in their language mode.
        .testTarget(
            name: "SourceCompatibilityTests",
            dependencies: ["TaskControl", "TaskControlApexy", "TaskControlTesting", "TestSupport"],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        // The same files in language mode 6, by links: `#if` has the changes that the articles *Moving from …* list.
        .testTarget(
            name: "SourceCompatibility6Tests",
            dependencies: ["TaskControl", "TaskControlApexy", "TaskControlTesting", "TestSupport"]
        ),
        // And in both modes isolated to the main actor by default, as in a project of Xcode 26.
        .testTarget(
            name: "SourceCompatibilityIsolatedTests",
            dependencies: ["TaskControl", "TaskControlApexy", "TaskControlTesting", "TestSupport"],
            swiftSettings: settingsOfXcode + [
                .swiftLanguageMode(.v5),
                .enableUpcomingFeature("InferSendableFromCaptures"),
                .enableUpcomingFeature("GlobalActorIsolatedTypesUsability"),
                .enableUpcomingFeature("DisableOutwardActorInference"),
            ]
        ),
        .testTarget(
            name: "SourceCompatibilityIsolated6Tests",
            dependencies: ["TaskControl", "TaskControlApexy", "TaskControlTesting", "TestSupport"],
            swiftSettings: settingsOfXcode
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets
where !target.name.hasPrefix("SourceCompatibility")
    && !["CTaskControl", "CTaskControlTesting", "CTaskControlZlib"].contains(target.name)
{
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("ImmutableWeakCaptures"),
            .enableUpcomingFeature("InferIsolatedConformances"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        ]
    // Swift 6.3.1 takes the C library's `timespec` for a member of a module of its own that cannot be imported, in a build with all traits.
    if target.name != "TaskControlTestingTests" {
        target.swiftSettings! += [.enableUpcomingFeature("MemberImportVisibility")]
    }
}

// Where a test can start a process: an exit test, or a browser. iOS, tvOS, watchOS and visionOS have neither.
for target in package.targets where target.type == .test || target.name == "TestSupport" {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .define("SUBPROCESSES", .when(platforms: [.macOS, .linux]))
        ]
}
