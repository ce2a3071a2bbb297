import CallKit
import Foundation
import Primitives
import SIP
import UserAgent

/// The services of lines beyond their calls: Do Not Disturb, block lists, recents, feature codes, and their state that survives a restart.
/// Lives on the signalling lane.
final class LineServices {
    let context: GatewayContext
    let table: CallTable
    let registrar: Registrar
    let dialogs: SharedDialogs
    /// The wall clock's date at `Instant.zero`, as registrations are kept by it.
    private(set) var epoch = Date(timeIntervalSince1970: 0)

    init(_ context: GatewayContext, _ table: CallTable, _ registrar: Registrar, _ dialogs: SharedDialogs) {
        (self.context, self.table, self.registrar, self.dialogs) = (context, table, registrar, dialogs)
    }

    var lines: LineTable { table.lines }

    func setDoNotDisturb(_ isOn: Bool, of line: Line) {
        let state = line.features.setDoNotDisturb(isOn)
        context.store?.keep(.doNotDisturb(line: line.configuration.number.description, state))
        context.journal.record(.doNotDisturbChanged, line: line.configuration.number, at: context.now, [.on: .init(isOn)])
    }

    func setBlocked(_ isBlocked: Bool, _ handle: CXHandle, of line: Line) {
        let key = CallerMatcher.key(of: handle)
        guard line.features.setBlocked(key, isBlocked) else { return }
        context.store?.keep(.blocked(line: line.configuration.number.description, caller: key, isBlocked))
        context.journal.record(
            .blockListChanged, line: line.configuration.number, at: context.now, [.on: .init(isBlocked), .remote: .init(handle.value)])
    }

    func pushBindingsChanged(of line: Line) {
        context.store?.keep(.pushBindings(line: line.configuration.number.description, line.features.pushBindings.bindings))
    }

    /// Devices that were registered when the gateway ran last are called again; from here on changes are kept.
    func restore(_ registrations: [SavedRegistration], epoch: Date) {
        self.epoch = epoch
        for (user, saved) in Dictionary(grouping: registrations, by: \.user).sorted(by: { $0.key < $1.key }) {
            registrar.restore(saved.compactMap { $0.contact(epoch: epoch, at: context.now) }, of: Text(user), at: context.now)
        }
        guard let store = context.store else { return }
        registrar.onChange = { user, contacts in
            store.keep(.registrations(user: user.description, contacts.map { SavedRegistration($0, user: user, epoch: epoch) }))
        }
    }

    /// Gives the number or address that the request dials, where the line's provider takes its type. A refusal is in the journal:
    /// a telephone would say nothing.
    func dialled(_ request: CallRequest, of line: Line) throws(CallRequestError) -> Text {
        guard !request.isVideo else { throw .video }
        let handle = request.handle
        guard line.provider.configuration.supportedHandleTypes.contains(handle.type) else {
            context.journal.record(
                .callBackRefused, line: line.configuration.number, at: context.now,
                [.error: "handleTypeUnsupported", .class: .init(handle.type.name), .remote: .init(handle.value)])
            throw .handleTypeUnsupported(handle.type)
        }
        let value = Text(handle.value)
        let uri = try? URI(parsing: value)
        // The call comes to us over no TLS, and nobody would know any more what was asked for.
        guard uri?.scheme != .sips else { throw .secure }
        let dialled = uri.flatMap { lines.routing.dialledNumber($0) } ?? value
        guard lines.line(for: dialled, host: line.configuration.domain ?? context.configuration.domain) != nil else { throw .noRoute }
        return dialled
    }
}
