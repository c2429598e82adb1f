import { ProblemList } from '@slipway/fleet';
import { exitCodeOf } from '@slipway/fleet/plan';
import { type Client, createClient } from '@slipway/kube';
import { CommandError } from '../cli/errors.ts';
import { createProgress, type Io, toJson, write } from '../cli/io.ts';
import type { RegistryFlags } from '../cli/options.ts';
import { type ClusterOptions, connect } from '../cli/program.ts';
import { openRegistry } from '../cli/registry.ts';
import { tellProblems } from '../cli/run.ts';
import { safeText } from '../cli/terminal.ts';
import { planCluster, type Planned } from '../plan/plan-cluster.ts';
import { changePool } from '../rollout/change-pool.ts';
import { nextWords } from '../rollout/next-words.ts';
import { readBrakes } from '../rollout/read-brakes.ts';
import { type Download, downloadOf } from './download.ts';
import type { MigrateReport } from './migrate-report.ts';
import { migrateText } from './migrate-text.ts';
import { type Migration, migrationOf } from './migration.ts';

export interface MigrateOptions extends ClusterOptions, RegistryFlags {
  namespace: string;
  dryRun?: boolean;
  output: 'text' | 'json';
  verbose?: boolean;
}

export const runMigrate = (pool: string, stream: string, options: MigrateOptions, io: Io): Promise<void> =>
  tellProblems(io, async () => {
    const transport = await connect(options);
    try {
      await migrate(createClient(transport), pool, stream, options, io);
    } finally {
      await transport.close();
    }
  });

async function migrate(client: Client, pool: string, stream: string, options: MigrateOptions, io: Io): Promise<void> {
  const { migration, plan, notes } = await planMigration(client, pool, stream, options, io);
  const dryRun = options.dryRun ?? false;
  await write(io.stderr, [...notes, ...plan.warnings.map((text) => `warning: ${text}`)].map(line).join(''));
  const willChange = !dryRun && plan.problems.length === 0 && migration.askedBefore !== migration.to.name;
  const report: MigrateReport = {
    pool,
    from: migration.from,
    to: migration.to.name,
    dryRun,
    changed: willChange,
    plan,
    download: await askDownload(migration, options),
    watch: watchLines(pool),
  };
  const tellPool = async (): Promise<void> => (willChange ? tell(client, migration) : undefined);
  if (options.output === 'text') await inText(client, migration, report, tellPool, options, io);
  else {
    // It says what was done, so it comes after that.
    await tellPool();
    await write(io.stdout, toJson(report));
  }
  if (plan.problems.length > 0) throw new ProblemList(plan.problems);
  if (dryRun) io.setExitCode(exitCodeOf(plan));
}

async function inText(
  client: Client,
  migration: Migration,
  report: MigrateReport,
  tellPool: () => Promise<void>,
  { verbose = false }: MigrateOptions,
  io: Io,
): Promise<void> {
  await write(io.stdout, migrateText(report, { verbose }));
  await tellPool();
  if (report.plan.problems.length > 0) return;
  await write(io.stdout, `\n${safeText(await sayResult(client, migration, report))}\n`);
}

/** The controllers have stored what MachineConfigs refer to. */
const REMOTE = { fetch: true, fetchTimeout: 300 } as const;

async function planMigration(
  client: Client,
  pool: string,
  stream: string,
  { namespace }: MigrateOptions,
  io: Io,
): Promise<Planned & { migration: Migration }> {
  let migration: Migration | undefined;
  const planned = await planCluster(client, { namespace, ...REMOTE }, createProgress(io.stderr), (before) => {
    migration = migrationOf(before, pool, stream);
    return migration.applied;
  });
  if (migration === undefined) throw new Error('a plan was made of nothing');
  return { ...planned, migration };
}

async function askDownload({ to, needsExtensions }: Migration, options: MigrateOptions): Promise<Download> {
  // The sizes are worth a moment, and no more.
  const registry = await openRegistry(options, { retries: 1, silenceMs: 5000 });
  try {
    return await downloadOf(to, needsExtensions, registry);
  } finally {
    await registry.close();
  }
}

/** Others may have told the pool something else since it was looked at: then the plan is not about it. */
async function tell(client: Client, { pool, to, askedBefore }: Migration): Promise<void> {
  await changePool(client, pool, ({ spec }) => {
    const asked = spec.osImageStream?.name ?? null;
    if (asked !== askedBefore) {
      throw new CommandError(
        'SLW_CLI_STREAM',
        `MachineConfigPool ${pool}: somebody has changed spec.osImageStream since the plan was made, from ${askedBefore ?? 'nothing'} to ${asked ?? 'nothing'}; nothing was written. Run the command again`,
      );
    }
    return { spec: { osImageStream: { name: to.name } } };
  });
}

async function sayResult(client: Client, { pool, to }: Migration, { dryRun, changed }: MigrateReport): Promise<string> {
  if (dryRun) return 'Nothing was written (--dry-run).';
  if (!changed) return `Pool ${pool} was told to be on ${to.name} already: nothing was written.`;
  const moving = `slipway status ${pool} --watch shows it.`;
  return `Pool ${pool} is told to be on ${to.name}. ${nextWords(pool, await readBrakes(client, pool), moving)}`;
}

const watchLines = (pool: string): string[] => [
  `slipway status ${pool} --watch   every machine, and what it waits for`,
  `slipway streams   the stream is reached when ${pool} is no longer said to be on its way`,
  `slipway pause ${pool}   no further machine begins; one that has a newer major version of the OS cannot go back`,
];

const line = (text: string): string => `${text}\n`;
