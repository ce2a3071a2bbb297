import CallKit
import Foundation
import Primitives
import Testing

/// The packed entries against a plain model.
@Suite struct DirectoryDataTests {
    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func `lookups agree with sets and dictionaries`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var builder = CallDirectoryBuilder(limits: CallDirectoryLimits())
        var blocked: Set<Int64> = [], labels: [Int64: String] = [:], number: Int64 = 0
        for _ in 0..<2_000 {
            // Small steps and great ones, so that differences of all lengths and block borders occur.
            number += Int64.random(in: 1...(Int64(1) << Int64.random(in: 0...40, using: &random)), using: &random)
            if Bool.random(using: &random) {
                try builder.block(number)
                blocked.insert(number)
            }
            for copy in 0..<Int.random(in: 0...2, using: &random) {
                let label = String(repeating: "é", count: Int.random(in: 0...200, using: &random)) + "\(number % 50) \(copy)"
                try builder.identify(number, label: label)
                labels[number] = labels[number] ?? label
            }
        }
        let data = builder.build()
        let numbers: [Int64] = blocked.union(labels.keys).flatMap { (number: Int64) -> [Int64] in [number - 1, number, number + 1] }
        for probe in numbers + [0, CXCallDirectoryPhoneNumberMax] {
            #expect(data.isBlocked(probe) == blocked.contains(probe))
            #expect(data.label(of: probe) == labels[probe])
        }
        var order: [Int64] = []
        data.forEachBlocked { order.append($0) }
        #expect(order == blocked.sorted())
        #expect(data.blockedCount == blocked.count)
    }

    @Test func `many labels of one number are all there, the first is the answer`() throws {
        var limits = CallDirectoryLimits()
        limits.labelsPerNumber = 300
        var builder = CallDirectoryBuilder(limits: limits)
        for number in 0..<60 { try builder.identify(Int64(number), label: "before") }
        for label in 0..<300 { try builder.identify(100, label: "label \(label)") }
        try builder.identify(101, label: "after")
        let data = builder.build()
        #expect(data.label(of: 100) == "label 0")
        #expect(data.label(of: 101) == "after")
        #expect(data.label(of: 99) == nil)
        var labels: [String] = []
        data.forEachIdentified { if $0 == 100 { labels.append($1) } }
        #expect(labels == (0..<300).map { "label \($0)" })
    }

    @Test func `MC-105 a hundred thousand entries take two bytes each, labels five more`() throws {
        var builder = CallDirectoryBuilder(limits: CallDirectoryLimits())
        for number in 0..<100_000 { try builder.block(14_085_550_000 + Int64(number) * 97) }
        #expect(builder.build().footprint < 200_000)
        for number in 0..<100_000 { try builder.identify(14_085_550_000 + Int64(number) * 97, label: "Telemarketer") }
        #expect(builder.build().footprint < 900_000)
    }

    @Test func `an empty directory knows nobody`() {
        let data = CallDirectoryData()
        #expect(!data.isBlocked(0))
        #expect(data.label(of: 0) == nil)
        #expect(data.footprint == 0)
    }

    @Test(
        arguments: [
            ("+1 (408) 555-5555", 14_085_555_555), ("14085555555", 14_085_555_555), ("1234", 1234), ("+49 30/12.34", 49_301_234), ("0", 0),
            ("9223372036854775806", CXCallDirectoryPhoneNumberMax), ("9223372036854775807", nil), ("99999999999999999999", nil),
            ("", nil), ("+", nil), ("1+2", nil), ("alice", nil), ("12a", nil), ("１２", nil),
        ] as [(String, CXCallDirectoryPhoneNumber?)])
    func `phone numbers are found by their digits`(text: String, number: CXCallDirectoryPhoneNumber?) {
        #expect(CXHandle(type: .phoneNumber, value: text).hookswitchDirectoryNumber == number)
        #expect(CXHandle(type: .generic, value: text).hookswitchDirectoryNumber == nil)
    }
}
