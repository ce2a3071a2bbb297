import Primitives

@testable import SDP

extension LocalSecurity {
    /// Keys out of a seed.
    static func test(_ policy: SRTPPolicy, seed: UInt64 = 1) -> LocalSecurity {
        var random = SeededRandom(seed: seed)
        return LocalSecurity(policy, using: &random)
    }

    func key(_ suite: SRTPSuite) -> SRTPKey { keys.first { $0.suite == suite }! }
}

/// An engine with that policy, and keys that are like no other engine's of another seed.
func engine(_ policy: SRTPPolicy, seed: UInt64 = 1, _ change: (inout LocalSecurity) -> Void = { _ in }) -> OfferAnswer {
    var local = here
    local.security = .test(policy, seed: seed)
    change(&local.security)
    return engine(local)
}

/// An offer of PCMU over any profile, with lines to add to the stream.
func offer(over profile: String, _ lines: String...) -> [UInt8] {
    body(
        "v=0\no=- 77 1 IN IP4 198.51.100.5\ns=-\nc=IN IP4 198.51.100.5\nt=0 0\nm=audio 4000 \(profile) 0\n" + lines.joined(separator: "\n"))
}

extension SessionDescription {
    func values(_ name: Text) -> [String] { media[0].attributes.filter { $0.name == name }.compactMap { $0.value?.description } }
}
