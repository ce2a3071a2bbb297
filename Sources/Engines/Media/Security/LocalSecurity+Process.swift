import Runtime
import SDP

extension LocalSecurity {
    /// The means of a leg of this process: fresh keys, one for each suite, and the certificate of the process; nothing where it is not to
    /// be encrypted.
    public static func ofThisProcess(_ policy: SRTPPolicy, keying: SRTPKeying, using random: inout any RandomNumberGenerator)
        -> LocalSecurity
    {
        guard policy != .off else { return LocalSecurity() }
        var security = LocalSecurity(policy, using: &random)
        security.keying = keying
        security.fingerprint = Fingerprint(.sha256, DTLSIdentity.ofThisProcess.fingerprint)
        return security
    }
}
