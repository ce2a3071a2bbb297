import CallApp
import CallKit
import Foundation

// The host of the app on Linux. `MyPhone [VOICE.wav]`: the user says the file over and over, else a tone of 440 Hz.
CallSystem.configureShared(.app)
let calls = CallManager()
do {
    var settings = try LiveAppSettings(number: "1001", server: "127.0.0.1:5060")
    if let voice = CommandLine.arguments.dropFirst().first { try settings.play(file: voice) }
    settings.dial = { number in calls.startCall(to: number) }
    // The app reports incoming calls when their push comes.
    let line = try LiveAppLine(settings, system: .shared) { event in
        switch event {
        case .connecting(let call): calls.callIsConnecting(call)
        case .connected(let call): calls.callConnected(call)
        case .ended(let call, let reason): calls.callEnded(call, reason)
        default: break
        }
    }
    withExtendedLifetime(line) { while true { RunLoop.main.run() } }
} catch {
    FileHandle.standardError.write(Data("MyPhone: \(error)\n".utf8))
    exit(3)
}
