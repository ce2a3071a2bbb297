import HTTP

/// libFuzzer's entry: any bytes are read as the requests of a connection, whole and in two pieces, to the same end. Built and run by
/// `scripts/fuzz`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = bytes.first else { return 0 }
    let whole = outputs([Array(bytes.dropFirst())])
    let cut = 1 + Int(first) * (bytes.count - 1) / 256
    let pieces = outputs([Array(bytes[1..<cut]), Array(bytes[cut...])])
    // Only a client whose content has not come yet waits for 100: that depends on the pieces.
    precondition(whole.filter { $0 != .wantsContinue } == pieces.filter { $0 != .wantsContinue }, "the pieces make a difference")
    for case .request(let request) in whole {
        precondition(request.body.count <= limits.body, "more content than the limit permits")
        precondition(!request.target.segments.contains { $0 == ".." || $0.utf8.contains(0) }, "a path that leads out")
        let again = HTTPReply(.ok, body: request.body)
        precondition(HTTPWriter.bytes(of: again, to: request.head.method, keepsAlive: true, date: "").count >= 40)
    }
    return 0
}

private let limits: HTTPRequestReader.Limits = {
    var limits = HTTPRequestReader.Limits()
    (limits.head, limits.fields, limits.body) = (1_024, 10, 256)
    return limits
}()

private func outputs(_ pieces: [[UInt8]]) -> [HTTPRequestReader.Output] {
    var reader = HTTPRequestReader(limits: limits), outputs: [HTTPRequestReader.Output] = []
    for piece in pieces {
        reader.receive(piece)
        while let output = reader.next() { outputs.append(output) }
    }
    return outputs
}
