// What a check has found and done, for who tells it to people.
import { HEALS_WITHIN_MS, MOST_HEALS } from './decide-healing.ts';
import { describeDrifts, type Drift, shown } from './drift.ts';
import type { HealProblem } from './heal.ts';

export interface DriftReport {
  /** The name of the config that the machine was compared with. */
  readonly config: string;
  /** What is not as it should be. None: the machine is as its config says. */
  readonly drifts: readonly Drift[];
  /** What was just put back. */
  readonly healed: readonly Drift[];
  /** Those of `drifts` that are put back no more, since they do not stay so. */
  readonly givenUp: readonly Drift[];
  /** What could not be put back, and why. */
  readonly problems: readonly HealProblem[];
  /** All of it for people, in at most a thousand characters. */
  readonly text: string;
}

const MOST_CHARACTERS = 1000;

export function reportOf(parts: Omit<DriftReport, 'text'>): DriftReport {
  const { config, drifts, healed, givenUp, problems } = parts;
  const sentences = [
    ...givenUp.slice(0, 1).map(describeGivenUp),
    ...problems.slice(0, 1).map(({ message }) => message),
    describeDrifts(config, drifts),
    describeHealed(config, healed),
  ];
  const text = sentences.filter((sentence) => sentence !== '').join('. ');
  return { ...parts, text: text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text };
}

function describeGivenUp({ name }: Drift): string {
  const tries = `${MOST_HEALS} tries within ${HEALS_WITHIN_MS / 60_000} minutes`;
  return `${shown(name)} does not stay as the config says after ${tries} to put it back: another program of this machine changes it, or it cannot be written. It is left as it is until the daemon starts again or the config changes; stop that program, or take this out of the MachineConfigs`;
}

function describeHealed(config: string, healed: readonly Drift[]): string {
  if (healed.length === 0) return '';
  const names = [...new Set(healed.map(({ name }) => shown(name)))];
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  return `Put back as ${config} says: ${names.slice(0, 5).join(', ')}${more}`;
}
