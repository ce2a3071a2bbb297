import Foundation

/// The world outside, as the calls need it: signalling and sound. The app's network library gives it.
public protocol CallNetwork: AnyObject {
    func ring(_ call: UUID) -> Bool
    func start(_ call: UUID, to handle: String) -> Bool
    func answer(_ call: UUID) -> Bool
    func end(_ call: UUID) -> Bool
    func reset()
    /// `completion`: whether it is so now.
    func setHeld(_ call: UUID, _ isHeld: Bool, completion: @escaping @Sendable (Bool) -> Void)
    func setMuted(_ call: UUID, _ isMuted: Bool) -> Bool
    func play(_ digits: String, on call: UUID) -> Bool
    func group(_ call: UUID, with other: UUID?) -> Bool
    func configAudio() -> Bool
    func startAudio() -> Bool
    func stopAudio()
}
