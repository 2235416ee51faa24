// Keys, copying, and the live bar. Everything else is HTML from the server.
"use strict";

(() => {
  const box = document.getElementById("q");
  const hits = () => [...document.querySelectorAll(".hit a.place:first-of-type, .hit > .head > a.place")]
    .filter((a, i, all) => all.indexOf(a) === i && a === a.closest(".hit").querySelector("a.place"));

  if (box && box.value && document.activeElement === box) box.setSelectionRange(box.value.length, box.value.length);

  const move = (step) => {
    const all = hits();
    if (!all.length) return;
    const at = all.indexOf(document.activeElement);
    const next = all[Math.max(0, Math.min(all.length - 1, at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step))];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inside = event.target.matches && event.target.matches("input[type=search], input[type=text], select, textarea");
    if (inside) {
      if (event.key === "Escape") { event.target.blur(); event.preventDefault(); }
      if (event.target === box && event.key === "ArrowDown") { move(1); event.preventDefault(); }
      if (event.target === box && event.key === "Enter" && document.body.dataset.page === "search") {
        const first = hits()[0];
        if (first && box.value) { event.preventDefault(); first.click(); }
      }
      return;
    }
    if (event.target.matches && event.target.matches("input[type=range]")) return;
    if (event.key === "/") { box.focus(); box.select(); event.preventDefault(); }
    if (event.key === "j" || event.key === "ArrowDown" && event.target.closest(".hit")) { move(1); event.preventDefault(); }
    if (event.key === "k" || event.key === "ArrowUp" && event.target.closest(".hit")) { move(-1); event.preventDefault(); }
  });

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button) return;
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "copied";
    } catch {
      button.textContent = "not copied";
    }
    setTimeout(() => { button.textContent = label; }, 1200);
  });

  // A facet or a switch asks again; the box sends them along.
  document.addEventListener("change", (event) => {
    if (event.target.closest("#facets")) document.body.dispatchEvent(new CustomEvent("ask"));
  });

  // The bar turns by itself: the server says so, and results that may have changed are asked for again.
  const watch = () => {
    const bar = document.getElementById("bar");
    if (!bar || bar.dataset.at) return;
    let seen = "";
    let stream = null;
    let failures = 0;
    const open = () => {
      if (stream || document.hidden) return;
      stream = new EventSource("/live");
      stream.addEventListener("bar", (event) => {
        const told = JSON.parse(event.data);
        document.getElementById("bar").outerHTML = told.bar;
        if (seen && seen !== told.version) {
          if (box && box.hasAttribute("hx-get")) document.body.dispatchEvent(new CustomEvent("ask"));
          document.body.dispatchEvent(new CustomEvent("index-changed"));
        }
        seen = told.version;
      });
      stream.addEventListener("open", () => { failures = 0; });
      stream.addEventListener("error", () => { if (++failures >= 3 || stream.readyState === 2) { close(); ended(); } });
    };
    const close = () => { if (stream) { stream.close(); stream = null; } };
    const ended = () => {
      const now = document.getElementById("bar");
      now.className = "bar unknown";
      now.textContent = "The server has ended: run `gitindex web` again.";
    };
    document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
    window.addEventListener("pagehide", close);
    open();
  };
  if (document.body.dataset.live !== "off") watch();
})();
