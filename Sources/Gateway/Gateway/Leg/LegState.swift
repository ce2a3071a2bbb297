import Audio
import CallKit
import Foundation
import Media
import Primitives

// Parts of the state of a leg.
extension Leg {
    /// Responses that its caller got while it rings.
    struct Alerting {
        /// Incoming: the caller was sent 180.
        var isAlerted = false
        /// Outgoing: the early dialog that the caller has with this fork (RFC 6228).
        var forkTag: Text?
    }

    /// Lines other than that of the call.
    struct Lines {
        /// The line that was called, with whose settings: not that of the call where the leg is the target of a transfer.
        unowned var called: Line
        /// The line whose device an outgoing leg calls.
        unowned let device: Line?
        /// The line whose device or trunk took the call, where another was called.
        var taker: Line?
    }

    /// Whether anybody is reached by an outgoing leg.
    struct Reach {
        /// It is not told who calls (RFC 3323).
        let hidesCaller: Bool
        /// A response came from where it calls, if only to say that it is to be called elsewhere.
        var hasSpoken = false
        /// Nothing came from the device that it calls: nobody waits for it.
        var isSilent = false
    }

    /// Hold, and what is heard meanwhile.
    struct Hold {
        /// Is done when the far end has agreed to it.
        var resume: CXSetHeldCallAction?
        /// Refusals of the resume that is wanted.
        var attempts = 0
        /// Hold music: played to it while the other leg of its bridge is held by its far end.
        var music: WAV?
        /// The other leg of its bridge is held by its far end, which goes on sending.
        var hearsHolder = false

        /// The hold of the other leg is not passed on to it, but makes it hear something.
        var isEntertained: Bool { music != nil || hearsHolder }
    }

    struct Sound {
        /// didActivate came for it, or it was admitted to a session that is on; gone when it is held.
        var hasSession = false
        /// A packet came from the far end.
        var hasHeard = false
        /// The far end is sent silence.
        var isMuted = false
        /// The other end of its sound.
        var place = Place.partner
        /// The program that speaks and hears.
        var stream: LegStream?
    }

    /// The other end of the sound of a leg.
    enum Place: Equatable {
        /// The one that it talks with, or its application.
        case partner
        /// All others of this number.
        case conference(UInt64)
        /// Nobody: it waits.
        case alone
    }

    /// Replacement of another leg.
    struct Succession {
        /// The leg whose place this one takes when it is answered (RFC 3891).
        var replaces: UUID?
        /// An incoming leg that took the place of one whom its line had called.
        var standsForCallee = false
        /// The callee of an incoming leg was transferred away from it, and the party that it talks with is of another line.
        var isHandedOn = false
    }
}
