@_exported import AVFoundation
@_exported import Foundation

/// The only place where an app acts on calls. All methods but `providerDidReset` may be left out.
///
/// An action whose `perform` method is left out is not performed; it runs into its deadline. A method counts as left out when only a
/// subclass of the conforming class has it: declare it in the class that conforms, and override it.
public protocol CXProviderDelegate: NSObjectProtocol {
    /// All calls are over; clean up without answering any action.
    func providerDidReset(_ provider: CXProvider)
    /// The provider is connected to the system.
    func providerDidBegin(_ provider: CXProvider)
    /// True: the delegate deals with the whole transaction, and `perform` is not called for its actions.
    func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool
    func provider(_ provider: CXProvider, perform action: CXStartCallAction)
    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction)
    func provider(_ provider: CXProvider, perform action: CXEndCallAction)
    func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction)
    func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction)
    func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction)
    func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction)
    func provider(_ provider: CXProvider, perform action: CXSetTranslatingCallAction)
    /// The action has failed because its deadline passed; do not complete it any more.
    func provider(_ provider: CXProvider, timedOutPerforming action: CXAction)
    /// Audio may start.
    func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession)
    /// Audio must have stopped.
    func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession)
}

extension CXProviderDelegate {
    /// Does nothing.
    public func providerDidBegin(_ provider: CXProvider) {}
    /// False: each action is performed by itself.
    public func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool { false }
    /// Leaves the action to its deadline, 600 s after it was made: then it fails, and the call with it.
    public func provider(_ provider: CXProvider, perform action: CXStartCallAction) { provider._unimplemented(action) }
    /// Leaves the action to its deadline, 60 s after it was made: then it fails, and the call with it.
    public func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { provider._unimplemented(action) }
    /// Leaves the action to its deadline, 5 s after it was made: then the call ends all the same.
    public func provider(_ provider: CXProvider, perform action: CXEndCallAction) { provider._unimplemented(action) }
    /// Leaves the action to its deadline, 5 s after it was made: then it fails, and the call stays as it is.
    public func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) { provider._unimplemented(action) }
    /// Leaves the action to its deadline, as that of a hold.
    public func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) { provider._unimplemented(action) }
    /// Leaves the action to its deadline, as that of a hold.
    public func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction) { provider._unimplemented(action) }
    /// Leaves the action to its deadline, as that of a hold.
    public func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) { provider._unimplemented(action) }
    /// Leaves the action to its deadline, as that of a hold.
    public func provider(_ provider: CXProvider, perform action: CXSetTranslatingCallAction) { provider._unimplemented(action) }
    /// Does nothing.
    public func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) {}
    /// Does nothing.
    public func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {}
    /// Does nothing.
    public func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {}
}
