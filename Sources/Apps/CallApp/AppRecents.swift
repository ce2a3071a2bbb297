import CallKit
import Foundation
import Intents
import Primitives

/// A call that is over, as the user finds it in the recents.
public struct AppRecent: Hashable, Sendable {
    /// The UUID that CallKit had for it.
    public let call: UUID
    /// The other party.
    public let handle: CXHandle
    /// Whether the app's user called.
    public let isOutgoing: Bool
    /// Whether it was to have video.
    public let isVideo: Bool
    /// When it was dialled, as the app said it, or rang.
    public let started: Date
    /// When it was connected, as the app reported it; nil: never.
    public let connected: Date?
    /// When it was over.
    public let ended: Date
    /// From connected to ended; rings do not count.
    public var duration: TimeInterval { connected.map { ended.timeIntervalSince($0) } ?? 0 }
}

/// Why a recent call cannot be called back. The description is for the app's developer, to whom a telephone would say nothing.
public enum CallBackRefusal: Error, Hashable, CustomStringConvertible {
    /// The type of the handle is none of the provider's `supportedHandleTypes`.
    case handleTypeUnsupported(CXHandle.HandleType)
    /// The app did not take the activity.
    case notTaken

    public var description: String {
        switch self {
        case .handleTypeUnsupported(let type): "handleType unsupported: \(type) is not in the provider's supportedHandleTypes"
        case .notTaken: "the app did not take the activity"
        }
    }
}

/// The recents of one app: what its provider wants to be seen there, newest first, and the way back from an entry to a call.
public final class AppRecents {
    /// The newest first.
    public private(set) var entries: [AppRecent] = []
    /// Whether a tap is an `INStartAudioCallIntent` or `INStartVideoCallIntent`, as before iOS 13, and no `INStartCallIntent`.
    public var usesOlderIntents = false

    private struct Draft {
        var handle: CXHandle?
        var isOutgoing = false, isVideo = false
        var started: Date?, connected: Date?
    }

    private var drafts: [UUID: Draft] = [:]
    private weak var provider: CXProvider?
    /// Hears of calls back that are refused for the type of their handle, where nobody would see why.
    var onRefusal: (CXHandle) -> Void = { _ in }
    private let limit: Int

    /// - Parameters:
    ///   - provider: whose calls are kept.
    ///   - limit: entries that are kept.
    public init(of provider: CXProvider, limit: Int = 100) { (self.provider, self.limit) = (provider, limit) }

    /// Hands the activity of a start intent to the app, as a tap on the entry does.
    ///
    /// - Parameters:
    ///   - entry: whom to call back.
    ///   - open: `UIApplication.hookswitchContinue`, or what stands for it.
    public func callBack(_ entry: AppRecent, open: (NSUserActivity) -> Bool) throws(CallBackRefusal) {
        let types = provider?.configuration.supportedHandleTypes ?? []
        guard types.contains(entry.handle.type) else {
            onRefusal(entry.handle)
            throw .handleTypeUnsupported(entry.handle.type)
        }
        let person = INPerson(
            personHandle: INPersonHandle(value: entry.handle.value, type: entry.handle.type.personType), nameComponents: nil,
            displayName: nil, image: nil,
            contactIdentifier: nil, customIdentifier: nil)
        guard open(NSUserActivity(hookswitch: INInteraction(intent: intent(to: person, isVideo: entry.isVideo), response: nil))) else {
            throw .notTaken
        }
    }

    private func intent(to person: INPerson, isVideo: Bool) -> INIntent {
        guard usesOlderIntents else {
            return INStartCallIntent(
                callRecordFilter: nil, callRecordToCallBack: nil, audioRoute: .unknown, destinationType: .normal, contacts: [person],
                callCapability: isVideo ? .videoCall : .audioCall)
        }
        return isVideo ? INStartVideoCallIntent(contacts: [person]) : INStartAudioCallIntent(destinationType: .normal, contacts: [person])
    }

    /// Notes an event of the system, with the call as it was then where the event describes it.
    func note(_ event: CallSystemEvent, _ known: CallSnapshot?, at now: Date) {
        switch event {
        case .incomingAdmitted(let call):
            drafts[call, default: Draft()].started = now
            refresh(known)
        case .updated: refresh(known)
        case .actionPerformed(let action):
            guard case .start(let handle, let isVideo) = action.kind, let call = action.call else { return }
            drafts[call] = Draft(handle: handle, isOutgoing: true, isVideo: isVideo, started: now)
        case .actionFulfilled(let action, let date): if let call = action.call { note(action.kind, of: call, date, now) }
        case .connected(let call, let date): drafts[call]?.connected = date ?? now
        case .endReported(let call, _, let date): if let date { close(call, date) }
        case .callEnded(let call, _): close(call, now)
        default: break
        }
    }

    private func refresh(_ known: CallSnapshot?) {
        guard let known else { return }
        drafts[known.uuid, default: Draft()].handle = known.handle
        if !known.isOutgoing { drafts[known.uuid]?.isVideo = known.hasVideo }
    }

    /// Notes an action that the app has fulfilled, with the date that it gave.
    private func note(_ kind: CallAction.Kind, of call: UUID, _ given: Date?, _ now: Date) {
        switch kind {
        case .start: if let given { drafts[call]?.started = given }
        case .answer: drafts[call]?.connected = given ?? now
        case .end: if let given { close(call, given) }
        default: break
        }
    }

    private func close(_ call: UUID, _ ended: Date) {
        guard let draft = drafts.removeValue(forKey: call), let handle = draft.handle,
            provider?.configuration.includesCallsInRecents ?? false
        else { return }
        let entry = AppRecent(
            call: call, handle: handle, isOutgoing: draft.isOutgoing, isVideo: draft.isVideo, started: draft.started ?? ended,
            connected: draft.connected, ended: ended)
        entries.insert(entry, at: 0)
        if entries.count > limit { entries.removeLast() }
    }
}

extension CXHandle.HandleType {
    fileprivate var personType: INPersonHandleType {
        switch self {
        case .phoneNumber: .phoneNumber
        case .emailAddress: .emailAddress
        case .generic: .unknown
        }
    }
}
