import CallApp
import CallKit
import Foundation
import Primitives
import SDP
import SIP
import Testing
import UserAgent

@testable import Rehearsal

/// What CallKit has no word for: the delegate hears of it, and nothing that CallKit knows is changed by it.
@Suite struct CallExtensionTests {
    /// An app that fulfils everything, and writes down what CallKit has no word for.
    final class PlainApp: NSObject, StageApp, CallExtensionDelegate {
        private unowned let stage: Stage
        let provider: CXProvider
        private(set) var heard: [CallExtension] = []

        init(_ stage: Stage) {
            self.stage = stage
            provider = CXProvider(configuration: CXProviderConfiguration(), system: stage.system)
            super.init()
            provider.setDelegate(self, queue: nil)
            stage.app = self
        }

        func provider(_ provider: CXProvider, call: UUID, did event: CallExtension) { heard.append(event) }
        func providerDidReset(_ provider: CXProvider) {}
        func provider(_ provider: CXProvider, perform action: CXStartCallAction) { action.fulfill() }
        func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { action.fulfill() }
        func provider(_ provider: CXProvider, perform action: CXEndCallAction) { action.fulfill() }
        func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) { action.fulfill() }
        func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) { stage.line.startAudio(at: stage.now) }

        func incoming(_ call: UUID, _ caller: AppCaller) {
            provider.hookswitchReport(call, update: CXCallUpdate()) { [stage] error in
                if error == nil { stage.line.ring(call, at: stage.now) }
            }
        }
        func connecting(_ call: UUID) { provider.reportOutgoingCall(with: call, startedConnectingAt: nil) }
        func connected(_ call: UUID) { provider.reportOutgoingCall(with: call, connectedAt: nil) }
        func ended(_ call: UUID, _ reason: CXCallEndedReason) { provider.reportCall(with: call, endedAt: nil, reason: reason) }
        func dial(_ handle: String) {
            stage.request(CXStartCallAction(call: UUID(), handle: CXHandle(type: .generic, value: handle)))
        }
    }

    /// A call of the far end that the app has answered.
    private func answered(_ stage: Stage) throws -> (FarCall, UUID) {
        let far = stage.far.call()
        stage.run(0.5)
        let call = try #require(stage.calls.first)
        stage.request(CXAnswerCallAction(call: call))
        stage.run(0.5)
        return (far, call)
    }

    @Test(arguments: [
        ("application/dtmf-relay", "Signal=5\r\nDuration=160\r\n", "5"), ("application/dtmf", "11", "#"), ("text/plain", "5", ""),
    ])
    func `a key that INFO tells is heard as one in the media is`(type: Text, body: String, keys: String) throws {
        let stage = Stage()
        let app = PlainApp(stage)
        let (far, call) = try answered(stage)
        far.session?.info(contentType: type, body: Array(body.utf8), at: stage.now)
        stage.run(0.5)
        let heard = app.heard.compactMap { if case .digit(let key) = $0 { key } else { nil } }
        #expect(String(heard) == keys)
        stage.request(CXEndCallAction(call: call))
        stage.run(0.5)
        #expect(stage.leftovers() == [])
    }

    @Test("Remote hold reaches the delegate in order, and the call is not on hold for CallKit") func remoteHold() throws {
        let stage = Stage()
        let app = PlainApp(stage)
        let (far, call) = try answered(stage)
        far.hold(.sendonly)
        stage.run(0.5)
        #expect(app.heard == [.remoteHold(true)])
        #expect(stage.call(call)?.isOnHold == false)
        far.hold(.sendrecv)
        stage.run(0.5)
        #expect(app.heard == [.remoteHold(true), .remoteHold(false)])
        far.bye()
        #expect(stage.leftovers() == [])
    }

    @Test("Progress of an outgoing call, then what its media measured") func progressAndStatistics() throws {
        let stage = Stage()
        let app = PlainApp(stage)
        stage.far.onInvite = { $0.ring() }
        stage.dial("2001")
        stage.run(0.5)
        let far = try #require(stage.far.calls.last)
        far.ring(183)
        stage.run(0.5)
        #expect(app.heard == [.progress(status: 180), .progress(status: 183)])
        far.answer()
        stage.run(1)
        let call = try #require(stage.calls.first)
        #expect(stage.line.statistics(of: call, at: stage.now) != nil)
        stage.request(CXEndCallAction(call: call))
        stage.run(1)
        guard case .mediaStatistics(let figures) = app.heard.last else { Issue.record("no statistics: \(app.heard)"); return }
        #expect(figures.score == nil, "nobody has measured it")
        #expect(stage.line.statistics(of: call, at: stage.now) == nil)
        #expect(stage.leftovers() == [])
    }

    @Test("The far end hands the call on: a second dialog on the same port, the UUID stays") func transferIn() throws {
        let stage = Stage()
        let app = PlainApp(stage)
        let (far, call) = try answered(stage)
        stage.far.onInvite = {
            $0.ring(); $0.answer()
        }
        far.session?.refer(to: URI(user: "2002", host: "far.test"), at: stage.now)
        stage.run(1)
        #expect(stage.calls == [call])
        #expect(
            app.heard.contains(.transferRequested(to: "sip:2002@far.test")) && app.heard.contains(.transferred(to: "sip:2002@far.test")))
        #expect(stage.sent("app INVITE").count == 1)
        #expect(stage.openLegs == 1)
        far.hold(.sendonly)
        stage.run(1)
        #expect(stage.sent("app 488 INVITE").count == 1, "its sound is elsewhere")
        far.bye()
        stage.run(1)
        #expect(stage.calls == [call], "the dialog with whoever handed it on is not the call any more")
        let next = try #require(stage.far.calls.last)
        next.bye()
        stage.run(1)
        #expect(stage.calls.isEmpty)
        #expect(stage.leftovers() == [])
    }

    @Test(arguments: [true, false]) func `whoever hands the call on hangs up, before it is taken or later, and the call goes on`(
        isEarly: Bool
    ) throws {
        let stage = Stage()
        let app = PlainApp(stage)
        let (far, call) = try answered(stage)
        stage.far.onInvite = { $0.ring() }
        far.session?.refer(to: URI(user: "2002", host: "far.test"), at: stage.now)
        stage.run(1)
        let target = try #require(stage.far.calls.last)
        if isEarly {
            far.bye()
            stage.run(1)
            #expect(stage.calls == [call] && stage.sent("app CANCEL").isEmpty && stage.media.sendingLegs == 0, "nobody hears us now")
            target.answer()
        } else {
            target.answer()
            stage.run(1)
            far.bye()
        }
        stage.run(1)
        #expect(app.heard.contains(.transferred(to: "sip:2002@far.test")) && stage.media.sendingLegs == 1)
        stage.request(CXEndCallAction(call: call))
        stage.run(1)
        #expect(stage.calls.isEmpty && stage.sent("app BYE").count == 1)
        #expect(stage.leftovers() == [])
    }

    @Test func `whoever hands the call on has hung up, and nobody takes it: the call is over`() throws {
        let stage = Stage()
        let app = PlainApp(stage)
        let (far, call) = try answered(stage)
        stage.far.onInvite = { $0.ring() }
        far.session?.refer(to: URI(user: "2002", host: "far.test"), at: stage.now)
        stage.run(1)
        far.bye()
        stage.run(1)
        #expect(stage.calls == [call])
        try #require(stage.far.calls.last).refuse(486)
        stage.run(1)
        #expect(stage.calls.isEmpty)
        #expect(stage.events.contains { if case .ended(call, .remoteEnded) = $0 { true } else { false } })
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `whom the call was handed to hangs up first: the former dialog is ended, too`() throws {
        let stage = Stage()
        let app = PlainApp(stage)
        let (far, _) = try answered(stage)
        stage.far.onInvite = { $0.answer() }
        far.session?.refer(to: URI(user: "2002", host: "far.test"), at: stage.now)
        stage.run(1)
        try #require(stage.far.calls.last).bye()
        stage.run(1)
        #expect(stage.calls.isEmpty && far.isOver && stage.sent("app BYE").count == 1)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test("Handed on to somebody who refuses: the call stays as it was") func transferRefused() throws {
        let stage = Stage()
        let app = PlainApp(stage)
        let (far, call) = try answered(stage)
        stage.far.onInvite = { $0.refuse(486) }
        far.session?.refer(to: URI(user: "2002", host: "far.test"), at: stage.now)
        stage.run(1)
        #expect(app.heard.last == .transferProgress(status: 486))
        #expect(stage.calls == [call] && stage.openLegs == 1)
        far.bye()
        #expect(stage.leftovers() == [])
    }

    @Test(
        "A line that takes no transfers says 603, and one without TLS for a sips target",
        arguments: [(false, URI.Scheme.sip), (true, .sips)])
    func transferDeclined(acceptsTransfers: Bool, scheme: URI.Scheme) throws {
        let stage = Stage { $0.acceptsTransfers = acceptsTransfers }
        _ = PlainApp(stage)
        let app = PlainApp(stage)
        let (far, _) = try answered(stage)
        far.session?.refer(to: URI(scheme: scheme, user: "2002", host: "far.test"), at: stage.now)
        stage.run(1)
        #expect(stage.sent("app 603 REFER").count == 1 && stage.sent("app INVITE").isEmpty)
        #expect(app.heard == [.transferRequested(to: "\(scheme):2002@far.test")])
        far.bye()
        #expect(stage.leftovers() == [])
    }

    @Test("The app ends a call that is being handed on: neither dialog is left") func endDuringTransfer() throws {
        let stage = Stage()
        let app = PlainApp(stage)
        let (far, call) = try answered(stage)
        stage.far.onInvite = { $0.ring() }
        far.session?.refer(to: URI(user: "2002", host: "far.test"), at: stage.now)
        stage.run(1)
        stage.request(CXEndCallAction(call: call))
        stage.run(1)
        #expect(stage.sent("app CANCEL").count == 1)
        withExtendedLifetime(app) {}
        #expect(stage.leftovers() == [])
    }

    @Test("The app hands its call on (REFER), and hears how far it is") func transferOut() throws {
        let stage = Stage()
        let app = PlainApp(stage)
        let (far, call) = try answered(stage)
        #expect(stage.line.transfer(call, to: "2002", at: stage.now))
        stage.run(1)
        #expect(stage.sent("app REFER").count == 1)
        #expect(app.heard.contains { if case .transferProgress(let status) = $0 { status >= 200 } else { false } })
        far.bye()
        #expect(stage.leftovers() == [])
    }

    @Test("A provider and a controller know their account") func account() {
        var configuration = CallSystemConfiguration.app
        configuration.account = "1001"
        let system = CallSystem(configuration: configuration, host: InlineHost())
        #expect(CXProvider(configuration: CXProviderConfiguration(), system: system).account == "1001")
        #expect(CXCallController(system: system).account == "1001")
        #expect(
            CXProvider(configuration: CXProviderConfiguration(), system: CallSystem(configuration: .app, host: InlineHost())).account == nil
        )
    }
}
