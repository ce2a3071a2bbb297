import Foundation
import Primitives

/// The group of each call. Every call is in exactly one; a group is there as long as it has a call.
struct CallGroups: Equatable {
    private var groups = IdentityTable<Int>()
    private var sizes = IdentityTable<Int>()

    /// Number of groups.
    var count: Int { sizes.count }

    func group(of call: UUID) -> Int? { groups[call] }
    func size(of group: Int) -> Int { sizes[group] ?? 0 }

    /// Puts a call into a group, which appears if need be, or (nil) takes it out of all. Returns where the call was.
    @discardableResult
    mutating func move(_ call: UUID, to group: Int?) -> Int? {
        let before = groups[call]
        guard before != group else { return before }
        if let before {
            let size = size(of: before) - 1
            sizes[before] = size == 0 ? nil : size
        }
        groups[call] = group
        if let group { sizes[group] = size(of: group) + 1 }
        return before
    }
}

/// A provider's limits, as its configuration has them.
struct GroupLimits: Equatable {
    var groups: Int
    var callsPerGroup: Int
    /// Whether calls can be translated.
    var translation: Bool

    init(_ configuration: CXProviderConfiguration) {
        (groups, callsPerGroup) = (configuration.maximumCallGroups, configuration.maximumCallsPerCallGroup)
        translation = configuration.supportsAudioTranslation
    }
}
