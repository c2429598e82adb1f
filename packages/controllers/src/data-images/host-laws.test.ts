import { describe, expect, it } from 'vitest';
import { runJourney } from './testing/journey.ts';
import { runScenario, runSeeds } from './testing/scenario.ts';

// SLIPWAY_SEED repeats one of them, and prints its history.
const only = process.env.SLIPWAY_SEED;
const seeds = only === undefined ? Array.from({ length: 400 }, (_, seed) => seed) : [Number(only)];

describe('whatever users, faults and kills do', () => {
  it.each([
    ['managing the host', false],
    ['alongside another operator', true],
  ])(
    '%s: no orphaned medium, no attach over another, no foreign medium ejected, no reboot without a request, no Attached before it is true, and in the end the desired state',
    (_, besideOperator) => {
      if (only !== undefined) console.log(runScenario(Number(only), besideOperator).story.join('\n'));
      const { violations, kills } = runSeeds(seeds, besideOperator);
      expect(violations).toEqual([]);
      expect(kills).toBeGreaterThan(seeds.length);
    },
  );
});

describe('the whole life of a host and its DataImages', () => {
  const undisturbed = runJourney(new Set());

  it('follows the requests, with three power-offs: two reboots, and one for spec.online', () => {
    expect(undisturbed).toMatchObject({ violations: [], offs: 3 });
    expect(undisturbed.places).toBeGreaterThan(40);
  });

  it('is the same, with no extra power-off, wherever the controller is killed, even twice', () => {
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
