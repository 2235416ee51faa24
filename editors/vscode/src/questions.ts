// Questions to `gitindex lsp`, without the editor: everything here is tested against the real server.

/** What is needed of a language client: VS Code's own, or a plain protocol connection in tests. */
export interface Asker {
  sendRequest(method: string, params: unknown): Promise<unknown>;
}

export interface Place {
  path: string;
  line: number;
  columnUtf16?: number;
  text?: string;
  why?: string;
  tier?: string;
}

export interface Answer {
  status: string;
  message?: string;
  codebaseRoot?: string;
  text: string[];
  [field: string]: unknown;
}

export interface Item {
  label: string;
  description: string;
  detail: string;
  path: string;
  line: number;
  column: number;
}

/** Ask any question of gitindex's table, with the parameters of its MCP tool. */
export async function ask(
  client: Asker, question: string, params: Record<string, unknown>, uri: string,
): Promise<Answer> {
  const answer = await client.sendRequest("workspace/executeCommand", {
    command: "gitindex.ask",
    arguments: [question, params, uri],
  });
  return answer as Answer;
}

/** The text and the tooltip of the status bar. */
export async function status(client: Asker, uri: string): Promise<{ text: string; tooltip: string }> {
  const found = (await client.sendRequest("workspace/executeCommand", {
    command: "gitindex.status",
    arguments: [uri],
  })) as { state: string; line: string };
  const icons: Record<string, string> = { fresh: "check", stale: "history", rebuilding: "sync~spin" };
  return { text: `$(${icons[found.state] ?? "warning"}) ${found.state}`, tooltip: found.line };
}

/** Results of a search, as rows of a pick list. */
export async function search(client: Asker, query: string, uri: string): Promise<Item[]> {
  const answer = await ask(client, "search", { query, limit: 20 }, uri);
  const results = (answer.results ?? []) as Record<string, unknown>[];
  return results.map((row) => ({
    label: String(row.name ?? row.path),
    description: `${row.path}:${row.startLine}`,
    detail: String(row.snippet ?? "").split("\n")[0].trim(),
    path: String(row.path),
    line: Number(row.startLine),
    column: 1,
  }));
}

/** The references of the name at a place: what is certain, then what is possible, and the certificate. */
export async function references(
  client: Asker, path: string, line: number, column: number, uri: string,
): Promise<{ title: string; items: Item[] }> {
  const answer = await ask(client, "refs", { symbol: `${path}:${line}:${column}`, limit: 200 }, uri);
  const certain = (answer.references ?? []) as Place[];
  const possible = (answer.possible ?? []) as Place[];
  const rows = [
    ...certain.map((place) => item(place, place.tier ?? "")),
    ...possible.map((place) => item(place, `possible: ${place.why}`)),
  ];
  const title = answer.status === "ok" ? certificate(answer) : answer.message ?? answer.status;
  return { title, items: rows };
}

/** One line: how many there are, and whether these are all. */
export function certificate(answer: Answer): string {
  const accounted = (answer.accounted ?? {}) as Record<string, number>;
  const all = answer.accountedFor ? `all ${accounted.total} occurrences accounted for` : "not all accounted for";
  if (answer.absent) {
    return `nobody uses it: ${all}`;
  }
  const parts = [`${accounted.references ?? 0} references`];
  if (accounted.possible) {
    parts.push(`${accounted.possible} possible`);
  }
  if (accounted.unlikely) {
    parts.push(`${accounted.unlikely} on other types`);
  }
  return `${parts.join(", ")}; ${all}`;
}

function item(place: Place, kind: string): Item {
  return {
    label: (place.text ?? "").trim() || place.path,
    description: `${place.path}:${place.line}`,
    detail: kind,
    path: place.path,
    line: place.line,
    column: place.columnUtf16 ?? 1,
  };
}
