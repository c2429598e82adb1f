// Which nodes are in which pool, and the facts about each: computed once per version of an object.
import {
  type MachineConfigNode,
  machineConfigNodes,
  type MachineConfigPool,
  machineConfigPools,
  type Node,
  nodes,
} from '@slipway/api';
import {
  type ChosenPool,
  isMember,
  type NodeFacts,
  readNodeFacts,
  type PinNode,
  type PinPool,
  buildPinPool,
  readPinReport,
  selectPool,
} from '@slipway/fleet';
import type { StoreReader, Stored } from '@slipway/kube';
import { listImageSets } from './sources.ts';

const MAX_RUN_INTERVAL_MS = 500;

/**
 * For keys whose decision reads every machine, as `minIntervalMs`: a thousand updating machines cause hundreds of changes
 * a second, and one run handles several. Not noticeable in a small fleet.
 */
export const computeRunInterval = (_key: string, read: StoreReader): number =>
  Math.min(MAX_RUN_INTERVAL_MS, Math.floor(read(nodes).size / 2));

export interface Member {
  readonly node: Stored<Node>;
  readonly facts: NodeFacts;
}

export interface FleetView {
  membersOf(pool: string): readonly Member[];
  /** Nodes in no pool, with the reason. */
  homeless(): readonly { readonly node: Stored<Node>; readonly why: ChosenPool & { ok: false } }[];
}

export interface FleetViews {
  view(read: StoreReader): FleetView;
  poolOf(node: Stored<Node>, read: StoreReader): string | undefined;
  /** Whether the selectors of pools changed since the last call: then nodes may have moved between pools. */
  hasMoved(read: StoreReader): boolean;
}

export function createFleetViews(): FleetViews {
  let chosen = new WeakMap<Stored<Node>, ChosenPool>();
  const readPools = createPoolReader(() => (chosen = new WeakMap()));
  const facts = new WeakMap<Stored<Node>, NodeFacts>();
  let asked = '';

  function findPool(node: Stored<Node>, pools: readonly Stored<MachineConfigPool>[]): ChosenPool {
    const known = chosen.get(node) ?? selectPool(node.metadata, pools);
    chosen.set(node, known);
    return known;
  }

  function getFacts(node: Stored<Node>): NodeFacts {
    const known = facts.get(node) ?? readNodeFacts(node);
    facts.set(node, known);
    return known;
  }

  return {
    view(read) {
      const pools = readPools(read);
      const members = new Map<string, Member[]>(pools.map(({ metadata }) => [metadata.name, []]));
      const nodesWithoutPool: { node: Stored<Node>; why: ChosenPool & { ok: false } }[] = [];
      for (const node of read(nodes).values()) {
        const found = findPool(node, pools);
        if (found.ok) members.get(found.pool)?.push({ node, facts: getFacts(node) });
        else nodesWithoutPool.push({ node, why: found });
      }
      return { membersOf: (pool) => members.get(pool) ?? [], homeless: () => nodesWithoutPool };
    },
    hasMoved(read) {
      const before = asked;
      asked = fingerprintSelectors(read(machineConfigPools).values());
      return asked !== before;
    },
    poolOf(node, read) {
      const found = findPool(node, readPools(read));
      return found.ok ? found.pool : undefined;
    },
  };
}

/** Reads the pools. Notices when they select other nodes: what is known of nodes stays valid until then. */
function createPoolReader(onMove: () => void): (read: StoreReader) => readonly Stored<MachineConfigPool>[] {
  let pools: readonly Stored<MachineConfigPool>[] = [];
  let selectors = '';
  return (read) => {
    const now = [...read(machineConfigPools).values()];
    // Mostly the very same objects: this is called for each change of a node.
    if (now.length === pools.length && now.every((pool, at) => pool === pools[at])) return pools;
    pools = now;
    const before = selectors;
    selectors = fingerprintSelectors(pools);
    if (selectors !== before) onMove();
    return pools;
  };
}

const fingerprintSelectors = (pools: Iterable<Stored<MachineConfigPool>>): string =>
  JSON.stringify([...pools].map(({ metadata, spec }) => [metadata.name, spec.nodeSelector]));

// Which machines are in which pools, and the state of their images: computed once per version of an object.

export interface PinView {
  readonly pools: ReadonlyMap<string, PinPool>;
  readonly nodes: readonly PinNode[];
}

export interface PinViews {
  view(read: StoreReader): PinView;
  /** The pools that a machine is a member of. */
  poolsOf(node: Stored<Node> | undefined, read: StoreReader): readonly string[];
}

type NodePinReport = ReturnType<typeof readPinReport>;
const emptyPinReport: NodePinReport = { told: null, reported: new Map(), failure: null, failingSince: null };

export function createPinViews(): PinViews {
  const reports = new WeakMap<Stored<MachineConfigNode>, NodePinReport>();
  let memberships = new WeakMap<Stored<Node>, readonly string[]>();
  const readPools = createPoolReader(() => (memberships = new WeakMap()));

  function findMemberPools(node: Stored<Node>, pools: readonly Stored<MachineConfigPool>[]): readonly string[] {
    const known = memberships.get(node) ?? pools.filter((pool) => isMember(node, pool)).map(nameOf);
    memberships.set(node, known);
    return known;
  }

  function getPinReport(record: Stored<MachineConfigNode> | undefined): NodePinReport {
    if (record === undefined) return emptyPinReport;
    const known = reports.get(record) ?? readPinReport(record);
    reports.set(record, known);
    return known;
  }

  return {
    view(read) {
      const pools = readPools(read);
      const sets = new Map(listImageSets(read).map((set) => [set.metadata.name, set]));
      return {
        pools: new Map(pools.map((pool) => [pool.metadata.name, buildPinPool(pool, (name) => sets.get(name))])),
        nodes: [...read(nodes).values()].map((node) => {
          const { name } = node.metadata;
          const own = { name, pools: findMemberPools(node, pools), isReady: isReady(node) };
          return Object.assign(own, getPinReport(read(machineConfigNodes).get(name)));
        }),
      };
    },
    poolsOf: (node, read) => (node === undefined ? [] : findMemberPools(node, readPools(read))),
  };
}

const nameOf = ({ metadata }: Stored<MachineConfigPool>): string => metadata.name;
const isReady = ({ status }: Node): boolean =>
  status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') === true;
