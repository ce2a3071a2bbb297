import Primitives
import SDP

/// Where comfort noise (RFC 3389) makes sense: a leg may have it when nobody would be sent what he does not know.
extension Gateway {
    /// Whether it may be offered, or agreed to. What a bridge passes on undecoded needs it on both sides; what is decoded between, or for
    /// an
    /// application, needs it on none.
    func mayUseComfortNoise(_ leg: Leg) -> Bool {
        guard configuration.media.comfortNoise else { return false }
        if let audio = peer(of: leg)?.call.agreed { return !audio.comfortNoise.isEmpty || audio.primary.codec.matches(.opus) }
        guard let caller = leg.bridge.flatMap({ bridges[$0]?.caller }).flatMap(self.leg), caller !== leg else { return true }
        if let offer = caller.call.negotiation.remoteOffer { return offer.hasComfortNoise || offer.codecs.allSatisfy { $0.matches(.opus) } }
        return caller.call.agreed.map { !$0.comfortNoise.isEmpty } ?? false
    }
}
