// The OSImageStream, as decisions about pools read it.
import type { OSImageStream } from '@slipway/api';
import { streamLifecycleAnnotation } from '@slipway/api/names';
import type { Streams } from './facts.ts';
import { decodeLifecycle } from './lifecycle.ts';

/** Null: nobody has filled it in yet. */
export function streamsOf({ metadata, status }: Pick<OSImageStream, 'metadata' | 'status'>): Streams | null {
  if (status === undefined) return null;
  return {
    available: status.availableStreams,
    defaultStream: status.defaultStream,
    lifecycle: decodeLifecycle(metadata.annotations?.[streamLifecycleAnnotation]),
  };
}
