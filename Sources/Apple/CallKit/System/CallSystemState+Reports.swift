import Foundation
import Primitives

// Reports of providers, and the life of providers themselves.

extension CallSystemState {
    mutating func register(_ provider: ProviderNumber, limits: GroupLimits, app: String?) {
        providers[provider] = Provider(limits: limits, app: app)
    }

    mutating func configure(_ provider: ProviderNumber, limits: GroupLimits) { providers[provider]?.limits = limits }

    /// The provider has a delegate.
    mutating func begin(_ number: ProviderNumber) {
        guard let provider = providers[number], !provider.hasBegun else { return }
        provider.hasBegun = true
        note(.providerBegan(provider: number))
        put(.begin(number))
    }

    /// Ends all calls of a provider. Invalidated: the provider is gone for good; else it begins anew.
    mutating func reset(_ number: ProviderNumber, invalidate: Bool) {
        guard let provider = providers[number] else { return }
        note(.providerReset(provider: number, invalidated: invalidate))
        put(.reset(number))
        for call in calls.values.filter({ $0.provider == number }).sorted(by: { $0.serial < $1.serial }) {
            end(call.uuid, .reset)
        }
        if invalidate {
            providers[number] = nil
        } else if provider.hasBegun {
            note(.providerBegan(provider: number))
            put(.begin(number))
        }
    }

    /// - Parameter verdict: what Do Not Disturb, block list and the like say; nil lets the call in.
    mutating func reportIncoming(
        _ uuid: UUID, update: CXCallUpdate.Fields, provider number: ProviderNumber,
        verdict: CXErrorCodeIncomingCallError.Code?, identification: CallIdentification?, at now: Instant
    ) {
        note(.incomingReported(uuid, update.remoteHandle ?? nil))
        if let error = refusalOfIncoming(uuid, provider: number, verdict: verdict) {
            note(.incomingRefused(uuid, error))
            return put(.answer(error))
        }
        let call = Call(uuid: uuid, provider: number, serial: nextSerial(), isOutgoing: false, isStarted: true)
        call.apply(update)
        call.identification = identification
        let group = newGroup()
        providers[number]?.groups.move(uuid, to: group)
        providers[number]?.planned.move(uuid, to: group)
        calls[uuid] = call
        armRinging(call, at: now)
        note(.incomingAdmitted(uuid))
        put(.answer(nil))
        change(uuid)
    }

    private func refusalOfIncoming(
        _ uuid: UUID, provider number: ProviderNumber, verdict: CXErrorCodeIncomingCallError.Code?
    ) -> (any Error)? {
        guard let provider = providers[number] else { return CXErrorCodeIncomingCallError(.unknown) }
        if calls[uuid] != nil { return CXErrorCodeIncomingCallError(.callUUIDAlreadyExists) }
        if let verdict { return CXErrorCodeIncomingCallError(verdict) }
        guard provider.planned.count >= provider.limits.groups else { return nil }
        switch configuration.overLimitError {
        case .maximumCallGroupsReached: return CXErrorCodeRequestTransactionError(.maximumCallGroupsReached)
        case .unknownIncomingCallError: return CXErrorCodeIncomingCallError(.unknown)
        }
    }

    /// The call that a provider reports on: another provider's is unknown to it. The host itself (nil) knows them all.
    private func call(_ uuid: UUID, of provider: ProviderNumber?) -> Call? {
        calls[uuid].flatMap { provider ?? $0.provider == $0.provider ? $0 : nil }
    }

    /// - Parameter identification: of the new handle, if the update has one.
    mutating func reportUpdate(
        _ uuid: UUID, _ update: CXCallUpdate.Fields, identification: CallIdentification?, by provider: ProviderNumber?
    ) {
        guard let call = call(uuid, of: provider) else { return }
        call.apply(update)
        if update.remoteHandle != nil { call.identification = identification }
        note(.updated(uuid))
    }

    mutating func reportConnecting(_ uuid: UUID, at date: Date?, by provider: ProviderNumber?) {
        guard let call = call(uuid, of: provider), call.isOutgoing, !call.isConnecting, !call.isConnected else { return }
        call.isConnecting = true
        note(.startedConnecting(uuid, date))
    }

    mutating func reportConnected(_ uuid: UUID, at date: Date?, by provider: ProviderNumber?) {
        guard let call = call(uuid, of: provider), call.isOutgoing, !call.isConnected else { return }
        call.isConnected = true
        note(.connected(uuid, date))
        change(uuid)
        refreshAudio(uuid)
    }

    mutating func reportEnded(_ uuid: UUID, reason: CXCallEndedReason, at date: Date?, by provider: ProviderNumber?) {
        guard call(uuid, of: provider) != nil else { return }
        note(.endReported(uuid, reason, date))
        end(uuid, .reported(reason))
    }

    /// The one way out for a call. Its incomplete actions become void.
    mutating func end(_ uuid: UUID, _ cause: CallEnd) {
        guard let call = calls[uuid] else { return }
        for action in call.outstanding {
            if let record = actions[action] { note(.actionVoided(record.action)) }
            finish(action)
        }
        change(uuid, hasEnded: true)
        calls.removeValue(forKey: uuid)
        if let provider = providers[call.provider] {
            provider.groups.move(uuid, to: nil)
            provider.planned.move(uuid, to: nil)
        }
        clock.cancel(.ring(uuid))
        note(.callEnded(uuid, cause))
        refreshAudio(uuid)
    }

    /// Tells observers how a call is now.
    mutating func change(_ uuid: UUID, hasEnded: Bool = false) {
        guard isObserved, let call = calls[uuid], call.isStarted else { return }
        put(.changed(snapshot(call, hasEnded: hasEnded)))
    }
}

extension CallSystemState.Call {
    func apply(_ update: CXCallUpdate.Fields) {
        if let handle = update.remoteHandle { self.handle = handle }
        if let name = update.localizedCallerName { localizedCallerName = name }
        if let hasVideo = update.hasVideo { self.hasVideo = hasVideo }
        if let holding = update.supportsHolding { supportsHolding = holding }
        if let grouping = update.supportsGrouping { supportsGrouping = grouping }
        if let ungrouping = update.supportsUngrouping { supportsUngrouping = ungrouping }
        if let tones = update.supportsDTMF { supportsDTMF = tones }
    }
}
