import CallApp
import CallKit
import Foundation

// The host of the app on Linux.
CallSystem.configureShared(.app)
let calls = CallManager()
do {
    var settings = try LiveAppSettings(number: "1001", server: "127.0.0.1:5060")
    settings.dial = { number in calls.startCall(to: number) }
    try calls.client.register(settings)
    while true { RunLoop.main.run() }
} catch {
    FileHandle.standardError.write(Data("vendor-sdk-example: \(error)\n".utf8))
    exit(3)
}
