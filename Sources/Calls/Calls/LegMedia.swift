import CallJournal
import Foundation
import Media
import Primitives
import RTP
import SDP

/// The media of one leg, step by step: every move is made in the plane and then written into the journal, here and nowhere else.
///
/// `LegMediaState` knows which step may follow; a step that may not is a programmer's error.
package struct LegMedia {
    /// The leg's number in the media engine.
    package let id: MediaLegID
    /// The state of its media.
    package private(set) var state = LegMediaState()
    /// Nil before `reserve` and after `release`.
    package private(set) var reservation: PortReservation?
    /// Numbers that another program had when they were to be bound. They are given back when the call is over.
    private var taken: [PortReservation] = []
    private let scribe: LegJournal
    private let plane: any MediaPlane
    /// The quality of what was sent, as the journal has it since the last stop.
    private var reported: LegQuality.Direction?
    /// The recording of all that this leg says and hears.
    package var recording: LegRecording?
    /// The kernel relays what the far end sends, as the journal has it.
    private var isArmed = false
    /// The last arming before the stop: news of it and of earlier ones come too late.
    private var lastArming: UInt64 = 0

    package init(id: MediaLegID, plane: any MediaPlane, scribe: LegJournal) {
        self.id = id
        self.plane = plane
        self.scribe = scribe
    }

    /// Takes numbers out of the pool. Throws `.portsExhausted`.
    package mutating func reserve(_ demand: PortPool.Demand, at now: Instant) throws(MediaError) {
        let ports = try plane.reserve(demand, at: now)
        reservation = ports
        scribe.write(.mediaReserved, at: now, [.port: .init(ports.rtp)])
    }

    /// Figures until now. Throws where the engine does not have the leg.
    package func statistics(at now: Instant) throws(MediaError) -> MediaStatistics { try plane.statistics(of: id, at: now) }

    /// Codecs and direction are being decided; no socket yet.
    package mutating func configure(at now: Instant, codecs: Text) {
        advance(.configure)
        scribe.write(.mediaConfigured, at: now, [.codec: .init(codecs)])
    }

    /// The most numbers of other programs that a call may meet.
    private static let mostTaken = 8

    /// Binds the sockets; where another program has the number, those of another one. Throws `.cannotBind` after too many of them, or where
    /// no other is free.
    ///
    /// - Returns: whether the number is another one than before: the far end is to be told.
    package mutating func openSomewhere(_ plan: MediaPlan, near: MediaLegID?, at now: Instant) throws(MediaError) -> Bool {
        while true {
            do throws(MediaError) {
                try open(plan, near: near, at: now)
                return !taken.isEmpty
            } catch .cannotBind(let error) {
                guard let old = reservation, taken.count < Self.mostTaken,
                    let other = try? plane.reserve(old.rtcp == nil ? .one : .two, at: now)
                else {
                    throw .cannotBind(error)
                }
                scribe.write(.mediaRefused, at: now, [.cause: "bind", .port: .init(old.rtp)])
                taken.append(old)
                reservation = other
                scribe.write(.mediaReserved, at: now, [.port: .init(other.rtp)])
            }
        }
    }

    /// Binds the sockets. Throws `.cannotBind` and leaves the number reserved.
    package mutating func open(_ plan: MediaPlan, near: MediaLegID?, at now: Instant) throws(MediaError) {
        guard let reservation else { preconditionFailure("opened without a reservation") }
        self.reservation = try plane.open(id, reservation: reservation, plan: plan, near: near, at: now)
        advance(.open)
        scribe.write(.mediaOpened, at: now, [.port: .init(reservation.rtp), .codec: .init(plan.audio.primary.codec.name)])
    }

    /// Packets may flow. The audio session is on.
    package mutating func start(at now: Instant) {
        if state == .opened {
            advance(.activate)
            require { () throws(MediaError) in try plane.activate(id) }
        }
        advance(.start)
        require { () throws(MediaError) in try plane.start(id, at: now) }
        scribe.write(.mediaStarted, at: now)
    }

    /// No packet leaves once this returns; for good, or for a hold. Nothing when nothing runs.
    package mutating func stop(holding: Bool = false, at now: Instant) {
        guard state == .started else { return }
        advance(.stop)
        guard let interval = try? plane.stop(id, ending: !holding, at: now) else { preconditionFailure("a started leg can be stopped") }
        reported = interval.quality?.sending
        if isArmed { noteTaken(interval.relayed, .stop, at: interval.stopped) }
        lastArming = interval.relayed.number
        // Not the turn's clock: packets left while the turn waited for a core.
        scribe.write(.mediaStopped, at: interval.stopped, interval.details)
    }

    /// New remote address, direction or payload types after a re-INVITE.
    ///
    /// False where nothing has changed: the media is not open, or cannot be as the plan wants it.
    @discardableResult
    package func update(_ plan: MediaPlan, at now: Instant) -> Bool {
        guard state.isOpen else { return false }
        do { try plane.update(id, plan: plan, at: now) } catch { return false }
        return true
    }

    /// Packets of each go to the other from now on.
    package func link(to other: LegMedia, at now: Instant) {
        guard state.isOpen, other.state.isOpen else { return }
        try? plane.link(id, other.id, at: now)
    }

    /// Sends digits as events. False where the leg does not run, or its far end knows no such events.
    package func send(_ digits: [DTMFDigit], lasting length: Duration? = nil, at now: Instant) -> Bool {
        guard state == .started else { return false }
        do { try plane.send(digits, lasting: length, on: id, at: now) } catch { return false }
        return true
    }

    /// Ends the relay with the other leg of a bridge.
    package func unlink() {
        guard state.isOpen else { return }
        try? plane.unlink(id)
    }

    /// The media lane says that the kernel relays what the far end sends.
    package mutating func note(armed arming: RelayArming, at now: Instant) {
        guard state == .started, arming.number > lastArming else { return }
        isArmed = true
        scribe.write(.mediaArmed, at: now)
    }

    /// The media lane says that the kernel does so no longer.
    package mutating func note(taken arming: RelayArming, _ end: RelayEnd, at now: Instant) {
        if isArmed, arming.number > lastArming { noteTaken(arming, end, at: now) }
    }

    private mutating func noteTaken(_ arming: RelayArming, _ end: RelayEnd, at now: Instant) {
        isArmed = false
        var details: JournalEvent.Details = [.cause: .init(end.rawValue), .packets: .init(arming.packets)]
        details.add(.count, arming.dropped > 0 ? .init(arming.dropped) : nil)
        scribe.write(.mediaTaken, at: now, details)
    }

    /// Closes what is open and gives the number back. The call has ended. What was measured, where there was something open.
    @discardableResult
    package mutating func finish(at now: Instant) -> MediaStatistics? {
        stop(at: now)
        let now = max(now, scribe.journal.latest)
        recording?.end(at: now)
        if state == .activated || state == .stopped {
            advance(.deactivate)
            require { () throws(MediaError) in try plane.deactivate(id) }
        }
        var figures: MediaStatistics?
        if state.isOpen {
            advance(.close)
            figures = try? plane.close(id, at: now)
            scribe.write(.mediaClosed, at: now, figures?.details(reportedBefore: reported) ?? [:])
        }
        guard let ports = reservation, state != .released else { return figures }
        advance(.release)
        require { () throws(MediaError) in try plane.release(ports, at: now) }
        reservation = nil
        scribe.write(.mediaReleased, at: now, [.port: .init(ports.rtp)])
        releaseTaken(at: now)
        return figures
    }

    private mutating func releaseTaken(at now: Instant) {
        for ports in taken {
            require { () throws(MediaError) in try plane.releaseTaken(ports, at: now) }
            scribe.write(.mediaReleased, at: now, [.port: .init(ports.rtp)])
        }
        taken = []
    }

    private mutating func advance(_ step: MediaStep) {
        guard let next = state.after(step) else { preconditionFailure("media cannot \(step) after \(state)") }
        state = next
    }

    private func require(_ step: () throws(MediaError) -> Void) {
        do { try step() } catch { preconditionFailure("the media plane refused a legal step: \(error)") }
    }
}

extension MediaInterval {
    /// Details for the rule about packets outside of start and stop.
    var details: JournalEvent.Details {
        var details = JournalEvent.Details(capacity: 20)
        details.add(.packets, .init(packetsSent))
        details.add(.received, .init(packetsReceived))
        details.add(.firstSent, firstSent.map { .init($0) })
        details.add(.lastSent, lastSent.map { .init($0) })
        details.add(.incoming, incoming.map { .init($0.sound.rawValue) })
        details.add(.incomingBasis, incoming.map { .init($0.basis.rawValue) })
        details.add(.outgoing, outgoing.map { .init($0.sound.rawValue) })
        details.add(.outgoingBasis, outgoing.map { .init($0.basis.rawValue) })
        if DirectionVerdict.isOneWay(incoming, outgoing) { details.add(.oneWay, true) }
        if let quality {
            details.add(quality.receiving)
            details.add(remote: quality)
        }
        return details
    }
}

extension MediaStatistics {
    /// - Parameter reported: what the journal has already of the quality of what was sent.
    func details(reportedBefore reported: LegQuality.Direction?) -> JournalEvent.Details {
        var details: JournalEvent.Details = [.packets: .init(sending.packets), .received: .init(receiving.packets)]
        let quality = LegQuality(self)
        if let reported, quality.sending != reported { details.add(remote: quality) }
        return details
    }
}

extension JournalEvent.Details {
    fileprivate mutating func add(_ received: LegQuality.Direction) {
        add(.lost, received.lost.map { .init($0) })
        add(.expected, received.expected.map { .init($0) })
        add(.loss, received.loss.map { .init($0) })
        add(.jitter, received.jitter.map { .init($0) })
        add(.mos, received.score.map { .init($0) })
    }

    /// Figures that the far end reported.
    fileprivate mutating func add(remote quality: LegQuality) {
        add(.remoteLost, quality.sending.lost.map { .init($0) })
        add(.remoteExpected, quality.sending.expected.map { .init($0) })
        add(.remoteLoss, quality.sending.loss.map { .init($0) })
        add(.remoteJitter, quality.sending.jitter.map { .init($0) })
        add(.remoteMOS, quality.sending.score.map { .init($0) })
        add(.roundTrip, quality.roundTrip.map { .init($0) })
    }
}

extension OfferAnswer {
    /// The demand for ports of the stream, as far as that is known.
    package var ports: PortPool.Demand { remoteOffer.map { $0.multiplexes ? .one : .two } ?? .twoIfPossible }
}
