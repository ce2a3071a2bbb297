/// One gateway: its signalling lane, its calls, and what of its store waits. A value.
struct GatewayNode {
    /// Told by the proxy's pings; a gateway that has died is passed over once they have noticed.
    var isAlive = true, diedAt = Double.infinity
    var lanes: [WorkQueue]
    var signalling: Meter, storeLane = Meter(capacity: 1)
    /// The ends of set-ups that are under way, in their order.
    var settingUp: [Double] = []
    private var firstSettingUp = 0
    /// Calls that are up or ring.
    var calls = 0
    /// Calls that have been set up here.
    private(set) var setUp = 0
    var queue = ChangeQueue()
    var link = StoreLink()

    init(lanes count: Int) {
        lanes = [WorkQueue](repeating: WorkQueue(), count: count)
        signalling = Meter(capacity: Double(count))
    }

    /// Takes a job of the signalling lane; with several lanes the one of that line.
    /// - Returns: the time that it waits.
    mutating func take(_ work: Work, at time: Double, line: Int) -> Double {
        signalling.add(work)
        return lanes[line % lanes.count].take(work.seconds, at: time)
    }

    /// A job of all lines: it stands in the way of each lane.
    mutating func takeEverywhere(_ work: Work, at time: Double) -> Double {
        signalling.add(work)
        var done = time
        for lane in lanes.indices {
            _ = lanes[lane].take(work.seconds / Double(lanes.count), at: time)
            done = max(done, lanes[lane].freeAt)
        }
        return done
    }

    func backlog(at time: Double, line: Int) -> Double { lanes[line % lanes.count].backlog(at: time) }

    /// Set-ups that wait or are under way.
    var waiting: Int { settingUp.count - firstSettingUp }

    /// Counts the set-ups that are done by now.
    mutating func settle(at now: Double) {
        while firstSettingUp < settingUp.count, settingUp[firstSettingUp] <= now {
            firstSettingUp += 1
            setUp += 1
        }
        if firstSettingUp > 10_000 {
            settingUp.removeFirst(firstSettingUp)
            firstSettingUp = 0
        }
    }

    /// The gateway dies.
    /// - Returns: set-ups that go with it.
    mutating func die(at now: Double) -> Int {
        settle(at: now)
        defer { (settingUp, firstSettingUp) = ([], 0) }
        (isAlive, diedAt) = (false, now)
        return waiting
    }
}

/// The connection of a gateway with the database, as `PostgresWorker` in the gateway uses it: one batch at a time, writing before reading.
struct StoreLink {
    /// The bounds of the product: `PostgresWorker`, `LeaseWatch`.
    static let mostRows = 500, mostTopics = 100, mostOrphans = 200
    static let longestSpread = 180.0, timeout = 15.0, leaseLength = 3.0, leaseInterval = 1.0, longestWait = 10.0

    /// The batch that is under way is done then; or the next attempt to connect begins.
    var freeAt = 0.0
    var isConnected = true
    /// Seconds until the attempt after this one.
    var wait = 0.25
    /// When it began to look on at the leases of the others without a break.
    var looksOnSince = -1e9
    var leaseRenewed = 0.0
    /// Its lease was renewed ahead to this time, for as long as a reading of everything may take.
    var leaseAhead = 0.0
    /// The others have ended its calls, and it has not renewed its lease since.
    var isGivenUp = false
    /// Topics of others that have been read, and notices of our own.
    var read = 0.0, own = 0
    /// The place of the oldest unread notice on the board.
    var place = 0
    var readsAll = false
    /// Not before this time.
    var readsAllAt = 0.0
    /// Topics that were told while there was no connection: they are not read one by one.
    var unheard = 0
    /// Nothing is read before: the lines have not taken the reading before it.
    var blockedUntil = 0.0
    /// Readings of everything that were begun, and that came to an end.
    var fullReadings = 0, fullReadingsDone = 0

    /// Topics of others that are to be read.
    /// - Parameter share: the part of all notices that concern one other gateway.
    func unread(of sent: Int, share: Double) -> Int { max(0, Int(Double(sent - own) * share - read)) }

    /// The database is away: the next attempt is put off.
    mutating func lose(at time: Double) {
        wait = isConnected ? 0.25 : min(2 * wait, Self.longestWait)
        (isConnected, freeAt) = (false, time + wait)
    }

    /// The lease is renewed, and those of the others are read. Who did not do so for the length of a lease has missed something.
    mutating func renew(at time: Double) {
        if time - leaseRenewed > Self.leaseLength { looksOnSince = time }
        (leaseRenewed, leaseAhead, isGivenUp) = (time, 0, false)
    }

    /// The time over which gateways spread their readings of everything: in it all of them could read one after the other.
    static func spread(_ reading: Double, nodes: Int) -> Double { min(Double(nodes - 1) * reading, longestSpread) }

    /// The database is there again: everything is to be read.
    mutating func connect(at time: Double, readsAllAt: Double, of sent: Int, share: Double) {
        (self.readsAllAt, unheard) = (readsAllAt, unread(of: sent, share: share))
        (isConnected, looksOnSince, wait, readsAll, freeAt) = (true, time, 0.25, true, time)
        leaseRenewed = min(leaseRenewed, time - Self.leaseInterval)
    }
}
