// Draws the jobs of /health.json with uPlot: how long each took, and how many blobs it extracted.
"use strict";

(() => {
  let plot = null;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const draw = async () => {
    const holder = document.getElementById("chart");
    if (!holder) return;
    const answer = await (await fetch(holder.dataset.source)).json();
    if (answer.status !== "ok") return;
    const jobs = answer.jobs.filter((job) => job.startedAt && job.finishedAt).reverse();
    if (plot) { plot.destroy(); plot = null; }
    holder.dataset.drawn = String(jobs.length);
    holder.textContent = jobs.length < 2 ? "The chart starts with the second job." : "";
    if (jobs.length < 2) return;
    const [first, last] = [jobs[0].finishedAt, jobs[jobs.length - 1].finishedAt];
    const room = Math.max(60, 0.02 * (last - first));
    const span = (_, low, high) => (low > first && high < last ? [low, high] : [first - room, last + room]);
    const axis = { stroke: colour("--dim"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
    const clock = (_, times) => times.map((at) => new Date(at * 1000).toISOString().slice(...(last - first > 172800 ? [5, 10] : [11, 19])));
    plot = new uPlot({
      width: Math.max(320, holder.clientWidth), height: 220,
      scales: { x: { time: true, range: span }, s: { range: (_, low, high) => [0, Math.max(high, 0.1)] }, b: { range: (_, low, high) => [0, Math.max(high, 1)] } },
      legend: { show: false }, axes: [{ ...axis, values: clock, space: 80 }, { ...axis, scale: "s", label: "seconds", stroke: colour("--link") }, { ...axis, scale: "b", side: 1, label: "blobs", stroke: colour("--stale"), grid: { show: false } }],
      series: [
        {},
        { label: "seconds", scale: "s", stroke: colour("--link"), width: 2, points: { show: true, size: 6 } },
        { label: "blobs", scale: "b", stroke: colour("--stale"), width: 1, dash: [4, 4] },
      ],
    }, [
      jobs.map((job) => job.finishedAt),
      jobs.map((job) => job.finishedAt - job.startedAt),
      jobs.map((job) => job.extracted),
    ], holder);
  };

  draw();
  window.addEventListener("resize", () => {
    const holder = document.getElementById("chart");
    if (plot && holder) plot.setSize({ width: Math.max(320, holder.clientWidth), height: 220 });
  });
  // A refresh ended: the page asks for itself again, and the chart with it.
  document.body.addEventListener("index-changed", async () => {
    await gitindex.show(document.getElementById("main"), "/health");
    plot = null;
    draw();
  });
})();
