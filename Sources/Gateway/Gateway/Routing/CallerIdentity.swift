import CallKit
import Primitives
import SIP

/// The caller, as the called side is told.
struct CallerIdentity: Equatable {
    var user: Text?
    var host: Text
    var displayName: Text?
    /// It comes from a trusted source, or proved to be a line of ours.
    var isKnown = false
    /// It does not want those that it calls to know (RFC 3323, RFC 3325).
    var isPrivate = false

    /// Its name is the one of those who do not want to be named (RFC 3261 §8.1.1.3, RFC 3323 §4.1.1.3).
    var isAnonymous: Bool { user == nil || user == Self.nobody || host.equalsIgnoringCase(Self.nowhere) }
    private static let nobody: Text = "anonymous", nowhere: Text = "anonymous.invalid"
}

// As SIP and CallKit have it.
extension CallerIdentity {
    /// In our domain, or in that in which a trunk knows us.
    func name(towards trunk: Trunk?, domain: Text) -> NameAddress {
        NameAddress(displayName: displayName, uri: URI(user: user, host: trunk == nil ? domain : host))
    }

    /// The From of a caller who does not want to be known (RFC 3323 §4.1.1.3).
    static var anonymousName: NameAddress { NameAddress(displayName: "Anonymous", uri: URI(user: "anonymous", host: "anonymous.invalid")) }

    var update: CXCallUpdate { update(handle) }

    /// As `update`, with the handle that was made of it before.
    func update(_ handle: CXHandle) -> CXCallUpdate {
        let update = CXCallUpdate()
        update.remoteHandle = handle
        if !isPrivate, !isAnonymous { update.localizedCallerName = displayName?.description }
        return update
    }

    var handle: CXHandle {
        guard !isPrivate, !isAnonymous, let user else { return CXHandle(type: .generic, value: "anonymous") }
        return user.isNumber
            ? CXHandle(type: .phoneNumber, value: user.description) : CXHandle(type: .generic, value: "sip:\(user)@\(host)")
    }
}

extension CXHandle {
    /// The identity of a dialled number or name.
    convenience init(dialled: Text) { self.init(type: dialled.isNumber ? .phoneNumber : .generic, value: dialled.description) }
}

extension Text {
    /// Digits alone, and a plus.
    fileprivate var isNumber: Bool { bytes.allSatisfy { $0 >= 0x30 && $0 <= 0x39 || $0 == UInt8(ascii: "+") } }
}
