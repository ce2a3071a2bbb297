import Foundation
import Testing

@testable import Workbench

/// Figures of the kernel, read from its texts and from this process.
@Suite struct MachineReadingTests {
    private static let snmp = """
        Ip: Forwarding DefaultTTL InReceives
        Ip: 1 64 5000
        Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors
        Udp: 1200 3 7 1100 5 2 0 0 0
        UdpLite: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors
        UdpLite: 0 0 0 0 99 98 0 0 0

        """

    @Test(
        arguments: [
            ("Udp", "RcvbufErrors", 5), ("Udp", "SndbufErrors", 2), ("Udp", "InDatagrams", 1_200), ("UdpLite", "RcvbufErrors", 99),
            ("Ip", "InReceives", 5_000), ("Udp", "Rcvbuf", nil), ("Tcp", "RcvbufErrors", nil),
        ] as [(String, String, UInt64?)])
    func `a counter of snmp stands under its name`(protocolName: String, counter: String, value: UInt64?) {
        #expect(MachineReading.snmp(Self.snmp, protocolName, counter) == value)
    }

    @Test(arguments: ["", "Udp:", "Udp: RcvbufErrors", "Udp: A RcvbufErrors\nUdp: 1", "Udp: RcvbufErrors\nUdp: many"])
    func `a text without the value has none`(text: String) {
        #expect(MachineReading.snmp(text, "Udp", "RcvbufErrors") == nil)
    }

    @Test(arguments: [("Udp6RcvbufErrors", 12), ("Udp6SndbufErrors", 0), ("Udp6Rcvbuf", nil), ("Ip6InReceives", 4)] as [(String, UInt64?)])
    func `a counter of snmp6 stands behind its name`(counter: String, value: UInt64?) {
        let text = "Ip6InReceives                   \t4\nUdp6RcvbufErrors \t12\nUdp6SndbufErrors  0\nUdp6Odd 1 2\n"
        #expect(MachineReading.snmp6(text, counter) == value && MachineReading.snmp6(text, "Udp6Odd") == nil)
    }

    @Test func `a process has what it opened`() throws {
        // Of a process of its own: tests beside this one open and close descriptors of this one.
        let shell = Process(), input = Pipe(), output = Pipe()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", "echo; read go; exec 5</dev/null 6</dev/null 7</dev/null 8</dev/null 9</dev/null; echo; read end"]
        (shell.standardInput, shell.standardOutput) = (input, output)
        try shell.run()
        let number = "\(shell.processIdentifier)"
        _ = try output.fileHandleForReading.read(upToCount: 1)
        let before = try #require(MachineReading.descriptorCount(of: number))
        try input.fileHandleForWriting.write(contentsOf: Data("go\n".utf8))
        _ = try output.fileHandleForReading.read(upToCount: 1)
        #expect(MachineReading.descriptorCount(of: number) == before + 5)
        try input.fileHandleForWriting.close()
        shell.waitUntilExit()
        let own = "\(ProcessInfo.processInfo.processIdentifier)"
        #expect(MachineReading.descriptorCount() ?? 0 > 2)
        #expect(MachineReading.descriptorCount(of: own) != nil && (MachineReading.residentBytes(of: own) ?? 0) > 1 << 20)
        #expect(MachineReading.descriptorCount(of: "0") == nil && MachineReading.residentBytes(of: "0") == nil)
    }

    @Test func `a reading of now has the figures of this machine`() throws {
        let reading = MachineReading.now
        let busy = try #require(reading.busyTicks), all = try #require(reading.allTicks)
        #expect(busy > 0 && all > busy && reading.processor > .zero && (reading.residentBytes ?? 0) > 1 << 20)
        #expect(reading.receiveBufferErrors != nil && reading.sendBufferErrors != nil && reading.descriptors ?? 0 > 0)
        #expect(MachineReading.cores == ProcessInfo.processInfo.activeProcessorCount)
        #expect(MachineReading.text(of: "/proc/nothing-of-this-name") == nil)
    }
}
