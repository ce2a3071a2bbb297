import Foundation
import Primitives
import SIP

/// A push to wake one device for one call (RFC 8599).
public struct PushMessage: Sendable, Equatable {
    /// `pn-provider`, `pn-prid` and `pn-param` of the device's Contact.
    public var provider: String, identifier: String, parameter: String?
    /// The number that is called.
    public var line: String
    /// The CallKit call that waits for the device.
    public var call: UUID
    /// The caller, for a device that shows it before it has registered.
    public var caller: String
    /// The name of the caller, for a display.
    public var name: String?

    public init(provider: String, identifier: String, parameter: String?, line: String, call: UUID, caller: String, name: String?) {
        (self.provider, self.identifier, self.parameter) = (provider, identifier, parameter)
        (self.line, self.call, self.caller, self.name) = (line, call, caller, name)
    }
}

/// Sends pushes, to whatever pushes further. Never waits: what came of one is told later, on any thread.
public protocol PushSender: AnyObject, Sendable {
    /// - Parameters:
    ///   - message: what is posted, and for which device.
    ///   - failed: why it was not taken; not called when it was.
    func send(_ message: PushMessage, failed: @escaping @Sendable (_ cause: String) -> Void)
}

/// The push address of a device that cannot be reached otherwise.
public struct PushBinding: Sendable, Equatable {
    /// `pn-provider` and `pn-prid` (RFC 8599 §4.1). The second is a secret.
    public var provider: Text, identifier: Text
    /// `pn-param`.
    public var parameter: Text?
    /// Forgotten then, unless it registers again.
    public var keptUntil: Date
    /// The identity of the device among those of its line, whatever it is pushed by: its `+sip.instance`, else the URI of its Contact;
    /// nil: not known.
    public var device: Text?

    public init(provider: Text, identifier: Text, parameter: Text?, keptUntil: Date, device: Text? = nil) {
        (self.provider, self.identifier, self.parameter, self.keptUntil) = (provider, identifier, parameter, keptUntil)
        self.device = device
    }

    func isSame(as other: PushBinding) -> Bool { isOf(other.device, provider: other.provider, identifier: other.identifier) }

    fileprivate func isOf(_ device: Text?, provider: Text?, identifier: Text?) -> Bool {
        self.device != nil && self.device == device || self.provider == provider && self.identifier == identifier
    }

    static func device(instance: Text?, _ uri: URI) -> Text { instance ?? uri.withoutPushParameters.text }
}

extension [PushBinding] {
    /// Takes away those of the device that a Contact is of.
    mutating func remove(of uri: URI, instance: Text?) {
        let device = PushBinding.device(instance: instance, uri), parameters = uri.parameters
        let (provider, identifier) = (parameters.value(of: "pn-provider"), parameters.value(of: "pn-prid"))
        removeAll { $0.isOf(device, provider: provider, identifier: identifier) }
    }
}

extension URI {
    /// Without `pn-prid` and the like: who has those can push to the device (RFC 8599 §13).
    var withoutPushParameters: URI {
        let all = parameters, kept = all.filter { !$0.lowercased.hasPrefix("pn-") }
        guard kept.text.count < all.text.count else { return self }
        var uri = self
        uri.parameters = kept
        return uri
    }
}

/// The push bindings of one line: what its devices' REGISTERs said, beyond the end of their registrations.
struct PushBindings {
    private static let limit = 10
    /// Bytes of a Contact; what a longer one says of pushes is not looked at.
    private static let longest = 2_048
    private(set) var bindings: [PushBinding]

    init(_ bindings: [PushBinding] = []) { self.bindings = bindings }

    func current(at date: Date) -> [PushBinding] { bindings.filter { $0.keptUntil > date } }

    /// Takes over what an accepted REGISTER says of pushes: of each device what it said last (RFC 8599 §4.1.2). One that unregisters, or
    /// says nothing of pushes any more, does not want to be woken. True when something changed.
    mutating func apply(_ request: Message, at date: Date, keep: TimeInterval) -> Bool {
        guard !request.contactIsWildcard else {
            defer { bindings = [] }
            return !bindings.isEmpty
        }
        let before = bindings
        for contact in request.contacts where contact.uri.text.count + contact.parameters.text.count <= Self.longest {
            let instance = contact.parameters.value(of: "+sip.instance")
            bindings.remove(of: contact.uri, instance: instance)
            let parameters = contact.uri.parameters
            guard let provider = parameters.value(of: "pn-provider"), let identifier = parameters.value(of: "pn-prid"), !identifier.isEmpty
            else { continue }
            let parameter = parameters.value(of: "pn-param")
            let seconds = contact.parameters.value(of: "expires").map { $0.integer(Int.self) ?? 3_600 } ?? request.expires.map { Int($0) }
            guard seconds != 0 else { continue }
            bindings.insert(
                PushBinding(
                    provider: provider.detached, identifier: identifier.detached, parameter: parameter?.detached,
                    keptUntil: date.addingTimeInterval(keep),
                    device: PushBinding.device(instance: instance, contact.uri).detached), at: 0)
        }
        bindings = Array(bindings.filter { $0.keptUntil > date }.prefix(Self.limit))
        return bindings != before
    }
}
