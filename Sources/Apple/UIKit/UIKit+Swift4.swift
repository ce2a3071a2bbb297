import Foundation

// Names of Swift 4 mode, in which Xcode still builds: a type of UIKit beside its class, and constants that are members today.

public typealias UIApplicationState = UIApplication.State
public typealias UIApplicationLaunchOptionsKey = UIApplication.LaunchOptionsKey
public typealias UIApplicationOpenURLOptionsKey = UIApplication.OpenURLOptionsKey
public typealias UIViewAnimationOptions = UIView.AnimationOptions
public typealias UIViewContentMode = UIView.ContentMode
public typealias UIControlEvents = UIControl.Event
public typealias UIControlState = UIControl.State
public typealias UIButtonType = UIButton.ButtonType
public typealias UIAlertActionStyle = UIAlertAction.Style
public typealias UIAlertControllerStyle = UIAlertController.Style
public typealias UIGestureRecognizerState = UIGestureRecognizer.State
public typealias UIActivityIndicatorViewStyle = UIActivityIndicatorView.Style

public let UIBackgroundTaskInvalid = UIBackgroundTaskIdentifier.invalid
public let UIApplicationOpenSettingsURLString = UIApplication.openSettingsURLString
public let UIApplicationOpenURLOptionUniversalLinksOnly = UIApplication.OpenExternalURLOptionsKey.universalLinksOnly

extension Notification.Name {
    public static let UIApplicationDidFinishLaunching = UIApplication.didFinishLaunchingNotification
    public static let UIApplicationDidBecomeActive = UIApplication.didBecomeActiveNotification
    public static let UIApplicationWillResignActive = UIApplication.willResignActiveNotification
    public static let UIApplicationDidEnterBackground = UIApplication.didEnterBackgroundNotification
    public static let UIApplicationWillEnterForeground = UIApplication.willEnterForegroundNotification
    public static let UIApplicationWillTerminate = UIApplication.willTerminateNotification
    public static let UIDeviceProximityStateDidChange = UIDevice.proximityStateDidChangeNotification
}
