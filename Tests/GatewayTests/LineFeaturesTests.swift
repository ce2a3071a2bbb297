import CallKit
import Foundation
import Primitives
import SIP
import Testing

@testable import Gateway

/// The filter of one line: who is turned away, in what order it is asked, and what the caller is told.
@Suite struct LineFeaturesTests {
    /// A date that a test moves.
    private final class Clock { var date = Date(timeIntervalSince1970: 1_790_000_000) }

    private static func features(
        kept: LineRecord = LineRecord(), clock: Clock = Clock(), gateway: RefusalStatuses = RefusalStatuses(),
        _ adapt: (inout LineConfiguration) -> Void = { _ in }
    ) -> LineFeatures {
        var line = LineConfiguration(number: "1001")
        adapt(&line)
        return LineFeatures(line, statuses: gateway, recents: 10, kept: kept) { clock.date }
    }

    private static func update(_ caller: String? = "+390551234") -> CXCallUpdate {
        let update = CXCallUpdate()
        update.remoteHandle = caller.map { CXHandle(type: $0.contains("@") ? .generic : .phoneNumber, value: $0) }
        return update
    }

    private static func status(_ features: LineFeatures, _ caller: String? = "+390551234") -> Int? {
        let refusal = features.refusal(of: update(caller))
        #expect(features.wouldRefuse(update(caller)) == (refusal != nil))
        return refusal?.cause.status
    }

    // MARK: The order of the verdicts

    /// Each row turns one more reason on: the first that holds is told.
    @Test func `a line without calls comes first, then the block list, the embedder's filter and Do Not Disturb`() {
        func features(_ reasons: Int) -> LineFeatures {
            let features = Self.features {
                $0.doNotDisturb.isOn = reasons > 0
                $0.block = reasons > 2 ? [NumberPattern("+39*")!] : []
                $0.takesCalls = reasons < 4
            }
            if reasons > 1 { features.filter = { _, _ in .callIsProtected } }
            return features
        }
        #expect((0...4).map { Self.status(features($0)) } == [nil, 480, 480, 607, 403])
        let phrases = (1...4).map { features($0).refusal(of: Self.update())?.cause.phrase }
        #expect(phrases == ["Do Not Disturb", nil, "Unwanted", nil])
    }

    @Test func `the embedder's filter sees the call and its update, and none that is refused before`() {
        let features = Self.features { $0.block = [NumberPattern("666")!] }
        var seen: [String?] = []
        features.filter = {
            seen.append($1.remoteHandle?.value)
            return nil
        }
        #expect(Self.status(features, "666") == 607 && Self.status(features, "1002") == nil)
        #expect(seen == ["1002", "1002"], "once for each question")
    }

    @Test(
        arguments: [
            (nil, false, 480), ("+390551234", false, nil), ("sip:boss@a.test", false, nil), ("+1555", false, 480),
            ("+390551234", true, 607),
        ] as [(String?, Bool, Int?)])
    func `a VIP is let through Do Not Disturb, and not off the block list`(caller: String?, isBlocked: Bool, status: Int?) {
        let features = Self.features {
            $0.doNotDisturb.isOn = true
            $0.doNotDisturb.vips = ["39055*", "boss"].map { NumberPattern($0)! }
            $0.block = isBlocked ? [NumberPattern("+39*")!] : []
        }
        #expect(Self.status(features, caller) == status)
    }

    @Test func `a caller without a handle is on no list`() {
        #expect(Self.status(Self.features { $0.block = [NumberPattern(".*")!] }, nil) == nil)
    }

    // MARK: The block list

    @Test func `blocking and unblocking say whether anything changed, whatever way the number is written`() {
        let features = Self.features(), key = CallerMatcher.key(of: CXHandle(type: .phoneNumber, value: "+39 055 1234"))
        #expect(features.setBlocked(key, true) && !features.setBlocked(key, true) && Self.status(features) == 607)
        #expect(Self.status(features, "39055-1234") == 607 && Self.status(features, "+390551235") == nil)
        #expect(features.setBlocked(key, false) && !features.setBlocked(key, false) && Self.status(features) == nil)
    }

    @Test func `who calls is the last caller, unless it is blocked or unnamed`() {
        let features = Self.features { $0.block = [NumberPattern("666")!] }
        for caller in ["1", "666"] { features.noteCaller(CXHandle(type: .phoneNumber, value: caller)) }
        features.noteCaller(nil)
        #expect(features.lastCaller?.value == "1")
    }

    @Test func `what was kept is in force again`() {
        var kept = LineRecord()
        (kept.blocked, kept.doNotDisturb) = (["390551234"], DoNotDisturbState(isOn: false))
        kept.recents = [
            RecentCall(
                id: UUID(), line: "1001", direction: .incoming, handleType: .phoneNumber, handle: "77", name: nil, began: .now,
                connected: nil,
                ended: .now, outcome: .missed, reason: "unanswered")
        ]
        let features = Self.features(kept: kept) { $0.doNotDisturb.isOn = true }
        #expect(Self.status(features) == 607 && Self.status(features, "1002") == nil, "turned off by hand before the restart")
        #expect(!features.isDoNotDisturbOn && features.lastCaller?.value == "77" && features.recents.calls.count == 1)
    }

    // MARK: Do Not Disturb

    @Test func `turned on and off by hand it holds until the next turn`() {
        let features = Self.features()
        #expect(!features.isDoNotDisturbOn)
        #expect(
            features.setDoNotDisturb(true) == DoNotDisturbState(isOn: true) && features.isDoNotDisturbOn && Self.status(features) == 480)
        #expect(features.refusal(of: Self.update())?.headers.isEmpty == true, "nobody knows when it ends")
        #expect(features.setDoNotDisturb(false) == DoNotDisturbState(isOn: false) && Self.status(features) == nil)
    }

    /// The clock shows a Monday, 14:13:20 UTC.
    @Test(arguments: [(0, "400"), (399, "1"), (399.6, "1"), (398.5, "2"), (400, nil), (-800, "1200"), (-801, nil)] as [(Double, Text?)])
    func `a window of the schedule tells when to call again, in whole seconds`(later: Double, seconds: Text?) {
        let clock = Clock()
        clock.date.addTimeInterval(later)
        let features = Self.features(clock: clock) {
            $0.doNotDisturb.schedule.timeZone = .gmt
            $0.doNotDisturb.schedule.windows = [.init(days: [.monday], from: 14 * 60, to: 14 * 60 + 20)]
        }
        let refusal = features.refusal(of: Self.update())
        #expect(refusal?.headers.first { $0.0 == .retryAfter }?.1 == seconds && features.isDoNotDisturbOn == (seconds != nil))
    }

    // MARK: What the caller is told

    private static let codes: [(CXErrorCodeIncomingCallError.Code, Int)] = [
        (.unentitled, 403), (.callUUIDAlreadyExists, 482), (.filteredByDoNotDisturb, 480), (.filteredDuringRestrictedSharingMode, 480),
        (.callIsProtected, 480), (.filteredBySensitiveParticipants, 480), (.unknown, 500), (.filteredByBlockList, 608),
    ]

    @Test(arguments: codes) func `an error of the report has its status`(code: CXErrorCodeIncomingCallError.Code, status: Int) {
        let refusal = Self.features().refusal(of: CXErrorCodeIncomingCallError(code), callInfo: nil)
        #expect(refusal.cause.status == status && refusal.headers.isEmpty)
    }

    @Test func `a line without room is busy, and any other error is a failure of ours`() {
        let features = Self.features { $0.refusals[.maximumCalls] = 600 }
        #expect(features.refusal(of: CXErrorCodeRequestTransactionError(.maximumCallGroupsReached), callInfo: nil).cause.status == 600)
        #expect(features.refusal(of: CXErrorCodeRequestTransactionError(.unknown), callInfo: nil).cause.status == 500)
        #expect(features.refusal(of: CancellationError(), callInfo: nil).cause.status == 500)
    }

    @Test(arguments: [(608, "https://a.test/card", true), (608, nil, false), (603, "https://a.test/card", false)] as [(Int, Text?, Bool)])
    func `a directory's block names whom to ask, where 608 is the status`(status: Int, callInfo: Text?, hasCard: Bool) {
        let features = Self.features { $0.refusals[.directory] = status }
        let refusal = features.refusal(of: CXErrorCodeIncomingCallError(.filteredByBlockList), callInfo: callInfo)
        #expect(refusal.cause.status == status && refusal.headers.count == (hasCard ? 1 : 0))
        if hasCard { #expect(refusal.headers[0].1 == "<https://a.test/card>;purpose=jwscard") }
    }

    @Test func `a line's statuses go before the gateway's`() {
        var gateway = RefusalStatuses()
        (gateway[.blockList], gateway[.unentitled]) = (403, 404)
        let features = Self.features(gateway: gateway) {
            $0.block = [NumberPattern("666")!]
            $0.refusals[.blockList] = 603
        }
        #expect(Self.status(features, "666") == 603)
        #expect(Self.status(Self.features(gateway: gateway) { $0.takesCalls = false }) == 404)
    }

    // MARK: Call directories

    /// Has one directory, with one number in it.
    private final class Shelf: CallDirectoryStore {
        func load(limits: CallDirectoryLimits) throws -> [CallDirectoryRecord] {
            var builder = CallDirectoryBuilder(limits: limits)
            try builder.block(390_551_234)
            return [CallDirectoryRecord(identifier: "spam", data: builder.build())]
        }
        func save(_ data: CallDirectoryData, of identifier: String, at date: Date) {}
        func save(_ failure: CallDirectoryFailure, of identifier: String) {}
    }

    @Test(
        arguments: [
            (["spam"], "+39 055 1234", false, 608), (["other"], "+390551234", false, nil), ([], "+390551234", false, nil),
            (["other", "spam"], "390551234", false, 608), (["spam"], "+390551235", false, nil), (["spam"], "+390551234", true, nil),
            (["spam"], "sip:390551234@a.test", false, nil),
        ] as [([String], String, Bool, Int?)])
    func `an enabled directory blocks a number that is no contact`(enabled: [String], caller: String, isContact: Bool, status: Int?) throws
    {
        let directories = CallDirectories(store: Shelf())
        try directories.restore()
        let features = Self.features {
            $0.directories = enabled
            if isContact { $0.addContact("0039 055 1234", name: "Zero") }
            if isContact { $0.addContact(caller, name: "Alice") }
        }
        #expect(Self.status(features, caller) == nil, "there are no directories yet")
        let system = CallSystem(configuration: CallSystemConfiguration(), host: InlineHost())
        features.attach(to: system, directories: directories)
        #expect(Self.status(features, caller) == status)
        #expect(system.enabledDirectories == enabled && system.directories === directories)
    }

    @Test func `the line's system asks it, unless a call is let in whoever it is from`() {
        let system = CallSystem(configuration: CallSystemConfiguration(), host: InlineHost())
        let features = Self.features {
            $0.block = [NumberPattern("666")!]
            $0.addContact("+39 055 1234", name: "Alice")
        }
        features.attach(to: system, directories: nil)
        #expect(system.filter?(UUID(), Self.update("666")) == .filteredByBlockList && system.filter?(UUID(), Self.update("1")) == nil)
        features.isOpen = true
        #expect(system.filter?(UUID(), Self.update("666")) == nil)
        #expect(
            features.refusal(of: CXErrorCodeIncomingCallError(.filteredByBlockList), callInfo: nil).cause.status == 608, "not by this list")
        #expect(system.contacts?(CXHandle(type: .phoneNumber, value: "39-0551234")) == "Alice")
        #expect(system.contacts?(CXHandle(type: .phoneNumber, value: "1")) == nil)
    }
}
