import { type Client, createClient } from '@slipway/kube';
import type { Io } from '../cli/io.ts';
import { type ClusterOptions, connect, stopSignal } from '../cli/program.ts';
import { askAndSay, type AskCommandOptions } from './ask-and-say.ts';
import { changePool, readPool } from './change-pool.ts';
import { nextResume } from './next-resume.ts';
import { nextWords } from './next-words.ts';
import { type Outcome, sayOutcome } from './outcome.ts';
import { readStopSwitch, setStopSwitch } from './stop-switch.ts';
import { type WhichOptions, whichPools } from './which-pools.ts';

export interface ResumeOptions extends ClusterOptions, WhichOptions, AskCommandOptions {}

export async function runResume(named: string | undefined, options: ResumeOptions, io: Io): Promise<void> {
  const pool = whichPools('resume', named, options);
  const transport = await connect(options);
  try {
    const client = createClient(transport);
    if (pool === null) await sayOutcome(io, options, await goOn(client));
    else await resumePool(client, pool, options, io);
  } finally {
    await transport.close();
  }
}

async function goOn(client: Client): Promise<Outcome> {
  const before = await setStopSwitch(client, null);
  return {
    action: 'resume',
    pool: null,
    changed: before !== null,
    message: before === null ? 'Rollouts were not stopped.' : `Rollouts go on; they were stopped: ${before}.`,
    next: 'Pools that are paused or halted by themselves stay so. slipway status shows all of them.',
  };
}

async function resumePool(client: Client, pool: string, options: ResumeOptions, io: Io): Promise<void> {
  const { isPaused, ask } = nextResume(await readPool(client, pool));
  const stopped = await readStopSwitch(client);
  // One thing at a time: who paused a pool, cancelled its rollout and resumes it wants the machines to go back.
  if (ask !== null && !isPaused) {
    const next = nextWords(pool, { isPaused, stopped }, movingWords(pool, null));
    await askAndSay({ client, pool, action: 'resume', request: 'resume', next, signal: stopSignal() }, options, io);
    return;
  }
  const { before, after } = await changePool(client, pool, ({ spec }) =>
    spec.paused === true ? { spec: { paused: false } } : null,
  );
  const changed = before !== after;
  const message = changed
    ? `Pool ${pool} is no longer paused.`
    : `Pool ${pool} is neither paused nor halted nor held, and no rollout of it is under way: there is nothing to resume.`;
  const next = nextWords(pool, { isPaused: false, stopped }, movingWords(pool, ask));
  await sayOutcome(io, options, { action: 'resume', pool, changed, message, next });
}

const movingWords = (pool: string, kept: string | null): string =>
  `${kept === null ? '' : `It is still ${kept}: slipway resume ${pool} once more ends that. `}slipway status ${pool} --watch shows how it goes on.`;
