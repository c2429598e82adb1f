// What was written about images, as the API server noted it.
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

interface Line {
  readonly verb: string;
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string; readonly name?: string };
  readonly requestReceivedTimestamp: string;
  readonly responseStatus?: { readonly code?: number };
}

/** By node: how often. */
type Counts = ReadonlyMap<string, number>;

export interface PinWrites {
  /** The status of its MachineConfigNode. */
  readonly byDaemons: Counts;
  /** What the node is told. */
  readonly byControllers: Counts;
  /** By pool: its sets, its summary and its status. */
  readonly ofPools: Counts;
  /** Not writes: nodes that get a PinnedImageSet, by set. */
  readonly readsOfSets: Counts;
  /** Refused because somebody else wrote at that moment, by object; they count above too. */
  readonly conflicts: Counts;
}

const CONFLICT = 409;
const isWrite = ({ verb }: Line): boolean => verb === 'patch' || verb === 'update';

export async function pinWritesBetween(auditLog: string, from: Date, to: Date): Promise<PinWrites> {
  const lines = (await Array.fromAsync(linesOf(auditLog))).filter(({ requestReceivedTimestamp }) => {
    const at = Date.parse(requestReceivedTimestamp);
    return at >= from.getTime() && at <= to.getTime();
  });
  const writesOf = (resource: string, subresource?: string): Line[] =>
    lines.filter(
      (line) => isWrite(line) && line.objectRef?.resource === resource && line.objectRef.subresource === subresource,
    );
  const pools = [...writesOf('machineconfigpools'), ...writesOf('machineconfigpools', 'status')];
  const nodes = [writesOf('machineconfignodes', 'status'), writesOf('machineconfignodes')] as const;
  const gets = lines.filter(({ verb, objectRef }) => verb === 'get' && objectRef?.resource === 'pinnedimagesets');
  return {
    byDaemons: countsOf(nodes[0]),
    byControllers: countsOf(nodes[1]),
    ofPools: countsOf(pools),
    readsOfSets: countsOf(gets),
    conflicts: countsOf([...nodes.flat(), ...pools].filter((line) => line.responseStatus?.code === CONFLICT)),
  };
}

function countsOf(lines: readonly Line[]): Counts {
  const counts = new Map<string, number>();
  for (const { objectRef } of lines) counts.set(objectRef?.name ?? '', (counts.get(objectRef?.name ?? '') ?? 0) + 1);
  return counts;
}

async function* linesOf(auditLog: string): AsyncGenerator<Line> {
  const directory = dirname(auditLog);
  for (const file of await readdir(directory)) {
    if (!file.startsWith('audit')) continue;
    for await (const text of createInterface({ input: createReadStream(join(directory, file)) })) {
      // The last line may be half written.
      if (text.endsWith('}')) yield JSON.parse(text) as Line;
    }
  }
}
