import Foundation
import Primitives

/// What was kept of one line.
public struct LineRecord: Sendable, Equatable {
    public var doNotDisturb: DoNotDisturbState?
    /// Keys of callers that the human blocked while the gateway ran.
    public var blocked: Set<String> = []

    /// The newest first.
    public var recents: [RecentCall] = []

    public var pushBindings: [PushBinding] = []

    public init() {}
}
