// Operators that give values somewhere else, or at another time than they came.

extension Publisher {
    /// Gives each value, and the end, where the scheduler says.
    public func receive<S: Scheduler>(on scheduler: S, options: Never? = nil) -> AnyPublisher<Output, Failure> {
        rescheduled { scheduler.hookswitchSchedule($0) }
    }

    /// Gives each value, and the end, so long after it came.
    public func delay<S: Scheduler>(
        for time: HookswitchInterval, tolerance: HookswitchInterval? = nil, scheduler: S, options: Never? = nil
    ) -> AnyPublisher<Output, Failure> { rescheduled { scheduler.hookswitchSchedule(after: time, $0) } }

    private func rescheduled(_ schedule: @escaping (@escaping @Sendable () -> Void) -> Void) -> AnyPublisher<Output, Failure> {
        through({ value, sink in
            let value = Unchecked(value)
            schedule { sink.give(value.value) }
            return .none
        }) { completion, sink in
            let completion = Unchecked(completion)
            schedule { sink.receive(completion: completion.value) }
        }
    }

    /// Subscribes, requests and cancels where the scheduler says.
    public func subscribe<S: Scheduler>(on scheduler: S, options: Never? = nil) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let schedule = { (action: @escaping @Sendable () -> Void) in scheduler.hookswitchSchedule(action) }
            let own = Sink<Output, Failure>(
                subscription: { upstream in
                    let upstream = Unchecked(upstream)
                    let tie = ClosureSubscription(request: { demand in schedule { upstream.value.request(demand) } }) {
                        schedule { upstream.value.cancel() }
                    }
                    downstream.receive(subscription: tie)
                }, value: { downstream.receive($0) }, completion: { downstream.receive(completion: $0) })
            let begin = Unchecked({ receive(subscriber: own) })
            schedule { begin.value() }
        }
    }

    /// Gives a value when no other has come for so long. The end drops the value that waits.
    public func debounce<S: Scheduler>(
        for time: HookswitchInterval, scheduler: S, options: Never? = nil
    ) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let turn = Turn()
            pooled(
                excess: { _, _ in },
                { value, outlet in
                    let value = Unchecked(value), own = turn.next()
                    scheduler.hookswitchSchedule(after: time) { if turn.is(own) { outlet.send(value.value) } }
                }
            ) { completion, outlet in
                let completion = Unchecked(completion)
                turn.next()
                scheduler.hookswitchSchedule { outlet.end(completion.value) }
            }.receive(subscriber: downstream)
        }
    }

    /// One value at most in each stretch of time: the first at once, then the newest of the stretch at its end, or the first of it. A value
    /// that waits comes before the end.
    public func throttle<S: Scheduler>(for time: HookswitchInterval, scheduler: S, latest: Bool) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let gate = ThrottleGate<Output, Failure>(
                latest: latest, now: { scheduler.hookswitchSchedule($0) }, later: { scheduler.hookswitchSchedule(after: time, $0) })
            pooled(excess: { _, _ in }, { gate.receive($0, $1) }) { gate.finish($0, $1) }.receive(subscriber: downstream)
        }
    }

    /// Ends when no value has come for so long: with the error, or finished where there is none.
    public func timeout<S: Scheduler>(
        _ interval: HookswitchInterval, scheduler: S, options: Never? = nil, customError: (() -> Failure)? = nil
    ) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let turn = Turn(), error = Unchecked(customError)
            let wait = {
                let own = turn.next()
                scheduler.hookswitchSchedule(after: interval) {
                    if turn.is(own) { downstream.end(error.value.map { .failure($0()) } ?? .finished) }
                }
            }
            wait()
            through { value, sink in
                wait()
                return sink.receive(value)
            }.receive(subscriber: downstream)
        }
    }

    /// The time between the values, in the scheduler's time; the first is that since the subscription.
    public func measureInterval<S: Scheduler>(using scheduler: S, options: Never? = nil) -> AnyPublisher<HookswitchInterval, Failure> {
        AnyPublisher { downstream in
            through(scheduler.hookswitchNow) { last, _ in
                let now = scheduler.hookswitchNow
                defer { last = now }
                return now - last
            }.receive(subscriber: downstream)
        }
    }

    /// The values in arrays: those of each stretch of time, where any came; with a count, also each time that there are so many. The rest
    /// comes before the end. A failure drops it.
    public func collect<S: Scheduler>(
        _ strategy: Publishers.TimeGroupingStrategy<S>, options: Never? = nil
    ) -> AnyPublisher<[Output], Failure> {
        let (scheduler, time, most) = strategy.parts
        return AnyPublisher { downstream in
            let outlet = Outlet<[Output], Failure>(downstream) { $0.append($1) }
            let group = TimedGroup(outlet, most: most) { scheduler.hookswitchSchedule(after: time, $0) }
            receive(
                subscriber: Sink<Output, Failure>(
                    subscription: {
                        outlet.begin($0)
                        group.begin()
                        $0.request(.unlimited)
                    },
                    value: {
                        group.add($0)
                        return .none
                    }, completion: { group.finish($0) }))
        }
    }

    /// Keeps values that nobody has requested yet, so many at most.
    public func buffer(
        size: Int, prefetch: Publishers.PrefetchStrategy, whenFull: Publishers.BufferingStrategy<Failure>
    ) -> AnyPublisher<Output, Failure> {
        AnyPublisher { downstream in
            let isKeptFull = prefetch == .keepFull, fault = Locked<Failure?>(nil)
            let outlet = Outlet<Output, Failure>(downstream, refills: isKeptFull) { waiting, value in
                if waiting.count < size { return waiting.append(value) }
                switch whenFull {
                case .dropNewest: break
                case .dropOldest: if waiting.popFirst() != nil { waiting.append(value) }
                case .customError(let error): fault.update { $0 = error() }
                }
            }
            receive(
                subscriber: Sink<Output, Failure>(
                    subscription: {
                        outlet.begin($0)
                        $0.request(isKeptFull ? .max(size) : .unlimited)
                    },
                    value: {
                        let passes = outlet.send($0)
                        if let error = fault.update({ $0 }) { outlet.fail(error) }
                        return passes && isKeptFull ? .max(1) : .none
                    }, completion: { if case .failure = $0 { outlet.end($0) } else { outlet.finish($0) } }))
        }
    }
}

extension Publishers {
    /// The requests of a buffer: as many as it has place for, or all.
    public enum PrefetchStrategy: Sendable { case keepFull, byRequest }

    /// The fate of a value that a full buffer receives.
    public enum BufferingStrategy<Failure: Error> {
        case dropNewest, dropOldest
        /// The values of the buffer are given, and then this error.
        case customError(() -> Failure)
    }

    /// The groups of `collect`: those of a stretch of time, or of so many values too.
    public enum TimeGroupingStrategy<Context: Scheduler> {
        case byTime(Context, HookswitchInterval)
        case byTimeOrCount(Context, HookswitchInterval, Int)

        var parts: (scheduler: Context, time: HookswitchInterval, most: Int?) {
            switch self {
            case .byTime(let scheduler, let time): (scheduler, time, nil)
            case .byTimeOrCount(let scheduler, let time, let most): (scheduler, time, most)
            }
        }
    }
}

/// A number that names the newest of those who wait.
private final class Turn: Sendable {
    private let last = Locked(0)

    @discardableResult
    func next() -> Int {
        last.update {
            $0 += 1; return $0
        }
    }

    func `is`(_ number: Int) -> Bool { last.update { $0 } == number }
}
