// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours: Swift 6 language mode, warnings as errors.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "hookswitch",
    targets: [
        .target(name: "Primitives", swiftSettings: strict),
        .testTarget(name: "PrimitivesTests", dependencies: ["Primitives"], swiftSettings: strict),
    ]
)
