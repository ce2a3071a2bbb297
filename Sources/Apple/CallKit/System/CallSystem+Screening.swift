import Foundation

// Identification and screening of callers: the user's contacts first, then the enabled call directories.

extension CallSystem {
    /// The name that the user's contacts have for a handle; nil: none. Called by reports, on their thread.
    public typealias Contacts = (CXHandle) -> String?

    /// The user's contacts. nil: there are none.
    public var contacts: Contacts? {
        get { core.withLock { $0.hooks.contacts } }
        set { setHook(\.contacts, newValue) }
    }

    /// Shows the settings of this telephone; what `CXCallDirectoryManager.openSettings` asks for.
    public var openSettings: (() -> Void)? {
        get { core.withLock { $0.hooks.openSettings } }
        set { setHook(\.openSettings, newValue) }
    }

    /// Takes the payloads of `CXProvider.reportNewIncomingVoIPPushPayload`, on the caller's thread. nil: the process lacks
    /// the entitlement.
    public var voipPush: (([AnyHashable: Any]) -> Void)? {
        get { core.withLock { $0.hooks.voipPush } }
        set { setHook(\.voipPush, newValue) }
    }

    /// The call directories; `.shared` unless set.
    public var directories: CallDirectories? {
        get { core.withLock { $0.hooks.directories } }
        set { setHook(\.directories, newValue) }
    }

    /// The call directories that the user has enabled, in the order in which they are asked.
    public var enabledDirectories: [String] {
        get { core.withLock { $0.enabledDirectories } }
        set { core.withLock { $0.enabledDirectories = newValue } }
    }

    /// This system's `CXCallDirectoryManager.sharedInstance`.
    public var directoryManager: CXCallDirectoryManager {
        core.withLock { core in
            let manager = core.directoryManager ?? CXCallDirectoryManager(self)
            core.directoryManager = manager
            return manager
        }
    }

    /// Screens an update's caller by contacts and directories.
    func screen(fields: CXCallUpdate.Fields) -> (verdict: CXErrorCodeIncomingCallError.Code?, identification: CallIdentification?) {
        guard let handle = fields.remoteHandle ?? nil else { return (nil, nil) }
        let (contacts, directories, enabled) = core.withLock { ($0.hooks.contacts, $0.hooks.directories, $0.enabledDirectories) }
        let contact = contacts?(handle).map(CallIdentification.contact)
        guard !enabled.isEmpty, let directories, let number = handle.hookswitchDirectoryNumber else { return (nil, contact) }
        let isScreened = contact == nil || configuration.directoriesBlockContacts
        let verdict = isScreened && directories.isBlocked(number, by: enabled) ? CXErrorCodeIncomingCallError.Code.filteredByBlockList : nil
        if let contact { return (verdict, contact) }
        let label = directories.label(of: number, in: enabled)
        return (verdict, label.map { .directory($0.label, extension: $0.identifier) })
    }

    /// The old hook goes outside of the lock: what it holds may come back here when it dies.
    func setHook<Hook>(_ path: WritableKeyPath<Hooks, Hook>, _ hook: Hook) {
        var hook = hook
        core.withLock { swap(&$0.hooks[keyPath: path], &hook) }
    }

    /// Decisions and actions of the system's owner on its behalf.
    struct Hooks {
        var filter: Filter?
        var contacts: Contacts?
        var openSettings: (() -> Void)?
        var voipPush: (([AnyHashable: Any]) -> Void)?
        var directories: CallDirectories? = .shared
    }
}
