import CallKit
import Foundation
import Media
import Primitives
import SIP
import UserAgent

/// The legs that there are, the bridges between them, and how they go.
extension Gateway {
    func nextMediaID() -> MediaLegID {
        mediaIDs += 1
        return MediaLegID(mediaIDs)
    }

    func randomNumber() -> UInt64 { random.next() }

    func randomUUID() -> UUID {
        let high = random.next(), low = random.next()
        return CallUUID(high: high & ~0xF000 | 0x4000, low: low & ~(3 << 62) | 2 << 62).uuid
    }

    func open(_ bridge: Bridge) { bridges[bridge.id] = bridge }

    /// Whether further callees may join.
    func isCalling(_ bridge: UUID) -> Bool { bridges[bridge]?.state == .calling }

    func add(callee: UUID, to bridge: UUID) { bridges[bridge]?.add(callee: callee) }

    /// Notes what a leg has to say to its bridge; done when the input is worked off.
    func tell(_ bridge: UUID?, _ event: Bridge.Event) {
        guard let bridge, bridges[bridge] != nil else { return }
        bridgeEvents.append((bridge, event))
    }

    /// The leg that this one talks with.
    func peer(of leg: Leg) -> Leg? {
        if let old = leg.replaced.flatMap(self.leg) { return peer(of: old) ?? ringingCaller(of: old) }
        guard let bridge = leg.bridge, let peer = bridges[bridge]?.peer(of: leg.uuid) else { return nil }
        return self.leg(peer)
    }

    /// Whether there may be a leg more, and another for one who rings where somebody does; more ring as long as there is room.
    func hasRoom(forCallTo line: Line) -> Bool { legCount + (line.rings ? 2 : 1) <= configuration.limits.legs }

    /// In how many conversations the line has part, whoever began them; that of `bridge` is not counted.
    func conversations(of line: Line, beside bridge: UUID? = nil) -> Int {
        func counts(_ leg: Leg?) -> Bool { bridge == nil || leg?.bridge != bridge }
        // Who took a call over is in the conversation that it was, and so is who was called and talks with another than its caller.
        let here = line.legs.values.lazy.filter { [unowned self] in hasPart(line, by: $0) && counts($0) }
        return Set(here.map { $0.bridge ?? $0.uuid }).count + line.features.outgoing.count { counts(leg($0)) }
            + line.features.taken.count { counts(leg($0)) }
    }

    /// Whether the line has part in as many conversations as it may; that of `bridge` is not counted.
    func isFull(_ line: Line, beside bridge: UUID? = nil) -> Bool {
        let most = line.configuration.maximumCalls
        // There is a leg or an entry for each conversation, and mostly far fewer than that: nothing is to be counted then.
        guard line.legs.count + line.features.outgoing.count + line.features.taken.count >= most else { return false }
        return conversations(of: line, beside: bridge) >= most
    }

    /// Whether the line takes part in the conversation that this leg of its own is of.
    private func hasPart(_ line: Line, by leg: Leg) -> Bool {
        leg.direction == .incoming && !leg.isHandedOn || isLeft(leg) && lineReached(by: leg) === line
    }

    /// Conversations that the line has legs of and no part in: their callers were transferred away from it.
    func conversationsHandedOn(by line: Line) -> Set<UUID> {
        let legs = line.legs.values
        guard legs.contains(where: \.isHandedOn) else { return [] }
        return Set(legs.filter(\.isHandedOn).compactMap(\.bridge)).subtracting(legs.filter { hasPart(line, by: $0) }.compactMap(\.bridge))
    }

    /// The call that it was made for is over, or was of another line: one of its ends was transferred.
    private func isLeft(_ leg: Leg) -> Bool { leg.bridge.map { self.leg($0)?.line !== leg.line } ?? false }

    /// The line whose device or trunk an outgoing leg has called; nil for a device that sent the call on, and for our calls to ourselves.
    func lineReached(by leg: Leg) -> Line? {
        if let trunk = leg.trunk { return line(numbered: trunk.line) }
        return leg.mayTransfer && leg.session?.isToOurselves == false ? leg.deviceLine : nil
    }

    /// Whom the callee will talk with whose place is taken while it rings.
    private func ringingCaller(of callee: Leg) -> Leg? { callee.bridge.flatMap { isCalling($0) ? self.leg($0) : nil } }

    func apply(_ outputs: [Bridge.Output], of bridge: UUID) {
        for output in outputs {
            switch output {
            case .answer(let call):
                guard let leg = leg(call) else { continue }
                if leg.direction == .outgoing { join(leg) } else { leg.line.calls.answer(call) }
            case .end(let call, let cause): leg(call).map { end($0, cause) }
            case .answeredElsewhere(let call): leg(call)?.endOutOfBand(.answeredElsewhere, cause: .answeredElsewhere, tellsPeer: true)
            case .transferred(let staying, let leaving, let other):
                if let staying = leg(staying), let other = leg(other) { transferred(staying, from: leaving.flatMap(leg), to: other) }
            case .transferFailed(let call, let cause): leg(call).map { transferFailed($0, cause) }
            case .forkEnded(let call, let cause): leg(call).map { forkEnded($0, cause) }
            case .hold(let call, let isHeld): leg(call).map { putOnHold($0, isHeld) }
            case .callNext: huntOn(for: bridge)
            }
        }
    }

    /// Whom somebody of a line holds hears music where that line has some, and is not held by us; else the hold is passed on.
    func putOnHold(_ leg: Leg, _ isHeld: Bool) {
        if isHeld ? entertains(leg) : stopsEntertaining(leg) { return }
        leg.line.calls.setHeld(leg.uuid, isHeld)
    }

    private func entertains(_ leg: Leg) -> Bool {
        let holder = peer(of: leg)
        leg.hearsHolder = false
        guard !leg.call.isHeld else { return false }
        switch holder.flatMap(lineOfFarEnd)?.configuration.holdMusic {
        case .sound(let music): return leg.playHoldMusic(music)
        case .theirs: leg.hearsHolder = holder?.sendsOnHold ?? false
        case nil: break
        }
        return leg.hearsHolder
    }

    /// The line of ours that somebody at the far end is of: it calls, its device was called, or its trunk is the way there.
    private func lineOfFarEnd(of leg: Leg) -> Line? {
        if let trunk = leg.trunk { return line(numbered: trunk.line) }
        guard leg.direction == .incoming else { return leg.deviceLine }
        // Whom a source that is believed names need be in no From, and then is no line that calls.
        return leg.origin?.line ?? (leg.party.isKnown ? leg.party.user.flatMap(line(numbered:)) : nil)
    }

    private func stopsEntertaining(_ leg: Leg) -> Bool {
        if leg.holdMusic != nil, leg.playHoldMusic(nil) { return true }
        defer { leg.hearsHolder = false }
        return leg.hearsHolder
    }

    func end(_ leg: Leg, _ cause: EndCause) {
        if waking[leg.uuid]?.isReported == false { return giveUp(leg.uuid, "draining", as: cause) }
        transferFailed(leg, cause)
        leg.endCause = leg.endCause ?? cause
        leg.line.calls.end(leg.uuid)
    }

    func leg(_ call: UUID) -> Leg? { legs[call] }

    /// The incoming leg that has the Call-ID and the From tag of an INVITE.
    func leg(ofAttempt attempt: Text) -> Leg? { callOfAttempt[attempt].flatMap(leg) }

    /// From here on the leg is known by its call; it is forgotten when it was taken down.
    func add(_ leg: Leg) {
        leg.line.legs[leg.uuid] = leg
        legs[leg.uuid] = leg
        legsByMedia[UInt128(leg.media.id.rawValue)] = leg
        if let origin = leg.origin { callOfAttempt[origin.attempt] = leg.uuid }
    }

    /// A leg whose call the system never had.
    func discard(_ leg: Leg) {
        if let figures = leg.media.finish(at: now) { mediaTotals.add(figures) }
        leg.line.legs[leg.uuid] = nil
        legs[leg.uuid] = nil
        leg.takenBy?.features.taken.remove(leg.uuid)
        legsByMedia[UInt128(leg.media.id.rawValue)] = nil
        if let origin = leg.origin, let index = callOfAttempt.index(forKey: origin.attempt), callOfAttempt[index].value == leg.uuid {
            callOfAttempt.remove(at: index)
        }
        leg.call.enter(.ended)
        if let session = leg.session { endedDialogs.add(session, at: now) }
        if !leg.isSignallingOver { lingering.append(leg) }
    }

    /// didDeactivate has come for these by now: close and release.
    func takeDownEnded() {
        guard !ended.isEmpty else { return }
        let over = ended
        ended.removeAll(keepingCapacity: true)
        for leg in over {
            leg.systemEnded()
            disarmAll(of: leg)
            hunts[leg.uuid] = nil
            discard(leg)
            if let bridge = leg.bridge { forget(bridge) }
        }
    }

    private func forget(_ bridge: UUID) {
        guard bridges[bridge]?.state == .ended else { return }
        bridges[bridge] = nil
    }
}
