import CallKit
import Foundation
import Testing

@Suite struct TranslationTests {
    private func translate(_ on: Bool = true) -> CXSetTranslatingCallAction {
        CXSetTranslatingCallAction(call: .call("A"), isTranslating: on, localLanguage: "de", remoteLanguage: "ko")
    }

    private func rig(supported: Bool = true) -> Rig {
        let rig = Rig()
        let configuration = rig.provider.configuration
        configuration.supportsAudioTranslation = supported
        rig.provider.configuration = configuration
        return rig
    }

    @Test func `only a connected call of a provider that supports it can be translated`() {
        let able = rig()
        able.ring("A")
        #expect(able.refusal(translate()) == 6)
        able.request(.answer("A"))
        #expect(able.refusal(translate()) == nil)
        let unable = rig(supported: false)
        unable.connect("A")
        #expect(unable.refusal(translate()) == 6)
    }

    @Test(arguments: [CXTranslationEngine.default, .custom])
    func `a call is translated by the engine that the app names`(engine: CXTranslationEngine) {
        let rig = rig()
        rig.connect("A")
        rig.delegate.act = { ($0 as? CXSetTranslatingCallAction)?.fulfill(using: engine) }
        rig.request(translate())
        #expect(rig.call("A")?.translation == engine)
        rig.delegate.act = { $0.fail() }
        rig.request(translate(false))
        #expect(rig.call("A")?.translation == engine)
        rig.delegate.act = { $0.fulfill() }
        rig.request(translate(false))
        #expect(rig.call("A")?.translation == nil)
        rig.request(translate())
        #expect(rig.call("A")?.translation == .default)
    }

    @Test func `an action that the app never completes times out after five seconds, and the call goes on`() {
        let rig = rig()
        rig.connect("A")
        rig.delegate.act = { _ in }
        rig.request(translate())
        rig.log.clear()
        rig.advance(seconds: 5.1)
        #expect(rig.log.lines.contains { $0.hasPrefix("→ timed out") })
        #expect(rig.call("A")?.translation == nil)
        #expect(rig.call("A")?.hasConnected == true)
    }
}
