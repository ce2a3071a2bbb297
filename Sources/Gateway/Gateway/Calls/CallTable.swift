import CallKit
import Foundation
import Media
import Primitives
import SIP
import UserAgent

/// The legs that there are and the bridges between them. Lives on the signalling lane.
final class CallTable {
    private let turn: EventTime
    let lines: LineTable
    /// The most legs at a time; those that are there stay.
    var limit: Int
    private(set) var legs = IdentityTable<Leg>()
    private var legsByMedia = IdentityTable<Leg>()
    /// Incoming calls that are up, by Call-ID and From tag.
    private var callOfAttempt: [Text: UUID] = [:]
    /// The same by their `id` in recents, where that is another than the UUID of the call.
    private var callOfRecent: [UUID: UUID] = [:]
    private(set) var bridges = IdentityTable<Bridge>()
    /// Events of legs for their bridges, in their order.
    private var bridgeEvents = FIFO<(UUID, Bridge.Event)>()
    /// Calls of these are over; they are taken down when the input is worked off.
    private var ended: [Leg] = []
    /// Their calls are over, and the last answers on the wire still to come.
    private var lingering: [Leg] = []
    private(set) var endedDialogs = EndedDialogs()
    private var endedCalls = EndedCalls()
    private var mediaIDs: UInt64 = 0
    /// Calls that ended, by how.
    private(set) var endCounts: [CallEnd: UInt64] = [:]
    /// Media totals of closed legs.
    private(set) var mediaTotals = MediaTotals()

    /// Hears of each leg that is forgotten.
    var onWithdrawal: (Leg) -> Void = { _ in }

    /// - Parameter limit: the most legs at a time.
    init(_ lines: LineTable, turn: EventTime, limit: Int) { (self.lines, self.turn, self.limit) = (lines, turn, limit) }

    var legCount: Int { legs.count }

    /// Legs whose calls are over, but not all of their signalling.
    var lingeringCount: Int { lingering.count }

    // MARK: Legs

    func nextMediaID() -> MediaLegID {
        mediaIDs += 1
        return MediaLegID(mediaIDs)
    }

    func leg(_ call: UUID) -> Leg? { legs[call] }

    func leg(of media: MediaLegID) -> Leg? { legsByMedia[UInt128(media.rawValue)] }

    /// The incoming leg that has the Call-ID and the From tag of an INVITE.
    func leg(ofAttempt attempt: Text) -> Leg? { callOfAttempt[attempt].flatMap(leg) }

    /// The leg of a call in recents that goes on.
    func recentLeg(_ id: UUID) -> Leg? { leg(id) ?? callOfRecent[id].flatMap(leg) }

    /// The leg of a session; nil for one that is over and waits for its last answers.
    func leg(of session: InviteSession?) -> Leg? { (session?.delegate as? Leg).flatMap { leg($0.uuid) } }

    /// Whether a call has this UUID, or had it.
    func isTaken(_ call: UUID) -> Bool { leg(call) != nil || endedCalls.contains(call) }

    /// Whether there may be another leg.
    var hasRoom: Bool { legCount < limit }

    /// Whether there may be another leg when so many others end.
    func hasRoom(ending count: Int) -> Bool { legCount - count < limit }

    /// Whether there may be a leg more, and another for one who rings where somebody does; more ring as long as there is room.
    func hasRoom(forCallTo line: Line) -> Bool { legCount + (line.rings ? 2 : 1) <= limit }

    /// From here on the leg is known by its call; it is forgotten when it was taken down.
    func add(_ leg: Leg) {
        leg.line.legs[leg.uuid] = leg
        legs[leg.uuid] = leg
        legsByMedia[UInt128(leg.media.id.rawValue)] = leg
        guard let origin = leg.origin else { return }
        callOfAttempt[origin.attempt] = leg.uuid
        if let id = origin.recentID { callOfRecent[id] = leg.uuid }
    }

    /// The system refused its call, or has it no more. No other call gets its UUID.
    func discard(_ leg: Leg) {
        withdraw(leg)
        endedCalls.add(leg.uuid)
    }

    /// Nothing of its call has happened: another may have its UUID.
    func withdraw(_ leg: Leg) {
        if let figures = leg.media.finish(at: turn.now) { mediaTotals.add(figures) }
        leg.line.legs[leg.uuid] = nil
        legs[leg.uuid] = nil
        leg.lines.taker?.features.taken.remove(leg.uuid)
        legsByMedia[UInt128(leg.media.id.rawValue)] = nil
        forget(leg.origin, of: leg.uuid)
        leg.call.enter(.ended)
        onWithdrawal(leg)
        if let session = leg.session { endedDialogs.add(session, at: turn.now) }
        if !leg.isSignallingOver { lingering.append(leg) }
    }

    /// A later call may have the same names by now.
    private func forget(_ origin: CallOrigin?, of call: UUID) {
        guard let origin else { return }
        if callOfAttempt[origin.attempt] == call { callOfAttempt[origin.attempt] = nil }
        if let id = origin.recentID, callOfRecent[id] == call { callOfRecent[id] = nil }
    }

    /// The system ended its call.
    func noteEnd(of leg: Leg) { ended.append(leg) }

    func count(_ end: CallEnd) { endCounts[end, default: 0] += 1 }

    /// The legs whose calls ended since they were asked for last, in the order of the ends.
    func takeEnded() -> [Leg] {
        guard !ended.isEmpty else { return [] }
        defer { ended.removeAll(keepingCapacity: true) }
        return ended
    }

    /// Lets those go whose last answer came.
    func sweepLingering() { lingering.removeAll { $0.isSignallingOver } }

    // MARK: Bridges

    func open(_ bridge: Bridge) { bridges[bridge.id] = bridge }

    func bridge(of leg: Leg) -> Bridge? { leg.bridge.flatMap { bridges[$0] } }

    /// Forgets a bridge of which somebody has moved to another.
    func close(_ bridge: UUID) { bridges[bridge] = nil }

    func forgetIfEnded(_ bridge: UUID) {
        guard bridges[bridge]?.state == .ended else { return }
        bridges[bridge] = nil
    }

    /// Whether further callees may join.
    func isCalling(_ bridge: UUID) -> Bool { bridges[bridge]?.state == .calling }

    func callees(of bridge: UUID) -> [UUID] { bridges[bridge]?.callees ?? [] }

    func add(callee: UUID, to bridge: UUID) { bridges[bridge]?.add(callee: callee) }

    /// Notes what a leg has to say to its bridge; done when the input is worked off.
    func tell(_ bridge: UUID?, _ event: Bridge.Event) {
        guard let bridge, bridges[bridge] != nil else { return }
        bridgeEvents.append((bridge, event))
    }

    /// As `tell`, also where the bridge is gone by now: then the call in its place ends, too.
    func tellOrEnd(_ bridge: UUID, _ event: Bridge.Event) { bridgeEvents.append((bridge, event)) }

    var hasBridgeEvents: Bool { !bridgeEvents.isEmpty }

    /// Works off the oldest event of the bridges; nil where there is none.
    func nextBridgeStep() -> (bridge: UUID, outputs: [Bridge.Output])? {
        guard let (bridge, event) = bridgeEvents.popFirst() else { return nil }
        let outputs = bridges[bridge]?.receive(event) ?? Bridge.orphaned(by: event)
        // The last call that leaves a conversation is taken down with another one.
        if case .parted = event { forgetIfEnded(bridge) }
        return (bridge, outputs)
    }
}
