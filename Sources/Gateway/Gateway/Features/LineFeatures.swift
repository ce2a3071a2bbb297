import CallKit
import Foundation
import Primitives
import SIP

/// Features of one line beyond its calls: Do Not Disturb, the block list, contacts, and the right to call at all.
///
/// It is the filter of the line's `CallSystem`, and knows afterwards why it refused. Lives on the signalling lane.
final class LineFeatures {
    private(set) var configuration: LineConfiguration
    private(set) var statuses: RefusalStatuses
    private let date: () -> Date
    private var doNotDisturb: DoNotDisturbKeeper
    private var vips: CallerMatcher
    private var configuredBlocks: CallerMatcher
    private(set) var blocked: Set<String>
    var recents: RecentCalls
    /// The push bindings of its devices.
    var pushBindings: PushBindings
    /// The last caller, also while Do Not Disturb was on; no blocked one.
    var lastCaller: CXHandle?
    /// Conversations that devices of the line began, by the call that they are at the line that was called.
    var outgoing: Set<UUID> = []
    /// Calls to other lines that its devices, or its trunk, took: as members of a group, or by a transfer.
    var taken: Set<UUID> = []
    /// Further refusals by whoever embeds the gateway.
    var filter: CallSystem.Filter?
    /// The call that is being reported is let in, whoever it is from.
    var isOpen = false
    /// Why the report that was just made was refused here; nil: not here.
    private var refused: Refused?
    private var directories: CallDirectories?

    private enum Refused { case blockList, doNotDisturb(DoNotDisturbKeeper.Answer) }

    init(_ configuration: LineConfiguration, statuses: RefusalStatuses, recents limit: Int, kept: LineRecord, date: @escaping () -> Date) {
        self.configuration = configuration
        self.statuses = configuration.refusals.over(statuses)
        self.date = date
        doNotDisturb = DoNotDisturbKeeper(configuration.doNotDisturb, state: kept.doNotDisturb)
        vips = CallerMatcher(patterns: configuration.doNotDisturb.vips)
        configuredBlocks = CallerMatcher(patterns: configuration.block)
        blocked = kept.blocked
        recents = RecentCalls(limit: limit, kept: kept.recents)
        lastCaller = recents.lastCaller
        pushBindings = PushBindings(kept.pushBindings)
    }

    /// Binds the line's system to this.
    func attach(to system: CallSystem, directories: CallDirectories?) {
        self.directories = directories
        system.filter = { [unowned self] call, update in
            guard isOpen else { return verdict(on: call, update) }
            refused = nil
            return nil
        }
        system.directories = directories
        setCallers(of: system)
    }

    /// Other settings of the same line. What its user has set comes before them, as it did.
    func adopt(_ configuration: LineConfiguration, statuses: RefusalStatuses, of system: CallSystem) {
        self.configuration = configuration
        self.statuses = configuration.refusals.over(statuses)
        doNotDisturb.adopt(configuration.doNotDisturb)
        vips = CallerMatcher(patterns: configuration.doNotDisturb.vips)
        configuredBlocks = CallerMatcher(patterns: configuration.block)
        setCallers(of: system)
    }

    private func setCallers(of system: CallSystem) {
        system.enabledDirectories = configuration.directories
        let names = configuration.contacts
        system.contacts = names.isEmpty ? nil : { names[CallerMatcher.key(of: $0)] }
    }

    // MARK: Do Not Disturb and the block list

    var isDoNotDisturbOn: Bool { doNotDisturb.answer(at: date()) != .off }

    /// Turning it off inside a window of its schedule lets calls through until that window's end.
    func setDoNotDisturb(_ isOn: Bool) -> DoNotDisturbState {
        doNotDisturb.set(isOn, at: date())
        return doNotDisturb.state
    }

    /// False when nothing changed.
    func setBlocked(_ key: String, _ isBlocked: Bool) -> Bool {
        isBlocked ? blocked.insert(key).inserted : blocked.remove(key) != nil
    }

    /// The state as another gateway has it.
    func adopt(_ state: DoNotDisturbState) { doNotDisturb.adopt(state) }

    /// The block list of the line's users as another gateway has it.
    func adopt(blocked callers: Set<String>) { blocked = callers }

    func noteCaller(_ handle: CXHandle?) {
        guard let handle, !isBlocked(handle) else { return }
        lastCaller = handle
    }

    func isBlocked(_ handle: CXHandle) -> Bool {
        !blocked.isEmpty && blocked.contains(CallerMatcher.key(of: handle)) || configuredBlocks.contains(handle)
    }

    // MARK: Verdicts

    /// Whether a call would be refused, before it is a call: nobody is to be woken for it.
    func wouldRefuse(_ update: CXCallUpdate) -> Bool { refusal(of: update) != nil }

    /// The refusal that a caller would get, before there is a call; nil where it would be let in.
    func refusal(of update: CXCallUpdate) -> CallRefusal? {
        if let code = verdict(on: UUID(), update) { return refusal(of: CXErrorCodeIncomingCallError(code), callInfo: nil) }
        return isBlockedByDirectory(update) ? CallRefusal(.directory, statuses) : nil
    }

    private func isBlockedByDirectory(_ update: CXCallUpdate) -> Bool {
        guard let directories, let number = update.remoteHandle?.hookswitchDirectoryNumber else { return false }
        guard update.remoteHandle.map({ configuration.contacts[CallerMatcher.key(of: $0)] == nil }) ?? true else { return false }
        return configuration.directories.contains { directories.record(of: $0)?.data?.isBlocked(number) ?? false }
    }

    private func verdict(on call: UUID, _ update: CXCallUpdate) -> CXErrorCodeIncomingCallError.Code? {
        refused = nil
        guard configuration.takesCalls else { return .unentitled }
        let handle = update.remoteHandle
        if let handle, isBlocked(handle) {
            refused = .blockList
            return .filteredByBlockList
        }
        if let code = filter?(call, update) { return code }
        let answer = doNotDisturb.answer(at: date())
        guard answer != .off, !(handle.map(vips.contains) ?? false) else { return nil }
        refused = .doNotDisturb(answer)
        return .filteredByDoNotDisturb
    }

    /// The refusal that the caller gets for the report that was just refused.
    func refusal(of error: any Error, callInfo: Text?) -> CallRefusal {
        if let error = error as? CXErrorCodeRequestTransactionError, error.code == .maximumCallGroupsReached {
            return CallRefusal(.maximumCalls, statuses)
        }
        guard let code = (error as? CXErrorCodeIncomingCallError)?.code else { return CallRefusal(StatusTable.refusal(of: error)) }
        switch (code, refused) {
        case (.unentitled, _): return CallRefusal(.unentitled, statuses)
        case (.filteredByDoNotDisturb, .doNotDisturb(let answer)): return refusal(for: answer)
        case (.filteredByDoNotDisturb, _): return CallRefusal(.doNotDisturb, statuses)
        case (.filteredByBlockList, .blockList): return CallRefusal(.blockList, statuses)
        case (.filteredByBlockList, _): return byDirectory(callInfo)
        default: return CallRefusal(StatusTable.refusal(of: error))
        }
    }

    /// A window's end is when it is worth to try again (RFC 3261 §20.33).
    private func refusal(for answer: DoNotDisturbKeeper.Answer) -> CallRefusal {
        var refusal = CallRefusal(.doNotDisturb, statuses)
        if case .scheduled(let end) = answer {
            refusal.headers = [(.retryAfter, Text(max(1, Int(end.timeIntervalSince(date()).rounded(.up)))))]
        }
        return refusal
    }

    /// 608 names whom to ask for redress (RFC 8688 §3.2.1).
    private func byDirectory(_ callInfo: Text?) -> CallRefusal {
        var refusal = CallRefusal(.directory, statuses)
        if let callInfo, refusal.cause.status == 608 { refusal.headers = [("Call-Info", "<" + callInfo + ">;purpose=jwscard")] }
        return refusal
    }
}
