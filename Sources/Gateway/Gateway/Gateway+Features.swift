import CallKit
import Foundation
import Primitives
import UserAgent

/// What a line's user sets while the gateway runs, from code: what feature codes do, too.
extension Gateway {
    /// The line of just this number; nil when there is none.
    func line(numbered number: Text) -> Line? { routing.line(numbered: number).map { lines[$0] } }

    /// False when there is no such line.
    @discardableResult
    public func setDoNotDisturb(_ isOn: Bool, ofLine number: Text, at now: Instant) -> Bool {
        enter(now)
        return line(numbered: number).map { setDoNotDisturb(isOn, of: $0) } != nil
    }

    /// Whether a call to the line would be turned away by Do Not Disturb now, VIPs aside; nil when there is no such line.
    public func isDoNotDisturbOn(ofLine number: Text, at now: Instant) -> Bool? {
        enter(now)
        return line(numbered: number)?.features.isDoNotDisturbOn
    }

    /// Puts a caller on the line's block list, or takes it off. False when there is no such line.
    @discardableResult
    public func setBlocked(_ isBlocked: Bool, caller handle: CXHandle, ofLine number: Text, at now: Instant) -> Bool {
        enter(now)
        return line(numbered: number).map { setBlocked(isBlocked, handle, of: $0) } != nil
    }

    /// Asks this of every call to the line that its block list let through; nil lets it in. nil takes the filter away.
    public func setFilter(_ filter: CallSystem.Filter?, ofLine number: Text) { line(numbered: number)?.features.filter = filter }

    func setDoNotDisturb(_ isOn: Bool, of line: Line) {
        let state = line.features.setDoNotDisturb(isOn)
        store?.keep(.doNotDisturb(line: line.configuration.number.description, state))
        journal.record(.doNotDisturbChanged, line: line.configuration.number, at: now, [.on: .init(isOn)])
    }

    func pushBindingsChanged(of line: Line) {
        store?.keep(.pushBindings(line: line.configuration.number.description, line.features.pushBindings.bindings))
    }

    /// Devices that were registered when the gateway ran last are called again; from here on changes are kept.
    func restore(_ registrations: [SavedRegistration], epoch: Date, at now: Instant) {
        for (user, saved) in Dictionary(grouping: registrations, by: \.user).sorted(by: { $0.key < $1.key }) {
            registrar.restore(saved.compactMap { $0.contact(epoch: epoch, at: now) }, of: Text(user), at: now)
        }
        guard let store else { return }
        registrar.onChange = { user, contacts in
            store.keep(.registrations(user: user.description, contacts.map { SavedRegistration($0, user: user, epoch: epoch) }))
        }
    }

    func setBlocked(_ isBlocked: Bool, _ handle: CXHandle, of line: Line) {
        let key = CallerMatcher.key(of: handle)
        guard line.features.setBlocked(key, isBlocked) else { return }
        store?.keep(.blocked(line: line.configuration.number.description, caller: key, isBlocked))
        journal.record(.blockListChanged, line: line.configuration.number, at: now, [.on: .init(isBlocked), .remote: .init(handle.value)])
    }
}
