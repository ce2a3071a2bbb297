import AVFoundation
import Foundation

/// A colour in red, green and blue, each from 0 to 1.
open class UIColor: NSObject, @unchecked Sendable {
    public let cgColor: CGColor

    public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
        cgColor = CGColor(red: red, green: green, blue: blue, alpha: alpha)
        super.init()
    }

    public convenience init(white: CGFloat, alpha: CGFloat) { self.init(red: white, green: white, blue: white, alpha: alpha) }

    /// nil: there is no catalogue of colours.
    public convenience init?(named name: String) { nil }

    open func withAlphaComponent(_ alpha: CGFloat) -> UIColor {
        UIColor(red: cgColor.red, green: cgColor.green, blue: cgColor.blue, alpha: alpha)
    }

    public static let clear = UIColor(white: 0, alpha: 0), black = UIColor(white: 0, alpha: 1), white = UIColor(white: 1, alpha: 1)
    public static let gray = UIColor(white: 0.5, alpha: 1), lightGray = UIColor(white: 0.67, alpha: 1)
    public static let darkGray = UIColor(white: 0.33, alpha: 1), red = UIColor(red: 1, green: 0, blue: 0, alpha: 1)
    public static let green = UIColor(red: 0, green: 1, blue: 0, alpha: 1), blue = UIColor(red: 0, green: 0, blue: 1, alpha: 1)
    public static let yellow = UIColor(red: 1, green: 1, blue: 0, alpha: 1), orange = UIColor(red: 1, green: 0.5, blue: 0, alpha: 1)
    public static let systemRed = red, systemGreen = green, systemBlue = blue, systemGray = gray, systemOrange = orange
    public static let label = black, secondaryLabel = darkGray, systemBackground = white
}

/// A font by its name and size; nothing is written with it.
open class UIFont: NSObject, @unchecked Sendable {
    public struct Weight: RawRepresentable, Hashable, Sendable {
        public let rawValue: CGFloat
        public init(rawValue: CGFloat) { self.rawValue = rawValue }

        public static let light = Weight(rawValue: -0.4), regular = Weight(rawValue: 0), medium = Weight(rawValue: 0.23)
        public static let semibold = Weight(rawValue: 0.3), bold = Weight(rawValue: 0.4)
    }

    public let fontName: String
    public let pointSize: CGFloat

    public init?(name: String, size: CGFloat) {
        (fontName, pointSize) = (name, size)
        super.init()
    }

    init(system: String, _ size: CGFloat) {
        (fontName, pointSize) = (system, size)
        super.init()
    }

    open class func systemFont(ofSize size: CGFloat) -> UIFont { UIFont(system: "System", size) }
    open class func systemFont(ofSize size: CGFloat, weight: Weight) -> UIFont { UIFont(system: "System", size) }
    open class func boldSystemFont(ofSize size: CGFloat) -> UIFont { UIFont(system: "System-Bold", size) }
    open class func monospacedDigitSystemFont(ofSize size: CGFloat, weight: Weight) -> UIFont { UIFont(system: "System-Mono", size) }
}
