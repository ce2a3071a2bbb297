import Streaming

/// libFuzzer's entry: any bytes are read as messages of a program, in both formats, and played. No more waits than may, and what comes out was
/// put in. Built and run by `scripts/fuzz`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzStream(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    for format in [StreamFormat.twilio, .raw(.l16(sampleRate: 8_000)), .raw(.opus)] {
        guard let session = try? StreamSession(format, StreamCall(call: "1", caller: "2", called: "3")) else { return 0 }
        for piece in bytes.split(separator: 0x0A) {
            if String(validating: piece, as: UTF8.self) != nil { session.receive(text: Array(piece)) }
            session.receive(binary: Array(piece))
        }
        play(session)
    }
    return 0
}

private func play(_ session: StreamSession) {
    let waiting = session.waiting
    var handed = 0, room = [Int16](repeating: 0, count: 333)
    while true {
        let count = room.withUnsafeMutableBufferPointer { session.hand(into: $0) }
        if count == 0 { break }
        handed += count
    }
    precondition(handed == waiting, "\(waiting) samples waited, and \(handed) came out")
    session.played(handed, underruns: 0, missing: 0)
    for case .text(let text) in session.takeOutputs() {
        precondition(String(validating: text, as: UTF8.self) != nil, "our own message is no text")
    }
}
