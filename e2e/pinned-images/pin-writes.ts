// What was written about images, as the API server noted it.
import { type AuditedRequest, readAuditLog } from '@slipway/testing/audit';

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
  /** Refused because another client wrote at that moment, by object. They changed nothing, and do not count above. */
  readonly conflicts: Counts;
}

const CONFLICT = 409;
const isDone = ({ code }: AuditedRequest): boolean => code !== CONFLICT;

export async function pinWritesBetween(auditLog: string, from: Date, to: Date): Promise<PinWrites> {
  const all = await readAuditLog(auditLog);
  const requests = all.filter(({ receivedAt }) => receivedAt >= from && receivedAt <= to);
  const writesTo = (resource: string): AuditedRequest[] =>
    requests.filter((each) => (each.verb === 'patch' || each.verb === 'update') && each.resource === resource);
  const pools = [...writesTo('machineconfigpools'), ...writesTo('machineconfigpools/status')];
  const [byDaemons, byControllers] = [writesTo('machineconfignodes/status'), writesTo('machineconfignodes')];
  const gets = requests.filter(({ verb, resource }) => verb === 'get' && resource === 'pinnedimagesets');
  return {
    byDaemons: countByName(byDaemons.filter(isDone)),
    byControllers: countByName(byControllers.filter(isDone)),
    ofPools: countByName(pools.filter(isDone)),
    readsOfSets: countByName(gets),
    conflicts: countByName([...byDaemons, ...byControllers, ...pools].filter((request) => !isDone(request))),
  };
}

function countByName(requests: readonly AuditedRequest[]): Counts {
  const counts = new Map<string, number>();
  for (const { name } of requests) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
