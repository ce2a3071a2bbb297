import Primitives
import UserAgent

// Another configuration while calls are up.
extension Gateway {
    /// Lines, trunks and limits of another configuration hold from now on. Calls that are up go on, also those of a line that is gone; who
    /// calls that is told that there is no such number. Registrations of lines that stay, and of trunks that are as they were, stay.
    ///
    /// All other settings stay as they were, and so do the limits that sockets and the database were made with (`recents`,
    /// `longestDatagram`). While the gateway drains, nothing changes.
    @discardableResult
    public func reconfigure(_ wanted: GatewayConfiguration, at now: Instant) -> ConfigurationChange {
        enter(now)
        guard !isDraining else { return ConfigurationChange() }
        var limits = wanted.limits
        (limits.recents, limits.longestDatagram) = (configuration.limits.recents, configuration.limits.longestDatagram)
        let hasOtherLimits = limits != configuration.limits
        context.adopt(wanted.lines, limits)
        var change = lineTable.adopt(wanted.lines, statuses: configuration.refusals) { line, index in
            let line = context.makeLine(line, index: index, kept: kept[line.number.description], directories: directories)
            line.observer?.listener = self
            return line
        }
        change.hasOtherLimits = hasOtherLimits
        if hasOtherLimits {
            (table.limit, registrar.userLimit) = (limits.legs, limits.users)
            admission.adopt(limits)
        }
        accounts.adopt(wanted.lines)
        registrar.dropUsersWithoutAccount()
        recorder.mailboxes.waiting?.reconfigure()
        trunks.reconfigure()
        journal.record(.configurationReloaded, at: self.now, change.details)
        settle()
        return change
    }

    /// Peers outside are told another address from now on: in calls that begin, and in registrations of ours, which are made again. It
    /// leads to ourselves now, and the one before does not.
    public func advertise(_ address: IPAddress, at now: Instant) {
        enter(now)
        context.advertise(address)
        policy.advertise(address)
        trunks.renewContacts()
        settle()
    }
}
