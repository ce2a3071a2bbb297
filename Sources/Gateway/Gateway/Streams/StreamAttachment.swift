import Foundation
import Primitives
public import Streaming

/// The wish of somebody outside to connect a call that is up with a program.
public struct StreamAttachment: Sendable {
    /// nil: the program is at the control interface, and its connection follows.
    public var place: StreamSettings.Place?
    /// nil: that of the line whose call waits for a program; else `twilio`.
    public var format: StreamFormat?
    /// Fields of the request that opens the WebSocket.
    public var headers: [StreamHeader]
    /// The sound that the program listens to; nil: it speaks and has the call for itself.
    public var tap: StreamTap?

    public init(place: StreamSettings.Place?, format: StreamFormat?, headers: [StreamHeader] = [], tap: StreamTap? = nil) {
        (self.place, self.format, self.headers, self.tap) = (place, format, headers, tap)
    }
}

/// The reason why a call is not connected with a program.
public enum StreamRefusal: Error, Sendable, CaseIterable {
    /// There is no such call that is connected.
    case noCall
    /// A program is connected with it already, or called.
    case hasStream
    /// The call waits for a program of another format.
    case otherFormat
    /// Its line lets nobody listen.
    case mayNotBeTapped
    /// It talks with somebody, or waits in a queue: no program speaks in between.
    case isNotAlone
}
