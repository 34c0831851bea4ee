// prints false: a closure with a capture list loses the isolation of its caller
func isInside(_ actor: any Actor, isolation: isolated (any Actor)? = #isolation) -> Bool { isolation === actor }

func perform(_ operation: nonisolated(nonsending) () async -> Bool) async -> Bool { await operation() }

struct Call {
    var count = 0

    mutating func isIsolated(to actor: any Actor) async -> Bool {
        let number = 1
        return await perform { [number] in
            count += number
            return isInside(actor)
        }
    }
}

actor Caller {
    func call() async -> Bool {
        var call = Call()
        return await call.isIsolated(to: self)
    }
}

@main struct Main {
    static func main() async { print(await Caller().call()) }
}
