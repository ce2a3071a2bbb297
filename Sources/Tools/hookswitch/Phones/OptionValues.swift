import Console
import Foundation
import Primitives
import SDP
import SIP
import UserAgent
import Workbench

/// The user of an address of record, and its domain where that is given.
struct Identity: Equatable {
    var user: Text
    var domain: Text?

    init(_ text: String, option: String) throws {
        let bare = text.hasPrefix("sip:") ? String(text.dropFirst(4)) : text
        let whole = bare.contains("@") ? bare : bare + "@localhost"
        guard let uri = try? URI(parsing: Text("sip:" + whole)), let user = uri.user, uri.port == nil, uri.password == nil else {
            throw Failure.usage("\(option) takes a line as 1001 or 1001@example.test, got '\(text)'")
        }
        self.user = user
        domain = bare.contains("@") ? uri.host : nil
    }
}

extension ExpectedSound {
    /// The value of `--expect`.
    init(option text: String) throws {
        guard let sound = Self(rawValue: text) else {
            let names = Self.allCases.map(\.rawValue)
            throw Failure.usage(
                "--expect is sound, prompt, echo or nothing, got '\(text)'\(SpellingSuggestion.hint(for: text, among: names))")
        }
        self = sound
    }
}

/// The value of `--codec`.
enum CodecList {
    static func parse(_ text: String) throws -> [Codec] {
        let codecs = try text.split(separator: ",", omittingEmptySubsequences: false).map { name -> Codec in
            guard let codec = Codec(catalogueName: Text(String(name))) else {
                throw Failure.usage(
                    "--codec knows no codec '\(name)'; there are \(Codec.catalogue.map(\.catalogueName.description).joined(separator: ", "))"
                )
            }
            return codec
        }
        guard Set(codecs).count == codecs.count else { throw Failure.usage("--codec names a codec twice: '\(text)'") }
        return codecs
    }
}

/// The value of `--ports` and of `media.ports`.
enum MediaPorts {
    /// `20000-20199`: several, of those that need no right; nil for anything else.
    static func range(_ text: String) -> ClosedRange<UInt16>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { $0.first == "+" ? nil : UInt16($0) }
        guard ends.count == 2, let first = ends[0], let last = ends[1], first >= 1024, last > first else { return nil }
        return first...last
    }
}

/// Numbers of options, with their bounds.
enum Bounded {
    static func seconds(_ value: Double, option: String, in range: ClosedRange<Double>) throws -> Duration {
        guard range.contains(value) else {
            throw Failure.usage(
                "\(option) takes seconds from \(short(range.lowerBound)) to \(short(range.upperBound)), got \(short(value))")
        }
        return .nanoseconds(Int64(value * 1e9))
    }

    static func whole(_ value: Int, option: String, of what: String, in range: ClosedRange<Int>) throws -> Int {
        guard range.contains(value) else {
            throw Failure.usage("\(option) takes \(what) from \(range.lowerBound) to \(range.upperBound), got \(value)")
        }
        return value
    }

    static func short(_ value: Double) -> String { value == value.rounded() && abs(value) < 1e9 ? "\(Int(value))" : "\(value)" }
}

extension SocketAddress {
    /// `127.0.0.1`, `[::1]:5062`, `localhost`, or a name that is looked for.
    ///
    /// - Parameter option: what it is the value of.
    /// - Throws: a `Failure`: 2 for what is no address and no name, 3 for a name that leads nowhere.
    init(ofServer text: String, option: String = "--server", over transport: Transport = .udp) throws {
        if let (host, port) = HostLookup.name(in: text) {
            self = try HostLookup.address(of: host, port: port, over: transport)
            return
        }
        guard let address = SocketAddress(text, defaultPort: transport.standardPort), address.port != 0, !address.address.isAny else {
            throw Failure.usage("\(option) takes an address or a name as 127.0.0.1, [::1]:5062 or sip.example.test, got '\(text)'")
        }
        try Self.refuseBothReadings(of: text, option: option)
        self = address
    }

    /// `::1:5060` is an address without a port, and was hardly meant as one.
    static func refuseBothReadings(of text: String, option: String) throws {
        if let readings = readings(of: text) {
            throw Failure.usage("\(option) is \(readings.0) or \(readings.1): write the brackets, got '\(text)'")
        }
    }

    /// Two readings of an IPv6 address without brackets, where its end may be a port of those that need no right, and what is before it is
    /// one that people write (loopback, or one of few groups): others end so by chance.
    static func readings(of text: String) -> (String, String)? {
        guard let colon = text.lastIndex(of: ":"), IPAddress(text)?.family == .v6, let port = UInt16(text[text.index(after: colon)...]),
            port >= 1024,
            IPAddress(String(text[..<colon]))?.family == .v6, text[..<colon].split(separator: ":").count <= 3
        else { return nil }
        return ("[\(text)]", "[\(text[..<colon])]:\(port)")
    }
}

extension String {
    /// The name of a file; an empty one, as of a variable of a shell that is not set, is none.
    func named(by option: String) throws -> String {
        guard !isEmpty else { throw Failure.usage("\(option) takes a file, got ''") }
        return self
    }
}
