import { createClient } from '@slipway/kube';
import { decideFleet } from '@slipway/fleet';
import { readFleet } from '../cluster-view/read-fleet.ts';
import { type ClusterOptions, connect } from '../connect.ts';
import { type Io, write } from '../ignition/io.ts';
import { toJson } from '../manifests/manifest-text.ts';
import { paintFor } from '../terminal/paint.ts';
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
