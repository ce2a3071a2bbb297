import Foundation
import Testing

/// The house: which floor a target stands on, and what it may import. The folder list is the architecture, and this keeps it true.
@Suite struct HouseTests {
    /// The targets of each folder of `Sources`, with their floors: a target imports targets of lower floors only.
    static let groups: [String: [String: Int]] = [
        "Wire": ["Primitives": 0, "SIP": 1, "SDP": 1, "RTP": 1, "Audio": 1, "HTTP": 1, "Streaming": 2],
        "Apple": [
            "AVFoundation": 0, "ActivityKit": 0, "AudioToolbox": 0, "HookswitchCombine": 0, "HookswitchNetwork": 0, "HookswitchOS": 0,
            "HookswitchObjectiveC": 0, "Intents": 0, "_Testing_UIKit": 0, "PushKit": 0, "SystemConfiguration": 0, "UserNotifications": 0,
            "AVFAudio": 1, "CallKit": 1, "UIKit": 1, "AVKit": 2,
            "HookswitchSwiftUI": 2, "LiveCommunicationKit": 2,
        ],
        "System": [
            "CCAres": 0, "CKernelRelay": 0, "CLinux": 0, "COpenSSL": 0, "COpus": 0, "CPostgres": 0, "CUnicodeData": 0, "CWslay": 0,
            "CZlib": 0,
            "Runtime": 2,
        ],
        "Engines": ["CallJournal": 2, "UserAgent": 3, "Media": 3],
        "Client": ["HookswitchClient": 3],
        "Calls": ["Calls": 4],
        "Gateway": ["Gateway": 5],
        "Server": ["CConsolePages": 0, "Console": 6, "Store": 6],
        "Tools": ["CapacityReport": 2, "SourceRewriter": 6, "Workbench": 6, "CopySources": 7, "hookswitch": 7, "CallSources": 8],
        "Apps": ["CallApp": 6, "Samples": 7],
        "Simulation": ["Capacity": 1, "Rehearsal": 7],
    ]

    static let floors = groups.values.reduce(into: [String: Int]()) { $0.merge($1) { first, _ in first } }

    /// Targets that stay small and embeddable.
    static let withoutFoundation: Set<String> = [
        "Primitives", "SIP", "SDP", "RTP", "Audio", "HTTP", "Runtime", "Media", "UserAgent", "Capacity",
    ]

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    struct Import: CustomStringConvertible {
        var target: String, file: String, module: String
        var description: String { "\(file) imports \(module)" }
    }

    /// What is in a folder of the repository.
    private static func names(in folder: String) -> [String] {
        let found = try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
        return (found ?? []).filter { !$0.hasPrefix(".") }.sorted()
    }

    static let targets: [String] = names(in: "Sources").flatMap { names(in: "Sources/\($0)") }

    static func folder(of target: String) -> URL {
        let group = groups.first { $0.value[target] != nil }?.key ?? "?"
        return root.appending(path: "Sources/\(group)/\(target)")
    }

    static let imports: [Import] = targets.flatMap { target in
        let files = FileManager.default.enumerator(at: folder(of: target), includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
        return files.filter { $0.pathExtension == "swift" }.flatMap { file in
            importLines(of: file).map { Import(target: target, file: file.lastPathComponent, module: $0) }
        }
    }

    private static func importLines(of file: URL) -> [String] {
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard let index = words.firstIndex(of: "import"),
                words[..<index].allSatisfy({ $0.hasPrefix("@") || $0 == "public" || $0 == "internal" || $0 == "package" })
            else { return nil }
            let rest = words[(index + 1)...].drop {
                ["class", "struct", "enum", "func", "protocol", "typealias", "var", "let"].contains(String($0))
            }
            return rest.first.map { String($0.split(separator: ".")[0]) }
        }
    }

    @Test func `the folders of Sources are the groups, and each has its targets`() {
        #expect(Self.names(in: "Sources") == Self.groups.keys.sorted())
        for (group, targets) in Self.groups { #expect(Self.names(in: "Sources/\(group)") == targets.keys.sorted(), "\(group)") }
    }

    @Test func `the table of floors in Architecture says the same`() throws {
        let page = Self.folder(of: "Gateway").appending(path: "Gateway.docc/Architecture.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        var told: [String: [String: Int]] = [:]
        for row in text.matches(of: /\n\| (\w+)\/ \| (.+?) \|/) {
            for target in row.output.2.matches(of: /`(\w+)` (\d)/) {
                told[String(row.output.1), default: [:]][String(target.output.1)] = Int(target.output.2)
            }
        }
        #expect(told == Self.groups)
    }

    @Test func `a target imports lower floors only`() {
        #expect(Self.imports.count > 100)
        for line in Self.imports {
            guard let floor = Self.floors[line.module], let own = Self.floors[line.target] else { continue }
            #expect(floor < own || line.module == line.target, "\(line)")
        }
    }

    @Test func `nobody imports SwiftNIO`() {
        for line in Self.imports { #expect(!line.module.hasPrefix("NIO"), "\(line)") }
    }

    @Test func `SwiftNIO is nowhere in the resolved graph`() throws {
        let state = try String(contentsOf: Self.root.appending(path: Self.buildFolder + "/workspace-state.json"), encoding: .utf8)
        #expect(state.contains("swift-argument-parser"), "the graph was read")
        #expect(!state.lowercased().contains("swift-nio"))
    }

    /// The build folder of this very run.
    static let buildFolder = ProcessInfo.processInfo.environment["HOOKSWITCH_BUILD"] ?? ".build"

    @Test func `protocol and media floors do without Foundation`() {
        for line in Self.imports where Self.withoutFoundation.contains(line.target) { #expect(line.module != "Foundation", "\(line)") }
    }

    @Test func `only Runtime talks to OpenSSL and to the DNS`() {
        for line in Self.imports where ["COpenSSL", "CCAres"].contains(line.module) { #expect(line.target == "Runtime", "\(line)") }
    }

    /// A peer that resets its connection makes libdispatch read freed memory (swift-corelibs-libdispatch issue 949).
    @Test func `no Dispatch source watches a descriptor`() throws {
        #expect(try Self.files(containing: "makeTimerSource", of: ["Runtime"]).isEmpty == false, "the search finds what is there")
        for call in ["makeReadSource", "makeWriteSource", "DispatchIO("] {
            #expect(try Self.files(containing: call, of: Self.targets).isEmpty)
        }
    }

    /// Tests that wait for the machine must not stand beside tests that take every core of it.
    @Test func `tests with real sockets, threads or clocks are in RealTime`() throws {
        let signs = [
            "DispatchQueue", "DispatchSemaphore", "Thread.", "Bench.lane(", "Lane<", "MonotonicClock", "ContinuousClock", "socket(AF_",
        ]
        /// These run in a part of `scripts/test` for themselves.
        let apart = ["InteropTests", "RehearsalTests", "hookswitchTests", "WorkbenchTests", "RequirementTests", "Benchmarks", "HouseTests"]
        let folder = Self.root.appending(path: "Tests"), names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        var judged = 0
        for name in names where name.hasSuffix("Tests.swift") && !apart.contains(where: { name.hasPrefix($0 + "/") }) {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            guard let sign = signs.first(where: text.contains) else { continue }
            judged += 1
            #expect(text.contains("extension RealTime {"), "\(name) has \(sign)")
        }
        #expect(judged > 10)
    }

    private static func files(containing text: String, of targets: [String]) throws -> [String] {
        try targets.flatMap { target in
            let files =
                FileManager.default.enumerator(at: folder(of: target), includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
            return try files.filter { try $0.pathExtension == "swift" && String(contentsOf: $0, encoding: .utf8).contains(text) }.map(
                \.lastPathComponent)
        }
    }

    @Test func `CallKit knows no SIP`() {
        for line in Self.imports where line.target == "CallKit" {
            #expect(["Foundation", "Dispatch", "Synchronization", "Primitives", "AVFoundation"].contains(line.module), "\(line)")
        }
    }
}
