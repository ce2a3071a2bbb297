import Primitives

/// A call as JSON. Times are in milliseconds; what is not known is left out.
package struct CallDescription: Encodable {
    /// The media that a leg carried one way.
    package struct Stream: Encodable {
        package var packets: Int64
        /// `heard`, `packets` (too few to tell), `paused`, `silent`, `nothing`.
        package var heard: String?
        package var lossPercent: Double?
        package var jitter: Double?
        package var mos: Double?

        init(_ packets: Int64, _ heard: LegSound.Heard?, _ quality: LegSound.Quality) {
            (self.packets, self.heard) = (packets, heard?.rawValue)
            lossPercent = quality.loss.map { Double($0) / 100 }
            jitter = quality.jitter.map { Double($0) / 1_000 }
            mos = quality.mos.map { Double($0) / 100 }
        }
    }

    package struct Leg: Encodable {
        package var call: String
        package var direction: String?
        /// `run.seq` of its first event.
        package var position: String
        package var time: String
        package var line: String?
        package var to: String?
        package var transport: String?, remote: String?
        package var callID: String?
        /// In the journal of an app: its own UUID of the call.
        package var appCall: String?
        package var codec: String?
        package var status: String
        package var sipStatus: Int?, sipPhrase: String?
        /// Values of the Reason header that ended it.
        package var reasons: [String]
        package var setupTime: Double?, answerTime: Double?, duration: Double?
        /// From the far end, and to it.
        package var incoming: Stream?, outgoing: Stream?
        package var roundTrip: Double?
        package var recording: String?
        /// Rules that it broke.
        package var violations: [String]
        /// Rules by which an app may do better on its own line: no faults.
        package var advice: [String]
    }

    package struct Heard: Encodable { var caller: String?, callee: String? }

    package var call: String
    /// The run, and the number of the first event in it; together the position `run.seq`.
    package var run: String
    package var event: UInt64
    package var position: String
    /// The time of its first event.
    package var time: String
    package var from: String?, to: String?, uri: String?, line: String?
    package var agent: String?
    package var offer: String?
    package var callID: String?
    package var direction: String?
    /// `answered`, `missed`, `cancelled`, `busy`, `declined`, `refused`, `failed`, `elsewhere`, `up` or `cut-off`.
    package var status: String
    /// nil where none was sent.
    package var sipStatus: Int?, sipPhrase: String?
    /// From the first event to the first 101–199, and to the 200; from that to the end.
    package var setupTime: Double?, answerTime: Double?, duration: Double?
    package var heard: Heard
    /// `caller`, `callee` or `gateway`.
    package var endedBy: String?
    /// It is one of `--failed`.
    package var failed: Bool
    package var reason: String
    package var legs: [Leg]
}

extension CallDescription {
    package init(_ record: CallDetailRecord) {
        let first = record.first
        (call, run, event) = (first.call.description, first.run.label, first.sequence)
        (position, time) = (first.run.position(first.sequence), WallTime.universal(first.began.wall))
        (from, to, uri) = (first.from?.description, first.to?.description, first.uri?.description)
        (line, agent, offer) = (first.line.isEmpty ? nil : first.line.description, first.agent?.description, first.offer?.description)
        (callID, direction) = (first.callID?.description, first.direction?.rawValue)
        (status, sipStatus, sipPhrase) = (record.disposition.rawValue, record.status, first.response?.phrase?.description)
        (setupTime, answerTime) = (record.ringDelay?.milliseconds, record.answerDelay?.milliseconds)
        duration = record.length?.milliseconds
        heard = Heard(caller: record.heardCaller?.rawValue, callee: record.heardCallee?.rawValue)
        (endedBy, failed, reason) = (record.endedBy?.rawValue, record.isTroubled, record.reason)
        legs = record.legs.map(Leg.init)
    }
}

extension CallDescription.Leg {
    package init(_ leg: LegRecord) {
        (call, direction) = (leg.call.description, leg.direction?.rawValue)
        (position, time) = (leg.run.position(leg.sequence), WallTime.universal(leg.began.wall))
        (line, to) = (leg.line.isEmpty ? nil : leg.line.description, leg.to?.description)
        (transport, remote, callID) = (leg.transport?.description, leg.remote?.description, leg.callID?.description)
        (codec, status, appCall) = (leg.codec?.description, leg.disposition.rawValue, leg.appCall?.description)
        (sipStatus, sipPhrase, reasons) = (leg.status, leg.response?.phrase?.description, leg.reasonValues.map(\.description))
        setupTime = leg.rang.map { ($0.time - leg.began.time).milliseconds }
        answerTime = leg.answered.map { ($0.time - leg.began.time).milliseconds }
        duration = leg.answered.map { ((leg.ended ?? leg.last).time - $0.time).milliseconds }
        if leg.sound.wasRunning {
            incoming = .init(leg.sound.received, leg.sound.incoming, leg.sound.incomingQuality)
            outgoing = .init(leg.sound.sent, leg.sound.outgoing, leg.sound.outgoingQuality)
        }
        roundTrip = leg.sound.roundTrip.map { Double($0) / 1_000 }
        (recording, violations) = (leg.recording?.description, leg.violations.map(\.description))
        advice = leg.advice.map(\.description)
    }
}

extension Duration {
    fileprivate var milliseconds: Double { Double(wholeNanoseconds / 1_000) / 1_000 }
}
