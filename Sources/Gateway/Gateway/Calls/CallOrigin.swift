import CallKit
import Foundation
import Primitives

/// The origin of an incoming leg, for the recents of both lines.
final class CallOrigin {
    /// The line of ours that calls, as it proved; nil for anybody else.
    let line: Line?
    /// Call-ID and From tag of its INVITE.
    let attempt: Text
    let caller: CallerIdentity
    let handle: CXHandle
    let dialled: Text
    let began: Date
    var name: String?
    var connected: Date?
    /// Said outside for this call alone; nil: that of the line.
    var endpoint: LineEndpoint?
    /// The `id` in recents, where that is not the UUID of the call.
    var recentID: UUID?
    /// Not where it takes the place of another: the recents have the call as that one.
    var isInRecents = true

    init(line: Line?, attempt: Text, caller: CallerIdentity, handle: CXHandle, dialled: Text, began: Date) {
        (self.line, self.attempt, self.caller, self.handle, self.dialled, self.began) = (line, attempt, caller, handle, dialled, began)
    }
}
