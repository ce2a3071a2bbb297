@testable import HookswitchSwiftUI

/// A view of a call, as an app has it.
struct CallView: View {
    final class Model: ObservableObject {
        @Published var name = "a"
    }

    final class Delegate: UIResponder, UIApplicationDelegate {}

    struct PhoneApp: App {
        @UIApplicationDelegateAdaptor(Delegate.self) var delegate
        var body: some Scene { WindowGroup { CallView(model: Model()).environmentObject(Model()).onOpenURL { _ in } } }
    }

    @State private var count = 1
    @ObservedObject var model: Model
    @Environment(\.scenePhase) private var phase

    var body: some View {
        Text("calls")
        if phase == .active { Text(model.name) } else { EmptyView() }
    }

    @MainActor static func bindings() -> [String] {
        let view = CallView(model: Model())
        var trace = ["\(view.count)"]
        view.$count.wrappedValue = 2
        trace.append("\(view.count)")
        view.$model.name.wrappedValue = "b"
        return trace + [view.model.name, Binding.constant("constant").wrappedValue]
    }

    /// Whether `main()` would launch the delegate of the adaptor.
    @MainActor static func adapted() -> Bool {
        let app = PhoneApp()
        return AppDelegates.last === app.delegate
    }
}
