import AVFoundation

/// The app's sound. The system owns the session: it is configured here, and never activated.
class Audio {
    private let network: CallNetwork

    init(network: CallNetwork) { self.network = network }

    func configureAudioSession() {
        do {
            try AVAudioSession.sharedInstance().setCategory(.playAndRecord, mode: .voiceChat, options: [])
        } catch {
            print("The audio session cannot be configured: \(error)")
        }
    }

    func startAudio() { _ = network.startAudio() }
    func stopAudio() { network.stopAudio() }
}
