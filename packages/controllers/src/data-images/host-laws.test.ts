import { describe, expect, it } from 'vitest';
import { runJourney } from './testing/journey.ts';
import { runScenario, runSeeds } from './testing/scenario.ts';

// SLIPWAY_SEED has one of them repeated, and its story told.
const only = process.env.SLIPWAY_SEED;
const seeds = only === undefined ? Array.from({ length: 400 }, (_, seed) => seed) : [Number(only)];

describe('whatever users, faults and kills do', () => {
  it.each([
    ['in charge of the host', false],
    ['beside another operator', true],
  ])(
    '%s: no orphaned medium, no attach over another, no medium of somebody else ejected, no reboot that nobody asked for, attached is never said before it is true, and in the end all is as it was asked for',
    (_, besideOperator) => {
      if (only !== undefined) console.log(runScenario(Number(only), besideOperator).story.join('\n'));
      const { violations, kills } = runSeeds(seeds, besideOperator);
      expect(violations).toEqual([]);
      expect(kills).toBeGreaterThan(seeds.length);
    },
  );
});

describe('the whole life of a host and its images', () => {
  const undisturbed = runJourney(new Set());

  it('goes as it was asked for, with three times off: two reboots, and switched off once', () => {
    expect(undisturbed).toMatchObject({ violations: [], offs: 3 });
    expect(undisturbed.places).toBeGreaterThan(40);
  });

  it('goes the same way, with no time off more, wherever the controller is killed, and wherever it is killed once again', () => {
    const places = Array.from({ length: undisturbed.places }, (_, place) => place);
    const pairs = places.flatMap((place) => [1, 2, 3, 4].map((later) => new Set([place, place + later])));
    const found = [...places.map((place) => new Set([place])), ...pairs].flatMap((killedAt) => {
      const { violations, offs } = runJourney(killedAt);
      const tooMany = offs === undisturbed.offs ? [] : [`off ${offs} times`];
      return [...violations, ...tooMany].map((each) => `killed at ${[...killedAt].join(' and ')}: ${each}`);
    });
    expect(found).toEqual([]);
  });
});
