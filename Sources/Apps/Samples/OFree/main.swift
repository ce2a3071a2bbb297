import CallApp
import CallKit
import Foundation
import OFreeCalls
import SampleApp

extension LiveAppLine: Linkd, MediaLibrary {}

/// Between OFree's calls and the line.
@MainActor final class OFree: SampleCalls {
    private let controller: CallController

    init(_ line: LiveAppLine, _ run: SampleRun) {
        controller = CallController(link: line, media: line) { step in MainActor.assumeIsolated { run.note(step) } }
    }

    func incoming(_ call: UUID, from caller: AppCaller) { controller.linkHasCall(call, from: caller.handle, isNumber: caller.isNumber) }
    func connecting(_ call: UUID) { controller.linkIsConnecting(call) }
    func connected(_ call: UUID) { controller.linkConnected(call) }
    func ended(_ call: UUID, _ reason: CXCallEndedReason) { controller.linkEnded(call, reason) }
    func dial(_ handle: String) { controller.startCall(to: handle) }
    func allowConference(of calls: Int) {}
}

SampleCommand.main(app: "OFree") { run in try run.start { OFree($0, run) } }
