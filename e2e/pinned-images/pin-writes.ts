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
  /** Refused because somebody else wrote at that moment, by object; they count above too. */
  readonly conflicts: Counts;
}

const CONFLICT = 409;

export async function pinWritesBetween(auditLog: string, from: Date, to: Date): Promise<PinWrites> {
  const all = await readAuditLog(auditLog);
  const requests = all.filter(({ receivedAt }) => receivedAt >= from && receivedAt <= to);
  const writesTo = (resource: string): AuditedRequest[] =>
    requests.filter((each) => (each.verb === 'patch' || each.verb === 'update') && each.resource === resource);
  const pools = [...writesTo('machineconfigpools'), ...writesTo('machineconfigpools/status')];
  const [byDaemons, byControllers] = [writesTo('machineconfignodes/status'), writesTo('machineconfignodes')];
  const gets = requests.filter(({ verb, resource }) => verb === 'get' && resource === 'pinnedimagesets');
  return {
    byDaemons: countByName(byDaemons),
    byControllers: countByName(byControllers),
    ofPools: countByName(pools),
    readsOfSets: countByName(gets),
    conflicts: countByName([...byDaemons, ...byControllers, ...pools].filter(({ code }) => code === CONFLICT)),
  };
}

function countByName(requests: readonly AuditedRequest[]): Counts {
  const counts = new Map<string, number>();
  for (const { name } of requests) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
