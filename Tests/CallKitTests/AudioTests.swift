import CallKit
import Foundation
import Testing

@Suite struct AudioTests {
    private func audio(_ rig: Rig) -> [String] {
        rig.log.takeCallbacks().filter { $0.contains("activate") || $0.hasPrefix("admit") }
    }

    @Test func `an incoming call gets audio when its answer is fulfilled, not before`() {
        let rig = Rig()
        rig.delegate.act = { _ in }
        rig.ring("A")
        let answer = CXAction.answer("A")
        rig.request(answer)
        #expect(audio(rig) == [])
        answer.fulfill()
        #expect(audio(rig) == ["activate A"])
    }

    @Test(arguments: [CallSystemConfiguration.Activation.afterStarted, .afterConnected])
    func `an outgoing call gets audio after it started or after it connected`(activation: CallSystemConfiguration.Activation) {
        var configuration = CallSystemConfiguration()
        configuration.activation = activation
        let rig = Rig(configuration)
        rig.delegate.act = { _ in }
        let start = CXAction.start("A")
        rig.request(start)
        #expect(audio(rig) == [])
        start.fulfill()
        #expect(audio(rig) == (activation == .afterStarted ? ["activate A"] : []))
        rig.provider.reportOutgoingCall(with: .call("A"), startedConnectingAt: nil)
        #expect(audio(rig) == [])
        rig.provider.reportOutgoingCall(with: .call("A"), connectedAt: nil)
        #expect(audio(rig) == (activation == .afterConnected ? ["activate A"] : []))
    }

    @Test func `a call that connected before its start was fulfilled waits for that`() {
        let rig = Rig(.line)
        rig.delegate.act = { _ in }
        let start = CXAction.start("A")
        rig.request(start)
        rig.provider.reportOutgoingCall(with: .call("A"), connectedAt: nil)
        #expect(audio(rig) == [])
        start.fulfill()
        #expect(audio(rig) == ["activate A"])
    }

    @Test func `hold takes audio away, and resuming gives it back`() {
        let rig = Rig()
        rig.connect("A")
        rig.log.clear()
        rig.request(.hold("A"))
        #expect(rig.log.takeJournal().suffix(2) == ["fulfilled hold A", "deactivated A"])
        rig.request(.resume("A"))
        #expect(rig.log.takeJournal().suffix(2) == ["fulfilled resume A", "activated A"])
    }

    @Test func `a phone has one session, and further calls join it`() {
        var configuration = CallSystemConfiguration()
        configuration.holdsAutomatically = false
        let rig = Rig(configuration, delegate: AudioDelegate.init)
        rig.connect("A")
        rig.connect("B")
        #expect(audio(rig) == ["activate A", "admit B"])
        rig.end("A")
        #expect(audio(rig) == [])
        rig.end("B")
        #expect(audio(rig) == ["deactivate B"])
    }

    @Test func `a line has a session for each group`() {
        let rig = Rig(.line, delegate: AudioDelegate.init)
        rig.connect("A")
        rig.connect("B")
        #expect(audio(rig) == ["activate A", "activate B"])
        rig.end("A")
        rig.end("B")
        #expect(audio(rig) == ["deactivate A", "deactivate B"])
    }

    /// The order of a bridged call: the callee's leg connects, then the caller is answered.
    @Test func `a bridged call activates once, and its second leg is admitted`() {
        let rig = Rig(.line, groups: 1, delegate: AudioDelegate.init)
        rig.ring("A")
        rig.request(.start("B"), .join("B", "A"))
        rig.provider.reportOutgoingCall(with: .call("B"), connectedAt: nil)
        #expect(audio(rig) == ["activate B"])
        rig.request(.answer("A"))
        #expect(audio(rig) == ["admit A"])
        rig.end("B")
        #expect(audio(rig) == [])
        rig.request(.end("A"))
        #expect(audio(rig) == ["deactivate A"])
    }

    @Test func `grouping and ungrouping move calls between sessions`() {
        let rig = Rig(.line, delegate: AudioDelegate.init)
        rig.connect("A")
        rig.connect("B")
        rig.log.clear()
        rig.request(.join("B", "A"))
        #expect(audio(rig) == ["admit B", "deactivate B"])
        rig.request(.leave("B"))
        #expect(audio(rig) == ["activate B"])
        rig.end("A")
        #expect(audio(rig) == ["deactivate A"])
    }

    @Test func `a session that is over before it could be told is never told`() {
        let rig = Rig()
        rig.ring("A")
        rig.delegate.act = {
            $0.fulfill()
            rig.end("A")
        }
        rig.log.clear()
        rig.request(.answer("A"))
        #expect(audio(rig) == [])
        #expect(rig.system.counts == .idle)
    }

    @Test func `in Hold and Accept the session is off between the calls`() {
        let rig = Rig()
        rig.connect("A")
        rig.ring("B")
        rig.log.clear()
        rig.request(.hold("A"), .answer("B"))
        #expect(rig.log.takeCallbacks() == ["answer ok", "perform hold A", "deactivate A", "perform answer B", "activate B"])
    }

    @Test func `a telephone's session is the one that the app has set up`() throws {
        let rig = Rig()
        var sessions: [AVAudioSession] = [], calls: [[UUID]] = []
        rig.delegate.onActivate = {
            sessions.append($0)
            calls.append($0.hookswitchCalls)
        }
        rig.connect("A")
        #expect(sessions.count == 1 && sessions[0] === AVAudioSession.sharedInstance() && calls == [[.call("A")]])
        #expect(sessions[0].hookswitchCalls == [] && sessions[0].hookswitchName == nil, "outside of the callback it is nobody's")
    }

    @Test func `the session carries its name, and is one object from activation to deactivation`() {
        let rig = Rig(.line)
        var sessions: [AVAudioSession] = []
        rig.delegate.onActivate = { sessions.append($0) }
        rig.connect("A")
        #expect(sessions.first?.hookswitchName?.group == rig.call("A")?.group)
        #expect(sessions.first?.hookswitchCalls == [.call("A")])
        rig.end("A")
        rig.connect("B")
        #expect(sessions.count == 2)
        #expect(sessions[0] !== sessions[1])
        #expect(AVAudioSession.sharedInstance().hookswitchCalls == [])
    }
}
