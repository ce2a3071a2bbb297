/// The packets of the first logical stream in an Ogg file, one after the other. Pages that are damaged, and those of other streams, are
/// passed over.
///
/// The memory that it holds is bounded by the file and by `longestPacket`.
struct OggPackets {
    struct Packet {
        var bytes: [UInt8]
        /// The granule position of the page that it is the last to end on.
        var granule: Int64?
        /// The last of the stream.
        var ends = false
    }

    /// Longer packets are left out (RFC 7845 §6: no more need be taken of one or two channels).
    static let longestPacket = 61_440

    private let file: [UInt8]
    private var offset = 0
    private var serial: UInt32?
    private var sequence: UInt32 = 0
    private var waiting: ArraySlice<Packet> = []
    /// The part so far of a packet that goes on on the next page; nil where its beginning is missing.
    private var part: [UInt8]? = []
    private var hasEnded = false
    private var damaged = 0
    /// More that only look like pages are not looked at: each costs a checksum.
    private static let mostDamaged = 1_000

    init(_ file: [UInt8]) { self.file = file }

    mutating func next() -> Packet? {
        while waiting.isEmpty {
            guard !hasEnded, let page = nextPage() else { return nil }
            take(page)
        }
        return waiting.popFirst()
    }

    /// The next page of the stream, which the first page with a beginning opens.
    private mutating func nextPage() -> OggPage? {
        while damaged < Self.mostDamaged, let start = OggPage.search(file, from: offset) {
            guard let page = OggPage(parsing: file[start...]) else {
                (offset, damaged) = (start + 1, damaged + 1)
                continue
            }
            offset = start + page.size
            if serial == nil, page.begins { (serial, sequence) = (page.serial, page.sequence) }
            if page.serial == serial { return page }
        }
        return nil
    }

    private mutating func take(_ page: OggPage) {
        if page.sequence != sequence || !page.isContinued { part = page.isContinued ? nil : [] }   // pages are missing, or none goes on
        sequence = page.sequence &+ 1
        hasEnded = page.ends
        var packets: [Packet] = [], place = page.body.startIndex
        for length in page.lacing {
            append(page.body[place..<place + Int(length)])
            place += Int(length)
            guard length < 255 else { continue }
            if let whole = part { packets.append(Packet(bytes: whole)) }
            part = []
        }
        if !packets.isEmpty {
            packets[packets.count - 1].granule = page.granule == -1 ? nil : page.granule
            packets[packets.count - 1].ends = page.ends
        }
        waiting = packets[...]
    }

    private mutating func append(_ segment: ArraySlice<UInt8>) {
        guard let count = part?.count else { return }
        if count + segment.count > Self.longestPacket { part = nil } else { part?.append(contentsOf: segment) }
    }
}
