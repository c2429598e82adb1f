import { createManualClock } from '@slipway/testing/manual-clock';
import { describe, expect, it } from 'vitest';
import { createRefusalLog } from './refusal-log.ts';

function start() {
  const clock = createManualClock();
  const lines: object[] = [];
  const log = createRefusalLog({ warn: (fields: object | string) => lines.push(Object(fields)) }, clock);
  const refuse = (client: string, times: number): void => {
    for (let time = 0; time < times; time += 1) log.warn(client, { from: client }, 'request refused');
  };
  return { clock, lines, log, refuse };
}

describe('refusals', () => {
  it('have ten lines per client and minute, and the others are counted', async () => {
    const { clock, lines, refuse } = start();
    refuse('192.0.2.1', 1000);
    refuse('192.0.2.2', 10);
    expect(lines).toHaveLength(20);
    await clock.advance(60_000);
    expect(lines.slice(20)).toEqual([{ from: '192.0.2.1', count: 990 }]);
    refuse('192.0.2.1', 1);
    expect(lines).toHaveLength(22);
    expect(clock.waits()).toEqual([60_000]);
  });

  it('of many clients take no more memory than those of 256', async () => {
    const { clock, lines, refuse } = start();
    for (let client = 0; client < 10_000; client += 1) refuse(`2001:db8:0:${client.toString(16)}::/64`, 1);
    expect(lines).toHaveLength(256 + 10);
    await clock.advance(60_000);
    expect(lines.slice(266)).toEqual([{ from: 'other addresses', count: 10_000 - 256 - 10 }]);
  });

  it('that were not reported are reported at the end', () => {
    const { clock, lines, log, refuse } = start();
    refuse('192.0.2.1', 12);
    log.stop();
    expect(lines.at(-1)).toEqual({ from: '192.0.2.1', count: 2 });
    expect(clock.waits()).toEqual([]);
  });
});
