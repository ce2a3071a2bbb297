import CallKit
import Media
import Primitives
import RTP

/// What the media plane tells of a leg that is connected.
extension Leg {
    func heard(_ event: MediaEvent) {
        switch event {
        case .digit(let digit): scribe.write(.dtmfReceived, at: now, [.digits: .init(String(digit.character))])
        case .firstReceived:
            hasHeard = true
            gateway.disarm(.firstMedia, of: self)
        // One that was never heard has a limit of its own.
        case .silent: if hasHeard { fellSilent() }
        case .unprotected: endOutOfBand(.failed, cause: .mediaFailed, tellsPeer: true)
        case .sourceFinished: soundIsOver()
        case .firstSent, .digitsSent, .recorded, .report: break
        }
    }

    func heardNothing() {
        guard !hasHeard, !isHeldByRemote, !isHeld, !hasNoAudio else { return }
        fellSilent()
    }

    private func fellSilent() {
        guard !isHeld, !isHeldByRemote else { return }
        endOutOfBand(.failed, cause: .mediaTimeout, tellsPeer: true)
    }
}
