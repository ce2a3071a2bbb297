/// Why a packet was not protected or not believed.
public enum SRTPRefusal: Error, Hashable, Sendable, CaseIterable {
    /// Shorter than its header says, not version 2, or without room for what a suite adds.
    case malformed
    /// The code at its end is not what the key makes of it: forged, damaged, or under another key.
    case forged
    /// Its index was taken before.
    case replayed
    /// Its index is below the replay window, so that nobody can say whether it was taken before.
    case tooOld
    /// An RTCP packet that is not encrypted (its E flag is clear), which was not agreed.
    case unencrypted
    /// A packet of ours whose index was used, or all of whose indices are: sending it would give the key stream away (RFC 3711 §9.1).
    case spent
}

/// Numbers of packets of one direction: those that passed, and those that did not, by cause.
public struct SRTPCounts: Hashable, Sendable {
    /// Packets that were genuine, and new.
    public var passed: UInt64 = 0
    /// By `SRTPRefusal`; `spent`: the key had protected as many packets as it may.
    public var malformed: UInt64 = 0, forged: UInt64 = 0, replayed: UInt64 = 0, tooOld: UInt64 = 0, unencrypted: UInt64 = 0,
        spent: UInt64 = 0

    /// Nothing has come.
    public init() {}

    /// Packets that did not pass, for whatever cause.
    public var refused: UInt64 { malformed + forged + replayed + tooOld + unencrypted + spent }

    mutating func count(_ refusal: SRTPRefusal) {
        switch refusal {
        case .malformed: malformed += 1
        case .forged: forged += 1
        case .replayed: replayed += 1
        case .tooOld: tooOld += 1
        case .unencrypted: unencrypted += 1
        case .spent: spent += 1
        }
    }
}
