import CallKit
import Foundation
import Primitives
import Runtime
import SIP
import UserAgent

/// A line as somebody outside sees it at a moment.
public struct LineSummary: Sendable {
    /// What answers its calls.
    public enum Kind: String, Sendable { case devices, trunk, application, script, group }

    /// A device that is registered.
    public struct Device: Sendable {
        /// Its Contact.
        public var contact: Text
        /// Its User-Agent.
        public var agent: Text?
        /// Until its registration ends, in seconds.
        public var expires: Int
    }

    public var number: Text
    public var name: Text?
    public var kind: Kind
    /// A call would be turned away, VIPs aside.
    public var isDoNotDisturbOn: Bool
    public var devices: [Device]
    /// Callers that its user has blocked; those of the configuration are not among them.
    public var blocked: [String]
}

extension Gateway {
    /// The configured lines, in their order.
    func lineSummaries(at now: Instant) -> [LineSummary] {
        enter(now)
        return lines.filter { $0.configuration.number != LineServices.serviceLine.number }.map { line in
            let number = line.configuration.number
            return LineSummary(
                number: number, name: line.configuration.name, kind: .init(line.configuration.endpoint),
                isDoNotDisturbOn: line.features.isDoNotDisturbOn,
                devices: registrar.contacts(of: number, at: now).map { contact in
                    LineSummary.Device(
                        contact: contact.uri.text, agent: contact.userAgent, expires: Int((contact.expiry - now).wholeMilliseconds / 1_000))
                }, blocked: line.features.blocked.sorted())
        }
    }
}

extension LineSummary.Kind {
    init(_ endpoint: LineEndpoint) {
        switch endpoint {
        case .devices: self = .devices
        case .trunk: self = .trunk
        case .application: self = .application
        case .script: self = .script
        case .group: self = .group
        }
    }
}

// Any thread. Each returns at once; `then` is called on the signalling lane, and never once the server has stopped.
extension GatewayServer {
    /// The configured lines, in their order.
    public func lineSummaries(then: @escaping @Sendable ([LineSummary]) -> Void) {
        lane.post { host, now in then(host.endpoint.lineSummaries(at: now)) }
    }

    /// The line's calls, the newest first; nil when there is no such line.
    public func recents(ofLine number: Text, then: @escaping @Sendable ([RecentCall]?) -> Void) {
        lane.post { host, _ in then(host.endpoint.recents(ofLine: number)) }
    }

    /// False when there is no such line.
    public func setDoNotDisturb(_ isOn: Bool, ofLine number: Text, then: @escaping @Sendable (Bool) -> Void) {
        lane.post { host, now in then(host.endpoint.setDoNotDisturb(isOn, ofLine: number, at: now)) }
    }

    /// False when there is no such line.
    public func setBlocked(_ isBlocked: Bool, caller: CXHandle, ofLine number: Text, then: @escaping @Sendable (Bool) -> Void) {
        lane.post { host, now in then(host.endpoint.setBlocked(isBlocked, caller: caller, ofLine: number, at: now)) }
    }

    /// Asks the far end of a call to call somebody else (REFER). False when there is no such call that is connected, or another transfer is
    /// under way.
    public func refer(_ call: UUID, to target: URI, then: @escaping @Sendable (Bool) -> Void) {
        lane.post { host, now in then(host.endpoint.refer(call, to: target, at: now)) }
    }
}
