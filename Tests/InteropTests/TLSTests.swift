import Foundation
import Testing

extension Calls {
    /// Calls over TLS with baresip, and what openssl's own client sees of us.
    @Suite(.serialized, .furtherTriesForTornSound, .timeLimit(.minutes(30))) struct TLSTests {
        @Test func `two baresips talk over TLS, and signalling is nowhere else`() async throws {
            let gateway = try await Gateway.start(.init(tls: []))
            let pair = try await Pair.start(at: gateway, codecs: ["pcmu"], callerTransport: "tls", calleeTransport: "tls")
            try await pair.connect()
            try await pair.caller.waitForRecording(of: 3)
            try await pair.callee.waitForRecording(of: 3)
            pair.caller.hangUp()
            try await pair.callee.event("CALL_CLOSED")
            try pair.expectSpeech()
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            #expect(Set(journal.all("sip.rx").compactMap { $0.text("transport") }) == ["tls"])
        }

        @Test(arguments: [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")])
        func `an OPTIONS is answered over TLS`(version: String, name: String) async throws {
            let gateway = try await Gateway.start(.init(tls: []))
            let seen = try Self.ask(gateway, [version])
            #expect(seen.contains("SIP/2.0 200 OK"))
            #expect(seen.contains(name) && seen.contains("Verify return code: 0 (ok)"))
            try await gateway.program.stopped()
        }

        @Test func `older versions and renegotiation are refused`() async throws {
            let gateway = try await Gateway.start(.init(tls: []))
            let old = try Self.ask(gateway, ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])
            #expect(!old.contains("SIP/2.0"))
            // A line that is an R asks s_client to renegotiate.
            let again = try Self.ask(gateway, ["-tls1_2", "-legacy_renegotiation"], first: "R\n")
            #expect(!again.contains("SIP/2.0 200"), "\(again)")
            #expect(again.contains("no renegotiation"), "\(again)")
            try await gateway.program.stopped()
        }

        @Test(arguments: [true, false])
        func `where client certificates are demanded one is needed`(hasOne: Bool) async throws {
            let gateway = try await Gateway.start(.init(tls: ["client-ca: \(Place.certificate("ca.pem"))"]))
            let identity = ["-cert", Place.certificate("client.pem"), "-key", Place.certificate("leaf.key")]
            let seen = try Self.ask(gateway, hasOne ? identity : [])
            #expect(seen.contains("SIP/2.0 200 OK") == hasOne)
            try await gateway.program.stopped()
        }

        @Test func `SIGHUP reads the certificate again, and what stands goes on`() async throws {
            let folder = try Folder()
            let files = ["server.pem", "second.pem"].map { Place.certificate($0) }
            try FileManager.default.copyItem(atPath: files[0], toPath: folder.file("cert.pem"))
            let gateway = try await Gateway.start(
                .init(settings: ["# \(folder.path)"], tls: []), environment: ["HOOKSWITCH_SIP_TLS_CERTIFICATE": folder.file("cert.pem")])
            #expect(try Self.ask(gateway, []).contains("CN = server"))
            try folder.write("garbage", to: "cert.pem")
            gateway.program.signal(SIGHUP)
            try await gateway.program.line(
                containing: "the configuration stays as it was: sip.tls: '\(folder.file("cert.pem"))' holds no certificate")
            #expect(try Self.ask(gateway, []).contains("CN = server"))
            try String(contentsOfFile: files[1], encoding: .utf8).write(toFile: folder.file("cert.pem"), atomically: true, encoding: .utf8)
            gateway.program.signal(SIGHUP)
            try await gateway.program.line(containing: "the certificates were read again")
            #expect(try Self.ask(gateway, []).contains("CN = second"))
            try await gateway.program.stopped()
        }

        /// All that `openssl s_client` prints when it sends an OPTIONS and waits for a moment.
        private static func ask(_ gateway: Gateway, _ options: [String], first: String = "") throws -> String {
            let request = [
                "OPTIONS sip:9196@127.0.0.1 SIP/2.0", "Via: SIP/2.0/TLS 127.0.0.1;branch=z9hG4bK1;rport", "Max-Forwards: 70",
                "From: <sip:you@127.0.0.1>;tag=a", "To: <sip:9196@127.0.0.1>", "Call-ID: \(UUID())", "CSeq: 1 OPTIONS", "Content-Length: 0",
                "", "",
            ].joined(separator: "\r\n")
            let process = Process(), input = Pipe(), output = Pipe()
            process.executableURL = URL(filePath: "/usr/bin/openssl")
            process.arguments = ["s_client", "-connect", "127.0.0.1:\(gateway.tlsPort)", "-CAfile", Place.certificate("ca.pem")] + options
            (process.standardInput, process.standardOutput, process.standardError) = (input, output, output)
            try process.run()
            let text = Collected(output.fileHandleForReading)
            if !first.isEmpty {
                try text.wait(for: "---\n")
                input.fileHandleForWriting.write(Data(first.utf8))
            }
            input.fileHandleForWriting.write(Data(request.utf8))
            try? text.wait(for: "Content-Length: 0")
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
            return text.all
        }
    }
}

/// What a pipe gave, read on a thread of its own.
private final class Collected: Sendable {
    private let log = EventLog<String>()

    init(_ handle: FileHandle) {
        Thread.detachNewThread { [log] in
            while case let data = handle.availableData, !data.isEmpty { log.append(String(decoding: data, as: UTF8.self)) }
            log.close()
        }
    }

    var all: String { log.all.joined() }

    /// Until the text is there, the pipe's end, or three seconds.
    func wait(for text: String) throws {
        let end = ContinuousClock.now + .seconds(3)
        while !all.contains(text) {
            guard ContinuousClock.now < end else { throw Unmet("no \(text)") }
            Thread.sleep(forTimeInterval: 0.01)
        }
    }
}
