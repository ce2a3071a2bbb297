import Primitives

/// One hop of a request's way, and where its response goes (RFC 3261 §20.42, RFC 3581).
public struct Via: Hashable, Sendable, CustomStringConvertible {
    @usableFromInline struct Layout: Sendable {
        @usableFromInline var whole = Extent.none
        @usableFromInline var transport = Extent.none
        @usableFromInline var host = Extent.none
        @usableFromInline var parameters = Extent.none
        /// As `Reader.takeParameters(noting:)` has it.
        @usableFromInline var branch = Extent.none
        /// -1 without a port.
        @usableFromInline var port: Int32 = -1
    }

    @usableFromInline private(set) var buffer: [UInt8]
    @usableFromInline private(set) var layout: Layout

    @inlinable init(buffer: [UInt8], layout: Layout) { (self.buffer, self.layout) = (buffer, layout) }

    /// The Via of a request that we send.
    /// - Parameters:
    ///   - transport: `UDP`, `TCP`, `TLS` ...
    ///   - host: our host name or address; IPv6 gets its brackets.
    ///   - branch: with the magic cookie `z9hG4bK`.
    ///   - asksForPort: adds `;rport`, so that the answer comes back to the port that we sent from (RFC 3581 §3).
    ///   - asksForReuse: adds `;alias`: requests to that host and port may come over this connection (RFC 5923 §8.1).
    /// - Precondition: transport and branch are tokens and host is a host.
    public init(transport: Text, host: Text, port: UInt16?, branch: Text, asksForPort: Bool = true, asksForReuse: Bool = false) {
        self.init(transport: transport, host: host, port: port) { bytes in
            bytes += ";branch=" as StaticString
            bytes += branch
            if asksForPort { bytes += ";rport" as StaticString }
            if asksForReuse { bytes += ";alias" as StaticString }
        }
    }

    init(transport: Text, host: Text, port: UInt16?, parameters: Parameters) {
        self.init(transport: transport, host: host, port: port) { $0 += parameters.text }
    }

    private init(transport: Text, host: Text, port: UInt16?, writeParameters: (inout [UInt8]) -> Void) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(96)
        bytes += "SIP/2.0/" as StaticString
        bytes += transport
        bytes.append(0x20)
        let needsBrackets = host.bytes.contains(0x3A) && host.bytes.first != 0x5B
        bytes += needsBrackets ? "[" + host + "]" : host
        if let port { bytes.append(0x3A); bytes.append(decimal: port) }
        writeParameters(&bytes)
        do { try self.init(reading: bytes) } catch { preconditionFailure("not a Via: \(Text(bytes))") }
    }

    /// Throws for what is not one Via, and for what follows it.
    public init(parsing text: Text) throws(SyntaxError) { try self.init(reading: Array(text.bytes)) }

    private init(reading buffer: [UInt8]) throws(SyntaxError) {
        self.buffer = buffer
        layout = try buffer.read { reader throws(SyntaxError) in
            var layout = Layout()
            try layout.read(&reader)
            reader.skipSpace()
            guard reader.isAtEnd else { throw .trailingText }
            return layout
        }
    }

    /// The way back of a broken request: transport and sent-by, and the parameters before the first that cannot be read, by which the
    /// sender knows its own.
    init(salvaging text: Text) throws(SyntaxError) {
        let ends = text.bytes.indices.filter { text.bytes[$0] == 0x3B }.prefix(Self.salvagedParameters) + [text.bytes.endIndex]
        for end in ends.dropFirst().reversed() {
            guard let via = try? Via(parsing: Text(text.bytes[..<end])) else { continue }
            self = via
            return
        }
        self = try Via(parsing: Text(text.bytes[..<ends[0]]))
    }

    private static let salvagedParameters = 16

    /// As it stands on the wire.
    @inlinable public var text: Text { buffer[layout.whole] }
    public var description: String { text.description }

    public static func == (left: Self, right: Self) -> Bool { left.text == right.text }
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// `UDP`, `TCP`, `TLS` ... as written.
    @inlinable public var transport: Text { buffer[layout.transport] }
    /// The sent-by host as written: IPv6 in brackets.
    @inlinable public var host: Text { buffer[layout.host] }
    /// The sent-by port; nil means the transport's default.
    @inlinable public var port: UInt16? { layout.port < 0 ? nil : UInt16(truncatingIfNeeded: layout.port) }

    /// Whether both name the same sender, however its address is spelled and whether or not a default port is written (RFC 3261 §18.1.2).
    public func hasSentBy(of other: Via) -> Bool {
        let standard: UInt16 = other.transport.equalsIgnoringCase("TLS" as StaticString) ? 5061 : 5060
        guard port ?? standard == other.port ?? standard else { return false }
        if host.equalsIgnoringCase(other.host) { return true }
        return host.referredAddress.map { $0 == other.host.referredAddress } ?? false
    }

    /// `branch`, `received`, `rport`, `keep` and what else there is.
    public var parameters: Parameters {
        get { Parameters(checked: buffer[layout.parameters]) }
        set { self = Via(transport: transport, host: host, port: port, parameters: newValue) }
    }

    /// Names the transaction (RFC 3261 §17.2.3).
    @inlinable public var branch: Text? { @inline(__always) get { buffer.meaning(layout.branch) } }
    /// The beginning of every branch of RFC 3261 (§8.1.1.7).
    public static let magicCookie: Text = "z9hG4bK"

    /// Whether the branch names the transaction: a sender of RFC 2543 has none that does.
    public var hasMagicCookie: Bool { branch.map { $0.count > Self.magicCookie.count && $0.hasPrefix(Self.magicCookie) } ?? false }

    /// The address that the request came from, as the next hop saw it; IPv6 with or without brackets (RFC 5118 §4.5).
    public var received: Text? { parameters.value(of: "received") }
    /// The port that the request came from; nil when the parameter is missing or has no value yet.
    public var rport: UInt16? { parameters.value(of: "rport").flatMap { $0.integer(UInt16.self) } }
    /// Whether the sender asked for `rport` to be filled in.
    public var asksForPort: Bool { parameters.contains("rport" as StaticString) }

    /// Whether requests to the sent-by address may go over the connection that this came over (RFC 5923 §8.1).
    public var asksForReuse: Bool { parameters.contains("alias" as StaticString) }

    /// Notes where the request came from: `received` when that is not the sent-by address, `rport` when it was asked for, and
    /// then `received` always (RFC 3261 §18.2.1, RFC 3581 §4). Values that the sender wrote there itself are replaced.
    public mutating func stamp(source: SocketAddress) {
        let asks = asksForPort
        let isElsewhere = host.referredAddress != source.address
        guard asks || isElsewhere || received != nil else { return }
        var parameters = self.parameters
        parameters["received"] = asks || isElsewhere ? Text("\(source.address)") : nil
        if asks { parameters["rport"] = Text(source.port) }
        self.parameters = parameters
    }
}

extension Via.Layout {
    /// The same in another buffer, where it stands so much further behind.
    func moved(by shift: Int) -> Self {
        var layout = self
        (layout.whole, layout.transport, layout.host) = (whole.moved(by: shift), transport.moved(by: shift), host.moved(by: shift))
        (layout.parameters, layout.branch) = (parameters.moved(by: shift), branch.moved(by: shift))
        return layout
    }

    /// Reads one Via element; ends before the "," of the next one. As all `read` of layouts: into one that was empty, without a copy.
    mutating func read(_ reader: inout Reader) throws(SyntaxError) {
        reader.skipSpace()
        let start = reader.at
        if !reader.skip("SIP/2.0/") { try Self.skipProtocol(&reader) }
        reader.skipSpace()
        transport = reader.take(.token)
        guard !transport.isEmpty, reader.next == 0x20 || reader.next == 0x09 else { throw .malformed }
        reader.skipSpace()
        host = try reader.takeHost()
        var end = reader.at
        reader.skipSpace()
        if reader.skip(0x3A) {
            reader.skipSpace()
            port = Int32(try reader.takeNumber(maximum: 65_535))
            end = reader.at
        }
        parameters = try reader.takeParameters(noting: "branch", &branch)
        // Within the element all the same: blanks may follow it.
        if parameters.isEmpty { parameters = Extent(end, end) }
        whole = Extent(start, Int(parameters.end))
    }

    /// Name and version of the protocol are tokens: a request of another version is told so (RFC 4475 §3.1.2.16).
    private static func skipProtocol(_ reader: inout Reader) throws(SyntaxError) {
        for _ in 0..<2 {
            guard !reader.take(.token).isEmpty else { throw .malformed }
            reader.skipSpace()
            guard reader.skip(0x2F) else { throw .malformed }
            reader.skipSpace()
        }
    }
}
