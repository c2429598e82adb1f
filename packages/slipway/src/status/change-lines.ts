// What has changed between two looks at a fleet, a line each: for a pipe or a log.
import type { NodeReport, PoolReport, StatusReport } from '@slipway/fleet/reports';
import { safeLine, shortConfigs } from '../cli/terminal.ts';

/** Without the first look, everything is news. */
export function changeLines(before: StatusReport | null, after: StatusReport): string[] {
  return [
    ...stopLines(before?.stopped ?? null, after.stopped),
    ...changed(before?.pools ?? [], after.pools, poolLines, ({ name }) => [`${name}: deleted`]),
    ...changed(
      before?.nodesWithoutPool ?? [],
      after.nodesWithoutPool,
      (old, { message }) => (old?.message === message ? [] : [message]),
      () => [],
    ),
  ].map((line) => shortConfigs(safeLine(line)));
}

function stopLines(before: string | null, after: string | null): string[] {
  if (before === after) return [];
  return [after === null ? 'rollouts go on' : `all rollouts are stopped: ${after}`];
}

function changed<T extends { readonly name: string }>(
  before: readonly T[],
  after: readonly T[],
  linesOf: (old: T | undefined, now: T) => string[],
  gone: (old: T) => string[],
): string[] {
  const olds = new Map(before.map((each) => [each.name, each]));
  const lines = after.flatMap((now) => linesOf(olds.get(now.name), now));
  for (const { name } of after) olds.delete(name);
  return [...lines, ...[...olds.values()].flatMap(gone)];
}

function poolLines(old: PoolReport | undefined, now: PoolReport): string[] {
  const line = poolLine(now);
  return [
    ...(old === undefined || poolLine(old) !== line ? [line] : []),
    ...changed(
      old?.nodes ?? [],
      now.nodes,
      (before, node) => nodeLines(now.name, before, node),
      ({ name }) => [`${now.name}/${name}: left the pool`],
    ),
  ];
}

function poolLine({ name, phase, summary, request }: PoolReport): string {
  return `${name}: ${phase}${request === null ? '' : ` (asked: ${request})`}: ${summary}`;
}

function nodeLines(pool: string, old: NodeReport | undefined, now: NodeReport): string[] {
  const [before, after] = [old === undefined ? '' : nodeWords(old), nodeWords(now)];
  if (before === after || (old === undefined && now.phase === 'updated')) return [];
  const from = old === undefined || old.phase === now.phase ? '' : `${old.phase} → `;
  return [`${pool}/${now.name}: ${from}${after}`];
}

function nodeWords({ phase, step, blockedBy, why }: NodeReport): string {
  const doing = step === '' ? phase : `${phase}, ${step}`;
  const isQuiet = phase === 'updated' || phase === 'waiting';
  const reason = isQuiet ? '' : blockedBy || why;
  return reason === '' ? doing : `${doing}: ${reason}`;
}
