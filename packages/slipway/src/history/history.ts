import { poolFactsOf } from '@slipway/fleet';
import { historyReport } from '@slipway/fleet/reports';
import { createClient } from '@slipway/kube';
import { type Io, toJson, write } from '../cli/io.ts';
import { type ClusterOptions, connect } from '../cli/program.ts';
import { paintFor } from '../cli/terminal.ts';
import { readPool } from '../rollout/change-pool.ts';
import { historyText } from './history-text.ts';
import { readRendered } from './rendered-config.ts';

export interface HistoryOptions extends ClusterOptions {
  output: 'text' | 'json';
  showSecrets?: boolean;
}

export async function runHistory(name: string, options: HistoryOptions, io: Io): Promise<void> {
  const transport = await connect(options);
  try {
    const client = createClient(transport);
    const pool = await readPool(client, name);
    const { pool: facts, history } = poolFactsOf(pool);
    const report = await historyReport(
      {
        pool: name,
        target: facts.held ?? facts.newest,
        state: facts.state,
        history,
        rendered: await readRendered(client, name),
      },
      { showSecrets: options.showSecrets ?? false },
    );
    await write(io.stdout, options.output === 'json' ? toJson(report) : historyText(report, paintFor(io.stdout)));
  } finally {
    await transport.close();
  }
}
