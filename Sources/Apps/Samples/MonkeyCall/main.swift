import CallApp
import CallKit
import Foundation
import MonkeyCalls
import SampleApp
import UIKit

extension LiveAppLine: CallService {}

/// Between MonkeyCall's calls and the line.
@MainActor final class MonkeyCall: SampleCalls {
    private let app = AppDelegate()

    init(_ line: LiveAppLine) {
        app.service = line
        UIApplication.shared.hookswitchLaunch(app)
    }

    func incoming(_ call: UUID, from caller: AppCaller) { app.providerDelegate.reportIncomingCall(call, handle: caller.handle) }
    func connecting(_ call: UUID) { app.providerDelegate.networkIsConnecting(call) }
    func connected(_ call: UUID) { app.providerDelegate.networkConnected(call) }
    func ended(_ call: UUID, _ reason: CXCallEndedReason) { app.providerDelegate.networkEnded(call, reason) }
    func allowConference(of calls: Int) { app.providerDelegate.allowConference(of: calls) }

    /// A number, or a URL of the app's.
    func dial(_ handle: String) {
        guard let url = URL(string: handle), url.scheme != nil else { return app.callManager.startCall(handle) }
        if !UIApplication.shared.hookswitchOpen(url) { print("MonkeyCall does not know \(handle)") }
    }
}

SampleCommand.main(app: "MonkeyCall") { run in try run.start { MonkeyCall($0) } }
