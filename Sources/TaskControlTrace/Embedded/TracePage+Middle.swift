// Made of the files in Page by scripts/trace-page; not to be changed here.
// swift-format-ignore-file

extension TracePage {
    static let middle: StaticString = #"""
</style>
</head>
<body>
<header>
<div class="head">
<h1 id="title">Trace</h1>
<p id="summary"></p>
<p id="lost" hidden></p>
</div>
<div class="tools">
<input id="search" type="search" placeholder="Filter by name, key, owner, error" aria-label="Filter by name, key, owner, error" autocomplete="off" spellcheck="false">
<div class="buttons" role="group" aria-label="Zoom">
<button type="button" id="zoom-out" aria-label="Zoom out" title="Zoom out (−)">−</button>
<button type="button" id="zoom-in" aria-label="Zoom in" title="Zoom in (+)">+</button>
<button type="button" id="zoom-fit" title="Show all (0)">All</button>
</div>
<div class="buttons">
<button type="button" id="keys" aria-label="Keys" aria-haspopup="dialog" title="Keys (?)">?</button>
</div>
</div>
<div class="legend">
<div id="outcomes" role="group" aria-label="Show tasks that"></div>
<p class="phases" aria-label="Within a bar"><span class="swatch waiting"></span>waiting <span class="swatch running"></span>running <span class="swatch event"></span>event</p>
</div>
</header>
<section id="overview" aria-label="Overview: drag to choose what is shown">
<span id="overview-caption">at once, of all</span>
<div id="overview-track"><svg id="overview-chart" aria-hidden="true" preserveAspectRatio="none"><path class="waiting"></path><path class="running"></path><path class="trouble"></path></svg><div id="brush"></div></div>
</section>
<div id="axis" aria-hidden="true"><span id="axis-caption"></span><div id="ticks"></div></div>
<main>
<div id="grid" aria-hidden="true"><div id="lines"></div><div id="cursor" hidden></div></div>
<div id="chart" tabindex="0" role="application" aria-label="Tasks over time. Arrow keys move, plus and minus zoom, Tab goes to the bars, question mark shows the keys."><div id="rows"></div></div>
<p id="empty" hidden></p>
</main>
<div id="tip" role="tooltip" hidden></div>
<dialog id="help" aria-label="Keys">
<h2>Keys</h2>
<dl>
<dt><kbd>+</kbd> <kbd>−</kbd></dt><dd>zoom; with the pointer: pinch, or the wheel with Ctrl</dd>
<dt><kbd>0</kbd></dt><dd>show all</dd>
<dt><kbd>←</kbd> <kbd>→</kbd> <kbd>↑</kbd> <kbd>↓</kbd></dt><dd>move; on a bar: to the next one</dd>
<dt><kbd>Home</kbd> <kbd>End</kbd></dt><dd>to the beginning, to the end; on a bar: of its lane</dd>
<dt><kbd>Tab</kbd></dt><dd>to the bars</dd>
<dt><kbd>Enter</kbd></dt><dd>pin the description of a bar, or zoom into a column</dd>
<dt><kbd>F</kbd></dt><dd>zoom to the bar</dd>
<dt><kbd>/</kbd></dt><dd>filter</dd>
<dt><kbd>Esc</kbd></dt><dd>unpin, leave, clear the filter</dd>
</dl>
<form method="dialog"><button>Close</button></form>
</dialog>
<script type="application/json" id="data">
"""#
}
