// Draws /map.json with cytoscape. Places come from the server; a click opens or closes a folder or a file.
"use strict";

(() => {
  const holder = document.getElementById("graph");
  if (!holder) return;
  const picked = document.getElementById("picked");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const marks = { focus: "--link", imports: "--fresh", imported: "--stale", changed: "--bad", reached: "--stale", test: "--fresh" };

  const style = () => [
    { selector: "node", style: {
      label: "data(label)", "font-size": 12, color: colour("--text"), "text-valign": "center", "text-halign": "center",
      shape: "round-rectangle", width: "data(width)", height: 22, "background-color": colour("--panel"),
      "border-width": 1, "border-color": colour("--line") } },
    { selector: "node[kind='folder']", style: { "font-weight": 600, "border-color": colour("--dim") } },
    { selector: "node[kind='symbol']", style: { "background-color": colour("--bg"), "font-size": 11 } },
    { selector: ":parent", style: {
      "text-valign": "top", "background-color": colour("--bg"), "border-color": colour("--line"), padding: 8, "font-size": 11,
      color: colour("--dim") } },
    ...Object.entries(marks).map(([mark, name]) => (
      { selector: `node[mark='${mark}']`, style: { "border-color": colour(name), "border-width": 2 } })),
    { selector: "edge", style: {
      width: "data(width)", "line-color": colour("--dim"), opacity: 0.28, "curve-style": "haystack", "haystack-radius": 0.4 } },
    { selector: ".near", style: { opacity: 0.9, "line-color": colour("--link") } },
    { selector: "node.near", style: { "border-color": colour("--link"), "border-width": 2 } },
  ];

  // Cutting a label here is cheaper than the library's ellipsis, which measures every one.
  const cut = (label) => (label.length > 22 ? `${label.slice(0, 21)}…` : label);
  const elements = (answer) => [
    ...answer.nodes.map((node) => ({
      data: { ...node, label: cut(node.label), parent: node.parent || undefined, width: Math.max(48, Math.min(170, 7.2 * node.label.length + 18)) },
      position: "x" in node ? { x: node.x, y: node.y } : undefined,
    })),
    ...answer.edges.map((edge, number) => ({
      data: { id: `edge ${number}`, source: edge.from, target: edge.to, count: edge.count, width: 1 + Math.log2(edge.count) },
    })),
  ];

  const toggled = (node) => {
    const address = new URL(location.href);
    let opened = address.searchParams.getAll("open");
    if (!opened.length) opened = graph.nodes("[?open]").map((one) => one.id());
    const id = node.id();
    opened = opened.includes(id) || node.data("open")
      ? opened.filter((one) => one !== id && !one.startsWith(id + "/"))
      : [...opened, id];
    address.searchParams.delete("open");
    (opened.length ? opened.slice(-30) : ["."]).forEach((one) => address.searchParams.append("open", one));
    return address.pathname + address.search;
  };

  let graph = null;
  const draw = async () => {
    const began = performance.now();
    const answer = await (await fetch(holder.dataset.source)).json();
    if (answer.status !== "ok") return;
    if (graph) graph.destroy();
    graph = cytoscape({
      container: holder, elements: elements(answer), style: style(), layout: { name: "preset", fit: true, padding: 16 },
      minZoom: 0.1, maxZoom: 3, hideEdgesOnViewport: true, autoungrabify: true, boxSelectionEnabled: false,
    });
    graph.on("tap", "node", (event) => {
      const node = event.target;
      if (node.data("kind") === "symbol") location.assign(`/symbol/${node.id().split("/").map(encodeURIComponent).join("/")}`);
      else location.assign(toggled(node));
    });
    graph.on("mouseover", "node", (event) => {
      const node = event.target;
      const near = node.connectedEdges();
      near.addClass("near");
      near.connectedNodes().addClass("near");
      const to = node.outgoers("node").length;
      const from = node.incomers("node").length;
      picked.textContent = `${node.id()} imports ${to}, is imported by ${from}`;
    });
    graph.on("mouseout", "node", () => graph.elements(".near").removeClass("near"));
    holder.dataset.drawn = String(Math.round(performance.now() - began));
    holder.dataset.nodes = String(graph.nodes().length);
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => graph && graph.style(style()));
  draw();
})();
