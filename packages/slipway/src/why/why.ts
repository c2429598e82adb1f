import { decideFleet, formatProblem } from '@slipway/fleet';
import { type FleetSnapshot, type WhyInPool, type WhyReport, whyReport } from '@slipway/fleet/reports';
import { readFleet } from '../cli/cluster.ts';
import { CommandError, nearNames } from '../cli/errors.ts';
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
    load: readFleet,
    report: (fleet) => {
      const report = whyReport(node, fleet, decideFleet(fleet, Date.now()));
      if (report === null) throw noSuchNode(node, fleet);
      return report;
    },
    text: (report, { paint }) => whyText(report, paint),
  });

export function noSuchNode(name: string, { nodes }: FleetSnapshot): CommandError {
  const near = nearNames(
    name,
    nodes.map(({ metadata }) => metadata.name),
  );
  const hint =
    near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'List the nodes with: slipway status --all-nodes';
  return new CommandError('SLW_CLI_NO_NODE', `the cluster has no Node ${name}. ${hint}`);
}

export function whyText(report: WhyReport, paint: Paint = plain): string {
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
    ...report.wayOut.map((text) => `→ ${safeLine(text)}`),
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

const sentence = (text: string): string => shortConfigs(safeLine(text));
