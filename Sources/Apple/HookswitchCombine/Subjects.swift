import Foundation

/// A publisher that is told what to give.
public protocol Subject<Output, Failure>: Publisher, AnyObject {
    func send(_ value: Output)
    func send(completion: Subscribers.Completion<Failure>)
    /// Takes the subscription of a publisher whose values it is to give.
    func send(subscription: any Subscription)
}

extension Subject where Output == Void {
    public func send() { send(()) }
}

/// A subject that gives each value to those who listen at that time and have requested one.
public final class PassthroughSubject<Output, Failure: Error>: Subject, @unchecked Sendable {
    private let listeners = Listeners<Output, Failure>(excess: { _, _ in })
    public init() {}

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        listeners.add(subscriber, first: nil)
    }
    public func send(_ value: Output) { listeners.send(value) }
    public func send(completion: Subscribers.Completion<Failure>) { listeners.end(completion) }
    public func send(subscription: any Subscription) { listeners.take(subscription) }
}

/// A subject that has a value, and gives it to each who begins to listen. One who has requested none gets the newest at the next request.
public final class CurrentValueSubject<Output, Failure: Error>: Subject, @unchecked Sendable {
    private let listeners = Listeners<Output, Failure>(excess: { $0 = [$1] })
    private let current: Locked<Output>
    public init(_ value: Output) { current = Locked(value) }

    public var value: Output {
        get { current.update { $0 } }
        set { send(newValue) }
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        listeners.add(subscriber, first: value)
    }

    public func send(_ value: Output) {
        current.update { $0 = value }
        listeners.send(value)
    }

    public func send(completion: Subscribers.Completion<Failure>) { listeners.end(completion) }
    public func send(subscription: any Subscription) { listeners.take(subscription) }
}

/// The subscribers of a subject.
final class Listeners<Output, Failure: Error>: @unchecked Sendable {
    private struct State {
        var outlets: [Outlet<Output, Failure>] = []
        var upstreams: [any Subscription] = []
        var completion: Subscribers.Completion<Failure>?
    }

    private let excess: Outlet<Output, Failure>.Excess
    private let state = Locked(State())
    init(excess: @escaping Outlet<Output, Failure>.Excess) { self.excess = excess }
    deinit { for upstream in state.update({ $0.upstreams }) { upstream.cancel() } }

    func add<S: Subscriber>(_ subscriber: S, first: Output?) where S.Input == Output, S.Failure == Failure {
        let sink = Sink<Output, Failure>(subscriber), outlet = Outlet(sink, excess: excess)
        let completion = state.update { state in
            if state.completion == nil { state.outlets.append(outlet) }
            return state.completion
        }
        if completion == nil, let first { outlet.send(first) }
        outlet.begin(ClosureSubscription { [weak self] in self?.state.update { $0.outlets.removeAll { $0 === outlet } } })
        if let completion { outlet.end(completion) }
    }

    func send(_ value: Output) { for outlet in state.update({ $0.outlets }) { outlet.send(value) } }

    func end(_ completion: Subscribers.Completion<Failure>) {
        let outlets = state.update { state in
            defer { (state.outlets, state.upstreams, state.completion) = ([], [], state.completion ?? completion) }
            return state.outlets
        }
        for outlet in outlets { outlet.end(completion) }
    }

    /// All values of a publisher are requested, as long as the subject has not ended.
    func take(_ subscription: any Subscription) {
        let isLate = state.update { state in
            if state.completion == nil { state.upstreams.append(subscription) }
            return state.completion != nil
        }
        if isLate { subscription.cancel() } else { subscription.request(.unlimited) }
    }
}
