import CallJournal

/// The conversation of each call that is up: the calls that talk with each other.
///
/// Calls of a conversation are one call group of CallKit's, but for those that a transfer joined: they keep their groups, and may be of
/// different lines.
struct Conversations {
    private var numbers: [CallUUID: Int] = [:]
    private var members: [Int: [CallUUID]] = [:]
    private var last = 0

    /// Those of two and more, and those of one, in the order in which they began.
    var all: [[CallUUID]] { members.sorted { $0.key < $1.key }.map(\.value) }

    /// A call alone: at its beginning, or when it is taken out of a conversation.
    mutating func begin(_ call: CallUUID) {
        if let number = numbers[call], members[number]?.count == 1 { return }
        end(call)
        last += 1
        (numbers[call], members[last]) = (last, [call])
    }

    /// Moves a call into the conversation of another one, where that is up.
    mutating func move(_ call: CallUUID, to other: CallUUID) {
        guard let number = numbers[other], numbers[call] != number else { return }
        end(call)
        numbers[call] = number
        members[number, default: []].append(call)
    }

    mutating func end(_ call: CallUUID) {
        guard let number = numbers.removeValue(forKey: call) else { return }
        members[number]?.removeAll { $0 == call }
        if members[number]?.isEmpty == true { members[number] = nil }
    }

    /// The others of its conversation.
    func others(than call: CallUUID) -> [CallUUID] {
        numbers[call].flatMap { members[$0] }.map { $0.filter { $0 != call } } ?? []
    }
}
