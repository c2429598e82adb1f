import type { OracleResponse, OracleEntry } from '@slipway/tools/ignition-oracle';
import { type AnyConfig, type Config3, merge, parse, type SpecVersion, translate, validate } from '../src/index.ts';
import type { Report } from '../src/report.ts';
import { specOf } from '../src/spec/index.ts';
import { canonical } from './canonical.ts';
import type { Case } from './cases.ts';
import { findDeviation } from './deviations.ts';

/** Where processing stopped, with Slipway's report; for a merge also the verdict on the result. */
export interface CaseOutcome {
  stage: 'decode' | 'validate' | 'translate' | 'done';
  config: AnyConfig | null;
  report: Report;
  mergedValid?: boolean;
}

/** Each side's result, short enough to read in a failure. */
export interface Difference {
  what: 'stage' | 'result' | 'validity of the merged result';
  go: string;
  ours: string;
}

type Loaded = { stage: 'decode' | 'validate'; report: Report } | { stage: 'done'; config: AnyConfig; report: Report };

/** Slipway's result for a case, with the steps in the oracle's order. */
export function runCase(question: Case): CaseOutcome {
  const to = question.op === 'merge' ? (question.to ?? '3.5.0') : question.to;
  const ready: AnyConfig[] = [];
  for (const text of question.configs) {
    const loaded = load(text);
    if (loaded.stage !== 'done') return { ...loaded, config: null };
    const made = to === undefined ? { config: loaded.config, report: [] } : translate(loaded.config, to);
    if (made.config === null) return { stage: 'translate', config: null, report: made.report };
    ready.push(made.config);
  }
  const [first] = ready;
  if (question.op !== 'merge') return { stage: 'done', config: first ?? null, report: [] };
  return mergeAll(ready.filter(isOfSpec3));
}

function load(text: string): Loaded {
  const parsed = parse(text);
  if (parsed.config === null) return { stage: 'decode', report: parsed.report };
  const report = validate(parsed.config);
  return isValid(report) ? { stage: 'done', config: parsed.config, report } : { stage: 'validate', report };
}

function mergeAll(configs: readonly Config3[]): CaseOutcome {
  const merged = merge(configs.map((config, index) => ({ name: `input ${index}`, config })));
  return { stage: 'done', config: merged.config, report: [], mergedValid: isValid(validate(merged.config)) };
}

/** Undefined if both sides agree, or differ by a named deviation. */
export function compare(question: Case, go: OracleResponse): Difference | undefined {
  const ours = runCase(question);
  const difference = findDifference(go, ours);
  if (difference === undefined || findDeviation({ question, go, ours }) !== undefined) return undefined;
  return difference;
}

export function findDifference(go: OracleResponse, ours: CaseOutcome): Difference | undefined {
  if (go.stage !== ours.stage) {
    return { what: 'stage', go: `${go.stage}: ${errors(go.report)}`, ours: `${ours.stage}: ${errors(ours.report)}` };
  }
  if (ours.config === null) return undefined;
  const results = written(go.result, ours.config);
  if (results.go !== results.ours) return { what: 'result', ...results };
  const mergedValid = go.merged === undefined || isValid(go.merged);
  if (ours.mergedValid === undefined || ours.mergedValid === mergedValid) return undefined;
  return {
    what: 'validity of the merged result',
    go: errors(go.merged ?? []),
    ours: errors(validate(ours.config)),
  };
}

function written(go: unknown, ours: AnyConfig): { go: string; ours: string } {
  const version: SpecVersion = ours.ignition.version;
  return { go: canonical(go, specOf(version)), ours: canonical(ours, specOf(version)) };
}

const isOfSpec3 = (config: AnyConfig): config is Config3 => config.ignition.version.startsWith('3.');

type Entries = readonly (OracleEntry | Report[number])[];

const isValid = (report: Entries) => report.every(({ kind }) => kind !== 'error');

const errors = (report: Entries) =>
  report
    .filter(({ kind }) => kind === 'error')
    .map(({ path, message }) => `${path}: ${message}`)
    .join('; ');
