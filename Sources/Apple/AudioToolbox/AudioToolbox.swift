import Foundation

/// The result of a function of Core Audio: 0 where it succeeded.
public typealias OSStatus = Int32

public let noErr: OSStatus = 0, kAudioServicesNoError: OSStatus = 0

/// A short sound of the system. None is heard here, and nothing vibrates.
public typealias SystemSoundID = UInt32

public let kSystemSoundID_Vibrate: SystemSoundID = 0xfff

/// Does nothing.
public func AudioServicesPlaySystemSound(_ sound: SystemSoundID) {}

/// Does nothing.
public func AudioServicesPlayAlertSound(_ sound: SystemSoundID) {}

/// Calls the completion at once.
public func AudioServicesPlaySystemSoundWithCompletion(_ sound: SystemSoundID, _ completion: (() -> Void)?) { completion?() }

/// Does nothing.
@discardableResult public func AudioServicesDisposeSystemSoundID(_ sound: SystemSoundID) -> OSStatus { 0 }

/// Always sound 1.
@discardableResult
public func AudioServicesCreateSystemSoundID(_ url: NSURL, _ sound: UnsafeMutablePointer<SystemSoundID>) -> OSStatus {
    sound.pointee = 1
    return 0
}
