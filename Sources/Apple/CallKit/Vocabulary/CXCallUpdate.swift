import Foundation

/// The changes that a provider wants to make to a call. A property that was never set is left as it is.
///
/// A new call whose capabilities were not set supports holding, grouping, ungrouping and DTMF, and has no video.
open class CXCallUpdate: NSObject, NSCopying, @unchecked Sendable {
    /// nil: never set. For the two optional properties the inner nil is "set to nothing".
    struct Fields: Sendable {
        var remoteHandle: CXHandle??
        var localizedCallerName: String??
        var supportsHolding: Bool?
        var supportsGrouping: Bool?
        var supportsUngrouping: Bool?
        var supportsDTMF: Bool?
        var hasVideo: Bool?
    }

    var fields = Fields()

    public override init() { super.init() }

    /// An update of its own, with what was set in this one.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = CXCallUpdate()
        copy.fields = fields
        return copy
    }

    /// Only what was set.
    open override var description: String {
        describe(
            [
                fields.remoteHandle.map { Detail("remoteHandle", $0?.description ?? "nil") },
                fields.localizedCallerName.map { Detail("localizedCallerName", $0 ?? "nil") },
                fields.supportsHolding.map { Detail("supportsHolding", $0) },
                fields.supportsGrouping.map { Detail("supportsGrouping", $0) },
                fields.supportsUngrouping.map { Detail("supportsUngrouping", $0) },
                fields.supportsDTMF.map { Detail("supportsDTMF", $0) },
                fields.hasVideo.map { Detail("hasVideo", $0) },
            ].compactMap { $0 })
    }

    /// The address of the other party. Reads nil before it is set.
    open var remoteHandle: CXHandle? {
        get { fields.remoteHandle ?? nil }
        set { fields.remoteHandle = .some(newValue) }
    }
    /// The name of the other party as the app knows it; it goes before that of contacts and directories. Reads nil before it is set.
    open var localizedCallerName: String? {
        get { fields.localizedCallerName ?? nil }
        set { fields.localizedCallerName = .some(newValue) }
    }
    /// Whether the user may hold the call. Reads false before it is set.
    open var supportsHolding: Bool {
        get { fields.supportsHolding ?? false }
        set { fields.supportsHolding = newValue }
    }
    /// Whether the call may join a group. Reads false before it is set.
    open var supportsGrouping: Bool {
        get { fields.supportsGrouping ?? false }
        set { fields.supportsGrouping = newValue }
    }
    /// Whether the call may leave its group. Reads false before it is set.
    open var supportsUngrouping: Bool {
        get { fields.supportsUngrouping ?? false }
        set { fields.supportsUngrouping = newValue }
    }
    /// Whether the user may press keys. Reads false before it is set.
    open var supportsDTMF: Bool {
        get { fields.supportsDTMF ?? false }
        set { fields.supportsDTMF = newValue }
    }
    /// Whether the call has video. Reads false before it is set.
    open var hasVideo: Bool {
        get { fields.hasVideo ?? false }
        set { fields.hasVideo = newValue }
    }
}
