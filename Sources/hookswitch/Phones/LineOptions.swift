import ArgumentParser
import Foundation
import Primitives
import SDP
import SIP
import UserAgent
import Workbench

/// Which line a telephone of ours is, and by what way it reaches the world: what `call` and `answer` share.
struct LineOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Register as this line first: 1001, or 1001@example.test.", valueName: "line"))
    var register: String?

    @Option(help: ArgumentHelp("The line's password, for digest challenges.", valueName: "password"))
    var password: String?

    @Option(help: ArgumentHelp("The server that everything is sent to: an address, with :PORT unless it is 5060.", valueName: "address"))
    var server: String?

    @Flag(help: "Speak TCP instead of UDP.")
    var tcp = false

    @Flag(help: "Encrypt the sound (SRTP), and refuse a call in the clear.")
    var srtp = false

    @Option(help: ArgumentHelp("What is offered or taken, best first: opus, g722, pcmu, pcma.", valueName: "codec,…"))
    var codec = "opus,g722,pcmu,pcma"

    /// The server's address, where one is given.
    func serverAddress() throws -> SocketAddress? {
        guard let server else { return nil }
        return try SocketAddress(ofServer: server)
    }

    /// The user and domain that `--register` names.
    func registration() throws -> Identity? { try register.map { try Identity($0, option: "--register") } }

    func codecs() throws -> [Codec] { try CodecList.parse(codec) }
}

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

/// The value of `--codec`.
enum CodecList {
    static func parse(_ text: String) throws -> [Codec] {
        let codecs = try text.split(separator: ",", omittingEmptySubsequences: false).map { name -> Codec in
            guard let codec = Codec(catalogueName: Text(String(name))) else {
                throw Failure.usage("--codec knows no codec '\(name)'; there are \(Codec.catalogue.map(\.catalogueName.description).joined(separator: ", "))")
            }
            return codec
        }
        guard Set(codecs).count == codecs.count else { throw Failure.usage("--codec names a codec twice: '\(text)'") }
        return codecs
    }
}

/// Numbers of options, with their bounds.
enum Bounded {
    static func seconds(_ value: Double, option: String, in range: ClosedRange<Double>) throws -> Duration {
        guard range.contains(value) else {
            throw Failure.usage("\(option) takes seconds from \(short(range.lowerBound)) to \(short(range.upperBound)), got \(short(value))")
        }
        return .nanoseconds(Int64(value * 1e9))
    }

    static func whole(_ value: Int, option: String, of what: String, in range: ClosedRange<Int>) throws -> Int {
        guard range.contains(value) else { throw Failure.usage("\(option) takes \(what) from \(range.lowerBound) to \(range.upperBound), got \(value)") }
        return value
    }

    static func short(_ value: Double) -> String { value == value.rounded() && abs(value) < 1e9 ? "\(Int(value))" : "\(value)" }
}

extension SocketAddress {
    /// `127.0.0.1`, `[::1]:5062`, `localhost`.
    init(ofServer text: String) throws {
        let local = text == "localhost" || text.hasPrefix("localhost:") ? "127.0.0.1" + text.dropFirst("localhost".count) : text
        guard let address = SocketAddress(local, defaultPort: 5060), address.port != 0, !address.address.isAny else {
            throw Failure.usage("--server takes an address as 127.0.0.1 or [::1]:5062 (names are not resolved in this version), got '\(text)'")
        }
        self = address
    }
}
