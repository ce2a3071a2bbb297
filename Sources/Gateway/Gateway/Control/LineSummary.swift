import CallKit
import Foundation
import Primitives

/// A line as somebody outside sees it at a moment.
public struct LineSummary: Sendable {
    /// The kind of endpoint that answers its calls.
    public enum Kind: String, Sendable, CaseIterable { case devices, trunk, application, script, group }

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
