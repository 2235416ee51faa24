// The slider: while it moves the name of the commit follows; when it rests the page goes there.
"use strict";

(() => {
  const slider = document.getElementById("slide-at");
  if (!slider) return;
  const ids = slider.dataset.ids.split(" ");
  const shown = document.querySelector(`output[for="${slider.id}"]`);
  slider.addEventListener("input", () => {
    shown.textContent = ids[Number(slider.value)];
    slider.setAttribute("aria-valuetext", shown.textContent);
  });
  slider.addEventListener("change", () => {
    const address = new URL(location.href);
    address.searchParams.set("at", ids[Number(slider.value)]);
    location.assign(address.pathname + address.search);
  });
})();
