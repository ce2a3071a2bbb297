import Primitives

extension OfferAnswer {
    /// `receive(offer:)` of a body as it came.
    public mutating func receive(offer body: [UInt8]) throws(NegotiationError) { try receive(offer: Text(body)) }

    /// As above, of a body that is kept anyway: what the negotiation keeps are slices of it.
    public mutating func receive(offer content: Text) throws(NegotiationError) { try receive(offer: Self.parse(content)) }

    /// `receive(answer:)` of a body as it came. A body that is no description ends the exchange like any other error.
    @discardableResult
    public mutating func receive(answer body: [UInt8]) throws(NegotiationError) -> NegotiatedAudio {
        let description: SessionDescription
        do throws(NegotiationError) {
            description = try Self.parse(Text(body))
        } catch {
            if state == .haveLocalOffer { rollback() }
            throw error
        }
        return try receive(answer: description)
    }

    private static func parse(_ content: Text) throws(NegotiationError) -> SessionDescription {
        do throws(SessionDescription.ParseError) {
            return try SessionDescription(parsing: content)
        } catch {
            throw .malformed(error)
        }
    }
}
