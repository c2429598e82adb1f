// The part of the cluster that a daemon watches, and what it reads there about one node.
import type { MachineConfigNode, MachineConfiguration, Node } from '@slipway/api';
import { drainBlockedAnnotation, nodeAnnotations } from '@slipway/api/names';
import { machineConfigNodes, machineConfigurations, nodes } from '@slipway/api/resources';
import { jitterMs, quarterJitter } from '@slipway/base/backoff';
import { type Client, type ControllerDef, isKubeError, type Key, type StoreReader } from '@slipway/kube';
import { watchNodes } from '../watched-nodes.ts';

export interface ClusterView {
  readonly node: Pick<Node, 'metadata'>;
  readonly machineConfigNode: Pick<MachineConfigNode, 'metadata'> | undefined;
  readonly machineConfiguration: MachineConfiguration | undefined;
}

/** Null: the Node does not have the annotation. */
export interface NodeAnnotations {
  readonly currentConfig: string | null;
  readonly desiredConfig: string | null;
  readonly desiredDrain: string | null;
  readonly lastAppliedDrain: string | null;
  /** What the drain is waiting for, as the controller reports it. '' for nothing. */
  readonly drainBlocked: string;
}

export function readNodeAnnotations({ node }: ClusterView): NodeAnnotations {
  const { annotations = {} } = node.metadata;
  return {
    currentConfig: annotations[nodeAnnotations.currentConfig] ?? null,
    desiredConfig: annotations[nodeAnnotations.desiredConfig] ?? null,
    desiredDrain: annotations[nodeAnnotations.desiredDrain] ?? null,
    lastAppliedDrain: annotations[nodeAnnotations.lastAppliedDrain] ?? null,
    drainBlocked: annotations[drainBlockedAnnotation] ?? '',
  };
}

export const formatDrainRequest = (config: string): string => `drain-${config}`;
export const formatUncordonRequest = (config: string): string => `uncordon-${config}`;

/** Whether a node that no longer needs a drain is still cordoned, or has asked to be. */
export function needsUncordon(
  current: string,
  { desiredDrain, lastAppliedDrain }: Pick<NodeAnnotations, 'desiredDrain' | 'lastAppliedDrain'>,
): boolean {
  const isAway = lastAppliedDrain?.startsWith('drain-') === true || desiredDrain?.startsWith('drain-') === true;
  return isAway || (desiredDrain === formatUncordonRequest(current) && lastAppliedDrain !== desiredDrain);
}

const CLUSTER = 'cluster';

/** Downloads and OS changes take long. A step that hangs is visible in its condition. */
const STEP_LIMIT_MS = 3 * 3_600_000;

/**
 * For one node, or for all that `nodeNames` currently returns. A daemon has two watches, its Node and its
 * MachineConfigNode, which its pinning shares. It reads the MachineConfiguration instead: with a watch, a fleet of
 * 10,000 would keep 10,000 more open for an object that changes a few times a year.
 */
export function daemonSources(
  of: { readonly node: string } | { readonly nodeNames: () => readonly string[] },
): Pick<ControllerDef, 'reads' | 'owns' | 'timeLimitMs'> {
  const owns = [{ resource: nodes }, { resource: machineConfigNodes, subresource: 'status' }];
  if ('node' in of) return { reads: watchNodes(of), owns, timeLimitMs: STEP_LIMIT_MS };
  const keysOf = (): readonly Key[] => of.nodeNames();
  const settings = { resource: machineConfigurations, fieldSelector: `metadata.name=${CLUSTER}`, keysOf };
  return { reads: [...watchNodes('all'), settings], owns, timeLimitMs: STEP_LIMIT_MS };
}

/** Null: the kubelet has not registered the machine yet. `settings`: omitted if they are watched. */
export function readClusterView(
  read: StoreReader,
  nodeName: string,
  settings?: Pick<ClusterView, 'machineConfiguration'>,
): ClusterView | null {
  const node = read(nodes).get(nodeName);
  if (node === undefined) return null;
  return {
    node,
    machineConfigNode: read(machineConfigNodes, { as: 'metadata' }).get(nodeName),
    ...(settings ?? { machineConfiguration: read(machineConfigurations).get(CLUSTER) }),
  };
}

export interface SettingsReader {
  read(signal: AbortSignal): Promise<Pick<ClusterView, 'machineConfiguration'>>;
}

/** A machine that knows its settings does not wait longer for newer ones. */
const READ_LIMIT_MS = 5000;

/** The MachineConfiguration, read at every step. While it cannot be read, the last one counts. */
export function createSettingsReader(client: Client): SettingsReader {
  let last: Pick<ClusterView, 'machineConfiguration'> | null = null;
  return {
    async read(signal) {
      const limit = last === null ? signal : AbortSignal.any([signal, AbortSignal.timeout(READ_LIMIT_MS)]);
      try {
        last = { machineConfiguration: await client.find(machineConfigurations, { name: CLUSTER }, { signal: limit }) };
      } catch (error) {
        signal.throwIfAborted();
        if (last === null || !(isKubeError(error) || limit.aborted)) throw error;
      }
      return last;
    },
  };
}

const SETTINGS_EVERY_MS = 120_000;
const AWAITED_SETTINGS_EVERY_MS = 10_000;

/** When the settings are read again. Soon if the machine is not at its config: they may be what it waits for. */
export function computeSettingsDelayMs({ node }: Pick<ClusterView, 'node'>, random?: () => number): number {
  const isDone = node.metadata.annotations?.[nodeAnnotations.state] === 'Done';
  return jitterMs(isDone ? SETTINGS_EVERY_MS : AWAITED_SETTINGS_EVERY_MS, quarterJitter, random);
}
