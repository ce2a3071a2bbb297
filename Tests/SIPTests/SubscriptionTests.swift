import Primitives
import SIP
import Testing

/// The notifier's side of a subscription (RFC 6665 §4.2), input by input.
@Suite struct SubscriptionTests {
    private var subscription = Subscription(at: .zero)

    private func at(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

    @Test(arguments: [(nil, 3_600), (0, 0), (1, nil), (59, nil), (60, 60), (3_600, 3_600), (99_999, 3_600)] as [(Int?, Int?)])
    func `an interval is granted, cut, or too brief`(asked: Int?, granted: Int?) { #expect(Subscription.granted(asked) == granted) }

    @Test mutating func `it tells the state at once, and one NOTIFY at a time is on its way`() {
        #expect(subscription.renew(seconds: 600, at: at(0)) == [.notify(.active(seconds: 600))])
        #expect(subscription.changed(at: at(1)).isEmpty && subscription.changed(at: at(2)).isEmpty)
        #expect(subscription.completed(succeeded: true, at: at(3)) == [.notify(.active(seconds: 597))])
        #expect(subscription.completed(succeeded: true, at: at(4)).isEmpty && subscription.isActive)
        #expect(subscription.completed(succeeded: false, at: at(5)).isEmpty && subscription.isActive, "it waits for no answer")
    }

    @Test mutating func `a refresh moves the expiry, which ends it with a last NOTIFY`() {
        _ = subscription.renew(seconds: 60, at: at(0))
        _ = subscription.completed(succeeded: true, at: at(0))
        #expect(subscription.renew(seconds: 60, at: at(50)) == [.notify(.active(seconds: 60))])
        _ = subscription.completed(succeeded: true, at: at(50))
        #expect(subscription.advance(to: at(109)).isEmpty && subscription.deadline == at(110))
        #expect(subscription.advance(to: at(110)) == [.notify(.terminated(.timeout))])
        #expect(!subscription.isActive && subscription.deadline == nil && subscription.renew(seconds: 60, at: at(111)).isEmpty)
        #expect(subscription.completed(succeeded: true, at: at(111)) == [.ended])
    }

    @Test mutating func `an end while a NOTIFY is on its way is told behind it`() {
        _ = subscription.renew(seconds: 60, at: at(0))
        #expect(subscription.renew(seconds: 0, at: at(1)).isEmpty && !subscription.isActive)
        #expect(subscription.end(.rejected, at: at(1)).isEmpty && subscription.changed(at: at(1)).isEmpty)
        #expect(subscription.completed(succeeded: true, at: at(2)) == [.notify(.terminated(.timeout))])
        #expect(subscription.completed(succeeded: false, at: at(3)) == [.ended])
    }

    @Test mutating func `a NOTIFY that fails ends it without another one`() {
        _ = subscription.renew(seconds: 60, at: at(0))
        #expect(subscription.changed(at: at(1)).isEmpty)
        #expect(subscription.completed(succeeded: false, at: at(32)) == [.ended] && !subscription.isActive)
        #expect(subscription.changed(at: at(33)).isEmpty && subscription.advance(to: at(60)).isEmpty)
    }

    @Test(
        arguments: [
            (.active(seconds: 5), "active;expires=5"), (.terminated(.probation), "terminated;reason=probation"),
            (.terminated(.rejected), "terminated;reason=rejected"), (.terminated(.noresource), "terminated;reason=noresource"),
        ] as [(Subscription.State, Text)])
    func `a state as the header has it`(state: Subscription.State, text: Text) { #expect(state.text == text) }
}
