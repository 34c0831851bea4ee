import Foundation
import HTTPTypes
import Hummingbird
import TaskControlSnapshot
import TaskControlTrace

/// The routes that show what the tasks of the process do.
///
/// They show keys and names of tasks. Do not serve them to the public: put them behind authentication, or on a port of their own.
struct DebugRoutes {
    let recorder: TraceRecorder

    func add(to group: RouterGroup<some RequestContext>) {
        group.get("tasks") { request, _ in
            let snapshot = TaskSnapshot.current()
            guard request.uri.queryParameters["format"] == "json" else {
                return Self.response("\(snapshot)", type: "text/plain; charset=utf-8")
            }
            let json = try JSONEncoder().encode(snapshot)
            return Self.response(String(decoding: json, as: UTF8.self), type: "application/json")
        }
        group.get("trace") { [recorder] request, _ in
            guard request.uri.queryParameters["format"] == "perfetto" else {
                return Self.response(recorder.text(as: .html, title: "prices"), type: "text/html; charset=utf-8")
            }
            return Self.response(recorder.text(as: .perfetto, title: "prices"), type: "application/json")
        }
    }

    private static func response(_ text: String, type: String) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}
