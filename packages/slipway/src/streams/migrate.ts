import { count } from '@slipway/base/text';
import { formatProblem, ProblemList, type Stream } from '@slipway/fleet';
import { toExitCode, type FleetPlan } from '@slipway/fleet/plan';
import type { Client } from '@slipway/kube';
import type { Registry } from '@slipway/registry';
import { CommandError, isExpectedError } from '../cli/errors.ts';
import { createProgress, type Io, toJson, write, writeLines } from '../cli/io.ts';
import type { RegistryFlags } from '../cli/options.ts';
import type { ClusterOptions } from '../cli/program.ts';
import { openRegistry } from '../cli/registry.ts';
import { withCluster } from '../cli/run.ts';
import { byteSize, safeText, shortImage } from '../cli/terminal.ts';
import { planCluster, type PlanResult } from '../plan/plan.ts';
import { planText, type TextOptions } from '../plan/text.ts';
import { changePool, formatNextSteps, readHolds } from '../rollout/pools.ts';
import { type Migration, buildMigration } from './migration.ts';

export interface MigrateOptions extends ClusterOptions, RegistryFlags {
  namespace: string;
  dryRun?: boolean;
  output: 'text' | 'json';
  verbose?: boolean;
}

export const runMigrate = (pool: string, stream: string, options: MigrateOptions, io: Io): Promise<void> =>
  withCluster(options, io, (client) => migrate(client, pool, stream, options, io));

/** `-o json` prints exactly this. */
export interface MigrateReport {
  readonly pool: string;
  /** Its current stream; null: unknown. */
  readonly from: string | null;
  readonly to: string;
  readonly dryRun: boolean;
  /** Whether spec.osImageStream was changed. */
  readonly changed: boolean;
  /** The same as in `slipway plan -o json`. */
  readonly plan: FleetPlan;
  readonly download: Download;
  /** Commands that show the progress, each with a description. */
  readonly watch: readonly string[];
}

async function migrate(client: Client, pool: string, stream: string, options: MigrateOptions, io: Io): Promise<void> {
  const { migration, plan, notes } = await planMigration(client, pool, stream, options, io);
  const dryRun = options.dryRun ?? false;
  await writeLines(io.stderr, [...notes, ...plan.warnings.map((text) => `warning: ${text}`)]);
  const willChange = !dryRun && plan.problems.length === 0 && migration.askedBefore !== migration.to.name;
  const report: MigrateReport = {
    pool,
    from: migration.from,
    to: migration.to.name,
    dryRun,
    changed: willChange,
    plan,
    download: await readDownload(migration, options),
    watch: watchLines(pool),
  };
  const updatePool = async (): Promise<void> => (willChange ? setPoolStream(client, migration) : undefined);
  if (options.output === 'text') await inText(client, migration, report, updatePool, options, io);
  else {
    // The report states what was changed, so the change comes first.
    await updatePool();
    await write(io.stdout, toJson(report));
  }
  if (plan.problems.length > 0) throw new ProblemList(plan.problems);
  if (dryRun) io.setExitCode(toExitCode(plan));
}

async function inText(
  client: Client,
  migration: Migration,
  report: MigrateReport,
  updatePool: () => Promise<void>,
  { verbose = false }: MigrateOptions,
  io: Io,
): Promise<void> {
  await write(io.stdout, migrateText(report, { verbose }));
  await updatePool();
  if (report.plan.problems.length > 0) return;
  await write(io.stdout, `\n${safeText(await describeResult(client, migration, report))}\n`);
}

/** The controllers have stored the remote content of MachineConfigs. */
const REMOTE = { fetch: true, fetchTimeout: 300 } as const;

async function planMigration(
  client: Client,
  pool: string,
  stream: string,
  { namespace }: MigrateOptions,
  io: Io,
): Promise<PlanResult & { migration: Migration }> {
  let migration: Migration | undefined;
  const planned = await planCluster(client, { namespace, ...REMOTE }, createProgress(io.stderr), (before) => {
    migration = buildMigration(before, pool, stream);
    return migration.applied;
  });
  if (migration === undefined) throw new Error('the plan has no migration');
  return { ...planned, migration };
}

/** Fails if another client has changed the stream since the plan: the plan would no longer apply. */
async function setPoolStream(client: Client, { pool, to, askedBefore }: Migration): Promise<void> {
  await changePool(client, pool, ({ spec }) => {
    const asked = spec.osImageStream?.name ?? null;
    if (asked !== askedBefore) {
      throw new CommandError(
        'SLW_CLI_STREAM',
        `MachineConfigPool ${pool}: another client changed spec.osImageStream from ${askedBefore ?? 'nothing'} to ${asked ?? 'nothing'} after the plan was made. Nothing was written. Run the command again`,
      );
    }
    return { spec: { osImageStream: { name: to.name } } };
  });
}

async function describeResult(
  client: Client,
  { pool, to }: Migration,
  { dryRun, changed }: MigrateReport,
): Promise<string> {
  if (dryRun) return 'Nothing was written (--dry-run).';
  if (!changed) return `Pool ${pool} already requests stream ${to.name}. Nothing was written.`;
  const moving = `Follow it with: slipway status ${pool} --watch`;
  return `Pool ${pool} now requests stream ${to.name}. ${formatNextSteps(pool, await readHolds(client, pool), moving)}`;
}

const watchLines = (pool: string): string[] => [
  `slipway status ${pool} --watch   shows every machine and what it waits for`,
  `slipway streams   shows ${pool} as migrating until all its machines have the new stream`,
  `slipway pause ${pool}   stops further machines; one that already has a newer major OS version cannot roll back`,
];

export function migrateText(report: MigrateReport, options: TextOptions): string {
  const { pool, from, to, plan, download, watch } = report;
  const head = `Pool ${pool}: stream ${from ?? '(unknown)'} → ${to}`;
  const machines = plan.pools.flatMap(({ nodes }) => nodes).filter(({ isAffected }) => isAffected).length;
  return [
    `${safeText(head)}\n`,
    planText(plan, options),
    ...(machines === 0 ? [] : [`${safeText(downloadLines(download, machines).join('\n'))}\n`]),
    ...(watch.length === 0 ? [] : [`${safeText(['Watch', ...watch.map((line) => `  ${line}`)].join('\n'))}\n`]),
  ].join('\n');
}

function downloadLines(download: Download, machines: number): string[] {
  const { bytesPerMachine, problem } = download;
  const each = machines === 1 ? '1 machine' : `each of ${count(machines, 'machine')}`;
  if (bytesPerMachine === null) {
    return [
      `Download: unknown for ${each}: ${problem ?? ''}`,
      '  (set --pull-secret, --registry-ca or --registries-conf to access the registry)',
    ];
  }
  return [
    `Download: at most ${byteSize(bytesPerMachine)} for ${each}, less if some layers are already present`,
    `  OS image ${shortImage(download.osImage)}: ${byteSize(download.osBytes ?? 0)}`,
    download.osExtensionsImage === null
      ? '  no OS extensions image: the pool uses no extensions'
      : `  OS extensions image ${shortImage(download.osExtensionsImage)}: ${byteSize(download.extensionsBytes ?? 0)}`,
  ];
}

export interface Download {
  readonly osImage: string;
  /** Compressed; null: unknown, see `problem`. A machine fetches less if it already has some of the layers. */
  readonly osBytes: number | null;
  /** Null: the pool has no extensions, so its machines do not fetch the image. */
  readonly osExtensionsImage: string | null;
  readonly extensionsBytes: number | null;
  /** The most that one machine fetches. */
  readonly bytesPerMachine: number | null;
  readonly problem: string | null;
}

/** An unreachable registry must not hide the rest of the report. */
export async function inspectDownload(
  { osImage, osExtensionsImage }: Stream,
  needsExtensions: boolean,
  registry: Pick<Registry, 'inspect'>,
): Promise<Download> {
  const images = { osImage, osExtensionsImage: needsExtensions ? osExtensionsImage : null };
  try {
    const { size: osBytes } = await registry.inspect(osImage);
    const extensionsBytes = needsExtensions ? (await registry.inspect(osExtensionsImage)).size : null;
    const bytesPerMachine = osBytes + (extensionsBytes ?? 0);
    return { ...images, osBytes, extensionsBytes, bytesPerMachine, problem: null };
  } catch (error) {
    if (!isExpectedError(error)) throw error;
    const problem = formatProblem(error);
    return { ...images, osBytes: null, extensionsBytes: null, bytesPerMachine: null, problem };
  }
}

async function readDownload({ to, needsExtensions }: Migration, options: MigrateOptions): Promise<Download> {
  // The sizes are worth only a short wait.
  const registry = await openRegistry(options, { retries: 1, silenceMs: 5000 });
  try {
    return await inspectDownload(to, needsExtensions, registry);
  } finally {
    await registry.close();
  }
}
