import { machineConfigs, poolLabel } from '@slipway/api';
import { type Client, createClient } from '@slipway/kube';
import type { Io } from '../cli/io.ts';
import { type ClusterOptions, connect, stopSignal } from '../cli/program.ts';
import { askAndSay, type AskCommandOptions } from './ask-and-say.ts';
import { findTarget } from './find-target.ts';
import { nextWords } from './next-words.ts';
import { readBrakes } from './read-brakes.ts';

export interface RollbackOptions extends ClusterOptions, AskCommandOptions {
  to?: string;
}

export async function runRollback(pool: string, options: RollbackOptions, io: Io): Promise<void> {
  const transport = await connect(options);
  try {
    const client = createClient(transport);
    const brakes = await readBrakes(client, pool);
    const request =
      options.to === undefined
        ? 'rollback'
        : `rollback=${findTarget(options.to, pool, await renderedOf(client, pool))}`;
    const moving = `slipway status ${pool} --watch shows it; slipway resume ${pool} rolls the newest config out again.`;
    const next = nextWords(pool, brakes, moving);
    await askAndSay({ client, pool, action: 'rollback', request, next, signal: stopSignal() }, options, io);
  } finally {
    await transport.close();
  }
}

async function renderedOf(client: Client, pool: string): Promise<string[]> {
  const found: { name: string; at: string }[] = [];
  for await (const { metadata } of client.list(machineConfigs, {
    labelSelector: `${poolLabel}=${pool}`,
    pageSize: 20,
  })) {
    found.push({ name: metadata.name, at: metadata.creationTimestamp ?? '' });
  }
  return found.sort((a, b) => (a.at < b.at ? 1 : -1)).map(({ name }) => name);
}
