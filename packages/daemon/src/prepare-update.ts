// Everything about an update that can be known before the machine is touched, and everything that can be fetched.
import type { MachineConfiguration } from '@slipway/api';
import { type Irreconcilable, planUpdate, type UpdatePlan } from '@slipway/fleet';
import type { Log } from '@slipway/kube';
import { osChangeOf } from './apply/os-change.ts';
import { preflight } from './apply/preflight.ts';
import { describeDrifts } from './drift/drift.ts';
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
  /** What is downloaded for this plan, and how far that is. */
  readonly onDownload: (plan: UpdatePlan, text: string) => Promise<void>;
}

export interface WantedUpdate {
  readonly current: StoredConfig;
  readonly target: string;
  /** The spec of the MachineConfiguration: what changes cost, and what may pass. */
  readonly settings: MachineConfiguration['spec'] | undefined;
  /** The machine is not looked at before: somebody said to go on whatever is on it. */
  readonly isForced: boolean;
  /** What was found out before does not have to be again: the update waits for its drain. */
  readonly isPrepared: boolean;
}

export type Prepared =
  | { readonly type: 'ready'; readonly target: StoredConfig; readonly plan: UpdatePlan }
  | { readonly type: 'refused'; readonly problem: Problem; readonly cause: 'config' | 'drift' | 'machine' | 'download' }
  | { readonly type: 'irreconcilable'; readonly problem: Problem; readonly changes: readonly Irreconcilable[] };

export async function prepareUpdate(wanted: WantedUpdate, parts: Preparation): Promise<Prepared> {
  const { host, local, readConfig, signal } = parts;
  const { current, settings } = wanted;
  const { nodeDisruptionPolicy: policy, irreconcilableValidationOverrides: overrides } = settings ?? {};
  let target: StoredConfig;
  let plan: UpdatePlan;
  try {
    target = await readConfig(wanted.target, signal);
    plan = await planUpdate({ current, desired: target, policy, overrides });
  } catch (error) {
    return { type: 'refused', cause: 'config', problem: problemOf(error) };
  }
  const [first] = plan.irreconcilable;
  if (first !== undefined) return irreconcilable(first, plan.irreconcilable);
  if (!wanted.isForced) {
    const drifts = await local.verify(current);
    if (drifts.length > 0) return drifted(current, drifts);
  }
  const [obstacle, ...others] = await preflight(host.files, host.accounts, plan, target);
  if (obstacle !== undefined) return { type: 'refused', cause: 'machine', problem: together(obstacle, others) };
  if (wanted.isPrepared) return { type: 'ready', target, plan };
  const change = osChangeOf(plan.changes, current.spec, target.spec);
  return (change && (await download(change, plan, parts))) ?? { type: 'ready', target, plan };
}

function drifted(current: StoredConfig, drifts: Parameters<typeof describeDrifts>[1]): Prepared {
  return {
    type: 'refused',
    cause: 'drift',
    problem: { code: 'SLW_DAEMON_DRIFT', message: describeDrifts(current.name, drifts) },
  };
}

function irreconcilable(first: Irreconcilable, changes: readonly Irreconcilable[]): Prepared {
  return { type: 'irreconcilable', changes, problem: together(first, changes.slice(1)) };
}

function together({ code, message }: Problem, others: readonly Problem[]): Problem {
  return { code, message: [message, ...others.map((other) => other.message)].join('; ') };
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
