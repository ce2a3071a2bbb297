import Primitives
import Runtime
import SIP

/// Keeps the calls up that attacks need: sets them up, and anew when they have ended.
final class CallKeeper {
    private let server: SocketAddress
    private let device: Device
    private var calls: [CallKind: Call] = [:]
    /// The far end of the bridged call.
    private var farEnd: Call?
    private var random: SeededRandom
    private var lastStatus: Int?
    /// Calls that were begun.
    private(set) var made = 0

    init(server: SocketAddress, seed: UInt64) throws {
        self.server = server
        random = SeededRandom(seed: seed)
        device = try Device(number: "1004", server: server, using: &random)
    }

    /// A call of that kind that is up, as far as we have heard.
    func call(_ kind: CallKind) throws -> Call {
        if let call = calls[kind], call.isUp { return call }
        for _ in 0..<20 {
            let call = try place(kind)
            if call.isUp {
                calls[kind] = call
                return call
            }
        }
        throw Broken("no call to \(kind.number) can be set up (\(kind)); the last answer was \(lastStatus.map(String.init) ?? "none")")
    }

    /// Our ends of a call of that kind that is up: two of the one that the server bridges.
    func ends(of kind: CallKind) throws -> [Call] {
        guard kind == .bridged else { return [try call(kind)] }
        for _ in 0..<5 {
            let near = try call(kind)
            if let farEnd, farEnd.isUp { return [near, farEnd] }
            near.hangUp()
        }
        throw Broken("a bridged call ends as soon as it is up")
    }

    /// Sets up those that are not.
    func keepUp(_ kinds: [CallKind]) throws { for kind in kinds { _ = try ends(of: kind) } }

    private func place(_ kind: CallKind) throws -> Call {
        made += 1
        let dialog = Dialog(
            from: "<sip:1001@fuzz.test>;tag=\(random.word(8))", to: "<sip:\(kind.number)@fuzz.test>",
            target: "sip:\(kind.number)@fuzz.test", callID: "\(random.word(12))@call")
        let call = try Call(kind, dialog: dialog, server: server, using: &random)
        if kind == .bridged { try device.register() }
        let extensions = kind == .ringing ? "Require: 100rel" : "Supported: replaces"
        call.send(call.draft("INVITE", ["Content-Type: application/sdp", extensions], body: call.description.text).bytes)
        let deadline = MonotonicClock.now + .seconds(3)
        if kind == .bridged, let invite = device.invite(by: deadline) { farEnd = try answer(invite) }
        lastStatus = call.status(of: 1, by: deadline)
        return call
    }

    private func answer(_ invite: Message) throws -> Call {
        let call = try Call(.tone, dialog: Dialog(answering: invite, tag: random.word(8)), server: server, using: &random)
        call.accept(invite)
        return call
    }

    /// Takes what the server has said of all calls.
    func listen() {
        for call in calls.values { call.listen() }
        farEnd?.listen()
        device.listen()
    }

    /// Asks the calls of these kinds whether they are there. One that is not, or whose CSeq a damaged request has spoiled, is given up.
    func check(_ kinds: [CallKind]) {
        for call in kinds.compactMap({ calls[$0] }) where call.isUp {
            let request = call.draft("OPTIONS")
            call.send(request.bytes)
            let status = call.status(of: call.dialog.sequence, by: MonotonicClock.now + .seconds(3))
            if status != 200 { call.hangUp() }
        }
    }

    /// Ends all of them.
    func hangUp() {
        for call in calls.values { call.hangUp() }
        farEnd?.hangUp()
        device.unregister()
    }
}
