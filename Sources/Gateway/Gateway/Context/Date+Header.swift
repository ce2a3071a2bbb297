import Foundation
import Primitives
import Runtime

extension Date {
    /// As the value of a Date header (RFC 3261 §20.17).
    package var header: Text { Text(Runtime.WallClock.header(unixSeconds: Int(timeIntervalSince1970.rounded(.down)))) }
}
