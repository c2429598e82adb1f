// Creates the PinnedImageSets of a release or a list of images, after showing whether they fit on every machine.
import { basename } from 'node:path';
import { type MachineConfigPool, pinnedImageSets } from '@slipway/api';
import type { PinSnapshot } from '@slipway/fleet/reports';
import type { Client } from '@slipway/kube';
import { silentProgress, terminalProgress } from '@slipway/tools/controlplane';
import { noSuchPool, readGate, createCliWriter } from '../cli/cluster.ts';
import { confirm } from '../cli/confirm.ts';
import { CommandError } from '../cli/errors.ts';
import { type Io, readSmallFile, toJson, write } from '../cli/io.ts';
import type { RegistryFlags } from '../cli/options.ts';
import type { ClusterOptions } from '../cli/program.ts';
import { openRegistry } from '../cli/registry.ts';
import { reportProblems, useCluster } from '../cli/run.ts';
import { isTerminal, safeText, styleFor } from '../cli/terminal.ts';
import { nameFrom } from './command.ts';
import { imageSizes, readImageList, releaseImages } from './image-list.ts';
import { pinPlanText } from './plan-text.ts';
import { toExitCode, labelsMatching, type NewSet, type PinPlan, planSets, type DesiredImages } from './plan.ts';
import { readPins } from './status.ts';

interface MakeOptions extends ClusterOptions {
  pool: string;
  dryRun?: boolean;
  yes?: boolean;
  output: 'text' | 'json';
}

export interface ReleaseOptions extends MakeOptions, RegistryFlags {
  name?: string;
  /** False: --no-sizes. */
  sizes: boolean;
}

export const runPinRelease = (image: string, options: ReleaseOptions, io: Io): Promise<void> =>
  reportProblems(io, () => makeSets(() => readReleaseImages(image, options, io), options, io));

async function readReleaseImages(asked: string, options: ReleaseOptions, io: Io): Promise<DesiredImages> {
  const registry = await openRegistry(options);
  const progress = isTerminal(io.stderr) ? terminalProgress() : silentProgress;
  try {
    progress.update(`reading the image list of ${asked}`);
    const { release, version, images } = await releaseImages(asked, registry);
    const onDone = (done: number): void => progress.update(`reading image sizes: ${done} of ${images.length}`);
    return {
      source: { release, version },
      name: options.name ?? ['release', nameFrom(version ?? ''), options.pool].filter(Boolean).join('-'),
      images,
      sizes: options.sizes ? await imageSizes(images, registry, onDone) : null,
    };
  } finally {
    progress.clear();
    await registry.close();
  }
}

export const runPinImages = (file: string, options: ReleaseOptions, io: Io): Promise<void> =>
  reportProblems(io, async () => {
    const images = readImageList(new TextDecoder().decode(await readSmallFile('FILE', file)));
    const name = deriveSetName(file, options);
    const readDesiredImages = async (): Promise<DesiredImages> => ({
      source: { file },
      name,
      images,
      sizes: options.sizes ? await readSizes(images, options, io) : null,
    });
    await makeSets(readDesiredImages, options, io);
  });

function deriveSetName(file: string, { name, pool }: ReleaseOptions): string {
  if (name !== undefined) return name;
  const from = nameFrom(basename(file).replace(/\.[^.]*$/, ''));
  if (from !== '') return `${from}-${pool}`;
  throw new CommandError(
    'SLW_CLI_USAGE',
    `slipway pin images ${file}: the file name cannot be used as name of the set. Add --name NAME`,
  );
}

async function readSizes(images: readonly string[], options: ReleaseOptions, io: Io): Promise<DesiredImages['sizes']> {
  const registry = await openRegistry(options);
  const progress = isTerminal(io.stderr) ? terminalProgress() : silentProgress;
  try {
    return await imageSizes(images, registry, (done) =>
      progress.update(`reading image sizes: ${done} of ${images.length}`),
    );
  } finally {
    progress.clear();
    await registry.close();
  }
}

/** Checks the pool first, because reading hundreds of images from a registry takes a while. */
async function makeSets(ask: () => Promise<DesiredImages>, options: MakeOptions, io: Io): Promise<void> {
  await useCluster(options, async (client) => {
    const { dryRun = false } = options;
    const now = await readPins(client);
    const pool = poolIn(now, options.pool);
    const gate = await readGate(client, 'PinnedImages');
    const { plan, sets } = planSets({ pool, wanted: await ask(), now, gate, dryRun });
    await showAndMake(client, plan, sets, options, io);
  });
}

function poolIn({ fleet }: PinSnapshot, name: string): MachineConfigPool {
  const pool = fleet.pools.find(({ metadata }) => metadata.name === name);
  if (pool === undefined) {
    throw noSuchPool(
      name,
      fleet.pools.map(({ metadata }) => metadata.name),
    );
  }
  labelsMatching(pool);
  return pool;
}

async function showAndMake(
  client: Client,
  plan: PinPlan,
  sets: readonly NewSet[],
  options: MakeOptions,
  io: Io,
): Promise<void> {
  const isText = options.output === 'text';
  if (isText) await write(io.stdout, pinPlanText(plan, styleFor(io.stdout)));
  const isDue = !plan.dryRun && sets.some(({ change }) => change !== 'none');
  const isMeant = isDue && (await confirm('Create the sets, so that the machines pull the images?', options, io));
  if (isMeant) for (const set of sets) await writeSet(client, set);
  // The report states what was written, so it comes last.
  if (isText) await write(io.stdout, `\n${safeText(describeResult(plan, isDue, isMeant))}\n`);
  else await write(io.stdout, toJson({ ...plan, written: isMeant }));
  if (plan.dryRun) io.setExitCode(toExitCode(plan));
  if (isDue && !isMeant) io.setExitCode(1);
}

/** The API refuses the write if another client changed the set since the plan, which would no longer apply. */
async function writeSet(client: Client, { object, before, change }: NewSet): Promise<void> {
  if (change === 'none') return;
  const write = createCliWriter(client);
  if (before === null) await write.create(pinnedImageSets, object);
  else await write.patch(pinnedImageSets, before, { metadata: { labels: object.metadata.labels }, spec: object.spec });
}

function describeResult({ pool, dryRun }: PinPlan, isDue: boolean, isMeant: boolean): string {
  if (dryRun) return 'Nothing was written (--dry-run).';
  if (!isDue) {
    return `Pool ${pool} already pins all of it, so nothing was written. slipway pin status ${pool} shows the progress.`;
  }
  if (!isMeant) return 'Nothing was written.';
  return `The machines start to pull automatically. Follow them with: slipway pin status ${pool} --watch`;
}
