// Reports the state of a node to the cluster: Node annotations, MachineConfigNode status, events, metrics.
import { osAbilityAnnotation } from '@slipway/api/names';
import { machineConfigNodes, nodes } from '@slipway/api/resources';
import { isEqual } from '@slipway/base/equal';
import type { OSFacts } from '@slipway/fleet';
import {
  anyVersion,
  type Client,
  createWriter,
  isKubeError,
  type KubeObject,
  type Log,
  type ObjectMeta,
  type Recorder,
  retryOnConflict,
} from '@slipway/kube';
import type { DaemonMetrics } from './metrics.ts';
import {
  type Annotations,
  buildAnnotations,
  diffAnnotations,
  buildEvents,
  type NodeEvent,
  buildNodeEvent,
} from './node-annotations.ts';
import type { NodeSnapshot } from './snapshot.ts';
import { computeStatus } from './status.ts';

export interface ReporterOptions {
  readonly client: Client;
  readonly events: Recorder;
  readonly nodeName: string;
  readonly osAbility: OSFacts['ability'];
  readonly log: Log;
  readonly metrics?: DaemonMetrics;
}

export interface Reporter {
  /**
   * Resolves when the cluster has the whole snapshot, and writes only what changed. Rejects as the client does: the
   * cluster may then have part of it, and the next report writes the rest.
   */
  report(snapshot: NodeSnapshot): Promise<void>;
  /** Never throws and never blocks. */
  event(reason: NodeEvent, message: string): void;
}

const FIELD_MANAGER = 'machine-config-daemon';

export function createReporter({ client, events, nodeName, osAbility, log, metrics }: ReporterOptions): Reporter {
  const name = { name: nodeName };
  const write = createWriter(client, { fieldManager: FIELD_MANAGER });
  /** The subject of events. It has the UID once the Node was read. */
  let about: KubeObject = { metadata: name };

  async function reportNode(snapshot: NodeSnapshot): Promise<void> {
    const node = await client.get(nodes, name);
    about = { metadata: { ...name, uid: node.metadata.uid } };
    const there = node.metadata.annotations ?? {};
    const annotations = diffAnnotations(there, {
      ...buildAnnotations(snapshot),
      ...(osAbility !== null && { [osAbilityAnnotation]: osAbility }),
    });
    if (Object.keys(annotations).length === 0) return;
    await patchNode(node.metadata, annotations);
    for (const event of buildEvents(there, annotations)) events.record(nodes, about, event);
  }

  async function patchNode(metadata: ObjectMeta, annotations: Annotations): Promise<void> {
    // Without a resource version: no other client writes these, and kubelets change a Node all the time.
    const patch = (some: Annotations) => write.patch(nodes, anyVersion(metadata), { metadata: { annotations: some } });
    try {
      await patch(annotations);
    } catch (error) {
      const { [osAbilityAnnotation]: ability, ...state } = annotations;
      if (ability === undefined || !isKubeError(error, 'SLW_KUBE_FORBIDDEN')) throw error;
      // The state of the node must arrive: a rollout waits for it.
      log.warn(
        { error },
        'the admission policies are those of an older version and refuse the annotation os-ability: run `slipway install`',
      );
      if (Object.keys(state).length > 0) await patch(state);
    }
  }

  async function reportStatus(snapshot: NodeSnapshot): Promise<void> {
    const found = await client.find(machineConfigNodes, name);
    if (found === undefined) {
      log.debug({ node: nodeName }, 'the MachineConfigNode does not exist yet: the controller creates it');
      return;
    }
    const status = computeStatus(found, snapshot, new Date());
    const { observedGeneration, conditions, configVersion, irreconcilableChanges = null } = found.status ?? {};
    if (isEqual(status, { observedGeneration, conditions, configVersion, irreconcilableChanges })) return;
    // A merge patch replaces a list as a whole, so it must be based on the version that was read.
    await write.patchStatus(machineConfigNodes, found, status);
  }

  return {
    async report(snapshot) {
      metrics?.observe(snapshot);
      await reportNode(snapshot);
      // The controller may write the spec concurrently.
      await retryOnConflict(() => reportStatus(snapshot));
    },
    event: (reason, message) => events.record(nodes, about, buildNodeEvent(reason, message)),
  };
}
