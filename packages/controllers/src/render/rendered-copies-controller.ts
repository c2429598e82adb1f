// A rendered config cannot be rendered again once its MachineConfigs have changed. While a pool or a machine uses it,
// Slipway keeps a copy, to restore it if a user deletes or changes it with break-glass.
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
import { isRenderedAs, packSnapshot, unpackSnapshot } from '@slipway/fleet';
import {
  anyVersion,
  type Client,
  type Context,
  type ControllerDef,
  done,
  type Source,
  type StoreReader,
  type Stored,
} from '@slipway/kube';
import { computeRunInterval } from '../fleet-index.ts';
import { renderedMachineConfigs } from '../sources.ts';
import { isIntact } from './intact.ts';
import { isReferenced, listPoolConfigs, referringSources } from './references.ts';

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
    minIntervalMs: computeRunInterval,
    async reconcile(pool, context) {
      const { copy, restore, lost, drop } = planCopies(await readRenderedFacts(pool, context));
      for (const name of copy) await makeCopy({ pool, name, namespace }, context);
      for (const name of restore) await restoreFrom({ pool, name, namespace }, context);
      for (const name of lost) reportLost({ pool, name, namespace }, context);
      for (const name of drop) await dropCopy(name, context);
      return done();
    },
  };
}

export interface RenderedFacts {
  name: string;
  /** `changed`: its spec is not what was rendered under its name. */
  original: 'intact' | 'changed' | 'none';
  /** By a pool, a node or a MachineSet. */
  isInUse: boolean;
  copy: 'none' | 'part' | 'whole';
}

export interface CopyPlan {
  copy: string[];
  restore: string[];
  /** Changed, and there is no copy to restore. */
  lost: string[];
  drop: string[];
}

/** Which rendered configs need a copy, which to restore, and which copies to delete. */
export function planCopies(facts: readonly RenderedFacts[]): CopyPlan {
  const names = (isWanted: (fact: RenderedFacts) => boolean) => facts.filter(isWanted).map(({ name }) => name);
  const isWhole = ({ copy }: RenderedFacts): boolean => copy === 'whole';
  return {
    copy: names((fact) => fact.isInUse && fact.original === 'intact' && !isWhole(fact)),
    restore: names((fact) => fact.isInUse && fact.original !== 'intact' && isWhole(fact)),
    lost: names((fact) => fact.isInUse && fact.original === 'changed' && !isWhole(fact)),
    drop: names((fact) => !fact.isInUse && fact.copy !== 'none'),
  };
}

async function readRenderedFacts(poolName: string, { read, client }: Context): Promise<RenderedFacts[]> {
  const ofPool = listPoolConfigs(read(machineConfigPools).get(poolName));
  const copied = new Map<string, boolean>();
  for (const secret of listCopies(read, poolName)) {
    const name = secret.metadata.annotations?.[annotations.name] ?? '';
    copied.set(name, copied.get(name) === true || isFirst(secret));
  }
  const there = new Map(
    [...read(machineConfigs).values()]
      .filter(({ metadata }) => metadata.labels?.[poolLabel] === poolName)
      .map((config) => [config.metadata.name, config]),
  );
  const facts: RenderedFacts[] = [];
  // A config that neither exists nor has a copy is lost, even if it is in use.
  for (const name of new Set([...there.keys(), ...copied.keys()])) {
    const isInUse = ofPool.includes(name) || isReferenced(read, name);
    facts.push({
      name,
      original: await readOriginal(isInUse ? there.get(name) : undefined, client),
      isInUse,
      copy: copied.has(name) ? (copied.get(name) === true ? 'whole' : 'part') : 'none',
    });
  }
  return facts;
}

async function readOriginal(
  config: Stored<MachineConfig> | undefined,
  client: Client,
): Promise<RenderedFacts['original']> {
  if (config === undefined) return 'none';
  return (await isIntact(config, client)) ? 'intact' : 'changed';
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
  if (original === undefined || !(await isRenderedAs(name, pool, original.spec))) return;
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
  if (spec === undefined || !(await isRenderedAs(name, pool, spec.value))) {
    log.error(
      { rendered: name },
      'a rendered MachineConfig in use was deleted or changed and its copy is damaged; its nodes keep their current config',
    );
    return;
  }
  const changed = await client.find(machineConfigs, { name });
  if (changed !== undefined) {
    // The render controller restores its pool's current config too.
    if (await isRenderedAs(name, pool, changed.spec)) return;
    await write.jsonPatch(machineConfigs, changed, [{ op: 'add', path: '/spec', value: spec.value }]);
    reportRestored(changed, 'changed', { log, events });
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
  if (made !== undefined) reportRestored(made, 'deleted', { log, events });
}

type Reporting = Pick<Context, 'log' | 'events'>;

function reportRestored(config: Stored<MachineConfig>, was: 'changed' | 'deleted', { log, events }: Reporting): void {
  const { name } = config.metadata;
  log.warn({ rendered: name }, `a rendered MachineConfig in use was ${was}; restored it from its copy`);
  const between = was === 'changed' ? '. Machines and the server accept no config that differs from its name' : '';
  events.record(machineConfigs, config, {
    type: 'Warning',
    reason: 'RenderedConfigRestored',
    message: `${name} was ${was} while a pool or a machine uses it. Slipway restored it from its copy${between}`,
  });
}

function reportLost({ name }: CopyTarget, { read, events }: Context): void {
  const config = read(machineConfigs).get(name);
  if (config === undefined) return;
  const message = `MachineConfig ${name}: expected the spec that was rendered under this name, found another one, and there is no copy to restore. No machine gets it, and machines that run it keep what they have. Delete it with a user of the group slipway:break-glass: a config that its pool still renders is created again. Otherwise move its machines to another config, for example with: slipway rollback POOL --to NAME`;
  events.record(machineConfigs, config, { type: 'Warning', reason: 'RenderedConfigLost', message });
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

/** The name proves that it is what was rendered. */
const isSpec = (value: unknown): value is Copy['value'] => isRecord(value);

async function dropCopy(name: string, { read, write }: Context): Promise<void> {
  for (const { metadata } of read(secrets).values()) {
    if (metadata.annotations?.[annotations.name] !== name) continue;
    await write.remove(secrets, anyVersion(metadata));
  }
}
