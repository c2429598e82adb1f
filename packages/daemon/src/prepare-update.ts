// Everything about an update that can be known before the machine is touched, and everything that can be fetched.
import type { MachineConfiguration } from '@slipway/api';
import { type Irreconcilable, planUpdate, type UpdatePlan } from '@slipway/fleet';
import type { Log } from '@slipway/kube';
import { osChangeOf } from './apply/os-change.ts';
import { type PassedPreflight, preflight } from './apply/preflight.ts';
import type { Host, OSChange } from './host/host.ts';
import { imagesOf } from './host/os/change-steps.ts';
import type { LocalNode } from './local-node.ts';
import { prefetch } from './prefetch.ts';
import { type Problem, problemOf } from './problem.ts';
import type { ConfigReader } from './read-config.ts';
import type { StoredConfig } from './stored-config.ts';

export interface Preparation {
  readonly host: Host;
  readonly local: LocalNode;
  readonly readConfig: ConfigReader;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Nothing is put back from then on: what is found on the machine stays so until the update begins. */
  readonly pauseDrift: () => Promise<void>;
  /** What is downloaded for this plan, and how far that is. */
  readonly onDownload: (plan: UpdatePlan, text: string) => Promise<void>;
}

export interface WantedUpdate {
  readonly current: StoredConfig;
  readonly target: string;
  /** The spec of the MachineConfiguration: what changes cost, and what may pass. */
  readonly settings: MachineConfiguration['spec'] | undefined;
  /** The machine is not compared with its config: somebody said to go on whatever is on it. */
  readonly isForced: boolean;
  /** What was downloaded before does not have to be again: the update waited for its drain. */
  readonly isPrepared: boolean;
  /** The pods are gone: if nothing is in the way, the update begins. */
  readonly isDrained: boolean;
}

export type Prepared =
  | {
      readonly type: 'ready';
      readonly target: StoredConfig;
      readonly plan: UpdatePlan;
      /** Null: the machine is to be looked at again before it is changed, for a drain or a download takes its time. */
      readonly preflight: PassedPreflight | null;
    }
  | { readonly type: 'refused'; readonly problem: Problem; readonly cause: 'config' | 'drift' | 'machine' | 'download' }
  | { readonly type: 'irreconcilable'; readonly problem: Problem; readonly changes: readonly Irreconcilable[] };

export async function prepareUpdate(wanted: WantedUpdate, parts: Preparation): Promise<Prepared> {
  const { host, local, readConfig, signal } = parts;
  const { current: from, settings } = wanted;
  const { nodeDisruptionPolicy: policy, irreconcilableValidationOverrides: overrides } = settings ?? {};
  let to: StoredConfig;
  let plan: UpdatePlan;
  try {
    to = await readConfig(wanted.target, signal);
    plan = await planUpdate({ current: from, desired: to, policy, overrides });
  } catch (error) {
    return { type: 'refused', cause: 'config', problem: problemOf(error) };
  }
  const begins = !plan.isEmpty && (wanted.isDrained || !plan.needsDrain);
  const found = await preflight(
    host,
    { from, to, plan },
    {
      // Also after a drain, though the machine was verified before it: a drain can take hours, in which pods and people wrote
      // to this disk. What they changed of the old config would otherwise be kept as the way back.
      async verify() {
        const drifts = wanted.isForced ? [] : await local.verify(from);
        if (drifts.length === 0 && begins) await parts.pauseDrift();
        return drifts;
      },
    },
  );
  if (found.type !== 'passed') return found;
  const ready = { type: 'ready', target: to, plan } as const;
  const change = wanted.isPrepared ? null : osChangeOf(plan.changes, from.spec, to.spec);
  if (change === null) return { ...ready, preflight: begins ? found : null };
  return (await download(change, plan, parts)) ?? { ...ready, preflight: null };
}

/** Before a drain: a node is not empty while it downloads. */
async function download(change: OSChange, plan: UpdatePlan, parts: Preparation): Promise<Prepared | null> {
  const onProgress = (text: string): Promise<void> => parts.onDownload(plan, text);
  try {
    const { booted } = await parts.host.os.state();
    await prefetch(imagesOf({ booted, change }), { ...parts, onProgress });
    return null;
  } catch (error) {
    return { type: 'refused', cause: 'download', problem: problemOf(error) };
  }
}
