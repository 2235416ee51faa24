// Search as you type, keys, copying, and the live bar. Everything else is HTML from the server.
"use strict";

(() => {
  const box = document.getElementById("q");
  const types = Boolean(box && box.dataset.live);

  // Put a part of a page into its place. The bar and the receipt that come with it go to theirs.
  const put = (target, html) => {
    const made = new DOMParser().parseFromString(html, "text/html").body;
    for (const name of ["bar", "receipt"]) {
      const [came, now] = [made.querySelector(`#${name}`), document.getElementById(name)];
      if (came) came.remove();
      if (came && now && came.outerHTML !== now.outerHTML) now.replaceWith(came);
    }
    const { id, href } = target.contains(document.activeElement) ? document.activeElement : {};
    target.replaceChildren(...made.childNodes);
    const again = id ? document.getElementById(id) : href && [...target.querySelectorAll("a")].find((a) => a.href === href);
    if (again) again.focus({ preventScroll: true });
    fill(target);
  };
  const get = async (address) => {
    try {
      const answer = await fetch(address, { headers: { "X-Part": "1" } });
      if (answer.status === 200) return { html: await answer.text(), address: answer.headers.get("x-address") };
    } catch { /* the bar says that the server has ended */ }
    return null;
  };
  const show = async (target, address) => {
    const part = await get(address);
    if (part) put(target, part.html);
  };
  // Places that are filled later: at once, when they are seen, or by the page's own script.
  const seen = new IntersectionObserver((entries) => entries.filter((e) => e.isIntersecting).forEach(({ target }) => {
    seen.unobserve(target);
    show(target, target.dataset.part);
  }));
  const fill = (within) => within.querySelectorAll("[data-part]").forEach((place) => {
    if (place.dataset.when === "seen") seen.observe(place);
    else if (!place.dataset.when) show(place, place.dataset.part);
  });
  window.gitindex = { show };
  fill(document);

  // One question at a time, and then the newest: two on their way could overtake each other.
  let [busy, pending, address, later] = [false, false, "", 0];
  const write_address = () => {
    clearTimeout(later);
    if (address) history.replaceState(history.state, "", address);
    address = "";
  };
  const question = () => {
    pending = false;
    const form = new URLSearchParams(new FormData(box.form));
    document.querySelectorAll("#facets input:checked").forEach((one) => form.append(one.name, one.value));
    return get(`/?${form}`);
  };
  const ask = async () => {
    pending = true;
    if (busy) return;
    busy = true;
    try {
      for (let coming = question(); coming;) {
        const part = await coming;
        coming = pending ? question() : null;
        if (!part) continue;
        put(document.getElementById("main"), part.html);
        address = part.address;
        clearTimeout(later);
        later = setTimeout(write_address, 200);
      }
    } finally { busy = false; }
  };
  if (types) {
    let last = box.value;
    box.addEventListener("input", () => { if (box.value !== last) { last = box.value; ask(); } });
    document.addEventListener("click", write_address, true);
    addEventListener("beforeunload", write_address);
  }

  const hits = () => {
    const found = [...document.querySelectorAll(".hit")].map((hit) => hit.querySelector("a")).filter(Boolean);
    return found.length ? found : [...document.querySelectorAll(".outline li > a:first-child, .tree a[data-id]")];
  };

  if (box && box.value && document.activeElement === box) box.setSelectionRange(box.value.length, box.value.length);

  const move = (step) => {
    const all = hits();
    if (!all.length) return;
    const at = all.indexOf(document.activeElement);
    const next = all[Math.max(0, Math.min(all.length - 1, at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step))];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  };

  const press = (what) => { const one = document.querySelector(what); if (one) one.click(); };
  const by = {
    "?": () => document.getElementById("keys").showModal(),
    c: () => press("main button[data-copy]"), r: () => press("#receipt button"), n: () => press("#bar .at a"),
    f: () => { const first = document.querySelector("#facets input"); if (first) first.focus(); },
  };
  [..."1234"].forEach((key, at) => { by[key] = () => press(`.tabs a:nth-child(${at + 1})`); });
  [..."smth"].forEach((key, at) => { by[key] = () => press(`.top nav a:nth-child(${at + 1})`); });
  const help = document.getElementById("show-keys");
  if (help) help.addEventListener("click", by["?"]);

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
    if (document.querySelector("dialog[open]")) return;
    if (event.target.matches && event.target.matches("input[type=range]")) return;
    if (event.key === "/") { box.focus(); box.select(); event.preventDefault(); }
    if (by[event.key]) { by[event.key](); event.preventDefault(); }
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
    if (types && event.target.closest("#facets, #ask")) ask();
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
        const change = JSON.parse(event.data);
        document.getElementById("bar").outerHTML = change.bar;
        if (seen && seen !== change.version) {
          if (types) ask();
          document.body.dispatchEvent(new CustomEvent("index-changed"));
        }
        seen = change.version;
      });
      stream.addEventListener("open", () => { failures = 0; });
      stream.addEventListener("error", () => { if (++failures >= 3 || stream.readyState === 2) { close(); ended(); } });
    };
    const close = () => { if (stream) { stream.close(); stream = null; } };
    const ended = async () => {
      try { await fetch("/static/icon.svg", { method: "HEAD" }); return; } catch { /* it has ended */ }
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
