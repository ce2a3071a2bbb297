import Primitives
import RTP
import SIP
import UserAgent

/// Keeps the way to a registrar open through NATs, and notices when it is gone (RFC 5626 §3.5, §4.4).
///
/// A value without I/O. Over connections a double CRLF asks and a CRLF answers. Over UDP it is a STUN binding request where the far end
/// said that it answers those (RFC 6223), else a double CRLF that nobody answers. Only a far end that said so, or has answered before, is
/// missed when it does not.
struct FlowKeeper {
    enum Output: Equatable {
        case send([UInt8])
        /// Nothing comes over it any more, or it leads elsewhere since.
        case failed
    }

    /// A question that has no answer yet.
    private struct Probe {
        let bytes: [UInt8]
        let transaction: [UInt8]
        var sent = 1
        var due: Instant
    }

    private let isDatagram: Bool
    private let interval: Duration
    private var isAnswered: Bool
    private var next: Instant?
    private var probe: Probe?
    /// Our address as the far end sees it behind a NAT.
    private var mapped: SocketAddress?

    /// RFC 5626 §4.4.1: for the CRLF.
    private static let timeout: Duration = .seconds(10)
    /// RFC 8489 §6.2.1: Rc, RTO, and Rm times that.
    private static let attempts = 7, firstWait: Duration = .milliseconds(500), lastWait: Duration = .seconds(8)

    /// - Parameters:
    ///   - interval: how often; a shorter one that the far end asked for counts.
    ///   - via: that of the 200 to our REGISTER, whose `keep` parameter tells whether it answers, and how often it wants to be asked (0: as
    /// we like).
    init(_ interval: Duration, over transport: Transport, agreed via: Via, at now: Instant, random: () -> UInt64) {
        isDatagram = transport == .udp
        let asked = via.parameters["keep"].flatMap { $0.integer(UInt32.self) }
        isAnswered = asked != nil
        self.interval = asked.map { $0 > 0 ? min(interval, max(.seconds(Int64(min($0, 86_400))), .seconds(5))) : interval } ?? interval
        schedule(at: now, random)
    }

    /// Nothing is asked before the last question is done with.
    var deadline: Instant? { probe?.due ?? next }

    mutating func advance(to now: Instant, random: () -> UInt64) -> [Output] {
        if let probe { return now >= probe.due ? again(probe, at: now) : [] }
        guard let next, now >= next else { return [] }
        schedule(at: now, random)
        return ask(at: now, random)
    }

    /// A CRLF, or a STUN message, came over the flow.
    mutating func receive(_ bytes: [UInt8]) -> [Output] {
        guard isDatagram else {
            (isAnswered, probe) = (true, nil)
            return []
        }
        guard let probe, let message = try? STUNMessage(parsing: bytes), message.messageClass == .success,
            message.transaction == probe.transaction
        else { return [] }
        self.probe = nil
        guard let address = message.mappedAddress else { return [] }
        // RFC 5626 §4.4.2: the NAT has forgotten us.
        defer { mapped = address }
        return mapped.map { $0 != address } == true ? [.failed] : []
    }

    private mutating func ask(at now: Instant, _ random: () -> UInt64) -> [Output] {
        guard isDatagram, isAnswered else {
            if isAnswered { probe = Probe(bytes: [], transaction: [], due: now + Self.timeout) }
            return [.send(StreamFramer.ping)]
        }
        let (high, low) = (random(), random())
        let transaction = (0..<12).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> (8 * UInt64($0 & 7))) }
        let bytes = STUNBinding.request(transaction: transaction)
        probe = Probe(bytes: bytes, transaction: transaction, due: now + Self.firstWait)
        return [.send(bytes)]
    }

    private mutating func again(_ probe: Probe, at now: Instant) -> [Output] {
        guard isDatagram, probe.sent < Self.attempts else {
            (self.probe, next) = (nil, nil)
            return [.failed]
        }
        let sent = probe.sent + 1
        self.probe?.sent = sent
        self.probe?.due = now + (sent == Self.attempts ? Self.lastWait : Self.firstWait * (1 << (sent - 1)))
        return [.send(probe.bytes)]
    }

    /// Not of the whole time, and not everybody at once: 80–100 % (RFC 5626 §4.4.1).
    private mutating func schedule(at now: Instant, _ random: () -> UInt64) {
        let longest = UInt64(interval.wholeMilliseconds), share = longest / 5 + 1
        next = now + .milliseconds(Int64(longest - random() % share))
    }
}
