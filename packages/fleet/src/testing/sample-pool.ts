// A pool with a stored rollout in its annotations, for tests.
import {
  type MachineConfigPool,
  rolloutRequestAnnotation,
  rolloutStateAnnotation,
  targetConfigAnnotation,
} from '@slipway/api';
import type { RolloutState } from '../rollout/facts.ts';
import { encodeState } from '../rollout/memory.ts';

export const sampleState: RolloutState = {
  target: 'rendered-worker-2',
  from: 'rendered-worker-1',
  startedAt: '2026-01-02T03:04:05.000Z',
  endedAt: null,
  nodes: 3,
  fromOsMajor: null,
  wave: 1,
  healthySince: null,
  resumedAt: null,
  halted: null,
  hold: null,
  answer: null,
};

interface Sample {
  readonly state?: Partial<RolloutState>;
  readonly request?: string;
  readonly held?: string;
  readonly paused?: boolean;
}

export const samplePool = ({ state, request, held, paused }: Sample): MachineConfigPool => ({
  metadata: {
    name: 'worker',
    annotations: {
      ...(state !== undefined && { [rolloutStateAnnotation]: encodeState({ ...sampleState, ...state }) }),
      ...(request !== undefined && { [rolloutRequestAnnotation]: request }),
      ...(held !== undefined && { [targetConfigAnnotation]: held }),
    },
  },
  spec: { ...(paused !== undefined && { paused }) },
});
