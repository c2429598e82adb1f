// Which machines are in which pools, and what is known of their images: worked out once for each version of an object.
import { machineConfigNodes, machineConfigPools, nodes } from '@slipway/api';
import type { MachineConfigNode, MachineConfigPool, Node } from '@slipway/api';
import { isMember, type PinNode, type PinPool, pinPoolOf, pinReportOf } from '@slipway/fleet';
import type { Read, Stored } from '@slipway/kube';
import { setsIn } from './pin-reads.ts';

export interface PinView {
  readonly pools: ReadonlyMap<string, PinPool>;
  readonly nodes: readonly PinNode[];
}

export interface PinViews {
  view(read: Read): PinView;
  /** The pools that a machine is a member of. */
  poolsOf(node: Stored<Node> | undefined, read: Read): readonly string[];
}

type Report = ReturnType<typeof pinReportOf>;
const unheard: Report = { told: null, reported: new Map(), failure: null };

export function createPinViews(): PinViews {
  const reports = new WeakMap<Stored<MachineConfigNode>, Report>();
  let selectors = '';
  let memberships = new WeakMap<Stored<Node>, readonly string[]>();

  /** What was worked out holds for as long as no pool selects other nodes. */
  function poolsIn(read: Read): Stored<MachineConfigPool>[] {
    const pools = [...read(machineConfigPools).values()];
    const now = JSON.stringify(pools.map(({ metadata, spec }) => [metadata.name, spec.nodeSelector]));
    if (now !== selectors) memberships = new WeakMap();
    selectors = now;
    return pools;
  }

  function membership(node: Stored<Node>, pools: readonly Stored<MachineConfigPool>[]): readonly string[] {
    const known = memberships.get(node) ?? pools.filter((pool) => isMember(node, pool)).map(nameOf);
    memberships.set(node, known);
    return known;
  }

  function reportOf(record: Stored<MachineConfigNode> | undefined): Report {
    if (record === undefined) return unheard;
    const known = reports.get(record) ?? pinReportOf(record);
    reports.set(record, known);
    return known;
  }

  return {
    view(read) {
      const pools = poolsIn(read);
      const sets = new Map(setsIn(read).map((set) => [set.metadata.name, set]));
      return {
        pools: new Map(pools.map((pool) => [pool.metadata.name, pinPoolOf(pool, (name) => sets.get(name))])),
        nodes: [...read(nodes).values()].map((node) => {
          const { told, reported, failure } = reportOf(read(machineConfigNodes).get(node.metadata.name));
          const { name } = node.metadata;
          return { name, pools: membership(node, pools), isReady: isReady(node), told, reported, failure };
        }),
      };
    },
    poolsOf: (node, read) => (node === undefined ? [] : membership(node, poolsIn(read))),
  };
}

const nameOf = ({ metadata }: Stored<MachineConfigPool>): string => metadata.name;
const isReady = ({ status }: Node): boolean =>
  status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') === true;
