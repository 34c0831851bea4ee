// Made of the files in Page by scripts/trace-page; not to be changed here.
// swift-format-ignore-file

extension TracePage {
    static let top: StaticString = #"""
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-A6i2ooxpl2V2HUAzxRqOY6PeYMBlXx3jvBDIBe7h1TQ='; script-src 'sha256-/u7O2tXoj9cavfwRp5ZXQrvVkJMWGbc7PcPrkrOGjD0='; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Trace</title>
<style>
"""#
}
