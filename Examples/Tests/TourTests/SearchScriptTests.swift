import Testing

@testable import tour

/// The facts on which the chapter's claims rest, whatever the seed.
@Suite(.timeLimit(.minutes(15)))
struct SearchScriptTests {
    @Test func everyQueryIsAnsweredOnceAndAnEarlyOneLast() {
        for seed in UInt64(0)..<500 {
            let script = SearchScript(seed: seed)
            let typed = script.keystrokes.map(\.query)
            let answered = script.keystrokes.flatMap(\.answersBeforeNext)
            #expect(typed.count == 30)
            #expect(answered.sorted() == typed.sorted(), "seed \(seed)")
            #expect(answered.last == script.slowestQuery, "seed \(seed)")
            #expect(script.slowestQuery != script.lastQuery, "seed \(seed)")
            #expect(typed.last == script.lastQuery)
        }
    }

    @Test func noQueryIsAnsweredBeforeItIsTyped() {
        for seed in UInt64(0)..<500 {
            var typed: Set<String> = []
            for keystroke in SearchScript(seed: seed).keystrokes {
                typed.insert(keystroke.query)
                #expect(typed.isSuperset(of: keystroke.answersBeforeNext), "seed \(seed)")
            }
        }
    }

    @Test func theSameSeedIsTheSameScript() {
        #expect(
            SearchScript(seed: 7).keystrokes.map(\.answersBeforeNext)
                == SearchScript(seed: 7).keystrokes.map(\.answersBeforeNext)
        )
    }
}
