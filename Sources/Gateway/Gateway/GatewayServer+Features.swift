import CallKit
import Foundation
import Primitives
import Runtime
import UserAgent

/// Settings and queries of a line's user while the server runs. Each waits for the signalling lane; not to be called on it.
extension GatewayServer {
    /// The line's calls, the newest first; nil when there is no such line.
    public func recents(ofLine number: Text) -> [RecentCall]? { lane.sync { host, _ in host.endpoint.recents(ofLine: number) } ?? nil }

    /// Starts a call of a line by URL, activity or handle: its devices ring first.
    @discardableResult
    public func start(_ request: CallRequest, ofLine number: Text) throws(CallRequestError) -> UUID {
        let call = try lane.sync { host, now throws(CallRequestError) in try host.endpoint.start(request, ofLine: number, at: now) }
        guard let call else { throw .noLine }
        return call
    }

    /// Calls the other party of a recent call.
    @discardableResult
    public func callBack(_ recent: UUID, ofLine number: Text) throws(CallRequestError) -> UUID {
        let call = try lane.sync { host, now throws(CallRequestError) in try host.endpoint.callBack(recent, ofLine: number, at: now) }
        guard let call else { throw .noLine }
        return call
    }

    /// False when there is no such line.
    @discardableResult
    public func setDoNotDisturb(_ isOn: Bool, ofLine number: Text) -> Bool {
        lane.sync { host, now in host.endpoint.setDoNotDisturb(isOn, ofLine: number, at: now) } ?? false
    }

    /// nil when there is no such line.
    public func isDoNotDisturbOn(ofLine number: Text) -> Bool? {
        lane.sync { host, now in host.endpoint.isDoNotDisturbOn(ofLine: number, at: now) } ?? nil
    }

    /// False when there is no such line.
    @discardableResult
    public func setBlocked(_ isBlocked: Bool, caller handle: CXHandle, ofLine number: Text) -> Bool {
        lane.sync { host, now in host.endpoint.setBlocked(isBlocked, caller: handle, ofLine: number, at: now) } ?? false
    }

    /// Takes what others that share the store have changed. Returns at once.
    ///
    /// - Parameters:
    ///   - updates: in the order in which they were read.
    ///   - done: called on the signalling lane when they are taken.
    public func adopt(_ updates: [KeptUpdate], done: @escaping @Sendable () -> Void) {
        lane.post { host, now in
            host.endpoint.adopt(updates, at: now)
            done()
        }
    }

    /// Ends the calls of gateways that have died, or goes on with them. Returns at once.
    public func end(_ orphans: OrphanedCalls) { lane.post { host, now in host.endpoint.end(orphans, at: now) } }

    /// Takes the leases of trunks that gateways which share the store have. Returns at once.
    public func adopt(_ leases: [TrunkLease]) { lane.post { host, now in host.endpoint.adopt(leases, at: now) } }

    /// Takes the whole state of the store. Returns at once.
    ///
    /// - Parameters:
    ///   - whole: the state; what is not in it is not there any more.
    ///   - done: called on the signalling lane when it is taken.
    public func adopt(_ whole: KeptState, done: @escaping @Sendable () -> Void) {
        lane.post { host, now in
            host.endpoint.adopt(whole, at: now)
            done()
        }
    }
}
