import Primitives
import SIP

/// What libFuzzer calls with each input: whatever the bytes are, nothing traps; what is read can be written and read again.
///
/// Built and run by `scripts/fuzz`; seeds are the messages of `Tests/Corpus`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSIP(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    fuzzMessage(bytes)
    fuzzStream(bytes)
    fuzzValues(Text(bytes))
    return 0
}

private func fuzzMessage(_ bytes: [UInt8]) {
    do {
        let message = try Message(parsing: bytes)
        let written = message.serialized()
        precondition(written.count <= bytes.count + 64, "grew")
        guard let again = try? Message(parsing: written) else { preconditionFailure("cannot read what was written") }
        precondition(again.serialized() == written, "unstable")
        _ = (
            message.vias, message.contacts, message.routes, message.recordRoutes, message.paths, message.reasons, message.expires,
            message.contentType
        )
        if let reduced = message.reducedToDescription {
            precondition(reduced.content.count <= message.content.count && reduced.reducedToDescription == nil, "reduced again")
            precondition((try? Message(parsing: reduced.serialized()))?.content == reduced.content, "cannot read what was reduced")
        }
        guard message.isRequest else { return }
        var response = Message.response(to: message, status: 200, toTag: "t")
        response.via.stamp(source: SocketAddress(.loopback, port: 1))
        response.to.displayName = response.from.displayName
        precondition((try? Message(parsing: response.serialized())) != nil, "cannot read our response")
    } catch {
        if case .reject(let rejection) = error { _ = rejection.response(toTag: "t") }
    }
}

/// The same bytes as a stream, whole and in two halves, give the same number of messages.
private func fuzzStream(_ bytes: [UInt8]) {
    var whole = StreamFramer()
    var halves = StreamFramer()
    let expected = whole.receive(bytes).count
    let middle = bytes.count / 2
    let found = halves.receive(Array(bytes[..<middle])).count + halves.receive(Array(bytes[middle...])).count
    precondition(found == expected, "the split mattered")
    precondition(whole.pendingBytes <= max(bytes.count, Limits.message))
}

/// Header values on their own: what is read is written so that it is read as the same.
private func fuzzValues(_ text: Text) {
    if let challenge = try? DigestChallenge(parsing: text) {
        precondition((try? DigestChallenge(parsing: challenge.value)) != nil, "challenge")
    }
    if let credentials = try? DigestCredentials(parsing: text) {
        precondition((try? DigestCredentials(parsing: credentials.value)) != nil, "credentials")
    }
    if let reason = try? Reason(parsing: text) { precondition((try? Reason(parsing: reason.value)) != nil, "reason") }
    if let parameters = try? Parameters(parsing: text) {
        var rewritten = Parameters()
        for (name, value) in parameters.all { rewritten[name] = value }
        precondition((try? Parameters(parsing: rewritten.text)) != nil, "parameters")
    }
    if let uri = try? URI(parsing: text), uri.isSIP {
        var changed = uri
        changed.port = 5_060
        precondition(changed.user == uri.user && changed.host == uri.host && uri.isEquivalent(to: uri), "uri")
    }
}
