import TaskControlHTTP
import Testing

@Suite(.timeLimit(.minutes(15)))
struct EndpointBodyTests {
    @Test func aBodySaysOfWhatTypeItIs() throws {
        #expect(EndpointBody.json(Data("{}".utf8)).contentType == "application/json")
        #expect(EndpointBody.text(Data()).contentType == "text/plain; charset=utf-8")
        #expect(EndpointBody.binary(Data([0])).contentType == "application/octet-stream")
        #expect(EndpointBody.form(Data()).contentType == "application/x-www-form-urlencoded")
        #expect(EndpointBody.text("é").data == Data([0xC3, 0xA9]))
        #expect(try EndpointBody.json(encoding: [1, 2]).data == Data("[1,2]".utf8))
    }

    @Test func theFieldsOfAFormAreEncodedAsBrowsersDo() {
        let body = EndpointBody.form(["name": "A & B", "sum": "1+1=2", "é": "~*-._"])
        #expect(String(decoding: body.data, as: UTF8.self) == "name=A+%26+B&sum=1%2B1%3D2&%C3%A9=%7E*-._")
    }
}
