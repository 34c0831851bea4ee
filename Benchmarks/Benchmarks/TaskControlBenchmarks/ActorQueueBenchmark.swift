import Benchmark
import TaskControl

/// Tasks that begin on an actor in order, beside tasks that go there in none.
func registerActorQueue() {
    for depth in [1, 100, Scale.tasks] {
        Benchmark.row("ActorQueue, depth \(depth)") {
            let (target, queue) = Target.withQueue()
            let ordered = Contender.started { countdown in Task(on: queue) { $0.hit(countdown) } }
            let bare = Contender.started { countdown in Task { await target.hit(countdown) } }
            var row = await Contender.compare(
                "`Task(on: actorQueue) { $0.f() }`, depth \(depth.grouped)",
                ordered,
                to: "`Task { await actor.f() }`",
                bare,
                depth: depth
            )
            row.target = .ratio(atMost: 1.5)
            guard depth == 100 else { return row }
            row.allocations = (
                await Heap.allocations(of: bare, tasks: Scale.tasks, depth: depth),
                await Heap.allocations(of: ordered, tasks: Scale.tasks, depth: depth)
            )
            return row
        }
    }
    let priorities: [TaskPriority] = [.background, .utility, .medium, .high]
    for isFlooded in [false, true] {
        Benchmark.row("ActorQueue, mixed priorities\(isFlooded ? ", flooded" : "")") {
            let (target, queue) = Target.withQueue()
            var row = await Contender.compare(
                "`Task(on: actorQueue)`, four priorities\(isFlooded ? ", the actor flooded" : "")",
                Contender.indexed { index, countdown in
                    if isFlooded { Task { await target.work() } }
                    Task(priority: priorities[index % 4], on: queue) { $0.hit(countdown) }
                },
                to: "`Task { await actor.f() }`, likewise",
                Contender.indexed { index, countdown in
                    if isFlooded { Task { await target.work() } }
                    Task(priority: priorities[index % 4]) { await target.hit(countdown) }
                },
                depth: Scale.tasks
            )
            row.target = .ratio(atMost: 3)
            return row
        }
    }
    Benchmark.row("Task(isolatedTo: actor)") {
        let target = Target()
        return await Contender.compare(
            "`Task(isolatedTo: actor) { $0.f() }`, depth 100",
            .started { countdown in Task(isolatedTo: target) { $0.hit(countdown) } },
            to: "`Task { await actor.f() }`",
            .started { countdown in Task { await target.hit(countdown) } },
            depth: 100
        )
    }
}

private actor Target {
    private var worked = 0

    func hit(_ countdown: Countdown) { countdown.hit() }

    func work() { worked += 1 }

    static func withQueue() -> (Target, ActorQueue<Target>) {
        let (target, queue) = (Target(), ActorQueue<Target>())
        queue.adoptExecutionContext(of: target)
        return (target, queue)
    }
}
