import Primitives

/// Reads the messages of a pcapng file that ``Pcapng`` wrote, piece by piece.
///
/// Files of other programs are read as far as they are little-endian and have IP packets with UDP (link type 101); other packets and blocks
/// are passed over, and so is media unless it is wanted.
public struct PcapngReader: Sendable {
    /// Why bytes cannot be read.
    public enum ReadError: Error, Equatable, Sendable, CustomStringConvertible {
        case noPcapng, otherByteOrder, damaged(at: Int)

        public var description: String {
            switch self {
            case .noPcapng: "is no pcapng file"
            case .otherByteOrder: "is a pcapng file of a big-endian machine"
            case .damaged(let place): "is damaged at byte \(place)"
            }
        }
    }

    private struct Interface { var isReadable: Bool, unit: UInt64 }

    /// Messages that the file says it lacks.
    public private(set) var dropped: UInt64 = 0
    /// Bytes of the last block, which is not here to its end.
    public var pendingBytes: Int { pending.count }
    private var pending: ArraySlice<UInt8> = []
    private var interfaces: [Interface] = []
    private var position = 0
    private static let longestBlock = 16 << 20
    private let readsMedia: Bool

    /// - Parameter readsMedia: hands over RTP and RTCP, too; these have a ``TracedMessage/mediaLength``.
    public init(readsMedia: Bool = false) { self.readsMedia = readsMedia }

    /// Takes in what comes next in the file.
    /// - Parameter each: gets each message that is whole.
    public mutating func feed(_ bytes: [UInt8], each: (TracedMessage) -> Void) throws(ReadError) {
        pending += bytes
        while pending.count >= 12 {
            let type = little32(0), length = Int(little32(4))
            if position == 0, type != Pcapng.section { throw .noPcapng }
            if type == Pcapng.section {
                guard little32(8) == Pcapng.byteOrder else {
                    throw position == 0 && little32(8) != Pcapng.byteOrder.byteSwapped ? .noPcapng : .otherByteOrder
                }
            }
            guard length >= 12, length % 4 == 0, length <= Self.longestBlock else { throw .damaged(at: position) }
            guard pending.count >= length else { return }
            guard little32(length - 4) == UInt32(length) else { throw .damaged(at: position) }
            let body = Array(pending[pending.startIndex + 8..<pending.startIndex + length - 4])
            try read(type, body, each)
            pending = pending.dropFirst(length)
            position += length
        }
        pending = ArraySlice(Array(pending))
    }

    private mutating func read(_ type: UInt32, _ body: [UInt8], _ each: (TracedMessage) -> Void) throws(ReadError) {
        switch type {
        case Pcapng.section: interfaces = []
        case Pcapng.interface where body.count >= 8: interfaces.append(Self.interface(body))
        case Pcapng.packet where body.count >= 20: if let message = message(body) { each(message) }
        case Pcapng.statistics where body.count >= 12:
            if let count = Self.options(body[12...])[5], count.count == 8 { dropped &+= Self.little(count) }
        default: break
        }
    }

    private static func interface(_ body: [UInt8]) -> Interface {
        let options = options(body[8...]), exponent = options[9]?.first ?? 6
        let unit: UInt64 = exponent <= 9 ? (0..<(9 - exponent)).reduce(1) { unit, _ in unit * 10 } : 0
        return Interface(isReadable: UInt16(body[0]) | UInt16(body[1]) << 8 == Pcapng.linkType, unit: unit)
    }

    private func message(_ body: [UInt8]) -> TracedMessage? {
        let number = Int(Self.little(body[0..<4])), captured = Int(Self.little(body[12..<16]))
        guard interfaces.indices.contains(number), interfaces[number].isReadable, captured <= body.count - 20,
            let datagram = DatagramHeaders.read(body[20..<20 + captured])
        else { return nil }
        let rest = 20 + (captured + 3) / 4 * 4
        let options = rest <= body.count ? Self.options(body[rest...]) : [:]
        let isMedia = options[1].map { Text($0) == Pcapng.media } ?? false
        guard !isMedia || readsMedia else { return nil }
        let isSent = (options[2]?.first ?? 1) & 3 == 2, time = Self.little(body[4..<8]) << 32 | Self.little(body[8..<12])
        var message = TracedMessage(
            isSent ? .sent : .received, options[1].flatMap { Transport(text: Text($0)) } ?? .udp,
            local: isSent ? datagram.source : datagram.destination, remote: isSent ? datagram.destination : datagram.source,
            wall: time &* interfaces[number].unit, bytes: Array(datagram.payload))
        if isMedia { message.mediaLength = Int(Self.little(body[16..<20])) - captured + message.bytes.count }
        return message
    }

    /// By their codes; of two with one code the first.
    private static func options(_ bytes: ArraySlice<UInt8>) -> [UInt16: ArraySlice<UInt8>] {
        var options: [UInt16: ArraySlice<UInt8>] = [:], rest = bytes
        while rest.count >= 4 {
            let code = UInt16(little(rest.prefix(2))), length = Int(little(rest.dropFirst(2).prefix(2)))
            guard code != 0, rest.count >= 4 + length else { break }
            if options[code] == nil { options[code] = rest.dropFirst(4).prefix(length) }
            rest = rest.dropFirst(4 + (length + 3) / 4 * 4)
        }
        return options
    }

    private func little32(_ offset: Int) -> UInt32 { UInt32(Self.little(pending.dropFirst(offset).prefix(4))) }

    private static func little(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
}
