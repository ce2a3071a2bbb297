import Foundation
import Primitives

// What providers report, and the life of providers themselves.

extension CallSystemState {
    mutating func register(_ provider: ProviderNumber, limits: GroupLimits) { providers[provider] = Provider(limits: limits) }

    mutating func configure(_ provider: ProviderNumber, limits: GroupLimits) { providers[provider]?.limits = limits }

    /// The provider has a delegate.
    mutating func begin(_ number: ProviderNumber) -> [Output] {
        guard providers[number]?.hasBegun == false else { return [] }
        providers[number]?.hasBegun = true
        return [.event(.providerBegan(provider: number)), .begin(number)]
    }

    /// Ends all calls of a provider. Invalidated: the provider is gone for good; else it begins anew.
    mutating func reset(_ number: ProviderNumber, invalidate: Bool) -> [Output] {
        guard let provider = providers[number] else { return [] }
        var outputs: [Output] = [.event(.providerReset(provider: number, invalidated: invalidate)), .reset(number)]
        for call in calls.values.filter({ $0.provider == number }).sorted(by: { $0.serial < $1.serial }) {
            end(call.uuid, .reset, into: &outputs)
        }
        if invalidate {
            providers[number] = nil
        } else if provider.hasBegun {
            outputs += [.event(.providerBegan(provider: number)), .begin(number)]
        }
        return outputs
    }

    /// - Parameter verdict: what Do Not Disturb, block list and the like say; nil lets the call in.
    mutating func reportIncoming(
        _ uuid: UUID, update: CXCallUpdate.Fields, provider number: ProviderNumber,
        verdict: CXErrorCodeIncomingCallError.Code?, identification: CallIdentification?, at now: Instant
    ) -> [Output] {
        var outputs: [Output] = [.event(.incomingReported(uuid))]
        if let error = refusalOfIncoming(uuid, provider: number, verdict: verdict) {
            return outputs + [.event(.incomingRefused(uuid, error)), .answer(error)]
        }
        var call = Call(uuid: uuid, provider: number, serial: nextSerial(), isOutgoing: false, isStarted: true)
        call.apply(update)
        call.identification = identification
        let group = newGroup()
        providers[number]?.groups.move(uuid, to: group)
        providers[number]?.planned.move(uuid, to: group)
        calls[uuid] = call
        armRinging(call, at: now)
        outputs += [.event(.incomingAdmitted(uuid)), .answer(nil), .changed(snapshot(call))]
        return outputs
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
    ) -> [Output] {
        guard call(uuid, of: provider) != nil else { return [] }
        calls[uuid]?.apply(update)
        if update.remoteHandle != nil { calls[uuid]?.identification = identification }
        return [.event(.updated(uuid))]
    }

    mutating func reportConnecting(_ uuid: UUID, at date: Date?, by provider: ProviderNumber?) -> [Output] {
        guard let call = call(uuid, of: provider), call.isOutgoing, !call.isConnecting, !call.isConnected else { return [] }
        calls[uuid]?.isConnecting = true
        return [.event(.startedConnecting(uuid, date))]
    }

    mutating func reportConnected(_ uuid: UUID, at date: Date?, by provider: ProviderNumber?) -> [Output] {
        guard let call = call(uuid, of: provider), call.isOutgoing, !call.isConnected else { return [] }
        calls[uuid]?.isConnected = true
        var outputs: [Output] = [.event(.connected(uuid, date))]
        change(uuid, into: &outputs)
        refreshAudio(uuid, into: &outputs)
        return outputs
    }

    mutating func reportEnded(_ uuid: UUID, reason: CXCallEndedReason, at date: Date?, by provider: ProviderNumber?) -> [Output] {
        guard call(uuid, of: provider) != nil else { return [] }
        var outputs: [Output] = [.event(.endReported(uuid, reason, date))]
        end(uuid, .reported(reason), into: &outputs)
        return outputs
    }

    /// The one way out for a call. Its incomplete actions become void.
    mutating func end(_ uuid: UUID, _ cause: CallEnd, into outputs: inout [Output]) {
        guard let call = calls[uuid] else { return }
        for action in call.outstanding {
            if let record = actions[action] { outputs.append(.event(.actionVoided(record.action))) }
            finish(action, into: &outputs)
        }
        let last = snapshot(call, hasEnded: true)
        calls[uuid] = nil
        providers[call.provider]?.groups.move(uuid, to: nil)
        providers[call.provider]?.planned.move(uuid, to: nil)
        clock.cancel(.ring(uuid))
        outputs.append(.event(.callEnded(uuid, cause)))
        if call.isStarted { outputs.append(.changed(last)) }
        refreshAudio(uuid, into: &outputs)
    }

    /// Tells observers how a call is now.
    func change(_ uuid: UUID, into outputs: inout [Output]) {
        if let call = calls[uuid], call.isStarted { outputs.append(.changed(snapshot(call))) }
    }
}

extension CallSystemState.Call {
    mutating func apply(_ update: CXCallUpdate.Fields) {
        if let handle = update.remoteHandle { self.handle = handle }
        if let name = update.localizedCallerName { localizedCallerName = name }
        if let hasVideo = update.hasVideo { self.hasVideo = hasVideo }
        if let holding = update.supportsHolding { supportsHolding = holding }
        if let grouping = update.supportsGrouping { supportsGrouping = grouping }
        if let ungrouping = update.supportsUngrouping { supportsUngrouping = ungrouping }
        if let tones = update.supportsDTMF { supportsDTMF = tones }
    }
}
