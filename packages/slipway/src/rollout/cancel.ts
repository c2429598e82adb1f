import { createClient } from '@slipway/kube';
import type { Io } from '../cli/io.ts';
import { type ClusterOptions, connect, stopSignal } from '../cli/program.ts';
import { askAndSay, type AskCommandOptions } from './ask-and-say.ts';
import { nextWords } from './next-words.ts';
import { readBrakes } from './read-brakes.ts';

export interface CancelOptions extends ClusterOptions, AskCommandOptions {}

export async function runCancel(pool: string, options: CancelOptions, io: Io): Promise<void> {
  const transport = await connect(options);
  try {
    const client = createClient(transport);
    const moving = `slipway status ${pool} --watch shows the machines go back; slipway resume ${pool} rolls the newest config out again.`;
    const next = nextWords(pool, await readBrakes(client, pool), moving);
    await askAndSay({ client, pool, action: 'cancel', request: 'cancel', next, signal: stopSignal() }, options, io);
  } finally {
    await transport.close();
  }
}
