// The rollout policy of a pool, read from its annotations.
import { truncate } from '@slipway/base/text';
import { rolloutPolicyAnnotations } from '@slipway/api/names';
import type { RolloutProblem } from './facts.ts';

export interface RolloutPolicy {
  /** Cumulative sizes; the first is the canary. The last is always the whole pool. */
  readonly waves: readonly WaveSize[];
  readonly soakMs: number;
  readonly onFailure: 'halt' | 'return';
  readonly hold: 'until-new-render' | 'until-resume';
}

export type WaveSize = { readonly nodes: number } | { readonly percent: number };

export const defaultRolloutPolicy: RolloutPolicy = {
  waves: [{ nodes: 1 }, { percent: 100 }],
  soakMs: 0,
  onFailure: 'halt',
  hold: 'until-new-render',
};

/** An invalid value is treated as the safest setting: the one that changes least automatically. */
const safest: RolloutPolicy = { ...defaultRolloutPolicy, hold: 'until-resume' };

const MAX_WAVES = 20;
const MAX_SOAK_MS = 7 * 24 * 3_600_000;
const MAX_SHOWN = 80;

export function parseRolloutPolicy(annotations: Readonly<Record<string, string>> | undefined): {
  policy: RolloutPolicy;
  problems: readonly RolloutProblem[];
} {
  const problems: RolloutProblem[] = [];
  const read = <K extends keyof RolloutPolicy>(
    setting: K,
    annotation: string,
    expected: string,
    parse: (text: string) => RolloutPolicy[K] | null,
  ): RolloutPolicy[K] => {
    const text = annotations?.[annotation]?.trim();
    if (text === undefined) return defaultRolloutPolicy[setting];
    const value = parse(text);
    if (value !== null) return value;
    problems.push({
      code: 'SLW_ROLLOUT_POLICY',
      message: `annotation ${annotation} of the pool: expected ${expected}, found "${truncate(text, MAX_SHOWN)}". Until you correct it, the pool uses ${describe(setting)}`,
    });
    return safest[setting];
  };
  const { waves, soak, onFailure, hold } = rolloutPolicyAnnotations;
  const policy: RolloutPolicy = {
    waves: read('waves', waves, `at most ${MAX_WAVES} increasing sizes such as 1,10%,100%`, parseWaves),
    soakMs: read('soakMs', soak, 'a duration of at most 7 days, such as 90s, 10m or 2h', parseSoak),
    onFailure: read('onFailure', onFailure, 'halt or return', parseEnum(['halt', 'return'])),
    hold: read('hold', hold, 'until-new-render or until-resume', parseEnum(['until-new-render', 'until-resume'])),
  };
  return { policy, problems };
}

const inForce: Readonly<Record<keyof RolloutPolicy, string>> = {
  waves: 'waves 1,100%',
  soakMs: 'no soak time',
  onFailure: 'halt',
  hold: 'until-resume',
};
const describe = (setting: keyof RolloutPolicy): string => inForce[setting];

const parseEnum =
  <const T extends string>(known: readonly T[]) =>
  (text: string): T | null =>
    known.find((each) => each === text) ?? null;

/** The last wave is the whole pool, even if the annotation omits it. */
function parseWaves(text: string): readonly WaveSize[] | null {
  const sizes = text.split(',', MAX_WAVES + 1).map((each) => parseSize(each.trim()));
  const waves = sizes.filter((size) => size !== null);
  if (waves.length !== sizes.length || waves.length > MAX_WAVES || !isGrowing(waves)) return null;
  const last = waves.at(-1);
  return last !== undefined && 'percent' in last && last.percent === 100 ? waves : [...waves, { percent: 100 }];
}

function parseSize(text: string): WaveSize | null {
  const [, digits, percent] = /^(\d{1,6})(%?)$/.exec(text) ?? [];
  const value = Number(digits);
  if (digits === undefined || value === 0) return null;
  if (percent === '') return { nodes: value };
  return value <= 100 ? { percent: value } : null;
}

/** Only sizes of the same unit can be compared before the pool is known. */
function isGrowing(waves: readonly WaveSize[]): boolean {
  let nodes = 0;
  let percent = 0;
  for (const wave of waves) {
    if ('nodes' in wave ? wave.nodes <= nodes : wave.percent <= percent) return false;
    if ('nodes' in wave) ({ nodes } = wave);
    else ({ percent } = wave);
  }
  return true;
}

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** As Kubernetes writes durations: 90s, 10m, 1h30m. */
function parseSoak(text: string): number | null {
  if (text === '0') return 0;
  if (!/^(\d{1,6}[hms])+$/.test(text)) return null;
  const total = [...text.matchAll(/(\d+)([hms])/g)].reduce(
    (sum, [, digits, unit = '']) => sum + Number(digits) * (units[unit] ?? 0),
    0,
  );
  return total <= MAX_SOAK_MS ? total : null;
}

/** How many machines may have the target in each wave, growing; the last is all of them. None for an empty pool. */
export function waveSizes({ waves }: Pick<RolloutPolicy, 'waves'>, nodes: number): number[] {
  const sizes: number[] = [];
  for (const wave of waves) {
    const size = Math.min(nodes, 'nodes' in wave ? wave.nodes : Math.max(1, Math.ceil((nodes * wave.percent) / 100)));
    if (size > (sizes.at(-1) ?? 0)) sizes.push(size);
  }
  return sizes;
}

// maxUnavailable.

type Limit = { readonly nodes: number } | { readonly percent: number };

/** At least 1: with 0 the pool would never change. An invalid value counts as 1. */
export function computeMaxUnavailable(value: number | string | undefined, nodes: number): number {
  const limit = parseLimit(value) ?? { nodes: 1 };
  const allowed = 'nodes' in limit ? limit.nodes : Math.floor((nodes * limit.percent) / 100);
  return Math.max(1, Math.min(allowed, nodes));
}

export function maxUnavailableProblem(pool: string, value: number | string | undefined): RolloutProblem | null {
  if (parseLimit(value) !== null) return null;
  return {
    code: 'SLW_ROLLOUT_MAX_UNAVAILABLE',
    message: `MachineConfigPool ${pool}, spec.maxUnavailable: expected a number or a percentage such as 3 or 10%, found ${JSON.stringify(value).slice(0, 80)}. Until you correct it, machines are updated one at a time`,
  };
}

function parseLimit(value: number | string | undefined): Limit | null {
  if (value === undefined) return { nodes: 1 };
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0 ? { nodes: value } : null;
  const [, digits, percent] = /^(\d{1,6})(%?)$/.exec(value.trim()) ?? [];
  if (digits === undefined) return null;
  return percent === '' ? { nodes: Number(digits) } : { percent: Number(digits) };
}
