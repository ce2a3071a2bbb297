import Primitives

/// Why an INVITE or a REGISTER from outside was refused: `cause` and `reason` of `call.refused` and `register.refused`.
///
/// The gateway counts refusals by cause with the same words.
public enum RequestRefusal: String, CaseIterable, Sendable {
    // The callee.
    case unknownNumber = "unknown-number"
    case noNumber = "no-number"
    case unknownDomain = "unknown-domain"
    case noDevice = "no-device"
    case unreachable
    case notSecure = "not-secure"
    case loop
    case merged

    // The permission of the caller.
    case credentialsAsked = "credentials-asked"
    case wrongPassword = "wrong-password"
    case throttled
    case forbidden
    case doNotDisturb = "do-not-disturb"
    case blocked

    // The room that is left.
    case lineFull = "line-full"
    case legs
    case callRate = "call-rate"
    case ports
    case contacts
    case users
    case draining

    // The contents of the request.
    case codec
    case encryption
    case mediaAddress = "media-address"
    case malformed
    case replaces

    /// For a person, without a full stop.
    public var words: Text {
        switch self {
        case .unknownNumber: "no line has this number"
        case .noNumber: "the Request-URI names no number"
        case .unknownDomain: "the domain is not one of the gateway's"
        case .noDevice: "no device of the line is registered"
        case .unreachable: "the line's servers cannot be reached"
        case .notSecure: "the caller wants TLS all the way (sips), and no device of the line has it"
        case .loop: "the call came back to where it had been"
        case .merged: "the same INVITE is being handled already"
        case .credentialsAsked: "a password is asked for"
        case .wrongPassword: "wrong password"
        case .throttled: "too many wrong passwords"
        case .forbidden: "the caller may not call here"
        case .doNotDisturb: "Do Not Disturb"
        case .blocked: "the line has blocked the caller"
        case .lineFull: "the line has as many calls as it may have"
        case .legs: "the gateway has as many calls as it may have"
        case .callRate: "too many calls a second"
        case .ports: "no media port is free"
        case .contacts: "the line has as many devices as it may have"
        case .users: "too many users are registered"
        case .draining: "the gateway is about to stop"
        case .codec: "no codec in common"
        case .encryption: "one side demands encryption, and the other has none"
        case .mediaAddress: "the media address cannot be used"
        case .malformed: "the request cannot be understood"
        case .replaces: "the call that it wants to replace is not there"
        }
    }
}
