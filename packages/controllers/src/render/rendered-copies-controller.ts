// A rendered config that its pool no longer uses cannot be rendered again: its MachineConfigs changed. While nodes
// still run it, Slipway keeps a copy, to restore it if a user deletes it with break-glass.
import {
  generatedByAnnotation,
  inUseLabel,
  type MachineConfig,
  machineConfigPools,
  machineConfigs,
  poolLabel,
  type Secret,
  secrets,
} from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { packSnapshot, unpackSnapshot } from '@slipway/fleet';
import {
  anyVersion,
  type Client,
  type Context,
  type ControllerDef,
  done,
  type StoreReader,
  type Source,
  type Stored,
} from '@slipway/kube';
import { renderedMachineConfigs } from '../sources.ts';
import { isReferenced, referringSources } from './references.ts';

const COPY_LABEL = 'slipway.dev/copy-of-pool';
const annotations = {
  name: 'slipway.dev/copy-of',
  version: 'slipway.dev/controller-version',
  digest: 'slipway.dev/digest',
  chunks: 'slipway.dev/chunks',
} as const;
/** A rendered config has at most 1.5 MB. */
const MAX_PARTS = 4;

export function renderedCopiesController({ namespace }: { namespace: string }): ControllerDef {
  const copies: Source<Secret> = {
    resource: secrets,
    as: 'metadata',
    namespace,
    labelSelector: COPY_LABEL,
    keysOf: ({ metadata }) => [metadata.labels?.[COPY_LABEL] ?? ''],
  };
  return {
    name: 'rendered-copies',
    reads: [renderedMachineConfigs, { resource: machineConfigPools }, copies, ...referringSources],
    owns: [{ resource: machineConfigs }, { resource: secrets }],
    async reconcile(pool, context) {
      const { copy, restore, drop } = planCopies(readRenderedFacts(pool, context.read));
      for (const name of copy) await makeCopy({ pool, name, namespace }, context);
      for (const name of restore) await restoreFrom({ pool, name, namespace }, context);
      for (const name of drop) await dropCopy(name, context);
      return done();
    },
  };
}

export interface RenderedFacts {
  name: string;
  exists: boolean;
  /** By a node or a MachineSet. */
  isReferenced: boolean;
  /** It is the current config of the pool, so the render controller can recreate it. */
  canBeRendered: boolean;
  copy: 'none' | 'part' | 'whole';
}

export interface CopyPlan {
  copy: string[];
  restore: string[];
  drop: string[];
}

/** Which rendered configs need a copy, which to restore, and which copies to delete. */
export function planCopies(facts: readonly RenderedFacts[]): CopyPlan {
  const names = (isWanted: (fact: RenderedFacts) => boolean) => facts.filter(isWanted).map(({ name }) => name);
  const needsCopy = ({ isReferenced, canBeRendered }: RenderedFacts): boolean => isReferenced && !canBeRendered;
  return {
    copy: names((fact) => needsCopy(fact) && fact.exists && fact.copy !== 'whole'),
    restore: names((fact) => needsCopy(fact) && !fact.exists && fact.copy === 'whole'),
    drop: names((fact) => !needsCopy(fact) && fact.copy !== 'none'),
  };
}

function readRenderedFacts(poolName: string, read: StoreReader): RenderedFacts[] {
  const current = read(machineConfigPools).get(poolName)?.spec.configuration?.name;
  const copied = new Map<string, boolean>();
  for (const secret of listCopies(read, poolName)) {
    const name = secret.metadata.annotations?.[annotations.name] ?? '';
    copied.set(name, copied.get(name) === true || isFirst(secret));
  }
  const there = [...read(machineConfigs).values()]
    .filter(({ metadata }) => metadata.labels?.[poolLabel] === poolName)
    .map(({ metadata }) => metadata.name);
  // A config that neither exists nor has a copy is lost, even if it is referenced.
  return [...new Set([...there, ...copied.keys()])].map((name) => ({
    name,
    exists: there.includes(name),
    isReferenced: isReferenced(read, name),
    canBeRendered: name === current,
    copy: copied.has(name) ? (copied.get(name) === true ? 'whole' : 'part') : 'none',
  }));
}

const listCopies = (read: StoreReader, pool: string): Stored<Secret>[] =>
  [...read(secrets).values()].filter(({ metadata }) => metadata.labels?.[COPY_LABEL] === pool);

const formatPartName = (name: string, number: number): string => `copy-of-${name}-${number}`;

/** The first part is written last: if it exists, the copy is complete. */
const isFirst = ({ metadata }: Secret): boolean => metadata.annotations?.[annotations.chunks] !== undefined;

interface CopyTarget {
  pool: string;
  name: string;
  namespace: string;
}

async function makeCopy({ pool, name, namespace }: CopyTarget, { client, read, write }: Context): Promise<void> {
  const original = await client.find(machineConfigs, { name });
  if (original === undefined) return;
  const { digest, chunks } = await packSnapshot(original.spec ?? {});
  const version = original.metadata.annotations?.[generatedByAnnotation] ?? '';
  for (const [number, chunk] of [...chunks.entries()].toReversed()) {
    const first = {
      [annotations.digest]: digest,
      [annotations.chunks]: String(chunks.length),
      [annotations.version]: version,
    };
    const part: Secret = {
      metadata: {
        name: formatPartName(name, number),
        namespace,
        labels: { [COPY_LABEL]: pool },
        annotations: { [annotations.name]: name, ...(number === 0 && first) },
      },
      data: { chunk: Buffer.from(chunk).toString('base64') },
    };
    const there = read(secrets).get(`${namespace}/${part.metadata.name}`);
    if (there === undefined) await write.create(secrets, part);
    else await write.apply(secrets, there, part, { force: true });
  }
}

async function restoreFrom(
  { pool, name, namespace }: CopyTarget,
  { client, write, log, events }: Context,
): Promise<void> {
  const spec = await readCopy(client, namespace, name);
  if (spec === undefined) {
    log.error(
      { rendered: name },
      'a rendered MachineConfig in use was deleted and its copy is damaged; its nodes keep their current config',
    );
    return;
  }
  const manifest: MachineConfig = {
    metadata: {
      name,
      labels: { [poolLabel]: pool, [inUseLabel]: '' },
      annotations: { [generatedByAnnotation]: spec.version },
    },
    spec: spec.value,
  };
  const made = await write.createIfAbsent(machineConfigs, manifest);
  if (made === undefined) return;
  log.warn({ rendered: name }, 'a rendered MachineConfig in use was deleted; restored it from its copy');
  events.record(machineConfigs, made, {
    type: 'Warning',
    reason: 'RenderedConfigRestored',
    message: `${name} was deleted while nodes run it. Slipway restored it from its copy`,
  });
}

interface Copy {
  value: NonNullable<MachineConfig['spec']>;
  version: string;
}

async function readCopy(client: Client, namespace: string, name: string): Promise<Copy | undefined> {
  const first = await client.find(secrets, { namespace, name: formatPartName(name, 0) });
  const said = (annotation: string): string => first?.metadata.annotations?.[annotation] ?? '';
  const parts: Uint8Array[] = [];
  for (let number = 0; number < Math.min(Number(said(annotations.chunks)), MAX_PARTS); number += 1) {
    const part = await client.find(secrets, { namespace, name: formatPartName(name, number) });
    parts.push(Buffer.from(part?.data?.['chunk'] ?? '', 'base64'));
  }
  const unpacked = await unpackSnapshot(said(annotations.digest), parts);
  if (!unpacked.ok || !isSpec(unpacked.config)) return undefined;
  return { value: unpacked.config, version: said(annotations.version) };
}

/** The digest proves that this is what we wrote. */
const isSpec = (value: unknown): value is Copy['value'] => isRecord(value);

async function dropCopy(name: string, { read, write }: Context): Promise<void> {
  for (const { metadata } of read(secrets).values()) {
    if (metadata.annotations?.[annotations.name] !== name) continue;
    await write.remove(secrets, anyVersion(metadata));
  }
}
