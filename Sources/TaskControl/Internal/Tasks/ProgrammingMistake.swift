/// An error that is caused by a mistake in the program, so that a retry cannot succeed.
package protocol ProgrammingMistake: Error {}
