// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours: Swift 6 language mode, warnings as errors.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// What Xcode 26 sets for a new app: the main actor is the default, and concurrency is "approachable".
let asXcodeSets: [SwiftSetting] = [
    .defaultIsolation(MainActor.self),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

/// Apple's names. Other packages ask whether they can import `Combine`, `Network`, `os`, `SwiftUI` or `ObjectiveC`, and take Apple's when
/// they can: these have names of their own here.
let appleModules = [
    "CallKit", "LiveCommunicationKit", "AVFoundation", "PushKit", "Intents", "UIKit", "ActivityKit", "AVFAudio", "AVKit", "AudioToolbox",
    "SystemConfiguration", "UserNotifications",
    "HookswitchCombine", "HookswitchNetwork", "HookswitchOS", "HookswitchObjectiveC", "HookswitchSwiftUI", "_Testing_UIKit",
]

extension Target.Dependency {
    static let argumentParser = outside("ArgumentParser", of: "swift-argument-parser", for: "Server")
    static let log = outside("Logging", of: "swift-log", for: "Server")
    static let grdb = outside("GRDB", of: "GRDB.swift", for: "Server")
    static let httpTypes = outside("HTTPTypes", of: "swift-http-types", for: "Network", "Server")
    static let histogram = outside("Histogram", of: "hdrhistogram-swift", for: "Server")
    static let yams = outside("Yams", of: "Yams", for: "Server")

    /// A product of another package, which is fetched with one of these traits alone.
    private static func outside(_ product: String, of package: String, for traits: String...) -> Target.Dependency {
        .product(name: product, package: package, condition: .when(traits: Set(traits)))
    }
}

// One line a target, from the ground up: a target names only targets of lower floors. `Tests/HouseTests` reads this and the imports.
let package = Package(
    name: "hookswitch",
    products: [
        .library(name: "CallKit", targets: appleModules),
        .plugin(name: "CallSources", targets: ["CallSources"]),
        .library(name: "CallApp", targets: ["CallApp", "Audio", "Media", "Primitives", "SDP"]),
        .library(name: "Gateway", targets: ["Gateway", "Audio", "Media", "Primitives", "RTP", "UserAgent"]),
        .library(name: "HookswitchClient", targets: ["HookswitchClient"]),
        .library(name: "SIP", targets: ["SIP"]),
        .library(name: "SDP", targets: ["SDP"]),
        .library(name: "RTP", targets: ["RTP"]),
        .executable(name: "hookswitch", targets: ["hookswitch"]),
        .executable(name: "Hotline", targets: ["Hotline"]),
        .executable(name: "MonkeyCall", targets: ["MonkeyCall"]),
        .executable(name: "OFree", targets: ["OFree"]),
        .executable(name: "TalkingClock", targets: ["TalkingClock"]),
    ],
    // A package that wants no more than Apple's names asks for no trait, and fetches no other package. One trait alone is on by default, and
    // turns on no other: SwiftPM hands the names of several to the compiler in another order each time, and everything is built anew.
    traits: [
        .default(enabledTraits: ["Server"]),
        .trait(name: "Network", description: "What speaks SIP: the products CallApp, Gateway and HookswitchClient."),
        .trait(name: "Server", description: "Everything: also the command hookswitch and the sample apps."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        // The program is compiled by scripts/kernel-relay; what that makes is included.
        .target(name: "CKernelRelay", path: "Sources/System/CKernelRelay", exclude: ["program", "relay.inc"]),
        .target(name: "CLinux", path: "Sources/System/CLinux"),
        .target(name: "CPostgres", path: "Sources/System/CPostgres"),
        .target(name: "CUnicodeData", path: "Sources/System/CUnicodeData", exclude: ["small_icu.py"]),
        .target(
            name: "COpenSSL", path: "Sources/System/COpenSSL", linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .systemLibrary(name: "CCAres", path: "Sources/System/CCAres", pkgConfig: "libcares", providers: [.apt(["libc-ares-dev"])]),
        .systemLibrary(name: "COpus", path: "Sources/System/COpus", pkgConfig: "opus", providers: [.apt(["libopus-dev"])]),
        .systemLibrary(name: "CWslay", path: "Sources/System/CWslay", providers: [.apt(["libwslay-dev"])]),
        .systemLibrary(name: "CZlib", path: "Sources/System/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "Primitives", path: "Sources/Wire/Primitives", swiftSettings: strict),

        .target(name: "SIP", dependencies: ["Primitives"], path: "Sources/Wire/SIP", swiftSettings: strict),
        .target(name: "SDP", dependencies: ["Primitives"], path: "Sources/Wire/SDP", swiftSettings: strict),
        .target(name: "RTP", dependencies: ["Primitives"], path: "Sources/Wire/RTP", swiftSettings: strict),
        .target(
            name: "HTTP", dependencies: ["CWslay", "CZlib", "Primitives", .httpTypes], path: "Sources/Wire/HTTP", swiftSettings: strict),
        .target(name: "Audio", dependencies: ["COpus", "Primitives"], path: "Sources/Wire/Audio", swiftSettings: strict),
        .target(name: "Streaming", dependencies: ["Audio", "Primitives"], path: "Sources/Wire/Streaming", swiftSettings: strict),
        .target(name: "AVFoundation", path: "Sources/Apple/AVFoundation", swiftSettings: strict),
        .target(name: "PushKit", path: "Sources/Apple/PushKit", swiftSettings: strict),
        .target(name: "Intents", path: "Sources/Apple/Intents", swiftSettings: strict),
        .target(name: "ActivityKit", path: "Sources/Apple/ActivityKit", swiftSettings: strict),
        .target(name: "AudioToolbox", path: "Sources/Apple/AudioToolbox", swiftSettings: strict),
        .target(name: "HookswitchCombine", path: "Sources/Apple/HookswitchCombine", swiftSettings: strict),
        .target(name: "HookswitchNetwork", path: "Sources/Apple/HookswitchNetwork", swiftSettings: strict),
        .target(name: "HookswitchOS", path: "Sources/Apple/HookswitchOS", swiftSettings: strict),
        // In Swift 6 mode a selector's method would have to be Sendable, which a method of an app's class is not.
        .target(
            name: "HookswitchObjectiveC", path: "Sources/Apple/HookswitchObjectiveC",
            swiftSettings: [.swiftLanguageMode(.v5), .enableUpcomingFeature("ExistentialAny"), .treatAllWarnings(as: .error)]),
        .target(name: "SystemConfiguration", path: "Sources/Apple/SystemConfiguration", swiftSettings: strict),
        .target(name: "UserNotifications", path: "Sources/Apple/UserNotifications", swiftSettings: strict),
        .target(name: "AVFAudio", dependencies: ["AVFoundation"], path: "Sources/Apple/AVFAudio", swiftSettings: strict),
        // Swift looks for it where a test imports both `Testing` and `UIKit`. UIKit depends on it so that it is built before any such test.
        .target(name: "_Testing_UIKit", path: "Sources/Apple/_Testing_UIKit", swiftSettings: strict),
        .target(
            name: "UIKit", dependencies: ["AVFoundation", "HookswitchObjectiveC", "Intents", "_Testing_UIKit"], path: "Sources/Apple/UIKit",
            swiftSettings: strict),
        .target(name: "AVKit", dependencies: ["AVFoundation", "UIKit"], path: "Sources/Apple/AVKit", swiftSettings: strict),
        .target(
            name: "HookswitchSwiftUI", dependencies: ["HookswitchCombine", "UIKit"], path: "Sources/Apple/HookswitchSwiftUI",
            swiftSettings: strict),
        .target(name: "CallKit", dependencies: ["AVFoundation", "Primitives"], path: "Sources/Apple/CallKit", swiftSettings: strict),
        .target(
            name: "LiveCommunicationKit", dependencies: ["AVFoundation", "CallKit"], path: "Sources/Apple/LiveCommunicationKit",
            swiftSettings: strict),

        // With the static runtime the compiler takes in_addr, which ares.h includes, for a part of CCAres: not every file that has one
        // imports that.
        .target(
            name: "Runtime", dependencies: ["CCAres", "CLinux", "COpenSSL", "CPostgres", "Primitives"], path: "Sources/System/Runtime",
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"), .treatAllWarnings(as: .error)]),

        .target(
            name: "HookswitchClient", dependencies: ["HTTP", "Primitives", "Runtime"], path: "Sources/Client/HookswitchClient",
            swiftSettings: strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),

        .target(
            name: "UserAgent", dependencies: ["HTTP", "Primitives", "Runtime", "SIP"], path: "Sources/Engines/UserAgent",
            swiftSettings: strict),
        .target(
            name: "Media", dependencies: ["Audio", "CKernelRelay", "CLinux", "Primitives", "RTP", "Runtime", "SDP"],
            path: "Sources/Engines/Media", swiftSettings: strict),

        .target(
            name: "CallJournal", dependencies: ["CallKit", "Primitives", "SDP", "SIP"], path: "Sources/Engines/CallJournal",
            swiftSettings: strict),

        .target(
            name: "Calls", dependencies: ["CallJournal", "CallKit", "Media", "Primitives", "RTP", "SDP", "SIP", "UserAgent"],
            path: "Sources/Calls/Calls", swiftSettings: strict),

        .target(
            name: "Gateway",
            dependencies: [
                "Audio", "CallJournal", "Calls", "CallKit", "HTTP", "Intents", "Media", "Primitives", "RTP", "Runtime", "SDP", "SIP",
                "Streaming", "UserAgent",
            ], path: "Sources/Gateway/Gateway", swiftSettings: strict),

        .target(name: "CConsolePages", path: "Sources/Server/CConsolePages", exclude: ["pages"]),
        .target(
            name: "Console",
            dependencies: [
                "CConsolePages", "CallJournal", "CallKit", "Gateway", "HTTP", "Media", "Primitives", "RTP", "Runtime", "Streaming",
                "UserAgent",
            ],
            path: "Sources/Server/Console",
            swiftSettings: strict),
        .target(
            name: "Store", dependencies: ["CallKit", "Gateway", "Primitives", "Runtime", "SIP", "UserAgent", .grdb],
            path: "Sources/Server/Store",
            swiftSettings: strict),
        .target(
            name: "Workbench",
            dependencies: [
                "Audio", "CallJournal", "Calls", "Media", "Primitives", "RTP", "Runtime", "SDP", "SIP", "UserAgent", .histogram,
            ],
            path: "Sources/Tools/Workbench", swiftSettings: strict),

        // Copies of an app's sources that Linux's compiler takes.
        .target(name: "SourceRewriter", path: "Sources/Tools/SourceRewriter", swiftSettings: strict),
        .executableTarget(
            name: "CopySources", dependencies: ["SourceRewriter"], path: "Sources/Tools/CopySources", swiftSettings: strict),
        .plugin(name: "CallSources", capability: .buildTool(), dependencies: ["CopySources"], path: "Sources/Tools/CallSources"),

        .target(
            name: "CallApp",
            dependencies: [
                "Audio", "CallJournal", "CallKit", "Calls", "Intents", "Media", "Primitives", "PushKit", "RTP", "Runtime", "SDP", "SIP",
                "UserAgent",
            ], path: "Sources/Apps/CallApp", swiftSettings: strict),

        // The sample apps: call code in Swift 5 mode over CallKit and the shims alone, and the executables that give it a network.
        sampleCalls("HotlineCalls"), sampleCalls("MonkeyCalls"), sampleCalls("OFreeCalls"),
        .target(
            name: "SampleApp",
            dependencies: [
                "Audio", "CallApp", "CallKit", "Gateway", "Media", "Primitives", "RTP", "Runtime", "SDP", "UserAgent", .argumentParser,
            ],
            path: "Sources/Apps/Samples/SampleApp", swiftSettings: strict),
        sample("Hotline", "HotlineCalls"), sample("MonkeyCall", "MonkeyCalls"), sample("OFree", "OFreeCalls"),
        .executableTarget(
            name: "TalkingClock", dependencies: ["Audio", "Gateway", "Media", "Primitives", "RTP", "UserAgent"],
            path: "Sources/Apps/Samples/TalkingClock", swiftSettings: strict),

        // Run by scripts/capacity. It names no target that needs a library of the system, and is built in seconds.
        .target(name: "Capacity", dependencies: ["Primitives"], path: "Sources/Simulation/Capacity", swiftSettings: strict),
        .executableTarget(
            name: "CapacityReport", dependencies: ["Capacity"], path: "Sources/Tools/CapacityReport", swiftSettings: strict),

        .target(
            name: "Rehearsal", dependencies: ["CallKit", "Gateway", "Media", "Primitives", "RTP", "Runtime", "SDP", "SIP", "UserAgent"],
            path: "Sources/Simulation/Rehearsal", swiftSettings: strict),
        .executableTarget(
            name: "hookswitch",
            dependencies: [
                "Audio", "CUnicodeData", "CallJournal", "CallKit", "Calls", "Console", "Gateway", "HTTP", "HookswitchClient", "Media",
                "Primitives", "RTP",
                "Runtime", "SDP", "SIP", "Store", "Streaming", "UserAgent",
                "Workbench", .argumentParser, .log, .yams,
            ], path: "Sources/Tools/hookswitch", swiftSettings: strict),

        // The guide of the control interface shows it: the client as another package has it.
        .executableTarget(
            name: "client-example", dependencies: ["HookswitchClient"], path: "Examples/ClientExample", swiftSettings: strict),

        // An app as Xcode has it, in `PhoneApp`, and what its target has for Linux.
        .executableTarget(
            name: "call-sources-example", dependencies: appleModules.map { .byName(name: $0) }, path: "Examples/CallSources",
            exclude: ["PhoneApp"], swiftSettings: [.swiftLanguageMode(.v5)], plugins: ["CallSources"]),

        // An app as Xcode has it, whose entry point gives way to that of a host.
        .executableTarget(
            name: "call-host-example", dependencies: ["UIKit"], path: "Examples/CallHost", exclude: ["App"],
            swiftSettings: [.swiftLanguageMode(.v5)], plugins: ["CallSources"]),

        // The template of a team's own test of its call code. In its own package it is MyPhone.
        .executableTarget(
            name: "MyPhone", dependencies: ["AVFoundation", "CallApp", "CallKit", "PushKit"], path: "Examples/CallTest/Sources/MyPhone",
            swiftSettings: [.swiftLanguageMode(.v5)]),

        // An app that has moved from CXProvider to ConversationManager.
        .executableTarget(
            name: "live-communication-example", dependencies: ["AVFoundation", "CallApp", "CallKit", "LiveCommunicationKit", "PushKit"],
            path: "Examples/LiveCommunication", swiftSettings: [.swiftLanguageMode(.v5)]),

        // The guide of a vendor's SDK shows it: the vendor's names over a line of SIP.
        .executableTarget(
            name: "vendor-sdk-example", dependencies: ["AVFoundation", "CallApp", "CallKit"], path: "Examples/VendorSDK",
            swiftSettings: [.swiftLanguageMode(.v5)]),

        // Run by scripts/bench and the tests; of no product.
        .systemLibrary(name: "CSRTPOracle", path: "Tests/CSRTPOracle", pkgConfig: "libsrtp2", providers: [.apt(["libsrtp2-dev"])]),
        .executableTarget(
            name: "media-relay", dependencies: ["CLinux", "Media", "Primitives", "RTP", "Runtime", "SDP"],
            path: "Tests/Benchmarks/MediaRelay", swiftSettings: strict),
        .executableTarget(
            name: "conference-bench", dependencies: ["Audio", "CLinux", "Media", "Primitives", "RTP", "Runtime", "SDP"],
            path: "Tests/Benchmarks/Conference",
            swiftSettings: strict),
        .executableTarget(
            name: "transcode-bench", dependencies: ["Audio", "CLinux", "Media", "Primitives", "RTP", "Runtime", "SDP"],
            path: "Tests/Benchmarks/Transcode",
            swiftSettings: strict),
        .executableTarget(
            name: "srtp-bench", dependencies: ["CLinux", "CSRTPOracle", "Primitives", "Runtime"], path: "Tests/Benchmarks/SRTP",
            swiftSettings: strict),
        .executableTarget(
            name: "directory-bench", dependencies: ["CLinux", "CallKit", "Gateway", "Primitives"], path: "Tests/Benchmarks/Directory",
            swiftSettings: strict),
        .executableTarget(
            name: "app-latency", dependencies: ["Audio", "CallApp", "CallKit", "HotlineCalls", "Media", "Primitives", "Runtime"],
            path: "Tests/Benchmarks/AppLatency", swiftSettings: strict),
        .executableTarget(
            name: "message-bench", dependencies: ["CLinux", "Primitives", "SIP"], path: "Tests/Benchmarks/Messages", swiftSettings: strict),

        // Run by scripts/fuzz --server.
        .executableTarget(
            name: "network-fuzz", dependencies: ["CLinux", "Primitives", "RTP", "Runtime", "SDP", "SIP"], path: "Tests/Fuzz/Network",
            swiftSettings: strict),

        // Run by scripts/rehearse.
        .executableTarget(
            name: "rehearse", dependencies: ["Gateway", "Primitives", "Rehearsal"], path: "Tests/Rehearsals", swiftSettings: strict),

        // Run by scripts/races, built with ThreadSanitizer.
        .target(name: "CMutexOrder", path: "Tests/Races/CMutexOrder"),
        .executableTarget(
            name: "race-check",
            dependencies: ["Audio", "CMutexOrder", "CallJournal", "CallKit", "Media", "Primitives", "RTP", "Runtime", "SDP"],
            path: "Tests/Races/Check", swiftSettings: strict),

        // An app that has nothing but `@main`.
        .executableTarget(name: "template-app", dependencies: ["UIKit"], path: "Tests/TemplateApp", swiftSettings: strict + asXcodeSets),

        tests("Primitives"),
        tests("SIP", ["Runtime"]),
        tests("SDP"),
        tests("RTP"),
        tests("Audio"),
        tests("HTTP", ["CZlib"]),
        tests("Streaming", ["Audio"]),
        tests("CallKit", ["AVFoundation", "Intents", "PushKit", "UIKit"]),
        tests("LiveCommunicationKit", ["AVFoundation", "CallKit"]),
        .testTarget(
            name: "CallKitSourceTests", dependencies: ["AVFoundation", "CallKit", "Intents", "PushKit", "UIKit"],
            swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
        .testTarget(
            name: "AppTemplateTests", dependencies: ["CallKit", "Intents", "PushKit", "UIKit", "template-app"],
            swiftSettings: strict + asXcodeSets),
        .executableTarget(name: "openssl-exit", dependencies: ["COpenSSL"], path: "Tests/OpenSSLExit"),
        tests("Runtime", ["CSRTPOracle", "openssl-exit"]),
        tests("UserAgent", ["Runtime", "SIP"]),
        tests("Media", ["Audio", "RTP", "Runtime", "SDP"]),
        .target(name: "CNetworkNamespace", dependencies: ["CKernelRelay"], path: "Tests/CNetworkNamespace"),
        .testTarget(
            name: "KernelRelayTests", dependencies: ["CKernelRelay", "CNetworkNamespace", "Media", "Primitives", "RTP", "Runtime", "SDP"],
            swiftSettings: strict),
        tests("CallJournal", ["CallKit", "SDP", "SIP"]),
        tests("Calls", ["CallKit", "SIP"]),
        tests(
            "Gateway",
            ["Audio", "CallKit", "Intents", "Media", "RTP", "Rehearsal", "Runtime", "SDP", "SIP", "TalkingClock", "UserAgent"]),
        tests(
            "Console",
            ["CallJournal", "CallKit", "Gateway", "HTTP", "HookswitchClient", "Media", "RTP", "SIP", "Runtime", "Streaming", "UserAgent"]),
        tests("HookswitchClient", ["HTTP", "Runtime"]),
        tests("Store", ["CallKit", "Gateway", "Runtime", "SIP", "UserAgent", .grdb]),
        .testTarget(
            name: "SurroundingsTests", dependencies: appleModules.map { .byName(name: $0) },
            swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
        tests("SourceRewriter"),
        .testTarget(
            name: "CallSourcesTests", dependencies: ["CopySources", "call-host-example", "call-sources-example"], swiftSettings: strict),
        tests("Capacity"),
        tests("Workbench", ["Audio", "CallJournal", "Media", "RTP", "Runtime", "SDP", "SIP", "UserAgent"]),
        tests(
            "Rehearsal",
            [
                "Audio", "Console", "Store", "CallKit", "RTP", "Gateway", "Media", "Runtime", "SDP", "SIP", "UserAgent", "Workbench",
                .histogram,
            ]),
        tests(
            "hookswitch",
            [
                "Audio", "CallJournal", "Console", "Gateway", "HTTP", "HookswitchClient", "Hotline", "Media", "MyPhone", "RTP", "Runtime",
                "SDP", "Store", "Streaming", "UserAgent", "Workbench", "live-communication-example", "vendor-sdk-example", .argumentParser,
                .log,
            ]),
        .testTarget(
            name: "RequirementTests",
            dependencies: [
                "AVFoundation", "Audio", "CallApp", "CallKit", "Gateway", "HotlineCalls", "Intents", "Media", "MonkeyCalls", "OFreeCalls",
                "Primitives", "PushKit", "RTP",
                "Rehearsal", "Runtime", "SDP", "SIP", "SampleApp", "UIKit", "UserAgent", .argumentParser,
            ], exclude: ["requirements.tsv"], swiftSettings: strict),
        .testTarget(name: "HouseTests", swiftSettings: strict),
        .testTarget(
            name: "InteropTests", dependencies: ["Audio", "Hotline", "Media", "Primitives", "Runtime", "hookswitch"],
            exclude: ["Scenarios"],
            swiftSettings: strict),
    ]
)

// scripts/requirements on a machine without libsrtp2: whatever asks that library is left out.
if Context.environment["HOOKSWITCH_WITHOUT_LIBSRTP2"] != nil {
    package.targets.removeAll { ["CSRTPOracle", "srtp-bench"].contains($0.name) }
    for target in package.targets {
        target.dependencies.removeAll { if case .byNameItem("CSRTPOracle", _) = $0 { true } else { false } }
    }
}

/// The tests of a target, beside it in name and folder.
func tests(_ target: String, _ others: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: target + "Tests", dependencies: (target == "Primitives" ? [] : ["Primitives"]) + [.byName(name: target)] + others,
        swiftSettings: strict)
}

/// The call code of a sample app, as an app has it.
func sampleCalls(_ name: String) -> Target {
    .target(
        name: name, dependencies: ["CallKit", "AVFoundation", "Intents", "PushKit", "UIKit"], path: "Sources/Apps/Samples/\(name)",
        swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)])
}

/// A sample app that runs: `swift run Hotline --line 1001 …`.
func sample(_ name: String, _ calls: Target.Dependency) -> Target {
    .executableTarget(
        name: name, dependencies: [calls, "CallApp", "CallKit", "SampleApp", "UIKit"], path: "Sources/Apps/Samples/\(name)",
        swiftSettings: strict)
}
