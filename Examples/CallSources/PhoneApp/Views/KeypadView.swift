import MetalKit

/// A view that no call needs: `.callsources` leaves it out.
final class KeypadView: MTKView {}
