// Made of the files in Page by scripts/trace-page; not to be changed here.
// swift-format-ignore-file

extension TracePage {
    static let opening: StaticString = #"""
</script>
<script>"use strict";
(() => {

"""#
}
