import Primitives
import Testing

@testable import Runtime

extension RealTime {
    @Suite struct DTLSAssociationTests {
        private let client = DTLSIdentity(), server = DTLSIdentity()

        /// Two ends and the datagrams between them; `loses` says which of them, counted from the first, is lost.
        private final class Wire {
            let ends: [DTLSAssociation]
            var keys: [(send: SRTPKey, receive: SRTPKey)?] = [nil, nil]
            var errors: [DTLSError?] = [nil, nil]
            var count = 0
            private let loses: (Int) -> Bool

            init(_ client: DTLSAssociation, _ server: DTLSAssociation, losing loses: @escaping (Int) -> Bool = { _ in false }) {
                (ends, self.loses) = ([client, server], loses)
            }

            func carry(_ outputs: [DTLSAssociation.Output], from end: Int) {
                for output in outputs {
                    switch output {
                    case .send(let bytes):
                        #expect((20...63).contains(bytes[0]) && bytes.count <= 1_200)
                        count += 1
                        if loses(count - 1) { continue }
                        carry(bytes.withUnsafeBytes { ends[1 - end].receive($0) }, from: 1 - end)
                    case .established(let send, let receive): keys[end] = (send, receive)
                    case .failed(let error): errors[end] = error
                    }
                }
            }
        }

        private func association(_ identity: DTLSIdentity, begins: Bool, peer: [UInt8]) -> DTLSAssociation {
            DTLSAssociation(identity, begins: begins, peer: peer)
        }

        @Test func `both ends come to the same keys, crosswise, with the best suite`() throws {
            let wire = Wire(
                association(client, begins: true, peer: server.fingerprint), association(server, begins: false, peer: client.fingerprint))
            #expect(wire.ends[1].start().isEmpty)
            wire.carry(wire.ends[0].start(), from: 0)
            let (ours, theirs) = (try #require(wire.keys[0]), try #require(wire.keys[1]))
            #expect(ours.send == theirs.receive && ours.receive == theirs.send && ours.send != ours.receive)
            #expect(ours.send.suite == .aes256GCM)
            #expect(wire.ends[0].retransmissionDelay == nil)
            #expect(try SRTPReceiver(theirs.receive).opened(try SRTPSender(ours.send).protected(rtpPacket(1))) == rtpPacket(1))
        }

        @Test func `a certificate that was not signalled is refused by the end that sees it`() {
            let wire = Wire(
                association(client, begins: true, peer: DTLSIdentity().fingerprint),
                association(server, begins: false, peer: client.fingerprint))
            wire.carry(wire.ends[0].start(), from: 0)
            #expect(wire.errors[0] == .wrongCertificate)
            #expect(wire.keys[0] == nil)
            let other = Wire(
                association(client, begins: true, peer: server.fingerprint),
                association(server, begins: false, peer: DTLSIdentity().fingerprint))
            other.carry(other.ends[0].start(), from: 0)
            #expect(other.errors[1] == .wrongCertificate)
            #expect(other.keys[1] == nil)
        }

        @Test(.timeLimit(.minutes(30)), arguments: 0..<6) func `a lost datagram is sent again`(lost: Int) async throws {
            let wire = Wire(
                association(client, begins: true, peer: server.fingerprint), association(server, begins: false, peer: client.fingerprint)
            ) { $0 == lost }
            wire.carry(wire.ends[0].start(), from: 0)
            while wire.keys.contains(where: { $0 == nil }) {
                let delay = try #require(wire.ends.compactMap(\.retransmissionDelay).min())
                #expect(delay <= .seconds(1))
                try await Task.sleep(for: delay)
                for end in 0..<2 where wire.ends[end].retransmissionDelay.map({ $0 <= .zero }) ?? false {
                    wire.carry(wire.ends[end].retransmit(), from: end)
                }
            }
            #expect(wire.keys[0]?.send == wire.keys[1]?.receive)
        }

        @Test func `noise and floods are no handshake and no trap`() {
            var random = SeededRandom(seed: 3)
            let end = association(server, begins: false, peer: client.fingerprint)
            var failed = false
            for length in (0..<300) {
                let noise = (0..<length).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
                for case .failed in noise.withUnsafeBytes({ end.receive($0) }) { failed = true }
            }
            #expect(!end.isEstablished)
            let flood = [UInt8](repeating: 22, count: 1_200)
            for _ in 0..<60 {
                for case .failed(let error) in flood.withUnsafeBytes({ end.receive($0) }) { failed = failed || error == .tooLong }
            }
            #expect(failed && end.isOver)
            #expect(end.start().isEmpty && end.retransmit().isEmpty)
        }
    }
}
