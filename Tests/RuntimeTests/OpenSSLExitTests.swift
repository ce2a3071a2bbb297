import Foundation
import Testing

/// The end of a process with OpenSSL in it.
@Suite struct OpenSSLExitTests {
    private static let program = URL(filePath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/")
        .deletingLastPathComponent().appending(path: "openssl-exit")

    /// Threads still use it: freed under them, the memory would be freed twice, and a good call would end in SIGABRT.
    @Test func `it frees nothing at exit`() throws {
        let process = Process(), output = Pipe()
        (process.executableURL, process.standardOutput) = (Self.program, output)
        try process.run()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(String(decoding: said, as: UTF8.self) == "")
    }
}
