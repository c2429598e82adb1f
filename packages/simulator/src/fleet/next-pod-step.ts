// What the stand-in for a kubelet does about a pod of its machine.
import type { Pod } from '@slipway/api';

export type PodStep = 'run' | 'end' | 'nothing';

export function nextPodStep({ metadata, status }: Pod, isUp: boolean): PodStep {
  if (!isUp) return 'nothing';
  // Nothing runs, so nothing has to be waited for.
  if (metadata.deletionTimestamp !== undefined) return 'end';
  return status?.phase === undefined || status.phase === 'Pending' ? 'run' : 'nothing';
}

/** The pod runs, and whoever asks is told that it is ready. */
export const runningStatus = (now: Date): NonNullable<Pod['status']> => {
  const lastTransitionTime = `${now.toISOString().slice(0, 19)}Z`;
  const conditions = ['Initialized', 'ContainersReady', 'Ready'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime,
  }));
  return { phase: 'Running', conditions };
};
