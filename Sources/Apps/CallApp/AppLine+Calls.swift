import CallJournal
import CallKit
import Calls
import Foundation
import Media
import Primitives
import SIP

/// Steps that the app's provider delegate asks of the network, by the call's UUID. Each step is refused, and counted, where CallKit has not
/// asked for it. An app may as well fulfil an action first: the line does the step then, and to be asked for it afterwards is no mistake,
/// but for keys and groups. One that takes a whole transaction, in `provider(_:execute:)`, asks there, or after it has returned true.
extension AppLine {
    /// Lets an incoming call ring: from the completion of a report that was accepted, and not before.
    @discardableResult
    public func ring(_ uuid: UUID, at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        return call(uuid)?.ring() ?? false || refuse()
    }

    /// In `perform(CXStartCallAction)`: the INVITE leaves. False when it cannot, or may not: fail the action.
    public func start(_ uuid: UUID, to handle: String, at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        guard asked(of: uuid, where: \.isStart) != nil else {
            return isDone(uuid) { $0.direction == .outgoing && ![.new, .ended].contains($0.state) }
        }
        return dial(uuid, to: handle)
    }

    /// In `perform(CXAnswerCallAction)`: sockets are bound, then the 200 leaves. False when it cannot: fail the action.
    public func answer(_ uuid: UUID, at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        let uuid = ownUUID(of: uuid)
        guard asked(of: uuid, where: { $0 == .answer }) != nil, let call = calls[uuid] else {
            return isDone(uuid) { $0.direction == .incoming && $0.state == .connected }
        }
        return call.answer()
    }

    /// In `perform(CXEndCallAction)`: packets stop, then BYE, CANCEL or a final response leaves. Nothing where the far end was first.
    @discardableResult
    public func end(_ uuid: UUID, at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        let uuid = ownUUID(of: uuid)
        guard let call = calls[uuid] else { return true }
        guard asked(of: uuid, where: { $0 == .end }) != nil || call.state == .ended else { return refuse() }
        call.hangUp()
        return true
    }

    /// CallKit does not ask for it now: it was done when the app fulfilled the action, or comes too early or too late.
    private func isDone(_ uuid: UUID, _ isSo: (AppCall) -> Bool) -> Bool { calls[uuid].map(isSo) ?? false || refuse() }

    /// `providerDidReset`: everything is silent. What the far ends are told follows from the calls' end.
    public func reset(at now: Instant) {
        enter(now)
        for call in callsInOrder { call.stopMedia() }
        settle()
    }

    /// In `perform(CXSetHeldCallAction)`. A hold is done when this returns; taking back is when the other side has agreed, and then
    /// `completion` tells whether it has: fulfil or fail the action there. An action that is fulfilled before is as good.
    public func setHeld(_ uuid: UUID, _ isHeld: Bool, at now: Instant, completion: @escaping (Bool) -> Void = { _ in }) {
        enter(now)
        defer { settle() }
        let uuid = ownUUID(of: uuid)
        guard asked(of: uuid, where: { $0 == .hold(isHeld) }) != nil, let call = calls[uuid], canHold(call) else {
            if !isHeld, let call = calls[uuid], call.resume != nil { return call.awaitResume(completion) }
            return completion(isDone(uuid) { $0.state == .connected && $0.call.isHeld == isHeld })
        }
        guard isHeld else { return call.takeBack(completion) }
        call.hold()
        completion(true)
    }

    /// A call that the user has taken up, though the far end, or the app, has not finished with that.
    private func canHold(_ call: AppCall) -> Bool {
        let isTakenUp = call.direction == .outgoing || acting.first(on: call.uuid, where: { $0 == .answer }) != nil
        return call.state == .connected || isTakenUp && call.state != .ended
    }

    /// In `perform(CXSetMutedCallAction)`: silence is sent, and nobody is told. In a conference the call's far end listens, and is not
    /// heard.
    @discardableResult
    public func setMuted(_ uuid: UUID, _ isMuted: Bool, at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        let uuid = ownUUID(of: uuid)
        guard asked(of: uuid, where: { $0 == .mute(isMuted) }) != nil, let call = calls[uuid] else {
            return isDone(uuid) { $0.state == .connected && $0.isMuted == isMuted }
        }
        call.setMuted(isMuted)
        return true
    }

    /// In `perform(CXPlayDTMFCallAction)`: the keys are queued; they are not waited for. `,` is a pause of two seconds, and what stands
    /// behind `;` waits until keys are played again. False for what is no key, or when none can be carried.
    public func play(_ digits: String, on uuid: UUID, at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        let uuid = ownUUID(of: uuid)
        guard let action = asked(of: uuid, where: { if case .tones = $0 { true } else { false } }), let call = calls[uuid] else {
            return refuse()
        }
        _ = acting.takeTones(of: action.uuid)
        return call.dialKeys(digits)
    }

    /// In `perform(CXSetGroupCallAction)`: the far ends of a group hear one another through this app, two of them by relay and more in a
    /// conference; nil takes the call out.
    public func group(_ uuid: UUID, with other: UUID?, at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        let (uuid, other) = (ownUUID(of: uuid), other.map(ownUUID))
        guard asked(of: uuid, where: { if case .group = $0 { true } else { false } }) != nil else { return refuse() }
        return group(uuid, with: other)
    }

    func group(_ uuid: UUID, with other: UUID?) -> Bool {
        guard let call = calls[uuid] else { return false }
        guard let other else {
            call.part()
            return true
        }
        return calls[other].map(call.join) ?? false
    }

    func dial(_ uuid: UUID, to handle: String) -> Bool {
        guard let target = settings.target(handle) else {
            tell(.cannotCall(uuid, handle))
            return false
        }
        return outgoing(uuid).dial(target)
    }

    /// The call that a start action makes.
    func outgoing(_ uuid: UUID) -> AppCall {
        if let call = calls[uuid] { return call }
        let call = makeCall(.outgoing, uuid, session: nil, flow: settings.flow)
        let known = system.call(uuid)
        // An app may have reported it connected before the INVITE leaves.
        (call.standing, call.provider) = (known?.hasConnected == true ? .up : .known, known?.provider)
        add(call)
        return call
    }

}

/// The sound of the app, in the four steps of its media library: `configAudio`, `startAudio`, `stopAudio`, `releaseAudio`.
extension AppLine {
    /// In `perform` of an answer or a start: codecs are decided. Later, while a call has its media, it changes nothing. False when there is
    /// no call to configure for, or no port: fail the action.
    public func configAudio(at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        guard let action = asked(where: { $0.kind.makesMedia }), let uuid = action.call else {
            return calls.values.contains { $0.media.state.isOpen } || refuse()
        }
        let call = action.kind.isStart ? outgoing(uuid) : calls[uuid]
        return call.map { $0.configure() } ?? refuse()
    }

    /// In `didActivate`, or when a call is taken back while the session is on: packets flow on every call that is connected and not held,
    /// and on those that come to be while the session lasts. False while there is no session.
    @discardableResult
    public func startAudio(at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        guard audio.isActive else { return refuse() }
        audio.isStarted = true
        for call in callsInOrder {
            call.isSilenced = false
            call.startMedia()
        }
        return true
    }

    /// No packet leaves after this. While an end or a hold is performed it concerns that call, else all. Harmless when nothing runs.
    public func stopAudio(at now: Instant) {
        enter(now)
        defer { settle() }
        takeUp(where: \.kind.takesMedia)
        let action = acting.latest.flatMap { $0.kind.takesMedia ? $0 : nil }
        for call in callsInOrder where action?.call ?? call.uuid == call.uuid && call.media.state == .started {
            call.isSilenced = true
            call.stopMedia(holding: action?.kind != .end)
        }
    }

    /// In `perform(CXEndCallAction)` or later. Sockets are closed by the line when the call has ended and the session is off; asked for
    /// earlier it does nothing, is counted, and says false.
    @discardableResult
    public func releaseAudio(at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        let isEnding = asked { $0.kind == .end } != nil
        return isEnding || !calls.values.contains { $0.media.state.isOpen && $0.standing != .ended } || refuse()
    }
}
