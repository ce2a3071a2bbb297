@_exported import Foundation

/// The attributes that a Live Activity shows for as long as it lasts, and the state that changes.
public protocol ActivityAttributes: Decodable, Encodable {
    associatedtype ContentState: Decodable & Encodable & Hashable
}

public enum ActivityState: String, Codable, Hashable, Sendable {
    case active, ended, dismissed, stale, pending
}

/// The state of an activity, and until when it holds.
public struct ActivityContent<State: Decodable & Encodable & Hashable> {
    public var state: State
    public var staleDate: Date?
    public var relevanceScore: Double

    public init(state: State, staleDate: Date?, relevanceScore: Double = 0) {
        (self.state, self.staleDate, self.relevanceScore) = (state, staleDate, relevanceScore)
    }
}

extension ActivityContent: Sendable where State: Sendable {}

/// When an activity that has ended leaves the screen.
public struct ActivityUIDismissalPolicy: Hashable, Sendable {
    let date: Date?
    public static let `default` = ActivityUIDismissalPolicy(date: nil), immediate = ActivityUIDismissalPolicy(date: .distantPast)
    public static func after(_ date: Date) -> ActivityUIDismissalPolicy { ActivityUIDismissalPolicy(date: date) }
}

public struct PushType: Hashable, Sendable {
    let name: String
    public static let token = PushType(name: "token")
    public static func channel(_ id: String) -> PushType { PushType(name: id) }
}

/// The alert that an update comes with. Nobody is alerted.
public struct AlertConfiguration: Sendable {
    public enum AlertSound: Hashable, Sendable {
        case `default`
        case named(String)
    }

    public var title: String, body: String, sound: AlertSound
    public init(title: String, body: String, sound: AlertSound) {
        (self.title, self.body, self.sound) = (title, body, sound)
    }
}

/// Whether the user lets apps show activities: here always, and only while `hookswitchAllows` says so.
public final class ActivityAuthorizationInfo: @unchecked Sendable {
    private static let allows = ActivityLocked(true)
    public init() {}
    public var areActivitiesEnabled: Bool { Self.allows.value }
    public var frequentPushesEnabled: Bool { areActivitiesEnabled }

    /// The user's switch in the settings. Not on Apple systems.
    public static var hookswitchAllows: Bool {
        get { allows.value }
        set { allows.value = newValue }
    }
}

public enum ActivityAuthorizationError: Error {
    case denied, unsupported, visibility, globalMaximumExceeded, targetMaximumExceeded, attributesTooLarge, persistenceFailure
}

/// A Live Activity. It is kept for whoever looks, and nothing shows it.
public final class Activity<Attributes: ActivityAttributes>: Identifiable, @unchecked Sendable {
    public typealias ContentState = Attributes.ContentState

    public let id: String, attributes: Attributes
    private let held: ActivityLocked<(content: ActivityContent<ContentState>, state: ActivityState)>
    private let listeners = ActivityLocked<[AsyncStream<ActivityState>.Continuation]>([])

    private init(_ attributes: Attributes, _ content: ActivityContent<ContentState>) {
        (id, self.attributes, held) = (UUID().uuidString, attributes, ActivityLocked((content, .active)))
    }

    /// Begins an activity. Throws `denied` where the user does not want any.
    public static func request(
        attributes: Attributes, content: ActivityContent<ContentState>, pushType: PushType? = nil
    ) throws -> Activity<Attributes> {
        guard ActivityAuthorizationInfo().areActivitiesEnabled else { throw ActivityAuthorizationError.denied }
        let activity = Activity(attributes, content)
        Activities.all.update { $0.append(activity) }
        return activity
    }

    public static func request(
        attributes: Attributes, contentState: ContentState, pushType: PushType? = nil
    ) throws -> Activity<Attributes> {
        try request(attributes: attributes, content: ActivityContent(state: contentState, staleDate: nil), pushType: pushType)
    }

    /// Those of these attributes that have not left the screen.
    public static var activities: [Activity<Attributes>] { Activities.all.value.compactMap { $0 as? Activity<Attributes> } }

    public var content: ActivityContent<ContentState> { held.value.content }
    public var contentState: ContentState { content.state }
    public var activityState: ActivityState { held.value.state }
    /// No server pushes to it: nil, and none to come.
    public var pushToken: Data? { nil }
    public var pushTokenUpdates: AsyncStream<Data> { AsyncStream { $0.finish() } }

    /// The states from now on; the last is `.dismissed`, or `.ended` where it stays on the screen.
    public var activityStateUpdates: AsyncStream<ActivityState> {
        AsyncStream { continuation in
            guard activityState == .active else { return continuation.finish() }
            listeners.update { $0.append(continuation) }
        }
    }

    /// Has no effect once it has ended.
    public func update(_ content: ActivityContent<ContentState>, alertConfiguration: AlertConfiguration? = nil) async {
        held.update { if $0.state == .active { $0.content = content } }
    }

    public func update(using contentState: ContentState, alertConfiguration: AlertConfiguration? = nil) async {
        await update(ActivityContent(state: contentState, staleDate: nil), alertConfiguration: alertConfiguration)
    }

    /// Ends it. It leaves the screen at once, but where it is to stay until a date that has not come.
    public func end(_ content: ActivityContent<ContentState>?, dismissalPolicy: ActivityUIDismissalPolicy = .default) async {
        let leaves = dismissalPolicy != .default && (dismissalPolicy.date ?? .distantPast) <= Date()
        held.update { held in
            if let content { held.content = content }
            held.state = leaves ? .dismissed : .ended
        }
        if leaves { Activities.all.update { $0.removeAll { $0 === self } } }
        let told = listeners.update { listeners in
            defer { listeners = [] }
            return listeners
        }
        for listener in told {
            listener.yield(activityState)
            listener.finish()
        }
    }

    public func end(using contentState: ContentState? = nil, dismissalPolicy: ActivityUIDismissalPolicy = .default) async {
        await end(contentState.map { ActivityContent(state: $0, staleDate: nil) }, dismissalPolicy: dismissalPolicy)
    }
}

private enum Activities {
    static let all = ActivityLocked<[AnyObject]>([])
}

/// A value behind a lock.
final class ActivityLocked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var held: Value
    init(_ value: Value) { held = value }

    var value: Value {
        get { lock.withLock { held } }
        set { lock.withLock { held = newValue } }
    }

    @discardableResult
    func update<Result>(_ change: (inout Value) -> Result) -> Result { lock.withLock { change(&held) } }
}
