import ArgumentParser
import Console
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

    /// A path longer than 107 bytes is named by its folder: it is the name of the socket that must be too long, or no socket.
    @Test(arguments: [(true, true), (true, false), (false, false)])
    func `a socket that cannot be made ends the start where it was asked for, and is a warning where it is the default`(
        isDefault: Bool, hasAddress: Bool
    ) throws {
        let folder = try SoundFolder(), lines = Mutex<[String]>([])
        var configuration = try ConfigurationFile.load(nil, environment: [:], flags: hasAddress ? ["api.listen=127.0.0.1:0"] : [])
        configuration.dataFolder = folder.path
        // In the place of a file system without sockets: nothing can be bound there.
        try FileManager.default.createDirectory(atPath: folder.path + "/hookswitch.sock", withIntermediateDirectories: true)
        if !isDefault { configuration.control.socket = .path(folder.path + "/hookswitch.sock") }
        let log = NoticeLog { level, line, _ in lines.withLock { $0.append("\(level) \(line)") } }
        let words = "cannot bind the socket \(folder.path)/hookswitch.sock: Address already in use"
        guard isDefault else {
            let failure = #expect(throws: Failure.self) { try Serve.control(configuration, log) }
            #expect(failure?.message == "the control interface: \(words)" && failure?.exitCode == 3)
            return
        }
        let server = try Serve.control(configuration, log)
        log.finish()
        #expect((server != nil) == hasAddress && server?.addresses.count ?? 0 == (hasAddress ? 1 : 0))
        #expect(
            lines.withLock(\.self) == [
                "warning \(words): the commands that steer a gateway cannot reach this one (api.socket)"
            ])
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
