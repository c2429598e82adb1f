// What to store after a call to Ironic, depending on its outcome.
import type { DriveMemory, HostMemory, HostStep, StepOptions } from './host-step.ts';
import { attachFailed, detachFailed, driveCallAccepted, forgiven, hostCallAccepted, hostCallFailed } from './memory.ts';

export type CallOutcome =
  | { readonly type: 'accepted' }
  /** Ironic refused it permanently: a retry would fail too. */
  | { readonly type: 'refused'; readonly message: string }
  /** No answer, a busy node, or an unclear result: the next step checks. */
  | { readonly type: 'unsure' };

export type AfterCall =
  | { readonly drive: DriveMemory }
  | { readonly host: HostMemory }
  /** Nothing to write. */
  | null;

export interface Circumstances {
  readonly now: number;
  readonly options: StepOptions;
  /** The host's memory when the step was chosen. */
  readonly hostMemory: HostMemory | null;
}

export function afterCall(step: HostStep, outcome: CallOutcome, circumstances: Circumstances): AfterCall {
  if (outcome.type === 'unsure') return null;
  const refusal = outcome.type === 'refused' ? outcome.message : null;
  if (step.type === 'attach' || step.type === 'detach') {
    return { drive: afterDriveCall(step, refusal, circumstances) };
  }
  return refusal === null ? afterAccepted(step, circumstances) : afterRefused(step, refusal, circumstances);
}

function afterAccepted(step: HostStep, { now }: Circumstances): AfterCall {
  if (step.type === 'provision' || step.type === 'power') return { host: hostCallAccepted(step.remember, now) };
  // The cancelled deletion is over.
  return step.type === 'set maintenance' && !step.maintenance
    ? { host: { ...forgiven(step.remember), doing: 'none' } }
    : null;
}

function afterRefused(step: HostStep, refusal: string, { now, options, hostMemory }: Circumstances): AfterCall {
  const failed = hostCallFailed(hostMemory, refusal, now, options);
  // Distinguished, because a new password must not wait for the backoff of an old one.
  return { host: step.type === 'update node' ? { ...failed, doing: 'update' } : failed };
}

function afterDriveCall(
  step: Extract<HostStep, { type: 'attach' | 'detach' }>,
  refusal: string | null,
  { now, options }: Circumstances,
): DriveMemory {
  const { remember } = step;
  if (refusal === null) return driveCallAccepted(remember, now);
  return step.type === 'attach'
    ? attachFailed(remember, `${remember.url} was not attached: ${refusal} [SLW_DATA_IMAGE_ATTACH_FAILED]`, now)
    : detachFailed(
        remember,
        `${remember.url} was not detached: ${refusal} [SLW_DATA_IMAGE_DETACH_FAILED]`,
        now,
        options,
      );
}
