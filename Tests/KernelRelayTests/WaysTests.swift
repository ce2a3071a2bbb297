import CNetworkNamespace
import Foundation
import Primitives
import Testing

@testable import Media

extension RealTime {
    /// The kernel asked how packets travel, in a network that is made here.
    @Suite(.enabled(if: Permission.hasNamespaces, "no root, or \(Permission.refusal ?? "")")) struct WaysTests {
        private static let none = IPAddress(v4: 0)

        @Test func `a way has its own address, interface and length, and news of another are heard`() throws {
            let here = try Namespace(), there = try Namespace()
            try here.connect("left", ["10.1.0.1/24", "fd01::1/64"], to: there, ["10.1.0.2/24", "fd01::2/64"])
            let ways = try here.within { Boxed(try #require(RelayWays())) }.value
            let index = try here.index(of: "left"), far = try #require(IPAddress("10.1.0.2"))
            _ = ways.haveChanged()
            var expected = RelayWays.Way(address: try #require(IPAddress("10.1.0.1")), interface: index, longest: 1_500, isLocal: false)
            #expect(ways.way(from: Self.none, to: far) == expected && ways.way(from: expected.address, to: far) == expected)
            #expect(ways.way(from: try #require(IPAddress("fd01::1")), to: try #require(IPAddress("fd01::2")))?.interface == index)
            #expect(ways.way(from: Self.none, to: expected.address)?.isLocal == true, "to itself")
            #expect(ways.way(from: Self.none, to: try #require(IPAddress("203.0.113.1"))) == nil, "no route leads there")
            #expect(!ways.haveChanged(), "nothing has changed")

            try here.ip("link set left mtu 1280")
            expected.longest = 1_280
            #expect(ways.haveChanged() && !ways.haveChanged())
            #expect(ways.way(from: Self.none, to: far) == expected)
            try here.ip("route add 203.0.113.0/24 via 10.1.0.2")
            #expect(ways.haveChanged())
            #expect(ways.way(from: Self.none, to: try #require(IPAddress("203.0.113.1"))) == expected)
        }

        /// Used by one thread after the other.
        private struct Boxed<Value>: @unchecked Sendable {
            let value: Value
            init(_ value: Value) { self.value = value }
        }
    }
}
