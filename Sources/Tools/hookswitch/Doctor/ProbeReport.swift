import Primitives
import Workbench

/// The state of each of the four ways between here and a gateway.
struct ProbeReport: Codable, Equatable {
    enum State: String, Codable { case alive, dead, unknown }

    struct Way: Codable, Equatable {
        /// `SIP out`, `SIP in`, `RTP out`, `RTP in`: out is from here to the gateway.
        var name: String
        var state: State
        var text: String
        var remedy: String?
    }

    var server: String
    var ways: [Way]

    var status: ExitStatus {
        let states = Set(ways.map(\.state))
        return states.contains(.dead) ? .bad : states.contains(.unknown) ? .cannotRun : .good
    }

    init(server: SocketAddress, usesTCP: Bool, tone: ProbeEvidence, echo: ProbeEvidence?) {
        self.server = "\(server)"
        let judge = ProbeJudge(server: server, transport: usesTCP ? "TCP" : "UDP", tone: tone, echo: echo)
        ways = [judge.sipOut, judge.sipIn, judge.soundOut, judge.soundIn]
    }

    var text: String {
        let marks: [State: String] = [.alive: "alive  ", .dead: "DEAD   ", .unknown: "unknown"]
        let lines = ways.flatMap { way in
            ["\(way.name)\(String(repeating: " ", count: 8 - way.name.count)) \(marks[way.state] ?? "")  \(way.text)"]
                + (way.remedy.map { ["                  → \($0)"] } ?? [])
        }
        let dead = ways.filter { $0.state == .dead }.map(\.name), open = ways.filter { $0.state == .unknown }.map(\.name)
        let verdict =
            dead.isEmpty
            ? open.isEmpty ? "all four ways work" : "not known: \(open.joined(separator: ", "))" : "dead: \(dead.joined(separator: ", "))"
        return (["\(server) from here:"] + lines + ["", verdict]).joined(separator: "\n")
    }
}

/// Says from two calls which way is dead.
private struct ProbeJudge {
    let server: SocketAddress
    /// The transport of SIP.
    let transport: String
    let tone: ProbeEvidence
    let echo: ProbeEvidence?

    typealias Way = ProbeReport.Way

    private var calls: [ProbeEvidence] { [tone, echo].compactMap(\.self) }
    private var accepted: [ProbeEvidence] { calls.filter(\.isAccepted) }
    private var connected: [ProbeEvidence] { calls.filter(\.isConnected) }
    private var contact: SocketAddress? { accepted.lazy.compactMap(\.contact).first }
    private var media: SocketAddress? { connected.lazy.compactMap(\.media).first }

    var sipOut: Way {
        guard tone.hasAnswer else {
            return Way(
                name: "SIP out", state: .dead,
                text: tone.unreachable ?? "no answer at all from \(server): the request or its answer is lost",
                remedy:
                    "is it running, on this transport, on more than loopback (sip.\(transport.lowercased()): [\"0.0.0.0:\(server.port)\"]), is \(server.port) published and let through? Its journal has 'sip.rx' when the question arrives"
            )
        }
        let unended = accepted.filter { $0.endedBy != .them && !$0.isByeAnswered }
        if unended.contains(where: { $0.repeatedAcceptances > 0 }) {
            return Way(
                name: "SIP out", state: .dead,
                text:
                    "the call is answered, but our ACK does not arrive: the gateway names \(contact.map { "\($0)" } ?? "no address") in its Contact",
                remedy: advertiseRemedy)
        }
        if let call = unended.first {
            return Way(
                name: "SIP out", state: .dead,
                text:
                    "the BYE to \(call.number) is not answered: the gateway names \(contact.map { "\($0)" } ?? "no address") in its Contact",
                remedy: advertiseRemedy)
        }
        return Way(
            name: "SIP out", state: .alive,
            text: accepted.isEmpty
                ? "questions arrive" : accepted.contains(where: \.isByeAnswered) ? "INVITE, ACK and BYE arrive" : "INVITE and ACK arrive")
    }

    var sipIn: Way {
        guard tone.hasAnswer else { return Way(name: "SIP in", state: .unknown, text: "nothing came: see SIP out") }
        return Way(name: "SIP in", state: .alive, text: "answers arrive here")
    }

    var soundIn: Way {
        guard let call = connected.first else { return notConnected("RTP in") }
        if let heard = connected.first(where: { $0.received > 0 }) {
            return Way(name: "RTP in", state: .alive, text: "\(heard.received) packets came from \(heard.number)")
        }
        guard tone.isConnected else {
            return Way(
                name: "RTP in", state: .unknown,
                text: "\(call.number) sends nothing unless ours arrives, and no number that plays by itself answered (--tone)")
        }
        return Way(
            name: "RTP in", state: .dead, text: "not one packet of the tone came",
            remedy:
                "a firewall or NAT before this machine drops UDP, or the gateway's machine does not let it out; the gateway's journal says how many it sent (media.closed)"
        )
    }

    var soundOut: Way {
        guard let echo else { return notConnected("RTP out") }
        if let heard = connected.first(where: \.isOwnHeard) {
            return Way(name: "RTP out", state: .alive, text: "our own sound came back from \(heard.number)")
        }
        if connected.contains(where: \.isOursReported) {
            return Way(name: "RTP out", state: .alive, text: "the gateway reports that our packets arrive")
        }
        guard echo.isConnected else { return notConnected("RTP out") }
        guard soundIn.state == .alive else {
            return Way(name: "RTP out", state: .unknown, text: "nothing comes back, and could not: RTP in is dead")
        }
        return Way(
            name: "RTP out", state: .dead,
            text: "the gateway's sound comes, ours does not come back: it wants ours at \(media.map { "\($0)" } ?? "no address")",
            remedy: mediaRemedy)
    }

    private func notConnected(_ name: String) -> Way {
        let failed = calls.first { !$0.isConnected }
        let remedy = failed?.isLate == true ? "a longer --timeout" : "name numbers that answer: --echo, --tone"
        return Way(
            name: name, state: .unknown, text: "no call was connected: \(failed?.refusal ?? "no call")",
            remedy: tone.hasAnswer ? remedy : nil)
    }

    private var advertiseRemedy: String {
        guard let contact, contact.address != server.address else {
            return "a firewall lets INVITE through and not what follows: let \(transport) \(server.port) through both ways"
        }
        return "on the gateway: advertise.address: \(server.address) (HOOKSWITCH_ADVERTISE_ADDRESS), in place of \(contact.address)"
    }

    private var mediaRemedy: String {
        guard let media else { return "the gateway sent no address for media" }
        if media.address != server.address {
            return "on the gateway: advertise.address: \(server.address) (HOOKSWITCH_ADVERTISE_ADDRESS), in place of \(media.address)"
        }
        return
            "let UDP \(media.port) and the rest of media.ports through to the gateway, and publish them under the same numbers where it is in a container"
    }
}
