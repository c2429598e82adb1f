// A DataImage of the API → what of it counts.
import { type BareMetalHost, type DataImage, driveMemoryAnnotation } from '@slipway/api';
import type { Stored } from '../kube-object.ts';
import type { DataImageSeen } from './host-step.ts';
import { bootAnywayAnnotation, readBootAnywayAfter, readDriveMemory } from './memories.ts';

export const imageFinalizer = 'dataimage.metal3.io';

export function dataImageSeen(
  { metadata, spec, status }: Stored<DataImage>,
  host: Stored<BareMetalHost> | undefined,
  now: number,
): DataImageSeen {
  const { annotations = {} } = metadata;
  return {
    url: spec?.url ?? '',
    immediate: spec?.immediate === true,
    ...ties(metadata, host?.metadata.uid),
    ...said(status),
    memory: readDriveMemory(annotations[driveMemoryAnnotation], now),
    bootAnywayAfter: readBootAnywayAfter(annotations[bootAnywayAnnotation]),
  };
}

const ties = (
  { deletionTimestamp, finalizers = [], ownerReferences = [] }: DataImage['metadata'],
  hostUid: string | undefined,
) => ({
  isDeleting: deletionTimestamp !== undefined,
  hasFinalizer: finalizers.includes(imageFinalizer),
  hasOwner: ownerReferences.some(({ uid }) => uid === hostUid),
});

const said = (status: DataImage['status']) => ({
  attachedUrl: status?.attachedImage?.url ?? null,
  errorCount: status?.error?.count ?? 0,
});
