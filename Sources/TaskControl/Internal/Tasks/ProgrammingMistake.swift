/// An error that only a change of the program avoids.
package protocol ProgrammingMistake: Error {}
