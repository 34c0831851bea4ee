import TaskControl

// scripts/check-client lets the compiler verify that it diagnoses this file as the comments say, and in no other way.

func dropped() {
    AsyncTask { print("dropped") }  // expected-warning {{result of 'AsyncTask' initializer is unused}}
}

final class Model: Sendable {
    let api = 1
    let lifetime = AsyncLifetime()

    func load() {
        // expected-error@+1 {{requires explicit use of 'self' to make capture semantics explicit}} expected-note@+1 2 {{'self}}
        lifetime.run(for: self) { api } deliver: { _, _ in }
        lifetime.run(for: self) { self.api } deliver: { _, _ in }
        lifetime.run(for: self) { [api] in api } deliver: { _, _ in }
    }
}

actor Worker {
    let api = 1
    let lifetime = AsyncLifetime()

    func load() {
        // expected-error@+1 {{requires explicit use of 'self' to make capture semantics explicit}} expected-note@+1 2 {{'self}}
        lifetime.run(for: self) { api } deliver: { _, _ in }
        lifetime.run(for: self) { self.api } deliver: { _, _ in }
        lifetime.run(for: self) { [api] in api } deliver: { _, _ in }
    }
}
