import HTTP

/// libFuzzer's entry: any bytes are read as the frames of a client and of a server, whole and in two pieces, to the same end; what is answered is
/// understood by the other role. Built and run by `scripts/fuzz`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebSocket(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = bytes.first else { return 0 }
    let cut = 1 + Int(first) * (bytes.count - 1) / 256
    for isServer in [true, false] {
        let whole = run(isServer, [Array(bytes.dropFirst())]), pieces = run(isServer, [Array(bytes[1..<cut]), Array(bytes[cut...])])
        precondition(whole.events == pieces.events && whole.output == pieces.output, "the pieces make a difference")
        for (index, event) in whole.events.enumerated() {
            switch event {
            case .text(let text):
                precondition(text.count <= limits.message && String(validating: text, as: UTF8.self) != nil, "no text, or too much of it")
            case .binary(let message): precondition(message.count <= limits.message, "more than the limit permits")
            case .ping(let payload), .pong(let payload): precondition(payload.count <= 125, "a control frame that is too long")
            case .closed, .failed: precondition(index == whole.events.count - 1, "something behind the last word")
            }
        }
        for case .failed(let code) in run(!isServer, [whole.output]).events { preconditionFailure("our own answer is wrong: \(code)") }
    }
    return 0
}

private let limits: WebSocketSession.Limits = {
    var limits = WebSocketSession.Limits()
    limits.message = 512
    return limits
}()

/// Masks that are the same in each run.
private struct Counter: RandomNumberGenerator {
    private var count: UInt64 = 0
    mutating func next() -> UInt64 {
        count += 1
        return count
    }
}

private func run(_ isServer: Bool, _ pieces: [[UInt8]]) -> (events: [WebSocketSession.Event], output: [UInt8]) {
    let session = isServer ? WebSocketSession(server: limits) : WebSocketSession(client: limits, random: Counter())
    var events: [WebSocketSession.Event] = [], output: [UInt8] = []
    for piece in pieces {
        events += session.receive(piece)
        output += session.takeOutput()
    }
    return (events, output)
}
