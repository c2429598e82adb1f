// Requests by user, from the API server's audit log.
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

interface Line {
  readonly verb: string;
  readonly user?: { readonly username?: string };
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string };
  readonly requestReceivedTimestamp: string;
}

/** Counts this user's requests since then, such as `patch nodes`. Watches are excluded: they stay open. */
export async function requestsSince(auditLog: string, since: Date, user: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const from = since.toISOString();
  for (const path of await listLogFiles(auditLog)) {
    for await (const text of createInterface({ input: createReadStream(path) })) {
      const line = JSON.parse(text) as Line;
      if (line.requestReceivedTimestamp < from || line.verb === 'watch' || line.user?.username !== user) continue;
      const what = formatRequest(line);
      counts.set(what, (counts.get(what) ?? 0) + 1);
    }
  }
  return counts;
}

function formatRequest({ verb, objectRef }: Line): string {
  const { resource = 'others', subresource } = objectRef ?? {};
  return `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
}

/** The API server starts another file at 100 MB and names the full one by its time. */
async function listLogFiles(auditLog: string): Promise<string[]> {
  const directory = dirname(auditLog);
  const stem = basename(auditLog).replace(/\.log$/, '');
  return (await readdir(directory)).filter((name) => name.startsWith(stem)).map((name) => join(directory, name));
}
