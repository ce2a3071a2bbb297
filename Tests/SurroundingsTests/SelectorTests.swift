import Foundation
import HookswitchObjectiveC
import Testing

@Suite struct SelectorTests {
    private final class Phone: NSObject {
        var trace: [String] = []
        func ring() { trace.append("ring") }
        func ended(_ note: Notification) { trace.append("ended \(note.name.rawValue)") }
        func endedToo(_ note: NSNotification) -> Bool {
            trace.append("too \(note.name.rawValue)")
            return true
        }
        func moved(_ from: Int, _ to: String?) { trace.append("moved \(from) \(to ?? "nil")") }
    }

    private static let ended = Notification.Name("SelectorTestsEnded")

    @Test func `a selector performs its method on a target of its class alone`() {
        let phone = Phone(), moved = Selector(hookswitch: "moved", of: Phone.moved)
        #expect(Selector(hookswitch: "ring", of: Phone.ring).hookswitchPerform(on: phone))
        #expect(moved.hookswitchPerform(on: phone, [1, "2"]) && moved.hookswitchPerform(on: phone, [3, nil, 4]))
        #expect(!moved.hookswitchPerform(on: phone, [1]) && !moved.hookswitchPerform(on: phone, ["1", "2"]))
        #expect(!moved.hookswitchPerform(on: "other", [1, "2"]))
        #expect(!Selector("ring").hookswitchPerform(on: phone))
        #expect(Selector(hookswitch: "bound", bound: phone.ring).hookswitchPerform(on: "anything"))
        #expect(phone.trace == ["ring", "moved 1 2", "moved 3 nil", "ring"])
        #expect(Selector("a") == NSSelectorFromString("a") && NSStringFromSelector("b") == "b")
    }

    @Test func `an observer hears of notifications until it is removed`() {
        let phone = Phone(), center = NotificationCenter()
        center.addObserver(phone, selector: Selector(hookswitch: "a", of: Phone.ended(_:)), name: Self.ended, object: nil)
        center.addObserver(phone, selector: Selector(hookswitch: "b", of: Phone.endedToo(_:)), name: Self.ended, object: nil)
        center.post(name: Self.ended, object: nil)
        #expect(Set(phone.trace) == ["ended SelectorTestsEnded", "too SelectorTestsEnded"])
        center.removeObserver(phone, name: Notification.Name("Other"), object: nil)
        center.post(name: Self.ended, object: nil)
        #expect(phone.trace.count == 4)
        center.removeObserver(phone)
        center.post(name: Self.ended, object: nil)
        #expect(phone.trace.count == 4)
    }

    @Test func `an observer is not held, and hears of its own object alone`() {
        let center = NotificationCenter(), other = Phone()
        weak var gone: Phone?
        do {
            let phone = Phone()
            gone = phone
            center.addObserver(phone, selector: Selector(hookswitch: "a", of: Phone.ended(_:)), name: Self.ended, object: other)
            center.post(name: Self.ended, object: self.center)
            #expect(phone.trace == [])
            center.post(name: Self.ended, object: other)
            #expect(phone.trace.count == 1)
        }
        #expect(gone == nil)
        center.post(name: Self.ended, object: other)
    }

    private let center = NSObject()

    @Test func `a token of a block is removed as ever`() {
        let center = NotificationCenter(), phone = Phone()
        nonisolated(unsafe) let heard = phone
        let token = center.addObserver(forName: Self.ended, object: nil, queue: nil) { @Sendable _ in heard.ring() }
        center.post(name: Self.ended, object: nil)
        center.removeObserver(token)
        center.post(name: Self.ended, object: nil)
        #expect(phone.trace == ["ring"])
    }

    @Test func `a duration is written as call code asks`() {
        let formatter = DateComponentsFormatter()
        formatter.allowedUnits = [.minute, .second]
        #expect(formatter.string(from: 65) == "1:05" && formatter.string(from: 5) == "5" && formatter.string(from: 3_600) == "60:00")
        formatter.zeroFormattingBehavior = .pad
        #expect(formatter.string(from: 65.9) == "01:05" && formatter.string(from: 0) == "00:00")
        formatter.zeroFormattingBehavior = .default
        formatter.unitsStyle = .abbreviated
        #expect(formatter.string(from: 65) == "1m 5s" && formatter.string(from: 60) == "1m" && formatter.string(from: 0) == "0s")
        formatter.allowedUnits = [.hour, .minute]
        formatter.unitsStyle = .full
        #expect(formatter.string(from: 7_260) == "2 hours, 1 minute" && formatter.string(from: .infinity) == nil)
    }

    @Test func `a timer performs its selector`() {
        let phone = Phone()
        let timer = Timer(
            timeInterval: 60, target: phone, selector: Selector(hookswitch: "ring", of: Phone.ring), userInfo: nil, repeats: false)
        timer.fire()
        #expect(phone.trace == ["ring"] && !timer.isValid)
    }
}
