@_exported import Foundation

// The part of os and OSLog that call code uses, under a name that other packages do not look for. Messages go to standard error.

/// The weight of a message.
public struct OSLogType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let `default` = OSLogType(rawValue: 0), info = OSLogType(rawValue: 1), debug = OSLogType(rawValue: 2)
    public static let error = OSLogType(rawValue: 16), fault = OSLogType(rawValue: 17)

    var name: String {
        switch self {
        case .info: "info"
        case .debug: "debug"
        case .error: "error"
        case .fault: "fault"
        default: "default"
        }
    }
}

/// A log of a subsystem, by its category.
open class OSLog: @unchecked Sendable {
    public struct Category: Sendable {
        let name: String
        public static let pointsOfInterest = Category(name: "PointsOfInterest")
    }

    public static let `default` = OSLog(subsystem: "", category: ""), disabled = OSLog(subsystem: "", category: "", isEnabled: false)
    let subsystem: String, category: String
    private let isEnabled: Bool

    public init(subsystem: String, category: String) { (self.subsystem, self.category, isEnabled) = (subsystem, category, true) }
    public init(subsystem: String, category: Category) { (self.subsystem, self.category, isEnabled) = (subsystem, category.name, true) }
    init(subsystem: String, category: String, isEnabled: Bool) {
        (self.subsystem, self.category, self.isEnabled) = (subsystem, category, isEnabled)
    }

    open func isEnabled(type: OSLogType) -> Bool { isEnabled }

    func write(_ type: OSLogType, _ message: String) {
        guard isEnabled(type: type) else { return }
        let source = subsystem.isEmpty ? "" : "[\(subsystem):\(category)] "
        FileHandle.standardError.write(Data("\(type.name) \(source)\(message)\n".utf8))
    }
}

/// A log whose messages are interpolated.
public struct Logger: Sendable {
    private let log: OSLog
    public init() { log = .default }
    public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }
    public init(_ log: OSLog) { self.log = log }

    public func log(_ message: OSLogMessage) { log.write(.default, message.text) }
    public func log(level: OSLogType, _ message: OSLogMessage) { log.write(level, message.text) }
    public func trace(_ message: OSLogMessage) { log.write(.debug, message.text) }
    public func debug(_ message: OSLogMessage) { log.write(.debug, message.text) }
    public func info(_ message: OSLogMessage) { log.write(.info, message.text) }
    public func notice(_ message: OSLogMessage) { log.write(.default, message.text) }
    public func warning(_ message: OSLogMessage) { log.write(.error, message.text) }
    public func error(_ message: OSLogMessage) { log.write(.error, message.text) }
    public func critical(_ message: OSLogMessage) { log.write(.fault, message.text) }
    public func fault(_ message: OSLogMessage) { log.write(.fault, message.text) }
}

/// The readers of a part of a message.
public struct OSLogPrivacy: Sendable {
    public enum Mask: Sendable { case hash, none }

    let isPublic: Bool?
    /// Numbers and truth values are shown, text and objects are not, as in a telephone's log.
    public static let auto = OSLogPrivacy(isPublic: nil)
    public static let `public` = OSLogPrivacy(isPublic: true), `private` = OSLogPrivacy(isPublic: false)
    public static let sensitive = OSLogPrivacy(isPublic: false)
    public static func `private`(mask: Mask) -> OSLogPrivacy { .private }
    public static func sensitive(mask: Mask) -> OSLogPrivacy { .sensitive }
    public static func auto(mask: Mask) -> OSLogPrivacy { .auto }
}

/// The message of a `Logger`. What may not be read stands in it as `<private>`.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        var text = ""
        public init(literalCapacity: Int, interpolationCount: Int) {}
        public mutating func appendLiteral(_ literal: String) { text += literal }

        public mutating func appendInterpolation<Value>(_ value: @autoclosure () -> Value, privacy: OSLogPrivacy = .auto) {
            let value = value()
            text += privacy.isPublic ?? (value is any Numeric || value is Bool) ? "\(value)" : "<private>"
        }

        /// The format is not applied.
        public mutating func appendInterpolation<Value, Format>(
            _ value: @autoclosure () -> Value, format: Format, privacy: OSLogPrivacy = .auto
        ) { appendInterpolation(value(), privacy: privacy) }
    }

    let text: String
    public init(stringLiteral value: String) { text = value }
    public init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }
}

/// Writes a message in the format of `NSLog`; `%{public}@` shows its argument, and `%@` and `%s` show `<private>`.
public func os_log(
    _ message: StaticString, dso: UnsafeRawPointer? = nil, log: OSLog = .default, type: OSLogType = .default, _ arguments: any CVarArg...
) {
    log.write(type, FormattedMessage(message.description, arguments).text)
}

public func os_log(
    _ type: OSLogType, dso: UnsafeRawPointer? = nil, log: OSLog = .default, _ message: StaticString, _ arguments: any CVarArg...
) {
    log.write(type, FormattedMessage(message.description, arguments).text)
}
