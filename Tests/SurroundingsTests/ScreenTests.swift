import HookswitchSwiftUI
import Testing
import UIKit

@Suite @MainActor struct ScreenTests {
    @Test func `an outlet has a stand-in of its class`() {
        let outlets = Screen.outlets()
        #expect(outlets.label == "1001" && outlets.keys == 0 && outlets.badge)
        #expect(outlets.number, "what no storyboard makes is nil")
    }

    @Test func `a controller in a window loads its view, appears, and hears of taps`() {
        #expect(Screen.life() == ["loaded", "will appear", "appeared", "tap", "change true", "segue call", "key true"])
    }

    @Test func `an alert goes when a test taps on a button, and its handler runs`() {
        #expect(Screen.alert() == ["presented", "true true", "tapped Yes", "true"])
    }

    @Test func `controllers are pushed and popped`() { #expect(Screen.navigation() == [2, 1, 4, 1]) }

    @Test func `a storyboard makes the class that a host named for an identifier`() {
        let made = Screen.storyboard()
        #expect(made.known && !made.unknown)
    }

    @Test func `a view has one superview`() { #expect(Screen.tree() == [0, 1, 1, 17]) }
    @Test func `recognizers and buttons of bars perform their selectors`() { #expect(Screen.recognized() == ["tap", "tap"]) }
    @Test func `URLs go to other apps where the host has some`() { #expect(Screen.otherApps() == [false, true, true, true]) }

    @Test func `an animation completes later, so that the next can begin there`() async { #expect(await Screen.spin(times: 4)) }

    @Test func `values of a view are read and set through bindings`() { #expect(CallView.bindings() == ["1", "2", "b", "constant"]) }

    @Test func `an app's delegate is the one that its adaptor makes`() { #expect(CallView.adapted()) }

    @Test func `an image literal is an image even without its file`() {
        let literal = Screen.literal()
        #expect(literal.0 && literal.1)
    }

    @Test func `a test imports Testing and UIKit together`() { #expect(UIDevice.current.systemName == "iOS") }

    @Test func `the clipboard is the process's own, and an animation is over at once`() {
        UIPasteboard.general.url = URL(string: "tel:1001")
        #expect(UIPasteboard.general.string == "tel:1001" && UIPasteboard.general.hasStrings)
        UIPasteboard.general.string = nil
        #expect(UIPasteboard.general.url == nil)
        #expect(withAnimation(.easeIn(duration: 1)) { 7 } == 7)
        UIImpactFeedbackGenerator(style: .medium).impactOccurred()
        UINotificationFeedbackGenerator().notificationOccurred(.success)
        UISelectionFeedbackGenerator().selectionChanged()
    }
}
