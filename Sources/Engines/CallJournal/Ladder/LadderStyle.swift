/// The style sheets of ladders: light and dark, as the reader's screen is.
enum LadderStyle {
    /// The style of a page.
    static let page = colours + "\n" + layout + "\n" + picture

    /// The style of a picture that stands alone.
    static let document = colours + "\nsvg{background:var(--ground)}\n" + picture

    private static let colours = """
        :root{color-scheme:light dark;--ink:#1b1f24;--quiet:#5b6470;--line:#c9ced6;--ground:#fff;--request:#0b7285;--provisional:#8a6100;--success:#18794e;--failure:#c62a2f;--report:#8e3a9d;--media:#18794e;--action:#2458c5}
        @media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--quiet:#9aa3ad;--line:#434a54;--ground:#15181c;--request:#5ad1e6;--provisional:#ffc53d;--success:#4cc38a;--failure:#ff6369;--report:#d99be6;--media:#4cc38a;--action:#7aa2ff}}
        """

    private static let layout = """
        body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);margin:2em auto;padding:0 1em;max-width:1200px}h1{font-size:1.4em;margin:0;overflow-wrap:anywhere}
        .banner{padding:.6em 1em;border-radius:8px;color:#fff;font-weight:600}.good{background:#18794e}.bad{background:#c62a2f}.warn{background:#ad5700}.quiet,.key{color:var(--quiet);font-size:.87em}
        table{border-collapse:collapse;font-size:.93em}th{text-align:left;color:var(--quiet);font-weight:500;padding:.15em 1.5em .15em 0;vertical-align:top;white-space:nowrap}td{overflow-wrap:anywhere}
        .ladder{overflow-x:auto}
        .key i{display:inline-block;width:.7em;height:.9em;margin:0 .4em 0 1em;vertical-align:-.1em;border:1px dotted var(--media);border-radius:2px}.key i.configured{border-style:dashed}.key i.open,.key i.flowing,.key i.relayed{border-style:solid}.key i.flowing{background:var(--media)}.key i.relayed{background:repeating-linear-gradient(0deg,var(--media) 0 2px,transparent 2px 4px)}
        """

    private static let picture = """
        svg text{font:12px ui-monospace,monospace;fill:var(--ink)}.head{text-anchor:middle;font-weight:600}.time{text-anchor:end;fill:var(--quiet)!important}.label{text-anchor:middle}
        .words,.label{paint-order:stroke;stroke:var(--ground);stroke-width:3px}.life{stroke:var(--line)}.arrow{stroke-width:1.4}.again{stroke-dasharray:4 3}
        line.request{stroke:var(--request)}line.provisional{stroke:var(--provisional)}line.success{stroke:var(--success)}line.failure{stroke:var(--failure)}
        text.request{fill:var(--request)}text.provisional,text.session{fill:var(--provisional)}text.success{fill:var(--success)}text.failure{fill:var(--failure)}text.report{fill:var(--report)}text.media{fill:var(--media)}text.action{fill:var(--action)}
        .bar{stroke:var(--media);fill:none}.bar.reserved{stroke-dasharray:1 4}.bar.configured{stroke-dasharray:4 3}.bar.flowing{fill:var(--media)}.bar.relayed{fill:var(--media);fill-opacity:.45}
        """
}
