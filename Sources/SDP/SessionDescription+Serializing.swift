import Primitives

extension SessionDescription {
    /// The description as a body, in the order of RFC 8866 §5, every line ended by CRLF.
    public func serialized() -> [UInt8] {
        var writer = Writer()
        writer.line("v", "0")
        writer.line("o", origin.username, origin.sessionID, origin.version, "IN", origin.addressType, origin.address)
        writer.line("s", sessionName)
        writer.lines(otherLines, at: .beforeConnection)
        writer.connection(connection)
        writer.lines(otherLines, at: .beforeTiming)
        writer.line("t", timing)
        writer.lines(otherLines, at: .last)
        writer.attributes(attributes)
        for stream in media { writer.media(stream) }
        return writer.bytes
    }

    private struct Writer {
        var bytes: [UInt8] = []

        init() { bytes.reserveCapacity(512) }

        mutating func line(_ type: Unicode.Scalar, _ values: Text...) {
            begin(UInt8(ascii: type))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(0x20) }
                bytes += value.bytes
            }
            end()
        }

        mutating func lines(_ lines: [Line], at place: LinePlace) {
            for line in lines where LinePlace(line.type) == place {
                begin(line.type)
                bytes += line.value.bytes
                end()
            }
        }

        mutating func connection(_ connection: Connection?) {
            guard let connection else { return }
            line("c", "IN", connection.addressType, connection.host)
        }

        mutating func attributes(_ attributes: [Attribute]) {
            for attribute in attributes {
                begin(UInt8(ascii: "a"))
                bytes += attribute.name.bytes
                if let value = attribute.value {
                    bytes.append(UInt8(ascii: ":"))
                    bytes += value.bytes
                }
                end()
            }
        }

        mutating func media(_ media: Media) {
            begin(UInt8(ascii: "m"))
            bytes += media.kind.bytes
            bytes.append(0x20)
            bytes += Text(media.port).bytes
            if let count = media.portCount { bytes += [UInt8(ascii: "/")] + count.bytes }
            for field in [media.proto] + media.formats { bytes += [0x20] + field.bytes }
            end()
            lines(media.otherLines, at: .beforeConnection)
            connection(media.connection)
            lines(media.otherLines, at: .beforeTiming)
            lines(media.otherLines, at: .last)
            attributes(media.attributes)
        }

        private mutating func begin(_ type: UInt8) { bytes += [type, UInt8(ascii: "=")] }
        private mutating func end() { bytes += [0x0D, 0x0A] }
    }
}
