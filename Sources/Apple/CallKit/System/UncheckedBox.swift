/// Carries what an app gave us, and only the app uses, to the queue that it named.
struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
