import Primitives

/// The name of a header field: case and compact forms do not matter (RFC 3261 §7.3.1, §7.3.3).
public struct HeaderName: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    let known: Known
    /// The name as given when it is none of ours.
    let other: Text

    init(_ known: Known) { (self.known, other) = (known, Text([])) }

    /// A name that is none of the known ones.
    init(other: Text) { (known, self.other) = (.other, other) }

    /// A name in its long or its compact form, in whatever case.
    public init(_ text: Text) {
        known = text.bytes.withUnsafeBufferPointer { Known(name: $0) }
        other = known == .other ? text : Text([])
    }

    /// As `init(_: Text)`, without making a `Text` of a known name.
    public init(stringLiteral value: StaticString) {
        known = Known(name: UnsafeBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount))
        other = known == .other ? Text(stringLiteral: value) : Text([])
    }

    /// As it is written: the long form of a known name.
    public var text: Text { known == .other ? other : Text(Array(known.bytes)) }
    public var description: String { text.description }

    /// Whether its long form begins so, in whatever case.
    public func hasPrefix(_ prefix: Text) -> Bool {
        known == .other ? other.bytes.withUnsafeBufferPointer { Self.hasPrefix($0, prefix) } : Self.hasPrefix(known.bytes, prefix)
    }

    private static func hasPrefix(_ name: UnsafeBufferPointer<UInt8>, _ prefix: Text) -> Bool {
        prefix.bytes.withUnsafeBufferPointer { wanted in
            guard wanted.count <= name.count else { return false }
            return wanted.indices.allSatisfy { asciiLowercased(wanted[$0]) == asciiLowercased(name[$0]) }
        }
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.known == right.known && (left.known != .other || left.other.equalsIgnoringCase(right.other))
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(known)
        if known == .other { hasher.combine(other.lowercased) }
    }
}

extension HeaderName {
    // Spelled as computed values so that using one costs nothing.
    /// RFC 3261 §20.42; compact form `v`.
    public static var via: Self { Self(.via) }
    /// RFC 3261 §20.20; compact form `f`.
    public static var from: Self { Self(.from) }
    /// RFC 3261 §20.39; compact form `t`.
    public static var to: Self { Self(.to) }
    /// RFC 3261 §20.8; compact form `i`.
    public static var callID: Self { Self(.callID) }
    /// RFC 3261 §20.16.
    public static var cseq: Self { Self(.cseq) }
    /// RFC 3261 §20.10; compact form `m`.
    public static var contact: Self { Self(.contact) }
    /// RFC 3261 §20.22.
    public static var maxForwards: Self { Self(.maxForwards) }
    /// RFC 3261 §20.14; compact form `l`.
    public static var contentLength: Self { Self(.contentLength) }
    /// RFC 3261 §20.15; compact form `c`.
    public static var contentType: Self { Self(.contentType) }
    /// RFC 3261 §20.12; compact form `e`.
    public static var contentEncoding: Self { Self(.contentEncoding) }
    /// RFC 3261 §20.11.
    public static var contentDisposition: Self { Self(.contentDisposition) }
    /// RFC 3261 §20.34.
    public static var route: Self { Self(.route) }
    /// RFC 3261 §20.30.
    public static var recordRoute: Self { Self(.recordRoute) }
    /// RFC 3327 §4.
    public static var path: Self { Self(.path) }
    /// RFC 3608.
    public static var serviceRoute: Self { Self(.serviceRoute) }
    /// RFC 3261 §20.19.
    public static var expires: Self { Self(.expires) }
    /// RFC 3261 §20.23.
    public static var minExpires: Self { Self(.minExpires) }
    /// RFC 3261 §20.5.
    public static var allow: Self { Self(.allow) }
    /// RFC 3261 §20.1.
    public static var accept: Self { Self(.accept) }
    /// RFC 3261 §20.37; compact form `k`.
    public static var supported: Self { Self(.supported) }
    /// RFC 3261 §20.32.
    public static var require: Self { Self(.require) }
    /// RFC 3261 §20.29.
    public static var proxyRequire: Self { Self(.proxyRequire) }
    /// RFC 3261 §20.40.
    public static var unsupported: Self { Self(.unsupported) }
    /// RFC 3261 §20.41.
    public static var userAgent: Self { Self(.userAgent) }
    /// RFC 3261 §20.35.
    public static var server: Self { Self(.server) }
    /// RFC 3261 §20.7.
    public static var authorization: Self { Self(.authorization) }
    /// RFC 3261 §20.28.
    public static var proxyAuthorization: Self { Self(.proxyAuthorization) }
    /// RFC 3261 §20.44.
    public static var wwwAuthenticate: Self { Self(.wwwAuthenticate) }
    /// RFC 3261 §20.27.
    public static var proxyAuthenticate: Self { Self(.proxyAuthenticate) }
    /// RFC 3261 §20.6.
    public static var authenticationInfo: Self { Self(.authenticationInfo) }
    /// RFC 3326 §2.
    public static var reason: Self { Self(.reason) }
    /// RFC 3261 §20.33.
    public static var retryAfter: Self { Self(.retryAfter) }
    /// RFC 3261 §20.43.
    public static var warning: Self { Self(.warning) }
    /// RFC 3262 §7.1.
    public static var rseq: Self { Self(.rseq) }
    /// RFC 3262 §7.2.
    public static var rack: Self { Self(.rack) }
    /// RFC 4028 §4; compact form `x`.
    public static var sessionExpires: Self { Self(.sessionExpires) }
    /// RFC 4028 §5.
    public static var minSE: Self { Self(.minSE) }
    /// RFC 3891 §6.1.
    public static var replaces: Self { Self(.replaces) }
    /// RFC 3515 §2.1; compact form `r`.
    public static var referTo: Self { Self(.referTo) }
    /// RFC 3892 §3; compact form `b`.
    public static var referredBy: Self { Self(.referredBy) }
    /// RFC 6665 §8.2.1; compact form `o`.
    public static var event: Self { Self(.event) }
    /// RFC 6665 §8.2.3.
    public static var subscriptionState: Self { Self(.subscriptionState) }
    /// RFC 6665 §8.2.2; compact form `u`.
    public static var allowEvents: Self { Self(.allowEvents) }
    /// RFC 3325 §9.1.
    public static var pAssertedIdentity: Self { Self(.pAssertedIdentity) }
    /// RFC 3323 §4.2.
    public static var privacy: Self { Self(.privacy) }
    /// RFC 3261 §20.36; compact form `s`.
    public static var subject: Self { Self(.subject) }
    /// RFC 3261 §20.17.
    public static var date: Self { Self(.date) }
    /// RFC 3261 §20.38.
    public static var timestamp: Self { Self(.timestamp) }

    /// The names that are recognised, so that looking one up compares a number. Others are `other` and keep their text.
    enum Known: UInt8, CaseIterable, Sendable {
        case other
        case via, from, to, callID, cseq, contact, maxForwards, contentLength, contentType, contentEncoding, contentDisposition
        case route, recordRoute, path, serviceRoute, expires, minExpires, allow, accept, supported, require, proxyRequire, unsupported
        case userAgent, server, authorization, proxyAuthorization, wwwAuthenticate, proxyAuthenticate, authenticationInfo
        case reason, retryAfter, warning, rseq, rack, sessionExpires, minSE, replaces, referTo, referredBy
        case event, subscriptionState, allowEvents, pAssertedIdentity, privacy, subject, date, timestamp

        /// The long form.
        var literal: StaticString {
            switch self {
            case .other: ""
            case .via: "Via"
            case .from: "From"
            case .to: "To"
            case .callID: "Call-ID"
            case .cseq: "CSeq"
            case .contact: "Contact"
            case .maxForwards: "Max-Forwards"
            case .contentLength: "Content-Length"
            case .contentType: "Content-Type"
            case .contentEncoding: "Content-Encoding"
            case .contentDisposition: "Content-Disposition"
            case .route: "Route"
            case .recordRoute: "Record-Route"
            case .path: "Path"
            case .serviceRoute: "Service-Route"
            case .expires: "Expires"
            case .minExpires: "Min-Expires"
            case .allow: "Allow"
            case .accept: "Accept"
            case .supported: "Supported"
            case .require: "Require"
            case .proxyRequire: "Proxy-Require"
            case .unsupported: "Unsupported"
            case .userAgent: "User-Agent"
            case .server: "Server"
            case .authorization: "Authorization"
            case .proxyAuthorization: "Proxy-Authorization"
            case .wwwAuthenticate: "WWW-Authenticate"
            case .proxyAuthenticate: "Proxy-Authenticate"
            case .authenticationInfo: "Authentication-Info"
            case .reason: "Reason"
            case .retryAfter: "Retry-After"
            case .warning: "Warning"
            case .rseq: "RSeq"
            case .rack: "RAck"
            case .sessionExpires: "Session-Expires"
            case .minSE: "Min-SE"
            case .replaces: "Replaces"
            case .referTo: "Refer-To"
            case .referredBy: "Referred-By"
            case .event: "Event"
            case .subscriptionState: "Subscription-State"
            case .allowEvents: "Allow-Events"
            case .pAssertedIdentity: "P-Asserted-Identity"
            case .privacy: "Privacy"
            case .subject: "Subject"
            case .date: "Date"
            case .timestamp: "Timestamp"
            }
        }

        var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount) }

        /// The compact forms of RFC 3261 §20 and of the extensions that are known here.
        private static func compact(_ letter: UInt8) -> Known {
            switch asciiLowercased(letter) {
            case 0x76: .via
            case 0x66: .from
            case 0x74: .to
            case 0x69: .callID
            case 0x6D: .contact
            case 0x6C: .contentLength
            case 0x63: .contentType
            case 0x65: .contentEncoding
            case 0x6B: .supported
            case 0x73: .subject
            case 0x72: .referTo
            case 0x62: .referredBy
            case 0x78: .sessionExpires
            case 0x6F: .event
            case 0x75: .allowEvents
            default: .other
            }
        }

        /// Whoever looks up many names fetches the table once.
        ///
        /// - Parameter readable: bytes from the name's first on that may be read, whatever they are.
        @inline(__always) init(name: UnsafeBufferPointer<UInt8>, readable: Int, in table: UnsafePointer<Entry>) {
            guard name.count > 1, let base = name.baseAddress, readable >= Folded.size else { self.init(name: name); return }
            self = Self.find(Folded(base), name.count, Self.slot(base, name.count), table)
        }

        init(name: UnsafeBufferPointer<UInt8>) {
            guard name.count > 1, let base = name.baseAddress, name.count <= Folded.size else {
                self = name.count == 1 ? Self.compact(name[0]) : .other
                return
            }
            self = Self.find(Folded(copying: name), name.count, Self.slot(base, name.count), Self.table)
        }

        @inline(__always) private static func find(_ name: Folded, _ count: Int, _ first: Int, _ table: UnsafePointer<Entry>) -> Known {
            var slot = first
            while table[slot].known != .other {
                if table[slot].isName(name, count) { return table[slot].known }
                slot = (slot &+ 1) & (tableSize &- 1)
            }
            return .other
        }

        /// The first bytes of a name, and whatever is behind it, in lower case as far as names go: 0x20 turns upper case into lower and
        /// leaves "-"; nothing else that may be in a line becomes a letter or "-" by it.
        struct Folded {
            /// No known name is longer.
            static var size: Int { 24 }

            var words: (UInt64, UInt64, UInt64)

            /// - Precondition: so many bytes can be read.
            @inline(__always) init(_ bytes: UnsafePointer<UInt8>) {
                let (bytes, fold) = (UnsafeRawPointer(bytes), UInt64(0x2020_2020_2020_2020))
                words = (
                    UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)) | fold,
                    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) | fold,
                    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)) | fold
                )
            }

            /// - Precondition: no more bytes than its size.
            init(copying name: UnsafeBufferPointer<UInt8>) {
                var copy = InlineArray<24, UInt8>(repeating: 0)
                for (index, byte) in name.enumerated() { copy[index] = byte }
                self = copy.span.withUnsafeBufferPointer { Folded($0.baseAddress!) }
            }
        }

        struct Entry {
            var known: Known
            var count: Int
            var name: Folded
            /// The bits of `name` that belong to the name are 1; the others are 0.
            var mask: (UInt64, UInt64, UInt64)

            init(_ known: Known) {
                let bytes = known.bytes
                (self.known, count, name) = (known, bytes.count, Folded(copying: bytes))
                func bits(_ word: Int) -> UInt64 { ~0 >> UInt64(64 - 8 * min(8, max(0, bytes.count - 8 * word))) }
                mask = (bits(0), bits(1), bits(2))
                name.words = (name.words.0 & mask.0, name.words.1 & mask.1, name.words.2 & mask.2)
            }

            @inline(__always) func isName(_ other: Folded, _ length: Int) -> Bool {
                let different =
                    (other.words.0 & mask.0) ^ name.words.0 | (other.words.1 & mask.1) ^ name.words.1 | (other.words.2 & mask.2)
                    ^ name.words.2
                return length == count && different == 0
            }
        }

        private static var tableSize: Int { 256 }

        /// Open addressing by length, first and last letter; less than a quarter full. Made once and never freed or changed.
        nonisolated(unsafe) static let table: UnsafePointer<Entry> = {
            let table = UnsafeMutablePointer<Entry>.allocate(capacity: tableSize)
            table.initialize(repeating: Entry(.other), count: tableSize)
            for known in allCases where known != .other {
                let name = known.literal
                var slot = slot(name.utf8Start, name.utf8CodeUnitCount)
                while table[slot].known != .other { slot = (slot + 1) & (tableSize - 1) }
                table[slot] = Entry(known)
            }
            return UnsafePointer(table)
        }()

        @inline(__always) private static func slot(_ name: UnsafePointer<UInt8>, _ count: Int) -> Int {
            (count &* 37 &+ Int(name[0] | 0x20) &* 11 &+ Int(name[count - 1] | 0x20) &* 5) & (tableSize - 1)
        }
    }
}
