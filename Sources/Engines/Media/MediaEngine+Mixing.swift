import Audio
import Primitives
import RTP
import SDP

// Conferences: who is in which, and their frames.
extension MediaEngine {
    /// Puts a leg where its plan says that it belongs, with the codecs for that.
    func seat(_ leg: MediaLeg, at now: Instant) throws(MediaError) {
        let (wanted, format, codecs) = leg.seating
        if wanted == leg.member?.conference, format == leg.member?.format, codecs.allSatisfy({ leg.member?.receiver.knows($0) != false }) {
            return
        }
        unseat(leg)
        guard let wanted else { return }
        guard let format, !codecs.isEmpty else { throw .unsupportedPlan }
        do throws(CodecError) {
            leg.member = try Mixer.Member(of: wanted, codecs: codecs, format: format)
            let mixer = mixers[wanted] ?? Mixer(at: now)
            try mixer.join(leg)
            if mixers.updateValue(mixer, forKey: wanted) == nil { mixDue = min(mixDue, mixer.due) }
        } catch {
            leg.member = nil
            throw .unsupportedPlan
        }
    }

    /// Takes a leg out of its conference, and the conference down behind the last one.
    func unseat(_ leg: MediaLeg) {
        guard let conference = leg.member?.conference else { return }
        mixers[conference]?.leave(leg)
        leg.keepPlayout()
        if mixers[conference]?.members.isEmpty == true { mixers[conference] = nil }
        leg.member = nil
        leg.stream.pause()
        mixDue = mixers.values.map(\.due).min() ?? .distantFuture
    }

    /// Makes the frames that are due.
    func mix(at now: Instant) {
        guard mixDue <= now else { return }
        mixDue = .distantFuture
        for mixer in mixers.values {
            if now - mixer.due > Self.greatestLateness {
                mixer.due = now
                for leg in mixer.members { leg.stream.pause() }   // its clock went on
            }
            while mixer.due <= now {
                mixFrame(mixer, at: now)
                mixer.due += .milliseconds(Int64(frameMilliseconds))
            }
            mixDue = min(mixDue, mixer.due)
        }
    }

    private func mixFrame(_ mixer: Mixer, at now: Instant) {
        let isLate = now - mixer.due >= .milliseconds(Int64(frameMilliseconds))
        mixer.listen(at: now)
        for leg in mixer.members {
            guard leg.gates.canSend, leg.ownKeys.digits?.isPressing != true, let member = leg.member else { continue }
            let samples = member.format.codec.timestampStep(milliseconds: frameMilliseconds)
            let room = UnsafeMutableRawBufferPointer(rebasing: outgoing[RTPHeader.fixedSize...])
            guard let count = mixer.payload(for: member, isSilent: leg.plan.sendsSilence, into: room) else { continue }
            if isLate { leg.frames.late += 1 }
            guard count > 0 else {
                leg.stream.leaveOut(samples: samples, at: now)
                continue
            }
            sendFrame(count, lasting: samples, on: leg, at: now)
        }
    }
}

extension MediaLeg {
    /// The conference that the plan names, how the leg's sound is coded there, and what it may say.
    fileprivate var seating: (conference: UInt64?, format: Mixer.Format?, codecs: [AudioCodec]) {
        guard case .conference(let number) = plan.source else { return (nil, nil, []) }
        let codecs = plan.audio.codecs.compactMap { AudioCodec($0.codec) }
        let format = AudioCodec(plan.audio.primary.codec).map { codec in
            Mixer.Format(codec: codec, opus: codec == .opus ? opus.honouring(OpusParameters(plan.audio.primary.codec.fmtp)) : opus)
        }
        return (number, format, codecs)
    }
}
