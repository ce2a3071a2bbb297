import CallApp
import CallKit
import Foundation
import HotlineCalls
import SampleApp
import UIKit

extension LiveAppLine: CallNetwork {}

/// Between Hotline's calls and the line.
@MainActor final class Hotline: SampleCalls {
    private let app = AppDelegate()

    init(_ line: LiveAppLine) {
        app.network = line
        UIApplication.shared.hookswitchLaunch(app)
    }

    func incoming(_ call: UUID, from caller: AppCaller) { app.displayIncomingCall(uuid: call, handle: caller.handle, completion: nil) }
    func connecting(_ call: UUID) { app.providerDelegate.networkRings(uuid: call) }
    func connected(_ call: UUID) { app.providerDelegate.networkConnects(uuid: call) }
    func ended(_ call: UUID, _ reason: CXCallEndedReason) { app.providerDelegate.networkEnds(uuid: call, reason: reason) }
    func dial(_ handle: String) { app.callManager.startCall(handle: handle, videoEnabled: false) }
    func allowConference(of calls: Int) { app.providerDelegate.allowConference(of: calls) }
}

SampleCommand.main(app: "Hotline") { run in try run.start { Hotline($0) } }
