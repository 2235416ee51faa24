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
    if (!jobs.length) return;
    const [first, last] = [jobs[0].finishedAt, jobs[jobs.length - 1].finishedAt];
    const room = Math.max(60, 0.02 * (last - first));
    const span = (_, low, high) => (low > first && high < last ? [low, high] : [first - room, last + room]);
    const axis = { stroke: colour("--dim"), grid: { stroke: colour("--line") }, ticks: { stroke: colour("--line") } };
    plot = new uPlot({
      width: Math.max(320, holder.clientWidth), height: 220,
      scales: { x: { time: true, range: span }, s: { range: (_, low, high) => [0, Math.max(high, 0.1)] }, b: { range: (_, low, high) => [0, Math.max(high, 1)] } },
      axes: [axis, { ...axis, scale: "s", label: "seconds" }, { ...axis, scale: "b", side: 1, label: "blobs", grid: { show: false } }],
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
    holder.dataset.drawn = String(jobs.length);
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
