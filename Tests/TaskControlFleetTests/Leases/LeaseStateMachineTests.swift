import TestSupport
import Testing

@testable import TaskControlFleet

@Suite(.tags(.machine)) struct LeaseStateMachineTests {
    private typealias Machine = LeaseStateMachine
    private let lease = LeaseID(rawValue: 7)

    private func sight(ahead: Set<StoreKey> = [], term: UInt64 = 1, result: Int64? = nil) -> Machine.Sight {
        Machine.Sight(ahead: ahead, isListed: ahead.isEmpty, resultRevision: result, revision: 40, term: term)
    }

    private func granted(_ seconds: Int = 10, term: UInt64 = 1) -> StoreLease {
        StoreLease(id: lease, timeToLive: .seconds(seconds), term: term)
    }

    /// A machine whose lease was granted, in no time, at the given time.
    private func machine(permits: Int = 1, at now: Duration = .zero) -> Machine {
        var machine = Machine(.init(timeToLive: .seconds(10), permits: permits), at: now)
        machine.granted(granted(), sent: now, at: now)
        return machine
    }

    /// A machine that is in the line, behind the given entries.
    private func entered(permits: Int = 1, ahead: Set<StoreKey> = [], term: UInt64 = 1) -> Machine {
        var machine = machine(permits: permits)
        _ = machine.next(at: .zero)
        machine.entered(Lease.FencingToken(rawValue: 40), sight(ahead: ahead, term: term), sent: .zero, at: .zero)
        return machine
    }

    @Test func everySequenceOfEventsKeepsTheInvariants() {
        var failures: Set<String> = []
        let steps = LeaseDriver().playEverySequence(upTo: fullSize(9, inDebug: 7)) { driver in
            failures.formUnion(driver.failures)
            return driver.events
        }
        #expect(failures.isEmpty)
        #expect(steps > 10_000)
    }

    @Test func aLeaseIsValidFromTheTimeAtWhichItsRenewalWasSent() {
        var machine = entered()
        #expect(machine.phase == .holding && machine.validUntil == .seconds(9))
        machine.renewed(granted(), sent: .seconds(5), at: .seconds(7))
        #expect(machine.validUntil == .seconds(9), "a renewal alone proves nothing")
        machine.verified(sight(), sent: .seconds(7), at: .seconds(8))
        #expect(
            machine.validUntil == .seconds(5 + 10 - 1) - .seconds(10) / 3,
            "the margin has at most a third for round trips"
        )
    }

    @Test func theMarginHasTwiceTheWorstOfTheLatestRoundTrips() {
        var machine = entered()
        machine.renewed(granted(), sent: .seconds(3), at: .milliseconds(3_100))
        machine.verified(sight(), sent: .milliseconds(3_100), at: .milliseconds(3_150))
        #expect(machine.validUntil == .seconds(3 + 9) - .milliseconds(200))
        // Eight faster ones replace it.
        for second in 4..<8 {
            let time = Duration.seconds(second)
            machine.renewed(granted(), sent: time, at: time)
            machine.verified(sight(), sent: time, at: time)
        }
        #expect(machine.validUntil == .seconds(7 + 9))
    }

    @Test func theMarginHasTheRoundTripsOfTheEntryAndOfCallsWithoutAnAnswer() {
        var slow = machine()
        slow.entered(Lease.FencingToken(rawValue: 40), sight(), sent: .zero, at: .milliseconds(500))
        #expect(slow.validUntil == .seconds(8))
        var failing = entered()
        failing.renewalFailed(.unavailable, sent: .seconds(1), at: .seconds(2))
        failing.renewalFailed(.ambiguous, sent: .seconds(2), at: .milliseconds(2_250))
        failing.verificationFailed(.ambiguous, sent: .seconds(3), at: .milliseconds(3_400))
        failing.renewed(granted(), sent: .seconds(4), at: .seconds(4))
        failing.verified(sight(), sent: .seconds(4), at: .seconds(4))
        #expect(failing.validUntil == .milliseconds(13_000 - 800))
        var second = Machine(.init(timeToLive: .seconds(10), permits: 1), at: .zero)
        second.entryFailed(.ambiguous, sent: .zero, at: .seconds(1))
        second.granted(granted(), sent: .seconds(2), at: .seconds(2))
        second.entered(Lease.FencingToken(rawValue: 40), sight(), sent: .seconds(2), at: .seconds(2))
        #expect(second.validUntil == .seconds(9))
    }

    @Test func aRenewalForAShorterTimeLowersTheValidityAtOnce() {
        var machine = entered()
        machine.renewed(granted(3), sent: .seconds(1), at: .seconds(1))
        #expect(machine.validUntil == .seconds(1) + .milliseconds(2_700), "before it is proven")
        machine.verified(sight(), sent: .seconds(1), at: .seconds(1))
        #expect(machine.validUntil == .seconds(1) + .milliseconds(2_700))
        machine.renewed(granted(3), sent: .seconds(2), at: .seconds(2))
        machine.verified(sight(), sent: .seconds(2), at: .seconds(2))
        #expect(machine.validUntil == .seconds(2) + .milliseconds(2_700))
        machine.renewed(granted(1), sent: .seconds(2), at: .seconds(4))
        #expect(machine.phase == .lost(.expired))
    }

    @Test func aRenewalForAShorterTimeProlongsNothingBeforeItIsProven() {
        var machine = entered()
        machine.renewed(granted(9), sent: .seconds(5), at: .seconds(5))
        #expect(machine.validUntil == .seconds(9))
        machine.verified(sight(), sent: .seconds(5), at: .seconds(5))
        #expect(machine.validUntil == .seconds(5 + 9) - .milliseconds(900))
    }

    /// The answer has taken so long that its margin would end the lease earlier.
    @Test func aRenewalForTheSameTimeShortensNothingBeforeItIsProven() {
        var machine = entered()
        machine.renewed(granted(), sent: .milliseconds(1), at: .seconds(2))
        #expect(machine.validUntil == .seconds(9))
    }

    @Test func aHolderThatIsNotListedAnyMoreHasLostItsLease() {
        var machine = entered()
        let removed = Machine.Sight(ahead: [], isListed: false, resultRevision: nil, revision: 41, term: 1)
        machine.verified(removed, sent: .seconds(1), at: .seconds(1))
        #expect(machine.phase == .lost(.removed))
    }

    @Test func aWaiterKeepsItsPlaceForTwoDurationsAfterTheLastContact() {
        var machine = entered(ahead: ["a"])
        machine.verified(sight(ahead: ["a"]), sent: .seconds(15), at: .seconds(15))
        machine.renewalFailed(.unavailable, at: .seconds(34))
        #expect(machine.phase == .waiting)
        machine.renewalFailed(.unavailable, at: .seconds(35))
        #expect(machine.phase == .entering)
    }

    @Test func aRenewalOfAnotherTermIsNotProvenAndIsRepeated() {
        var machine = entered()
        #expect(machine.next(at: .seconds(4)) == .renew(lease))
        machine.renewed(granted(term: 1), sent: .seconds(4), at: .seconds(4))
        #expect(machine.next(at: .seconds(4)) == .verify(lease, Lease.FencingToken(rawValue: 40)))
        machine.verified(sight(term: 2), sent: .seconds(4), at: .seconds(4))
        #expect(machine.validUntil == .seconds(9))
        #expect(machine.next(at: .seconds(4)) == .wait(until: .seconds(5)))
        #expect(machine.next(at: .seconds(5)) == .renew(lease))
        #expect(machine.next(at: .seconds(9)) == .stop && machine.phase == .lost(.expired))
    }

    @Test func aGrantOfAnotherTermDoesNotHold() {
        var machine = entered(term: 2)
        #expect(machine.phase == .waiting && machine.validUntil == nil)
        #expect(machine.next(at: .zero) == .wait(until: .seconds(1)))
        #expect(machine.next(at: .seconds(1)) == .renew(lease))
        machine.renewed(granted(term: 2), sent: .seconds(1), at: .seconds(1))
        #expect(machine.next(at: .seconds(1)) == .verify(lease, Lease.FencingToken(rawValue: 40)))
        machine.verified(sight(term: 2), sent: .seconds(1), at: .seconds(1))
        #expect(machine.phase == .holding && machine.validUntil == .seconds(10))
    }

    @Test func aRenewalIsVerifiedBeforeTheNextOneEvenIfItTookLong() {
        var machine = entered()
        #expect(machine.next(at: .seconds(4)) == .renew(lease))
        machine.renewed(granted(), sent: .seconds(4), at: .seconds(8))
        #expect(machine.next(at: .seconds(8)) == .verify(lease, Lease.FencingToken(rawValue: 40)))
    }

    @Test func aLeaseThatHasLapsedIsNotRevivedByALateAnswer() {
        var machine = entered()
        machine.renewed(granted(), sent: .seconds(8), at: .milliseconds(9_500))
        machine.verified(sight(), sent: .milliseconds(9_500), at: .milliseconds(9_600))
        #expect(machine.phase == .lost(.expired) && !machine.isValid(at: .milliseconds(9_600)))
    }

    @Test func aMissingEntryLosesTheLeaseAtOnce() {
        var machine = entered()
        machine.deleted("own", isOwn: true)
        #expect(machine.next(at: .zero) == .verify(lease, Lease.FencingToken(rawValue: 40)))
        machine.verified(nil, sent: .zero, at: .zero)
        #expect(machine.phase == .lost(.removed))
        #expect(machine.leave() == .revoke(lease))
    }

    @Test func aLeaseThatIsNotFoundIsVerifiedFirst() {
        var machine = entered()
        machine.renewalFailed(.leaseNotFound, at: .seconds(4))
        #expect(machine.phase == .holding)
        #expect(machine.next(at: .seconds(4)) == .verify(lease, Lease.FencingToken(rawValue: 40)))
    }

    @Test func aWaiterAsksWhenTheLastEntryAheadIsDeleted() {
        var machine = entered(permits: 2, ahead: ["a", "b", "c"])
        #expect(machine.phase == .waiting)
        machine.deleted("x", isOwn: false)
        machine.deleted("a", isOwn: false)
        #expect(!machine.isUrgent, "two entries are ahead, for two permits")
        machine.deleted("a", isOwn: false)
        #expect(!machine.isUrgent)
        machine.deleted("c", isOwn: false)
        #expect(machine.isUrgent)
        machine.verified(
            Machine.Sight(ahead: ["b"], isListed: true, resultRevision: nil, revision: 41, term: 1),
            sent: .zero,
            at: .zero
        )
        #expect(machine.phase == .holding)
    }

    @Test func twoKeysOfOneCharacterAreTwoEntriesAhead() {
        let ahead: Set<StoreKey> = ["lease/job/\u{E9}", "lease/job/e\u{301}"]
        #expect(ahead.count == 2)
        var machine = entered(permits: 2, ahead: ahead)
        machine.hint()
        machine.verified(
            Machine.Sight(ahead: ahead, isListed: true, resultRevision: nil, revision: 41, term: 1),
            sent: .zero,
            at: .zero
        )
        #expect(machine.phase == .waiting, "both permits are taken")
        machine.deleted("lease/job/\u{E9}", isOwn: false)
        machine.verified(
            Machine.Sight(ahead: ["lease/job/e\u{301}"], isListed: true, resultRevision: nil, revision: 42, term: 1),
            sent: .zero,
            at: .zero
        )
        #expect(machine.phase == .holding)
    }

    @Test func aWaiterAsksAtEachDeletionAfterAReportThatWasIncomplete() {
        var machine = entered(ahead: ["a", "b"])
        machine.reportWasIncomplete()
        #expect(machine.next(at: .zero) == .verify(lease, Lease.FencingToken(rawValue: 40)))
        // The deletion of the first entry was not reported.
        machine.verified(sight(ahead: ["b"]), sent: .zero, at: .zero)
        #expect(machine.phase == .waiting && !machine.isUrgent)
        machine.deleted("b", isOwn: false)
        #expect(machine.isUrgent)
    }

    @Test func aWaiterAsksAtEachDeletionAfterItHasEnteredTheLineAgain() {
        var machine = entered(ahead: ["a"])
        machine.verified(nil, sent: .zero, at: .zero)
        machine.abandonedEnded()
        machine.granted(granted(), sent: .zero, at: .zero)
        // Reported before the entry that has seen it is answered.
        machine.deleted("a", isOwn: false)
        machine.entered(Lease.FencingToken(rawValue: 50), sight(ahead: ["a", "b"]), sent: .zero, at: .zero)
        #expect(machine.next(at: .zero) == .verify(lease, Lease.FencingToken(rawValue: 50)))
        machine.verified(sight(ahead: ["b"]), sent: .zero, at: .zero)
        machine.deleted("b", isOwn: false)
        #expect(machine.isUrgent)
    }

    @Test func aWaiterWithoutAValidLeaseRenewsItBeforeItHolds() {
        var machine = entered(ahead: ["a"])
        machine.verified(sight(), sent: .seconds(9), at: .seconds(9))
        #expect(machine.phase == .waiting)
        #expect(machine.next(at: .seconds(9)) == .renew(lease))
    }

    @Test func aHolderWhoseStoreHasAnotherContentHasLostItsLease() {
        let reports: [(inout Machine) -> Void] = [
            { $0.contentWasReplaced(at: .zero) }, { $0.renewalFailed(.replaced, at: .zero) },
            { $0.verificationFailed(.replaced, at: .zero) },
        ]
        for report in reports {
            var (holder, waiter, over) = (entered(), entered(ahead: ["a"]), entered())
            report(&holder)
            #expect(holder.phase == .lost(.removed))
            #expect(holder.leave() == .revoke(lease))
            report(&waiter)
            #expect(waiter.phase == .entering && waiter.next(at: .zero) == .abandon(lease))
            _ = over.end(at: .zero)
            report(&over)
            #expect(over.phase == .ended)
        }
        var newcomer = machine()
        newcomer.entryFailed(.replaced, at: .zero)
        #expect(newcomer.phase == .entering && newcomer.lease == nil)
    }

    @Test func aWaiterWhoseEntryIsGoneEntersTheLineAgain() {
        var machine = entered(ahead: ["a"])
        machine.verified(nil, sent: .seconds(1), at: .seconds(1))
        #expect(machine.phase == .entering && machine.token == nil)
        #expect(machine.next(at: .seconds(1)) == .abandon(lease))
        machine.abandonedEnded()
        #expect(machine.next(at: .seconds(1)) == .grant)
    }

    @Test func aWaiterWithoutContactEntersTheLineAgainAndFailsAfterAnotherDuration() {
        var machine = entered(ahead: ["a"])
        machine.renewalFailed(.unavailable, at: .seconds(19))
        #expect(machine.phase == .waiting)
        machine.renewalFailed(.ambiguous, at: .seconds(20))
        #expect(machine.phase == .entering)
        machine.abandonedEnded()
        machine.entryFailed(.unavailable, at: .seconds(29))
        #expect(machine.next(at: .seconds(29)) == .wait(until: .seconds(30)))
        machine.entryFailed(.unavailable, at: .seconds(30))
        #expect(machine.phase == .failed && machine.next(at: .seconds(30)) == .stop)
    }

    @Test func anEntryThatWasNotAnsweredIsPutAgainAndTheLeaseIsRevokedInTheEnd() {
        var machine = machine()
        #expect(machine.next(at: .zero) == .enter(lease))
        machine.entryFailed(.ambiguous, at: .zero)
        #expect(machine.next(at: .zero) == .wait(until: .seconds(1)))
        #expect(machine.next(at: .seconds(1)) == .enter(lease))
        machine.entered(Lease.FencingToken(rawValue: 40), sight(), sent: .seconds(1), at: .seconds(1))
        #expect(machine.phase == .holding && machine.end(at: .seconds(1)) == nil)
        #expect(machine.leave() == .delete(lease, Lease.FencingToken(rawValue: 40)))
        #expect(machine.left(true) == .revoke(lease), "the first transaction may arrive later")
        #expect(machine.left(true) == .nothing)
    }

    @Test func aLeaseIsRevokedAfterItsEntryIsDeleted() {
        var machine = entered()
        #expect(machine.end(at: .seconds(1)) == nil)
        #expect(machine.leave() == .delete(lease, Lease.FencingToken(rawValue: 40)))
        #expect(machine.left(true) == .revoke(lease))
        #expect(machine.left(false) == .expire)
        #expect(machine.left(true) == .nothing)
    }

    @Test func leavingDeletesOrRevokesOrLetsTheLeaseExpire() {
        var machine = entered()
        #expect(machine.end(at: .seconds(1)) == nil && machine.phase == .ended)
        #expect(machine.leave() == .delete(lease, Lease.FencingToken(rawValue: 40)))
        #expect(machine.left(false) == .revoke(lease))
        #expect(machine.left(false) == .expire)
        #expect(machine.left(true) == .nothing)
        var fresh = Machine(.init(timeToLive: .seconds(10), permits: 1), at: .zero)
        #expect(fresh.leave() == .nothing && fresh.left(true) == .nothing)
        var unentered = self.machine()
        #expect(unentered.leave() == .revoke(lease))
    }

    @Test func aRefusalFailsAWaiterAndNotAHolder() {
        var waiter = entered(ahead: ["a"])
        waiter.renewalFailed(.final, at: .seconds(1))
        #expect(waiter.phase == .failed)
        var holder = entered()
        holder.renewalFailed(.final, at: .seconds(1))
        #expect(holder.phase == .holding)
        var newcomer = machine()
        newcomer.entryFailed(.final, at: .zero)
        #expect(newcomer.phase == .failed)
    }

    @Test func aResultThatIsNewerThanTheEntryIsAdopted() {
        var machine = entered(ahead: ["a"])
        machine.verified(sight(ahead: ["a"], result: 39), sent: .zero, at: .zero)
        #expect(machine.phase == .waiting)
        machine.verified(sight(ahead: ["a"], result: 41), sent: .zero, at: .zero)
        #expect(machine.phase == .adopted && machine.next(at: .zero) == .stop)
        #expect(machine.end(at: .zero) == nil)
        #expect(machine.leave() == .delete(lease, Lease.FencingToken(rawValue: 40)))
    }

    @Test func aBodyThatEndsAfterItsLeaseHasLostIt() {
        var machine = entered()
        #expect(machine.end(at: .seconds(9)) == .expired)
    }

    /// The task that calls the store may be waiting for the time of the next renewal.
    @Test func aTaskThatWaitsForTheNextRenewalLearnsAtOnceThatNothingIsToBeRenewed() {
        var (adopted, lost, failed, ended) = (entered(ahead: ["a"]), entered(), entered(ahead: ["a"]), entered())
        #expect([adopted, lost, failed, ended].allSatisfy { !$0.isUrgent })
        adopted.verified(sight(ahead: ["a"], result: 41), sent: .zero, at: .zero)
        lost.contentWasReplaced(at: .zero)
        failed.renewalFailed(.final, at: .zero)
        _ = ended.end(at: .zero)
        #expect(adopted.phase == .adopted && lost.isLost && failed.phase == .failed && ended.phase == .ended)
        #expect([adopted, lost, failed, ended].allSatisfy { $0.isUrgent })
    }

    @Test func aRequestToStopEndsAWaitAndNotALease() {
        var (newcomer, waiter, holder) = (machine(), entered(ahead: ["a"]), entered())
        newcomer.withdraw()
        waiter.withdraw()
        holder.withdraw()
        #expect(newcomer.phase == .ended && newcomer.isWithdrawn && newcomer.next(at: .zero) == .stop)
        #expect(waiter.phase == .ended && waiter.leave() == .delete(lease, Lease.FencingToken(rawValue: 40)))
        #expect(holder.phase == .holding && !holder.isWithdrawn)
    }

    @Test func aClockThatCannotSleepEndsTheLease() {
        var (holder, waiter, over) = (entered(), entered(ahead: ["a"]), entered())
        holder.clockFailed()
        waiter.clockFailed()
        _ = over.end(at: .zero)
        over.clockFailed()
        #expect(holder.phase == .lost(.expired) && waiter.phase == .failed && over.phase == .ended)
        #expect(waiter.end(at: .zero) == nil && waiter.phase == .failed)
    }

    @Test func aCallHasLessTimeThanIsLeftOfTheLease() {
        let machine = entered()
        #expect(machine.limit(at: .zero) == .milliseconds(2_500))
        #expect(machine.limit(at: .seconds(8)) == .seconds(1))
        #expect(machine.limit(at: .seconds(9)) == .milliseconds(2_500), "nothing is left to protect")
    }

    @Test func aWaiterAndACallThatLeavesWaitAtMostTenSecondsForAnAnswer() {
        var waiter = Machine(.init(timeToLive: .seconds(100), permits: 1), at: .zero)
        waiter.granted(granted(100), sent: .zero, at: .zero)
        #expect(waiter.limit(at: .zero) == .seconds(10))
        var holder = waiter
        holder.entered(Lease.FencingToken(rawValue: 40), sight(), sent: .zero, at: .zero)
        #expect(holder.phase == .holding && holder.limit(at: .zero) == .seconds(25))
        #expect(holder.end(at: .zero) == nil && holder.limit(at: .zero) == .seconds(10))
    }

    @Test func aLeaseThatIsGrantedAfterTheCallerHasLeftIsRevoked() {
        var machine = Machine(.init(timeToLive: .seconds(10), permits: 1), at: .zero)
        #expect(machine.next(at: .zero) == .grant && machine.end(at: .zero) == nil)
        machine.granted(granted(), sent: .zero, at: .zero)
        #expect(machine.phase == .ended && machine.leave() == .revoke(lease))
    }

    @Test func aStoreThatGrantsNoTimeIsRefused() {
        var machine = Machine(.init(timeToLive: .seconds(10), permits: 1), at: .zero)
        machine.granted(granted(0), sent: .zero, at: .zero)
        #expect(machine.phase == .failed)
    }
}
