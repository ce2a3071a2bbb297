import Primitives

extension SessionDescription {
    /// The description as a body, in the order of RFC 8866 §5, every line ended by CRLF.
    public func serialized() -> [UInt8] {
        var writer = Writer()
        writer.text("v=0\r\no=")
        writer.fields(origin.username, origin.sessionID, origin.version)
        writer.text(" IN ")
        writer.fields(origin.addressType, origin.address)
        writer.end()
        writer.line(UInt8(ascii: "s"), sessionName)
        writer.lines(otherLines, at: .beforeConnection)
        writer.connection(connection)
        writer.lines(otherLines, at: .beforeTiming)
        writer.line(UInt8(ascii: "t"), timing)
        writer.lines(otherLines, at: .last)
        writer.attributes(attributes)
        for stream in media { writer.media(stream) }
        return writer.bytes
    }

    private struct Writer {
        var bytes: [UInt8] = []

        init() { bytes.reserveCapacity(512) }

        mutating func text(_ literal: StaticString) {
            bytes.append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
        }

        mutating func line(_ type: UInt8, _ value: Text) {
            begin(type)
            bytes.append(contentsOf: value.bytes)
            end()
        }

        mutating func fields(_ first: Text, _ second: Text, _ third: Text? = nil) {
            bytes.append(contentsOf: first.bytes)
            field(second)
            if let third { field(third) }
        }

        mutating func lines(_ lines: [Line], at place: LinePlace) {
            for line in lines where LinePlace(line.type) == place { self.line(line.type, line.value) }
        }

        mutating func connection(_ connection: Connection?) {
            guard let connection else { return }
            text("c=IN ")
            fields(connection.addressType, connection.host)
            end()
        }

        mutating func attributes(_ attributes: [Attribute]) {
            for attribute in attributes {
                begin(UInt8(ascii: "a"))
                bytes.append(contentsOf: attribute.name.bytes)
                if let value = attribute.value {
                    bytes.append(UInt8(ascii: ":"))
                    bytes.append(contentsOf: value.bytes)
                }
                end()
            }
        }

        mutating func media(_ media: Media) {
            begin(UInt8(ascii: "m"))
            bytes.append(contentsOf: media.kind.bytes)
            bytes.append(0x20)
            bytes.append(decimal: media.port)
            if let count = media.portCount {
                bytes.append(UInt8(ascii: "/"))
                bytes.append(contentsOf: count.bytes)
            }
            field(media.proto)
            for format in media.formats { field(format) }
            end()
            lines(media.otherLines, at: .beforeConnection)
            connection(media.connection)
            lines(media.otherLines, at: .beforeTiming)
            lines(media.otherLines, at: .last)
            attributes(media.attributes)
        }

        mutating func end() {
            bytes.append(UInt8(ascii: "\r"))
            bytes.append(UInt8(ascii: "\n"))
        }

        private mutating func begin(_ type: UInt8) {
            bytes.append(type)
            bytes.append(UInt8(ascii: "="))
        }

        private mutating func field(_ value: Text) {
            bytes.append(0x20)
            bytes.append(contentsOf: value.bytes)
        }
    }
}
