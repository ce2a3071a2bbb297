import Foundation

@testable import Audio

/// A folder of a test's own, which goes with it.
final class Folder: Sendable {
    let path = NSTemporaryDirectory() + "hookswitch-sound-\(UUID().uuidString)"

    init() { try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Both channels of a stereo file of 16-bit PCM or Opus, each by itself.
    static func stereo(_ path: String) throws -> (left: [Int16], right: [Int16], rate: Int) {
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        if bytes.starts(with: Array("OggS".utf8)) { return try opus(bytes) }
        let rate = Int(bytes[24]) | Int(bytes[25]) << 8, words = (bytes.count - 44) / 4
        func sample(_ index: Int, _ channel: Int) -> Int16 {
            let place = 44 + 4 * index + 2 * channel
            return Int16(bitPattern: UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8)
        }
        return ((0..<words).map { sample($0, 0) }, (0..<words).map { sample($0, 1) }, rate)
    }

    private static func opus(_ bytes: [UInt8]) throws -> ([Int16], [Int16], Int) {
        var packets = OggPackets(bytes)
        let head = try OpusHead(parsing: packets.next()?.bytes ?? [])
        var decoder = try OpusStreamsDecoder(head.streams, sampleRate: 48_000)
        _ = packets.next()
        var stereo: [Int16] = [], frame = [Int16](repeating: 0, count: 2 * OpusDecoder.longestPacket)
        while let packet = packets.next() {
            var room = frame.mutableSpan
            let count = try decoder.decode(packet.bytes.span, into: &room)
            stereo += frame[..<(2 * count)]
        }
        let heard = stereo.dropFirst(2 * head.preSkip)
        return (
            heard.enumerated().filter { $0.offset % 2 == 0 }.map(\.element),
            heard.enumerated().filter { $0.offset % 2 == 1 }.map(\.element), 48_000
        )
    }
}
