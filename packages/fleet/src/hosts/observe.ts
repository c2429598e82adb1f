// Reads the relevant fields of a BareMetalHost.
import {
  type BareMetalHost,
  bareMetalHosts,
  type DataImage,
  DRIVE_MEMORY_ANNOTATION,
  type OwnerReference,
  type Secret,
} from '@slipway/api';
import { decode, literal, object } from '@slipway/base/codec';
import type { Stored } from '../kube-object.ts';
import { type BmcCredentials, readAddress, type ReadBmc, readBmc } from './bmc.ts';
import type { BmcReading, ObservedDataImage, ObservedHost, KnownNode } from './host-step.ts';
import {
  BOOT_ANYWAY_ANNOTATION,
  HOST_MEMORY_ANNOTATION,
  readBootAnywayAfter,
  readDriveMemory,
  readHostMemory,
  rebootRequests,
} from './memory.ts';

export const HOST_FINALIZER = 'baremetalhost.metal3.io';
export const PAUSED_ANNOTATION = 'baremetalhost.metal3.io/paused';
const DETACHED_ANNOTATION = 'baremetalhost.metal3.io/detached';
const MAX_VALUE_LENGTH = 1024;

export function observeHost(
  host: Stored<BareMetalHost>,
  node: KnownNode | null,
  bmc: BmcReading,
  now: number,
): ObservedHost {
  const { metadata, spec, status } = host;
  const { annotations = {}, deletionTimestamp } = metadata;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    isDeleting: deletionTimestamp !== undefined,
    deletingSince: deletionTimestamp === undefined ? 0 : Date.parse(deletionTimestamp),
    hasFinalizer: hasHostFinalizer(host),
    online: spec?.online === true,
    isPowerOffDisabled: spec?.disablePowerOff === true,
    externallyProvisioned: spec?.externallyProvisioned === true,
    state: status?.provisioning.state ?? '',
    poweredOn: status?.poweredOn === true,
    isPaused: PAUSED_ANNOTATION in annotations,
    isDetached: DETACHED_ANNOTATION in annotations,
    isDeletionDelayed: delaysDeletion(annotations[DETACHED_ANNOTATION]),
    reboots: rebootRequests(annotations),
    bmc,
    isForeign: isForeign(host, node),
    memory: readHostMemory(annotations[HOST_MEMORY_ANNOTATION], now),
  };
}

/** The value must be {"deleteAction":"delay"}; any other value delays nothing. */
const delaysDeletion = (value = ''): boolean =>
  decode(object({ deleteAction: literal('delay') }), value, { maxChars: MAX_VALUE_LENGTH }).ok;

/**
 * The finalizer alone does not identify the owner of a host: the Metal3 operator sets the same one, so that either can
 * take over. Our hosts also have a memory annotation; if that is lost, our mark on the node in Ironic identifies them.
 */
function isForeign(host: Stored<BareMetalHost>, node: KnownNode | null): boolean {
  const isOurs = HOST_MEMORY_ANNOTATION in (host.metadata.annotations ?? {}) || node?.hostUid === host.metadata.uid;
  return hasHostFinalizer(host) && !isOurs;
}

const hasHostFinalizer = ({ metadata }: Stored<BareMetalHost>): boolean =>
  metadata.finalizers?.includes(HOST_FINALIZER) === true;

/** A node of an earlier host with this name has that host's digest: it is updated for this host. */
export const observeNode = (node: KnownNode | null, { metadata }: Stored<BareMetalHost>): KnownNode | null =>
  node === null || node.sentDigest === null || node.hostUid === metadata.uid
    ? node
    : { ...node, sentDigest: `of ${node.hostUid}` };

/** Secret undefined: it does not exist. */
export function observeBmc({ spec }: BareMetalHost, secret: Stored<Secret> | undefined): ReadBmc {
  const { address = '', credentialsName = '', disableCertificateVerification = false } = spec?.bmc ?? {};
  return readBmc(
    { address, credentialsName, disableCertificateVerification },
    secret === undefined ? null : credentialsIn(secret),
  );
}

/** Alongside another operator the password is not needed. */
export function observeBmcAlongside({ spec }: BareMetalHost): BmcReading {
  const address = readAddress(spec?.bmc?.address ?? '');
  if (!address.ok) return address;
  const { ironicDriver: driver, nonBootableISOImage } = address;
  return { ok: true, driver, digest: '', nonBootableISOImage };
}

function credentialsIn({ metadata, data = {} }: Stored<Secret>): BmcCredentials {
  const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  const version = `${metadata.uid}/${metadata.resourceVersion}`;
  return { username: text('username'), password: text('password'), version };
}

export const ownedBy = ({ metadata }: Stored<BareMetalHost>): OwnerReference => ({
  apiVersion: `${bareMetalHosts.group}/${bareMetalHosts.version}`,
  kind: bareMetalHosts.kind,
  name: metadata.name,
  uid: metadata.uid,
});

// Reads the relevant fields of a DataImage.

export const IMAGE_FINALIZER = 'dataimage.metal3.io';

export function observeDataImage(
  { metadata, spec, status }: Stored<DataImage>,
  host: Stored<BareMetalHost> | undefined,
  now: number,
  refusal: string | null = null,
): ObservedDataImage {
  const { annotations = {} } = metadata;
  return {
    url: spec?.url ?? '',
    immediate: spec?.immediate === true,
    ...ties(metadata, host?.metadata.uid),
    ...readDataImageStatus(status),
    memory: readDriveMemory(annotations[DRIVE_MEMORY_ANNOTATION], metadata.uid, now),
    bootAnywayAfter: readBootAnywayAfter(annotations[BOOT_ANYWAY_ANNOTATION]),
    refusal,
  };
}

const ties = (
  { deletionTimestamp, finalizers = [], ownerReferences = [] }: DataImage['metadata'],
  hostUid: string | undefined,
) => ({
  isDeleting: deletionTimestamp !== undefined,
  hasFinalizer: finalizers.includes(IMAGE_FINALIZER),
  hasOwner: ownerReferences.some(({ uid }) => uid === hostUid),
});

/**
 * It belongs to an earlier host of this name, and Kubernetes deletes it with that host. Its ISO is not for this one. One
 * that is being deleted may still have its ISO in the drive.
 */
export const isOfEarlierHost = ({ metadata }: Stored<DataImage>, host: Stored<BareMetalHost>): boolean => {
  const owners = (metadata.ownerReferences ?? []).filter(({ kind }) => kind === bareMetalHosts.kind);
  return (
    metadata.deletionTimestamp === undefined &&
    owners.length > 0 &&
    owners.every(({ uid }) => uid !== host.metadata.uid)
  );
};

const readDataImageStatus = (status: DataImage['status']) => ({
  attachedUrl: status?.attachedImage?.url ?? null,
  errorCount: status?.error?.count ?? 0,
});
