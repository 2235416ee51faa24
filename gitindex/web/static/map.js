// The map is SVG from the server. Wheel and drag move it; a name under the pointer shows its imports.
"use strict";

(() => {
  const graph = document.getElementById("graph");
  if (!graph) return;
  const picked = document.getElementById("picked");
  const view = graph.viewBox.baseVal;
  const large = Math.max(1, graph.getScreenCTM().a / (innerWidth > 2200 ? 2.4 : 1.5));  // a small map is not blown up to the size of the window
  [view.x, view.y] = [view.x - view.width * (large - 1) / 2, view.y - view.height * (large - 1) / 2];
  [view.width, view.height] = [view.width * large, view.height * large];
  const whole = view.width;

  const zoom = (factor, x, y) => {
    const by = Math.max(whole / 10, Math.min(3 * whole, view.width * factor)) / view.width;
    [view.x, view.y] = [x - (x - view.x) * by, y - (y - view.y) * by];
    [view.width, view.height] = [view.width * by, view.height * by];
  };
  graph.addEventListener("wheel", (event) => {
    event.preventDefault();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(graph.getScreenCTM().inverse());
    zoom(Math.exp(event.deltaY / 500), at.x, at.y);
  }, { passive: false });

  graph.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const by = { "+": 0.8, "-": 1.25, 0: whole / view.width }[event.key];
    if (!step && !by) return;
    event.preventDefault();
    if (step) [view.x, view.y] = [view.x + step[0] * view.width / 10, view.y + step[1] * view.width / 10];
    else zoom(by, view.x + view.width / 2, view.y + view.height / 2);
  });

  let from = null;
  let moved = false;
  graph.addEventListener("pointerdown", (event) => { from = { x: event.clientX, y: event.clientY }; moved = false; });
  graph.addEventListener("pointermove", (event) => {
    if (!from || !event.buttons) return;
    const [x, y] = [event.clientX - from.x, event.clientY - from.y];
    if (!moved && Math.hypot(x, y) < 5) return;
    moved = true;
    const scale = graph.getScreenCTM().a;
    [view.x, view.y] = [view.x - x / scale, view.y - y / scale];
    from = { x: event.clientX, y: event.clientY };
  });
  graph.addEventListener("click", (event) => {
    const node = event.target.closest("[data-id]");
    if (!node || moved) return;
    const entry = [...document.querySelectorAll(".tree a[data-id]")].find((link) => link.dataset.id === node.dataset.id);
    (node.matches(".node.file") && entry.parentElement.querySelector(".also a:last-child") || entry).click();
  });

  graph.addEventListener("pointerover", (event) => {
    const node = event.target.closest("[data-id]");
    graph.querySelectorAll(".near").forEach((one) => one.classList.remove("near"));
    if (!node) return;
    const id = node.dataset.id;
    const lines = [...graph.querySelectorAll("line")].filter((line) => line.dataset.from === id || line.dataset.to === id);
    const ends = new Set(lines.flatMap((line) => [line.dataset.from, line.dataset.to]));
    lines.forEach((line) => line.classList.add("near"));
    graph.querySelectorAll("[data-id]").forEach((one) => one.classList.toggle("near", ends.has(one.dataset.id)));
    const to = lines.filter((line) => line.dataset.from === id).length;
    picked.textContent = `${id} imports ${to}, is imported by ${lines.length - to}`;
  });

  // What is seen, as a file of its own: the sheet goes along.
  const save = document.getElementById("save");
  save.hidden = false;
  save.addEventListener("click", async () => {
    const copy = graph.cloneNode(true);
    const sheet = document.createElementNS(graph.namespaceURI, "style");
    sheet.textContent = await (await fetch("/static/app.css")).text();
    copy.prepend(sheet);
    const address = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
    Object.assign(document.createElement("a"), { href: address, download: "map.svg" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  });

  requestAnimationFrame(() => setTimeout(() => { graph.dataset.drawn = String(Math.round(performance.now())); }));
})();
