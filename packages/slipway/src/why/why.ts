import { decideFleet } from '@slipway/fleet';
import { createClient } from '@slipway/kube';
import { readFleet } from '../cli/cluster.ts';
import { type Io, toJson, write } from '../cli/io.ts';
import { type ClusterOptions, connect } from '../cli/program.ts';
import { paintFor } from '../cli/terminal.ts';
import { whyReport } from './why-report.ts';
import { whyText } from './why-text.ts';

export interface WhyOptions extends ClusterOptions {
  output: 'text' | 'json';
}

export async function runWhy(node: string, options: WhyOptions, io: Io): Promise<void> {
  const transport = await connect(options);
  try {
    const fleet = await readFleet(createClient(transport));
    const report = whyReport(node, fleet, decideFleet(fleet, Date.now()));
    await write(io.stdout, options.output === 'json' ? toJson(report) : whyText(report, paintFor(io.stdout)));
  } finally {
    await transport.close();
  }
}
