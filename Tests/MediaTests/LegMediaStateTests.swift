import Media
import Testing

@Suite struct LegMediaStateTests {
    @Test(arguments: [
        "release", "configure release", "configure open close release", "configure open activate close release",
        "configure open activate start stop deactivate close release", "configure open activate start stop start stop close release",
        "configure open activate start stop deactivate activate start stop deactivate close release",
        "configure open activate deactivate close release",
    ])
    func `these lives are lived to their end`(life: String) throws {
        var state = LegMediaState()
        for step in life.split(separator: " ") { try state.apply(#require(MediaStep(rawValue: String(step)))) }
        #expect(state == .released)
    }

    @Test(arguments: [
        ("", "start"), ("", "open"), ("", "close"), ("configure", "start"), ("configure", "activate"), ("configure open", "start"),
        ("configure open", "release"),
        ("configure open activate start", "close"), ("configure open activate start", "deactivate"),
        ("configure open activate start", "start"),
        ("configure open activate start stop", "release"), ("configure open activate start stop", "stop"),
        ("configure open activate start stop deactivate", "start"), ("configure open close", "open"), ("release", "configure"),
    ])
    func `this step may not follow`(before: String, name: String) throws {
        var state = LegMediaState()
        for step in before.split(separator: " ") { try state.apply(#require(MediaStep(rawValue: String(step)))) }
        let (reached, step) = (state, try #require(MediaStep(rawValue: name)))
        #expect(throws: MediaError.outOfOrder(step, in: reached)) { try state.apply(step) }
        #expect(state == reached)
    }

    /// All orders of up to nine steps: the contract as a search, not as examples.
    @Test func `no life whatever starts before it is opened and activated or is closed while started`() {
        var lives = 0
        func live(_ state: LegMediaState, _ past: [MediaStep]) {
            for step in MediaStep.allCases {
                guard let next = state.after(step) else { continue }
                lives += 1
                if step == .start {
                    #expect(past.contains(.open) && past.lastIndex(of: .activate)! > (past.lastIndex(of: .deactivate) ?? -1))
                }
                if step == .close || step == .deactivate {
                    #expect((past.lastIndex(of: .start) ?? -1) <= (past.lastIndex(of: .stop) ?? -1))
                }
                if step == .release { #expect(past.contains(.open) == past.contains(.close)) }
                if past.contains(.release) { Issue.record("\(step) after the release") }
                if past.count < 8 { live(next, past + [step]) }
            }
        }
        live(LegMediaState(), [])
        #expect(lives > 50)
    }
}
