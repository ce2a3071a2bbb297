import Primitives
import Runtime
import SIP

/// A telephone of ours that is registered, and that the server calls.
final class Device {
    let number: String
    let socket: DatagramSocket
    private let server: SocketAddress
    private let callID: String
    private var sequence = 0, registeredAt: Instant?

    init(number: String, server: SocketAddress, using random: inout SeededRandom) throws {
        (self.number, self.server) = (number, server)
        socket = try DatagramSocket(at: random.loopback())
        callID = random.word(12) + "@device"
    }

    /// Also again, as what others did to the line may have taken it away.
    func register() throws {
        if let registeredAt, MonotonicClock.now - registeredAt < .seconds(5) { return }
        send("REGISTER", expires: 600)
        let deadline = MonotonicClock.now + .seconds(3)
        while let datagram = socket.receive(by: deadline) {
            guard let message = try? Message(parsing: datagram.bytes), message.method == .register, "\(message.callID)" == callID else {
                continue
            }
            guard message.status == 200 else { throw Broken("a REGISTER for \(number) is answered with \(message.status ?? 0)") }
            registeredAt = MonotonicClock.now
            return
        }
        throw Broken("a REGISTER for \(number) is not answered")
    }

    func forgetRegistration() { registeredAt = nil }

    func unregister() { if registeredAt != nil { send("REGISTER", expires: 0) } }

    private func send(_ method: String, expires: Int) {
        sequence += 1
        socket.send(
            MessageDraft([
                "\(method) sip:fuzz.test SIP/2.0", "Via: SIP/2.0/UDP \(socket.local);branch=z9hG4bK\(callID.prefix(12))\(sequence);rport",
                "From: <sip:\(number)@fuzz.test>;tag=\(callID.prefix(8))", "To: <sip:\(number)@fuzz.test>", "Call-ID: \(callID)",
                "CSeq: \(sequence) \(method)",
                "Max-Forwards: 70", "Contact: <sip:\(number)@\(socket.local)>", "Expires: \(expires)",
            ]).bytes, to: server)
    }

    /// The next INVITE that the server sends here; what else it sends is answered.
    func invite(by deadline: Instant) -> Message? {
        while let datagram = socket.receive(by: deadline) {
            guard let message = try? Message(parsing: datagram.bytes), message.isRequest else { continue }
            if message.method == .invite, message.to.tag == nil { return message }
            answer(message)
        }
        return nil
    }

    /// Answers what has come meanwhile: calls are refused.
    func listen() {
        while let datagram = socket.receive() {
            if let message = try? Message(parsing: datagram.bytes), message.isRequest { answer(message) }
        }
    }

    func answer(_ request: Message) {
        guard request.method != .ack else { return }
        socket.send(Reply.response(to: request, request.method == .invite ? 486 : 200, from: socket.local), to: server)
    }
}
