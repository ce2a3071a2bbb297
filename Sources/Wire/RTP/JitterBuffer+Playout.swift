import Primitives

// Handing out: what is due, and how far it is from when it should be.
extension JitterBuffer {
    /// Takes the sound to play next. Call when sound is wanted, until there is enough of it.
    ///
    /// - Parameter buffered: ticks of sound that were handed out and not played yet.
    public mutating func next(buffered: Int, at now: Instant) -> Next {
        switch phase {
        case .idle: return .nothing
        case .filling(let start):
            guard now >= start else { return .nothing }
            phase = .playing
        case .playing: break
        }
        // Sound that is decoded now is heard behind the sound that was decoded already; but it must have come by now.
        let present = clock(now) - (delays.base ?? 0) - Int64(wait), moment = Moment(came: present, heard: present + Int64(buffered))
        giveUpOld(before: moment.heard - most)
        passEvents()
        if let index = waiting(due) { return play(index, moment) }
        guard let (sequence, index) = firstWaiting() else { return starve() }
        return lose(before: sequence, at: index, moment)
    }

    /// Timestamps up to which packets should have come by now, and of the sound that should be heard next.
    private struct Moment {
        var came: Int64, heard: Int64
    }

    /// So far behind its time sound may be heard before it is played shorter; and before it is at once.
    private var tolerance: Int64 { ticks(milliseconds: 20) }
    private var greatestTolerance: Int64 { ticks(milliseconds: 60) }
    /// So far ahead of its time a packet may be wanted before it is played longer; and before it is at once.
    private var lead: Int64 { ticks(milliseconds: 1) }
    private var greatestLead: Int64 { ticks(milliseconds: 5) }

    private func ticks(milliseconds: Int64) -> Int64 { Int64(clockRate) * milliseconds / 1_000 }

    private mutating func play(_ index: Int, _ moment: Moment) -> Next {
        let slot = slots[index]
        if slot.timestamp - position > 0 {
            // The sequence goes on and the timestamp has jumped: silence was left out, and ends when this one is due.
            if !isInGap {
                count { $0.gaps += 1 }
                if isStarved { countStarvation(false) }   // it was this silence
            }
            isInGap = true
            guard moment.heard >= slot.timestamp else { return .gap }
        }
        (isInGap, isStarved) = (false, false)
        count { $0.played += 1 }
        finish(index)
        return .audio(payload(slot), stretch(early: slot.timestamp - moment.came, late: moment.heard - slot.timestamp))
    }

    private func stretch(early: Int64, late: Int64) -> Stretch {
        if early > lead { return .longer(atOnce: early > greatestLead) }
        return late > tolerance ? .shorter(atOnce: late > greatestTolerance) : .none
    }

    private mutating func finish(_ index: Int) {
        let slot = slots[index]
        slots[index].isWaiting = false
        due = slot.sequence + 1
        position = slot.timestamp + slot.ticks
        lastTicks = slot.ticks
    }

    /// The one that is due has not come and a later one has: its time is over, unless we are ahead of time ourselves.
    private mutating func lose(before sequence: Int64, at index: Int, _ moment: Moment) -> Next {
        guard position - moment.came <= lead else { return .nothing }
        let missing = sequence - due, span = slots[index].timestamp - position
        let usual = lastTicks > 0 ? lastTicks : max(1, span / missing)
        let ticks = min(max(1, span / missing), usual, Int64(clockRate) * 120 / 1_000)
        if isStarved { countStarvation(false) }   // it was this loss
        // Packets that are long over were made up for while nothing was there.
        while due < sequence, moment.heard - position > ticks + tolerance { loseOne(ticks) }
        guard due < sequence else { return play(index, moment) }
        loseOne(ticks)
        (isInGap, isStarved) = (false, false)
        return .lost(ticks: Int(ticks), following: due == sequence ? payload(slots[index]) : nil)
    }

    private mutating func loseOne(_ ticks: Int64) {
        count { $0.lost += 1 }
        due += 1
        position += ticks
    }

    private mutating func starve() -> Next {
        if !isStarved { countStarvation(true) }
        isStarved = true
        return .nothing
    }

    private mutating func countStarvation(_ happened: Bool) {
        count { if happened { $0.underruns += 1 } else if $0.underruns > 0 { $0.underruns -= 1 } }
    }

    /// Gives up packets that should have been played before that time: they are not worth the wait any more.
    private mutating func giveUpOld(before limit: Int64) {
        guard position < limit else { return }
        while let (_, index) = firstWaiting(), slots[index].timestamp + slots[index].ticks <= limit {
            let missing = slots[index].sequence - due
            count {
                $0.overflowed += 1
                $0.lost += UInt64(max(0, missing))
            }
            finish(index)
        }
    }

    /// Packets that are no sound only hold their place.
    private mutating func passEvents() {
        while let index = waiting(due), slots[index].ticks == 0 {
            slots[index].isWaiting = false
            due += 1
        }
    }

    /// The slot of a packet that waits; nil when it is not there, or its bytes were overwritten.
    private func waiting(_ sequence: Int64) -> Int? {
        let index = Int(sequence % Int64(Self.slotCount)), slot = slots[index]
        return slot.isWaiting && slot.sequence == sequence && written - slot.start <= Self.capacity ? index : nil
    }

    func firstWaiting() -> (sequence: Int64, index: Int)? {
        var sequence = due
        while sequence <= highest {
            if let index = waiting(sequence), slots[index].ticks > 0 { return (sequence, index) }
            sequence += 1
        }
        return nil
    }

    private func payload(_ slot: Slot) -> Payload {
        Payload(payloadType: slot.payloadType, ticks: Int(slot.ticks), place: slot.start % Self.capacity, count: slot.count)
    }
}
