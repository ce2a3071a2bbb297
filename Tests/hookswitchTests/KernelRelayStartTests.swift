import Media
import Testing

@testable import hookswitch

/// The start of a gateway by each choice of `media.kernel-relay`.
@Suite struct KernelRelayStartTests {
    private func configuration(_ choice: String, trace: String = "headers") throws -> ServeConfiguration {
        try ConfigurationFile.load(
            nil, environment: [:], flags: ["media.kernel-relay=\(choice)", "trace.rtp=\(trace)", "trace.file=/dev/null"])
    }

    @Test func `off opens nothing`() throws {
        let start = try KernelRelayStart(configuration("off"))
        #expect(start.device == nil && start.refusal == nil && start.summary?.hasPrefix("by sockets; 'hookswitch doctor'") != false)
    }

    @Test func `auto goes by sockets where media is traced, and says why`() throws {
        let start = try KernelRelayStart(configuration("auto"))
        #expect(start.device == nil && start.refusal?.contains("trace.rtp") == true)
        #expect(start.summary?.hasPrefix("by sockets: media is traced") == true)
    }

    @Test func `required ends the start there with exit code 3`() throws {
        let configuration = try configuration("required")
        let failure = try #require(throws: Failure.self) { try KernelRelayStart(configuration) }
        #expect(failure.exitCode == 3 && failure.message.hasPrefix("media.kernel-relay: required, but media is traced"))
    }

    @Test(.enabled(if: (try? KernelRelayDevice.proven(mostEntries: 4)) != nil, "the kernel does not let this process load the program"))
    func `auto opens it where the kernel lets it`() throws {
        let start = try KernelRelayStart(configuration("auto", trace: "none"))
        #expect(start.device != nil && start.summary?.hasPrefix("plain bridged calls in the kernel") == true)
    }
}
