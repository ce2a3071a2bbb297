import AVKit
import UIKit

@IBDesignable
class PhoneViewController: UIViewController, PhoneDelegate {
    @IBInspectable var corner: CGFloat = 4
    @IBOutlet private weak var caller: UILabel!
    @IBOutlet weak var endButton: UIButton! {
        didSet { endButton.layer.cornerRadius = corner }
    }
    @IBOutlet var keys: [UIButton]!

    var phone: Phone!
    private var timer: Timer?
    private(set) var ticks = 0

    override func viewDidLoad() {
        super.viewDidLoad()
        caller.text = "nobody"
        phone.delegate = self
        endButton.addTarget(self, action: #selector(endTapped), for: .touchUpInside)
        view.addGestureRecognizer(UITapGestureRecognizer(target: self, action: #selector(PhoneViewController.tapped(_:))))
        NotificationCenter.default.addObserver(
            self, selector: #selector(self.phoneEnded), name: Phone.ended, object: phone)
        timer = Timer.scheduledTimer(timeInterval: 0.01, target: self, selector: #selector(tick), userInfo: nil, repeats: true)
    }

    @IBAction func endTapped(_ sender: UIButton) {
        phone.end()
    }

    @objc func tapped(_ recognizer: UITapGestureRecognizer) {
        print("tapped")
    }

    @objc private func tick() {
        ticks += 1
        if ticks == 2 { timer?.invalidate() }
        Telephone.ticked(ticks)
    }

    @objc private func phoneEnded(_ note: Notification) {
        caller.text = "nobody"
        Telephone.ended()
    }

    func phone(_ phone: Phone, didRingFor caller: String) {
        self.caller.text = caller
        print("ringing for \(self.caller.text ?? "")")
        endButton.sendActions(for: .touchUpInside)
    }

    func phoneMayEnd(_ phone: Phone) -> Bool { true }
}
