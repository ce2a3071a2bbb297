import Primitives
import RTP

/// Digits on their way out of one leg: the presses, and the number and the timestamp that their packets carry. An object: few legs have one
/// at a time.
final class DigitSender {
    var payloadType: UInt8
    private var presses: TelephoneEventSender
    private var timestamp: UInt32 = 0

    init(payloadType: UInt8, clockRate: UInt32) {
        self.payloadType = payloadType
        presses = TelephoneEventSender(clockRate: clockRate)
    }

    var clockRate: UInt32 { presses.clockRate }
    var deadline: Instant? { presses.deadline }
    /// A key is down: other sound waits.
    var isPressing: Bool { presses.isPressing }
    var isIdle: Bool { presses.isIdle }

    /// All of them or none; false when they do not fit.
    func enqueue(_ digits: [DTMFDigit], lasting length: Duration?, at now: Instant) -> Bool {
        let before = presses
        for digit in digits where !presses.enqueue(digit, lasting: length, at: now) {
            presses = before
            return false
        }
        return true
    }

    /// Presses a key that is held until `release`; false when there is no room.
    func press(_ digit: DTMFDigit, at now: Instant) -> Bool { presses.press(digit, at: now) }

    func release() { presses.release() }

    /// The stream is another one: what is left of a key that is down has this timestamp there.
    func move(to timestamp: UInt32) { self.timestamp = timestamp }

    /// Writes the packet that is due and returns its header; nil when none is.
    func advance(_ stream: inout RTPRewriter, into packet: UnsafeMutableRawBufferPointer, at now: Instant) -> RTPHeader? {
        guard let next = presses.advance(to: now) else { return nil }
        if next.begins { timestamp = stream.beginEvent(at: now) }
        let header = stream.originateEvent(payloadType: payloadType, timestamp: timestamp &+ next.segment, marker: next.begins, at: now)
        header.write(to: packet)
        next.event.write(to: UnsafeMutableRawBufferPointer(rebasing: packet[RTPHeader.fixedSize...]))
        return header
    }
}
