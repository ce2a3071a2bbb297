@_exported import AVFoundation
import UIKit

/// A button with which the user chooses a route. There is none to choose, and nothing is shown.
@preconcurrency @MainActor
open class AVRoutePickerView: UIView {
    open var activeTintColor: UIColor! = .systemBlue
    open var prioritizesVideoDevices = false
}
