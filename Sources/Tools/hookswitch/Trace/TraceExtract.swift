import Primitives
import SDP
import SIP
import UserAgent

/// Tells the messages and the media of some calls from the rest of a trace, whose messages and packets go in in their order.
///
/// A packet belongs to the call whose session description named its address last: ours by the port, whatever address peers are told of,
/// the peer's by address and port. Ports are used again by later calls.
struct TraceExtract {
    private let calls: Set<Text>
    /// The call of each port of ours, and of each address of peers: a Call-ID.
    private var ports: [UInt16: Text] = [:], peers: [SocketAddress: Text] = [:]

    /// - Parameter calls: Call-IDs.
    init(_ calls: Set<Text>) { self.calls = calls }

    mutating func takes(_ traced: TracedMessage) -> Bool {
        if traced.mediaLength != nil { return (ports[traced.local.port] ?? peers[traced.remote]).map(calls.contains) ?? false }
        guard let message = try? Message(parsing: traced.bytes) else { return false }
        note(message, isOurs: traced.direction == .sent)
        return calls.contains(message.callID)
    }

    private mutating func note(_ message: Message, isOurs: Bool) {
        let body = message.reducedToDescription ?? message
        guard !body.content.isEmpty, let description = try? SessionDescription(parsing: body.content) else { return }
        for media in description.media where media.port != 0 {
            guard let address = (media.connection ?? description.connection)?.address else { continue }
            name(SocketAddress(address, port: media.port), message.callID, isOurs)
            // RTCP has a port of its own: the one that is named (RFC 3605), or the next.
            let named = media.attribute("rtcp")?.value.flatMap { Text($0.bytes.prefix { $0 != 0x20 }).integer(UInt16.self) }
            let rtcp = SocketAddress(address, port: named ?? media.port &+ 1)
            // If RTP and RTCP share one port (RFC 5761), the next port may be another call's.
            let isShared = media.attribute("rtcp-mux") != nil, isTaken = isOurs ? ports[rtcp.port] != nil : peers[rtcp] != nil
            if !isShared || !isTaken { name(rtcp, message.callID, isOurs) }
        }
    }

    private mutating func name(_ address: SocketAddress, _ callID: Text, _ isOurs: Bool) {
        if isOurs { ports[address.port] = callID.detached } else { peers[address] = callID.detached }
    }
}
