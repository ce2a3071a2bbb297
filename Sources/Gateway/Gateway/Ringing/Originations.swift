import CallKit
import Foundation
import Primitives
import SDP
import SIP
import UserAgent

/// A call that a line's user asks for from elsewhere than from a device: the line's devices ring first, and the one that answers is
/// connected with whom was wanted.
struct Origination {
    let line: Line
    /// To the gateway itself, from the line: it arrives as any call of a device does, with all that is done to one.
    let destination: Destination
    /// Devices that ring.
    var candidates: Set<UUID> = []
}

/// Calls that lines' users ask for by code: click to dial, or a call back from the recents. Lives on the signalling lane.
final class Originations {
    private let context: GatewayContext
    private let table: CallTable
    private let router: Router
    private let services: LineServices
    private let dialling: Dialling
    private(set) var all = IdentityTable<Origination>()

    init(_ context: GatewayContext, _ table: CallTable, _ router: Router, _ services: LineServices, _ dialling: Dialling) {
        (self.context, self.table, self.router) = (context, table, router)
        (self.services, self.dialling) = (services, dialling)
    }

    /// A start that waits for its transaction: the leg of the first device is there, and nothing of it has happened.
    struct Start {
        let id: UUID
        let line: Line
        let first: Leg
        fileprivate let others: [Destination]

        /// The party of the first device's call, as CallKit sees it: the device.
        let handle: CXHandle
    }

    func randomUUID() -> UUID { context.randomUUID() }

    /// Lets the line's devices ring. The UUID is that of the first.
    func start(_ request: CallRequest, ofLine number: Text, isDraining: Bool) throws(CallRequestError) -> UUID {
        guard let line = table.lines.line(numbered: number) else { throw .noLine }
        let start = try prepare(request, of: line, as: nil, isDraining: isDraining)
        line.calls.start(start.first.uuid, to: start.handle, with: nil) { [unowned self] in discard(start) }
        ringOthers(start)
        return start.first.uuid
    }

    /// Makes the leg of the first device that is to ring. After its start action was requested the others ring, or it is discarded.
    ///
    /// - Parameter call: its UUID, which no call has or had; nil: one is drawn.
    func prepare(_ request: CallRequest, of line: Line, as call: UUID?, isDraining: Bool) throws(CallRequestError) -> Start {
        let number = line.configuration.number, dialled = try services.dialled(request, of: line)
        guard !isDraining, table.hasRoom else { throw .noRoom }
        let own = context.configuration.domain, domain = line.configuration.domain ?? own
        let caller = CallerIdentity(
            user: dialled, host: own, displayName: table.lines.line(for: dialled, host: domain)?.configuration.name)
        let devices =
            line.configuration.endpoint == .devices ? router.destinations(of: line, dialled: number, caller: caller, maxForwards: 70) : []
        let user = CallerIdentity(user: number, host: own, displayName: line.configuration.name)
        guard let destination = router.toOurselves(dialled, at: domain, from: user), let first = devices.first else { throw .noDevice }
        let id = context.randomUUID()
        all[id] = Origination(line: line, destination: destination)
        return Start(
            id: id, line: line, first: makeLeg(first, for: id, of: line, as: call), others: Array(devices.dropFirst()),
            handle: CXHandle(type: .generic, value: first.shownTarget))
    }

    /// Nothing of it happens.
    func discard(_ start: Start) {
        table.withdraw(start.first)
        forget(start.first, of: start.id)
    }

    /// The line's other devices ring, too, in the group of the first.
    func ringOthers(_ start: Start) {
        for device in start.others where table.hasRoom { ring(device, for: start.id, of: start.line, with: start.first.uuid) }
    }

    private func makeLeg(_ device: Destination, for id: UUID, of line: Line, as call: UUID? = nil) -> Leg {
        let leg = dialling.makeLeg(to: device, on: line, as: call)
        (leg.origination, leg.mayTransfer) = (id, true)
        all[id]?.candidates.insert(leg.uuid)
        table.add(leg)
        return leg
    }

    /// All devices ring for one call: those after the first are in its group.
    @discardableResult
    func ring(_ device: Destination, for id: UUID, of line: Line, with group: UUID? = nil) -> UUID {
        let leg = makeLeg(device, for: id, of: line)
        line.calls.start(leg.uuid, to: CXHandle(type: .generic, value: device.shownTarget), with: group) { [unowned self] in
            table.discard(leg)
            forget(leg, of: id)
        }
        return leg.uuid
    }

    /// An outgoing leg has its 2xx: its bridge hears of it, or the call that it was rung for goes on.
    func connected(_ leg: Leg) {
        guard let id = leg.origination else { return table.tell(leg.bridge, .calleeConnected(leg.uuid)) }
        guard let origination = all.removeValue(forKey: id) else {
            return leg.end(.reported(.answeredElsewhere, .answeredElsewhere))
        }
        for other in origination.candidates where other != leg.uuid {
            table.leg(other)?.end(.reported(.answeredElsewhere, .answeredElsewhere))
        }
        leg.bridge = leg.uuid
        table.open(Bridge(caller: leg.uuid))
        dialling.call(origination.destination, for: leg)
        table.tell(leg.bridge, .dialled)
    }

    /// The far end of a call that we started answered: nothing is left to answer on the near side.
    func join(_ caller: Leg) {
        if let peer = table.peer(of: caller) { caller.media.link(to: peer.media, at: context.now) }
        table.tell(caller.bridge, .callerConnected)
    }

    /// A device that rang for a call does not ring any more.
    func forget(_ leg: Leg, of id: UUID?) {
        guard let id, all[id] != nil else { return }
        all[id]?.candidates.remove(leg.uuid)
        if all[id]?.candidates.isEmpty ?? false { all[id] = nil }
    }
}
