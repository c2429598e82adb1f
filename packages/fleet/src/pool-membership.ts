// Which pool a node is in.
import type { MachineConfigPool } from '@slipway/api';
import type { poolErrors } from './errors.ts';
import { matchesSelector, selectsSome } from './render/select.ts';

export type ChosenPool =
  | { readonly ok: true; readonly pool: string }
  /** The message names the node and what to do. */
  | { readonly ok: false; readonly code: keyof typeof poolErrors; readonly message: string };

interface NodeIdentity {
  readonly name: string;
  readonly labels?: Record<string, string>;
}

interface Labelled {
  readonly metadata: { readonly labels?: Record<string, string> };
}

type Selecting = Pick<MachineConfigPool, 'metadata'> & { spec: Pick<MachineConfigPool['spec'], 'nodeSelector'> };

/** The first of these that selects a node wins over custom pools: a control-plane node never becomes anything else. */
const controlPlane = ['master', 'arbiter'];
const WORKER = 'worker';

/** A custom pool wins over worker, because its nodes have the worker role too. Takes the metadata of a Node. */
export function selectPool(node: NodeIdentity, pools: Iterable<Selecting>): ChosenPool {
  const selecting = [...pools]
    .filter((pool) => isMember({ metadata: node }, pool))
    .map(({ metadata }) => metadata.name);
  const custom = selecting.filter((name) => name !== WORKER && !controlPlane.includes(name)).sort();
  if (custom.length > 1) {
    return {
      ok: false,
      code: 'SLW_POOL_SEVERAL',
      message: `Node ${node.name} is selected by the pools ${custom.join(' and ')}: expected at most one pool besides worker. Remove the role labels of all but one of these pools from the node`,
    };
  }
  const pool = [...controlPlane, ...custom, WORKER].find((name) => selecting.includes(name));
  return pool === undefined ? noPool(node) : { ok: true, pool };
}

/**
 * Whether the pool selects the node, even if another pool takes it: a node of a custom pool is a member of worker too.
 * An empty selector would select every node, which is never intended for a pool.
 */
export const isMember = ({ metadata: { labels } }: Labelled, { spec: { nodeSelector } }: Selecting): boolean =>
  selectsSome(nodeSelector) && matchesSelector(nodeSelector, labels);

function noPool({ name, labels = {} }: NodeIdentity): ChosenPool {
  const roles = Object.keys(labels).filter((label) => label.startsWith('node-role.kubernetes.io/'));
  const found = roles.length === 0 ? 'no role label' : `the labels ${roles.sort().join(', ')}`;
  return {
    ok: false,
    code: 'SLW_POOL_NONE',
    message: `Node ${name} is selected by no pool: expected a label that matches the spec.nodeSelector of a pool, found ${found}. Label the node, for example node-role.kubernetes.io/worker=`,
  };
}

/** Whether the machines of a pool are part of the control plane. */
export const isControlPlanePool = (pool: string): boolean => pool === 'master' || pool === 'arbiter';

const roles = ['master', 'worker'] as const;

/** The default pool of a role, as users know it. */
const defaultPool = (role: string): MachineConfigPool => ({
  metadata: {
    name: role,
    labels: {
      'machineconfiguration.openshift.io/mco-built-in': '',
      [`pools.operator.machineconfiguration.openshift.io/${role}`]: '',
    },
  },
  spec: {
    machineConfigSelector: { matchLabels: { 'machineconfiguration.openshift.io/role': role } },
    nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${role}`]: '' } },
  },
});

/** The default pools that do not exist yet. Existing ones are user-managed and stay unchanged. */
export function missingPools(existing: Iterable<string>): MachineConfigPool[] {
  const names = new Set(existing);
  return roles.filter((role) => !names.has(role)).map(defaultPool);
}
