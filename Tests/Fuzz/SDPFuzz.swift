import Primitives
import SDP

/// libFuzzer's entry: any bytes are a description that writes itself as it was read, or an error; and any description
/// can be offered and answered without a trap. Built and run by `scripts/fuzz`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSDP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let local = LocalMedia(address: IPAddress(v4: 0xC000_020A), port: 20_000)
    if let description = try? SessionDescription(parsing: bytes) {
        precondition((try? SessionDescription(parsing: description.serialized())) == description, "it does not read as it was written")
    }
    var callee = OfferAnswer(local: local, sessionID: 4)
    for held in [false, true] where (try? callee.receive(offer: bytes)) != nil {
        guard let answer = try? callee.answer(direction: held ? .sendonly : .sendrecv) else {
            preconditionFailure("an offer without an answer")
        }
        precondition((try? SessionDescription(parsing: answer.description.serialized())) != nil, "an answer that does not parse")
    }
    var caller = OfferAnswer(local: local, sessionID: 8)
    _ = caller.offer()
    _ = try? caller.receive(answer: bytes)
    precondition(caller.state == .stable, "an answer leaves the exchange open")
    return 0
}
