// Hover a name: its signature and its comment. Click a line number: the address names that line.
"use strict";

(() => {
  const tip = document.getElementById("tip");
  const code = document.querySelector("ol.code");
  if (!code || !tip) return;
  const search = new URLSearchParams(location.search);
  const known = new Map();
  let waiting = 0;

  const place = (span) => {
    const before = document.createRange();
    before.selectNodeContents(span.closest("code"));
    before.setEndBefore(span);
    const line = Number(span.closest("li").querySelector("a").id.slice(1));
    return { line, column: before.toString().length + 1 };
  };

  const ask = async (span) => {
    const at = search.get("at") || "";
    const { line, column } = place(span);
    const key = `${line}:${column}`;
    if (!known.has(key)) {
      const path = location.pathname.slice("/file/".length);
      const query = new URLSearchParams({ line, col: column, at });
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
    const span = event.target.closest("a.to, span.n, span.f, span.t");
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

  // Names that lead somewhere are links; those that are only inferred look different.
  const at = search.get("at") ? `?${new URLSearchParams({ at: search.get("at") })}` : "";
  const address = (page, path) => `/${page}/${path.split("/").map(encodeURIComponent).join("/")}${at}`;
  const range_of = (body, column, name) => {
    const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
    let left = column - 1;
    for (let node = walker.nextNode(); node; left -= node.length, node = walker.nextNode()) {
      if (left >= node.length) continue;
      if (node.data.slice(left, left + name.length) !== name) return null;
      const range = document.createRange();
      range.setStart(node, left);
      range.setEnd(node, left + name.length);
      return range;
    }
    return null;
  };
  const link = ({ line, columnUtf16, name, to, sure, definition }) => {
    const item = document.getElementById(`L${line}`)?.closest("li");
    const range = item && range_of(item.querySelector("code"), columnUtf16, name);
    if (!range) return;
    const made = document.createElement("a");
    const uses = to.symbol ? address("symbol", to.symbol) : "";
    made.className = sure ? "to" : "to may";
    made.href = definition && uses ? uses : `${address("file", to.path)}#L${to.line}`;
    made.dataset.uses = uses;
    made.tabIndex = item.classList.contains("here") ? 0 : -1;
    if (!sure) made.setAttribute("aria-description", "inferred");
    range.surroundContents(made);
  };
  const link_all = async () => {
    const path = location.pathname.slice("/file/".length);
    const answer = await fetch(`/names.json/${path}${location.search}`);
    const { names } = answer.ok ? await answer.json() : { names: [] };
    (names || []).forEach(link);
    code.dataset.linked = (names || []).length;
    const outline = document.getElementById("outline");
    if (outline?.dataset.part) window.gitindex.show(outline, outline.dataset.part);
  };
  code.addEventListener("click", (event) => {
    const name = event.target.closest("a.to");
    if (!name || !event.altKey || !name.dataset.uses) return;
    event.preventDefault();
    location.assign(name.dataset.uses);
  });

  const target = () => {
    document.querySelectorAll("ol.code li.here").forEach((one) => {
      one.classList.remove("here");
      one.querySelectorAll("a.to").forEach((name) => { name.tabIndex = -1; });
    });
    const line = document.getElementById(location.hash.slice(1))?.closest("li");
    if (!line) return;
    line.classList.add("here");
    line.querySelectorAll("a.to").forEach((name) => { name.tabIndex = 0; });
  };
  addEventListener("hashchange", target);
  target();
  link_all();
})();
