// Translates between any two spec versions, by the shortest chain of single steps.
import { Findings, type Report } from '../report.ts';
import type { AnyConfig, ConfigOf } from '../spec/index.ts';
import { validate } from '../validate/index.ts';
import { rankVersion, type SpecVersion } from '../version.ts';
import { v2_3ToV3_0, v2_4ToV3_1 } from './spec2-to-spec3.ts';
import { v3_0ToV2_3, v3_1ToV2_4 } from './spec3-to-spec2.ts';
import { narrowing, type Step, type TranslateOptions, widening } from './step.ts';
import { v2_2ToV2_3, v2_3ToV2_2 } from './v2_2-v2_3.ts';
import { v2_3ToV2_4, v2_4ToV2_3 } from './v2_3-v2_4.ts';
import { v3_0ToV3_1, v3_1ToV3_0 } from './v3_0-v3_1.ts';
import { v3_1ToV3_2, v3_2ToV3_1 } from './v3_1-v3_2.ts';
import { v3_2ToV3_3, v3_3ToV3_2 } from './v3_2-v3_3.ts';
import { v3_3ToV3_4, v3_4ToV3_3 } from './v3_3-v3_4.ts';
import { v3_4ToV3_5, v3_5ToV3_4 } from './v3_4-v3_5.ts';
import { v3_5ToV3_6, v3_6ToV3_5 } from './v3_5-v3_6.ts';

export type { TranslateOptions } from './step.ts';

/** Of two chains of equal length, the one through the newer versions is used: the order of this list. */
const STEPS: readonly Step[] = [
  widening('3.5.0', '3.6.0', v3_5ToV3_6),
  narrowing('3.6.0', '3.5.0', v3_6ToV3_5),
  widening('3.4.0', '3.5.0', v3_4ToV3_5),
  narrowing('3.5.0', '3.4.0', v3_5ToV3_4),
  widening('3.3.0', '3.4.0', v3_3ToV3_4),
  narrowing('3.4.0', '3.3.0', v3_4ToV3_3),
  widening('3.2.0', '3.3.0', v3_2ToV3_3),
  narrowing('3.3.0', '3.2.0', v3_3ToV3_2),
  widening('3.1.0', '3.2.0', v3_1ToV3_2),
  narrowing('3.2.0', '3.1.0', v3_2ToV3_1),
  widening('3.0.0', '3.1.0', v3_0ToV3_1),
  narrowing('2.4.0', '3.1.0', v2_4ToV3_1),
  narrowing('3.1.0', '3.0.0', v3_1ToV3_0),
  narrowing('2.3.0', '3.0.0', v2_3ToV3_0),
  narrowing('3.1.0', '2.4.0', v3_1ToV2_4),
  widening('2.3.0', '2.4.0', v2_3ToV2_4),
  narrowing('3.0.0', '2.3.0', v3_0ToV2_3),
  narrowing('2.4.0', '2.3.0', v2_4ToV2_3),
  widening('2.2.0', '2.3.0', v2_2ToV2_3),
  narrowing('2.3.0', '2.2.0', v2_3ToV2_2),
];

export interface Translated<V extends SpecVersion> {
  /** Null if that version cannot express the config: the report has an error for each field. */
  readonly config: ConfigOf<V> | null;
  readonly report: Report;
}

/**
 * Translates a config to another spec version. The config must be valid; the result shares unchanged parts with it, so
 * treat both as read-only.
 */
export function translate<V extends SpecVersion>(
  config: AnyConfig,
  to: V,
  options: TranslateOptions = {},
): Translated<V> {
  const findings = new Findings();
  let current = config;
  for (const step of getChain(config.ignition.version, to)) {
    const next = step.run(current, findings, options);
    if (step.narrows && !findings.failed) refuseBrokenRules(next, to, findings);
    if (findings.failed) return { config: null, report: findings.report() };
    current = next;
  }
  return { config: current as ConfigOf<V>, report: findings.report() };
}

/** Names the version of the result, not the one on the way to it. */
function refuseBrokenRules(config: AnyConfig, to: SpecVersion, findings: Findings): void {
  for (const { kind, path, message } of validate(config)) {
    if (kind === 'error') findings.error(path, `cannot be expressed in spec ${to}: ${message}`);
  }
}

const chains = new Map<string, readonly Step[]>();

function getChain(from: SpecVersion, to: SpecVersion): readonly Step[] {
  const name = `${from} ${to}`;
  const known = chains.get(name);
  if (known !== undefined) return known;
  const chain = findChain(from, to);
  chains.set(name, chain);
  return chain;
}

function findChain(from: SpecVersion, to: SpecVersion): readonly Step[] {
  const seen = new Set([from]);
  const waiting: Step[][] = [[]];
  for (let chain = waiting.shift(); chain !== undefined; chain = waiting.shift()) {
    const at = chain.at(-1)?.to ?? from;
    if (at === to) return chain;
    for (const step of STEPS.filter((step) => step.from === at && !seen.has(step.to)).sort(newerFirst)) {
      seen.add(step.to);
      waiting.push([...chain, step]);
    }
  }
  return [];
}

function newerFirst(a: Step, b: Step): number {
  return rankVersion(b.to) - rankVersion(a.to);
}
