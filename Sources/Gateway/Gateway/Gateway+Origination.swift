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

extension Gateway {
    /// Starts a call of a line by URL, activity or handle. The line's devices ring; the UUID is that of the first.
    @discardableResult
    public func start(_ request: CallRequest, ofLine number: Text, at now: Instant) throws(CallRequestError) -> UUID {
        enter(now)
        guard let line = line(numbered: number) else { throw .noLine }
        let dialled = try dialled(request, of: line)
        guard !isDraining, legCount < configuration.limits.legs else { throw .noRoom }
        let domain = line.configuration.domain ?? configuration.domain
        let target = routing.line(for: dialled, host: domain).map { lines[$0] }
        let caller = CallerIdentity(user: dialled, host: configuration.domain, displayName: target?.configuration.name)
        let devices =
            line.configuration.endpoint == .devices ? destinations(of: line, dialled: number, caller: caller, maxForwards: 70) : []
        let own = CallerIdentity(user: number, host: configuration.domain, displayName: line.configuration.name)
        guard let destination = toOurselves(dialled, at: domain, from: own), !devices.isEmpty else { throw .noDevice }
        let id = randomUUID()
        originations[id] = Origination(line: line, destination: destination)
        let first = ring(devices[0], for: id, of: line)
        for device in devices.dropFirst() where legCount < configuration.limits.legs { ring(device, for: id, of: line, with: first) }
        settle()
        guard leg(first) != nil else { throw .noRoom }
        return first
    }

    /// What the request dials, where the line's provider takes its type. What it does not take is in the journal: a telephone would say
    /// nothing.
    func dialled(_ request: CallRequest, of line: Line) throws(CallRequestError) -> Text {
        guard !request.isVideo else { throw .video }
        let handle = request.handle
        guard line.provider.configuration.supportedHandleTypes.contains(handle.type) else {
            journal.record(
                .callBackRefused, line: line.configuration.number, at: now,
                [.error: "handleTypeUnsupported", .class: .init(handle.type.name), .remote: .init(handle.value)])
            throw .handleTypeUnsupported(handle.type)
        }
        let value = Text(handle.value)
        let uri = try? URI(parsing: value)
        // The call comes to us over no TLS, and nobody would know any more what was asked for.
        guard uri?.scheme != .sips else { throw .secure }
        let dialled = uri.flatMap { routing.dialledNumber($0) } ?? value
        guard routing.line(for: dialled, host: line.configuration.domain ?? configuration.domain) != nil else { throw .noRoute }
        return dialled
    }

    /// A call of ours to a number of ours at a domain of ours, which arrives as anybody's does; nil where we listen over TLS alone.
    func toOurselves(_ dialled: Text, at domain: Text, from caller: CallerIdentity) -> Destination? {
        guard let listener = listeners.first(where: { !$0.transport.isSecure }) else { return nil }
        let own = listener.address
        let remote = listener.reachable
        // The flow says where it goes; which line is meant its domain says, too.
        let target = URI(user: dialled, host: domain)
        return Destination(
            target: target, addressOfRecord: target, flow: Flow(transport: listener.transport, local: own, remote: remote),
            caller: caller, isToOurselves: true)
    }

    /// All devices ring for one call: those after the first are in its group.
    @discardableResult
    func ring(_ device: Destination, for id: UUID, of line: Line, with group: UUID? = nil) -> UUID {
        let leg = makeLeg(to: device, on: line)
        (leg.origination, leg.mayTransfer) = (id, true)
        originations[id]?.candidates.insert(leg.uuid)
        add(leg)
        line.calls.start(leg.uuid, to: CXHandle(type: .generic, value: device.shownTarget), with: group) { [unowned self] in
            discard(leg)
            forget(leg, of: id)
        }
        return leg.uuid
    }

    /// An outgoing leg has its 2xx: its bridge hears of it, or the call that it was rung for goes on.
    func connected(_ leg: Leg) {
        guard let id = leg.origination else { return tell(leg.bridge, .calleeConnected(leg.uuid)) }
        guard let origination = originations.removeValue(forKey: id) else {
            return leg.endOutOfBand(.answeredElsewhere, cause: .answeredElsewhere, tellsPeer: true)
        }
        for other in origination.candidates where other != leg.uuid {
            self.leg(other)?.endOutOfBand(.answeredElsewhere, cause: .answeredElsewhere, tellsPeer: true)
        }
        leg.bridge = leg.uuid
        open(Bridge(caller: leg.uuid))
        call(origination.destination, for: leg)
        tell(leg.bridge, .dialled)
    }

    /// The far end of a call that we started answered: nothing is left to answer on the near side.
    func join(_ caller: Leg) {
        if let peer = peer(of: caller) { caller.media.link(to: peer.media, at: now) }
        tell(caller.bridge, .callerConnected)
    }

    /// A device that rang for a call does not ring any more.
    func forget(_ leg: Leg, of id: UUID?) {
        guard let id, originations[id] != nil else { return }
        originations[id]?.candidates.remove(leg.uuid)
        if originations[id]?.candidates.isEmpty ?? false { originations[id] = nil }
    }
}
