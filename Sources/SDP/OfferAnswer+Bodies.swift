import Primitives

extension OfferAnswer {
    /// `receive(offer:)` of a body as it came.
    public mutating func receive(offer body: [UInt8]) throws(NegotiationError) { try receive(offer: Self.parse(body)) }

    /// `receive(answer:)` of a body as it came. A body that is no description ends the exchange like any other error.
    @discardableResult
    public mutating func receive(answer body: [UInt8]) throws(NegotiationError) -> NegotiatedAudio {
        let description: SessionDescription
        do throws(NegotiationError) {
            description = try Self.parse(body)
        } catch {
            if state == .haveLocalOffer { rollback() }
            throw error
        }
        return try receive(answer: description)
    }

    private static func parse(_ body: [UInt8]) throws(NegotiationError) -> SessionDescription {
        do throws(SessionDescription.ParseError) {
            return try SessionDescription(parsing: body)
        } catch {
            throw .malformed(error)
        }
    }
}
