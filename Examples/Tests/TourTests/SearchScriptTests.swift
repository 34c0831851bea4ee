import Testing

@testable import tour

/// What the chapter's claims rest on, whatever the seed.
@Suite(.timeLimit(.minutes(1)))
struct SearchScriptTests {
    @Test(arguments: UInt64(0)..<500)
    func everyQueryIsAnsweredOnceAndAnEarlyOneLast(seed: UInt64) {
        let script = SearchScript(seed: seed)
        let typed = script.keystrokes.map(\.query)
        let answered = script.keystrokes.flatMap(\.answersBeforeNext)
        #expect(typed.count == 30)
        #expect(answered.sorted() == typed.sorted())
        #expect(answered.last == script.slowestQuery)
        #expect(script.slowestQuery != script.lastQuery)
        #expect(typed.last == script.lastQuery)
    }

    @Test(arguments: UInt64(0)..<500)
    func noQueryIsAnsweredBeforeItIsTyped(seed: UInt64) {
        var typed: Set<String> = []
        for keystroke in SearchScript(seed: seed).keystrokes {
            typed.insert(keystroke.query)
            #expect(typed.isSuperset(of: keystroke.answersBeforeNext))
        }
    }

    @Test func theSameSeedIsTheSameScript() {
        #expect(
            SearchScript(seed: 7).keystrokes.map(\.answersBeforeNext)
                == SearchScript(seed: 7).keystrokes.map(\.answersBeforeNext)
        )
    }
}
