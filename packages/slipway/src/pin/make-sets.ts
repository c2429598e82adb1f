// Makes the PinnedImageSets of a list of images, after showing what that means for every machine.
import { type MachineConfigPool, pinnedImageSets } from '@slipway/api';
import type { PinsNow } from '@slipway/fleet/reports';
import { type Client, createClient } from '@slipway/kube';
import { noSuchPool, readGate } from '../cli/cluster.ts';
import { type Io, toJson, write } from '../cli/io.ts';
import { type ClusterOptions, connect } from '../cli/program.ts';
import { paintFor, safeText, widthOf } from '../cli/terminal.ts';
import { askWhether } from './ask.ts';
import { labelsMatching } from './matching-labels.ts';
import type { NewSet } from './new-sets.ts';
import { pinPlanText } from './pin-plan-text.ts';
import { exitCodeOf, type PinPlan } from './pin-plan.ts';
import { readPins } from './pins-now.ts';
import { planSets, type WantedImages } from './plan-sets.ts';

export interface MakeOptions extends ClusterOptions {
  pool: string;
  dryRun?: boolean;
  yes?: boolean;
  output: 'text' | 'json';
}

/** Asks for the images only when the cluster has the pool: a registry takes a while to tell of hundreds. */
export async function makeSets(ask: () => Promise<WantedImages>, options: MakeOptions, io: Io): Promise<void> {
  const transport = await connect(options);
  try {
    const client = createClient(transport);
    const { dryRun = false } = options;
    const now = await readPins(client);
    const pool = poolIn(now, options.pool);
    const gate = await readGate(client, 'PinnedImages');
    const { plan, sets } = planSets({ pool, wanted: await ask(), now, gate, dryRun });
    await showAndMake(client, plan, sets, options, io);
  } finally {
    await transport.close();
  }
}

function poolIn({ fleet }: PinsNow, name: string): MachineConfigPool {
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
  if (isText) await write(io.stdout, pinPlanText(plan, { paint: paintFor(io.stdout), width: widthOf(io.stdout) }));
  const isDue = !plan.dryRun && sets.some(({ change }) => change !== 'none');
  const isMeant = isDue && (await askWhether('Let the machines pull them?', options, io));
  if (isMeant) for (const set of sets) await writeSet(client, set);
  // It says what was done, so it comes after that.
  if (isText) await write(io.stdout, `\n${safeText(lastWords(plan, isDue, isMeant))}\n`);
  else await write(io.stdout, toJson({ ...plan, written: isMeant }));
  if (plan.dryRun) io.setExitCode(exitCodeOf(plan));
  if (isDue && !isMeant) io.setExitCode(1);
}

/** Others may have changed it since it was looked at: then the plan is not about it, and the API refuses. */
async function writeSet(client: Client, { object, before, change }: NewSet): Promise<void> {
  if (change === 'none') return;
  const writer = { fieldManager: 'slipway' };
  if (before === null) await client.create(pinnedImageSets, object, writer);
  else {
    const { name, uid, resourceVersion } = before.metadata;
    const body = { metadata: { labels: object.metadata.labels }, spec: object.spec };
    await client.patch(pinnedImageSets, { name }, { type: 'merge', body }, { uid, resourceVersion }, writer);
  }
}

function lastWords({ pool, dryRun }: PinPlan, isDue: boolean, isMeant: boolean): string {
  if (dryRun) return 'Nothing was written (--dry-run).';
  if (!isDue) {
    return `All of it is asked of pool ${pool} already: nothing was written. slipway pin status ${pool} shows how far it is.`;
  }
  if (!isMeant) return 'Nothing was written.';
  return `The machines begin by themselves, all at once. slipway pin status ${pool} --watch shows them.`;
}
