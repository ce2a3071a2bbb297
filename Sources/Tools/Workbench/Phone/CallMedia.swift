import Media
import Primitives
import RTP
import SDP

/// The media of one call of ours, and how far it has come: reserved, opened, started, and ended once, wherever it was.
struct CallMedia {
    let leg: MediaLegID
    private(set) var reservation: PortReservation?
    private(set) var isOpen = false
    private(set) var isRunning = false
    /// The statistics of the whole call; set when it has ended and had been opened.
    private(set) var statistics: MediaStatistics?
    private let plane: any MediaPlane

    init(leg: MediaLegID, plane: any MediaPlane) { (self.leg, self.plane) = (leg, plane) }

    /// Takes port numbers. Binds nothing.
    mutating func reserve(at now: Instant) throws(MediaError) { reservation = try plane.reserve(at: now) }

    /// Binds and makes codecs: from the answer on.
    mutating func open(_ plan: MediaPlan, at now: Instant) throws(MediaError) {
        guard let reservation, !isOpen else { return }
        self.reservation = try plane.open(leg, reservation: reservation, plan: plan, near: nil, at: now)
        isOpen = true
    }

    /// - Returns: false where nothing is open, or it runs already.
    mutating func start(at now: Instant) throws(MediaError) -> Bool {
        guard isOpen, !isRunning else { return false }
        try plane.activate(leg)
        try plane.start(leg, at: now)
        isRunning = true
        return true
    }

    /// No packet leaves after this; for good, or for a while.
    ///
    /// - Returns: what passed since the start; nil where nothing ran.
    mutating func stop(ending: Bool = false, at now: Instant) -> MediaInterval? {
        guard isRunning else { return nil }
        isRunning = false
        let interval = try? plane.stop(leg, ending: ending, at: now)
        try? plane.deactivate(leg)
        return interval
    }

    func update(_ plan: MediaPlan, at now: Instant) throws(MediaError) {
        if isOpen { try plane.update(leg, plan: plan, at: now) }
    }

    func send(_ digits: [DTMFDigit], at now: Instant) throws(MediaError) {
        if isRunning { try plane.send(digits, on: leg, at: now) }
    }

    /// Everything that is still due: stop, deactivate, close, release.
    mutating func end(at now: Instant) {
        _ = stop(ending: true, at: now)
        if isOpen { statistics = try? plane.close(leg, at: now) }
        if let reservation { try? plane.release(reservation, at: now) }
        (isOpen, reservation) = (false, nil)
    }
}
