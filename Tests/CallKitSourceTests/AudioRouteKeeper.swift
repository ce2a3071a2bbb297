import AVFoundation

/// What call code does about interruptions and routes, as Apple's guides write it.
class AudioRouteKeeper {
    private(set) var trace: [String] = []
    private let session = AVAudioSession.sharedInstance()
    private var observers: [NSObjectProtocol] = []

    init() {
        let center = NotificationCenter.default
        observers = [
            center.addObserver(forName: AVAudioSession.interruptionNotification, object: session, queue: nil) { [weak self] in
                self?.handleInterruption($0)
            },
            center.addObserver(forName: AVAudioSession.routeChangeNotification, object: session, queue: nil) { [weak self] in
                self?.handleRouteChange($0)
            },
        ]
    }

    deinit { observers.forEach { NotificationCenter.default.removeObserver($0) } }

    func handleInterruption(_ notification: Notification) {
        guard let userInfo = notification.userInfo, let typeValue = userInfo[AVAudioSessionInterruptionTypeKey] as? UInt,
            let type = AVAudioSession.InterruptionType(rawValue: typeValue)
        else { return }
        switch type {
        case .began: trace.append("began")
        case .ended:
            guard let optionsValue = userInfo[AVAudioSessionInterruptionOptionKey] as? UInt else { return }
            let options = AVAudioSession.InterruptionOptions(rawValue: optionsValue)
            trace.append(options.contains(.shouldResume) ? "resume" : "ended")
        @unknown default: break
        }
    }

    func handleRouteChange(_ notification: Notification) {
        guard let userInfo = notification.userInfo, let reasonValue = userInfo[AVAudioSessionRouteChangeReasonKey] as? UInt,
            let reason = AVAudioSession.RouteChangeReason(rawValue: reasonValue)
        else { return }
        switch reason {
        case .newDeviceAvailable: trace.append("headphones: \(hasHeadphones(in: session.currentRoute))")
        case .oldDeviceUnavailable:
            guard let previousRoute = userInfo[AVAudioSessionRouteChangePreviousRouteKey] as? AVAudioSessionRouteDescription else { return }
            trace.append("had headphones: \(hasHeadphones(in: previousRoute))")
        default: trace.append("\(reason)")
        }
    }

    func hasHeadphones(in routeDescription: AVAudioSessionRouteDescription) -> Bool {
        !routeDescription.outputs.filter { $0.portType == .headphones }.isEmpty
    }

    func preferBuiltInMicrophone() throws {
        let microphone = session.availableInputs?.first { $0.portType == .builtInMic }
        try session.setPreferredInput(microphone)
    }
}
