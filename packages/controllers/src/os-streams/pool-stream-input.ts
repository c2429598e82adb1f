// What the status of a pool is to say of its OS image stream.
import { machineConfigs, type MachineConfigPool, osStreamAnnotation, osStreamProblemAnnotation } from '@slipway/api';
import { decodeProblems, formatProblems, type PoolStatusInput, streamsOf, trackedOf } from '@slipway/fleet';
import type { Read } from '@slipway/kube';
import { streamObjectIn } from './stream-reads.ts';

export function poolStreamInput({ metadata }: MachineConfigPool, read: Read): NonNullable<PoolStatusInput['osStream']> {
  const object = streamObjectIn(read);
  return {
    streamOf: (name) => read(machineConfigs).get(name)?.metadata.annotations?.[osStreamAnnotation] ?? null,
    tracked: trackedOf(metadata.annotations),
    streams: object === undefined ? null : streamsOf(object),
    problem: problemIn(metadata.annotations?.[osStreamProblemAnnotation]),
  };
}

function problemIn(annotation: string | undefined): { reason: string; message: string } | null {
  if (annotation === undefined) return null;
  const { problems } = decodeProblems(annotation);
  const message = formatProblems(problems);
  return { reason: 'OSImageStreamInvalid', message };
}
