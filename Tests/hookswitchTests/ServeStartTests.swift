import ArgumentParser
import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing

@testable import hookswitch

@Suite struct ServeStartTests {
    /// A registration would stay at the carrier until it expires.
    @Test func `a start that fails for the port of its metrics has registered nowhere`() async {
        await #expect(processExitsWith: .exitCode(42)) {
            let carrier = try Self.bound(SOCK_DGRAM), monitor = try Self.bound(SOCK_STREAM)
            listen(monitor.socket, 1)
            let file = FileManager.default.temporaryDirectory.appending(path: "hookswitch-\(UUID()).yaml")
            try """
            sip: { udp: "127.0.0.1:0", tcp: "127.0.0.1:0" }
            metrics: { listen: "127.0.0.1:\(monitor.port)" }
            lines: [{ number: "8000", trunk: { host: "127.0.0.1:\(carrier.port)", username: u, password: p, register: true } }]
            """.write(to: file, atomically: true, encoding: .utf8)
            let command = try #require(try Hookswitch.parseAsRoot(["serve", "--config", file.path]) as? Serve)
            let failure = #expect(throws: Failure.self) { try command.run() }
            try FileManager.default.removeItem(at: file)
            // What was sent to loopback is there; a lane that is only beginning has this long.
            var question = pollfd(fd: carrier.socket, events: Int16(POLLIN), revents: 0)
            exit(failure?.exitCode == 3 && poll(&question, 1, 300) == 0 ? 42 : 1)
        }
    }

    @Test(arguments: [("/dev/null/data", "Not a directory"), ("/dev/null", "File exists")])
    func `a data folder that cannot be made is exit code 3, with the cause`(folder: String, cause: String) throws {
        let failure = try #require(throws: Failure.self) { try NamedFile.makeFolder(folder) }
        #expect(failure.message == "the folder \(folder) cannot be made (\(cause))" && failure.exitCode == 3)
    }

    @Test func `an end is heard while certificates are read again`() async {
        await #expect(processExitsWith: .exitCode(42)) {
            let signals = StopSignals(), begun = DispatchSemaphore(value: 0), goOn = DispatchSemaphore(value: 0)
            signals.onReload = {
                begun.signal()
                goOn.wait()
            }
            kill(getpid(), SIGHUP)
            begun.wait()
            kill(getpid(), SIGTERM)
            let isHeard = signals.drain.wait(timeout: .now() + 20) == .success
            goOn.signal()
            exit(isHeard ? 42 : 1)
        }
    }

    @Test func `what asks for a reload before it begins is answered by one`() {
        let reloads = Reloads(), begun = DispatchSemaphore(value: 0), goOn = DispatchSemaphore(value: 0), count = Mutex(0)
        reloads.action = {
            count.withLock { $0 += 1 }
            begun.signal()
            goOn.wait()
        }
        reloads.ask()
        begun.wait()
        for _ in 0..<5 { reloads.ask() }   // what they ask for is read after this
        goOn.signal()
        begun.wait()
        reloads.ask()
        goOn.signal()
        begun.wait()
        goOn.signal()
        reloads.end()
        reloads.ask()
        reloads.end()
        #expect(count.withLock { $0 } == 3)
    }

    private static func bound(_ type: __socket_type) throws -> (socket: Int32, port: UInt16) {
        let made = socket(AF_INET, Int32(type.rawValue), 0)
        var address = sockaddr_in()
        (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), UInt32(0x7F00_0001).bigEndian)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(made, $0, size) == 0 && getsockname(made, $0, &size) == 0 }
        }
        try #require(isBound)
        return (made, UInt16(bigEndian: address.sin_port))
    }
}
