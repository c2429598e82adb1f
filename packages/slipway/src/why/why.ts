import { nearNames } from '@slipway/base/near-names';
import { DAEMON_SERVICE, decideFleet, DETAILS_COMMAND, formatProblem, readDetails } from '@slipway/fleet';
import { type FleetSnapshot, type WhyInPool, type WhyReport, whyReport } from '@slipway/fleet/reports';
import { type Client, isKubeError } from '@slipway/kube';
import { readFleet } from '../cli/cluster.ts';
import { CommandError } from '../cli/errors.ts';
import type { Io } from '../cli/io.ts';
import type { ClusterOptions } from '../cli/program.ts';
import { clusterCommand } from '../cli/run.ts';
import { type Paint, plain, safeLine, safeText, shortConfigs } from '../cli/terminal.ts';

export interface WhyOptions extends ClusterOptions {
  output: 'text' | 'json';
}

export const runWhy = (node: string, options: WhyOptions, io: Io): Promise<void> =>
  clusterCommand({
    options,
    io,
    load: async (client) => {
      const fleet = await readFleet(client);
      const report = whyReport(node, fleet, decideFleet(fleet, Date.now()));
      if (report === null) throw noSuchNode(node, fleet);
      return withDetails(report, () => readNodeDetails(client, node));
    },
    report: (report) => report,
    text: (report, { paint }) => whyText(report, paint),
  });

/** With what stays on the machine. */
export type DetailedReport = WhyReport & {
  /** From the journal of the machine. Empty: it cannot be read from here, or the node has no problem. */
  readonly details: readonly string[];
  /** Shows them on the machine. '' if the node has no problem. */
  readonly detailsCommand: string;
};

export async function withDetails(report: WhyReport, read: () => Promise<readonly string[]>): Promise<DetailedReport> {
  if (report.pool === null || report.state !== 'Degraded') return { ...report, details: [], detailsCommand: '' };
  return { ...report, details: await read(), detailsCommand: DETAILS_COMMAND };
}

// The details are in the journal of the machine, which the kubelet's log query reads.

/** More than the daemon writes about one problem. */
const TAIL_LINES = 2000;
const MAX_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** Empty: the log query is off, the user may not use it, the kubelet does not respond, or the journal has no details. */
export async function readNodeDetails({ transport }: Client, node: string): Promise<readonly string[]> {
  try {
    const answer = await transport.open({
      method: 'GET',
      path: `/api/v1/nodes/${encodeURIComponent(node)}/proxy/logs/`,
      query: { query: DAEMON_SERVICE, tailLines: String(TAIL_LINES) },
      accept: 'text/plain',
      what: `read the log of ${DAEMON_SERVICE} on Node ${node}`,
      retry: 'never',
      timeoutMs: TIMEOUT_MS,
      silenceMs: TIMEOUT_MS,
    });
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of answer) {
      size += chunk.length;
      if (size > MAX_BYTES) break;
      chunks.push(chunk);
    }
    answer.destroy();
    // Without the log query, a kubelet ignores its parameters and lists the files in /var/log, as HTML.
    return readDetails(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    if (isKubeError(error)) return [];
    throw error;
  }
}

export function noSuchNode(name: string, { nodes }: FleetSnapshot): CommandError {
  const near = nearNames(
    name,
    nodes.map(({ metadata }) => metadata.name),
  );
  const hint =
    near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'List the nodes with: slipway status --all-nodes';
  return new CommandError('SLW_CLI_NO_NODE', `the cluster has no Node ${name}. ${hint}`);
}

export function whyText(report: DetailedReport, paint: Paint = plain): string {
  if (report.pool === null) return `${formatProblem({ code: report.code, message: safeText(report.why) })}\n`;
  const rows = buildRows(report).filter(([, text]) => text !== '');
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, text]) => `  ${name.padEnd(width)}  ${safeLine(text)}`);
  return [
    `Node ${report.node} of pool ${report.pool}: ${paint('bold', report.phase)}`,
    `  ${sentence(report.why)}`,
    '',
    ...lines,
    '',
    ...(report.details.length === 0 ? [] : ['Details on the machine:', ...report.details.map(indented), '']),
    ...report.wayOut.map((text) => `→ ${safeLine(text)}`),
    ...(report.detailsCommand === '' || report.details.length > 0
      ? []
      : [`→ See the details on the machine: ${report.detailsCommand}`]),
    '',
  ].join('\n');
}

function buildRows(report: WhyInPool): [string, string][] {
  const { given } = report;
  return [
    ['current config', `${report.current ?? 'unknown'} (${formatCondition(report)})`],
    ['desired config', report.desired ?? 'none yet'],
    ['assigned', given === null ? '' : `${given.at}: ${shortConfigs(given.why)}`],
    ['pool target', report.target ?? 'none yet: no config has been rendered'],
    ['current step', report.step === '' ? '' : `${report.step}, since ${report.stepSince}`],
    ['drain waits for', report.drainBlocked],
    ['daemon reports', report.reason],
    ['pool', `${report.poolPhase}: ${shortConfigs(report.poolSummary)}`],
  ];
}

function formatCondition({ state, isReady, notReady, isCordoned, isCordonedByUs }: WhyInPool): string {
  const cordoned = isCordonedByUs ? 'cordoned for its update' : 'cordoned by a user';
  return [
    `state ${state ?? 'unknown'}`,
    isReady ? 'ready' : `not ready${notReady === '' ? '' : `: ${notReady}`}`,
    ...(isCordoned ? [cordoned] : []),
  ].join(', ');
}

const indented = (line: string): string => `  ${safeLine(line)}`;
const sentence = (text: string): string => shortConfigs(safeLine(text));
