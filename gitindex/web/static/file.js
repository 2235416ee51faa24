// Hover a name: its signature and its comment. Click a line number: the address names that line.
"use strict";

(() => {
  const tip = document.getElementById("tip");
  const code = document.querySelector("ol.code");
  if (!code || !tip) return;
  const known = new Map();
  let waiting = 0;

  const place = (span) => {
    const line = Number(span.closest("li").querySelector("a").id.slice(1));
    let column = 1;
    for (let node = span.previousSibling; node; node = node.previousSibling) column += node.textContent.length;
    return { line, column };
  };

  const ask = async (span) => {
    const at = new URLSearchParams(location.search).get("at") || "";
    const { line, column } = place(span);
    const key = `${line}:${column}`;
    if (!known.has(key)) {
      const path = location.pathname.slice("/file/".length);
      const query = new URLSearchParams({ line, col: column, at, w: "hover" });
      const answer = await fetch(`/hover/${path}?${query}`, { headers: { "X-Part": "1" } });
      known.set(key, answer.status === 200 ? await answer.text() : "");
    }
    return known.get(key);
  };

  const show = (span, html) => {
    const parsed = new DOMParser().parseFromString(html, "text/html");
    parsed.querySelectorAll("#bar, #receipt").forEach((one) => one.remove());
    if (!parsed.body.textContent.trim() || parsed.querySelector(".empty")) return;
    place_tip(span, ...parsed.body.childNodes);
  };
  const place_tip = (span, ...shown) => {
    tip.replaceChildren(...shown);
    tip.hidden = false;
    const box = span.getBoundingClientRect();
    const below = box.bottom + tip.offsetHeight + 8 < innerHeight;
    tip.style.left = `${Math.max(4, Math.min(box.left, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${below ? box.bottom + 4 : Math.max(4, box.top - tip.offsetHeight - 4)}px`;
  };
  const hide = () => { tip.hidden = true; };

  code.addEventListener("mouseover", (event) => {
    clearTimeout(waiting);
    const span = event.target.closest("span.n, span.f, span.t");
    if (!span) { waiting = setTimeout(() => { if (!tip.matches(":hover")) hide(); }, 250); return; }
    waiting = setTimeout(async () => {
      const html = await ask(span);
      if (html && span.matches(":hover")) show(span, html);
    }, 200);
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  // The same for keys: the signature and the comment of a definition of the outline.
  document.getElementById("outline").addEventListener("focusin", (event) => {
    if (!event.target.title || !event.target.matches(":focus-visible")) return hide();
    const made = document.createElement("pre");
    made.textContent = event.target.title;
    place_tip(event.target, made);
  });
  addEventListener("scroll", hide, { passive: true });

  const target = () => {
    document.querySelectorAll("ol.code li.here").forEach((one) => one.classList.remove("here"));
    const line = document.getElementById(location.hash.slice(1));
    if (line) line.closest("li").classList.add("here");
  };
  addEventListener("hashchange", target);
  target();
})();
