import CallKit
import Foundation
import Media
import Primitives
import Runtime

/// One telephone: the CallKit system of one line with its provider, its controller, and the legs of its calls.
///
/// Both legs of a bridged call live here, on the line that was called; the bridge is their call group. Lives on the signalling lane.
final class Line {
    let index: Int
    private(set) var configuration: LineConfiguration
    let system: CallSystem
    let provider: CXProvider
    let calls: CallManager
    private(set) var observer: LineObserver?
    let features: LineFeatures
    var legs = IdentityTable<Leg>()
    /// Armed while its system waits for something.
    var timer: TimerToken?
    private var delegate: LineProviderDelegate?

    init(
        _ configuration: LineConfiguration, index: Int, features: LineFeatures, directories: CallDirectories?, clock: InlineHost,
        journal: Journal, at now: Instant
    ) {
        self.index = index
        self.configuration = configuration
        self.features = features
        system = CallSystem(configuration: Self.systemConfiguration(configuration), host: clock)
        features.attach(to: system, directories: directories)
        journal.record(.lineConfigured, line: configuration.number, at: now, [.scope: "perGroup"])
        provider = CXProvider(configuration: Self.providerConfiguration(configuration), system: system)
        calls = CallManager(controller: CXCallController(system: system))
        // Weak: calls that are up end when the line goes.
        let lineJournal = LineJournal(journal, line: configuration.number) { [weak self] call in self?.legs[call]?.ending }
        let observer = LineObserver(self, lineJournal)
        self.observer = observer
        system.journal = observer
        let delegate = LineProviderDelegate(line: self)
        self.delegate = delegate
        provider.setDelegate(delegate, queue: nil)
    }

    /// Other settings for the calls to come; those that are up go on.
    func adopt(_ configuration: LineConfiguration, statuses: RefusalStatuses) {
        self.configuration = configuration
        system.ringTimeout = configuration.ringTimeout
        provider.configuration = Self.providerConfiguration(configuration)
        features.adopt(configuration, statuses: statuses, of: system)
    }

    var keepsRecents: Bool { configuration.keepsRecents }

    /// Oldest first: what is done to all of them happens in the same order in each run.
    var legsInOrder: [Leg] { legs.values.sorted { $0.media.id.rawValue < $1.media.id.rawValue } }

    /// Whether a call to the line rings somewhere else than here.
    var rings: Bool {
        switch configuration.endpoint {
        case .application, .script: false
        case .devices, .trunk, .group: true
        }
    }

    /// Contacts that ring together; the registrar keeps no more for a line.
    static let mostDevices = 10

    private static func systemConfiguration(_ line: LineConfiguration) -> CallSystemConfiguration {
        var configuration = CallSystemConfiguration.line
        configuration.account = String(describing: line.number)
        configuration.ringTimeout = line.ringTimeout
        // The signalling lane is one thread at a time.
        configuration.isCalledByOneAtATime = true
        return configuration
    }

    /// Counts the lines with devices that ring for one call: the members of a group, else the line itself.
    private static func people(of line: LineConfiguration) -> Int {
        if case .group(let group) = line.endpoint { max(group.members.count, 1) } else { 1 }
    }

    private static func providerConfiguration(_ line: LineConfiguration) -> CXProviderConfiguration {
        let configuration = CXProviderConfiguration()
        configuration.maximumCallGroups = line.maximumCalls
        configuration.maximumCallsPerCallGroup = 1 + Self.mostDevices * people(of: line)
        configuration.supportedHandleTypes = line.handles
        configuration.includesCallsInRecents = line.keepsRecents
        return configuration
    }
}

extension LineConfiguration {
    fileprivate var keepsRecents: Bool { recents ?? (endpoint == .devices) }
}
